# -*- coding: latin-1 -*-
name = 'é'
assert len(name) == 1
def solve(x):
    return 3 * x + 1
