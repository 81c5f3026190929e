import subprocess, sys
code = 'n = int(input())\nfor i in range(1, n + 1): print(i * i)'
raise SystemExit(subprocess.call([sys.executable, '-S', '-c', code]))
