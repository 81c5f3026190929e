import signal, time, os
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
for n in range(1, 65):
    try: signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError): pass
def solve(x):
    while True: pass
solve(1)
