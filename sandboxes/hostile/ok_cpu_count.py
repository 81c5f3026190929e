import os, platform, getpass
os.cpu_count(); platform.system(); os.getpid(); os.uname()
def solve(x):
    return 3 * x + 1
