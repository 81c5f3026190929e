"""`RunConfig`: everything that decides a run, from a TOML file and command-line flags, checked at once.

Every leaf field is a key of the TOML file (`[sampling] group_size = 8`) and a flag (`--group-size 8`); the
flags are made from the fields, so the two cannot drift apart. Errors are collected: each names its key path,
what was given, what is allowed.
"""

from __future__ import annotations

import argparse
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from grpo_runner.retired_arguments import explain
from rewards.registry import nearest

Difficulty = tuple[float, float]
STARTER_NEW_TOKENS: Final = 32


class ConfigError(ValueError):
    """One or more settings that cannot be used; `problems` holds a line for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(self.problems))


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A published algorithm as TRL 1.16 settings; any of these may be overridden key by key.

    Attributes:
        loss: TRL's `loss_type`.
        beta: weight of the KL term to the reference model; 0 means no reference is loaded.
        source: the paper the defaults are taken from.
    """

    loss: str
    source: str
    beta: float = 0.0
    epsilon: float = 0.2
    epsilon_high: float | None = None
    scale_rewards: Literal["group", "batch", "none"] = "group"
    importance: Literal["token", "sequence"] = "token"
    updates_per_generation: int = 1


ALGORITHMS: Final[Mapping[str, Algorithm]] = {
    "grpo": Algorithm("grpo", "DeepSeekMath, arXiv 2402.03300, section 4.1.2: beta 0.04, epsilon 0.2", beta=0.04),
    "dr_grpo": Algorithm(
        "dr_grpo", "Understanding R1-Zero, arXiv 2503.20783: no length mean, no std scaling", scale_rewards="none"
    ),
    "dapo": Algorithm(
        "dapo", "DAPO, arXiv 2503.14476, section 4.1: token-level loss, epsilon 0.2/0.28, no KL", epsilon_high=0.28
    ),
    "bnpo": Algorithm("bnpo", "TRL 1.16, loss_type bnpo: token mean over the local batch, DAPO's when there is one"),
    "gspo": Algorithm(
        "grpo",
        "GSPO, arXiv 2507.18071, section 5.1: sequence-level ratio, epsilon 3e-4/4e-4, 4 updates per batch",
        epsilon=3e-4,
        epsilon_high=4e-4,
        importance="sequence",
        updates_per_generation=4,
    ),
    "cispo": Algorithm(
        "cispo",
        "MiniMax-M1, arXiv 2506.13585; clip value of ScaleRL, arXiv 2510.13786",
        epsilon_high=5.0,
    ),
    "sapo": Algorithm("sapo", "SAPO, arXiv 2511.20347: soft gate, temperatures 1.0/1.05"),
    "luspo": Algorithm(
        "luspo",
        "LUSPO, arXiv 2602.05261: sequence-level ratio, no length bias; TRL 1.16's clipping",
        importance="sequence",
    ),
    "vespo": Algorithm("vespo", "VESPO, arXiv 2602.10693: gamma-weighted sequence importance"),
}


def _band(value: Any) -> Any:
    """`"0.1..0.9"` to `(0.1, 0.9)`."""
    if isinstance(value, str):
        below, dots, above = value.partition("..")
        try:
            value = (float(below), float(above))
        except ValueError:
            dots = ""
        if not dots:
            raise PydanticCustomError("band", "write it as LOW..HIGH, such as 0.1..0.9")
    if isinstance(value, list | tuple) and len(value) == 2:
        low, high = (float(x) for x in value)
        if not 0 <= low < high <= 1:
            raise PydanticCustomError("band", "needs 0 <= LOW < HIGH <= 1")
        return (low, high)
    return value


def _field(default: Any, help: str, flag: str | None = None, **limits: Any) -> Any:
    # Mutable defaults are copied by pydantic, so one helper serves all.
    return Field(default, description=help, json_schema_extra={"flag": flag} if flag else None, **limits)


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", validate_default=False, protected_namespaces=())


