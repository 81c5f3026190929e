"""The small typed tree that answers are read into, and the caps that bound it.

One node class serves every type: `op` names it, `args` are its children, `value` is what is not a child. A named
tuple is built in a third of a microsecond, compares and hashes structurally in C, and pickles.

| op | args | value |
|---|---|---|
| `num` | | exact `int` or `Fraction`, written as an integer, a fraction or a mixed number |
| `dec` | | `Decimal10(value, digits)`: exact `Fraction`, and how many digits were written after the point |
| `calc` | | exact value that came from arithmetic in the text (`3\\cdot 5`) |
| `sym` | | name: `x`, `alpha`, `a_1`, `f'` |
| `const` | | `pi`, `e`, `infty`, `undefined`, `empty`, `true`, `false`, `dots` |
| `numset` | | `R`, `Z`, `N`, `Q`, `C`, with sign: `R+`, `R-`, `R*` |
| `add` `mul` | terms | |
| `neg` `pm` `mp` `abs` `fact` `dfact` `floor` `ceil` `deg` `pct` | one | |
| `div` `pow` `root` `binom` `perm` `mod` | two (`root`: radicand, index) | |
| `fn` | arguments (`log`: argument, base) | name: `sin`, `log`, `gcd`, ... |
| `call` | arguments | name of a letter applied to brackets: `f(x)`, or the product `x(y-z)` |
| `big` | body, lower, upper | (`sum`/`prod`, index name) |
| `opaque` | children | `int`, `lim`, ...: read, kept, not evaluated here |
| `base` | | (digits, base) |
| `money` `qty` | one | currency, or `Unit` |
| `tuple` `list` `set` `bracket` `seq` | elements | `list`: "and"/"or"/"," ; `bracket`: square brackets |
| `interval` | low, high | (low closed, high closed) |
| `union` `inter` `minus` | two or more | |
| `build` | body, condition | set builder `{x | x > 3}` |
| `rel` | sides | tuple of relation signs |
| `cong` | left or nothing, residue, modulus | |
| `all` `any` | relations joined by "and" / "or" | |
| `span` | vectors | |
| `matrix` | cells, row by row | (rows, columns, fence) |
| `cases` | value, condition, value, condition, ... | |
| `ratio` | terms | the text between colons |
| `time` | | minutes since midnight, and whether am/pm was written |
| `label` | one | text before a colon: `Minimum: 1` |
| `choice` | content or nothing | letter |
| `text` | numbers found in it | words |
| `where` | one | words of "for all ...", "where ..." |
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final, NamedTuple

MAX_CHARS: Final = 10_200
"""Longest text the grammar reads. Plain digit strings of any length are compared before it."""
MAX_TOKENS: Final = 10_200
MAX_DEPTH: Final = 120
"""Deepest tree. Redundant brackets do not count: `((((5))))` is as deep as `5`."""
MAX_DIGITS: Final = 4_000
"""Most digits of one number literal; Python's own `int(str)` is quadratic and refuses above 4,300."""
MAX_BITS: Final = 20_000
"""Largest exact integer that arithmetic on the tree may build."""
MAX_TERMS: Final = 2_000
"""Most terms of a finite sum or product that is added up."""
MAX_ELEMENTS: Final = 600
"""Most elements of a list, a set or a matrix."""

Exact = int | Fraction


class Node(NamedTuple):
    """One node; see the module's table."""

    op: str
    args: tuple[Node, ...] = ()
    value: Any = None


class Decimal10(NamedTuple):
    """A decimal as written: its exact value and the number of digits after the point."""

    value: Fraction
    digits: int


