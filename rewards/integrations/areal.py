"""AReaL: `RLVRWorkflow(reward_fn=areal.reward_function("math+format"), ...)`.

AReaL calls `reward_fn(prompt, completions, prompt_ids, completion_ids, **data)` in a process pool, so the function is
picklable, and brings its own deadline: AReaL's leaves the worker running and turns a late answer into 0.
Unscored: `Unscored` is raised (after retries); AReaL tries again and then fails the rollout. It never becomes 0.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rewards.integrations.unscored import number, reward_for, score, without_trailing
from rewards.verdict import Sample


class reward_function:  # used like a function: a class, so that it pickles
    """The `reward_fn` of one expression; `columns` says which key of the data row is which field.

    Raises:
        ValueError: the expression compares the answers of a group, and AReaL shows one at a time.
    """

    def __init__(
        self,
        reward: str,
        *,
        columns: Mapping[str, str] | None = None,
        prefill: str = "",
        strip_tokens: Sequence[str] = (),
        stop_token_ids: Collection[int] = (),
    ) -> None:
        if any(verifier.scope == "group" for verifier in reward_for(reward).components.values()):
            raise ValueError(f"{reward!r} compares answers of a group; AReaL's reward_fn sees one completion")
        self.reward, self.prefill, self.strip_tokens = reward, prefill, tuple(strip_tokens)
        self.columns = {"gold": "answer", "tests": "tests", "task": "task", "id": "query_id", **(columns or {})}
        self.stop_token_ids = frozenset(stop_token_ids)
        self.__name__ = "reward_function"

    def __call__(
        self, prompt: str, completions: str, prompt_ids: Sequence[int], completion_ids: Sequence[int], **data: Any
    ) -> float:
        ids = list(completion_ids)
        sample = Sample(
            id=str(data.get(self.columns["id"], "")),
            prompt=prompt,
            prefill=self.prefill,
            completion=without_trailing(completions, self.strip_tokens),
            gold=data.get(self.columns["gold"]),
            tests=data.get(self.columns["tests"]),
            task=data.get(self.columns["task"]),
            num_tokens=len(ids),
            truncated=(not ids or ids[-1] not in self.stop_token_ids) if self.stop_token_ids else None,
            meta=data,
        )
        (result,) = score(reward_for(self.reward), [sample])
        return number(result, sample)
