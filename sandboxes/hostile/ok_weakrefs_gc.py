import gc, weakref
class A: pass
def solve(x):
    a = A(); a.me = a; r = weakref.ref(a); del a
    gc.collect()
    assert r() is None and len(gc.get_objects()) > 0
    return 3 * x + 1
