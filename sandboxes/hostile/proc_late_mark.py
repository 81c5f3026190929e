import os as _os
def mark(text=b"x"):
    handle = _os.open("/esc/proc_late_mark", _os.O_CREAT | _os.O_WRONLY, 0o666)
    _os.write(handle, text)
    _os.close(handle)
import os, time
if os.fork() == 0:
    os.setsid()
    time.sleep(1.5)
    mark()
    os._exit(0)
def solve(x):
    return None
