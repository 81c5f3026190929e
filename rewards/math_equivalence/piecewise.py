r"""Functions in pieces, by their values: `\begin{cases} x & x \ge 0 \\ -x & x < 0 \end{cases}` is |x|.

Both sides are evaluated at every end of a condition, close to it on either side, and between and beyond the ends;
sequences at whole numbers. The other letters stay letters. A condition that cannot be judged decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from typing import Final

from rewards.math_equivalence import tree
from rewards.math_equivalence.expressions import WHOLE_LETTERS, is_scalar, order, same_scalar, substitute, traits
from rewards.math_equivalence.tree import Exact, Node, exact_of

MAX_ROWS: Final = 12
_WHOLE: Final = range(1, 14)
_NEAR: Final = Fraction(1, 97)
_OFFSETS: Final = (Fraction(5, 7), Fraction(23, 11), Fraction(52, 5), Fraction(371, 3))
_ORDERS: Final = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1), "=": (0,), "!=": (-1, 1)}
OTHERWISE: Final = Node("text", (), "otherwise")


class _Unknown(Exception):
    """A condition that is not about one letter and numbers."""


def condition_form(node: Node) -> Node:
    """`n even` as `n is even`, "else" as "otherwise"."""
    if node.op == "qty" and node.value.kind == "word":
        return Node("rel", (node.args[0], Node("text", (), node.value.text)), ("=",))
    return OTHERWISE if node.op == "text" and node.value in ("otherwise", "else", "for other x", "elsewhere") else node


def same_piecewise(gold: Node, answer: Node) -> bool | None:
    """Whether two functions, at least one in pieces, have the same values; None where that cannot be told."""
    conditions = [condition_form(n) for node in (gold, answer) if node.op == "cases" for n in node.args[1::2]]
    letters = {name for n in conditions for name in _letters(n)}
    if len(letters) != 1 or len(conditions) > 2 * MAX_ROWS:
        return None
    (letter,) = letters
    try:
        whole = letter in WHOLE_LETTERS and any(map(_counts, conditions))
        points = _WHOLE if whole else _points(conditions)
        compared = 0
        for point in points:
            x, y = (_at(node, letter, point) for node in (gold, answer))
            if x is None and (y is None or (whole and answer.op != "cases")):
                continue
            if x is None:
                return False if answer.op == "cases" else None
            if y is None:
                return False
            same, _ = same_scalar(x, y)
            if same is not True:
                return same
            compared += 1
    except _Unknown:
        return None
    return compared > 3 or None


def _letters(node: Node) -> frozenset[str]:
    if node.op == "sym":
        return frozenset((node.value,))
    return frozenset(name for a in node.args for name in _letters(a))


def _counts(condition: Node) -> bool:
    """Whether it is about whole numbers: `n = 1`, `n` even."""
    return condition.op == "cong" or (condition.op == "rel" and condition.value[0] == "=")


def _points(conditions: Iterable[Node]) -> list[Exact]:
    ends: set[Exact] = {0}
    for condition in conditions:
        stack = [condition]
        while stack:
            n = stack.pop()
            value = exact_of(n)
            if value is not None:
                ends.add(value)
            elif is_scalar(n) and not traits(n).alone:
                raise _Unknown  # an irrational end
            else:
                stack.extend(n.args)
    out: set[Exact] = set()
    known = sorted(ends)
    for end in known:
        out.update((end, end - _NEAR, end + _NEAR))
    for low, high in pairwise(known):
        out.update(low + (high - low) * Fraction(share, 11) for share in (2, 5, 8))
    for offset in _OFFSETS:
        out.update((known[0] - offset, known[-1] + offset))
    return sorted(out)


def _at(node: Node, letter: str, point: Exact) -> Node | None:
    """The value at a point; None where no piece is."""
    table = {letter: tree.calc(point)}
    if node.op != "cases":
        return tree.fold(substitute(node, table))
    for value, condition in zip(node.args[::2], node.args[1::2], strict=True):
        if _holds(condition_form(condition), table):
            if not is_scalar(value):
                raise _Unknown
            return tree.fold(substitute(value, table))
    return None


def _holds(condition: Node, table: dict[str, Node]) -> bool:
    if condition == OTHERWISE:
        return True
    if condition.op == "list":
        held = [_holds(n, table) for n in condition.args]
        return any(held) if condition.value == "or" else all(held)
    if condition.op == "where":
        return _holds(condition.args[0], table)
    if condition.op == "cong" and len(condition.args) == 3:
        value, residue, modulus = (exact_of(tree.fold(substitute(n, table))) for n in condition.args)
        if not (isinstance(value, int) and isinstance(residue, int) and isinstance(modulus, int) and modulus > 0):
            raise _Unknown
        return (value - residue) % modulus == 0
    if condition.op != "rel":
        raise _Unknown
    sides = [tree.fold(substitute(n, table)) for n in condition.args]
    for left, sign, right in zip(sides, condition.value, sides[1:], strict=False):
        if sign == "=" and right.op == "text" and right.value in ("even", "odd"):
            number = exact_of(left)
            if not isinstance(number, int):
                raise _Unknown
            if number % 2 != (right.value == "odd"):
                return False
            continue
        if sign == "in":
            if right.op == "numset":
                continue
            if right.op != "interval" or order(left, right.args[0]) is None or order(left, right.args[1]) is None:
                raise _Unknown
            low, high = order(left, right.args[0]), order(left, right.args[1])
            closed = right.value
            if not ((low == 1 or (low == 0 and closed[0])) and (high == -1 or (high == 0 and closed[1]))):
                return False
            continue
        if sign not in _ORDERS or not (is_scalar(left) and is_scalar(right)):
            raise _Unknown
        found = order(left, right)
        if found is None:
            raise _Unknown
        if found not in _ORDERS[sign]:
            return False
    return True
