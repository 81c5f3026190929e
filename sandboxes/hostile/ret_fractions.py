from fractions import Fraction
def solve(x): return [Fraction(i,2*i+1) for i in range(1,200000)]
