for n in (3, 5):
    for i in range(1, n + 1): print(i * i)
