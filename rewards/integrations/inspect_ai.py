"""inspect_ai: `scorer=inspect_ai.reward_scorer("math")` in a Task.

Unscored: `Score.unscored(...)` with the reason, which inspect's metrics and reducers leave out. It never becomes 0.
The module has the framework's name; the framework itself is imported inside the function, from the top level.
"""

from __future__ import annotations

import asyncio
from typing import Any

from rewards.integrations.unscored import reward_for, score
from rewards.verdict import Sample


def reward_scorer(reward: str, *, prefill: str = "", tests: str = "tests") -> Any:
    """An inspect scorer of one expression; `tests` names the key of the sample's metadata that holds tests.

    The score's `answer` is what the first component extracted; its metadata holds every verdict.
    """
    from inspect_ai.scorer import Score, mean, scorer, stderr

    parsed = reward_for(reward)

    @scorer(metrics=[mean(), stderr()], name="grpo_rewards")  # type: ignore[untyped-decorator,unused-ignore]
    def scored() -> Any:
        async def judge(state: Any, target: Any) -> Score:
            golds = [text for text in target if text]
            meta = dict(state.metadata or {})
            usage = state.output.usage
            sample = Sample(
                id=f"{state.sample_id}#{state.epoch}",
                prompt=state.input_text,
                prefill=prefill,
                completion=state.output.completion,
                gold=(golds[0] if len(golds) == 1 else golds) if golds else None,
                tests=meta.get(tests),
                task=meta.get("task"),
                num_tokens=usage.output_tokens if usage else None,
                truncated=state.output.stop_reason in {"max_tokens", "model_length"},
                meta=meta,
            )
            (result,) = await asyncio.to_thread(score, parsed, [sample])
            verdicts = {key: verdict.as_row() for key, verdict in result.verdicts.items()}
            answer = next((v.extracted for v in result.verdicts.values() if v.extracted is not None), None)
            said = "; ".join(f"{key}: {v.reason} {v.detail}".rstrip() for key, v in result.verdicts.items())
            if result.reward is None:
                return Score.unscored(
                    reason=result.status.value, answer=answer, explanation=said, metadata={"verdicts": verdicts}
                )
            return Score(value=result.reward, answer=answer, explanation=said, metadata={"verdicts": verdicts})

        return judge

    return scored()
