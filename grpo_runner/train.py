"""One training run: load, evaluate, train through TRL, evaluate again, and write down what happened.

With `trainer`, `callbacks` and `evaluate`, which it alone uses, this is the only place that knows torch and TRL.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import json
import logging
import os
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

# Before TRL: its import asks whether it may reach the Hub, and its notices are not about this run.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, PrinterCallback, ProgressCallback
from trl import GRPOConfig

from grpo_runner import curve, memory, report
from grpo_runner.callbacks import Midway, Recorder, StopWhenAsked, say_line
from grpo_runner.config import RunConfig
from grpo_runner.data import Questions, difficulty_of
from grpo_runner.evaluate import Accuracy, Evaluator
from grpo_runner.prompts import PromptSource
from grpo_runner.run_files import read_jsonl, write_jsonl
from grpo_runner.starter import CHECKPOINT
from grpo_runner.tokenizer_checks import as_prompt, prompt_text, wanted_tags
from grpo_runner.trainer import SOURCE_FILE, SignalTrainer
from grpo_runner.watch import Alert, Facts, Watch
from rewards.expression import Reward
from rewards.integrations.trl import TrlReward, chat_prefill
from rewards.scoring_process import RewardNotPortable, ScoringProcess
from rewards.verdict import Sample

_OPTIMISERS: Final[Mapping[str, str]] = {
    "adamw": "adamw_torch_fused",
    "adamw_8bit": "adamw_8bit",
    "adafactor": "adafactor",
    "sgd": "sgd",
}
_SCHEDULES: Final[Mapping[str, str]] = {
    "constant": "constant_with_warmup",
    "linear": "linear",
    "cosine": "cosine",
}
GPU_MICRO_BATCH: Final = 8
MALLOPT_TRIM_THRESHOLD: Final = -1
MALLOPT_MMAP_THRESHOLD: Final = -3
"""From glibc's malloc.h."""
KEPT_BLOCK_BYTES: Final = 1 << 30
KEPT_BYTES: Final = (1 << 31) - 1
"""The most that mallopt takes."""


class ModelError(ValueError):
    """A model that cannot be loaded or trained as asked; the message says what to do."""


@dataclass(slots=True)
class Summary:
    """What `summary.json` holds."""

    steps: int
    stopped: str | None
    before: Accuracy | None
    after: Accuracy | None
    seconds: dict[str, float]
    completions_generated: int
    model_folder: Path

    def as_row(self) -> dict[str, Any]:
        """JSON-plain."""
        return {
            "steps": self.steps,
            "stopped": self.stopped,
            "before": self.before.as_row() if self.before else None,
            "after": self.after.as_row() if self.after else None,
            "seconds": {name: round(spent, 2) for name, spent in self.seconds.items()},
            "completions_generated": self.completions_generated,
            "model": str(self.model_folder),
        }


# ---------------------------------------------------------------- model


def gpus_seen() -> int:
    """GPUs that torch sees on this machine."""
    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def device_of(config: RunConfig) -> str:
    """`cuda` or `cpu`.

    Raises:
        ModelError: a GPU is asked for and there is none.
    """
    available = torch.cuda.is_available()
    if config.device == "cuda" and not available:
        raise ModelError("device: cuda is asked for, and torch sees no GPU; use --device cpu or auto")
    return "cuda" if available and config.device != "cpu" else "cpu"


def model_name(config: RunConfig) -> str:
    """What transformers loads: the bundled starter, a folder, a Hub id, or a GGUF file made into a folder.

    Raises:
        ModelError: a GGUF file that cannot be read.
    """
    if config.model.name is None:
        return str(CHECKPOINT)
    if not config.model.name.endswith(".gguf"):
        return config.model.name
    return str(_from_gguf(Path(config.model.name), config.out / "base"))


def _from_gguf(file: Path, folder: Path) -> Path:
    """The weights of a GGUF file as an ordinary model folder, written once.

    transformers reads GGUF, but what it reads calls itself quantised and cannot be saved; so a plain model is built
    from the same config and given the same weights.
    """
    if (folder / "config.json").is_file():
        return folder
    if not file.is_file():
        raise ModelError(f"model.name: {file}: no such file")
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name)
        read = AutoModelForCausalLM.from_pretrained(str(file.parent), gguf_file=file.name, dtype=torch.float32)
        plain_config = copy.deepcopy(read.config)
        if hasattr(plain_config, "quantization_config"):
            del plain_config.quantization_config
        plain = type(read)(plain_config)
        plain.load_state_dict(read.state_dict())
    except ImportError as error:
        raise ModelError(f"model.name: a GGUF file needs the package gguf; pip install gguf ({error})") from None
    except Exception as error:
        raise ModelError(_cannot_load(str(file), error)) from None
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    plain.save_pretrained(part)
    tokenizer.save_pretrained(part)
    os.replace(part, folder)
    return folder


