"""`rewards score --ray`: the same rows and verdicts, judged on Ray Data by one `Reward` per worker process.

Only plain text travels: a JSON list of samples per group out, a JSON list of results back. Groups stay whole where the
expression compares their answers, and results come back in the order of the samples. Every machine of the cluster needs
this package and what the verifiers need; the input file is read by the calling process alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

import ray
import ray.data

from rewards.expression import Reward
from rewards.scoring import RewardResult
from rewards.verdict import Sample, Status, Verdict

BATCH_ROWS: Final = 256
"""Rows per call of a worker: enough to keep its pools busy, few enough to balance the load."""
_NAMES: Final = tuple(field.name for field in fields(Sample))


class Judge:
    """What runs in each Ray worker: the expression is parsed once, batches are judged as they come."""

    def __init__(self, expression: str, aliases: Mapping[str, str]) -> None:
        self.reward = Reward.parse(expression, aliases=dict(aliases))

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[str]]:
        """`{"samples": [JSON list, ...]}` to `{"results": [JSON list, ...]}`."""
        groups = [[Sample(**values) for values in json.loads(packed)] for packed in batch["samples"]]
        results = iter(self.reward.score([sample for group in groups for sample in group]))
        return {"results": [json.dumps([_plain(next(results)) for _ in group]) for group in groups]}


def score(
    samples: Sequence[Sample], reward: Reward, aliases: Mapping[str, str] | None = None, workers: int | None = None
) -> Iterator[RewardResult]:
    """One result per sample, in order, as `reward.score(samples)` gives them.

    Args:
        samples: all of them, JSON-plain.
        reward: its text is parsed again by every worker; verifiers passed in by hand (`components=`) do not travel.
        aliases: those the expression was parsed with.
        workers: Ray workers at once; absent, one per CPU of the cluster.

    Raises:
        TypeError: a sample holds what JSON cannot.
    """
    whole = any(verifier.scope == "group" for verifier in reward.components.values())
    places: list[list[int]] = []
    by_group: dict[str, list[int]] = {}
    for i, sample in enumerate(samples):
        if whole and sample.group:
            if sample.group not in by_group:
                places.append(by_group.setdefault(sample.group, []))
            by_group[sample.group].append(i)
        else:
            places.append([i])
    owned = not ray.is_initialized()
    if owned:
        ray.init(logging_level="ERROR", log_to_driver=False, include_dashboard=False)
    try:
        context = ray.data.DataContext.get_current()
        context.execution_options.preserve_order = True
        context.enable_progress_bars = False
        count = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        packed = [{"samples": json.dumps([_values(samples[i]) for i in place])} for place in places]
        rows_per_batch = max(1, min(BATCH_ROWS, -(-len(packed) // count)))
        judged = ray.data.from_items(packed, override_num_blocks=max(1, -(-len(packed) // rows_per_batch))).map_batches(
            Judge,
            fn_constructor_args=(reward.text, dict(aliases or {})),
            batch_size=rows_per_batch,
            concurrency=(1, count),
        )
        found: list[RewardResult | None] = [None] * len(samples)
        for place, row in zip(places, judged.iter_rows(), strict=True):
            for i, plain in zip(place, json.loads(row["results"]), strict=True):
                found[i] = _result(plain)
    finally:
        if owned:
            ray.shutdown()
    for result in found:
        assert result is not None  # zip(strict=True) has filled every place
        yield result


def _values(sample: Sample) -> dict[str, Any]:
    values = {name: getattr(sample, name) for name in _NAMES}
    values["meta"] = dict(sample.meta)
    return values


def _plain(result: RewardResult) -> dict[str, Any]:
    verdicts = {key: verdict.as_row() for key, verdict in result.verdicts.items()}
    return {"reward": result.reward, "status": result.status.value, "verdicts": verdicts}


def _result(plain: Mapping[str, Any]) -> RewardResult:
    verdicts = {
        key: Verdict(
            Status(row["status"]), row["score"], row["reason"], row["detail"], row["extracted"], row.get("parts")
        )
        for key, row in plain["verdicts"].items()
    }
    return RewardResult(plain["reward"], Status(plain["status"]), verdicts)
