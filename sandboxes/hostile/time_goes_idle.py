
import os, time
for f in (lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)), lambda: os.nice(19)):
    try: f()
    except OSError: pass
def solve(x):
    while True: time.sleep(0.0001)
if __name__ == "__main__": solve(1)
