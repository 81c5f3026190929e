import shutil, os
def solve(x):
    open('a', 'w').write(str(3 * x + 1))
    shutil.copy('a', 'b'); os.replace('b', 'c')
    return int(open('c').read())