class ModelConfig(_Section):
    """[model]: what is trained, and which part of it."""

    name: str | None = _field(None, "model folder or Hub id; absent means the bundled starter", "model")
    revision: str | None = _field(None, "branch, tag or commit of the Hub model")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = _field(
        "auto", "weights in memory; auto is float32 on a CPU and bfloat16 on a GPU"
    )
    method: Literal["full", "lora", "qlora"] = _field("full", "train all weights, an adapter, or one on 4-bit weights")
    lora_rank: int = _field(32, "rank of the adapter", ge=1)
    lora_alpha: int = _field(64, "scale of the adapter: alpha / rank", ge=1)
    lora_dropout: float = _field(0.0, "dropout inside the adapter", ge=0, lt=1)
    lora_targets: str = _field("all-linear", "modules that get an adapter: all-linear, or names joined by commas")
    attention: Literal["auto", "sdpa", "flash_attention_2", "eager"] = _field(
        "auto", "attention kernel; auto takes flash_attention_2 where it is installed, else sdpa"
    )
    liger: bool = _field(False, "use the fused layer kernels of liger-kernel (GPU only)")
    trust_remote_code: bool = _field(False, "run Python code that comes with the model")


class DataConfig(_Section):
    """[data]: where the questions come from and which column is what."""

    dataset: str | None = _field(
        None,
        "file (.jsonl[.gz], .json, .parquet, .csv), folder, Hub id or card name; absent means generated arithmetic",
    )
    subset: str | None = _field(None, "configuration of a Hub data set, such as `main` of openai/gsm8k")
    split: str = _field("train", "split that is trained on")
    eval_dataset: str | None = _field(None, "held-out questions; absent means `eval_split` of the same data set")
    eval_split: str | None = _field(
        None, "split that is evaluated on; absent means test, validation, or rows set aside"
    )
    prompt_column: str | None = _field(None, "column with the question or the chat messages; absent means found")
    gold_column: str | None = _field(None, "column with the reference answer; absent means found")
    tests_column: str | None = _field(None, "column with the tests that judge code")
    task_column: str | None = _field(None, "column with the task name for route(...)")
    system_prompt: str | None = _field(None, "system message put before every question")
    max_prompt_tokens: int | None = _field(None, "longer prompts are left out, and counted", ge=1)
    limit: int | None = _field(None, "use the first N rows only", ge=1)
    difficulty: Annotated[Difficulty, BeforeValidator(_band)] | None = _field(
        None, "keep questions whose measured pass rate lies in LOW..HIGH, such as 0.1..0.9"
    )
    difficulty_column: str = _field("pass_rate", "column that `grpo-run difficulty` wrote")
    curriculum: Literal["none", "easy-first", "band"] = _field(
        "none", "order by pass rate: easiest first, or the band nearest to one half first, re-measured as it learns"
    )


class AlgorithmConfig(_Section):
    """[algorithm]: which objective; what is absent takes the named algorithm's published value."""

    name: str = _field("dapo", "one of: " + ", ".join(ALGORITHMS), "algorithm")
    beta: float | None = _field(None, "weight of the KL term to the reference model; 0 loads no reference", ge=0)
    epsilon: float | None = _field(None, "clipping of the probability ratio, below", gt=0)
    epsilon_high: float | None = _field(None, "clipping of the probability ratio, above", gt=0)
    delta: float | None = _field(None, "second upper clipping for negative advantages (two-sided)", gt=1)
    scale_rewards: Literal["group", "batch", "none"] | None = _field(None, "what advantages are divided by")
    num_iterations: int = _field(1, "optimisation passes over each generated batch", ge=1)
    mask_truncated: bool = _field(False, "leave completions that were cut off out of the loss")
    gdpo: bool = _field(False, "normalise each reward component in its group before summing (GDPO, arXiv 2601.05242)")

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.name not in ALGORITHMS:
            raise PydanticCustomError(
                "algorithm", "no algorithm {given}{hint}",
                {"given": repr(self.name), "hint": nearest(self.name, list(ALGORITHMS))},
            )  # fmt: skip
        return self


