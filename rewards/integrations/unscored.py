"""What the adapters share: one `Reward` per expression and process, and no number for a row that has none.

A trainer that wants a bare float gets an exception instead of a made-up one. Before that, rows that ended in `error`
(our own failure: a lost worker, a sandbox that did not start) are scored again, since such a failure may pass.
`invalid` rows (the data set's fault) are not: find them before training with `rewards check-gold`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from rewards.expression import Reward
from rewards.scoring import RewardResult
from rewards.verdict import Sample, Status

ATTEMPTS = 3


class Unscored(RuntimeError):
    """A row has no reward; the message names the row, the component and its reason."""


@functools.lru_cache(maxsize=32)
def reward_for(expression: str) -> Reward:
    """The parsed expression, once per process: its worker pools stay warm between calls."""
    return Reward.parse(expression)


def score(reward: Reward, samples: Sequence[Sample], attempts: int = ATTEMPTS) -> list[RewardResult]:
    """Score as everywhere else; rows that ended in `error` are tried again, whole groups together."""
    results = reward.score(samples)
    for _ in range(attempts - 1):
        failed = {samples[i].group or str(i) for i, r in enumerate(results) if r.status is Status.ERROR}
        again = [i for i, sample in enumerate(samples) if (sample.group or str(i)) in failed]
        if not again:
            break
        for i, result in zip(again, reward.score([samples[i] for i in again]), strict=True):
            results[i] = result
    return results


def number(result: RewardResult, sample: Sample) -> float:
    """The reward as a float.

    Raises:
        Unscored: there is none.
    """
    if result.reward is not None:
        return result.reward
    causes = [
        f"{key}: {verdict.reason}" + (f" ({verdict.detail})" if verdict.detail else "")
        for key, verdict in result.verdicts.items()
        if verdict.status is result.status
    ]
    raise Unscored(f"row {sample.id or '?'} is {result.status.value}: {'; '.join(causes) or 'no component says why'}")


def without_trailing(text: str, tokens: Sequence[str]) -> str:
    """`text` without the special tokens at its end, which some trainers leave in (volcengine/verl#715)."""
    tokens = [token for token in tokens if token]
    while tokens:
        stripped = text.rstrip()
        token = next((token for token in tokens if stripped.endswith(token)), None)
        if token is None:
            break
        text = stripped[: -len(token)]
    return text


def component_scores(result: RewardResult) -> dict[str, float]:
    """Score of every component, always the same keys; NaN where there is none."""
    return {
        f"{key}/score": float("nan") if verdict.score is None else verdict.score
        for key, verdict in result.verdicts.items()
    }
