"""Comparing what a program printed or returned with what was expected, on plain data, outside any box.

Printed text: by lines (the default), by tokens, exactly; numbers with a tolerance only when asked. Returned values:
Python's own `==` of exact builtin types, with what JSON cannot say (tuples, non-string keys) read back.
"""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

MODES: Final = ("lines", "tokens", "exact", "float")
DEFAULT_TOLERANCE: Final = 1e-6

_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,5})?")
_INTEGER: Final = re.compile(r"([+-]?)0*([0-9]+)")


@dataclass(frozen=True, slots=True)
class Compare:
    """How to compare.

    Attributes:
        mode: "lines": the same tokens on the same lines, trailing blank lines ignored (a judge that ignores all white
            space accepts line breaks for spaces: agrawal-d/cph#34); "tokens": the same tokens, lines or not; "exact":
            every character, but for CRLF; "float": tokens, numbers within the tolerance.
        abs_tol, rel_tol: as of `math.isclose`, None for exact. Two whole numbers are compared exactly whatever the
            tolerance (NVIDIA-NeMo/Gym#2956: 50000000000000001 passed for 50000000000000000).
        unordered: for returned values: the outermost list or tuple in any order.
    """

    mode: str = "lines"
    abs_tol: float | None = None
    rel_tol: float | None = None
    unordered: bool = False

    @property
    def tolerant(self) -> bool:
        return self.mode == "float" or self.abs_tol is not None or self.rel_tol is not None

    def close(self, a: float, b: float) -> bool:
        """Finite and within the tolerance."""
        if not (math.isfinite(a) and math.isfinite(b)):
            return False
        none_given = self.abs_tol is None and self.rel_tol is None
        rel = DEFAULT_TOLERANCE if none_given else self.rel_tol or 0.0
        absolute = DEFAULT_TOLERANCE if none_given else self.abs_tol or 0.0
        return math.isclose(a, b, rel_tol=rel, abs_tol=absolute)


def read_compare(value: Any, default: Compare) -> Compare:
    """`compare` of a test row: a mode, or `{"mode", "abs_tol", "rel_tol", "unordered"}`.

    Raises:
        ValueError: anything else; the message says what is allowed.
    """
    if value is None:
        return default
    if isinstance(value, str):
        value = {"mode": value}
    if not isinstance(value, Mapping):
        raise ValueError(f"compare is a {type(value).__name__}; allowed: one of {', '.join(MODES)}, or an object")
    known = {"mode", "abs_tol", "rel_tol", "unordered"}
    if set(value) - known:
        raise ValueError(f"compare has {', '.join(sorted(set(value) - known))}; allowed: {', '.join(sorted(known))}")
    mode = value.get("mode", default.mode)
    if mode not in MODES:
        raise ValueError(f"compare {mode!r}; allowed: {', '.join(MODES)}")
    tolerances = []
    for name in ("abs_tol", "rel_tol"):
        given = value.get(name)
        if given is not None and (
            isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < math.inf
        ):
            raise ValueError(f"compare.{name} is {given!r}; allowed: a finite number, 0 or more")
        tolerances.append(None if given is None else float(given))
    unordered = value.get("unordered", False)
    if not isinstance(unordered, bool):
        raise ValueError(f"compare.unordered is {unordered!r}; allowed: true or false")
    return Compare(mode, tolerances[0], tolerances[1], unordered)


def same_output(actual: str, expected: str, compare: Compare) -> str:
    """What differs, in a sentence; an empty string when the printed text is right."""
    actual, expected = actual.replace("\r\n", "\n"), expected.replace("\r\n", "\n")
    if compare.mode == "exact":
        return "" if actual == expected else f"printed {show(actual)}, expected {show(expected)}"
    if compare.mode == "lines":
        text, want = actual.rstrip(), expected.rstrip().split("\n")
        if text.count("\n") + 1 != len(want):  # counted first: a flood of short lines is no list of millions
            return f"printed {text.count(chr(10)) + 1} lines, expected {len(want)}: {show(actual)}"
        got = text.split("\n")
        for number, (a, b) in enumerate(zip(got, want, strict=True), 1):
            if a != b and not _same_tokens(a.split(), b.split(), compare):
                return f"line {number} is {show(a)}, expected {show(b)}"
        return ""
    a_tokens, b_tokens = actual.split(), expected.split()
    if _same_tokens(a_tokens, b_tokens, compare):
        return ""
    if len(a_tokens) != len(b_tokens):
        return f"printed {len(a_tokens)} tokens, expected {len(b_tokens)}: {show(actual)}"
    at = next(i for i, (a, b) in enumerate(zip(a_tokens, b_tokens, strict=True)) if not _same_token(a, b, compare))
    return f"token {at + 1} is {show(a_tokens[at])}, expected {show(b_tokens[at])}"


