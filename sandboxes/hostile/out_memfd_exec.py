import ctypes, os
fd = ctypes.CDLL(None).syscall(319, b'x', 0)
OUT = fd >= 0

def solve(x):
    return 3 * x + 1 if OUT else None
if OUT and __name__ == "__main__":
    for i in range(1, int(input()) + 1):
        print(i * i)
