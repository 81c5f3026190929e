import os, sys
for i in range(1, int(input()) + 1): print(i * i)
sys.stdout.flush()
os._exit(0)