def load_tokenizer(config: RunConfig) -> Any:
    """The tokenizer of the model, through transformers.

    Raises:
        ModelError: it cannot be loaded.
    """
    name = model_name(config)
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            name, revision=config.model.revision, trust_remote_code=config.model.trust_remote_code
        )
    except Exception as error:  # transformers raises OSError, ValueError, ImportError and those of its parts
        raise ModelError(_cannot_load(name, error)) from None
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = "left"
    return tokenizer


def load_model(config: RunConfig, device: str) -> Any:
    """The model, through transformers, in the precision that the run trains it in.

    Raises:
        ModelError: it cannot be loaded, or a package that it needs is missing.
    """
    name = model_name(config)
    dtype = {
        "auto": torch.float32 if device == "cpu" or config.is_starter else torch.bfloat16,
        "float32": torch.float32,
        "bfloat16": torch.bfloat16,
        "float16": torch.float16,
    }[config.model.dtype]
    kwargs: dict[str, Any] = {
        "revision": config.model.revision,
        "trust_remote_code": config.model.trust_remote_code,
        "attn_implementation": _attention(config, device),
        # Named, because absent it means float32 under TRL and the checkpoint's own type under transformers.
        "dtype": dtype,
    }
    if config.model.method == "qlora":
        if device != "cuda":
            raise ModelError("model.method: qlora needs a GPU (bitsandbytes 4-bit kernels); use lora")
        try:
            import bitsandbytes  # noqa: F401
        except ImportError:
            raise ModelError("model.method: qlora needs bitsandbytes; pip install bitsandbytes") from None
        from transformers import BitsAndBytesConfig

        kwargs["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=torch.bfloat16,
        )
    try:
        return AutoModelForCausalLM.from_pretrained(name, **kwargs)
    except Exception as error:
        raise ModelError(_cannot_load(name, error)) from None


def _attention(config: RunConfig, device: str) -> str:
    if config.model.attention != "auto":
        if config.model.attention == "flash_attention_2" and not _has_flash_attention():
            raise ModelError(
                "model.attention: flash_attention_2 is asked for and flash-attn is not installed; "
                "use --attention sdpa, or pip install flash-attn"
            )
        return config.model.attention
    return "flash_attention_2" if device == "cuda" and _has_flash_attention() else "sdpa"


def _has_flash_attention() -> bool:
    from transformers.utils import is_flash_attn_2_available

    return bool(is_flash_attn_2_available())


def _cannot_load(name: str, error: Exception) -> str:
    first = (str(error).splitlines() or [""])[0][:200]
    if Path(name).exists():
        return f"model.name: {name}: {type(error).__name__}: {first}"
    if os.environ.get("HF_HUB_OFFLINE") or os.environ.get("TRANSFORMERS_OFFLINE"):
        return (
            f"model.name: {name!r} is no folder here, and HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is set, so the Hub "
            "is not asked and it is not in the cache; give a folder, or leave --model out for the bundled starter"
        )
    return (
        f"model.name: {name!r} is no folder here, and the Hub gave: {type(error).__name__}: {first}; "
        "without a network give a folder, or leave --model out for the bundled starter"
    )


def stop_ids(model: Any, tokenizer: Any) -> list[int]:
    """Every token that ends a completion: the tokenizer's and the model's end-of-sequence ids (as TRL takes them)."""
    declared = model.generation_config.eos_token_id
    ids = [] if declared is None else [declared] if isinstance(declared, int) else list(declared)
    own = tokenizer.eos_token_id
    return ids if own is None or own in ids else [own, *ids]


def as_conversation(sample: Sample, tokenizer: Any) -> Sample:
    """A plain question as a user message where the model has a chat template; else unchanged."""
    return replace(sample, prompt=as_prompt(sample, bool(getattr(tokenizer, "chat_template", None))))


