class A:
    def __del__(self):
        while True: pass
a = A()
del a
