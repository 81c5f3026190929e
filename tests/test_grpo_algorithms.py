"""Every algorithm by name trains on the starter, and its settings reach TRL as published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="training needs torch; pip install 'grpo-rewards[train]'")
pytest.importorskip("trl", reason="training needs TRL; pip install 'grpo-rewards[train]'")

from grpo_runner import data, train  # noqa: E402
from grpo_runner.config import ALGORITHMS, RunConfig  # noqa: E402
from grpo_runner.run_files import read_jsonl  # noqa: E402
from rewards.expression import Reward  # noqa: E402

pytestmark = pytest.mark.slow

BASE: dict[str, Any] = {
    "evaluation.questions": 0,
    "sampling.batch_size": 16,
    "optimiser.warmup_steps": 0,
    "record.completions_every": 0,
    "reward": "math+format",
}


def run(out: Path, **overrides: Any) -> list[dict[str, Any]]:
    dotted = {key.replace("__", "."): value for key, value in overrides.items()}
    config = RunConfig.load(None, {**BASE, "out": out, **dotted})
    reward = Reward.parse(config.reward)
    try:
        questions, held_out = data.load(config)
        train.run(config, reward, reward, questions, held_out, say=lambda line: None)
    finally:
        reward.close()
    return read_jsonl(out / "metrics.jsonl")


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_every_algorithm_takes_finite_steps(name: str, tmp_path: Path) -> None:
    """As many optimiser steps as asked, on every generated batch as often as the algorithm says."""
    updates = ALGORITHMS[name].updates_per_generation
    rows = run(tmp_path, algorithm__name=name, optimiser__steps=2 * updates)
    assert len(rows) == 2 * updates
    assert all(row["grad_norm"] >= 0.0 and row["loss"] == row["loss"] for row in rows)
    assert any(row["grad_norm"] > 0.0 for row in rows)
    assert sum("completions_generated" in row for row in rows) == 2


def test_settings_reach_trl_as_named() -> None:
    """GSPO: sequence-level ratio, its clipping, four updates per generated batch (arXiv 2507.18071)."""
    config = RunConfig.load(None, {**BASE, "algorithm.name": "gspo", "optimiser.micro_batch": 8})
    given = train.trl_config(config, "cpu")
    assert (given.loss_type, given.importance_sampling_level) == ("grpo", "sequence")
    assert (given.epsilon, given.epsilon_high) == (3e-4, 4e-4)
    assert (given.gradient_accumulation_steps, given.steps_per_generation) == (2, 8)
    assert given.generation_batch_size == 64
    grpo = train.trl_config(RunConfig.load(None, {**BASE, "algorithm.name": "grpo"}), "cpu")
    assert (grpo.beta, grpo.loss_type, grpo.scale_rewards) == (0.04, "grpo", "group")


def test_with_beta_the_divergence_from_the_reference_is_measured(tmp_path: Path) -> None:
    """0 in the first step, when policy and reference are one."""
    rows = run(tmp_path, algorithm__name="grpo", optimiser__steps=3)
    assert rows[0]["kl"] == pytest.approx(0.0, abs=1e-6)
    assert rows[2]["kl"] > 0.0


def test_an_adapter_is_trained_and_the_reference_is_the_model_without_it(tmp_path: Path) -> None:
    """LoRA with KL loads no second model, and what is written is the adapter."""
    pytest.importorskip("peft", reason="adapters need peft; pip install 'grpo-rewards[train]'")
    rows = run(
        tmp_path, model__method="lora", model__lora_rank=4, algorithm__beta=0.04, optimiser__steps=2,
        optimiser__learning_rate=1e-3, record__merge=True,
    )  # fmt: skip
    assert rows[0]["kl"] == pytest.approx(0.0, abs=1e-6)
    assert rows[1]["kl"] > 0.0
    assert (tmp_path / "adapter" / "adapter_model.safetensors").is_file()

    from safetensors.torch import load_file

    from grpo_runner.starter import CHECKPOINT

    merged, start = (load_file(str(f / "model.safetensors")) for f in (tmp_path / "model", CHECKPOINT))
    assert set(merged) == set(start), "the merged export is an ordinary model folder"
    assert any(not torch.equal(merged[name], start[name]) for name in merged)


def test_components_are_normalised_apart_under_gdpo(tmp_path: Path) -> None:
    """Both components move the policy; an unscored row is out of both."""
    rows = run(tmp_path, algorithm__gdpo=True, optimiser__steps=2)
    assert all(row["grad_norm"] > 0.0 for row in rows)
    assert {"math/score", "format/score"} <= set(rows[0])
