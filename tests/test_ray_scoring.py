"""Scoring on Ray gives the rows of the local path: a local cluster of two CPUs stands for the many machines."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

EXPRESSION = "math + 0.25*format + 0.5*kimi_length(of=math)"


def score(path: Path, out: Path, *flags: str, reward: str = EXPRESSION) -> list[dict[str, Any]]:
    """Rows of `rewards score` over a file."""
    command = [sys.executable, "-m", "rewards.cli", "score", str(path), "--reward", reward, "-o", str(out), *flags]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300, check=False)
    assert done.returncode in (0, 2), done.stderr[-2000:]
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Forty groups of four answers, a broken line, a lone surrogate, an unreadable gold."""
    lines = []
    for i in range(40):
        for k in range(4):
            answer = i + (k % 2)
            row = {
                "id": f"{i}-{k}", "prompt_id": i,
                "completion": f"<think>{'x' * k}</think><answer>\\boxed{{{answer}}}</answer>",
                "gold": str(i), "num_tokens": 10 + k,
            }  # fmt: skip
            lines.append(json.dumps(row))
    lines.insert(7, '{"id": "cut off')
    lines.append('{"id": "s", "prompt_id": 1, "completion": "\\ud83d \\\\boxed{1}", "gold": "1", "num_tokens": 3}')
    lines.append('{"id": "g", "prompt_id": 2, "completion": "\\\\boxed{1}", "gold": "", "num_tokens": 3}')
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.slow
def test_rows_on_ray_are_the_local_rows_in_the_local_order(rows: Path, tmp_path: Path) -> None:
    """Also for a reward that compares the answers of a group, and with a line that cannot be read."""
    pytest.importorskip("ray.data", reason="Ray Data is an extra: pip install 'grpo-rewards[ray]'")
    local = score(rows, tmp_path / "local.jsonl")
    on_ray = score(rows, tmp_path / "ray.jsonl", "--ray")
    assert on_ray == local
    assert len(local) == 163
    assert {row["status"] for row in local} >= {"scored", "invalid"}


@pytest.mark.slow
def test_limit_and_thresholds_hold_on_ray_too(rows: Path, tmp_path: Path) -> None:
    """`--limit` cuts the input before it travels."""
    pytest.importorskip("ray.data", reason="Ray Data is an extra: pip install 'grpo-rewards[ray]'")
    assert score(rows, tmp_path / "ray.jsonl", "--ray", "--limit", "5", reward="math") == score(
        rows, tmp_path / "local.jsonl", "--limit", "5", reward="math"
    )


def test_without_ray_the_extra_is_named(rows: Path) -> None:
    """One line with what to type."""
    if importlib.util.find_spec("ray") is not None:
        pytest.skip("Ray is installed here, so its absence cannot be seen")
    command = [sys.executable, "-m", "rewards.cli", "score", str(rows), "--reward", "math", "--ray"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 2
    assert "grpo-rewards[ray]" in done.stderr
    assert "Traceback" not in done.stderr