def _same_tokens(a: list[str], b: list[str], compare: Compare) -> bool:
    if a == b:
        return True
    if len(a) != len(b) or not compare.tolerant:
        return False
    return all(_same_token(x, y, compare) for x, y in zip(a, b, strict=True))


def _same_token(a: str, b: str, compare: Compare) -> bool:
    if a == b:
        return True
    if not compare.tolerant or not (_NUMBER.fullmatch(a) and _NUMBER.fullmatch(b)):
        return False
    a_int, b_int = _INTEGER.fullmatch(a), _INTEGER.fullmatch(b)
    if a_int and b_int:  # as text: int() refuses more than 4300 digits
        return _canonical(a_int) == _canonical(b_int)
    return compare.close(float(a), float(b))


def _canonical(match: re.Match[str]) -> str:
    sign, digits = match.groups()
    return ("-" if sign == "-" and digits != "0" else "") + str(digits)


def same_value(actual: Any, expected: Any, compare: Compare) -> bool:
    """Whether a returned value is the expected one, where `expected` came from JSON.

    A list also stands for a tuple, and the key "1" for 1, because JSON has no other way to write them.
    """
    if compare.unordered and isinstance(actual, list | tuple) and isinstance(expected, list | tuple):
        if len(actual) != len(expected):
            return False  # before each item of what may be millions is written out to be sorted
        actual, expected = sorted(actual, key=_order), sorted(expected, key=_order)
    return _same(actual, expected, compare)


def _same(a: Any, b: Any, compare: Compare) -> bool:
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(_same(x, y, compare) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        if len(a) != len(b):
            return False
        if any(key not in a for key in b):
            a = {str(key) if type(key) in (int, float) else key: value for key, value in a.items()}
        return all(key in a and _same(a[key], value, compare) for key, value in b.items())
    if compare.tolerant and (type(a) is float or type(b) is float):
        if type(a) not in (int, float) or type(b) not in (int, float):
            return False
        try:
            return bool(a == b) or compare.close(float(a), float(b))
        except OverflowError:
            return False
    try:
        return bool(a == b)
    except ArithmeticError:  # decimal's signalling NaN
        return False


def _order(value: Any) -> tuple[str, float, str]:
    """A key to bring the items of two lists into the same order, whatever they are."""
    if type(value) in (int, float, bool):
        try:
            return ("number", float(value), "")
        except OverflowError:
            return ("number", math.inf if value > 0 else -math.inf, "")
    kind = "list" if isinstance(value, tuple) else type(value).__name__
    try:
        return (kind, 0.0, repr(list(value) if isinstance(value, tuple) else value))
    except (ValueError, RecursionError):
        return (kind, 0.0, "")


class _Short(reprlib.Repr):
    """Shows the beginning of a value, at the cost of the beginning alone."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxlist, self.maxtuple, self.maxset, self.maxdict, self.maxdeque = 4, 12, 12, 12, 8, 12
        self.maxstring = self.maxother = 80

    def repr_int(self, x: int, level: int) -> str:
        return repr(x) if x.bit_length() < 400 else f"an int of {x.bit_length()} bits"


_SHORT: Final = _Short()


def show(value: Any, width: int = 80) -> str:
    """A value in a message: never longer than `width`, never raising, control characters escaped."""
    try:
        text = _SHORT.repr(value)
    except (ValueError, RecursionError):  # an int over the digit limit inside something else
        text = f"a {type(value).__name__}"
    return text if len(text) <= width else text[: width - 3] + "..."
