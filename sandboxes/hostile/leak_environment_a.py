import os
os.environ['POISON'] = '1'
os.putenv('POISON', '1')
os.umask(0o777)
def solve(x):
    return None
