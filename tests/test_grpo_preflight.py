"""Preflight: what would waste a run is found before a model loads, and what is sound passes."""

from __future__ import annotations

from typing import Any

import pytest

from grpo_runner import preflight
from grpo_runner.config import RunConfig
from grpo_runner.data import Questions
from rewards.expression import Reward
from rewards.verdict import Sample


def questions(golds: list[Any], **fields: Any) -> Questions:
    samples = tuple(
        Sample(id=str(i), group=str(i), prompt=f"question {i}", gold=gold, **fields) for i, gold in enumerate(golds)
    )
    return Questions(samples, "rows", {"prompt": "question", "gold": "answer"})


def findings(expression: str, asked: Questions, **overrides: Any) -> preflight.Findings:
    dotted = {"sampling.batch_size": 16, **{key.replace("__", "."): value for key, value in overrides.items()}}
    config = RunConfig.read(None, {"reward": expression, **dotted})
    reward = Reward.parse(expression)
    try:
        return preflight.check(config, reward, asked)
    finally:
        reward.close()


SOUND: list[tuple[str, list[Any]]] = [
    ("integers", [str(i) for i in range(40)]),
    ("fractions, surds and units", [rf"\frac{{{i}}}{{7}}" for i in range(1, 6)] + [r"2\sqrt{3}", "3.50", "-12"]),
    ("thousands and percent", ["1,234", "50\\%", "0.75", "12,000"]),
    ("choices", list("ABCDABCD")),
]


@pytest.mark.parametrize(("name", "golds"), SOUND, ids=[name for name, _ in SOUND])
def test_sound_golds_pass(name: str, golds: list[Any]) -> None:
    """Every gold scores full on itself when boxed and not on a changed copy."""
    assert findings("math+format", questions(golds * 2)).faults == []


BROKEN: list[tuple[str, list[Any], str]] = [
    ("empty", [""] * 40, "looks like the wrong one"),
    ("half of them empty", ["", "7"] * 20, "do not get full marks"),
    (
        "solutions",
        [f"First take {i}. " + "Then add the next number to it, and so on. " * 4 for i in range(40)],
        "25 words",
    ),
    ("one value", ["n/a"] * 40, "every row of column 'answer' holds 'n/a'"),
    ("placeholders", ["N/A", "12", "none", "7"] * 10, "placeholder"),
    ("absent", [None] * 40, "math needs gold, and 40 of 40 rows have none"),
]


@pytest.mark.parametrize(("name", "golds", "said"), BROKEN, ids=[name for name, _, _ in BROKEN])
def test_a_broken_gold_column_stops_the_run_with_the_cause(name: str, golds: list[Any], said: str) -> None:
    """Not after a night of reward 0."""
    found = findings("math+format", questions(golds))
    assert any(said in fault for fault in found.faults), found
    assert any("answer" in fault or "gold" in fault for fault in found.faults)


def test_a_constant_reward_is_refused() -> None:
    """`0*format` teaches nothing whatever the model writes."""
    found = findings("0*format", questions(["7"] * 8 + ["8"] * 8))
    assert any("a constant reward teaches nothing" in fault for fault in found.faults)


def test_a_task_without_a_branch_is_named() -> None:
    """`route` leaves rows of other tasks unscored."""
    found = findings("route(sum=math)", questions(["7"] * 8 + ["8"] * 8, task="product"))
    assert any("no branch for the tasks product" in fault for fault in found.faults)


def test_a_length_limit_that_generation_never_reaches_is_remarked() -> None:
    """A penalty that starts at 4096 tokens does nothing when generation stops at 32."""
    found = findings("math + overlong(max_tokens=4096, cache=512)", questions([str(i) for i in range(20)]))
    assert found.faults == []
    assert any("can never reach its limit" in remark for remark in found.remarks)


def test_too_few_questions_are_counted() -> None:
    """TRL trains 0 steps on them and ends without a word."""
    found = findings("math", questions(["1", "2"]), sampling__batch_size=128)
    assert any("2 usable questions, one generated batch takes 16" in fault for fault in found.faults)


@pytest.mark.parametrize(
    ("gold", "other"),
    [("7", "8"), ("1,234", "1235"), (7, 8), (2.5, 3.5), (True, False), ("x+1", "x+1 + 7919"), (["3", "4"], ["4"])],
)
def test_a_changed_copy_is_another_value_of_the_same_kind(gold: Any, other: Any) -> None:
    """What accepts it would accept anything."""
    assert preflight.changed(gold) == other
