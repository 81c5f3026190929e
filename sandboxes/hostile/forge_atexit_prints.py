import atexit, os, threading, time
def late():
    time.sleep(0.3)
    os.write(1, b"1\n4\n9\n")
threading.Thread(target=late, daemon=True).start()
if os.fork() == 0:
    time.sleep(0.3)
    os.write(1, b"1\n4\n9\n")
    os._exit(0)
os._exit(0)
