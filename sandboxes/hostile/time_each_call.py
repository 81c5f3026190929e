import time
def solve(x):
    time.sleep(2.5)
    return 3 * x + 1
