import functools
solve = functools.partial(lambda k, x: k * x + 1, 3)
