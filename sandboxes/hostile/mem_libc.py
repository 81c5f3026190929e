import ctypes
l = ctypes.CDLL(None)
l.malloc.restype = ctypes.c_void_p
while True:
    p = l.malloc(32 << 20)
    if not p: raise MemoryError
    ctypes.memset(p, 1, 32 << 20)
