import threading, time
n = int(input())
def main():
    time.sleep(0.05)
    for i in range(1, n + 1): print(i * i)
threading.Thread(target=main).start()
