"""Presets load, fit the card they are named for, take enough questions a step; a recipe of 2025 runs or is answered."""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from grpo_runner import memory, presets
from grpo_runner.cli import main
from grpo_runner.config import ConfigError, RunConfig, leaves
from grpo_runner.retired_arguments import ELSEWHERE, RETIRED, explain
from rewards.expression import Reward
from rewards.verdict import Sample

NAMES = presets.names()
WANTED = {
    "a100-1.5b-full", "a100-3b-full", "a100-7b-lora", "a100-7b-full-8bit", "a100-14b-lora", "a100-14b-qlora",
    "seed-gsm8k",
}  # fmt: skip


def load(name: str) -> RunConfig:
    """A preset as a run loads it."""
    return RunConfig.load(presets.path(name))


def test_the_presets_for_one_a100_are_there() -> None:
    """1.5B and 3B full, 7B LoRA and 8-bit full, 14B LoRA and QLoRA, and the recipe of 2025."""
    assert set(NAMES) >= WANTED


@pytest.mark.parametrize("name", NAMES)
def test_preset_fits_one_a100_80gb_by_its_plan(name: str) -> None:
    """With the head-room free, and at the peak that its first lines state."""
    made = memory.plan_run(load(name))
    assert made.fits, memory.describe(made)
    (stated,) = re.findall(r"about (\d+) GB", presets.path(name).read_text(encoding="utf-8").split("\n\n")[0])[:1]
    assert made.peak / memory.GB == pytest.approx(float(stated), abs=1.0)
    assert "not measured" in presets.path(name).read_text(encoding="utf-8").split("\n\n")[0]


@pytest.mark.parametrize("name", NAMES)
def test_preset_takes_at_least_sixteen_questions_per_step(name: str) -> None:
    """One question per optimiser step is noise: the scripts of 2025 learned from it in days, if at all."""
    config = load(name)
    assert config.prompts_per_step >= 16
    assert config.sampling.batch_size % (config.optimiser.micro_batch or 1) == 0


@pytest.mark.parametrize("name", NAMES)
def test_preset_sets_what_saves_an_a100(name: str) -> None:
    """bf16 arithmetic, checkpointing, the fastest attention installed, vLLM asleep while the optimiser works."""
    config = load(name)
    assert config.model.dtype in {"bfloat16", "float32"}
    assert config.optimiser.gradient_checkpointing is True
    assert config.model.attention == "auto"
    assert config.sampling.engine == "vllm-colocate"
    assert config.sampling.vllm_sleep
    assert config.model.method in name or config.model.method == "full"
    assert ("8bit" in name or name == "seed-gsm8k") is (config.optimiser.name == "adamw_8bit")


@pytest.mark.parametrize("name", NAMES)
def test_preset_says_why(name: str) -> None:
    """Comments beside the values that were chosen: every section but the bookkeeping has one."""
    text = presets.path(name).read_text(encoding="utf-8")
    for section in ("data", "algorithm", "sampling", "optimiser"):
        if section == "data" and name == "seed-gsm8k":
            continue
        body = text.partition(f"[{section}]")[2].partition("\n[")[0]
        assert "# " in body, section


@pytest.mark.parametrize("name", NAMES)
def test_preset_rewards_what_its_prompt_asks_for(name: str) -> None:
    """The reward parses, a right answer in the asked form gets full marks, and a format reward has its prompt."""
    config = load(name)
    reward = Reward.parse(config.reward, aliases=config.aliases)
    sample = Sample(id="1", completion="<think>2+2</think> The result is \\boxed{4}.", gold="4")
    (result,) = reward.score([sample])
    assert result.reward == reward.range[1]
    if "format" in config.reward:
        assert config.data.system_prompt is not None
        assert "<think>" in config.data.system_prompt
        assert "\\boxed{" in config.data.system_prompt
    reward.close()


@pytest.mark.parametrize("name", NAMES)
def test_trl_takes_the_preset(name: str) -> None:
    """TRL 1.16's own configuration accepts what the preset becomes."""
    pytest.importorskip("trl")
    from grpo_runner.train import trl_config

    config = load(name)
    arguments = trl_config(config, "cpu")
    assert arguments.num_generations == config.sampling.group_size
    assert arguments.generation_batch_size == config.sampling.batch_size
    assert arguments.beta == config.settings.beta
    assert arguments.use_vllm
    assert arguments.vllm_enable_sleep_mode


