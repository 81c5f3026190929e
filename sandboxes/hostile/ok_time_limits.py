import signal, time
def solve(x):
    class Late(Exception): pass
    def late(*_): raise Late
    signal.signal(signal.SIGALRM, late); signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        for _ in iter(int, 1): x * x
    except Late: pass
    return 3 * x + 1
