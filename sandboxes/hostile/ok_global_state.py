count = 0
def solve(x):
    global count
    count += 1
    return 3 * x + 1
