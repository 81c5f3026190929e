def solve(x):
    raise StopIteration(7)
