"""lighteval: `metrics=[lighteval.reward_metric("math")]` in a custom task.

Unscored: NaN for that sample. lighteval's own mean would turn one NaN into NaN for the whole task, so the metric brings
its mean over scored samples, and a second number, the share that is unscored. It never becomes 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rewards.integrations.unscored import reward_for, score
from rewards.verdict import Sample


def scored_mean(values: Sequence[float]) -> float:
    """Mean over the values that are numbers; NaN when there are none."""
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else float("nan")


def unscored_share(values: Sequence[float]) -> float:
    """Share of samples without a score."""
    return sum(map(math.isnan, values)) / len(values) if values else 0.0


def reward_metric(reward: str, *, prefill: str = "", name: str = "reward") -> Any:
    """A lighteval metric group: `<name>`, the mean over scored samples, and `<name>_unscored`.

    With several generations per document a sample's value is the mean of its scored ones.
    """
    from lighteval.metrics.metrics_sample import SampleLevelComputation
    from lighteval.metrics.utils.metric_utils import SampleLevelMetricGrouping
    from lighteval.tasks.requests import SamplingMethod

    parsed = reward_for(reward)

    class RewardOfSample(SampleLevelComputation):  # type: ignore[misc]
        """The reward of one document's generations."""

        def compute(self, doc: Any, model_response: Any, **kwargs: Any) -> dict[str, float]:
            golds = doc.get_golds()
            gold = golds[0] if len(golds) == 1 else golds or None
            group = str(doc.id)
            samples = [
                Sample(id=f"{group}#{i}", group=group, prompt=doc.query, prefill=prefill, completion=text, gold=gold)
                for i, text in enumerate(model_response.text)
            ]
            values = [math.nan if r.reward is None else r.reward for r in score(parsed, samples)]
            return {name: scored_mean(values), f"{name}_unscored": unscored_share(values)}

    return SampleLevelMetricGrouping(
        metric_name=[name, f"{name}_unscored"],
        higher_is_better={name: True, f"{name}_unscored": False},
        category=SamplingMethod.GENERATIVE,
        sample_level_fn=RewardOfSample(),
        corpus_level_fn={name: scored_mean, f"{name}_unscored": scored_mean},
    )
