def solve(x):
    return int(float(3 * x) + True)
