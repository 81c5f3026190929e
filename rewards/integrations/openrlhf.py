"""OpenRLHF: a file for `--remote_rm_url` whose `reward_func` is `openrlhf.reward_function("math+format")`.

OpenRLHF calls `reward_func(queries, prompts, labels, **kwargs)`: a query is prompt and answer in one text, so the
answer is what follows the prompt, less the end tokens. `rewards` feed the advantage; `scores` must lie in 0..1, as
its dynamic filtering compares them with a band, so they are the reward scaled by the range of the expression.
Unscored: OpenRLHF has no value for it, so `Unscored` is raised (after retries); it never becomes 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rewards.integrations.unscored import component_scores, number, reward_for, score, without_trailing
from rewards.verdict import Sample

END_TOKENS = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "</s>")


def reward_function(
    reward: str, *, prefill: str = "", strip_tokens: Sequence[str] = END_TOKENS, as_tensors: bool = True
) -> Callable[..., dict[str, Any]]:
    """The `reward_func` of one expression; `as_tensors=False` gives lists (for the HTTP form).

    Raises (when called):
        Unscored: a row has no reward.
        ValueError: a query does not start with its prompt.
    """
    parsed = reward_for(reward)
    low, high = parsed.range

    def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **_: Any) -> dict[str, Any]:
        samples = []
        for i, (query, prompt, label) in enumerate(zip(queries, prompts, labels, strict=True)):
            if not query.startswith(prompt):
                raise ValueError(f"query {i} does not start with its prompt; give both with the same chat template")
            text = without_trailing(query[len(prompt) :], strip_tokens)
            samples.append(Sample(id=str(i), group=prompt, prompt=prompt, prefill=prefill, completion=text, gold=label))
        results = score(parsed, samples)
        values = [number(result, sample) for result, sample in zip(results, samples, strict=True)]
        logs: dict[str, list[float]] = {}
        for result in results:
            for key, value in component_scores(result).items():
                logs.setdefault(key, []).append(value)
        out: dict[str, Any] = {
            "rewards": values,
            "scores": [(value - low) / (high - low) if high > low else 0.0 for value in values],
            "extra_logs": logs,
        }
        if as_tensors:
            import torch

            out = {
                "rewards": torch.tensor(values),
                "scores": torch.tensor(out["scores"]),
                "extra_logs": {key: torch.tensor(column) for key, column in logs.items()},
            }
        return out

    return reward_func
