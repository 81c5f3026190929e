import tempfile, os
def solve(x):
    with tempfile.TemporaryDirectory() as d:
        p = os.path.join(d, 'f')
        with open(p, 'w') as f: f.write(str(3 * x + 1))
        os.chmod(p, 0o600)
        return int(open(p).read())
