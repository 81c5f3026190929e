import os, time
while True:
    end = time.process_time() + 0.4
    while time.process_time() < end: pass
    if os.fork(): os.wait(); os._exit(0)
