import contextlib, io
buffer = io.StringIO()
n = int(input())
with contextlib.redirect_stdout(buffer):
    for i in range(1, n + 1): print(i * i)
print(buffer.getvalue(), end='')
