def solve(x):
    raise GeneratorExit
