import enum
class N(int):
    def __repr__(self): return 'N'
def solve(x): return N(3 * x + 1)
