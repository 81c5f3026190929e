import atexit
n = int(input())
@atexit.register
def _():
    for i in range(1, n + 1): print(i * i)
