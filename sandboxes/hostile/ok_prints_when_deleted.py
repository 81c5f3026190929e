n = int(input())
class Writer:
    def __init__(s): s.lines = []
    def __del__(s):
        print('\n'.join(s.lines))
w = Writer()
for i in range(1, n+1): w.lines.append(str(i*i))
