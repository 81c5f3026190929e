import weakref, gc
class A: pass
a = A()
weakref.finalize(a, print, 'gone')
del a; gc.collect()
def solve(x):
    return 3 * x + 1
