def solve(x):
    def g():
        while True: yield x
    return list(g())
