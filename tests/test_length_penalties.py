"""Golden rows of tests/cases/length.jsonl."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from golden_rows import golden, hold
from hypothesis import given
from hypothesis import strategies as st

from rewards.length_penalties import CosineLength, KimiLength, LeadLength, Overlong, token_count
from rewards.registry import get, names
from rewards.scoring import judge
from rewards.verdict import Sample, Status, Verdict


@pytest.mark.parametrize("row", golden("length"))
def test_golden_row(row: dict[str, Any]) -> None:
    """What the row says, for the reason that it gives."""
    hold(row)


LENGTHS = st.integers(min_value=0, max_value=100_000)


def at(verifier: Any, tokens: int, right: bool = True) -> float:
    of = [Verdict.scored(float(right))] if verifier.reads_of else None
    (verdict,) = judge(verifier, [Sample(completion="x", num_tokens=tokens)], of)
    assert verdict.score is not None
    return verdict.score


@given(st.integers(1, 50_000), st.integers(0, 50_000), LENGTHS, LENGTHS)
def test_overlong_never_rises_and_stays_between_minus_one_and_zero(cache: int, free: int, a: int, b: int) -> None:
    """DAPO equation 13 for every possible limit and cache."""
    verifier = Overlong(max_tokens=free + cache, cache=cache)
    short, long = sorted((a, b))
    assert -1.0 <= at(verifier, long) <= at(verifier, short) <= 0.0
    assert at(verifier, free) == 0.0
    assert at(verifier, free + cache) == -1.0


@given(st.integers(1, 50_000), LENGTHS, LENGTHS)
def test_cosine_moves_one_way_between_its_two_ends(limit: int, a: int, b: int) -> None:
    """Right answers never earn more by being longer, wrong ones never lose more, and nothing leaves the interval."""
    verifier = CosineLength(max_tokens=limit)
    short, long = sorted((a, b))
    assert 0.5 <= at(verifier, long) <= at(verifier, short) <= 1.0
    assert -1.0 <= at(verifier, short, False) <= at(verifier, long, False) <= -0.5


GROUP = st.lists(st.tuples(st.integers(0, 10_000), st.booleans()), min_size=1, max_size=12)


def shares(verifier: Any, rows: list[tuple[int, bool]], group: str = "g") -> list[float | None]:
    samples = [Sample(group=group, completion="x", num_tokens=n) for n, _ in rows]
    return [v.score for v in judge(verifier, samples, [Verdict.scored(float(right)) for _, right in rows])]


@given(GROUP, st.integers(0, 10_000))
def test_kimi_depends_on_differences_of_length_alone(rows: list[tuple[int, bool]], shift: int) -> None:
    """Everybody longer by the same is the same; wrong answers never earn; the shortest right one earns most."""
    got = shares(KimiLength(), rows)
    assert got == pytest.approx(shares(KimiLength(), [(n + shift, right) for n, right in rows]))
    assert all(right or (score or 0.0) <= 0.0 for (_, right), score in zip(rows, got, strict=True))
    assert all(-0.5 <= (score or 0.0) <= 0.5 for score in got)


@given(GROUP, GROUP)
def test_groups_do_not_see_each_other(one: list[tuple[int, bool]], other: list[tuple[int, bool]]) -> None:
    """Two prompts in one batch, their answers in any order, get what each gets alone (open-r1's used the batch)."""
    for verifier in (KimiLength(), LeadLength(), get("shorter_bonus")(), get("excess_length")(), get("gr3_length")()):
        samples = [Sample(group="a", completion="x", num_tokens=n) for n, _ in one]
        samples += [Sample(group="b", completion="x", num_tokens=n) for n, _ in other]
        of = [Verdict.scored(float(right)) for _, right in one + other]
        together = [v.score for v in judge(verifier, samples[::-1], of[::-1])][::-1]
        assert together == pytest.approx([*shares(verifier, one), *shares(verifier, other)])


@pytest.mark.parametrize("name", [n for n in names() if "num_tokens" in get(n).needs])
def test_without_a_token_count_there_is_no_score(name: str) -> None:
    """No silent fall-back to characters, words or messages (modelscope/ms-swift#3353)."""
    cls = get(name)
    assert cls.example is not None
    verifier = cls(**cls.example.get("params", {}))
    of = [Verdict.scored(1.0)] if verifier.reads_of else None
    (verdict,) = judge(verifier, [Sample(completion="some words", meta={"target_tokens": 3})], of)
    assert verdict.status is Status.INVALID


def test_the_range_of_an_instance_is_that_of_its_parameters() -> None:
    """The paper's cosine goes from -10 to 2: nothing is called out of range, also after pickling."""
    paper = CosineLength(max_tokens=100, right_at_zero=2, right_at_max=1, wrong_at_zero=-10, wrong_at_max=0, exceed=-10)
    copy = pickle.loads(pickle.dumps(paper))
    assert copy.range == paper.range == (-10, 2)
    assert at(copy, 0, False) == -10.0
    assert at(copy, 0) == 2.0


def test_nested_token_ids_are_counted_not_their_turns() -> None:
    """modelscope/ms-swift#10149"""
    assert token_count([[0, 1, 2], [3, 4, 5, 6]]) == 7
    assert token_count([5, 6, 7]) == 3
    assert token_count([]) == 0
