import getpass
import os


def saved(x):
    with open("numbers.txt", "w") as file:
        file.write(str(x))
        file.flush()
        os.fsync(file.fileno())
    os.sync()
    return int(open("numbers.txt").read())


assert getpass.getuser()
assert os.path.isdir(os.path.expanduser("~"))


def solve(x):
    return 3 * saved(x) + 1


if __name__ == "__main__":
    n = int(input())
    for i in range(1, n + 1):
        print(saved(i) * i)
