"""The summary counts everything once and warns of what would waste a run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.expression import Reward
from rewards.report import Summary, pass_at_k
from rewards.scoring import RewardResult
from rewards.verdict import Reason, Sample, Status, Verdict


@pytest.mark.parametrize(
    ("n", "c", "k", "value"),
    [
        (2, 0, 5, None),
        (1, 1, 1, 1.0),
        (5, 0, 5, 0.0),
        (4, 1, 1, 0.25),
        (4, 1, 2, 0.5),
        (4, 3, 2, 1.0),
        (10, 2, 3, 8 / 15),
    ],
)
def test_pass_at_k(n: int, c: int, k: int, value: float | None) -> None:
    """By hand; undefined where k > n (openai/human-eval#35), never 1."""
    assert pass_at_k(n, c, k) == (value if value is None else pytest.approx(value))


@given(st.integers(1, 60), st.integers(0, 60), st.integers(1, 60))
def test_pass_at_k_is_what_drawing_says(n: int, c: int, k: int) -> None:
    """1 - C(n-c, k)/C(n, k) in exact integers."""
    from math import comb

    c, k = min(c, n), min(k, n)
    assert pass_at_k(n, c, k) == pytest.approx(1 - comb(n - c, k) / comb(n, k))


@pytest.mark.parametrize(("n", "c", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0)])
def test_impossible_counts_are_refused(n: int, c: int, k: int) -> None:
    """They are a bug of the caller."""
    with pytest.raises(ValueError, match="needs 0 <= c <= n"):
        pass_at_k(n, c, k)


def summary(verdicts: list[Verdict], groups: list[str] | None = None) -> Summary:
    out = Summary(Reward.parse("math"))
    for i, verdict in enumerate(verdicts):
        result = RewardResult(verdict.score, verdict.status, {"math": verdict})
        out.add(Sample(id=str(i), group=groups[i] if groups else ""), result)
    return out


def test_unscored_rows_do_not_enter_the_mean() -> None:
    """They are counted by status instead."""
    got = summary(
        [Verdict.scored(1), Verdict.scored(0), Verdict.error(Reason.DEADLINE), Verdict.invalid("gold_unreadable")]
    )
    assert got.mean_reward == 0.5
    assert got.as_json()["statuses"] == {"scored": 2, "error": 1, "invalid": 1}
    assert got.error_rate == 0.25


def test_pass_at_k_is_printed_only_where_every_group_allows_it() -> None:
    """Groups of 2 and 4: pass@1 and pass@2, no pass@4."""
    verdicts = [Verdict.scored(x) for x in (1, 0, 0, 0, 0, 0)]
    assert summary(verdicts, list("aabbbb")).pass_at() == {"pass@1": 0.25, "pass@2": 0.5}


def test_unscored_rows_shrink_their_group() -> None:
    """They are neither right nor wrong."""
    got = summary([Verdict.scored(1), Verdict.error(Reason.DEADLINE), Verdict.scored(0)], list("aaa"))
    assert got.pass_at() == {"pass@1": 0.5, "pass@2": 1.0}
    assert got.as_json()["unscored_in_groups"] == 1


def test_a_dead_reward_is_pointed_out() -> None:
    """A reward that is 0 for days is the commonest complaint."""
    warnings = " ".join(summary([Verdict.scored(0, Reason.NO_ANSWER)] * 10).warnings())
    assert "100% of the scored rows are no_answer" in warnings
    assert "0 on every row" in warnings


def test_the_status_of_every_row_is_in_the_table() -> None:
    """Counts add up to the rows."""
    got = summary([Verdict.scored(1)] * 3 + [Verdict.invalid("gold_unreadable")] * 2)
    assert sum(got.statuses.values()) == got.rows == 5
    assert "invalid 2" in got.table()
    assert got.statuses[Status.SCORED.value] == 3