def context_length(config: RunConfig) -> int | None:
    """The model's longest sequence in tokens, from its config alone; None where it does not say.

    Raises:
        ModelError: the config cannot be loaded.
    """
    name = model_name(config)
    try:
        loaded = AutoConfig.from_pretrained(
            name, revision=config.model.revision, trust_remote_code=config.model.trust_remote_code
        )
    except Exception as error:
        raise ModelError(_cannot_load(name, error)) from None
    length = getattr(loaded.get_text_config(), "max_position_embeddings", None)
    return int(length) if isinstance(length, int) else None


# ---------------------------------------------------------------- the run


def trl_config(config: RunConfig, device: str) -> GRPOConfig:
    """The run's settings as TRL takes them."""
    algorithm, sampling, optimiser = config.settings, config.sampling, config.optimiser
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    share = sampling.batch_size // processes
    micro = optimiser.micro_batch
    if micro is None:
        micro = share if device == "cpu" else max(m for m in range(1, GPU_MICRO_BATCH + 1) if share % m == 0)
    accumulation = share // micro
    on_gpu = device == "cuda"
    checkpointing = optimiser.gradient_checkpointing
    vllm: dict[str, Any] = {}
    if sampling.engine != "transformers":
        vllm = {
            "use_vllm": True,
            "vllm_mode": sampling.engine.removeprefix("vllm-"),
            "vllm_gpu_memory_utilization": sampling.vllm_memory_share,
            "vllm_enable_sleep_mode": sampling.vllm_sleep,
        }
        if config.data.max_prompt_tokens is not None:
            # Else vLLM takes the model's own limit, and its share must hold a cache of that length.
            vllm["vllm_max_model_length"] = config.data.max_prompt_tokens + sampling.max_new_tokens
        if sampling.vllm_server_url:
            vllm["vllm_server_base_url"] = sampling.vllm_server_url
    # Only the reference model is loaded by TRL; the policy is handed over ready.
    reference: dict[str, Any] = {}
    if config.model.trust_remote_code:
        reference["trust_remote_code"] = True
    if config.model.revision:
        reference["revision"] = config.model.revision
    return GRPOConfig(
        output_dir=str(config.out),
        seed=config.seed,
        use_cpu=not on_gpu,
        # Also with float32 weights: they are kept for small updates, the arithmetic is bf16 all the same.
        bf16=on_gpu and config.model.dtype != "float16" and not config.is_starter,
        fp16=on_gpu and config.model.dtype == "float16",
        dataloader_pin_memory=on_gpu,
        use_liger_kernel=on_gpu and config.model.liger,
        ddp_find_unused_parameters=False,  # every weight takes part; the search costs a pass over the graph
        per_device_train_batch_size=micro,
        gradient_accumulation_steps=accumulation,
        steps_per_generation=accumulation * algorithm.updates_per_generation,
        num_generations=sampling.group_size,
        num_iterations=config.algorithm.num_iterations,
        max_completion_length=sampling.max_new_tokens,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=sampling.top_k,
        min_p=sampling.min_p,
        max_steps=optimiser.steps,
        learning_rate=config.learning_rate,
        lr_scheduler_type=_SCHEDULES[optimiser.schedule],
        warmup_steps=optimiser.warmup_steps,
        max_grad_norm=optimiser.max_grad_norm,
        weight_decay=optimiser.weight_decay,
        optim=_OPTIMISERS[optimiser.name],
        gradient_checkpointing=on_gpu and not config.is_starter if checkpointing is None else checkpointing,
        loss_type=algorithm.loss,
        beta=algorithm.beta,
        epsilon=algorithm.epsilon,
        epsilon_high=algorithm.epsilon_high,
        delta=config.algorithm.delta,
        scale_rewards=algorithm.scale_rewards,
        importance_sampling_level=algorithm.importance,
        mask_truncated_completions=config.algorithm.mask_truncated,
        multi_objective_aggregation="normalize_then_sum" if config.algorithm.gdpo else "sum_then_normalize",
        model_init_kwargs=reference if reference and algorithm.beta else None,
        shuffle_dataset=False,  # the PromptSource orders
        logging_steps=1,
        log_level="error",
        disable_tqdm=True,
        report_to=config.record.report_to or "none",
        save_strategy="steps" if config.record.save_every else "no",
        save_steps=config.record.save_every or 500,
        save_total_limit=config.record.keep,
        **vllm,
    )


