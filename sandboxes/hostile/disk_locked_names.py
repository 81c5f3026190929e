import os
os.makedirs("a/b", exist_ok=True)
for n in range(2000):
    try: open("a/b/" + "\xff" * 100 + str(n), "w").close()
    except OSError: break
try:
    open(b"a/b/\xff\xfe\x01\n", "w").close(); os.symlink("/", "a/root"); os.symlink("a/root", "loop")
    os.chmod("a/b", 0); os.chmod("a", 0)
except OSError: pass
def solve(x): return None
