"""How often the model is right, per question: from answers already scored, as a column, as a histogram."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from grpo_runner.run_files import write_jsonl
from rewards.verdict import Sample

BARS: Final = 40


class ScoredFileError(ValueError):
    """A scored file that does not fit the data set; the message says what was looked for."""


def from_scored(path: Path, samples: Sequence[Sample]) -> list[float | None]:
    """Pass rate per question from rows that `rewards score` wrote: `{"id", "group", "reward", ...}`.

    A row counts for the question whose id is its `group`, or else its `id`. An answer is right when its reward is the
    highest in the file; unscored rows count for nothing, and a question without a scored row gets None.

    Raises:
        ScoredFileError: the file cannot be read, or no row belongs to any question.
    """
    rewards: dict[str, list[float]] = {}
    known = {sample.id for sample in samples}
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                except ValueError as error:
                    raise ScoredFileError(f"--scored: {path}:{number}: not JSON: {error}") from None
                if not isinstance(row, Mapping) or "reward" not in row:
                    raise ScoredFileError(f"--scored: {path}:{number}: no `reward`; give a file from `rewards score`")
                question = next((str(row[k]) for k in ("group", "id") if str(row.get(k)) in known), None)
                if question is not None and isinstance(row["reward"], int | float):
                    rewards.setdefault(question, []).append(float(row["reward"]))
    except (OSError, UnicodeDecodeError) as error:
        raise ScoredFileError(f"--scored: {path}: cannot be read: {error}") from None
    if not rewards:
        shown = ", ".join(sorted(known)[:3])
        raise ScoredFileError(f"--scored: {path}: no row has a `group` or `id` of the data set (such as {shown})")
    top = max(max(values) for values in rewards.values())
    return [
        sum(value >= top - 1e-9 for value in rewards[s.id]) / len(rewards[s.id]) if s.id in rewards else None
        for s in samples
    ]


def write(path: Path, samples: Sequence[Sample], rates: Sequence[float | None], column: str) -> None:
    """The questions as JSONL, their own columns kept, with the pass rate as one more."""
    rows = []
    for sample, rate in zip(samples, rates, strict=True):
        row: dict[str, Any] = {**sample.meta, "id": sample.id, "prompt": sample.prompt, "gold": sample.gold}
        if sample.tests is not None:
            row["tests"] = sample.tests
        if sample.task is not None:
            row["task"] = sample.task
        row[column] = rate
        rows.append(row)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_jsonl(path, rows)


def histogram(rates: Sequence[float | None]) -> str:
    """Questions per tenth of pass rate, with the two ends apart: they are what teaches nothing."""
    known = [rate for rate in rates if rate is not None]
    if not known:
        return "no question could be measured"
    counts: list[tuple[str, int]] = [("never", sum(r == 0 for r in known))]
    for tenth in range(10):
        low, high = tenth / 10, (tenth + 1) / 10
        inside = sum(low <= r < high if tenth < 9 else low <= r <= high for r in known if 0 < r < 1)
        counts.append((f"{low:.1f}-{high:.1f}", inside))
    counts.append(("always", sum(r == 1 for r in known)))
    most = max(n for _, n in counts)
    lines = [f"{name:>7} {n:6d} {n / len(known):4.0%} {'#' * round(BARS * n / most)}".rstrip() for name, n in counts]
    lines.append(f"mean pass rate {sum(known) / len(known):.3f} over {len(known)} questions")
    if len(known) < len(rates):
        lines.append(f"{len(rates) - len(known)} questions could not be measured")
    return "\n".join(lines)
