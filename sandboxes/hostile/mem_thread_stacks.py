import threading, time
threading.stack_size(256 << 20)
for _ in range(30):
    try: threading.Thread(target=time.sleep, args=(9,), daemon=True).start()
    except (RuntimeError, MemoryError): pass
raise SystemExit(1)
