"""The order of questions: distinct within a batch, all in a pass, the same after a restart."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grpo_runner.prompts import PromptSource

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no failure."""


@unhurried
@given(count=st.integers(1, 40), takes=st.lists(st.integers(1, 40), max_size=20), seed=st.integers(0, 5))
def test_every_take_is_distinct_and_within_range(count: int, takes: list[int], seed: int) -> None:
    """Two copies of a question in one batch would be one group of twice the size."""
    source = PromptSource(count, seed)
    for size in takes:
        size = min(size, count)
        got = source.take(size)
        assert len(set(got)) == size
        assert all(0 <= index < count for index in got)


@unhurried
@given(count=st.integers(2, 40), seed=st.integers(0, 5), data=st.data())
def test_questions_in_use_are_avoided_and_come_again_later(count: int, seed: int, data: st.DataObject) -> None:
    """Fresh prompts for a batch are none that it already holds, and none is lost for the next batches."""
    source = PromptSource(count, seed)
    first = source.take(data.draw(st.integers(1, count - 1)))
    rest = source.take(count - len(first), avoid=first)
    assert sorted(first + rest) == list(range(count))


def test_a_pass_gives_every_question_once() -> None:
    """Shuffled, without replacement."""
    source = PromptSource(12, seed=3)
    passes = [[i for _ in range(3) for i in source.take(4)] for _ in range(3)]
    assert all(sorted(p) == list(range(12)) for p in passes)
    assert len({tuple(p) for p in passes}) == 3


@unhurried
@given(st.sampled_from(["none", "easy-first", "band"]), st.lists(st.integers(1, 6), max_size=8))
def test_restored_from_its_state_it_goes_on_the_same(curriculum: str, takes: list[int]) -> None:
    """Resuming must see the questions that the undisturbed run would have seen."""
    source = PromptSource(10, 1, curriculum, rest=True)  # type: ignore[arg-type]
    for number, size in enumerate(takes):
        for index in source.take(size):
            source.record(index, number % 3, 4, flat=number % 3 == 0)
    copy = PromptSource(10, 1, curriculum, rest=True)  # type: ignore[arg-type]
    copy.restore(json.loads(json.dumps(source.state())))
    assert [source.take(6) for _ in range(4)] == [copy.take(6) for _ in range(4)]


def test_easy_first_and_band_order_by_pass_rate() -> None:
    """Unmeasured questions count as one half."""
    rates = [0.0, 1.0, 0.5, 0.9, None, 0.1]
    assert PromptSource(6, 0, "easy-first", rates).take(6)[:2] == [1, 3]
    assert set(PromptSource(6, 0, "band", rates).take(2)) == {2, 4}


def test_newer_answers_move_the_rate_and_none_leave_it() -> None:
    """Re-measured as the policy improves: eight right answers outweigh an old 0."""
    source = PromptSource(2, 0, "band", [0.0, None])
    source.record(0, 8, 8)
    source.record(1, 0, 0)
    assert source.rates[0] is not None
    assert source.rates[0] > 0.7
    assert source.rates[1] is None


def test_a_question_without_spread_rests_longer_each_time_and_comes_back() -> None:
    """Its next group would most likely be flat again, at the price of a whole group of completions."""
    source = PromptSource(6, 0, rest=True)
    asked = []
    for _ in range(200):
        (index,) = source.take(1)
        asked.append(index)
        source.record(index, 0, 8, flat=index == 0)
    at = [i for i, index in enumerate(asked) if index == 0]
    gaps = [later - earlier for earlier, later in pairwise(at)]
    for gap, rest in zip(gaps, (12, 24, 48, 48), strict=False):
        assert rest <= gap <= rest + 12, "the rest, then its place in a pass"
    source.record(0, 4, 8)
    assert 0 in source.take(6)


def test_a_question_measured_all_right_or_all_wrong_sits_out_the_first_pass() -> None:
    """`grpo-run difficulty` has paid for that knowledge already."""
    source = PromptSource(5, 0, pass_rates=[0.0, 0.5, 1.0, None, 0.25], rest=True)
    assert sorted(source.take(3)) == [1, 3, 4]
    assert set(source.take(5)) == {0, 1, 2, 3, 4}


def test_where_every_question_rests_some_are_asked_all_the_same() -> None:
    """A batch is never empty."""
    source = PromptSource(4, 0, rest=True)
    for _ in range(5):
        for index in (taken := source.take(4)):
            source.record(index, 8, 8, flat=True)
        assert sorted(taken) == [0, 1, 2, 3]


def test_too_many_questions_or_a_foreign_state_are_refused() -> None:
    """With a message that says what to do."""
    with pytest.raises(ValueError, match="the data set has 4"):
        PromptSource(4, 0).take(3, avoid=[0, 1])
    with pytest.raises(ValueError, match="resume with the data set"):
        PromptSource(4, 0).restore(PromptSource(5, 0).state())
    with pytest.raises(ValueError, match="no questions"):
        PromptSource(0, 0)
