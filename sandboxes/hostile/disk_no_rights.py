import os
for i in range(20):
    os.makedirs(f'a{i}/b/c'); open(f'a{i}/b/c/f', 'w').close(); os.chmod(f'a{i}/b', 0); os.chmod(f'a{i}', 0)
def solve(x): return None
