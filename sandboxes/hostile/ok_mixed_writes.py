import os, sys
n = int(os.read(0, 100))
sys.stdout.write('1\n'); sys.stdout.flush()
for i in range(2, n + 1):
    os.write(1, b'%d\n' % (i * i))
