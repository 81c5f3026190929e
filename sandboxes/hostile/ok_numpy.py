import numpy as np
def solve(x):
    return int(np.dot(np.array([3, 1]), np.array([x, 1])))
