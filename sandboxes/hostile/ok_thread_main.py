import sys, threading
sys.setrecursionlimit(10 ** 6)
threading.stack_size(1 << 27)
def deep(k): return 0 if k == 0 else 1 + deep(k - 1)
def main():
    n = int(input()); assert deep(50000) == 50000
    for i in range(1, n + 1): print(i * i)
t = threading.Thread(target=main); t.start(); t.join()
