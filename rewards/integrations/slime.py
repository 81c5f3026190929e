"""slime and miles: `--custom-rm-path my_rewards.rm`, with `rm = slime.reward_model("math+format")` in my_rewards.py.

slime awaits `rm(args, sample)`, or with `--group-rm` `rm(args, samples)` for all answers to one prompt; group-relative
rewards need the second. Scoring runs in a thread, so that the event loop which feeds the engine goes on.
Unscored: alone, `Unscored` is raised (after retries). In a group, the sample is taken out of the loss
(`remove_sample`) and stands at the mean of its scored neighbours, so that their baseline does not move; a group
without any score raises. It never becomes 0.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from rewards.integrations.unscored import number, reward_for, score, without_trailing
from rewards.verdict import Sample


def reward_model(
    reward: str, *, prefill: str = "", strip_tokens: Sequence[str] = ()
) -> Callable[..., Awaitable[float | list[float]]]:
    """The reward model of one expression; awaited, it raises `Unscored` where a lone sample or a group has no score."""
    parsed = reward_for(reward)

    def as_sample(theirs: Any, place: int) -> Sample:
        meta = dict(theirs.metadata or {})
        status = getattr(theirs.status, "value", theirs.status)
        return Sample(
            id=str(theirs.index if theirs.index is not None else place),
            group=str(theirs.group_index) if theirs.group_index is not None else "",
            prompt=theirs.prompt,
            prefill=prefill,
            completion=without_trailing(theirs.response, strip_tokens),
            gold=theirs.label,
            tests=meta.get("tests"),
            task=meta.get("task"),
            num_tokens=theirs.response_length or None,
            truncated=status == "truncated",
            meta=meta,
        )

    async def rm(args: Any, sample: Any, **_: Any) -> float | list[float]:
        many = isinstance(sample, list)
        theirs = sample if many else [sample]
        ours = [as_sample(one, i) for i, one in enumerate(theirs)]
        results = await asyncio.to_thread(score, parsed, ours)
        if not many:
            return number(results[0], ours[0])
        known = [result.reward for result in results if result.reward is not None]
        if not known:
            return [number(result, one) for result, one in zip(results, ours, strict=True)]
        for one, result in zip(theirs, results, strict=True):
            one.remove_sample = one.remove_sample or result.reward is None
        mean = sum(known) / len(known)
        return [mean if result.reward is None else result.reward for result in results]

    return rm
