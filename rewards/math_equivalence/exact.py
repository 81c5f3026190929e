"""Exact numbers, no floats: plain number strings before any parsing, and expressions modulo a prime.

`quick_number` decides most real pairs in a few microseconds. `Modular` evaluates polynomials, rational functions and
huge integer powers at points of GF(2^61 - 1) (Schwartz 1980, Zippel 1979): two different expressions of total degree
d agree at one random point with probability at most d / 2^61, so two points refute or accept.
"""

from __future__ import annotations

import hashlib
import re
from fractions import Fraction
from typing import Final, NamedTuple

from rewards.math_equivalence.tree import MAX_TERMS, NUMERIC, Exact, Node, exact_of

PRIME: Final = (1 << 61) - 1
MAX_QUICK: Final = 400
"""Longest text that `quick_number` looks at."""

# Token shapes only. Every alternative is linear: digit groups are of fixed size or follow each other without overlap.
_QUICK: Final = re.compile(
    r"(?P<money>\\?\$ ?)?(?P<sign>[-+]?) ?(?:"
    r"(?P<money2>\\?\$)?(?P<whole>\d{1,3}(?:(?:,|\{,\}|,\\!)\d{3})+|\d+)(?:\.(?P<frac>\d+)"
    r"| ?\\[dt]?frac\{(?P<over>\d+)\}\{(?P<under>\d+)\})?"
    r"|\.(?P<dot>\d+)"
    r"|\\[dt]?frac(?:\{(?P<a>[-+]?\d+)\}\{(?P<b>\d+)\}|(?P<c>\d)(?P<d>\d))"
    r")(?:/(?P<slash>\d+))?(?: ?(?P<mark>\\?%|\^\\circ|\^\{\\circ\}))?\.?",
    re.ASCII,
)


class Quick(NamedTuple):
    """A plain number.

    Attributes:
        value: exact.
        digits: digits after the point; -1 when it is no decimal.
        mark: "" or "%", "°", "$".
        literal: False for a fraction of two integers that is not in lowest terms or an integer written as one.
    """

    value: Exact
    digits: int
    mark: str


def quick_number(text: str) -> Quick | None:
    """A plain integer, decimal, fraction, percentage, amount of money or angle; None for anything else."""
    if len(text) > MAX_QUICK:
        return None
    m = _QUICK.fullmatch(text)
    if m is None:
        return None
    money, sign, money2, whole, frac, over, under, dot, a, b, c, d, slash, mark = m.groups()
    digits = -1
    value: Exact
    if whole is not None:
        if not whole.isdigit():
            if whole[0] == "0":
                return None  # 0,125 is a decimal, no thousands
            whole = whole.replace("{,}", "").replace(",\\!", "").replace(",", "")
        if over is not None:
            if not 0 < int(over) < int(under) or slash is not None or mark:
                return None  # 2\\frac{3}{2} is a product
            value = int(whole) + Fraction(int(over), int(under))
        elif frac is None:
            value = int(whole)
        else:
            digits = len(frac)
            value = Fraction(int(whole + frac), 10**digits)
    elif dot is not None:
        digits = len(dot)
        value = Fraction(int(dot), 10**digits)
    elif a is not None:
        bottom = int(b)
        if bottom == 0:
            return None
        value = Fraction(int(a), bottom)
    else:
        bottom = int(d)
        if bottom == 0:
            return None
        value = Fraction(int(c), bottom)
    if slash is not None:
        if digits >= 0 or whole is None or int(slash) == 0:
            return None
        value = Fraction(value, int(slash))
    if sign == "-":
        value = -value
    if mark:
        if money or money2:
            return None
        return Quick(value, digits, "%" if mark[-1] == "%" else "°")
    return Quick(value, digits, "$" if money or money2 else "")


