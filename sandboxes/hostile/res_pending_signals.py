import ctypes, os, signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, range(34, 64))
libc = ctypes.CDLL(None)
for _ in range(300000):
    if libc.sigqueue(os.getpid(), 40, ctypes.c_void_p(0)) < 0: break
def solve(x):
    time.sleep(60)
solve(1)
