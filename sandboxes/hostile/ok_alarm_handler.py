import signal
def late(*a): raise TimeoutError
def solve(x):
    signal.signal(signal.SIGALRM, late); signal.alarm(3)
    try: return 3 * x + 1
    finally: signal.alarm(0)
