import os, tempfile
def solve(x):
    d = tempfile.mkdtemp(); os.chdir(d); open('a', 'w').close()
    assert os.path.samefile(os.getcwd(), d) and os.listdir() == ['a']
    return 3 * x + 1
