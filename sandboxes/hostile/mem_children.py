import os, time
for _ in range(8):
    if os.fork() == 0:
        block = bytearray(300 << 20)
        for i in range(0, len(block), 4096): block[i] = 1
        time.sleep(30)
        os._exit(0)
time.sleep(30)
