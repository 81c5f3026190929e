def solve(x):
    return 1 << (1 << 28)
