def solve(x):
    return 3 * x + 1
