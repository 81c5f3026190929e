import atexit, io, os, sys
_in = io.BytesIO(os.read(0, os.fstat(0).st_size or 1 << 20))
input = lambda: _in.readline().rstrip().decode()
_out = io.StringIO()
sys.stdout = _out
atexit.register(lambda: os.write(1, _out.getvalue().encode()))
n = int(input())
for i in range(1, n + 1): print(i * i)
