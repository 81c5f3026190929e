r"""Lines: `x = 1+2t, y = -1+3t, z = -t`, `(1,-1,0) + t(2,3,-1)`, `\frac{x-1}{2} = \frac{y+1}{3} = \frac{z}{-1}`.

Two descriptions are of one line when their directions are parallel and the difference of their points is too. Where
the letter counts whole numbers the steps must be the same and the points whole steps apart.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple

from rewards.math_equivalence import tree
from rewards.math_equivalence.equations import assignment
from rewards.math_equivalence.expressions import is_scalar, same_scalar, substitute, traits
from rewards.math_equivalence.matrices import as_matrix
from rewards.math_equivalence.tree import Node, exact_of

MAX_COORDINATES: Final = 6
"""Most coordinates of a point, and most terms of one, that are looked at."""
_RUNNING: Final = frozenset(("t", "s", "r", "u", "lambda", "mu", "k", "n", "m", "p", "q", "z", "y", "alpha", "beta"))


class Line(NamedTuple):
    """A point, a direction, and what is known of the letter that runs; coordinates in the order of their names."""

    names: tuple[str, ...]
    """Empty for a bare point."""
    point: tuple[Node, ...]
    direction: tuple[Node, ...]
    whole: bool | None
    """True: it counts integers; False: it is real; None: nobody said."""


def may_be_line(node: Node) -> bool:
    """A cheap look before `line_of`."""
    return node.op in ("where", "list", "rel", "tuple", "add", "matrix", "cases", "set", "build")


def line_of(node: Node) -> Line | None:
    """The line that a tree describes; None for everything else."""
    whole: bool | None = None
    if node.op == "where":
        words = node.value
        if "numset:N" in words or "natural" in words or "positive" in words:
            return None  # a ray
        node, whole = node.args[0], True if words == "integer" else False if words in ("constant", "real") else None
    if node.op == "list" and (symmetric := _symmetric(node)) is not None:
        return symmetric
    if node.op == "rel" and len(node.args) > 2 and set(node.value) == {"="}:
        return _symmetric(Node("list", (node,), ","))
    named = _coordinates(node)
    if named is None or not all(map(is_scalar, named[1])):
        return None
    names, cells = named
    if len(cells) > MAX_COORDINATES or any(c.op == "add" and len(c.args) > MAX_COORDINATES for c in cells):
        return None
    letters = {name for cell in cells for name in traits(cell).alone}
    if len(letters) != 1 or not letters <= _RUNNING:
        return None
    (letter,) = letters
    at = [tuple(tree.fold(substitute(c, {letter: Node("num", (), n)})) for c in cells) for n in (0, 1, 2)]
    direction = tuple(_difference(b, a) for a, b in zip(at[0], at[1], strict=True))
    again = tuple(_difference(b, a) for a, b in zip(at[1], at[2], strict=True))
    if not all(map(_equal, direction, again)) or all(_equal(d, tree.ZERO) for d in direction):
        return None
    if whole is None and (len(cells) == 3 or node.op in ("add", "matrix")) and letter in ("t", "s", "lambda", "mu"):
        whole = False
    return None if letter in names else Line(names, at[0], direction, whole)


def _coordinates(node: Node) -> tuple[tuple[str, ...], tuple[Node, ...]] | None:
    """The names, if any, and the coordinates of a point that runs."""
    if node.op == "list" and node.args:
        assigned = [assignment(item) for item in node.args]
        return _sorted([(pair[0], pair[1]) for pair in assigned if pair is not None], len(assigned))
    names: tuple[Node, ...] = ()
    if node.op == "rel":
        pair = assignment(node)
        if pair is None:
            return None
        first = as_matrix(pair[0]) if pair[0].op in ("tuple", "matrix") else None
        names, node = first[2] if first is not None else (), pair[1]
    matrix = as_matrix(node)
    if matrix is None or 1 not in matrix[:2]:
        return None
    return _sorted(list(zip(names, matrix[2], strict=False)), len(matrix[2])) if names else ((), matrix[2])


def _sorted(pairs: list[tuple[Node, Node]], count: int) -> tuple[tuple[str, ...], tuple[Node, ...]] | None:
    table = {name.value: value for name, value in pairs if name.op == "sym"}
    if len(table) != count or count < 2:
        return None
    names = tuple(sorted(table))
    return names, tuple(table[name] for name in names)


def _symmetric(node: Node) -> Line | None:
    """`(x-1)/2 = (y+1)/3 = z`, and `(x-1)/2 = (y+1)/3, z = 4`."""
    point: dict[str, Node] = {}
    direction: dict[str, Node] = {}
    for item in node.args:
        if item.op != "rel" or set(item.value) != {"="}:
            return None
        pair = assignment(item)
        if pair is not None and pair[0].op == "sym" and is_scalar(pair[1]) and not traits(pair[1]).alone:
            point[pair[0].value], direction[pair[0].value] = pair[1], tree.ZERO
            continue
        for side in item.args:
            if not is_scalar(side):
                return None
            letters = traits(side).alone
            if side.op == "sym" and letters <= {"t", "s", "lambda", "k"}:
                continue  # ... = t
            if len(letters) != 1 or not letters <= {"x", "y", "z"} or letters & set(point):
                return None
            (letter,) = letters
            zero, one, two = (tree.fold(substitute(side, {letter: Node("num", (), n)})) for n in (0, 1, 2))
            slope = _difference(one, zero)
            if _equal(slope, tree.ZERO) or not _equal(_difference(two, one), slope):
                return None
            direction[letter] = tree.div(tree.ONE, slope)
            point[letter] = tree.neg(tree.div(zero, slope))
    names = sorted(point)
    if names not in (["x", "y"], ["x", "y", "z"]) or sum(d != tree.ZERO for d in direction.values()) < 2:
        return None
    return Line(tuple(names), tuple(point[n] for n in names), tuple(direction[n] for n in names), False)


def same_line(gold: Line, answer: Line) -> bool:
    """Whether two lines hold the same points; where the letter may count integers, at whole numbers too."""
    if len(gold.point) != len(answer.point) or (gold.names and answer.names and gold.names != answer.names):
        return False
    shift = tuple(_difference(q, p) for p, q in zip(gold.point, answer.point, strict=True))
    if not (_parallel(gold.direction, answer.direction) and _parallel(gold.direction, shift)):
        return False
    if gold.whole is False and answer.whole is not True:
        return True
    if gold.whole is not True and answer.whole is False:
        return True
    for d, e, s in zip(gold.direction, answer.direction, shift, strict=True):
        step, other, off = exact_of(d), exact_of(e), exact_of(s)
        if step is None or other is None or off is None:
            return False
        if step and (abs(Fraction(other)) != abs(step) or (Fraction(off) / step).denominator != 1):
            return False
    return True


def _parallel(x: tuple[Node, ...], y: tuple[Node, ...]) -> bool:
    """Whether y is a multiple of x."""
    return all(
        _equal(tree.mul([x[i], y[j]]), tree.mul([x[j], y[i]])) for i in range(len(x)) for j in range(i + 1, len(x))
    )


def _difference(x: Node, y: Node) -> Node:
    return tree.add([x, tree.neg(y)])


def _equal(x: Node, y: Node) -> bool:
    return same_scalar(x, y)[0] is True