_TERM: Final = re.compile(
    r" ?(?P<sign>[-+]?) ?(?:(?P<num>\d{1,40}(?:\.\d{1,40})?)(?:/(?P<over>\d{1,40}))?"
    r"|(?:\\[dt]?frac\{|\()(?P<a>\d{1,40})(?:\}\{|/)(?P<b>\d{1,40})[})])?"
    r"(?P<letters>(?: ?\*? ?[a-zA-Z](?:(?:\^|\*\*)(?:\d{1,3}|\{\d{1,3}\}))?)*)(?:/(?P<under>\d{1,40}))?",
    re.ASCII,
)
_FACTOR: Final = re.compile(r"( ?\*? ?)([a-zA-Z])(?:(?:\^|\*\*)\{?(\d+))?", re.ASCII)
_SPLIT_LETTERS: Final = frozenset("xyz")
"""Letters that may stand side by side: `xy` is a product, `at` may be a word."""
_NO_LETTERS: Final = frozenset("eEIjOld")

Monomial = tuple[tuple[str, int], ...]


def quick_polynomial(text: str) -> dict[Monomial, Exact] | None:
    """A sum of terms such as `3x^2 - 2*x**3*y + \\frac{1}{2}` by its monomials, in their order; None for other texts.

    Only what cannot be read otherwise: no words, no lone letter, no constant but i, and that only to its first power.
    """
    if len(text) > MAX_QUICK or "=" in text:
        return None
    terms: dict[Monomial, Exact] = {}
    at, size = 0, len(text)
    count = plain = 0
    lettered = False
    while at < size:
        m = _TERM.match(text, at)
        assert m is not None
        if m.end() == at or (count and not m["sign"]):
            return None
        at = m.end()
        sign, num, over, a, b, letters, under = m.groups()
        value: Exact = 1
        if num is not None:
            whole, _, digits = num.partition(".")
            value = Fraction(int(whole + digits), 10 ** len(digits)) if digits else int(num)
            if over is not None:
                if int(over) == 0:
                    return None
                value = Fraction(value, int(over))
        elif a is not None:
            if int(b) == 0:
                return None
            value = Fraction(int(a), int(b))
        elif not letters:
            return None
        if under is not None:
            if int(under) == 0:
                return None
            value = Fraction(value, int(under))
        powers: dict[str, int] = {}
        if letters:
            if num is None and a is None and letters.lstrip()[0] == "*":
                return None
            lettered = True
            tight = ""
            for joint, letter, power in _FACTOR.findall(letters):
                beside = tight and not joint and not (letter in _SPLIT_LETTERS and tight in _SPLIT_LETTERS)
                if beside or letter in _NO_LETTERS or (letter == "i" and (power or len(letters.strip(" *")) > 1)):
                    return None
                powers[letter] = powers.get(letter, 0) + int(power or 1)
                tight = "" if power else letter
                plain += bool(power) or "*" in joint
        key = tuple(sorted(powers.items()))
        terms[key] = terms.get(key, 0) + (-value if sign == "-" else value)
        count += 1
    return terms if lettered and (count > 1 or plain) else None


def quick_row(text: str) -> tuple[Exact, ...] | None:
    """The numbers of `[2, 0.5, -3]`, two or more with a space behind each comma; None for other texts."""
    if len(text) > MAX_QUICK or text[:1] != "[" or text[-1:] != "]":
        return None
    parts = text[1:-1].split(", ")
    if len(parts) < 2:
        return None
    values: list[Exact] = []
    for part in parts:
        number = quick_number(part)
        if number is None or number.mark or "," in part or "$" in part or "+" in part:
            return None
        values.append(number.value)
    return tuple(values)


def digit_strings_differ(gold: str, answer: str) -> bool | None:
    """For two plain strings of digits of any length: whether they are different integers. None for other texts."""
    if gold.isascii() and answer.isascii() and gold.isdigit() and answer.isdigit():
        return gold.lstrip("0") != answer.lstrip("0")
    return None


# --------------------------------------------------------------------------------------------------------------------


class Unsupported(Exception):
    """The expression is not of the kind that this evaluator takes."""


class Undefined(Exception):
    """The expression has no value at this point: a division by zero."""


