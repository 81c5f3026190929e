from decimal import Decimal, getcontext
from fractions import Fraction
import statistics, cmath, array, datetime, numbers
getcontext().prec = 50
def solve(x):
    assert statistics.mean([1, 3]) == 2 and isinstance(x, numbers.Number) and array.array('i', [x])[0] == x
    return int(Decimal(3) * x + Fraction(2, 2).numerator)
