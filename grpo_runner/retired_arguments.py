"""Names from TRL scripts, old and new, and what to write here instead.

`RETIRED` are arguments that TRL 1.16 refuses or, worse, ignores; a test tries each against TRL itself. `ELSEWHERE` are
names that TRL still has and that are spelled otherwise here. `explain` serves both to the TOML and the flag parser, so
that a pasted script or a recipe of January 2025 is answered with a remedy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Retired:
    """An argument that TRL 1.16 no longer takes.

    Attributes:
        owner: where it was given.
        fate: what TRL 1.16 does with it.
        remedy: what to do instead, in settings of `grpo-run`.
    """

    owner: Literal["GRPOConfig", "GRPOTrainer", "model_init_kwargs"]
    fate: Literal["TypeError", "ignored"]
    remedy: str


RETIRED: Final[Mapping[str, Retired]] = {
    "max_prompt_length": Retired(
        "GRPOConfig", "TypeError", "TRL no longer cuts prompts; set data.max_prompt_tokens to leave long ones out"
    ),
    "tokenizer": Retired("GRPOTrainer", "TypeError", "leave it out: the tokenizer of model.name is used"),
    "reward_processing_class": Retired(
        "GRPOTrainer",
        "TypeError",
        "leave it out: rewards here are rules, not models (TRL's is reward_processing_classes)",
    ),
    "ref_model": Retired(
        "GRPOTrainer", "TypeError", "leave it out: set algorithm.beta above 0 and the starting model is the reference"
    ),
    "reward_model": Retired("GRPOTrainer", "TypeError", 'write a rule as `reward`, such as reward = "math+format"'),
    "reward_function": Retired("GRPOTrainer", "TypeError", 'write a rule as `reward`, such as reward = "math+format"'),
    "evaluation_strategy": Retired(
        "GRPOConfig", "TypeError", "set evaluation.every to a number of steps (TRL's own name now is eval_strategy)"
    ),
    "warmup_ratio": Retired("GRPOConfig", "TypeError", "set optimiser.warmup_steps"),
    "vllm_device": Retired(
        "GRPOConfig", "TypeError", "set sampling.engine to vllm-colocate (same GPU) or vllm-server (another one)"
    ),
    "vllm_max_model_len": Retired(
        "GRPOConfig", "TypeError", "leave it out: data.max_prompt_tokens + sampling.max_new_tokens is taken"
    ),
    "vllm_dtype": Retired("GRPOConfig", "TypeError", "set model.dtype; vLLM follows it"),
    "vllm_enable_prefix_caching": Retired("GRPOConfig", "TypeError", "leave it out: vLLM decides by itself"),
    "vllm_guided_decoding_regex": Retired(
        "GRPOConfig", "TypeError", "leave it out: check the form with a `pattern` or `format` reward instead"
    ),
    "use_liger_loss": Retired(
        "GRPOConfig", "TypeError", "leave it out: TRL 1.16 never holds the logits; see model.liger"
    ),
    "num_completions": Retired("GRPOConfig", "TypeError", "set sampling.group_size"),
    "max_length": Retired(
        "GRPOConfig", "TypeError", "set sampling.max_new_tokens for completions and data.max_prompt_tokens for prompts"
    ),
    "wandb_log_unique_prompts": Retired(
        "GRPOConfig", "TypeError", "leave it out: every completion is written as Parquet"
    ),
    "overwrite_output_dir": Retired(
        "GRPOConfig", "TypeError", "leave it out: name another folder with `out`, or resume"
    ),
    "no_cuda": Retired("GRPOConfig", "TypeError", "set device to cpu"),
    "group_by_length": Retired("GRPOConfig", "TypeError", "leave it out: prompts of a step are generated together"),
    "save_safetensors": Retired("GRPOConfig", "TypeError", "leave it out: models are always written as safetensors"),
    "logging_dir": Retired("GRPOConfig", "TypeError", "set out; TensorBoard writes below it"),
    "torch_dtype": Retired(
        "model_init_kwargs",
        "ignored",
        "set model.dtype (given as model_init_kwargs it is ignored without a word and the model loads in float32)",
    ),
}

ELSEWHERE: Final[Mapping[str, str]] = {
    "model_name_or_path": "model.name",
    "model_revision": "model.revision",
    "dtype": "model.dtype",
    "attn_implementation": "model.attention",
    "use_peft": 'model.method = "lora"',
    "lora_r": "model.lora_rank",
    "lora_target_modules": "model.lora_targets",
    "load_in_4bit": 'model.method = "qlora": 4-bit weights cannot be trained without an adapter',
    "load_in_8bit": 'model.method = "qlora"',
    "quantization_config": 'model.method = "qlora"',
    "use_liger_kernel": "model.liger",
    "use_liger": "model.liger",
    "dataset_name": "data.dataset",
    "dataset_config": "data.subset",
    "dataset_train_split": "data.split",
    "dataset_test_split": "data.eval_split",
    "reward_funcs": 'reward, an expression such as "math+format"',
    "reward_weights": 'reward, an expression such as "math + 0.25*format"',
    "num_generations": "sampling.group_size",
    "per_device_train_batch_size": "optimiser.micro_batch (one forward pass) and sampling.batch_size (one step)",
    "gradient_accumulation_steps": "sampling.batch_size, completions per step; the accumulation follows from it",
    "generation_batch_size": "sampling.batch_size and sampling.updates_per_generation",
    "steps_per_generation": "sampling.updates_per_generation",
    "max_completion_length": "sampling.max_new_tokens",
    "max_new_tokens": "sampling.max_new_tokens",
    "use_vllm": 'sampling.engine = "vllm-colocate" or "vllm-server"',
    "vllm_mode": 'sampling.engine = "vllm-colocate" or "vllm-server"',
    "vllm_gpu_memory_utilization": "sampling.vllm_memory_share",
    "vllm_enable_sleep_mode": "sampling.vllm_sleep",
    "vllm_server_base_url": "sampling.vllm_server_url",
    "loss_type": "algorithm.name",
    "importance_sampling_level": 'algorithm.name = "gspo" for sequence level',
    "mask_truncated_completions": "algorithm.mask_truncated",
    "multi_objective_aggregation": "algorithm.gdpo",
    "max_steps": "optimiser.steps",
    "num_train_epochs": "optimiser.steps: a run is counted in optimiser steps",
    "lr_scheduler_type": "optimiser.schedule",
    "optim": "optimiser.name",
    "optimizer": "optimiser.name, and a section of a config file is [optimiser]",
    "bf16": "model.dtype",
    "fp16": "model.dtype",
    "eval_strategy": "evaluation.every",
    "eval_steps": "evaluation.every",
    "save_steps": "record.save_every",
    "save_strategy": "record.save_every",
    "save_total_limit": "record.keep",
    "log_completions": "record.completions_every",
    "output_dir": "out",
    "resume_from_checkpoint": "resume",
    "run_name": "out",
    "deepspeed": 'launch.strategy = "deepspeed-zero2" or "deepspeed-zero3"',
    "fsdp": 'launch.strategy = "fsdp"',
}
"""TRL's name to ours."""


def explain(name: str) -> str | None:
    """What to write instead of a name from TRL; None when it is not one. Dashes count as underscores."""
    key = name.removeprefix("--").replace("-", "_")
    if (gone := RETIRED.get(key)) is not None:
        fate = "is ignored by" if gone.fate == "ignored" else "was removed from"
        return f"{key} {fate} TRL ({gone.owner}); {gone.remedy}"
    if (ours := ELSEWHERE.get(key)) is not None:
        return f"TRL's {key} is {ours} here"
    return None
