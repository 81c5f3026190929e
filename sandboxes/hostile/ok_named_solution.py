import sys
this = sys.modules[__name__]
def helper(x): return 3 * x + 1
def solve(x):
    return getattr(this, 'helper')(x)
