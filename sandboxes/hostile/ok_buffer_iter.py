import sys
n = int(next(iter(sys.stdin.buffer)))
out = sys.stdout.buffer
for i in range(1, n + 1):
    out.write(b'%d\n' % (i * i))
