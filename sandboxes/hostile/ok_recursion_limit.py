import sys
sys.setrecursionlimit(100000)
def down(k): return 0 if k == 0 else 1 + down(k - 1)
def solve(x):
    assert down(15000) == 15000
    return 3 * x + 1
