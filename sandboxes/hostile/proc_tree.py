import os, time
for _ in range(4): os.fork()
time.sleep(60)
def solve(x):
    return None
