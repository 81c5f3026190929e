"""The whole life of a run: killed and resumed it ends where the undisturbed run ends, to the last digit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from grpo_runner.run_files import read_jsonl

torch = pytest.importorskip("torch", reason="training needs torch; pip install 'grpo-rewards[train]'")
pytest.importorskip("trl", reason="training needs TRL; pip install 'grpo-rewards[train]'")

pytestmark = pytest.mark.slow

SMALL = [
    "--reward", "math+format", "--steps", "12", "--save-every", "4", "--batch-size", "32", "--eval-questions", "16",
    "--eval-samples", "1", "--eval-every", "3", "--watch", "off",
]  # fmt: skip


def start(out: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "grpo_runner.cli", *SMALL, "--out", str(out), *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    )  # fmt: skip


def finish(process: subprocess.Popen[str], code: int = 0) -> str:
    output, _ = process.communicate(timeout=600)
    assert process.returncode == code, output[-3000:]
    return output


def wait_for_step(out: Path, step: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        if any(row["step"] >= step for row in read_jsonl(out / "metrics.jsonl")):
            return
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.02)
    raise AssertionError(f"step {step} never came")


def facts(out: Path) -> list[dict[str, Any]]:
    """Rows of metrics.jsonl without what is allowed to differ: the clock."""
    rows = read_jsonl(out / "metrics.jsonl")
    return [{k: v for k, v in row.items() if not k.startswith("seconds/")} for row in rows]


def weights(out: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return load_file(str(out / "model" / "model.safetensors"))


def completions(out: Path) -> dict[str, Any]:
    import pyarrow.parquet

    return {f.name: pyarrow.parquet.read_table(f).to_pylist() for f in sorted((out / "completions").glob("*.parquet"))}


# The second case reuses each generated batch four times, so that a checkpoint must fall between batches.
@pytest.mark.parametrize(
    "words", [[], ["--updates-per-generation", "2", "--num-iterations", "2", "--beta", "0.04"]], ids=["plain", "reused"]
)
def test_killed_and_resumed_equals_undisturbed_to_the_last_digit(tmp_path: Path, words: list[str]) -> None:
    """Same data order, same random state, same optimiser: SIGKILL in mid-run costs steps, never changes one."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    finish(start(whole, *words))
    process = start(broken, *words)
    wait_for_step(broken, 6, process)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert not (broken / "summary.json").exists(), "it was over before it could be killed"
    finish(start(broken, *words, "--resume"))
    assert facts(broken) == facts(whole)
    assert completions(broken) == completions(whole)
    first, second = weights(whole), weights(broken)
    assert all(torch.equal(first[name], second[name]) for name in first)
    moments = [read_jsonl(out / "evaluations.jsonl") for out in (whole, broken)]
    assert moments[0] == moments[1]
    assert [row["step"] for row in moments[0]] == [0, 3, 6, 9, 12]


def test_ctrl_c_leaves_a_checkpoint_that_goes_on(tmp_path: Path) -> None:
    """The first Ctrl-C ends the run after the step in hand."""
    out = tmp_path / "run"
    process = start(out, "--steps", "200", "--save-every", "0")
    wait_for_step(out, 2, process)
    process.send_signal(signal.SIGINT)
    text = finish(process, code=1)
    assert "interrupted" in text
    step = json.loads((out / "summary.json").read_text())["steps"]
    assert 2 <= step < 200
    assert (out / f"checkpoint-{step}" / "prompt_source.json").is_file()
    finish(start(out, "--steps", str(step + 2), "--save-every", "0", "--resume"))
    assert [row["step"] for row in read_jsonl(out / "metrics.jsonl")] == list(range(1, step + 3))


def test_a_checkpoint_cut_short_by_a_kill_is_passed_over(tmp_path: Path) -> None:
    """The newest folder is not always the newest checkpoint."""
    from grpo_runner.train import last_checkpoint

    for name, whole in (("checkpoint-4", True), ("checkpoint-8", True), ("checkpoint-12", False)):
        (tmp_path / name).mkdir()
        if whole:
            (tmp_path / name / "prompt_source.json").write_text("{}")
    found = last_checkpoint(tmp_path)
    assert found is not None
    assert found.name == "checkpoint-8"
    assert last_checkpoint(tmp_path / "absent") is None
