import hashlib, threading
def burn():
    data = b"x" * (1 << 20)
    while True: hashlib.sha256(data).digest()
threads = [threading.Thread(target=burn) for _ in range(6)]
for t in threads:
    try: t.start()
    except RuntimeError: pass
def solve(x):
    burn()
burn()
