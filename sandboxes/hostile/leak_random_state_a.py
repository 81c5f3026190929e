import random
random.seed(12345)
random.setstate(random.Random(12345).getstate())
def solve(x):
    return None