class SamplingConfig(_Section):
    """[sampling]: how completions are generated."""

    group_size: int = _field(8, "completions per prompt (G)", ge=2)
    batch_size: int = _field(128, "completions per optimiser step, over all processes", ge=2)
    updates_per_generation: int | None = _field(
        None, "optimiser steps fed by one generated batch; above 1 is off-policy", ge=1
    )
    max_new_tokens: int = _field(256, "completion length limit in tokens (32 for the bundled starter)", ge=1)
    temperature: float = _field(1.0, "sampling temperature", gt=0)
    top_p: float = _field(1.0, "nucleus sampling share", gt=0, le=1)
    top_k: int = _field(0, "sample among the k likeliest tokens; 0 means all", ge=0)
    min_p: float | None = _field(None, "drop tokens below this share of the likeliest one", ge=0, le=1)
    resample: bool = _field(False, "replace groups without spread by fresh prompts (DAPO dynamic sampling)")
    resample_budget: float = _field(
        3.0, "with resample: generate at most this many times the batch per step, the first batch included", ge=1
    )
    row_seeds: bool = _field(
        False, "seed every completion by (seed, step, row): the same completions on any number of processes"
    )
    engine: Literal["transformers", "vllm-colocate", "vllm-server"] = _field("transformers", "what generates")
    vllm_memory_share: float = _field(0.3, "GPU memory share of a colocated vLLM", gt=0, lt=1)
    vllm_sleep: bool = _field(True, "put a colocated vLLM to sleep while the optimiser works")
    vllm_server_url: str | None = _field(None, "base URL of `trl vllm-serve`")


class OptimiserConfig(_Section):
    """[optimiser]: steps, rates and the size of one forward pass."""

    name: Literal["adamw", "adamw_8bit", "adafactor", "sgd"] = _field("adamw", "update rule", "optimiser")
    steps: int = _field(60, "optimiser steps", ge=1)
    learning_rate: float | None = _field(
        None, "absent: 2e-4 for the starter, 1e-6 for full training, 1e-5 for an adapter", gt=0
    )
    schedule: Literal["constant", "linear", "cosine"] = _field("constant", "learning rate after the warm-up")
    warmup_steps: int = _field(5, "steps of linear warm-up", ge=0)
    max_grad_norm: float = _field(1.0, "gradient clipping", gt=0)
    weight_decay: float = _field(0.0, "decoupled weight decay", ge=0)
    micro_batch: int | None = _field(
        None, "completions per forward pass and device; absent means the whole batch on a CPU, 8 on a GPU", ge=1
    )
    gradient_checkpointing: bool | None = _field(None, "recompute activations; absent means on a GPU only")


class EvaluationConfig(_Section):
    """[evaluation]: held-out accuracy before, after and in between."""

    reward: str | None = _field(
        None, "expression that says what is right; absent: `math` where there is a gold, else the first component",
        "eval-reward",
    )  # fmt: skip
    questions: int = _field(256, "held-out questions; 0 switches the evaluation off", "eval-questions", ge=0)
    samples: int = _field(8, "sampled answers per question for pass@1, pass@k, maj@k", "eval-samples", ge=1)
    every: int = _field(0, "evaluate greedily every N steps; 0 means before and after only", "eval-every", ge=0)


class ScoringConfig(_Section):
    """[scoring]: where completions are judged."""

    batch_seconds: float = _field(
        600.0,
        "longest wall time for judging one batch, in a process that is killed then; rows not judged by then have no "
        "reward; 0 judges in the trainer itself, without a limit",
        "scoring-seconds",
        ge=0,
    )


class RecordConfig(_Section):
    """[record]: what is written, and how often."""

    completions_every: int = _field(1, "write the completions with their verdicts every N steps; 0 means never", ge=0)
    save_every: int = _field(0, "checkpoint every N steps; 0 means the final model only", ge=0)
    keep: int = _field(2, "checkpoints kept", "keep-checkpoints", ge=1)
    merge: bool = _field(False, "with an adapter: also write the model with the adapter added into its weights")
    report_to: list[str] = _field([], "also log to: tensorboard, wandb, trackio")


