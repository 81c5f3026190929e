values = []
while True:
    try: values.append(int(input()))
    except EOFError: break
for i in range(1, values[0] + 1): print(i * i)
