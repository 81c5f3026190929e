n = int(input())
for i in range(1, n + 1): print(str(i * i).translate({48 + d: 0xFF10 + d for d in range(10)}))
