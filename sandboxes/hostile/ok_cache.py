import functools
@functools.lru_cache(None)
def solve(x):
    return 3 * x + 1
