import sys
n = int(input())
sys.stdout.write('\0'.join(str(i * i) for i in range(1, n + 1)))
