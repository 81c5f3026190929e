"""verl: `custom_reward_function.path=.../rewards/integrations/verl.py name=compute_score`.

    reward.custom_reward_function.reward_kwargs.reward="math+format"

verl calls `compute_score(data_source, solution_str, ground_truth, extra_info, **kwargs)` per completion, in threads.
The dict has the same keys for every row, as verl makes one column of each.
Unscored: verl has no value for it, so `Unscored` is raised (after retries) and the step fails; it never becomes 0.
Group-relative rewards are refused: verl shows one completion at a time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rewards.integrations.unscored import component_scores, number, reward_for, score, without_trailing
from rewards.verdict import Sample


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    reward: str = "math",
    prefill: str = "",
    strip_tokens: Sequence[str] = (),
    **_: Any,
) -> dict[str, Any]:
    """`{"score": float, "<component>/score": float, ...}` for one completion.

    Raises:
        Unscored: the row has no reward.
        ValueError: the expression compares the answers of a group.
    """
    parsed = reward_for(reward)
    if any(verifier.scope == "group" for verifier in parsed.components.values()):
        raise ValueError(f"{reward!r} compares answers of a group; verl's compute_score sees one completion at a time")
    extra = dict(extra_info or {})
    tests = None
    if "tests" in parsed.needs:
        tests = json.loads(ground_truth) if isinstance(ground_truth, str) else ground_truth
    sample = Sample(
        id=str(extra.get("index", "")),
        prompt=extra.get("question") or "",
        prefill=prefill,
        completion=without_trailing(solution_str, strip_tokens),
        gold=ground_truth,
        tests=tests,
        task=data_source,
        num_tokens=extra.get("num_tokens"),
        truncated=extra.get("truncated"),
        meta=extra,
    )
    (result,) = score(parsed, [sample])
    return {"score": number(result, sample), **component_scores(result)}
