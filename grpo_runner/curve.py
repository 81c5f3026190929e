"""The reward curve of a run as a PNG."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def draw(
    path: Path, rows: Sequence[Mapping[str, Any]], components: Sequence[str], accuracies: Mapping[int, float]
) -> None:
    """Reward and components above, flat groups and completion length below; held-out accuracy as points.

    Args:
        path: the PNG to write, whole or not at all.
        rows: the rows of metrics.jsonl.
        components: keys of the reward's components.
        accuracies: optimiser step to greedy held-out accuracy.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6), layout="constrained")
    FigureCanvasAgg(figure)  # no display and no global pyplot state
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))

    def line(axes: Any, key: str, label: str, **style: Any) -> None:
        points = [(row["step"], row[key]) for row in rows if isinstance(row.get(key), int | float)]
        if points:
            axes.plot(*zip(*points, strict=True), label=label, **style)

    line(upper, "reward", "reward", color="black", linewidth=2)
    for key in components:
        line(upper, f"{key}/score", key, linewidth=1)
    if accuracies:
        upper.plot(list(accuracies), list(accuracies.values()), "o--", color="tab:red", label="held-out accuracy")
    upper.set_ylabel("mean per completion")
    upper.legend(loc="lower right")
    upper.grid(alpha=0.3)
    line(lower, "flat_groups", "groups without spread", color="tab:purple")
    line(lower, "truncated", "cut off", color="tab:brown")
    lower.set_ylim(-0.02, 1.02)
    lower.set_ylabel("share")
    lower.set_xlabel("optimiser step")
    lower.grid(alpha=0.3)
    tokens = lower.twinx()
    line(tokens, "length", "length", color="tab:gray", linestyle=":")
    tokens.set_ylabel("tokens (dotted)")
    if lower.lines:
        lower.legend(loc="upper left")
    part = path.with_name(path.name + ".part")
    figure.savefig(part, format="png", dpi=110)
    os.replace(part, path)
