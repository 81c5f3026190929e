import inspect
def solve(x):
    return 3 * x + 1
assert 'return' in inspect.getsource(solve)
