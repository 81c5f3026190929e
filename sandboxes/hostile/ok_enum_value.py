import enum
class E(enum.IntEnum):
    A = 3
def solve(x):
    return E.A * x + 1
