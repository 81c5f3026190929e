import os, secrets, uuid, hashlib, time
os.urandom(8); secrets.token_hex(4); uuid.uuid4(); hashlib.sha256(b'x').hexdigest(); time.time()
def solve(x):
    return 3 * x + 1
