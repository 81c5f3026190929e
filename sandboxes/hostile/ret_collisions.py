def solve(x):
    return {i * (2 ** 61 - 1): i for i in range(60000)} if x < -10 ** 9 else set(i * (2 ** 61 - 1) for i in range(9000))
