import fileinput
n = [int(line) for line in fileinput.input()][0]
for i in range(1, n + 1):
    print(i * i)
