"""`exact`: plain numbers before parsing, and expressions modulo a prime."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.math_equivalence.exact import (
    PRIME,
    Modular,
    Undefined,
    Unsupported,
    digit_strings_differ,
    quick_number,
    seed_of,
)
from rewards.math_equivalence.latex import parse


@given(st.integers(-(10**18), 10**18))
def test_integers_with_and_without_separators_are_the_same_number(n: int) -> None:
    """Three spellings, one exact value."""
    for text in (str(n), f"{n:,}", f"{n:,}".replace(",", "{,}"), f"{n:,}".replace(",", r",\!")):
        found = quick_number(text)
        assert found is not None
        assert found.value == n
        assert found.digits == -1


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**6))
def test_fractions_are_exact(a: int, b: int) -> None:
    """A slash and a \\frac give the same rational."""
    for text in (f"{a}/{b}", rf"\frac{{{a}}}{{{b}}}", rf"\dfrac{{{a}}}{{{b}}}"):
        found = quick_number(text)
        assert found is not None
        assert found.value == Fraction(a, b)


@given(st.integers(-(10**9), 10**9), st.integers(1, 12))
def test_decimals_keep_their_digits(n: int, digits: int) -> None:
    """The value is a fraction over a power of ten, and the number of written digits is remembered."""
    sign = "-" if n < 0 else ""
    whole = str(abs(n)).rjust(digits + 1, "0")
    found = quick_number(f"{sign}{whole[:-digits]}.{whole[-digits:]}")
    assert found is not None
    assert found.value == Fraction(n, 10**digits)
    assert found.digits == digits


@pytest.mark.parametrize(
    ("text", "value", "mark"),
    [
        ("50\\%", 50, "%"), ("12.5%", Fraction(25, 2), "%"), (r"\$1,200.00", 1200, "$"), ("-\\$5", -5, "$"),
        (r"45^\circ", 45, "°"), (".5", Fraction(1, 2), ""), (r"\frac34", Fraction(3, 4), ""), ("+7", 7, ""),
        ("7.", 7, ""),
    ],
)  # fmt: skip
def test_marks_stay_beside_the_number(text: str, value: Fraction, mark: str) -> None:
    """Percent, currency and degree signs are kept apart from the value."""
    found = quick_number(text)
    assert found is not None
    assert (found.value, found.mark) == (value, mark)


@pytest.mark.parametrize(
    "text",
    ["", "x", "1,23", "12,3456", "1/0", r"\frac{1}{0}", "1.2.3", "1e5", "5 5", "--5", "5x", "1/2/3", "9" * 500, "٣"],
)
def test_anything_else_is_left_to_the_grammar(text: str) -> None:
    """The fast lane never guesses."""
    assert quick_number(text) is None


def test_digit_strings_of_any_length_are_compared_as_strings() -> None:
    """Twenty thousand digits need no integer: Python's own conversion is quadratic and refuses above 4,300 digits."""
    one = "1" * 20_000
    assert digit_strings_differ(one, "000" + one) is False
    assert digit_strings_differ(one, one[:-1] + "2") is True
    assert digit_strings_differ(one, "x") is None


def _value(text: str, **point: int) -> int:
    return Modular(dict(point)).value(parse(text))


@given(st.integers(-50, 50), st.integers(-50, 50))
def test_the_field_agrees_with_whole_numbers(x: int, y: int) -> None:
    """Evaluation modulo the prime is evaluation."""
    text = r"x^3 - 2xy + \frac{6x}{3} - (y-1)^2"
    expected = x**3 - 2 * x * y + 2 * x - (y - 1) ** 2
    assert _value(text, x=x % PRIME, y=y % PRIME) == expected % PRIME


@given(st.integers(2, 10**12), st.integers(0, 10**12))
def test_huge_powers_are_taken_modulo_the_prime(base: int, exponent: int) -> None:
    """No integer of that size is ever built."""
    assert _value(f"{base}^{{{exponent}}}") == pow(base, exponent, PRIME)


def test_a_division_by_zero_is_undefined_and_a_root_unsupported() -> None:
    """Both are said, never guessed."""
    with pytest.raises(Undefined):
        _value(r"\frac{1}{x-1}", x=1)
    with pytest.raises(Unsupported):
        _value(r"\sqrt{x}", x=1)


def test_points_are_a_function_of_the_inputs() -> None:
    """The same pair gets the same points on every machine and in every process."""
    assert seed_of("a", "b") == seed_of("a", "b") != seed_of("ab", "")
