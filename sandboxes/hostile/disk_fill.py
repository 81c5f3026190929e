import os
i = 0
while True:
    with open(f'f{i}', 'wb') as f: f.write(b'x' * (4 << 20))
    i += 1
