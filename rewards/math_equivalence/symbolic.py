"""The slow lane: sympy and math-verify. Runs only inside a killable worker (`rewards.workers`), never in the caller.

`decide(payload)` takes and returns JSON:

| `op` | payload | answer |
|---|---|---|
| `equal` | `gold`, `answer`: text | `{"equal": bool or null, "detail": ...}`; null when nothing here can tell |
| `math_verify` | `golds`: list of texts, `completion`: text | `equal` (bool), `detail`: as its README calls it |

`equal` reads both texts with our own grammar and builds sympy objects node by node; sympy's parser, which evaluates
Python, never sees a character of them. Every construction is preceded by a static bound on its size, so that
`9^{9^{9}}` or `\\sum_{k=1}^{10^{100}}` is refused before sympy begins, whatever the machine's speed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from rewards.math_equivalence.tree import Node, exact_of

MAX_CHARS: Final = 20_000
"""Longest text handed to math-verify."""
MAX_NODES: Final = 400
"""Most nodes of a tree that sympy is asked about."""
MAX_POWER_BITS: Final = 20_000
MAX_FACTORIAL: Final = 5_000
MAX_RANGE: Final = 10_000
"""Longest finite sum or product that is expanded."""
DIGITS: Final = 40
AGREEING_DIGITS: Final = 25
"""Two values that agree to so many digits are taken for equal."""

INTEGER_POINTS: Final = 9
"""At how many integers two sums with a letter as their limit are compared."""

_POINTS: Final = ((3, 7), (11, 13), (29, 17))
_FUNCTIONS: Final = frozenset(
    {
        "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "sech", "csch", "asin", "acos",
        "atan", "acot", "asec", "acsc", "asinh", "acosh", "atanh", "exp",
    }
)  # fmt: skip
_INVERSE: Final = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arccot": "acot",
    "arcsec": "asec",
    "arccsc": "acsc",
}


class Unconvertible(Exception):
    """A node with no counterpart here, or one that is too large; the message says which."""


def decide(payload: dict[str, Any]) -> dict[str, Any]:
    """One task of the slow lane; see the module's table.

    Raises:
        ValueError: an `op` that does not exist.
    """
    op = payload.get("op")
    if op == "equal":
        return _equal(payload["gold"], payload["answer"])
    if op == "math_verify":
        return _math_verify(payload["golds"], payload["completion"])
    raise ValueError(f"symbolic worker was given op={op!r}; allowed: 'equal', 'math_verify'")


# ---------------------------------------------------------------- math-verify


def wrapped(text: str) -> str:
    """The text in `$...$` unless it holds a LaTeX environment already: math-verify needs one to see LaTeX at all."""
    if "$" in text or "\\boxed" in text or "\\(" in text or "\\[" in text:
        return text
    return f"${text}$"


def _math_verify(golds: list[str], completion: str) -> dict[str, Any]:
    """math-verify as its README calls it: `verify(parse(gold), parse(answer))`, gold first, the gold in `$...$`.

    Its own time limits are signals; they are off, since the pool kills a worker that runs too long.
    """
    from math_verify import parse, verify

    logging.getLogger("math_verify").setLevel(logging.ERROR)
    answer = parse(completion[-MAX_CHARS:], parsing_timeout=0)
    if not answer:
        return {"equal": False, "detail": "math-verify finds no answer"}
    for gold in golds:
        parsed = parse(wrapped(gold), parsing_timeout=0)
        if parsed and verify(parsed, answer, timeout_seconds=0):
            return {"equal": True, "detail": "math-verify calls the two equal"}
    return {"equal": False, "detail": "math-verify calls the two different"}


# ---------------------------------------------------------------- sympy


def _equal(gold: str, answer: str) -> dict[str, Any]:
    from rewards.math_equivalence.latex import parse
    from rewards.math_equivalence.tree import Problem

    try:
        first, second = parse(gold), parse(answer)
    except Problem as problem:
        return {"equal": None, "detail": f"not readable: {problem.detail}"}
    try:
        return _compare(first, second)
    except Unconvertible as error:
        return {"equal": None, "detail": str(error)}


def _compare(gold: Node, answer: Node) -> dict[str, Any]:
    if gold.op == "rel" and answer.op == "rel" and gold.value == answer.value == ("=",):
        # y = f against y = g: the names must agree; then the right sides are compared
        if gold.args[0] == answer.args[0]:
            return _compare(gold.args[1], answer.args[1])
        return {"equal": None, "detail": "two equations with different left sides"}
    if gold.op == answer.op and gold.op in ("tuple", "list", "seq", "matrix"):
        if len(gold.args) != len(answer.args):
            return {"equal": False, "detail": f"{len(gold.args)} elements against {len(answer.args)}"}
        found = [_compare(a, b) for a, b in zip(gold.args, answer.args, strict=True)]
        for item in found:
            if item["equal"] is not True:
                return item
        return found[0] if found else {"equal": True, "detail": "both empty"}
    if gold.op == "rel" and gold.value == ("=",) and gold.args[0].op in ("sym", "call"):
        return _compare(gold.args[1], answer)
    if answer.op == "rel" and answer.value == ("=",) and answer.args[0].op in ("sym", "call"):
        return _compare(gold, answer.args[1])
    _check(gold)
    _check(answer)
    convert = _Converter(_names(gold) | _names(answer))
    return _same(convert(gold), convert(answer))


def _names(node: Node) -> frozenset[str]:
    """Every letter that stands for itself somewhere in the tree."""
    found = set()
    stack = [node]
    while stack:
        item = stack.pop()
        if item.op == "sym":
            found.add(str(item.value))
        stack.extend(item.args)
    return frozenset(found)


def _check(node: Node) -> None:
    """Refuse trees that are too large before sympy sees them."""
    nodes = 0
    stack = [node]
    while stack:
        item = stack.pop()
        nodes += 1
        stack.extend(item.args)
        if nodes > MAX_NODES:
            raise Unconvertible(f"more than {MAX_NODES} nodes")


def _same(a: Any, b: Any) -> dict[str, Any]:
    import sympy

    difference = a - b
    if difference != 0 and difference.has(sympy.Integral, sympy.Sum, sympy.Product, sympy.Limit):
        # Summing 10^k terms to 40 digits takes minutes where the closed form is found at once.
        difference = difference.doit()
    if difference == 0:
        return {"equal": True, "detail": "sympy finds a difference of 0"}
    values = _values(difference, a)
    if values is None:
        values = _at_integers(difference)
    if values is None:
        difference = sympy.simplify(difference)
        if difference == 0:
            return {"equal": True, "detail": "sympy simplifies the difference to 0"}
        values = _values(difference, a)
    if values is None:
        return {"equal": None, "detail": "sympy can neither prove nor refute it"}
    if not all(values):
        return {"equal": False, "detail": "the values differ at a point"}
    return {"equal": True, "detail": f"equal to {AGREEING_DIGITS} digits at {len(values)} point(s)"}


def _values(difference: Any, scale_of: Any) -> list[bool] | None:
    """Whether the difference vanishes, point by point; None when it cannot be evaluated."""
    import sympy

    if difference.has(sympy.Sum, sympy.Product, sympy.Limit) and difference.free_symbols:
        return None
    symbols = sorted(difference.free_symbols, key=str)
    found: list[bool] = []
    points = _POINTS if symbols else _POINTS[:1]
    for top, bottom in points:
        point = {s: sympy.Rational(top + 2 * i, bottom + i) for i, s in enumerate(symbols)}
        value = sympy.N(difference.subs(point), DIGITS, maxn=400)
        scale = sympy.N(scale_of.subs(point), 15, maxn=400)
        if not (value.is_number and scale.is_number) or value.has(
            sympy.nan, sympy.zoo, sympy.oo, sympy.Integral, sympy.Sum, sympy.Product, sympy.Limit
        ):
            return None
        size = abs(sympy.N(scale, 15))
        found.append(bool(abs(value) <= sympy.Float(10) ** -AGREEING_DIGITS * max(size, sympy.Float("1e-300"))))
    return found


def _at_integers(difference: Any) -> list[bool] | None:
    """A sum or product up to a letter, worked out exactly where the letters are small integers."""
    import sympy

    limits = {
        symbol
        for kind in (sympy.Sum, sympy.Product)
        for item in difference.atoms(kind)
        for limit in item.limits
        for bound in limit[1:]
        for symbol in bound.free_symbols
    }
    if not limits:
        return None
    symbols = sorted(difference.free_symbols, key=str)
    found = []
    for point in range(1, INTEGER_POINTS + 1):
        value = difference.subs({s: sympy.Integer(point + i) for i, s in enumerate(symbols)}).doit()
        if not value.is_number or value.has(sympy.nan, sympy.zoo, sympy.oo, sympy.Sum, sympy.Product):
            return None
        found.append(bool(value == 0 or abs(sympy.N(value, DIGITS, maxn=400)) < sympy.Float(10) ** -AGREEING_DIGITS))
    return found


class _Converter:
    """Our tree to sympy objects, node by node."""

    def __init__(self, letters: frozenset[str]) -> None:
        import sympy

        self.sympy = sympy
        self.letters = letters
        self.names: dict[str, Any] = {}

    def __call__(self, node: Node) -> Any:
        value = exact_of(node)
        if value is not None:
            return self.number(value)
        method: Callable[[Node], Any] | None = getattr(self, f"_{node.op}", None)
        if method is None:
            raise Unconvertible(f"nothing to compare a {node.op!r} by here")
        return method(node)

    def number(self, value: int | Fraction) -> Any:
        if isinstance(value, Fraction):
            return self.sympy.Rational(value.numerator, value.denominator)
        return self.sympy.Integer(value)

    def symbol(self, name: str) -> Any:
        if name not in self.names:
            self.names[name] = self.sympy.Symbol(name, real=True)
        return self.names[name]

    def _sym(self, node: Node) -> Any:
        return self.symbol(node.value)

    def _const(self, node: Node) -> Any:
        known = {"pi": self.sympy.pi, "e": self.sympy.E, "infty": self.sympy.oo, "i": self.sympy.I}
        if node.value not in known:
            raise Unconvertible(f"nothing to compute with in {node.value!r}")
        return known[node.value]

    def _add(self, node: Node) -> Any:
        return self.sympy.Add(*map(self, node.args))

    def _mul(self, node: Node) -> Any:
        return self.sympy.Mul(*map(self, node.args))

    def _neg(self, node: Node) -> Any:
        return -self(node.args[0])

    def _div(self, node: Node) -> Any:
        bottom = self(node.args[1])
        if bottom == 0:
            raise Unconvertible("a division by zero")
        return self(node.args[0]) / bottom

    def _pow(self, node: Node) -> Any:
        base, exponent = self(node.args[0]), self(node.args[1])
        self.bound_power(base, exponent)
        return base**exponent

    def bound_power(self, base: Any, exponent: Any) -> None:
        if not exponent.is_number:
            return
        size = abs(exponent.evalf(15)) if not exponent.is_Integer else abs(int(exponent))
        if base.is_Rational:
            bits = int(base.p).bit_length() + int(base.q).bit_length()
            if base not in (0, 1, -1) and not size * bits <= MAX_POWER_BITS:
                raise Unconvertible(f"a power of more than {MAX_POWER_BITS} bits")
        elif not size <= 1000:
            raise Unconvertible("an exponent above 1000")

    def _root(self, node: Node) -> Any:
        index = self(node.args[1]) if len(node.args) > 1 else self.sympy.Integer(2)
        if index == 0:
            raise Unconvertible("a root of index 0")
        return self.sympy.root(self(node.args[0]), index)

    def _abs(self, node: Node) -> Any:
        return self.sympy.Abs(self(node.args[0]))

    def _floor(self, node: Node) -> Any:
        return self.sympy.floor(self(node.args[0]))

    def _ceil(self, node: Node) -> Any:
        return self.sympy.ceiling(self(node.args[0]))

    def _deg(self, node: Node) -> Any:
        return self(node.args[0]) * self.sympy.pi / 180

    def _pct(self, node: Node) -> Any:
        return self(node.args[0]) / 100

    def _fact(self, node: Node) -> Any:
        return self.sympy.factorial(self.small(node.args[0]))

    def _dfact(self, node: Node) -> Any:
        return self.sympy.factorial2(self.small(node.args[0]))

    def _binom(self, node: Node) -> Any:
        return self.sympy.binomial(self.small(node.args[0]), self.small(node.args[1]))

    def small(self, node: Node) -> Any:
        value = self(node)
        if value.is_number and not abs(value) <= MAX_FACTORIAL:
            raise Unconvertible(f"a factorial of a number above {MAX_FACTORIAL}")
        return value

    def _fn(self, node: Node) -> Any:
        name = str(node.value)
        args = [self(arg) for arg in node.args]
        if name in ("log", "ln", "lg"):
            if len(args) == 2:
                return self.sympy.log(args[0], args[1])
            return self.sympy.log(args[0], 10) if name == "lg" else self.sympy.log(args[0])
        name = _INVERSE.get(name, name)
        if name in _FUNCTIONS and len(args) == 1:
            return getattr(self.sympy, name)(args[0])
        if name in ("max", "min"):
            return getattr(self.sympy, name.capitalize())(*args)
        raise Unconvertible(f"no function {name!r} here")

    def _call(self, node: Node) -> Any:
        known = {"zeta": self.sympy.zeta, "Gamma": self.sympy.gamma, "gamma": self.sympy.gamma}
        args = [self(arg) for arg in node.args]
        if node.value in known and len(args) == 1:
            if args[0].is_number and not abs(args[0]) <= MAX_FACTORIAL:
                raise Unconvertible(f"an argument above {MAX_FACTORIAL}")
            return known[node.value](args[0])
        if len(args) == 1 and node.value in self.letters:
            return self.symbol(node.value) * args[0]  # n(n+1), with n elsewhere a number
        if len(args) == 1 and len(node.value) == 1:
            # The same unknown function on both sides: sympy keeps it as a symbol of its own.
            return self.sympy.Function(node.value)(args[0])
        raise Unconvertible(f"no function {node.value!r} here")

    def _big(self, node: Node) -> Any:
        body, low, high = node.args
        kind, index = node.value
        first, last = self(low), self(high)
        if first.is_Integer and last.is_Integer and int(last) - int(first) > MAX_RANGE:
            raise Unconvertible(f"more than {MAX_RANGE} terms")
        make = self.sympy.Sum if kind == "sum" else self.sympy.Product
        return make(self(body), (self.symbol(index), first, last))

    def _opaque(self, node: Node) -> Any:
        if node.value == "int":
            return self.integral(node)
        if node.value == "lim" and len(node.args) == 2 and node.args[1].op == "rel" and node.args[1].value == ("->",):
            variable, point = node.args[1].args
            if variable.op == "sym":
                return self.sympy.Limit(
                    self(node.args[0]), self.symbol(variable.value), self(point), "+-" if point.op != "const" else "-"
                )
        raise Unconvertible(f"nothing to evaluate {node.value!r} by here")

    def integral(self, node: Node) -> Any:
        body, variable = _differential(node.args[0])
        if variable is None:
            raise Unconvertible("an integral whose differential was not found")
        symbol = self.symbol(variable)
        if len(node.args) == 3:
            return self.sympy.Integral(self(body), (symbol, self(node.args[1]), self(node.args[2])))
        if len(node.args) == 1:
            return self.sympy.Integral(self(body), symbol).doit()
        raise Unconvertible("an integral with one limit")


def _differential(body: Node) -> tuple[Node, str | None]:
    """Take `dx` off an integrand: a product that ends in `d` and a letter, or a fraction with such a numerator."""
    if body.op == "mul" and len(body.args) >= 2:
        for at in range(len(body.args) - 2, -1, -1):
            d, name = body.args[at], body.args[at + 1]
            if d.op == "sym" and d.value == "d" and name.op == "sym":
                rest = (*body.args[:at], *body.args[at + 2 :])
                if not rest:
                    return Node("num", (), 1), str(name.value)
                return (rest[0] if len(rest) == 1 else Node("mul", rest)), str(name.value)
    if body.op == "div":
        top, variable = _differential(body.args[0])
        return Node("div", (top, body.args[1])), variable
    if body.op == "neg":
        inner, variable = _differential(body.args[0])
        return Node("neg", (inner,)), variable
    return body, None
