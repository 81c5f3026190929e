import time
def solve(x):
    time.sleep(0.1)
    return 3 * x + 1
