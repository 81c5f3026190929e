import subprocess, sys
n = int(input())
code = 'import sys\nfor i in range(1, int(sys.argv[1]) + 1): print(i * i)'
print(subprocess.run([sys.executable, '-c', code, str(n)], capture_output=True, text=True, check=True).stdout, end='')
