import warnings
warnings.warn('deprecated')
def solve(x):
    warnings.warn('again')
    return 3 * x + 1
