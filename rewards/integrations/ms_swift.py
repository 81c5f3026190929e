"""ms-swift: `--external_plugins my_rewards.py --reward_funcs rules`, with `ms_swift.register("rules", "math+format")`.

ms-swift calls an ORM with `completions` (strings) and every data set column as a list.
Unscored: None, which ms-swift's GRPO leaves out of the sum; where every function gives None the row has no reward.
Register one expression for all components: beside another function's number a None counts as 0 there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rewards.integrations.unscored import reward_for, score
from rewards.verdict import Sample

COLUMNS: Final = {
    "prompt": "messages",
    "gold": "solution",
    "tests": "tests",
    "task": "task",
    "ids": "response_token_ids",
}


def judge(
    reward: str, completions: Sequence[Any], columns: Mapping[str, Any], names: Mapping[str, str], prefill: str = ""
) -> list[float | None]:
    """One number per completion, None where it is unscored; `names` says which column is which field."""
    found = {field: columns.get(name) for field, name in names.items()}
    samples = []
    for i, completion in enumerate(completions):
        row = {field: values[i] if isinstance(values, list | tuple) else None for field, values in found.items()}
        prompt = [m for m in row["prompt"] or [] if m.get("role") != "assistant"]
        samples.append(
            Sample(
                id=str(i),
                group=repr(prompt) if prompt else "",
                prompt=prompt,
                prefill=prefill,
                completion=completion,
                gold=row["gold"],
                tests=row["tests"],
                task=row["task"],
                num_tokens=len(row["ids"]) if isinstance(row["ids"], list | tuple) else None,
            )
        )
    return [result.reward for result in score(reward_for(reward), samples)]


def register(name: str, reward: str, *, columns: Mapping[str, str] | None = None, prefill: str = "") -> Any:
    """Make an expression known to ms-swift as the reward function `name`; returns the ORM class."""
    from swift.rewards import ORM, orms  # type: ignore[import-not-found,unused-ignore]

    class RewardExpression(ORM):  # type: ignore[misc]
        def __call__(self, completions: Sequence[Any], **kwargs: Any) -> list[float | None]:
            return judge(reward, completions, kwargs, {**COLUMNS, **(columns or {})}, prefill)

    RewardExpression.__name__ = name
    orms[name] = RewardExpression
    return RewardExpression