def test_the_seed_recipe_has_the_settings_of_its_time() -> None:
    """G = 8, beta 0.04, learning rate 5e-6, 512 tokens; loss and scaling named, since TRL's defaults moved."""
    config = load("seed-gsm8k")
    assert config.model.name == "deepseek-ai/deepseek-coder-6.7b-instruct"
    assert config.data.dataset == "gsm8k"
    assert config.sampling.group_size == 8
    assert config.sampling.max_new_tokens == 512
    assert config.learning_rate == 5e-6
    assert config.settings.beta == 0.04
    assert config.settings.loss == "grpo"
    assert config.settings.scale_rewards == "group"


def test_an_unknown_preset_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    """A typing slip gets the name that was meant."""
    with pytest.raises(ConfigError, match="did you mean 'a100-7b-lora'"):
        presets.path("a100-7b-lorra")
    assert main(["plan", "--preset", "a100-7b-lorra"]) == 2
    assert "a100-7b-lora" in capsys.readouterr().err


def test_plan_command_takes_a_preset_and_flags_over_it(capsys: pytest.CaptureFixture[str]) -> None:
    """`grpo-run plan --preset a100-7b-lora --model ...` plans the other model with the preset's settings."""
    assert main(["plan", "--preset", "a100-7b-lora", "--json"]) == 0
    seven = json.loads(capsys.readouterr().out)
    assert main(["plan", "--preset", "a100-7b-lora", "--model", "Qwen/Qwen2.5-14B-Instruct", "--json"]) in (0, 1)
    fourteen = json.loads(capsys.readouterr().out)
    assert fourteen["parameters"] > 1.9 * seven["parameters"]
    assert main(["plan", "--preset", "a100-7b-lora", "--gpu-memory", "24GB"]) == 1
    assert "DOES NOT FIT" in capsys.readouterr().out


# ---------------------------------------------------------------- names of another time


@pytest.mark.parametrize("name", sorted(RETIRED))
def test_retired_arguments_are_really_refused_or_ignored_by_trl(name: str, tmp_path: Path) -> None:
    """The table cannot lie: each is tried against the TRL that is installed."""
    trl = pytest.importorskip("trl")
    gone = RETIRED[name]
    if gone.owner == "GRPOTrainer":
        assert name not in inspect.signature(trl.GRPOTrainer.__init__).parameters
    elif gone.owner == "GRPOConfig":
        with pytest.raises(TypeError):
            trl.GRPOConfig(output_dir=str(tmp_path), **{name: None})
    else:
        torch = pytest.importorskip("torch")
        from trl.trainer.utils import create_model_from_path

        from grpo_runner.starter import CHECKPOINT

        # device_map only keeps TRL from asking for accelerate's.
        model = create_model_from_path(str(CHECKPOINT), device_map=None, **{name: torch.bfloat16})
        assert model.dtype == torch.float32


def test_remedies_name_settings_that_exist() -> None:
    """Every key path in a remedy is a setting of RunConfig."""
    keys = {key for key, _, _ in leaves()}
    texts = [*ELSEWHERE.values(), *(gone.remedy for gone in RETIRED.values())]
    for text in texts:
        for path in re.findall(r"\b[a-z]+\.[a-z_]+\b", text):
            assert path in keys, f"{path} in {text!r}"


BREAKS: list[tuple[str, str, str]] = [
    # What a script of January 2025 had, as it would be written here; what the answer must hold.
    ("[data]\nmax_prompt_length = 512", "data.max_prompt_length", "data.max_prompt_tokens"),
    ("max_prompt_length = 512", "max_prompt_length", "removed from TRL"),
    ('[model]\ntokenizer = "x"', "model.tokenizer", "leave it out"),
    ('reward_processing_class = "x"', "reward_processing_class", "reward_processing_classes"),
    ('[evaluation]\nevaluation_strategy = "steps"', "evaluation_strategy", "evaluation.every"),
    ('[sampling]\nvllm_device = "cuda:1"', "vllm_device", "vllm-server"),
    ("[algorithm]\nuse_liger_loss = true", "use_liger_loss", "never holds the logits"),
    ('[model]\ntorch_dtype = "bfloat16"', "torch_dtype", "ignored without a word"),
    ("[model]\nload_in_4bit = true", "load_in_4bit", "qlora"),
    ("[optimiser]\nper_device_train_batch_size = 4", "per_device_train_batch_size", "sampling.batch_size"),
    ("[optimiser]\ngradient_accumulation_steps = 2", "gradient_accumulation_steps", "sampling.batch_size"),
    ("[sampling]\nnum_generations = 8", "num_generations", "sampling.group_size"),
    ("[sampling]\nmax_completion_length = 512", "max_completion_length", "sampling.max_new_tokens"),
    ('[model]\nattn_implementation = "flash_attention_2"', "attn_implementation", "model.attention"),
    ('reward_funcs = ["accuracy_reward"]', "reward_funcs", "expression"),
    # One completion per forward pass and step for a group of eight.
    ("[sampling]\ngroup_size = 8\nbatch_size = 4", "sampling.group_size", "--batch-size 8"),
]