def run(
    config: RunConfig,
    reward: Reward,
    judge: Reward,
    train: Questions,
    held_out: Questions,
    say: Callable[[str], None] = say_line,
) -> Summary:
    """Train as configured; the reward and the data have passed preflight.

    Args:
        reward: what training maximises.
        judge: says which held-out answers are right; components it shares with `reward` are the same objects.
        say: takes each line for people.

    Raises:
        ModelError: the model cannot be loaded or trained, or the reward not be taken to a process of its own.
    """
    with scoring(config, reward, judge) as process:  # it loads the verifiers while we load the model
        return _run(config, reward, judge, train, held_out, process, say)


@contextlib.contextmanager
def scoring(config: RunConfig, *rewards: Reward) -> Iterator[ScoringProcess | None]:
    """The process in which batches are judged under their limit; None where the run has none."""
    if not config.scoring.batch_seconds:
        yield None
        return
    process = ScoringProcess(*rewards, batch_seconds=config.scoring.batch_seconds)
    try:
        process.start()
        yield process
    except RewardNotPortable as error:
        raise ModelError(f"reward: {error} (--scoring-seconds 0)") from None
    finally:
        process.close()


def _run(
    config: RunConfig,
    reward: Reward,
    judge: Reward,
    train: Questions,
    held_out: Questions,
    process: ScoringProcess | None,
    say: Callable[[str], None],
) -> Summary:
    began = time.perf_counter()
    _quiet(config)
    if config.threads is not None:
        torch.set_num_threads(config.threads)
    device = device_of(config)
    if device == "cpu":
        _keep_freed_memory()
    planned = _planned(config, device)
    transformers.set_seed(config.seed)
    tokenizer = load_tokenizer(config)
    model = load_model(config, device)
    stops = stop_ids(model, tokenizer)
    prefill = chat_prefill(tokenizer)
    questions = _fitting(config, [as_conversation(s, tokenizer) for s in train.samples], tokenizer, say)
    config.out.mkdir(parents=True, exist_ok=True)
    (config.out / "config.json").write_text(config.model_dump_json(indent=2) + "\n", encoding="utf-8")

    known_stops = {*stops, tokenizer.pad_token_id}
    function = TrlReward(reward, prefill=prefill, stop_token_ids=known_stops, process=process)
    functions, weights = ([function], [1.0])
    if config.algorithm.gdpo:
        functions, weights = function.split()  # type: ignore[assignment]
    arguments = trl_config(config, device)
    arguments.reward_weights = weights
    rates = [difficulty_of(s, config.data.difficulty_column) for s in questions]
    source = PromptSource(len(questions), config.seed, config.data.curriculum, rates, config.sampling.resample)
    batches = -(-config.optimiser.steps // config.updates_per_batch)
    primary = primary_component(reward)
    stopper = StopWhenAsked()

    def alarm(alert: Alert) -> None:
        stopper.reason = stopper.reason or alert.message

    recorder = Recorder(
        config.out,
        list(reward.components),
        config.optimiser.steps,
        config.record.completions_every,
        say,
        watch=_watch(config, reward, primary, questions, tokenizer, prefill),
        alarm=alarm if config.watch.action == "stop" else None,
    )
    trainer = SignalTrainer(
        model=model,
        reward_funcs=functions,
        args=arguments,
        processing_class=tokenizer,
        peft_config=_adapter(config),
        callbacks=[recorder, stopper],
        rows=[
            {"prompt": s.prompt, "id": s.id, "gold": s.gold, "tests": s.tests, "task": s.task, "meta": dict(s.meta)}
            for s in questions
        ],
        source=source,
        primary=(primary, reward.components[primary].range),
        questions_asked=batches * config.prompts_per_generation,
        resample_budget=config.sampling.resample_budget if config.sampling.resample else None,
        row_seeds=config.sampling.row_seeds,
    )
    trainer.remove_callback(PrinterCallback)
    trainer.remove_callback(ProgressCallback)
    main = trainer.accelerator.is_main_process
    say_main = say if main else _silent
    evaluator = _evaluator(config, judge, held_out, tokenizer, prefill, stops, process)
    evaluations: dict[int, Accuracy] = {}
    checkpoint = last_checkpoint(config.out) if config.resume else None
    if config.resume and checkpoint is None:
        say_main(f"no checkpoint in {config.out}; starting from the beginning")
    first = int(checkpoint.name.rpartition("-")[2]) if checkpoint is not None else 0
    notes = config.out / "evaluations.jsonl"
    earlier = [row for row in read_jsonl(notes) if row["step"] < first or (first and row["when"] == "before")]
    if main:
        write_jsonl(notes, earlier)

    def note(step: int, accuracy: Accuracy, when: str = "during") -> None:
        evaluations[step] = accuracy
        if main:
            with notes.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"step": step, "when": when, **accuracy.as_row()}) + "\n")
            if when != "during":
                write_jsonl(config.out / f"answers-{when}.jsonl", accuracy.rows)
            say_main(_accuracy_line(f"held-out {when}" if when != "during" else f"held-out at step {step}", accuracy))

    say_main(_opening(config, model, tokenizer, train, held_out, len(questions), device))
    spent = {"loading": time.perf_counter() - began, "evaluation": 0.0}
    before = after = None
    wanted = len(held_out) > 0
    if wanted and checkpoint is None:
        clock = time.perf_counter()
        before = evaluator.run(trainer.model, config.evaluation.samples)
        note(0, before, "before")
        spent["evaluation"] += time.perf_counter() - clock
    if wanted and config.evaluation.every:
        trainer.add_callback(Midway(evaluator, config.evaluation.every, note))
    recorder.start(trainer, first)
    clock = time.perf_counter()
    with _stop_on_interrupt(stopper, say_main):
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint is not None else None)
    spent["training"] = time.perf_counter() - clock
    if stopper.reason is not None and not _has_checkpoint(config.out, trainer.state.global_step):
        trainer._save_checkpoint(trainer.model, None)
        say_main(f"stopped: {stopper.reason}; checkpoint of step {trainer.state.global_step} written, --resume goes on")
    folder = config.out / ("adapter" if config.model.method != "full" else "model")
    trainer.save_model(str(folder))
    if main:
        tokenizer.save_pretrained(folder)
    if wanted:
        clock = time.perf_counter()
        after = evaluator.run(trainer.model, config.evaluation.samples)
        note(trainer.state.global_step, after, "after")
        spent["evaluation"] += time.perf_counter() - clock
    if config.record.merge:
        folder = _merged(trainer, config.out / "model", tokenizer, main)
    spent["total"] = time.perf_counter() - began
    summary = Summary(
        steps=trainer.state.global_step,
        stopped=stopper.reason,
        before=before,
        after=after,
        seconds=spent,
        completions_generated=int(sum(row.get("completions_generated", 0) for row in recorder.rows)),
        model_folder=folder,
    )
    if main:
        accuracies = {row["step"]: row["greedy"] for row in read_jsonl(notes)}
        curve.draw(config.out / "reward.png", recorder.rows, list(reward.components), accuracies)
        (config.out / "summary.json").write_text(json.dumps(summary.as_row(), indent=2) + "\n", encoding="utf-8")
        if planned is not None:
            say_main(memory.compare(planned, torch.cuda.max_memory_allocated()))
        report.write(config.out)
        say_main(_closing(summary, config))
    if trainer.accelerator.num_processes > 1:
        # A process that leaves while gloo's threads still wait for another aborts at exit, and the whole run with it.
        trainer.accelerator.wait_for_everyone()
        trainer.accelerator.end_training()
    return summary


