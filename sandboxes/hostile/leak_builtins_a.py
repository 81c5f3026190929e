import builtins, sys, os, re
builtins.poison = sys.poison = os.poison = re.poison = 1
sys.modules['poison'] = sys
def solve(x):
    return None
