import socket, select
def solve(x):
    a, b = socket.socketpair()
    a.send(str(x).encode()); assert select.select([b], [], [], 1)[0]
    return 3 * int(b.recv(9)) + 1