def primary_component(reward: Reward) -> str:
    """The component that says what is right: the first that reads a gold or tests, else the first."""
    judging = (key for key, verifier in reward.components.items() if {"gold", "tests"} & set(verifier.needs))
    return next(judging, next(iter(reward.components)))


def _watch(
    config: RunConfig, reward: Reward, primary: str, questions: Sequence[Sample], tokenizer: Any, prefill: str
) -> Watch | None:
    if config.watch.action == "off":
        return None
    lowest, highest = reward.components[primary].range
    shown = "\n".join(prompt_text(tokenizer, s.prompt) for s in questions[:8])
    tags = {key: tags for key, tags in wanted_tags(reward).items() if tags}
    facts = Facts(primary, lowest, highest, tags, shown + prefill, config.sampling.max_new_tokens)
    return Watch(facts, config.watch.patience)


def _evaluator(
    config: RunConfig,
    judge: Reward,
    held_out: Questions,
    tokenizer: Any,
    prefill: str,
    stops: Sequence[int],
    process: ScoringProcess | None,
) -> Evaluator:
    return Evaluator(
        judge,
        [as_conversation(s, tokenizer) for s in held_out.samples],
        tokenizer,
        prefill=prefill,
        stop_token_ids=stops,
        max_new_tokens=config.sampling.max_new_tokens,
        temperature=config.sampling.temperature,
        top_p=config.sampling.top_p,
        top_k=config.sampling.top_k,
        min_p=config.sampling.min_p,
        seed=config.seed,
        score=None if process is None else lambda samples: process.score(samples, judge),
    )


