import time
end = time.process_time() + 0.8
while time.process_time() < end: pass
def solve(x):
    return 3 * x + 1
