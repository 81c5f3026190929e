"""Golden rows of tests/cases/countdown.jsonl."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from golden_rows import golden, hold, shared_rows
from hypothesis import given
from hypothesis import strategies as st

from rewards.countdown import Countdown, Expression, parse_expression
from rewards.verdict import Sample


@pytest.mark.parametrize("row", golden("countdown"))
def test_golden_row(row: dict[str, Any]) -> None:
    """What the row says, for the reason that it gives."""
    hold(row)


Tree = tuple[str, Fraction | None, list[int]]


def joined(parts: tuple[Tree, str, Tree]) -> Tree:
    """Two expressions joined by an operator, in brackets: its text, its value, its numbers."""
    (left, a, first), operator, (right, b, second) = parts
    value: Fraction | None = None
    if a is not None and b is not None and not (operator == "/" and b == 0):
        value = {"+": a.__add__, "-": a.__sub__, "*": a.__mul__, "/": a.__truediv__}[operator](b)
    return f"({left} {operator} {right})", value, first + second


TREES = st.recursive(
    st.integers(0, 99).map(lambda n: (str(n), Fraction(n), [n])),
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(joined),
    max_leaves=8,
)


@given(TREES)
def test_an_expression_has_the_value_that_it_was_built_with(tree: Tree) -> None:
    """The grammar and the exact values, against trees that know theirs."""
    text, value, numbers = tree
    parsed = parse_expression(text)
    assert isinstance(parsed, Expression)
    assert sorted(parsed.numbers) == sorted(map(Fraction, numbers))
    assert parsed.value() == value
    if value is not None and value.denominator == 1:
        gold = {"target": int(value), "numbers": numbers}
        assert Countdown().verify(Sample(completion=f"<answer>{text}</answer>", gold=gold)).score == 1.0


def test_labelled_answers_are_judged_as_labelled() -> None:
    """800 real completions; every label was recomputed exactly by whoever made the corpus."""
    rows = shared_rows("data", "countdown", "completions.jsonl.gz")
    wrong = [
        row["id"]
        for row in rows
        if (
            Countdown()
            .verify(Sample(completion=row["completion"], gold={"target": row["target"], "numbers": row["numbers"]}))
            .score
            == 1.0
        )
        is not row["label"]
    ]
    assert not wrong
