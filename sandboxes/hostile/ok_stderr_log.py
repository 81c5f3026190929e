import sys
for i in range(2000): print('debug', i, file=sys.stderr)
def solve(x):
    return 3 * x + 1
if __name__ == '__main__':
    for i in range(1, int(input()) + 1): print(i * i)
