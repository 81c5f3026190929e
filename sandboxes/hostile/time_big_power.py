print(len(str(3 ** (10 ** 8))))
