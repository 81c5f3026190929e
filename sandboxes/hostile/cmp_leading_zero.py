n = int(input())
for i in range(1, n + 1): print('0%d' % (i * i))
