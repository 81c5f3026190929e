import mmap
def solve(x):
    with open('m', 'w+b') as f:
        f.write(b'\0' * 4096); f.flush()
        with mmap.mmap(f.fileno(), 4096) as m: m[0] = 3; return m[0] * x + 1
