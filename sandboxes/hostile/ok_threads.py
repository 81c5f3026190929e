import threading
from concurrent.futures import ThreadPoolExecutor
def solve(x):
    with ThreadPoolExecutor(4) as pool:
        return sum(pool.map(lambda y: y, [x, x, x, 1]))
