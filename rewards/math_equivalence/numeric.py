"""Values of expressions as balls: real and complex arithmetic with a proven error, never sympy.

Disjoint balls prove that two expressions differ, which cures the absolute rounding of other graders: `1/99!` is not
`1/100!`, `e^{-50}` is not `e^{-51}`. Agreement to hundreds of bits at several points accepts. Balls come from
python-flint (Arb; Johansson, IEEE Trans. Computers 66(8), 2017); without it mpmath evaluates at two precisions and the
difference of the two stands for the error.

flint keeps its precision in one global, so evaluation runs under a lock; the lock is renewed in a forked child.
"""

from __future__ import annotations

import cmath
import os
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from rewards.math_equivalence.exact import Undefined, Unsupported, seed_of
from rewards.math_equivalence.tree import MAX_TERMS, NUMERIC, Node, exact_of

LOW_BITS: Final = 128
HIGH_BITS: Final = 1400
MAX_STEPS: Final = 40_000
"""Most node evaluations for one value."""
MAX_FACTORIAL: Final = 10**14

_lock = threading.RLock()


def _renew_lock() -> None:
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


class TooLarge(Exception):
    """A magnitude or a number of steps beyond the caps."""


# --------------------------------------------------------------------------------------------------------------------
# Arithmetic on balls, one namespace per library. All take and give the library's own values; a value is "real" or
# "complex". Only what the evaluator needs is here.


class _Flint:
    name = "flint"

    def __init__(self) -> None:
        import flint

        self.ctx = flint.ctx
        self.arb = flint.arb
        self.acb = flint.acb
        self.fmpq = flint.fmpq
        self.fmpz = flint.fmpz

    def with_bits(self, bits: int) -> int:
        had: int = self.ctx.prec
        self.ctx.prec = bits
        return had

    def restore(self, had: int) -> None:
        self.ctx.prec = had

    def number(self, value: int | Fraction) -> Any:
        if isinstance(value, int):
            return self.arb(value)
        return self.arb(self.fmpq(value.numerator, value.denominator))

    def is_real(self, x: Any) -> bool:
        return isinstance(x, self.arb)

    def to_complex(self, x: Any) -> Any:
        return self.acb(x) if isinstance(x, self.arb) else x

    def imaginary(self) -> Any:
        return self.acb(0, 1)

    def conjugate(self, x: Any) -> Any:
        return x.conjugate()

    def real_part(self, x: Any) -> Any:
        """A complex ball whose imaginary part is exactly zero, as a real one."""
        if isinstance(x, self.acb) and x.imag.is_zero():
            return x.real
        return x

    def pi(self) -> Any:
        return self.arb.pi()

    def e(self) -> Any:
        return self.arb.const_e()

    def is_finite(self, x: Any) -> bool:
        return bool(x.is_finite())

    def negative(self, x: Any) -> bool:
        return bool(x < 0)

    def positive(self, x: Any) -> bool:
        return bool(x > 0)

    def is_zero(self, x: Any) -> bool:
        return bool(x.is_zero())

    def contains_zero(self, x: Any) -> bool:
        return bool(x.contains(0))

    def unary(self, name: str, x: Any) -> Any:
        return getattr(x, name)()

    def integer(self, x: Any) -> int | None:
        """The integer that the ball surely is, when it is exact."""
        if not self.is_real(x) or not x.is_exact() or not x.is_integer():
            return None
        if abs(x) > 10**18:
            return None
        return int(x.unique_fmpz())

    def floor(self, x: Any) -> int | None:
        found = x.floor().unique_fmpz()
        return None if found is None else int(found)

    def power_int(self, x: Any, n: int) -> Any:
        return x ** self.fmpz(n)

    def root(self, x: Any, n: int) -> Any:
        return x.root(n)

    def factorial(self, x: Any) -> Any:
        return (x + 1).gamma()

    def special(self, name: str, x: Any) -> Any:
        """\\Gamma(x) or \\zeta(x)."""
        return x.gamma() if name == "Gamma" else x.zeta()

    def rel_bits(self, x: Any) -> int:
        return int(x.rel_accuracy_bits())

    def magnitude_below(self, x: Any, exponent: int) -> bool:
        """Whether |x| < 2^exponent surely."""
        return bool(abs(x) < self.arb(2) ** exponent)

    def error_below(self, x: Any, exponent: int) -> bool:
        """Whether the ball's radius is below 2^exponent."""
        bound = self.arb(2) ** exponent
        if self.is_real(x):
            return bool(x.rad() < bound)
        return bool(x.real.rad() < bound and x.imag.rad() < bound)

    def log2(self, x: Any) -> float:
        """About log2 |x|."""
        size = abs(x)
        if size.contains(0):
            return 0.0
        return float(size.log().mid()) * 1.4427

    def rough(self, x: Any) -> complex:
        """The midpoint in floating point, for telling far values apart quickly."""
        z = self.to_complex(x)
        return complex(float(z.real.mid()), float(z.imag.mid()))

    def compare(self, a: Any, b: Any) -> int | None:
        """-1, 0 (balls overlap) or 1."""
        if a < b:
            return -1
        if a > b:
            return 1
        return 0

    def overlaps(self, a: Any, b: Any) -> bool:
        return bool(self.to_complex(a).overlaps(self.to_complex(b)))


