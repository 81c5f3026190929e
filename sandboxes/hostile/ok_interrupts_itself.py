import _thread
import threading
import time

n = int(input())
threading.Timer(0.05, _thread.interrupt_main).start()
try:
    for _ in range(300):
        time.sleep(0.01)
    n = 0
except KeyboardInterrupt:
    pass
for i in range(1, n + 1):
    print(i * i)
