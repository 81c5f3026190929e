import mmap, os
maps = []
while True:
    m = mmap.mmap(-1, 64 << 20)
    for i in range(0, len(m), 4096): m[i] = 1
    maps.append(m)
