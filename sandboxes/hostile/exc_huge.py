def solve(x):
    raise ValueError('x' * (50 << 20))