@pytest.mark.parametrize(("toml", "key", "remedy"), BREAKS, ids=[row[1] for row in BREAKS])
def test_a_break_of_the_seed_recipe_is_answered_with_its_remedy(
    toml: str, key: str, remedy: str, tmp_path: Path
) -> None:
    """Key path and remedy in one line, never a bare TypeError from inside TRL."""
    path = tmp_path / "old.toml"
    path.write_text(toml, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        RunConfig.load(path)
    assert key in str(caught.value)
    assert remedy in str(caught.value)


def test_flags_of_old_scripts_are_answered_too(capsys: pytest.CaptureFixture[str]) -> None:
    """The same answers on the command line."""
    assert main(["--max-prompt-length", "512", "--num-generations", "8"]) == 2
    text = capsys.readouterr().err
    assert "data.max_prompt_tokens" in text
    assert "sampling.group_size" in text


def test_names_that_are_not_from_trl_have_no_such_answer() -> None:
    """Our own names and plain slips are left to the nearest-name search."""
    assert explain("group_size") is None
    assert explain("learnin_rate") is None
    assert not set(RETIRED) & set(ELSEWHERE)


def test_string_checks_on_chat_data_are_no_trap_here() -> None:
    """`answer in completion` on a list of messages is silently 0; a verifier reads the text of the message."""
    reward = Reward.parse("math")
    chat = [{"role": "assistant", "content": "so \\boxed{4}"}]
    (result,) = reward.score([Sample(id="1", completion=chat, gold="4")])
    reward.close()
    assert result.reward == 1.0


@pytest.mark.slow
def test_the_seed_recipe_trains_two_steps_on_a_small_model(tmp_path: Path) -> None:
    """The preset itself, with a small model, local GSM8K-shaped rows and what a CPU lacks laid over it.

    Column `question`, worked solution with `#### 42` in `answer`, beta 0.04 with a reference model, loss grpo,
    learning rate 5e-6: two optimiser steps, and the reference is there (KL is reported).
    """
    pytest.importorskip("trl")
    from grpo_runner.starter import CHECKPOINT

    rows = [{"question": f"{a}+{b}=?", "answer": f"{a} and {b}\n#### {a + b}"} for a in range(11, 19) for b in (13, 24)]
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    out = tmp_path / "run"
    code = main(
        ["--preset", "seed-gsm8k", "--model", str(CHECKPOINT), "--dataset", str(data), "--engine", "transformers",
         "--optimiser", "adamw", "--dtype", "float32", "--device", "cpu", "--batch-size", "16", "--micro-batch", "8",
         "--steps", "2", "--max-new-tokens", "24", "--save-every", "0", "--eval-questions", "0", "--eval-every", "0",
         "--watch", "off", "--out", str(out), "--no-gradient-checkpointing"]
    )  # fmt: skip
    assert code == 0
    steps = [json.loads(line) for line in (out / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["step"] for row in steps] == [1, 2]
    assert all("kl" in row for row in steps)
    settings: dict[str, Any] = json.loads((out / "config.json").read_text(encoding="utf-8"))
    preset = tomllib.loads(presets.path("seed-gsm8k").read_text(encoding="utf-8"))
    assert settings["optimiser"]["learning_rate"] == preset["optimiser"]["learning_rate"] == 5e-6
    assert settings["algorithm"]["beta"] == 0.04
    assert (out / "report.html").is_file()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model.attention": "flash_attention_2"}, "flash_attn|flash-attn"),
        ({"model.method": "qlora"}, "qlora needs"),
        ({"optimiser.name": "adamw_8bit"}, "adamw_8bit needs"),
        ({"sampling.engine": "vllm-colocate"}, "vllm"),
        ({"model.liger": True}, "liger-kernel"),
        ({"record.report_to": ["wandb"]}, "pip install wandb"),
    ],
)
def test_what_a_setting_needs_is_named_before_a_model_loads(changes: dict[str, Any], message: str) -> None:
    """Packages and GPUs that are absent here, each with what to type or what to set instead."""
    from grpo_runner.launch import missing_packages

    found = missing_packages(RunConfig.load(None, changes), gpus=0)
    assert len(found) == 1, found
    assert re.search(message, found[0])
    assert "--" in found[0] or "pip install" in found[0]
