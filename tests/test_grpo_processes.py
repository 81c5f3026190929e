"""Two processes do what one does: same completions, same rewards, same weights up to the order of sums."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grpo_runner.run_files import read_jsonl

torch = pytest.importorskip("torch", reason="training needs torch; pip install 'grpo-rewards[train]'")
pytest.importorskip("trl", reason="training needs TRL; pip install 'grpo-rewards[train]'")


pytestmark = pytest.mark.slow

GROUP_RELATIVE = ("kimi_length", "lead_length", "shorter_bonus", "excess_length", "gr3_length")
REWARD = "math + gate(math, 0.25*kimi_length(of=math))" + "".join(f" + 0.01*{n}(of=math)" for n in GROUP_RELATIVE[1:])


def run(out: Path, *words: str) -> None:
    done = subprocess.run(
        [
            sys.executable, "-m", "grpo_runner.cli", "--reward", REWARD,
            "--steps", "4", "--resample", "--batch-size", "32", "--warmup-steps", "0", "--eval-questions", "0",
            "--row-seeds", "--device", "cpu", "--out", str(out), *words,
        ],
        capture_output=True, text=True, timeout=600, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


def table(out: Path) -> list[dict[str, Any]]:
    import pyarrow.parquet

    files = sorted((out / "completions").glob("*.parquet"))
    return [row for f in files for row in pyarrow.parquet.read_table(f).to_pylist()]


def test_two_processes_give_the_completions_rewards_and_metrics_of_one(tmp_path: Path) -> None:
    """Real processes under accelerate, with every group-relative reward (whole groups) and groups replaced."""
    one, two = tmp_path / "one", tmp_path / "two"
    run(one)
    run(two, "--launch", "accelerate", "--num-processes", "2")
    key = (
        "step",
        "id",
        "completion",
        "reward",
        "advantage",
        "math/score",
        *(f"{name}/score" for name in GROUP_RELATIVE),
    )
    first, second = ([tuple(row[name] for name in key) for row in table(out)] for out in (one, two))
    assert len(first) == len(second) > 4 * 32, "the batches themselves, and what was drawn for flat groups"
    exact = [0, 1, 2]
    for a, b in zip(sorted(first, key=repr), sorted(second, key=repr), strict=True):
        assert [a[i] for i in exact] == [b[i] for i in exact]
        assert a[3:] == pytest.approx(b[3:], abs=1e-5)
    rows = [read_jsonl(out / "metrics.jsonl") for out in (one, two)]
    assert len(rows[0]) == len(rows[1]) == 4
    for a, b in zip(*rows, strict=True):
        same = {k for k in a if not k.startswith("seconds/") and k not in {"tokens"}}
        assert same <= set(b)
        for name in same:
            assert b[name] == pytest.approx(a[name], rel=1e-3, abs=1e-4), name
