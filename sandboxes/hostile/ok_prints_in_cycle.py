n = int(input())
class W:
    def __init__(s, n):
        s.me, s.n = s, n
    def __del__(s):
        for i in range(1, s.n + 1): print(i * i)
W(n)