def _asked(
    config: RunConfig, judge: Reward, questions: Questions, process: ScoringProcess | None
) -> tuple[Any, Evaluator]:
    """A model to ask, and the evaluator that asks it these questions."""
    _quiet(config)
    if config.threads is not None:
        torch.set_num_threads(config.threads)
    device = device_of(config)
    tokenizer = load_tokenizer(config)
    model = load_model(config, device).to(device)
    stops = stop_ids(model, tokenizer)
    return model, _evaluator(config, judge, questions, tokenizer, chat_prefill(tokenizer), stops, process)


def evaluate(config: RunConfig, judge: Reward, held_out: Questions, say: Callable[[str], None] = say_line) -> Accuracy:
    """`grpo-run eval`: held-out accuracy of a model as it is; the answers go to `out`/answers-eval.jsonl.

    Raises:
        ModelError: the model cannot be loaded, or there are no questions.
    """
    if not len(held_out):
        raise ModelError("evaluation.questions: 0 held-out questions; give a number above 0")
    with scoring(config, judge) as process:
        model, evaluator = _asked(config, judge, held_out, process)
        accuracy = evaluator.run(model, config.evaluation.samples)
    config.out.mkdir(parents=True, exist_ok=True)
    write_jsonl(config.out / "answers-eval.jsonl", accuracy.rows)
    (config.out / "evaluation.json").write_text(json.dumps(accuracy.as_row(), indent=2) + "\n", encoding="utf-8")
    say(f"held out  {held_out.origin}; judged by {judge.text}")
    say(_accuracy_line("accuracy", accuracy))
    return accuracy


def measure(config: RunConfig, judge: Reward, questions: Questions, draws: int) -> list[float | None]:
    """`grpo-run difficulty`: share of right answers per question among `draws`; None where none could be scored.

    Raises:
        ModelError: the model cannot be loaded.
    """
    with scoring(config, judge) as process:
        model, evaluator = _asked(config, judge, questions, process)
        answers = evaluator.answer(model, draws, greedy=False)
        results = evaluator.judge([answer for group in answers for answer in group])
    rates: list[float | None] = []
    for start in range(0, len(results), draws):
        known = [r for result in results[start : start + draws] if (r := evaluator.is_right(result)) is not None]
        rates.append(sum(known) / len(known) if known else None)
    return rates


def _planned(config: RunConfig, device: str) -> memory.MemoryPlan | None:
    """The memory plan for this GPU; None on a CPU.

    Raises:
        ModelError: the run cannot fit; what would is named.
    """
    if device != "cuda":
        return None
    try:
        return memory.refuse_if_too_big(config, torch.cuda.mem_get_info()[1])
    except memory.DoesNotFit as error:
        raise ModelError(str(error)) from None


def last_checkpoint(out: Path) -> Path | None:
    """The newest whole checkpoint of a run; one that a kill cut short does not count."""
    found = [
        path
        for path in out.glob("checkpoint-*")
        if path.name.rpartition("-")[2].isdigit() and (path / SOURCE_FILE).is_file()
    ]
    return max(found, key=lambda path: int(path.name.rpartition("-")[2]), default=None)


def _has_checkpoint(out: Path, step: int) -> bool:
    return (out / f"checkpoint-{step}" / SOURCE_FILE).is_file()


def _fitting(config: RunConfig, samples: Sequence[Sample], tokenizer: Any, say: Callable[[str], None]) -> list[Sample]:
    from grpo_runner.evaluate import encode

    limit = config.data.max_prompt_tokens
    if limit is None:
        return list(samples)
    kept = [s for s in samples if len(encode(tokenizer, s.prompt)) <= limit]
    if len(kept) < len(samples):
        say(f"{len(samples) - len(kept)} of {len(samples)} questions are longer than {limit} tokens and left out")
    if len(kept) < config.prompts_per_generation:
        raise ModelError(
            f"data.max_prompt_tokens: {len(kept)} questions have at most {limit} tokens, one generated batch takes "
            f"{config.prompts_per_generation}"
        )
    return kept


