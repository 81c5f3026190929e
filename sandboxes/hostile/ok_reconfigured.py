import sys
sys.stdout.reconfigure(encoding='utf-8', line_buffering=False, write_through=False)
sys.stdin.reconfigure(encoding='utf-8')
n = int(input())
for i in range(1, n + 1):
    print(i * i)
