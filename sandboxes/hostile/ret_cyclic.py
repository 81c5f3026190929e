def solve(x):
    a = {}
    a['a'] = a
    return a
