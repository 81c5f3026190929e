"""The fallback arithmetic of `numeric` without python-flint: mpmath at two precisions.

A value is computed twice, at p and at 2p bits; the distance of the two, widened, stands for the error. That is no
proof, but an error of the smaller precision shows up as a wide ball, and a wide ball decides nothing.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

MAX_MAGNITUDE: Final = 2_000
"""Largest binary exponent that functions take: `sin(10^1000)` would need as many bits."""


class MpValue:
    """A number at two precisions. `low` and `high` are mpf or mpc of their own contexts."""

    __slots__ = ("f", "high", "low")

    def __init__(self, f: MpBalls, low: Any, high: Any) -> None:
        self.f = f
        self.low = low
        self.high = high

    def _pair(self, other: Any) -> MpValue:
        return other if isinstance(other, MpValue) else self.f.number(other)

    def __add__(self, other: Any) -> MpValue:
        o = self._pair(other)
        return MpValue(self.f, self.low + o.low, self.high + o.high)

    __radd__ = __add__

    def __sub__(self, other: Any) -> MpValue:
        o = self._pair(other)
        return MpValue(self.f, self.low - o.low, self.high - o.high)

    def __rsub__(self, other: Any) -> MpValue:
        return self._pair(other) - self

    def __mul__(self, other: Any) -> MpValue:
        o = self._pair(other)
        return MpValue(self.f, self.low * o.low, self.high * o.high)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> MpValue:
        o = self._pair(other)
        return MpValue(self.f, self.low / o.low, self.high / o.high)

    def __rtruediv__(self, other: Any) -> MpValue:
        return self._pair(other) / self

    def __neg__(self) -> MpValue:
        return MpValue(self.f, -self.low, -self.high)

    def __abs__(self) -> MpValue:
        return MpValue(self.f, abs(self.low), abs(self.high))

    def __pow__(self, other: Any) -> MpValue:
        o = self._pair(other)
        self.f.check(self, o)
        return MpValue(self.f, self.low**o.low, self.high**o.high)

    def __le__(self, other: Any) -> bool:
        return bool(self.high.real <= self._pair(other).high.real)


class MpBalls:
    """Same methods as the flint namespace in `numeric`."""

    name = "mpmath"

    def __init__(self) -> None:
        from mpmath.ctx_mp import MPContext

        self.lo = MPContext()
        self.hi = MPContext()
        self.bits = 53

    def with_bits(self, bits: int) -> int:
        had = self.bits
        self.bits = bits
        self.lo.prec = bits
        self.hi.prec = 2 * bits
        return had

    def restore(self, had: int) -> None:
        self.bits = had

    def check(self, *values: MpValue) -> None:
        """Refuses magnitudes that would take unbounded time."""
        from rewards.math_equivalence.numeric import TooLarge

        for v in values:
            if self._log2(v.high) > MAX_MAGNITUDE:
                raise TooLarge("magnitude")

    def _log2(self, x: Any) -> float:
        if x == 0:
            return float("-inf")
        magnitude = self.hi.mag(x)
        return float(magnitude) if self.hi.isfinite(x) else float("inf")

    def _error(self, x: MpValue) -> Any:
        hi = self.hi
        gap = abs(hi.mpmathify(x.high) - hi.convert(x.low))
        return gap * 16 + hi.ldexp(abs(x.high), -(self.bits - 10)) if gap else hi.mpf(0)

    def number(self, value: int | Fraction) -> MpValue:
        if isinstance(value, int):
            return MpValue(self, self.lo.mpf(value), self.hi.mpf(value))
        return MpValue(
            self,
            self.lo.mpf(value.numerator) / value.denominator,
            self.hi.mpf(value.numerator) / value.denominator,
        )

    def is_real(self, x: MpValue) -> bool:
        return isinstance(x.high, self.hi.mpf)

    def to_complex(self, x: MpValue) -> MpValue:
        if not self.is_real(x):
            return x
        return MpValue(self, self.lo.mpc(x.low), self.hi.mpc(x.high))

    def imaginary(self) -> MpValue:
        return MpValue(self, self.lo.mpc(0, 1), self.hi.mpc(0, 1))

    def conjugate(self, x: MpValue) -> MpValue:
        return MpValue(self, self.lo.conj(x.low), self.hi.conj(x.high))

    def real_part(self, x: MpValue) -> MpValue:
        if not self.is_real(x) and x.high.imag == 0 and x.low.imag == 0:
            return MpValue(self, x.low.real, x.high.real)
        return x

    def pi(self) -> MpValue:
        return MpValue(self, +self.lo.pi, +self.hi.pi)

    def e(self) -> MpValue:
        return MpValue(self, +self.lo.e, +self.hi.e)

    def is_finite(self, x: MpValue) -> bool:
        return bool(self.hi.isfinite(x.high))

    def negative(self, x: MpValue) -> bool:
        return bool(x.high < -self._error(x))

    def positive(self, x: MpValue) -> bool:
        return bool(x.high > self._error(x))

    def is_zero(self, x: MpValue) -> bool:
        return bool(x.high == 0 and x.low == 0)

    def contains_zero(self, x: MpValue) -> bool:
        return bool(abs(x.high) <= self._error(x))

    def unary(self, name: str, x: MpValue) -> MpValue:
        self.check(x)
        try:
            return MpValue(self, getattr(self.lo, name)(x.low), getattr(self.hi, name)(x.high))
        except (ValueError, ZeroDivisionError, OverflowError):
            from rewards.math_equivalence.exact import Undefined

            raise Undefined from None

    def integer(self, x: MpValue) -> int | None:
        if not self.is_real(x) or self._log2(x.high) > 60:
            return None
        whole = int(self.hi.nint(x.high))
        return whole if x.high == whole and x.low == whole else None

    def floor(self, x: MpValue) -> int | None:
        if self._log2(x.high) > self.bits:
            return None
        error = self._error(x)
        down, up = int(self.hi.floor(x.high - error)), int(self.hi.floor(x.high + error))
        return down if down == up else None

    def power_int(self, x: MpValue, n: int) -> MpValue:
        if abs(n) > 10**15:
            from rewards.math_equivalence.numeric import TooLarge

            raise TooLarge("exponent")
        return MpValue(self, self.lo.power(x.low, n), self.hi.power(x.high, n))

    def root(self, x: MpValue, n: int) -> MpValue:
        return MpValue(self, self.lo.root(x.low, n), self.hi.root(x.high, n))

    def factorial(self, x: MpValue) -> MpValue:
        return self.unary("factorial", x)

    def special(self, name: str, x: MpValue) -> MpValue:
        return self.unary(name.lower(), x)

    def rel_bits(self, x: MpValue) -> int:
        error = self._error(x)
        if error == 0:
            return 1 << 30
        if x.high == 0:
            return -(1 << 30)
        return int(self._log2(x.high) - self._log2(error))

    def magnitude_below(self, x: MpValue, exponent: int) -> bool:
        return self._log2(x.high) < exponent and self._log2(self._error(x)) < exponent

    def error_below(self, x: MpValue, exponent: int) -> bool:
        return self._log2(self._error(x)) < exponent

    def log2(self, x: MpValue) -> float:
        return self._log2(x.high) if x.high != 0 else 0.0

    def rough(self, x: MpValue) -> complex:
        return complex(x.high)

    def compare(self, a: MpValue, b: MpValue) -> int:
        gap = a.high - b.high
        error = self._error(a) + self._error(b)
        return -1 if gap < -error else 1 if gap > error else 0

    def overlaps(self, a: MpValue, b: MpValue) -> bool:
        return bool(abs(self.hi.mpmathify(a.high) - b.high) <= self._error(a) + self._error(b))
