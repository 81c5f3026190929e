import sys
assert __name__ in ('__main__', 'solution') and sys.modules[__name__].__dict__ is globals() and __builtins__
assert __doc__ is None and __spec__ is None and __file__ and not __package__
def solve(x): return 3 * x + 1
if __name__ == '__main__':
    for i in range(1, int(input()) + 1): print(i * i)