_backend: Any = None


def backend() -> Any:
    """The arithmetic in use: flint when importable, else mpmath."""
    global _backend
    if _backend is None:
        try:
            _backend = _Flint()
        except ImportError:
            from rewards.math_equivalence.numeric_mp import MpBalls

            _backend = MpBalls()
    return _backend


# --------------------------------------------------------------------------------------------------------------------

_TRIG: Final = frozenset(
    {"sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "sech", "csch", "exp"}
)
_ARC: Final = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
}


_SPECIAL: Final = frozenset(("Gamma", "zeta"))


class Evaluator:
    """Evaluates one tree at one point.

    Args:
        point: exact values of the symbols.
        products: names that stand alone somewhere, so that `x(y-z)` is a product.
        log_base: what `\\log` without a base means: "e" or "10".
        degrees: whether arguments of trigonometric functions without a sign are degrees. Never by default.

    Attributes:
        complex_seen: whether a real operation left the real line on the way (`\\sqrt{-4}`, `\\ln(-1)`).
    """

    def __init__(self, point: dict[str, Fraction | int], products: frozenset[str], log_base: str = "e") -> None:
        self.f = backend()
        self.values = {name: self.f.number(v) for name, v in point.items()}
        self.products = products
        self.log_base = log_base
        self.steps = 0
        self.terms = 0
        self.complex_seen = False

    def value(self, node: Node) -> Any:
        """The ball.

        Raises:
            Unsupported: an operation that is not evaluated here.
            Undefined: a pole, or an argument outside the domain.
            TooLarge: caps crossed.
        """
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise TooLarge("too many steps")
        method = _METHODS.get(node.op)
        if method is None:
            raise Unsupported(node.op)
        result = method(self, node)
        if not self.f.is_finite(result):
            raise TooLarge("no finite value")
        return result

    def _number(self, node: Node) -> Any:
        value = exact_of(node)
        assert value is not None
        return self.f.number(value)

    def _sym(self, node: Node) -> Any:
        try:
            return self.values[node.value]
        except KeyError:
            if node.value == "i":
                return self.f.imaginary()
            raise Unsupported(node.value) from None

    def _const(self, node: Node) -> Any:
        if node.value == "pi":
            return self.f.pi()
        if node.value == "e":
            return self.f.e()
        if node.value in self.values:
            return self.values[node.value]
        raise Unsupported(node.value)

    def _add(self, node: Node) -> Any:
        total = self.value(node.args[0])
        for arg in node.args[1:]:
            total = total + self.value(arg)
        return self.f.real_part(total)

    def _mul(self, node: Node) -> Any:
        total = self.value(node.args[0])
        for arg in node.args[1:]:
            total = total * self.value(arg)
        return self.f.real_part(total)

    def _neg(self, node: Node) -> Any:
        return -self.value(node.args[0])

    def _div(self, node: Node) -> Any:
        bottom = self.value(node.args[1])
        if self.f.is_zero(bottom):
            raise Undefined
        if self.f.contains_zero(bottom):
            raise Undefined
        return self.f.real_part(self.value(node.args[0]) / bottom)

    def _pow(self, node: Node) -> Any:
        base_node, exponent_node = node.args
        f = self.f
        base = self.value(base_node)
        e = exact_of(exponent_node)
        if e is None:
            exponent = self.value(exponent_node)
            e = f.integer(exponent)
            if e is None:
                return self._real_power(base, exponent)
        if isinstance(e, int):
            if e <= 0 and f.contains_zero(base):
                raise Undefined
            if abs(e) > 10**18:
                raise TooLarge("exponent")
            return f.real_part(f.power_int(base, e))
        if e.denominator % 2 and f.is_real(base) and f.negative(base) and e.denominator < 1000:
            # the real root: (-8)^{1/3} is -2 to a person
            rooted = -f.root(-base, e.denominator)
            return f.power_int(rooted, e.numerator)
        return self._real_power(base, f.number(e))

    def _real_power(self, base: Any, exponent: Any) -> Any:
        f = self.f
        if f.contains_zero(base):
            if f.is_zero(base) and f.is_real(exponent) and f.positive(exponent):
                return f.number(0)
            raise Undefined
        if f.is_real(base) and f.is_real(exponent) and f.positive(base):
            return base**exponent
        self.complex_seen = True
        return f.real_part(f.to_complex(base) ** f.to_complex(exponent))

    def _root(self, node: Node) -> Any:
        f = self.f
        x = self.value(node.args[0])
        index = exact_of(node.args[1])
        if index is None:
            index_value = self.value(node.args[1])
            index = f.integer(index_value)
            if index is None:
                if f.contains_zero(index_value):
                    raise Undefined
                return self._real_power(x, 1 / index_value)
        if not isinstance(index, int):
            return self._real_power(x, f.number(1 / index))
        if index == 0 or abs(index) > 10**6:
            raise Undefined
        if index < 0:
            if f.contains_zero(x):
                raise Undefined
            x, index = 1 / x, -index
        if f.is_real(x):
            if f.is_zero(x):
                return x
            if f.positive(x):
                return f.unary("sqrt", x) if index == 2 else f.root(x, index)
            if f.negative(x):
                if index % 2:
                    return -f.root(-x, index)
            elif f.contains_zero(x):
                # a ball around zero: its root is a ball around zero; decided at higher precision, or not at all
                raise Undefined
        self.complex_seen = True
        z = f.to_complex(x)
        return f.real_part(f.unary("sqrt", z) if index == 2 else f.root(z, index))

    def _abs(self, node: Node) -> Any:
        if node.args[0].op == "matrix":
            raise Unsupported("matrix")
        return abs(self.value(node.args[0]))

    def _fact(self, node: Node) -> Any:
        f = self.f
        x = self.value(node.args[0])
        if not f.is_real(x):
            raise Undefined
        n = f.integer(x)
        if n is None:
            if f.positive(x):
                return f.factorial(x)
            raise Undefined
        if n < 0:
            raise Undefined
        if n > MAX_FACTORIAL:
            raise TooLarge("factorial")
        return f.factorial(x)

    def _dfact(self, node: Node) -> Any:
        n = self.f.integer(self.value(node.args[0]))
        if n is None or not -1 <= n <= MAX_TERMS:
            raise Undefined
        product = self.f.number(1)
        while n > 1:
            product = product * n
            n -= 2
        return product

    def _binom(self, node: Node) -> Any:
        f = self.f
        n, k = self.value(node.args[0]), self.value(node.args[1])
        ki = f.integer(k)
        if ki is not None and 0 <= ki <= 64:
            result = f.number(1)
            for j in range(ki):
                result = result * (n - j) / (j + 1)
            return result
        ni = f.integer(n)
        if ni is not None and ki is not None:
            if ki < 0 or 0 <= ni < ki:
                return f.number(0)
            if ni < 0:
                raise Undefined
            return f.factorial(n) / (f.factorial(k) * f.factorial(n - k))
        raise Undefined

    def _perm(self, node: Node) -> Any:
        f = self.f
        n, ki = self.value(node.args[0]), f.integer(self.value(node.args[1]))
        if ki is None or not 0 <= ki <= 200:
            raise Undefined
        result = f.number(1)
        for j in range(ki):
            result = result * (n - j)
        return result

    def _floor(self, node: Node) -> Any:
        x = self.value(node.args[0])
        if not self.f.is_real(x):
            raise Undefined
        whole = self.f.floor(x)
        if whole is None:
            raise Undefined
        return self.f.number(whole)

    def _ceil(self, node: Node) -> Any:
        x = self.value(node.args[0])
        if not self.f.is_real(x):
            raise Undefined
        whole = self.f.floor(-x)
        if whole is None:
            raise Undefined
        return self.f.number(-whole)

    def _mod(self, node: Node) -> Any:
        f = self.f
        m = f.integer(self.value(node.args[1]))
        if m is None or m <= 0:
            raise Undefined
        n = _integer_mod(node.args[0], m)
        if n is None:
            x = f.integer(self.value(node.args[0]))
            if x is None:
                raise Undefined
            n = x % m
        return f.number(n)

    def _deg(self, node: Node) -> Any:
        return self.value(node.args[0]) * self.f.pi() / 180

    def _pct(self, node: Node) -> Any:
        return self.value(node.args[0]) / 100

    def _qty(self, node: Node) -> Any:
        return self.value(node.args[0])

    def _call(self, node: Node) -> Any:
        name = node.value
        if len(node.args) == 1 and (name in self.products or name in self.values):  # k(k+1), also of an index k
            return self._sym(Node("sym", (), name)) * self.value(node.args[0])
        if name in _SPECIAL and len(node.args) == 1:
            return self.f.special(name, self.value(node.args[0]))
        if name in ("C", "P") and len(node.args) == 2:
            n, k = self.f.integer(self.value(node.args[0])), self.f.integer(self.value(node.args[1]))
            if n is not None and k is not None and not 0 <= k <= n:
                raise Unsupported("a point, not a number of choices")
            return (self._binom if name == "C" else self._perm)(node)
        # A function that nobody defined: a fixed wave per name, so that f(a) and f(b) agree only when a = b
        # or by an accident of measure zero.
        digest = seed_of("function", name)
        total = self.f.number(Fraction(int.from_bytes(digest[:4], "big"), 1 << 29))
        for j, arg in enumerate(node.args):
            weight = Fraction(1 + int.from_bytes(digest[4 + 4 * (j % 8) : 8 + 4 * (j % 8)], "big"), 1 << 31)
            total = total + self.value(arg) * self.f.number(weight)
        return self.f.unary("cos", total)

    def _fn(self, node: Node) -> Any:
        f = self.f
        name = node.value
        args = node.args
        if name in ("gcd", "lcm"):
            from math import gcd, lcm

            numbers = [f.integer(self.value(a)) for a in args]
            if not numbers or any(n is None for n in numbers):
                raise Undefined
            whole = [n for n in numbers if n is not None]
            return f.number(gcd(*whole) if name == "gcd" else lcm(*whole))
        if name in ("max", "min"):
            best = self.value(args[0])
            for a in args[1:]:
                v = self.value(a)
                if not f.is_real(v) or not f.is_real(best):
                    raise Undefined
                order = f.compare(v, best)
                if order == (1 if name == "max" else -1):
                    best = v
            return best
        if name == "log" and len(args) == 2:
            return f.real_part(self._ln(self.value(args[0])) / self._ln(self.value(args[1])))
        if len(args) != 1:
            raise Unsupported(name)
        x = self.value(args[0])
        if name == "ln":
            return self._ln(x)
        if name == "log":
            top = self._ln(x)
            return top if self.log_base == "e" else top / self._ln(f.number(10))
        if name == "sgn":
            if not f.is_real(x):
                raise Undefined
            return f.number(1 if f.positive(x) else -1 if f.negative(x) else 0)
        if name == "overline":
            return x if f.is_real(x) else f.conjugate(x)
        if name in _TRIG:
            return f.real_part(f.unary(name, x))
        if name == "cis":
            return f.real_part(f.unary("exp", f.to_complex(x) * f.imaginary()))
        if name == "arccot":
            return f.pi() / 2 - f.unary("atan", x)
        if name in ("arcsec", "arccsc"):
            if f.contains_zero(x):
                raise Undefined
            x, name = 1 / x, "arccos" if name == "arcsec" else "arcsin"
        if name in _ARC:
            if f.is_real(x):
                low, high = f.compare(x, f.number(-1)), f.compare(x, f.number(1))
                outside = (name in ("arcsin", "arccos", "arctanh") and (low == -1 or high == 1)) or (
                    name == "arccosh" and high == -1
                )
                if outside:
                    self.complex_seen = True
                    x = f.to_complex(x)
            return f.real_part(f.unary(_ARC[name], x))
        if name == "arg":
            return f.unary("arg", f.to_complex(x))
        raise Unsupported(name)

    def _ln(self, x: Any) -> Any:
        f = self.f
        if f.contains_zero(x):
            raise Undefined
        if f.is_real(x) and f.negative(x):
            self.complex_seen = True
            x = f.to_complex(x)
        return f.unary("log", x)

    def _big(self, node: Node) -> Any:
        f = self.f
        body, low, high = node.args
        kind, index = node.value
        a, b = f.integer(self.value(low)), f.integer(self.value(high))
        if a is None or b is None:
            raise Undefined
        self.terms += max(b - a + 1, 0)
        if self.terms > MAX_TERMS:
            raise TooLarge("a sum of too many terms")
        had = self.values.get(index)
        total = f.number(0 if kind == "sum" else 1)
        for k in range(a, b + 1):
            self.values[index] = f.number(k)
            v = self.value(body)
            total = total + v if kind == "sum" else total * v
        if had is None:
            self.values.pop(index, None)
        else:
            self.values[index] = had
        return f.real_part(total)

    def _matrix(self, node: Node) -> Any:
        """The determinant, for bars around a table."""
        rows, columns, fence = node.value
        if fence != "|" or rows != columns or rows > 8:
            raise Unsupported("matrix")
        cells = [[self.value(node.args[r * columns + c]) for c in range(columns)] for r in range(rows)]
        return _determinant(cells)


