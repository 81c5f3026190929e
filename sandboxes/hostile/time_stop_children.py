import os, signal, time
def solve(x):
    for _ in range(8):
        try: pid = os.fork()
        except OSError: break
        if pid == 0:
            os.kill(os.getpid(), signal.SIGSTOP); os._exit(0)
    try: os.wait()
    except OSError: pass
    time.sleep(60)
if __name__ == "__main__": solve(1)
