"""verifiers and prime-rl: a reward function for a task set, `fn = "my_rewards.py:right"` with
`right = verifiers.plug("math+format")` in my_rewards.py (v1), or `Rubric(funcs=[verifiers.legacy("math")])`.

v1 awaits `fn(task, trace)`. Unscored: `Unscored` is raised (after retries) and verifiers records None for the reward.
The legacy Rubric (before 0.2) turns every exception into 0.0 with a line in the log, so `legacy` gives NaN for an
unscored rollout: it shows in the metrics, and is no 0.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from rewards.integrations.unscored import number, reward_for, score
from rewards.verdict import Sample


def _field(row: Any, name: str) -> Any:
    return row.get(name) if isinstance(row, dict) else getattr(row, name, None)


def plug(
    reward: str, *, gold: str = "answer", tests: str = "tests", prefill: str = ""
) -> Callable[..., Awaitable[float]]:
    """The v1 reward of one expression; `gold` and `tests` name the fields of the task's data."""
    parsed = reward_for(reward)

    async def right(task: Any, trace: Any) -> float:
        sample = Sample(
            id=str(_field(task, "idx") if _field(task, "idx") is not None else ""),
            prompt=str(_field(task, "prompt") or ""),
            prefill=prefill,
            completion=trace.last_reply or "",
            gold=_field(task, gold),
            tests=_field(task, tests),
            task=_field(task, "name"),
            num_tokens=trace.num_output_tokens or None,
            truncated=bool(trace.is_truncated),
        )
        (result,) = await asyncio.to_thread(score, parsed, [sample])
        return number(result, sample)

    return right


def legacy(reward: str, *, prefill: str = "") -> Callable[..., Awaitable[float]]:
    """A function for the Rubric of verifiers before 0.2, which passes arguments by their names."""
    parsed = reward_for(reward)

    async def right(prompt: Any, completion: Any, answer: Any, info: Any, **_: Any) -> float:
        tests = info.get("tests") if isinstance(info, dict) else None
        sample = Sample(prompt=prompt, prefill=prefill, completion=completion, gold=answer, tests=tests)
        (result,) = await asyncio.to_thread(score, parsed, [sample])
        return float("nan") if result.reward is None else result.reward

    return right