class Problem(Exception):
    """A text that cannot be read: `code` is `unreadable`, `empty` or `over_limit`."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail


NUMERIC: Final = frozenset({"num", "dec", "calc"})
ZERO: Final = Node("num", (), 0)
ONE: Final = Node("num", (), 1)
TWO: Final = Node("num", (), 2)
INFTY: Final = Node("const", (), "infty")
MINUS_INFTY: Final = Node("neg", (INFTY,))


def exact_of(node: Node) -> Exact | None:
    """The exact value of a numeric node."""
    op = node.op
    if op == "num" or op == "calc":
        return node.value  # type: ignore[no-any-return]
    if op == "dec":
        return node.value.value  # type: ignore[no-any-return]
    return None


def bits(value: Exact) -> int:
    """Bits of numerator and denominator together."""
    if isinstance(value, int):
        return value.bit_length()
    return value.numerator.bit_length() + value.denominator.bit_length()


def calc(value: Exact) -> Node:
    """A node for a value that was computed."""
    if isinstance(value, Fraction) and value.denominator == 1:
        value = value.numerator
    return Node("calc", (), value)


def add(terms: list[Node]) -> Node:
    """The sum, with numbers added up and nested sums opened."""
    if len(terms) == 1:
        return terms[0]
    flat: list[Node] = []
    total: Exact = 0
    folded = 0
    for term in terms:
        value = exact_of(term)
        if value is not None and bits(value) + bits(total) < MAX_BITS:
            total += value
            folded += 1
        elif term.op == "add":
            flat.extend(term.args)
        else:
            flat.append(term)
    if folded and (total or not flat):
        flat.append(calc(total))
    return flat[0] if len(flat) == 1 else Node("add", tuple(flat))


def neg(node: Node) -> Node:
    """Minus the node; a literal stays a literal."""
    op = node.op
    if op == "num" or op == "calc":
        return Node(op, (), -node.value)
    if op == "dec":
        return Node("dec", (), Decimal10(-node.value.value, node.value.digits))
    if op == "neg":
        return node.args[0]
    return Node("neg", (node,))


def mul(factors: list[Node]) -> Node:
    """The product, with numbers multiplied out."""
    if len(factors) == 1:
        return factors[0]
    flat: list[Node] = []
    total: Exact = 1
    folded = False
    for factor in factors:
        value = exact_of(factor)
        if value is not None and bits(value) + bits(total) < MAX_BITS:
            total *= value
            folded = True
        elif factor.op == "mul":
            flat.extend(factor.args)
        else:
            flat.append(factor)
    if folded and (total != 1 or not flat):
        flat.insert(0, calc(total))
    return flat[0] if len(flat) == 1 else Node("mul", tuple(flat))


def div(top: Node, bottom: Node) -> Node:
    """The quotient; of two integers, a rational literal."""
    a, b = exact_of(top), exact_of(bottom)
    if a is not None and b is not None and b != 0 and bits(a) + bits(b) < MAX_BITS:
        value: Exact = Fraction(a) / b
        if value.denominator == 1:
            value = int(value)
        literal = top.op == "num" and bottom.op == "num" and isinstance(a, int) and isinstance(b, int)
        return Node("num" if literal else "calc", (), value)
    if b == 1:
        return top
    return Node("div", (top, bottom))


def rounded(op: str, node: Node) -> Node:
    """`floor` or `ceil`, computed for a number."""
    value = exact_of(node)
    if value is None:
        return Node(op, (node,))
    return calc(value.__floor__() if op == "floor" else value.__ceil__())


def factorial(node: Node) -> Node:
    """The factorial, computed when it stays small."""
    value = exact_of(node)
    if isinstance(value, int) and 0 <= value <= 1500:
        return calc(math.factorial(value))
    return Node("fact", (node,))


def binomial(top: Node, bottom: Node) -> Node:
    """The binomial coefficient, computed when it stays small."""
    n, k = exact_of(top), exact_of(bottom)
    if isinstance(n, int) and isinstance(k, int) and 0 <= n <= 5000 and k >= 0:
        value = math.comb(n, k)
        if bits(value) < MAX_BITS:
            return calc(value)
    return Node("binom", (top, bottom))


def divisors(name: str, args: tuple[Node, ...]) -> Node:
    """`gcd` or `lcm`, computed for integers."""
    values = [exact_of(a) for a in args]
    if args and all(isinstance(v, int) for v in values):
        whole = [v for v in values if isinstance(v, int)]
        value = math.gcd(*whole) if name == "gcd" else math.lcm(*whole)
        if bits(value) < MAX_BITS:
            return calc(value)
    return Node("fn", args, name)


def power(base: Node, exponent: Node) -> Node:
    """The power, computed when it stays small."""
    e = exact_of(exponent)
    if isinstance(e, int):
        b = exact_of(base)
        if b is not None and (b != 0 or e > 0) and abs(e) * (bits(b) + 1) < MAX_BITS:
            return calc(Fraction(b) ** e if e < 0 else b**e)
        if e == 1:
            return base
    return Node("pow", (base, exponent))


def fold(node: Node) -> Node:
    """The tree with arithmetic on numbers done."""
    if not node.args:
        return node
    args = [fold(a) for a in node.args]
    if node.op == "add":
        return add(args)
    if node.op == "mul":
        return mul(args)
    if node.op == "pow":
        return power(args[0], args[1])
    if node.op == "div":
        return div(args[0], args[1])
    return neg(args[0]) if node.op == "neg" else Node(node.op, tuple(args), node.value)
