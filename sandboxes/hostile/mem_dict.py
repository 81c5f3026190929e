d = {}
i = 0
while True:
    d[i] = [i] * 10; i += 1