def _determinant(cells: list[list[Any]]) -> Any:
    if len(cells) == 1:
        return cells[0][0]
    if len(cells) > 5:
        raise Unsupported("matrix")
    total: Any = 0
    for c, head in enumerate(cells[0]):
        minor = [row[:c] + row[c + 1 :] for row in cells[1:]]
        part = head * _determinant(minor)
        total = total + part if c % 2 == 0 else total - part
    return total


def _integer_mod(node: Node, m: int) -> int | None:
    """An integer expression modulo m, with towers: a^E mod m for exact integers a and E of any size."""
    value = exact_of(node)
    if isinstance(value, int):
        return value % m
    if node.op == "pow":
        base = _integer_mod(node.args[0], m)
        exponent = exact_of(node.args[1])
        if base is not None and isinstance(exponent, int) and exponent >= 0:
            return pow(base, exponent, m)
        return None
    if node.op in ("add", "mul"):
        total = 0 if node.op == "add" else 1
        for arg in node.args:
            part = _integer_mod(arg, m)
            if part is None:
                return None
            total = (total + part if node.op == "add" else total * part) % m
        return total
    if node.op == "neg":
        part = _integer_mod(node.args[0], m)
        return None if part is None else -part % m
    return None


_METHODS: Final[dict[str, Callable[[Evaluator, Node], Any]]] = {
    "sym": Evaluator._sym, "const": Evaluator._const, "add": Evaluator._add, "mul": Evaluator._mul,
    "neg": Evaluator._neg, "div": Evaluator._div, "pow": Evaluator._pow, "root": Evaluator._root, "abs": Evaluator._abs,
    "fact": Evaluator._fact, "dfact": Evaluator._dfact, "binom": Evaluator._binom, "perm": Evaluator._perm,
    "floor": Evaluator._floor, "ceil": Evaluator._ceil, "mod": Evaluator._mod, "deg": Evaluator._deg,
    "pct": Evaluator._pct, "qty": Evaluator._qty, "money": Evaluator._qty, "call": Evaluator._call, "fn": Evaluator._fn,
    "big": Evaluator._big, "matrix": Evaluator._matrix, **dict.fromkeys(NUMERIC, Evaluator._number),
}  # fmt: skip


def rough_value(node: Node) -> complex | None:
    """About the value of a constant, when it is finite in floating point."""

    def work() -> complex:
        evaluator = Evaluator({}, frozenset())
        found: complex = evaluator.f.rough(evaluator.value(node))
        return found

    try:
        value: complex = at_precision(LOW_BITS, work)
    except (Unsupported, Undefined, TooLarge, OverflowError, ValueError):
        return None
    return value if cmath.isfinite(value) else None


def at_precision(bits: int, work: Callable[[], Any]) -> Any:
    """Runs `work` with the library's precision set to `bits`."""
    f = backend()
    with _lock:
        had = f.with_bits(bits)
        try:
            return work()
        finally:
            f.restore(had)
