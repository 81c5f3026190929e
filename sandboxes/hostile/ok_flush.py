for i in range(1, int(input()) + 1): print(i * i, flush=True)
