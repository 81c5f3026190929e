import sys
input = sys.stdin.readline
n, = map(int, input().split())
sys.stdout.write('\n'.join(map(str, (i * i for i in range(1, n + 1)))))
