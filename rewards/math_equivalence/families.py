"""Families of solutions with an integer parameter, and residue classes as progressions."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from rewards.math_equivalence import numeric, tree
from rewards.math_equivalence.exact import Undefined, Unsupported
from rewards.math_equivalence.expressions import (
    is_scalar,
    same_scalar,
    substitute,
    traits,
)
from rewards.math_equivalence.numeric import Evaluator, TooLarge
from rewards.math_equivalence.tree import Node, exact_of

PARAMETERS: Final = frozenset(("k", "n", "m", "l", "t", "j", "ell"))
"""Letters that count solutions."""


POINT_LETTERS: Final = PARAMETERS | {"s", "r", "u", "lambda", "mu", "x", "a", "c"}
"""Letters that run along a line of solutions: (2t, 1-t, 3)."""


def parameter_of(node: Node, name: Node | None) -> str | None:
    """The one symbol that counts: the only free one besides the name itself."""
    free = traits(node).alone - {"i"}
    if name is not None and name.op == "sym" and name.value in free:
        return None
    if len(free) == 1:
        (only,) = free
        return only
    known = free & PARAMETERS
    return next(iter(known)) if len(known) == 1 else None


def progression(node: Node) -> tuple[int, int] | None:
    """(a, b) of the integers a + bk, for one counting letter k; None for anything else."""
    if not is_scalar(node):
        return None
    free = traits(node).alone
    if len(free) != 1 or not free <= PARAMETERS:
        return None
    (name,) = free
    values = []
    for n in (0, 1, 2):
        value = _exact_value(substitute(node, {name: Node("num", (), n)}))
        if value is None:
            return None
        values.append(value)
    a, b, c = values
    return (a, abs(b - a)) if c - b == b - a != 0 else None


def _exact_value(node: Node) -> int | None:
    """The integer of a small constant tree of + - *."""
    value = exact_of(node)
    if value is not None:
        return value if isinstance(value, int) else None
    if node.op not in ("add", "mul", "neg"):
        return None
    parts = [_exact_value(a) for a in node.args]
    known = [p for p in parts if p is not None]
    if len(known) != len(parts):
        return None
    if node.op == "neg":
        return -known[0]
    if node.op == "add":
        return sum(known)
    product = 1
    for p in known:
        product *= p
    return product


def constants_in(node: Node) -> set[str]:
    if node.op in ("const", "deg"):
        return {"pi" if node.op == "deg" else str(node.value)}
    return {name for a in node.args for name in constants_in(a)}


def same_progression(left: Node, right: Node) -> bool:
    """Whether {A + Bn} and {A' + B'n} over the integers are the same set: B' = ±B and (A' - A)/B whole."""
    shared = "#n"

    def at(node: Node, n: int) -> Node:
        return substitute(node, {shared: Node("num", (), n)})

    for node in (left, right):
        line = tree.add([at(node, 2), tree.mul([Node("num", (), -2), at(node, 1)]), at(node, 0)])
        if same_scalar(line, tree.ZERO)[0] is not True:
            return False
    step = tree.add([at(left, 1), tree.neg(at(left, 0))])
    other = tree.add([at(right, 1), tree.neg(at(right, 0))])
    if same_scalar(step, other)[0] is not True and same_scalar(step, tree.neg(other))[0] is not True:
        return False
    shift = tree.div(tree.add([at(right, 0), tree.neg(at(left, 0))]), step)

    def work() -> bool:
        evaluator = Evaluator({}, frozenset())
        f = evaluator.f
        value = evaluator.value(shift)
        if not f.is_real(value):
            return False
        whole = f.floor(value + f.number(Fraction(1, 2)))
        return whole is not None and f.overlaps(value, f.number(whole))

    try:
        found: bool = numeric.at_precision(256, work)
    except (Unsupported, Undefined, TooLarge):
        return False
    return found
