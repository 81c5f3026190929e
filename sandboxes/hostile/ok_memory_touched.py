block = bytearray(240 << 20)
for i in range(0, len(block), 4096): block[i] = 1
def solve(x):
    return 3 * x + 1