def seed_of(*parts: str) -> bytes:
    """Sixty-four bytes from the inputs: evaluation points are a function of the pair, never of chance."""
    return hashlib.blake2b("\x00".join(parts).encode("utf-8", "surrogatepass")).digest()


class Modular:
    """Evaluates expressions at one point modulo `PRIME`.

    Args:
        point: value of each symbol, 0 <= v < PRIME.
            A name with a value is a letter, so that `x(y-z)` is a product.
    """

    __slots__ = ("point", "steps")

    def __init__(self, point: dict[str, int]) -> None:
        self.point = point
        self.steps = 0

    def value(self, node: Node) -> int:
        """The value modulo the prime.

        Raises:
            Unsupported: a root, a function, a symbolic exponent.
            Undefined: a division by zero at this point.
        """
        op = node.op
        if op in NUMERIC:
            v = exact_of(node)
            if isinstance(v, int):
                return v % PRIME
            assert isinstance(v, Fraction)
            bottom = v.denominator % PRIME
            if bottom == 0:
                raise Unsupported
            return v.numerator * pow(bottom, -1, PRIME) % PRIME
        if op == "sym":
            try:
                return self.point[node.value]
            except KeyError:
                raise Unsupported from None
        if op == "add":
            total = 0
            for arg in node.args:
                total += self.value(arg)
            return total % PRIME
        if op == "mul":
            product = 1
            for arg in node.args:
                product = product * self.value(arg) % PRIME
            return product
        if op == "neg":
            return -self.value(node.args[0]) % PRIME
        if op == "div":
            bottom = self.value(node.args[1])
            if bottom == 0:
                raise Undefined
            return self.value(node.args[0]) * pow(bottom, -1, PRIME) % PRIME
        if op == "pow":
            base, exponent = node.args
            e = exact_of(exponent)
            if e is None:
                e = _small_integer(exponent)
            if not isinstance(e, int):
                raise Unsupported
            b = self.value(base)
            if b == 0 and e <= 0:
                raise Undefined
            return pow(b, e, PRIME)
        if op == "call":
            if len(node.args) == 1 and node.value in self.point:
                return self.point[node.value] * self.value(node.args[0]) % PRIME
            raise Unsupported
        if op == "binom":
            top, bottom_node = node.args
            k = exact_of(bottom_node)
            if isinstance(k, int) and 0 <= k <= 64:
                t = self.value(top)
                result = 1
                for j in range(k):
                    result = result * (t - j) % PRIME * pow(j + 1, -1, PRIME) % PRIME
                return result
            raise Unsupported
        if op == "big":
            return self._big(node)
        raise Unsupported

    def _big(self, node: Node) -> int:
        body, low, high = node.args
        kind, index = node.value
        a, b = exact_of(low), exact_of(high)
        if not isinstance(a, int) or not isinstance(b, int):
            raise Unsupported
        self.steps += max(b - a + 1, 0)
        if self.steps > MAX_TERMS:
            raise Unsupported
        had = self.point.get(index)
        total = 0 if kind == "sum" else 1
        for k in range(a, b + 1):
            self.point[index] = k % PRIME
            v = self.value(body)
            total = (total + v if kind == "sum" else total * v) % PRIME
        if had is None:
            self.point.pop(index, None)
        else:
            self.point[index] = had
        return total


def _small_integer(node: Node) -> int | None:
    """The exact integer of an exponent that was too large to fold, such as `9^9` in `9^{9^9}`; None above 4096 bits."""
    if node.op == "pow":
        base, exponent = exact_of(node.args[0]), exact_of(node.args[1])
        if (
            isinstance(base, int)
            and isinstance(exponent, int)
            and exponent >= 0
            and exponent * base.bit_length() <= 4096
        ):
            return int(base**exponent)
    if node.op == "neg":
        inner = _small_integer(node.args[0]) if exact_of(node.args[0]) is None else exact_of(node.args[0])
        return -inner if isinstance(inner, int) else None
    return None
