"""Families of solutions with an integer parameter, and residue classes as progressions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any, Final

from rewards.math_equivalence import numeric, tree
from rewards.math_equivalence.exact import Undefined, Unsupported
from rewards.math_equivalence.expressions import (
    is_scalar,
    same_scalar,
    substitute,
    traits,
)
from rewards.math_equivalence.numeric import Evaluator, TooLarge
from rewards.math_equivalence.plusminus import expand
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


MAX_RESIDUES: Final = 64
"""Most residues that one side of a comparison of families is written as."""
_SAMPLES: Final = 13
_PERIODS: Final = (1, 2, 3, 4, 6)


def same_families(gold: Sequence[Node], answer: Sequence[Node]) -> bool:
    """Whether two unions of families `A + Bn` hold the same values for whole n: kπ and kπ + π/2 together are kπ/2.

    A family may step unevenly as long as it does so periodically: `(-1)^k π/6 + kπ`. Both sides are written as
    residues modulo a common period, and each residue of one side must be one of the other.
    """

    def work() -> bool:
        evaluator = Evaluator({}, frozenset())
        f = evaluator.f

        def nearest(x: Any) -> int | None:
            """The whole number that the ball holds."""
            if not f.is_real(x):
                return None
            whole: int | None = f.floor(x + f.number(Fraction(1, 2)))
            return whole if whole is not None and f.overlaps(x, f.number(whole)) else None

        unit: Any = None
        sides: list[list[tuple[Any, Fraction]]] = []  # (residue, period in units) per side
        for families in (gold, answer):
            found: list[tuple[Any, Fraction]] = []
            for family in families:
                free = traits(family).alone - {"i"}
                if len(free) != 1 or not free <= PARAMETERS:
                    return False
                (name,) = free
                values = [evaluator.value(substitute(family, {name: Node("num", (), n)})) for n in range(_SAMPLES)]
                if not all(map(f.is_real, values)):
                    return False
                for period in _PERIODS:
                    steps = [b - a for a, b in zip(values, values[period:], strict=False)]
                    if all(f.overlaps(step, steps[0]) for step in steps) and not f.contains_zero(steps[0]):
                        break
                else:
                    return False
                if unit is None:
                    unit = steps[0]
                ratio = next(
                    (Fraction(n, q) for q in range(1, 25) if (n := nearest(steps[0] / unit * q)) is not None), None
                )
                if not ratio:
                    return False
                found.extend((value, abs(ratio)) for value in values[:period])
            sides.append(found)
        modulus = lcm(*(ratio.numerator for found in sides for _, ratio in found))
        residues: list[list[Any]] = []
        for found in sides:
            if sum(modulus / ratio for _, ratio in found) > MAX_RESIDUES:
                return False
            residues.append([
                value + f.number(ratio * n) * unit for value, ratio in found for n in range(int(modulus / ratio))
            ])  # fmt: skip
        whole = f.number(modulus) * unit
        return all(
            any(nearest((x - y) / whole) is not None for y in other)
            for one, other in (residues, residues[::-1])
            for x in one
        )

    try:
        found: bool = numeric.at_precision(256, work)
    except (Unsupported, Undefined, TooLarge):
        return False
    return found


MAX_MODULUS: Final = 5_000
Residues = tuple[int, frozenset[int]]
"""A modulus, and the residues by it."""


CONGRUENT: Final = frozenset(("cong", "list", "rel", "qty"))
"""Trees that may name residue classes."""


def holds_congruence(node: Node) -> bool:
    """A cheap look before `residues_of`."""
    if node.op == "list":
        return any(n.op == "cong" for n in node.args)
    return node.op == "cong" or (node.op == "rel" and node.value == ("|",)) or _parity(node) is not None


def _parity(node: Node) -> int | None:
    """1 of `n \\text{ odd}`, 0 of `n \\text{ is even}`; None for everything else."""
    if node.op == "qty" and node.args[0].op == "sym":
        word = node.value.text
    elif node.op == "rel" and node.value == ("=",) and node.args[0].op == "sym" and node.args[1].op == "text":
        word = node.args[1].value
    else:
        return None
    return {"odd": 1, "even": 0}.get(word)


def residues_of(node: Node) -> Residues | None:
    """The whole numbers that `n ≡ 1, 4 (mod 5)`, `n ≡ ±1 (mod 5)`, `n = 5k+1 or n = 5k+4` name, by their residues."""
    if node.op == "where":
        return residues_of(node.args[0])
    if (parity := _parity(node)) is not None:
        return 2, frozenset((parity,))
    if node.op == "rel" and node.value == ("|",):
        divisor = exact_of(node.args[0])
        plain = isinstance(divisor, int) and 0 < divisor <= MAX_MODULUS and node.args[1].op == "sym"
        return (divisor, frozenset((0,))) if plain and isinstance(divisor, int) else None
    if node.op == "cong":
        if len(node.args) == 3 and node.args[0].op != "sym":
            return None  # 2n ≡ 1
        modulus, values = exact_of(node.args[-1]), expand(node.args[-2])
        numbers = [_exact_value(v) for v in values or ()]
        if not isinstance(modulus, int) or not 0 < modulus <= MAX_MODULUS or not numbers or None in numbers:
            return None
        return modulus, frozenset(n % modulus for n in numbers if n is not None)
    if node.op == "list":
        parts: list[Residues] = []
        last = node.args[-1]
        for item in node.args:
            if last.op == "cong" and item.op != "cong" and node.value in (",", "or", "and"):
                # 1, 4 (mod 5): the modulus behind the last one is that of all
                value = item.args[-1] if item.op == "rel" and item.value == ("≡",) else item
                item = Node("cong", (value, last.args[-1]))
            part = residues_of(item)
            if part is None:
                return None
            parts.append(part)
        modulus = lcm(*(m for m, _ in parts))
        if modulus > MAX_MODULUS or (node.value != "or" and any(m != modulus for m, _ in parts)):
            return None  # x ≡ 1 (mod 2), x ≡ 2 (mod 3) is a system
        return modulus, frozenset(n for m, rs in parts for r in rs for n in range(r, modulus, m))
    assigned = node.args[1] if node.op == "rel" and node.value == ("=",) and node.args[0].op == "sym" else node
    found: set[int] = set()
    step = 0
    for value in expand(assigned) or ():
        counted = progression(value)
        if counted is None or counted[1] > MAX_MODULUS or step not in (0, counted[1]):
            return None
        step = counted[1]
        found.add(counted[0] % step)
    return (step, frozenset(found)) if found else None


def same_residues(gold: Residues, answer: Residues) -> bool:
    modulus = lcm(gold[0], answer[0])
    if modulus > MAX_MODULUS:
        return False
    ours, theirs = ({n for r in rs for n in range(r, modulus, m)} for m, rs in (gold, answer))
    return ours == theirs


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
