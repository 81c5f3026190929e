def solve(x):
    return '\ud800' * 10 + '\0'
