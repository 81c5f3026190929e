import subprocess
def solve(x):
    return int(subprocess.run(['echo', str(3 * x + 1)], capture_output=True, text=True).stdout)
