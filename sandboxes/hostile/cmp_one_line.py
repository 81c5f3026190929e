n = int(input())
print(*[i * i for i in range(1, n + 1)])
