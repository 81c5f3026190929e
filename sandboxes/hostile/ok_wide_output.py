import sys
n = int(input())
sys.stderr.write('x' * 1_500_000)
for i in range(1, n + 1):
    print(i * i, end='\n')
