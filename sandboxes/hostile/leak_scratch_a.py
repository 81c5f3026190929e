for place in ('/tmp/k', '/var/tmp/k', '/dev/shm/k', 'k', '/tmp/.k'):
    try: open(place, 'w').write('k')
    except OSError: pass
def solve(x):
    return None
