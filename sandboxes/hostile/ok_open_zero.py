n, = map(int, open(0))
print(*[i * i for i in range(1, n + 1)], sep='\n')
