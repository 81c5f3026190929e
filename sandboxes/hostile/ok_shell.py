import os
n = int(input())
assert os.system('true') == 0 and os.popen('echo hi').read() == 'hi\n'
for i in range(1, n + 1):
    print(i * i)
