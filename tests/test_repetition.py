"""Golden rows of tests/cases/repetition.jsonl."""

from __future__ import annotations

import random
from typing import Any

import pytest
from golden_rows import golden, hold
from hypothesis import given
from hypothesis import strategies as st

from rewards import repetition
from rewards.repetition import ngram_ids, repeated_share


@pytest.mark.parametrize("row", golden("repetition"))
def test_golden_row(row: dict[str, Any]) -> None:
    """What the row says, for the reason that it gives."""
    hold(row)


ITEMS = st.lists(st.integers(0, 3), max_size=60)


@given(ITEMS, st.integers(1, 25))
def test_ids_are_equal_exactly_where_n_grams_are(items: list[int], n: int) -> None:
    """The doubling construction against the definition."""
    grams = [tuple(items[i : i + n]) for i in range(len(items) - n + 1)]
    ids = ngram_ids(items, n)
    assert len(ids) == len(grams)
    first: dict[tuple[int, ...], int] = {}
    for gram, number in zip(grams, ids, strict=True):
        assert first.setdefault(gram, number) == number
    assert len(set(first.values())) == len(first)


@given(ITEMS, st.integers(1, 8), st.one_of(st.none(), st.integers(1, 30)))
def test_the_share_is_the_definition(items: list[int], n: int, window: int | None) -> None:
    """An n-gram is repeated when it stood at most `window` places before; without a window, anywhere before."""
    grams = [tuple(items[i : i + n]) for i in range(len(items) - n + 1)]
    repeated = sum(gram in grams[max(0, i - window) if window else 0 : i] for i, gram in enumerate(grams))
    assert repeated_share(items, n, window) == pytest.approx(repeated / len(grams) if grams else 0.0)


@given(ITEMS, st.integers(1, 8))
def test_short_and_long_texts_are_counted_alike(items: list[int], n: int) -> None:
    """The path for short texts and the one for long texts give the same share."""
    limit = repetition.MAX_SLICED_ITEMS
    short = repeated_share(items, n)
    try:
        repetition.MAX_SLICED_ITEMS = 0  # type: ignore[misc]
        assert repeated_share(items, n) == pytest.approx(short)
    finally:
        repetition.MAX_SLICED_ITEMS = limit  # type: ignore[misc]


def test_a_window_takes_the_length_dependence_away() -> None:
    """Text drawn from one source, short and long: without a window the 3-gram share grows, with one it stays."""
    random.seed(0)
    words = random.choices(range(400), weights=[1 / (i + 1) for i in range(400)], k=32_000)
    short, long = words[:1000], words
    assert repeated_share(long, 3) > repeated_share(short, 3) + 0.1
    assert abs(repeated_share(long, 3, 256) - repeated_share(short, 3, 256)) < 0.03
    assert repeated_share(long, 20) < 0.001
