from decimal import Decimal
def solve(x): return Decimal('1E+999999999')
