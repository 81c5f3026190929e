import logging, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
log = logging.getLogger(__name__)
def solve(x):
    log.debug('given %s', x)
    return 3 * x + 1
if __name__ == '__main__':
    for i in range(1, int(input()) + 1): print(i * i)
