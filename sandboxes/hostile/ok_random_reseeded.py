import random
def solve(x):
    r = random.Random(5); random.seed(5)
    assert r.random() == random.random() and random.SystemRandom().random() < 1
    return 3 * x + 1
