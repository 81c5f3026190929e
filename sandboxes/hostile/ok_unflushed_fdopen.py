import os, sys
n = int(sys.stdin.readline())
out = os.fdopen(1, 'w', buffering=65536, closefd=False)
for i in range(1, n+1):
    print(i*i, file=out)
