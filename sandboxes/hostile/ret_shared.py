def solve(x):
    a = [x]
    for _ in range(40): a = [a, a]
    return a
