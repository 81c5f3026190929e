import abc
class Registry(type):
    made = []
    def __new__(mcs, name, bases, space):
        cls = super().__new__(mcs, name, bases, space); mcs.made.append(cls); return cls
class Base(metaclass=Registry): pass
class Affine(Base):
    __slots__ = ('k',)
    def __init__(self, k): self.k = k
    def __call__(self, x): return self.k * x + 1
def solve(x): return Registry.made[-1](3)(x)
