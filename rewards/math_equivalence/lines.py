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

_COORDINATES: Final = (("x", "y"), ("x", "y", "z"), ("x_1", "x_2"), ("x_1", "x_2", "x_3"))
_RUNNING: Final = frozenset(("t", "s", "r", "u", "lambda", "mu", "k", "n", "m", "p", "q", "z", "y", "alpha", "beta"))


class Line(NamedTuple):
    """A point, a direction, and what is known of the letter that runs."""

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
        node, whole = node.args[0], True if words == "integer" else False if words in ("constant", "real") else None
    if node.op == "list" and (symmetric := _symmetric(node)) is not None:
        return symmetric
    if node.op == "rel" and len(node.args) > 2 and set(node.value) == {"="}:
        return _symmetric(Node("list", (node,), ","))
    cells = _coordinates(node)
    if cells is None or not all(map(is_scalar, cells)):
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
    return Line(at[0], direction, whole)


def _coordinates(node: Node) -> tuple[Node, ...] | None:
    """The coordinates of a point that runs."""
    if node.op == "list" and node.args:
        assigned = [assignment(item) for item in node.args]
        table = {pair[0].value: pair[1] for pair in assigned if pair is not None and pair[0].op == "sym"}
        for names in _COORDINATES:
            if len(table) == len(assigned) and set(table) == set(names):
                return tuple(table[name] for name in names)
        return None
    if node.op == "rel":
        pair = assignment(node)
        if pair is None:
            return None
        if pair[0].op == "tuple" and tuple(n.value for n in pair[0].args) not in _COORDINATES:
            return None
        node = pair[1]
    matrix = as_matrix(node)
    return matrix[2] if matrix is not None and 1 in matrix[:2] else None


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
    return Line(tuple(point[n] for n in names), tuple(direction[n] for n in names), False)


def same_line(gold: Line, answer: Line) -> bool:
    """Whether two lines hold the same points; where the letter may count integers, at whole numbers too."""
    if len(gold.point) != len(answer.point):
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
