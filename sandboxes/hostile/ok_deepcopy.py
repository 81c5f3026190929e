import copy, dataclasses
@dataclasses.dataclass
class Node:
    value: int
    next: 'Node | None' = None
def solve(x):
    a = Node(x); a.next = a
    b = copy.deepcopy(a)
    assert b.next is b
    return 3 * b.value + 1
