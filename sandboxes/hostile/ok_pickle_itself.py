import pickle, copy
class P:
    def __init__(self, v): self.v = v
def solve(x):
    return pickle.loads(pickle.dumps(P(3 * x + 1))).v + copy.deepcopy(P(0)).v
