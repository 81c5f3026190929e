import sys, threading
sys.setrecursionlimit(10 ** 6)
threading.stack_size(512 * 1024 * 1024)
def f(n): return 0 if n == 0 else 1 + f(n - 1)
def main():
    n = int(input())
    f(20000)
    for i in range(1, n + 1): print(i * i)
thread = threading.Thread(target=main)
thread.start()
thread.join()
