def solve(x):
    while True: print('x' * 1000)
