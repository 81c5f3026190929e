print('\n'.join(str(i * i) for i in range(1, int(input()) + 1)), end='')
