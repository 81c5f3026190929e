"""Is the run learning? Symptoms of a dead or runaway run, each named with its cause and the line to change.

A symptom counts when it has held for `patience` steps. Whatever is decided here comes from numbers that are gathered
over all processes, so every process of a run decides the same.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

KL_LIMIT: Final = 2.0
"""Mean nats per token between policy and reference: far beyond what published runs report (below 0.5)."""
ENTROPY_GROWTH: Final = 3.0
"""Times the entropy of the first steps, with the reward below what it was then: the policy is dissolving."""
COLLAPSED_ENTROPY: Final = 1e-3
LENGTH_COLLAPSE: Final = 0.2
TRUNCATED_SHARE: Final = 0.5
UNSCORED_SHARE: Final = 0.5
NEVER_SHARE: Final = 0.98
"""Share of a window's completions above which a reason counts as the cause of all."""


BAND: Final = 'data.difficulty = "0.1..0.9" after `grpo-run difficulty`'


@dataclass(frozen=True, slots=True)
class Alert:
    """One symptom, named once per run. `stop` ones end the run under `--watch stop`."""

    kind: str
    severity: Literal["stop", "warn"]
    message: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What the watch must know of the reward and the prompts.

    Attributes:
        primary: key of the component that says what is right, with its (lowest, highest) score.
        tags: component key to the tags that it wants, for layout checks.
        prompt_text: the text of some prompts as the model sees them, prefill included.
    """

    primary: str
    lowest: float
    highest: float
    tags: Mapping[str, tuple[str, ...]]
    prompt_text: str
    max_new_tokens: int


class Watch:
    """Feed it one row of metrics and the columns of one batch of completions per step; it answers with new alerts."""

    def __init__(self, facts: Facts, patience: int) -> None:
        self.facts = facts
        self.patience = patience
        self._rows: list[Mapping[str, Any]] = []
        self._reasons: list[Counter[str]] = []
        self._held: Counter[str] = Counter()
        self._named: set[str] = set()

    def observe(self, row: Mapping[str, Any], completions: Mapping[str, Sequence[Any]]) -> list[Alert]:
        """Alerts that this step brings, each kind once per run."""
        self._rows.append(row)
        self._reasons.append(_reasons(completions))
        self._reasons = self._reasons[-self.patience :]
        symptoms = {alert.kind: alert for alert in self._symptoms(row)}
        for kind in list(self._held):
            if kind not in symptoms:
                del self._held[kind]
        found = []
        for kind, alert in symptoms.items():
            self._held[kind] += 1
            if self._held[kind] >= (1 if kind == "not_finite" else self.patience) and kind not in self._named:
                self._named.add(kind)
                found.append(alert)
        return found

    # ------------------------------------------------------------ symptoms

    def _symptoms(self, row: Mapping[str, Any]) -> list[Alert]:
        names = ("loss", "grad_norm", "reward", "kl", "entropy")
        bad = [name for name in names if not math.isfinite(_number(row, name, 0.0))]
        if bad:
            return [
                _stop(
                    "not_finite",
                    f"{', '.join(bad)} is not finite: lower optimiser.learning_rate, or train with "
                    "model.dtype = bfloat16 or float32 instead of float16",
                )
            ]
        out: list[Alert] = []
        if _number(row, "unscored", 0.0) > UNSCORED_SHARE:
            out.append(self._unscored())
        elif _number(row, "flat_groups", 0.0) >= NEVER_SHARE:
            out.append(self._all_right() if _number(row, "flat/right", 0.0) > 0.5 else self._dead(row))
        if _number(row, "truncated", 0.0) > TRUNCATED_SHARE:
            out.append(
                _warn(
                    "truncated",
                    f"more than half of the completions are cut off at {self.facts.max_new_tokens} tokens: "
                    "raise sampling.max_new_tokens, or ask for shorter answers",
                )
            )
        return [*out, *self._layout(row), *self._runaway(row)]

    def _all_right(self) -> Alert:
        return _warn(
            "all_right",
            "every group is all right: nothing is left to learn from these questions; end here, or take harder ones "
            f"({BAND})",
        )

    def _unscored(self) -> Alert:
        reasons = sum(self._reasons, Counter())
        top = next((name for name, _ in reasons.most_common() if "/!" in name), "")
        key, _, reason = top.partition("/!")
        remedy = {
            "gold_unreadable": "the gold column holds something else than the answer: set data.gold_column",
            "missing_field": "the rows lack what the reward needs: set data.gold_column or data.tests_column",
            "worker_lost": "our workers die: look for memory limits, and report it",
            "deadline": "our workers run past their deadline: fewer processes on this machine, or report it",
        }.get(reason, "see the columns `reason` and `detail` in completions/")
        what = f"{key}: {reason}" if top else "no reason recorded"
        return _stop("unscored", f"more than half of the completions have no score ({what}): {remedy}")

    def _dead(self, row: Mapping[str, Any]) -> Alert:
        """No group has spread and none is right: why?"""
        key = self.facts.primary
        reasons = sum(self._reasons, Counter())
        total = max(1, sum(n for name, n in reasons.items() if name.startswith(f"{key}/")))
        unanswered = sum(reasons[f"{key}/{name}"] for name in ("no_answer", "echo", "truncated")) / total
        if _number(row, "truncated", 0.0) > TRUNCATED_SHARE:
            return _stop(
                "dead",
                f"no reward: {row['truncated']:.0%} of the completions are cut off at {self.facts.max_new_tokens} "
                "tokens before they answer: raise sampling.max_new_tokens",
            )
        if unanswered > NEVER_SHARE:
            return _stop(
                "dead",
                f"no reward: {key} finds no answer in any completion: ask for one in the prompt with "
                'data.system_prompt = "... Put the final answer within \\\\boxed{}."',
            )
        if missing := self._never_asked(key):
            return replace(self._asked_nothing(key, missing), kind="dead", severity="stop")
        causes = {name.removeprefix("flat/"): value for name, value in row.items() if name.startswith("flat/")}
        cause = max(causes, key=lambda name: causes[name]) if causes else "equal"
        return _stop(
            "dead",
            f"no group has had spread for {self.patience} steps (reward {_number(row, 'reward', 0.0):g}, groups all "
            f"{cause}): these questions are out of this model's reach, and training on would only drill the format; "
            f"take easier ones ({BAND}), a stronger model, or a larger sampling.group_size",
        )

    def _layout(self, row: Mapping[str, Any]) -> list[Alert]:
        """A layout check at 0 throughout: usually the prompt never asks for it."""
        out = []
        for key in self.facts.tags:
            if key == self.facts.primary or _number(row, f"{key}/score", 1.0) > 0.0:
                continue
            if missing := self._never_asked(key):
                out.append(self._asked_nothing(key, missing))
                continue
            out.append(
                _warn(
                    f"layout/{key}",
                    f"{key} has been 0 for every completion although the prompt asks for its tags: look at `reason` in "
                    "completions/, and at what the chat template prefills",
                )
            )
        return out

    def _never_asked(self, key: str) -> list[str]:
        return [tag for tag in self.facts.tags.get(key, ()) if f"<{tag}>" not in self.facts.prompt_text]

    def _asked_nothing(self, key: str, missing: Sequence[str]) -> Alert:
        shown = " and ".join(f"<{tag}>" for tag in missing)
        example = "".join(f"<{tag}>...</{tag}>" for tag in missing)
        return _warn(
            f"layout/{key}",
            f"{key} has been 0 for every completion, and the prompt never asks for {shown}: "
            f'set data.system_prompt = "Answer in this form: {example}"',
        )

    def _runaway(self, row: Mapping[str, Any]) -> list[Alert]:
        out = []
        if _number(row, "kl", 0.0) > KL_LIMIT:
            out.append(
                _stop(
                    "kl",
                    f"KL to the reference is above {KL_LIMIT:g} nats per token ({row['kl']:.2f}): lower "
                    "optimiser.learning_rate, or raise algorithm.beta",
                )
            )
        if len(self._rows) <= self.patience:
            return out
        start = self._rows[: max(3, self.patience // 3)]
        key = f"{self.facts.primary}/score"
        entropy, first = _number(row, "entropy", math.nan), _mean(start, "entropy")
        reward_fell = _number(row, "reward", 0.0) < _mean(start, "reward") - 1e-9
        if entropy > ENTROPY_GROWTH * first and entropy > 0.5 and reward_fell:
            out.append(
                _stop(
                    "entropy_growth",
                    f"entropy has grown from {first:.2f} to {entropy:.2f} nats while the reward fell: the policy is "
                    "dissolving; lower optimiser.learning_rate or algorithm.epsilon_high",
                )
            )
        spread_gone = _number(row, "flat_groups", 0.0) > 0.9 and _number(row, "flat/right", 0.0) < 0.5
        if entropy < COLLAPSED_ENTROPY and spread_gone:
            out.append(
                _stop(
                    "entropy_collapse",
                    f"entropy is {entropy:.1g} nats: the completions of a group are all the same; raise "
                    "sampling.temperature or algorithm.epsilon_high, or lower optimiser.learning_rate",
                )
            )
        length, was = _number(row, "length", math.nan), _mean(start, "length")
        if length < LENGTH_COLLAPSE * was and _number(row, key, 0.0) <= _mean(start, key):
            out.append(
                _stop(
                    "length_collapse",
                    f"completions have shrunk from {was:.0f} to {length:.0f} tokens and {self.facts.primary} has not "
                    "risen: something in the reward pays for short answers; lower the weight of format and length "
                    "terms, or gate them: gate(format, ...)",
                )
            )
        return out


def _stop(kind: str, message: str) -> Alert:
    return Alert(kind, "stop", message)


def _warn(kind: str, message: str) -> Alert:
    return Alert(kind, "warn", message)


def _reasons(columns: Mapping[str, Sequence[Any]]) -> Counter[str]:
    """`key/reason` of every verdict, `key/!reason` where it has no score."""
    found: Counter[str] = Counter()
    for name, reasons in columns.items():
        key, slash, what = name.rpartition("/")
        if slash and what == "reason":
            statuses = columns.get(f"{key}/status", [None] * len(reasons))
            for (reason, status), count in Counter(zip(reasons, statuses, strict=True)).items():
                found[f"{key}/{'!' if status in ('invalid', 'error') else ''}{reason}"] += count
    return found


def _number(row: Mapping[str, Any], key: str, default: float) -> float:
    value = row.get(key)
    return float(value) if isinstance(value, int | float) else default


def _mean(rows: Sequence[Mapping[str, Any]], key: str) -> float:
    values = [float(row[key]) for row in rows if isinstance(row.get(key), int | float)]
    return sum(values) / len(values) if values else math.nan
