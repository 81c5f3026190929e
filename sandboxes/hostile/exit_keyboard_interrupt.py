def solve(x):
    raise KeyboardInterrupt
