import os
held = []
while True:
    r, w = os.pipe(); os.set_blocking(w, False); held.append((r, w))
    try:
        while True: os.write(w, b'x' * 65536)
    except BlockingIOError: pass
