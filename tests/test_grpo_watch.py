"""The watch: each way a run dies or runs away is named once, with its cause, and a healthy run is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from grpo_runner.watch import Alert, Facts, Watch

PATIENCE = 4
HEALTHY: dict[str, Any] = {
    "reward": 0.6,
    "math/score": 0.4,
    "format/score": 0.8,
    "flat_groups": 0.3,
    "flat/right": 0.1,
    "flat/wrong": 0.2,
    "length": 200.0,
    "truncated": 0.05,
    "unscored": 0.0,
    "entropy": 0.8,
    "kl": 0.02,
    "grad_norm": 0.5,
    "loss": 0.01,
}
DEAD = {"reward": 0.0, "math/score": 0.0, "flat_groups": 1.0, "flat/right": 0.0, "flat/wrong": 1.0}


def facts(prompt: str = "Think in <think> and answer in <answer>.", primary: str = "math") -> Facts:
    return Facts(primary, 0.0, 1.0, {"format": ("think", "answer")}, prompt, 256)


def completions(reason: str, status: str = "scored", key: str = "math") -> dict[str, list[Any]]:
    return {f"{key}/reason": [reason] * 16, f"{key}/status": [status] * 16}


def alerts(
    change: dict[str, Any], batch: dict[str, list[Any]] | None = None, told: Facts | None = None, steps: int = 12
) -> list[tuple[int, Alert]]:
    """What a run of healthy steps says that turns into `change` after the first five."""
    watch = Watch(told or facts(), PATIENCE)
    found = []
    for step in range(1, steps + 1):
        row = {**HEALTHY, "step": step, **(change if step > 5 else {})}
        found += [(step, alert) for alert in watch.observe(row, batch if batch and step > 5 else completions("ok"))]
    return found


def test_a_healthy_run_is_left_alone() -> None:
    """No alert without a cause."""
    assert alerts({}) == []


CASES: list[tuple[str, dict[str, Any], dict[str, list[Any]] | None, Facts | None, str, str]] = [
    ("dead", DEAD, completions("differs"), None, "stop", "out of this model's reach"),
    ("dead", DEAD, completions("no_answer"), None, "stop", "finds no answer in any completion"),
    ("dead", {**DEAD, "truncated": 0.9}, completions("truncated"), None, "stop", "cut off at 256 tokens"),
    (
        "dead", {**DEAD, "format/score": 0.0}, completions("missing_tag", key="format"),
        facts("Solve it.", primary="format"), "stop", "never asks for <think> and <answer>",
    ),
    ("unscored", {"unscored": 0.9}, completions("gold_unreadable", "invalid"), None, "stop", "set data.gold_column"),
    ("unscored", {"unscored": 0.9}, completions("worker_lost", "error"), None, "stop", "our workers die"),
    ("all_right", {"flat_groups": 1.0, "flat/right": 1.0, "flat/wrong": 0.0}, None, None, "warn", "nothing is left"),
    ("truncated", {"truncated": 0.8}, None, None, "warn", "raise sampling.max_new_tokens"),
    ("layout/format", {"format/score": 0.0}, None, facts("Solve it."), "warn", "the prompt never asks for"),
    ("layout/format", {"format/score": 0.0}, None, None, "warn", "although the prompt asks"),
    ("kl", {"kl": 3.0}, None, None, "stop", "lower optimiser.learning_rate, or raise algorithm.beta"),
    ("entropy_growth", {"entropy": 4.0, "reward": 0.1}, None, None, "stop", "the policy is dissolving"),
    ("entropy_collapse", {**DEAD, "entropy": 1e-5}, completions("differs"), None, "stop", "all the same"),
    ("length_collapse", {"length": 8.0, "math/score": 0.2}, None, None, "stop", "pays for short answers"),
    ("not_finite", {"loss": float("nan")}, None, None, "stop", "loss is not finite"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "change", "batch", "told", "severity", "said"), CASES)
def test_each_symptom_is_named_once_with_its_cause(
    kind: str, change: dict[str, Any], batch: Any, told: Facts | None, severity: str, said: str
) -> None:
    """The message says what to change."""
    found = [(step, alert) for step, alert in alerts(change, batch, told) if alert.kind == kind]
    assert len(found) == 1
    step, alert = found[0]
    assert alert.severity == severity
    assert said in alert.message
    assert step == (6 if kind == "not_finite" else 5 + PATIENCE)


def test_a_symptom_that_passes_is_not_named() -> None:
    """Three bad steps are noise when patience is four."""
    watch = Watch(facts(), PATIENCE)
    for step in range(1, 30):
        row = {**HEALTHY, "step": step, **(DEAD if step % 4 else {})}
        assert watch.observe(row, completions("differs")) == []


def test_shorter_answers_that_are_better_are_no_collapse() -> None:
    """A model that learns to stop rambling is doing well."""
    assert alerts({"length": 8.0, "math/score": 0.9}) == []


def test_more_entropy_with_more_reward_is_no_runaway() -> None:
    """Exploring is not dissolving."""
    assert alerts({"entropy": 4.0, "reward": 0.9}) == []
