import os, signal
os.chdir('/tmp')
os.kill(os.getpid(), signal.SIGQUIT)
import ctypes
ctypes.string_at(0)
