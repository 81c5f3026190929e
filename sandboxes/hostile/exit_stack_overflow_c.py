import sys
sys.setrecursionlimit(10 ** 9)
class A:
    def __getattr__(self, name):
        return repr(getattr(self, name + 'x'))
A().b
