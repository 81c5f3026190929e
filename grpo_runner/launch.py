"""Past one process, through accelerate: write its config file, then become `accelerate launch`.

There is no launcher of ours. The file is an ordinary accelerate config in the run's folder; it can be edited and used
again with `accelerate launch --config_file FILE -m grpo_runner.cli ...`, also on several machines.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from grpo_runner.config import ConfigError, RunConfig

FILE_NAME: Final = "accelerate.yaml"
MODULE: Final = "grpo_runner.cli"
SERVER_SECONDS: Final = 5.0


def under_accelerate() -> bool:
    """True inside a process that a launcher started."""
    return "LOCAL_RANK" in os.environ and "WORLD_SIZE" in os.environ


def wanted(config: RunConfig) -> bool:
    """True when this process should hand over to accelerate."""
    return config.launch.launcher == "accelerate" and not under_accelerate()


def accelerate_config(config: RunConfig, *, gpu: bool) -> dict[str, Any]:
    """What accelerate reads, as `accelerate config` would write it; `gpu=False` starts CPU processes over gloo."""
    strategy = config.launch.strategy
    mixed = "no"
    if gpu and config.model.dtype != "float16" and not config.is_starter:
        mixed = "bf16"
    elif gpu and config.model.dtype == "float16":
        mixed = "fp16"
    values: dict[str, Any] = {
        "compute_environment": "LOCAL_MACHINE",
        "debug": False,
        # accelerate starts several CPU processes of one machine only this way (its MULTI_CPU wants an MPI); with
        # use_cpu the processes themselves choose gloo.
        "distributed_type": "MULTI_GPU",
        "downcast_bf16": "no",
        "enable_cpu_affinity": False,
        "machine_rank": 0,
        "main_process_port": 0,  # a free one, so that two runs on one machine do not meet
        "main_training_function": "main",
        "mixed_precision": mixed,
        "num_machines": 1,
        "num_processes": config.launch.num_processes,
        "rdzv_backend": "static",
        "same_network": True,
        "use_cpu": not gpu,
    }
    if strategy == "fsdp":
        values["distributed_type"] = "FSDP"
        values["fsdp_config"] = {
            "fsdp_version": 2,
            "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
            "fsdp_reshard_after_forward": True,
            "fsdp_cpu_ram_efficient_loading": True,
            "fsdp_offload_params": False,
            "fsdp_activation_checkpointing": False,  # the model's own checkpointing is on already
            "fsdp_state_dict_type": "FULL_STATE_DICT",  # so that the saved model is an ordinary folder
        }
    elif strategy.startswith("deepspeed"):
        stage = int(strategy[-1])
        values["distributed_type"] = "DEEPSPEED"
        values["deepspeed_config"] = {
            "zero_stage": stage,
            "offload_optimizer_device": "none",
            "offload_param_device": "none",
            "zero3_init_flag": stage == 3,
            "deepspeed_multinode_launcher": "standard",
        }
        if stage == 3:
            values["deepspeed_config"]["zero3_save_16bit_model"] = True
    return values


def as_yaml(values: dict[str, Any], indent: str = "") -> str:
    """Nested dicts of text, numbers and booleans as YAML."""
    lines = []
    for key, value in values.items():
        if isinstance(value, dict):
            lines.append(f"{indent}{key}:\n" + as_yaml(value, indent + "  ").rstrip("\n"))
        else:
            shown = str(value).lower() if isinstance(value, bool) else f"'{value}'" if value == "no" else str(value)
            lines.append(f"{indent}{key}: {shown}")
    return "\n".join(lines) + "\n"


def problems(config: RunConfig, *, gpus: int) -> list[str]:
    """What would make the launch fail or train something else than asked, one line each."""
    launch, found = config.launch, []
    on_gpu = gpus > 0 and config.device != "cpu"
    if importlib.util.find_spec("accelerate") is None:
        found.append("launch.launcher: accelerate is not installed; pip install 'grpo-rewards[train]'")
    if on_gpu and launch.num_processes > gpus:
        found.append(
            f"launch.num_processes: {launch.num_processes}, and this machine has {gpus} GPU{'s' * (gpus != 1)}; one "
            "process drives one GPU"
        )
    if launch.strategy != "ddp" and not on_gpu:
        found.append(f"launch.strategy: {launch.strategy} needs GPUs; on CPUs use --strategy ddp")
    if launch.strategy.startswith("deepspeed") and importlib.util.find_spec("deepspeed") is None:
        found.append(f"launch.strategy: {launch.strategy} needs deepspeed; pip install deepspeed, or --strategy fsdp")
    if config.model.method == "qlora" and launch.strategy in {"fsdp", "deepspeed-zero3"}:
        found.append(
            f"launch.strategy: {launch.strategy} shards weights, and 4-bit weights do not shard; use --strategy ddp or "
            "deepspeed-zero2, or --method lora"
        )
    return found


def command(words: Sequence[str], file: Path) -> list[str]:
    """The `accelerate launch` that runs `grpo-run` with the same words in every process."""
    launcher = [sys.executable, "-m", "accelerate.commands.launch", "--config_file", str(file)]
    return [*launcher, "-m", MODULE, "train", *words]


def start(config: RunConfig, words: Sequence[str], *, gpus: int) -> NoReturn:
    """Write the file and replace this process by accelerate's.

    Raises:
        ConfigError: the launch cannot work; every reason is named.
    """
    if found := problems(config, gpus=gpus):
        raise ConfigError(found)
    config.out.mkdir(parents=True, exist_ok=True)
    file = config.out / FILE_NAME
    file.write_text(as_yaml(accelerate_config(config, gpu=gpus > 0 and config.device != "cpu")), encoding="utf-8")
    environment = dict(os.environ)
    if config.threads is not None:
        environment["OMP_NUM_THREADS"] = str(config.threads)
    environment.setdefault("OMP_NUM_THREADS", "1")
    # `-m grpo_runner.cli` must find the package in the children too when it is run from a checkout.
    root = str(Path(__file__).resolve().parents[1])
    environment["PYTHONPATH"] = os.pathsep.join([root, *filter(None, [environment.get("PYTHONPATH")])])
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, command(words, file), environment)


def server_command(config: RunConfig) -> str:
    """The command that starts the vLLM server for this run, on a GPU of its own."""
    length = (config.data.max_prompt_tokens or 512) + config.sampling.max_new_tokens
    return (
        f"CUDA_VISIBLE_DEVICES=1 trl vllm-serve --model {config.model.name or 'MODEL'} --max-model-len {length} "
        "--logprobs-mode processed_logprobs"
    )


def check_server(config: RunConfig) -> None:
    """Ask the vLLM server for its health before a model loads. Nothing is done for other engines.

    Raises:
        ConfigError: it does not answer within `SERVER_SECONDS`; the message has the command that starts it.
    """
    if config.sampling.engine != "vllm-server":
        return
    url = str(config.sampling.vllm_server_url).rstrip("/")
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=SERVER_SECONDS):
            return
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise ConfigError(
            [
                f"sampling.vllm_server_url: no vLLM server answers at {url} ({getattr(error, 'reason', error)}); "
                f"start it first:\n  {server_command(config)}"
            ]
        ) from None


def missing_packages(config: RunConfig, *, gpus: int) -> list[str]:
    """Packages that the settings need and that are not installed, each with what to type or change."""
    found = []

    def absent(name: str) -> bool:
        return importlib.util.find_spec(name) is None

    if config.sampling.engine == "vllm-colocate":
        if gpus == 0 or config.device == "cpu":
            found.append("sampling.engine: vllm-colocate needs a GPU; use --engine transformers")
        elif absent("vllm"):
            found.append("sampling.engine: vllm-colocate needs vllm; pip install vllm, or --engine transformers")
    if config.optimiser.name == "adamw_8bit":
        if gpus == 0 or config.device == "cpu":
            found.append("optimiser.name: adamw_8bit needs a GPU; use --optimiser adamw")
        elif absent("bitsandbytes"):
            found.append(
                "optimiser.name: adamw_8bit needs bitsandbytes; pip install bitsandbytes, or --optimiser adamw"
            )
    if config.model.method == "qlora":
        if gpus == 0 or config.device == "cpu":
            found.append("model.method: qlora needs a GPU; use --method lora")
        elif absent("bitsandbytes"):
            found.append("model.method: qlora needs bitsandbytes; pip install bitsandbytes, or --method lora")
    if config.model.method != "full" and absent("peft"):
        found.append("model.method: an adapter needs peft; pip install 'grpo-rewards[train]'")
    if config.model.attention == "flash_attention_2" and absent("flash_attn"):
        found.append("model.attention: flash_attention_2 needs flash-attn; pip install flash-attn, or --attention auto")
    if config.model.liger and absent("liger_kernel"):
        found.append("model.liger: needs liger-kernel; pip install liger-kernel, or --no-liger")
    for name in config.record.report_to:
        if absent(name) and (name != "tensorboard" or absent("tensorboardX")):
            found.append(f"record.report_to: {name} is not installed; pip install {name}, or leave it out")
    return found
