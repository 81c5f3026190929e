i = 0
while True:
    open(f'e{i}', 'w').close(); i += 1
