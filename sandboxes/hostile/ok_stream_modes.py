import os
import sys


class Reader:
    def __init__(self, file):
        self.descriptor = file.fileno()
        self.reads = "r" in file.mode
        self.name = file.name

    def lines(self):
        return os.read(self.descriptor, os.fstat(self.descriptor).st_size).decode().split()


reader = Reader(sys.stdin)
assert reader.reads and reader.name == "<stdin>"
assert "w" in sys.stdout.mode and sys.stdout.buffer.raw.name == "<stdout>"
for i in range(1, int(reader.lines()[0]) + 1):
    print(i * i)
