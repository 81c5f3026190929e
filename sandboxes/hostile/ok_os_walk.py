import os, pathlib, glob
def solve(x):
    p = pathlib.Path('d/e'); p.mkdir(parents=True, exist_ok=True); (p / 'f.txt').write_text(str(x))
    assert [f for _, _, fs in os.walk('d') for f in fs] == ['f.txt'] and glob.glob('d/**/*.txt', recursive=True)
    return 3 * int((p / 'f.txt').read_text()) + 1
