import atexit, time
atexit.register(time.sleep, 1e6)
