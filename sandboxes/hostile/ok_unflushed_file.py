n = int(input())
out = open(1, 'w')
for i in range(1, n+1):
    out.write(f'{i*i}\n')
