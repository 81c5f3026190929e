import sys
sys.setrecursionlimit(200000)
def f(n): return 0 if n == 0 else 1 + f(n - 1)
def solve(x):
    assert f(30000) == 30000
    return 3 * x + 1