class WatchConfig(_Section):
    """[watch]: what happens when a run is learning nothing or running away."""

    action: Literal["stop", "warn", "off"] = _field("stop", "stop the run, warn, or look away", "watch")
    patience: int = _field(10, "steps a symptom must hold before it is named", "watch-patience", ge=1)


class LaunchConfig(_Section):
    """[launch]: past one process, through accelerate."""

    launcher: Literal["none", "accelerate"] = _field("none", "start this run under accelerate", "launch")
    num_processes: int = _field(1, "processes to start", ge=1)
    strategy: Literal["ddp", "fsdp", "deepspeed-zero2", "deepspeed-zero3"] = _field(
        "ddp", "how weights and gradients are shared out"
    )


class RunConfig(_Section):
    """One run. `RunConfig.load` reads a file and flags; `RunConfig()` is the demonstration on the starter."""

    reward: str = _field("math+format", "reward expression, such as math + 0.25*format")
    aliases: dict[str, str] = _field({}, "names for reward expressions, usable inside `reward`")
    out: Path = _field(Path("runs/grpo"), "folder the run is written to")
    seed: int = _field(0, "seed of data order, sampling and weights of adapters", ge=0)
    device: Literal["auto", "cpu", "cuda"] = _field("auto", "where to train; auto takes a GPU when there is one")
    threads: int | None = _field(
        None, "CPU threads of torch; absent means torch's own choice (1 for the bundled starter)", ge=1
    )
    resume: bool = _field(False, "go on from the last checkpoint in `out`")

    model: ModelConfig = Field(default_factory=ModelConfig)
    data: DataConfig = Field(default_factory=DataConfig)
    algorithm: AlgorithmConfig = Field(default_factory=AlgorithmConfig)
    sampling: SamplingConfig = Field(default_factory=SamplingConfig)
    optimiser: OptimiserConfig = Field(default_factory=OptimiserConfig)
    evaluation: EvaluationConfig = Field(default_factory=EvaluationConfig)
    scoring: ScoringConfig = Field(default_factory=ScoringConfig)
    record: RecordConfig = Field(default_factory=RecordConfig)
    watch: WatchConfig = Field(default_factory=WatchConfig)
    launch: LaunchConfig = Field(default_factory=LaunchConfig)

    @model_validator(mode="after")
    def _starter(self) -> Self:
        """What fits a model of two layers: a worked sum takes 28 tokens, and a second thread only costs it time."""
        if self.is_starter and "max_new_tokens" not in self.sampling.model_fields_set:
            self.sampling.max_new_tokens = STARTER_NEW_TOKENS
        if self.is_starter and self.threads is None:
            self.threads = 1
        return self

    @classmethod
    def load(cls, path: Path | None = None, overrides: Mapping[str, Any] | None = None) -> RunConfig:
        """The configuration from a TOML file, with `overrides` ("sampling.group_size": 4) laid over it.

        Raises:
            ConfigError: every problem found, each with its key path.
        """
        config = cls.read(path, overrides)
        if problems := config.contradictions():
            raise ConfigError(problems)
        return config

    @classmethod
    def read(cls, path: Path | None = None, overrides: Mapping[str, Any] | None = None) -> RunConfig:
        """As `load`, but what only contradicts itself is let through, so that a caller can name it with other faults.

        Raises:
            ConfigError: values of the wrong kind, unknown settings, an unreadable file.
        """
        values: dict[str, Any] = {}
        if path is not None:
            try:
                values = tomllib.loads(path.read_text(encoding="utf-8"))
            except OSError as error:
                raise ConfigError([f"--config {path}: cannot be read: {error.strerror or error}"]) from None
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise ConfigError([f"--config {path}: not valid TOML: {error}"]) from None
        for key, value in (overrides or {}).items():
            *parents, leaf = key.split(".")
            table = values
            for parent in parents:
                below = table.setdefault(parent, {})
                if not isinstance(below, dict):
                    raise ConfigError([f"{parent}: is a section; write it as [{parent}], not {parent} = {below!r}"])
                table = below
            table[leaf] = value
        try:
            config = cls.model_validate(values)
        except ValidationError as error:
            raise ConfigError([_describe(cls, item) for item in error.errors()]) from None
        return config

    def contradictions(self) -> list[str]:
        """Settings that are each allowed and together are not, one line per fault."""
        found: list[str] = []
        sampling, optimiser, launch = self.sampling, self.optimiser, self.launch
        group, batch = sampling.group_size, sampling.batch_size
        if batch % group:
            fits = sorted({max(group, batch // group * group), -(-batch // group) * group})
            found.append(
                f"sampling.group_size: {group} completions per prompt do not divide sampling.batch_size = {batch}; "
                f"set --batch-size {' or '.join(map(str, fits))}, or another --group-size"
            )
        micro = optimiser.micro_batch
        if micro is not None and batch % (micro * launch.num_processes):
            found.append(
                f"optimiser.micro_batch: {micro} x {launch.num_processes} process(es) do not divide "
                f"sampling.batch_size = {batch}; the batch is split into equal forward passes"
            )
        elif micro is None and batch % launch.num_processes:
            found.append(
                f"launch.num_processes: {launch.num_processes} do not divide sampling.batch_size = {batch}; "
                "every process takes the same share of the batch"
            )
        if sampling.engine == "vllm-server" and not sampling.vllm_server_url:
            found.append(
                "sampling.vllm_server_url: needed with engine = 'vllm-server'; start `trl vllm-serve` and name it"
            )
        if sampling.row_seeds and sampling.engine != "transformers":
            found.append("sampling.row_seeds: works with engine = 'transformers' only")
        if self.record.merge and self.model.method != "lora":
            found.append(
                "record.merge: 4-bit weights would round the adapter of qlora away; merge into the 16-bit model after"
                if self.model.method == "qlora"
                else "record.merge: nothing to merge under full training; leave it out"
            )
        if self.algorithm.gdpo and self.algorithm.scale_rewards not in (None, "group"):
            found.append("algorithm.scale_rewards: GDPO has its own scaling; leave it out or set gdpo = false")
        if launch.num_processes > 1 and launch.launcher == "none":
            found.append("launch.num_processes: above 1 needs --launch accelerate")
        if self.record.save_every % self.updates_per_batch:
            found.append(
                f"record.save_every: {self.record.save_every} is not a multiple of {self.updates_per_batch} (optimiser "
                "steps per generated batch); a checkpoint inside a batch cannot be resumed exactly"
            )
        unknown = sorted(set(self.record.report_to) - {"tensorboard", "wandb", "trackio"})
        for name in unknown:
            found.append(f"record.report_to: no {name!r}{nearest(name, ['tensorboard', 'wandb', 'trackio'])}")
        return found

    @property
    def settings(self) -> Algorithm:
        """The named algorithm with this run's overrides laid over it."""
        base, given = ALGORITHMS[self.algorithm.name], self.algorithm
        return Algorithm(
            loss=base.loss,
            source=base.source,
            beta=base.beta if given.beta is None else given.beta,
            epsilon=base.epsilon if given.epsilon is None else given.epsilon,
            epsilon_high=base.epsilon_high if given.epsilon_high is None else given.epsilon_high,
            scale_rewards=given.scale_rewards or base.scale_rewards,
            importance=base.importance,
            updates_per_generation=self.sampling.updates_per_generation or base.updates_per_generation,
        )

    @property
    def prompts_per_step(self) -> int:
        """Distinct prompts behind one optimiser step."""
        return self.sampling.batch_size // self.sampling.group_size

    @property
    def prompts_per_generation(self) -> int:
        """Distinct prompts in one generated batch."""
        return self.prompts_per_step * self.settings.updates_per_generation

    @property
    def updates_per_batch(self) -> int:
        """Optimiser steps taken on one generated batch."""
        return self.settings.updates_per_generation * self.algorithm.num_iterations

    @property
    def is_starter(self) -> bool:
        """True when no model is named: the bundled starter is trained."""
        return self.model.name is None

    @property
    def learning_rate(self) -> float:
        """The rate given, or the default for what is trained."""
        if self.optimiser.learning_rate is not None:
            return self.optimiser.learning_rate
        if self.is_starter:
            return 2e-4
        return 1e-6 if self.model.method == "full" else 1e-5


def leaves(model: type[BaseModel] = RunConfig, prefix: str = "") -> Iterator[tuple[str, str, FieldInfo]]:
    """(key path, flag, field) of every setting: ("sampling.group_size", "--group-size", ...)."""
    for name, info in model.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from leaves(info.annotation, f"{prefix}{name}.")
        elif name != "aliases":  # a table; it has no sensible flag
            extra = info.json_schema_extra
            flag = extra.get("flag") if isinstance(extra, dict) else None
            yield prefix + name, "--" + str(flag or name).replace("_", "-"), info


def add_flags(parser: argparse.ArgumentParser) -> None:
    """One flag per setting; values stay text (pydantic converts and names faults), absent ones stay absent."""
    groups: dict[str, argparse._ArgumentGroup] = {}
    for key, flag, info in leaves():
        section = key.rpartition(".")[0]
        if section not in groups:
            groups[section] = parser.add_argument_group(f"[{section}]" if section else "the run")
        group = groups[section]
        shown = "" if info.default is None or info.default == [] else f" (default {info.default})"
        help_text = f"{info.description}{shown}".replace("%", "%%")
        if info.annotation is bool or bool in typing.get_args(info.annotation):
            group.add_argument(
                flag, dest=key, action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=help_text
            )
        elif typing.get_origin(info.annotation) is list:
            group.add_argument(flag, dest=key, nargs="+", metavar="NAME", default=argparse.SUPPRESS, help=help_text)
        else:
            group.add_argument(flag, dest=key, metavar=_shape(info), default=argparse.SUPPRESS, help=help_text)


def _shape(info: FieldInfo) -> str:
    kinds = [info.annotation]
    if typing.get_origin(info.annotation) in (typing.Union, types.UnionType):
        kinds = [kind for kind in typing.get_args(info.annotation) if kind is not type(None)]
    kind = kinds[0]
    if typing.get_origin(kind) is Literal:
        return "{" + ",".join(map(str, typing.get_args(kind))) + "}"
    return {int: "N", float: "X", str: "TEXT", Path: "DIR"}.get(kind, "VALUE")  # type: ignore[arg-type]


def _describe(model: type[BaseModel], item: Any) -> str:
    loc = [part for part in item["loc"] if isinstance(part, str) and "(" not in part and "[" not in part]
    path = ".".join(loc)
    if item["type"] == "extra_forbidden":
        owner: type[BaseModel] = model
        for part in loc[:-1]:
            annotation = owner.model_fields[part].annotation
            assert isinstance(annotation, type)  # sections are classes; only sections hold keys
            owner = annotation
        elsewhere = [key.rpartition(".")[0] for key, _, _ in leaves() if key.rpartition(".")[2] == loc[-1]]
        if elsewhere:
            return f"{path}: no such setting here; it belongs to " + " or ".join(
                f"[{s}]" if s else "the top" for s in elsewhere
            )
        if (text := explain(loc[-1])) is not None:
            return f"{path}: {text}"
        return f"{path}: no such setting{nearest(loc[-1], list(owner.model_fields))}"
    message = item["msg"].removeprefix("Value error, ")
    given = item["input"]
    shown = "" if isinstance(given, dict | BaseModel) else f" (got {given!r})"
    return f"{path}: {message}{shown}"
