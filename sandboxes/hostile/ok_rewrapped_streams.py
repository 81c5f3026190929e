import io, sys
sys.stdin = io.TextIOWrapper(sys.stdin.detach(), encoding='utf-8')
sys.stdout = io.TextIOWrapper(sys.stdout.detach(), encoding='utf-8')
n = int(sys.stdin.readline())
for i in range(1, n + 1):
    print(i * i)
