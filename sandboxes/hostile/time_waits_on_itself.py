
import os, time
try: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
except OSError: pass
def spin(s):
    e = time.process_time() + s
    while time.process_time() < e: pass
def solve(x):
    kids = []
    for _ in range(16):
        try: p = os.fork()
        except OSError: break
        if p == 0:
            spin(0.09); time.sleep(60); os._exit(0)
        kids.append(p)
    spin(0.09); time.sleep(60)
if __name__ == "__main__": solve(1)
