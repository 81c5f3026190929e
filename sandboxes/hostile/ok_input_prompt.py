import sys
n = int(input())
try:
    while True: input()
except EOFError:
    pass
for i in range(1, n + 1):
    print(i * i)
