try:
    import numpy as np
except ImportError:
    np = None
def solve(x):
    return 3 * x + 1
