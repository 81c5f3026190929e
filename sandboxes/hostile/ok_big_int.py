import sys
def solve(x):
    sys.set_int_max_str_digits(0)
    assert len(str(7 ** 20000)) > 10000
    return 3 * x + 1