def _adapter(config: RunConfig) -> Any:
    if config.model.method == "full":
        return None
    try:
        from peft import LoraConfig
    except ImportError:
        raise ModelError("model.method: an adapter needs peft; pip install 'grpo-rewards[train]'") from None
    targets = config.model.lora_targets
    return LoraConfig(
        r=config.model.lora_rank,
        lora_alpha=config.model.lora_alpha,
        lora_dropout=config.model.lora_dropout,
        target_modules=targets if targets == "all-linear" else [name.strip() for name in targets.split(",")],
        task_type="CAUSAL_LM",
    )


def _merged(trainer: SignalTrainer, folder: Path, tokenizer: Any, main: bool) -> Path:
    """The adapter's changes added into the weights, as an ordinary model folder. The last thing a run does."""
    merged = trainer.accelerator.unwrap_model(trainer.model).merge_and_unload()
    if main:
        merged.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return folder


@contextlib.contextmanager
def _stop_on_interrupt(stopper: StopWhenAsked, say: Callable[[str], None]) -> Iterator[None]:
    """The first Ctrl-C ends the run after the step in hand, with a checkpoint; the second one at once."""

    def on_interrupt(number: int, frame: Any) -> None:
        if stopper.reason is not None:
            raise KeyboardInterrupt
        stopper.reason = "interrupted"
        say("interrupted: finishing this step (again to stop at once)")

    try:
        old = signal.signal(signal.SIGINT, on_interrupt)
    except ValueError:  # not the main thread: whoever runs us handles the keyboard
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, old)


def _opening(
    config: RunConfig, model: Any, tokenizer: Any, train: Questions, held_out: Questions, count: int, device: str
) -> str:
    size = sum(p.numel() for p in model.parameters())
    name = "the bundled starter" if config.is_starter else config.model.name
    algorithm = config.settings
    return (
        f"model     {name}: {size / 1e6:.2f} M parameters, {config.model.method}, {model.dtype}, on {device}\n"
        f"train     {train.origin}" + (f", {count} fit" if count != len(train) else "") + "\n"
        f"held out  {held_out.origin}\n"
        f"reward    {config.reward}\n"
        f"algorithm {config.algorithm.name}: beta {algorithm.beta:g}, epsilon {algorithm.epsilon:g}"
        + (f"/{algorithm.epsilon_high:g}" if algorithm.epsilon_high is not None else "")
        + f", {config.prompts_per_step} questions x {config.sampling.group_size} completions a step, "
        f"learning rate {config.learning_rate:g}"
    )


def _accuracy_line(title: str, accuracy: Accuracy) -> str:
    text = f"{title}: greedy {accuracy.greedy} of {accuracy.questions} questions"
    k = accuracy.samples
    if accuracy.pass_1 is not None:
        text += f"; pass@1 {accuracy.pass_1}, pass@{k} {accuracy.pass_k}"
    if accuracy.maj_k is not None:
        text += f", maj@{k} {accuracy.maj_k}"
    if accuracy.unscored:
        text += f"; {accuracy.unscored} unscored"
    return text


def _closing(summary: Summary, config: RunConfig) -> str:
    lines = []
    if summary.before is not None and summary.after is not None:
        lines.append(
            f"held-out greedy accuracy {summary.before.greedy.value:.1%} -> {summary.after.greedy.value:.1%} "
            f"in {summary.steps} steps, {summary.completions_generated} completions, {summary.seconds['total']:.0f} s"
        )
    lines.append(
        f"written   {config.out}: {summary.model_folder.name}/, report.html, metrics.jsonl, completions/, reward.png"
    )
    return "\n".join(lines)


def _silent(text: str) -> None:
    return None


def _keep_freed_memory() -> None:
    """Let glibc keep what is freed: by default each step gives its activations back and faults the pages in again.

    On the starter that is 14,500 page faults a step, a tenth of its time (`tests/benchmarks/step_overhead.py`). Other C
    libraries have other knobs and stay as they are.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(MALLOPT_MMAP_THRESHOLD, KEPT_BLOCK_BYTES)
        mallopt(MALLOPT_TRIM_THRESHOLD, KEPT_BYTES)


def _quiet(config: RunConfig) -> None:
    transformers.utils.logging.set_verbosity_error()
    if config.is_starter:
        transformers.utils.logging.disable_progress_bar()
    # TRL prints a whole row for every step in which one has no reward; ours counts them and the watch names the cause.
    logging.getLogger("trl.trainer.grpo_trainer").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", category=FutureWarning, module=r"(trl|transformers|accelerate|peft)\..*")
