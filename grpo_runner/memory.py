"""GPU memory of a GRPO run, by part and by moment, from the model's config alone. No torch, no weights.

A step has three moments that never coincide: completions are *generated*; the *loss head* turns hidden states
into log-probabilities and, in full training, holds the gradient of the vocabulary matrix in float32; then one
*layer* after another is recomputed and differentiated. The peak is the largest moment, not the sum.

Where the numbers come from:
    weights, gradients, optimiser states, KV cache: exact arithmetic on the config.
    activations and loss head: bytes counted tensor by tensor in TRL 1.16 and transformers 5.24 by an allocation
        trace on the CPU (`tests/benchmarks/memory_trace.py` reruns it); the counts stand in `_Layer`.
    context, sleeping vLLM, head-room: assumptions, named at the top of this file and in every printed plan.
No figure here was measured on a GPU unless `compare` printed it after a run.

Sizes are decimal: 1 GB = 1e9 bytes.
"""

from __future__ import annotations

import difflib
import json
import os
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, cast

from grpo_runner.config import RunConfig

GB: Final = 1e9

A100_80GB_BYTES: Final = 84_990_000_000
"""What torch reports as total on an A100 80 GB (79.15 GiB)."""
CONTEXT_BYTES: Final = 1.5 * GB
"""Assumed: CUDA context, cuBLAS workspaces, allocator fragmentation."""
SLEEPING_VLLM_BYTES: Final = 1.0 * GB
"""Assumed: CUDA graphs and buffers that a sleeping vLLM keeps."""
VLLM_WORKING_BYTES: Final = 1.5 * GB
"""Assumed: activations vLLM needs inside its share, beside weights and KV cache."""
HEADROOM: Final = 0.90
"""A plan fits when its peak stays under this share of the GPU."""
UNKNOWN_PROMPT_TOKENS: Final = 512
"""Prompt length planned for when `data.max_prompt_tokens` is not set."""

# TRL 1.16, kernels/chunked_logprob.py: logits exist one tile at a time, in the compute dtype.
TILE_TOKENS: Final = 4096
TILE_VOCAB: Final = 32768

Moment = Literal["generate", "loss head", "layer backward"]
MOMENTS: Final[tuple[Moment, ...]] = ("generate", "loss head", "layer backward")


class PlanError(ValueError):
    """The memory of this model or run cannot be planned; the message says why and what to give instead."""


class DoesNotFit(MemoryError):
    """The run would not fit on the GPU; the message gives the parts and the settings that would."""


# ---------------------------------------------------------------------------------------------------------------------
# The model


@dataclass(frozen=True, slots=True)
class Architecture:
    """What memory depends on in a decoder-only transformer; counts of elements, not bytes.

    Attributes:
        intermediate: width of the feed-forward block that one token passes through.
        experts: feed-forward blocks per layer; `intermediate` then is that of all experts active for one token.
        expert_intermediate: width of one expert.
        qkv_bias, qk_norm: the small parameters that Qwen2 and Qwen3 add.
    """

    name: str
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    vocab: int
    tied: bool = False
    qkv_bias: bool = False
    qk_norm: bool = False
    experts: int = 1
    expert_intermediate: int = 0
    shared_intermediate: int = 0

    @property
    def query(self) -> int:
        """Width of all query heads together."""
        return self.heads * self.head_dim

    @property
    def key(self) -> int:
        """Width of all key heads together (values have the same)."""
        return self.kv_heads * self.head_dim

    @property
    def linear_per_layer(self) -> int:
        """Parameters of one layer's matrices."""
        attention = 2 * self.hidden * self.query + 2 * self.hidden * self.key
        if self.experts > 1:
            block = 3 * self.hidden * (self.experts * self.expert_intermediate + self.shared_intermediate)
            return attention + block + self.hidden * self.experts
        return attention + 3 * self.hidden * self.intermediate

    @property
    def linear(self) -> int:
        """Parameters of all layers' matrices: what 4-bit loading shrinks."""
        return self.layers * self.linear_per_layer

    @property
    def embedding(self) -> int:
        """Parameters of the vocabulary matrices; one where input and output share it."""
        return self.vocab * self.hidden * (1 if self.tied else 2)

    @property
    def small(self) -> int:
        """Norms and biases."""
        per_layer = 2 * self.hidden
        per_layer += (self.query + 2 * self.key) if self.qkv_bias else 0
        per_layer += 2 * self.head_dim if self.qk_norm else 0
        return self.layers * per_layer + self.hidden

    @property
    def parameters(self) -> int:
        """All parameters."""
        return self.linear + self.embedding + self.small

    def lora_parameters(self, rank: int, targets: str = "all-linear") -> int:
        """Parameters of an adapter of this rank: rank * (in + out) per adapted matrix."""
        h, q, k, i = self.hidden, self.query, self.key, self.intermediate
        sizes = {
            "q_proj": h + q, "k_proj": h + k, "v_proj": h + k, "o_proj": q + h,
            "gate_proj": h + i, "up_proj": h + i, "down_proj": i + h,
        }  # fmt: skip
        names = list(sizes) if targets == "all-linear" else [t.strip() for t in targets.split(",") if t.strip()]
        unknown = [name for name in names if name not in sizes]
        if unknown:
            raise PlanError(
                f"model.lora_targets: {', '.join(map(repr, unknown))} not known to the memory plan; "
                f"allowed: all-linear, or names among {', '.join(sizes)}"
            )
        return self.layers * rank * sum(sizes[name] for name in names)

    @classmethod
    def from_config(cls, values: Mapping[str, Any], name: str = "") -> Architecture:
        """From the content of a model's `config.json`.

        Raises:
            PlanError: a field is missing, or the architecture keeps its cache in another way.
        """
        label = name or str(values.get("_name_or_path") or values.get("model_type") or "model")
        text = values.get("text_config")
        if isinstance(text, Mapping):
            values = {**values, **text}
        kind = str(values.get("model_type", ""))
        if values.get("kv_lora_rank"):
            raise PlanError(f"{label}: multi-head latent attention (kv_lora_rank) is not covered by the memory plan")
        if kind in {"mamba", "mamba2", "rwkv", "jamba", "recurrent_gemma", "falcon_h1", "bamba", "zamba2"}:
            raise PlanError(f"{label}: {kind} is not a plain decoder; the memory plan covers transformers only")
        try:
            hidden, layers = int(values["hidden_size"]), int(values["num_hidden_layers"])
            heads, vocab = int(values["num_attention_heads"]), int(values["vocab_size"])
            width = int(values["intermediate_size"])
        except (KeyError, TypeError, ValueError) as error:
            raise PlanError(
                f"{label}: config.json has no usable {error}; the memory plan needs hidden_size, num_hidden_layers, "
                "num_attention_heads, intermediate_size and vocab_size"
            ) from None
        counts = (values.get(key) for key in ("num_experts", "num_local_experts", "n_routed_experts"))
        experts = int(next((count for count in counts if count), 1))
        each = int(values.get("moe_intermediate_size") or width) if experts > 1 else 0
        shared = int(values.get("shared_expert_intermediate_size") or 0) if experts > 1 else 0
        if experts > 1:
            width = each * int(values.get("num_experts_per_tok") or 1) + shared
        bias = values.get("attention_bias")
        return cls(
            name=label,
            hidden=hidden,
            layers=layers,
            heads=heads,
            kv_heads=int(values.get("num_key_value_heads") or heads),
            head_dim=int(values.get("head_dim") or hidden // heads),
            intermediate=width,
            vocab=vocab,
            tied=bool(values.get("tie_word_embeddings", False)),
            # Qwen2's code always has these biases; its config.json does not say so.
            qkv_bias=bool(bias) if bias is not None else kind in {"qwen2", "qwen2_moe"},
            qk_norm=kind in {"qwen3", "qwen3_moe"},
            experts=experts,
            expert_intermediate=each,
            shared_intermediate=shared,
        )


def _qwen2(
    name: str, hidden: int, layers: int, heads: int, kv: int, width: int, vocab: int, tied: bool
) -> Architecture:
    return Architecture(name, hidden, layers, heads, kv, hidden // heads, width, vocab, tied, qkv_bias=True)


def _qwen3(name: str, hidden: int, layers: int, heads: int, width: int, tied: bool) -> Architecture:
    return Architecture(name, hidden, layers, heads, 8, 128, width, 151936, tied, qk_norm=True)


KNOWN: Final[Mapping[str, Architecture]] = {
    model.name.lower(): model
    for model in (
        _qwen2("Qwen/Qwen2.5-0.5B", 896, 24, 14, 2, 4864, 151936, True),
        _qwen2("Qwen/Qwen2.5-1.5B", 1536, 28, 12, 2, 8960, 151936, True),
        _qwen2("Qwen/Qwen2.5-3B", 2048, 36, 16, 2, 11008, 151936, True),
        _qwen2("Qwen/Qwen2.5-7B", 3584, 28, 28, 4, 18944, 152064, False),
        _qwen2("Qwen/Qwen2.5-14B", 5120, 48, 40, 8, 13824, 152064, False),
        _qwen2("Qwen/Qwen2.5-32B", 5120, 64, 40, 8, 27648, 152064, False),
        _qwen3("Qwen/Qwen3-0.6B", 1024, 28, 16, 3072, True),
        _qwen3("Qwen/Qwen3-1.7B", 2048, 28, 16, 6144, True),
        _qwen3("Qwen/Qwen3-4B", 2560, 36, 32, 9728, True),
        _qwen3("Qwen/Qwen3-8B", 4096, 36, 32, 12288, False),
        _qwen3("Qwen/Qwen3-14B", 5120, 40, 40, 17408, False),
        Architecture("meta-llama/Llama-3.2-1B", 2048, 16, 32, 8, 64, 8192, 128256, True),
        Architecture("meta-llama/Llama-3.2-3B", 3072, 28, 24, 8, 128, 8192, 128256, True),
        Architecture("meta-llama/Llama-3.1-8B", 4096, 32, 32, 8, 128, 14336, 128256),
        Architecture("mistralai/Mistral-7B-v0.3", 4096, 32, 32, 8, 128, 14336, 32768),
        Architecture("deepseek-ai/deepseek-coder-6.7b-base", 4096, 32, 32, 32, 128, 11008, 32256),
        Architecture("HuggingFaceTB/SmolLM2-135M", 576, 30, 9, 3, 64, 1536, 49152, True),
        Architecture("HuggingFaceTB/SmolLM2-360M", 960, 32, 15, 5, 64, 2560, 49152, True),
        Architecture("HuggingFaceTB/SmolLM2-1.7B", 2048, 24, 32, 32, 64, 8192, 49152, True),
    )
}
"""Facts of well-known models, so that their plan needs no download. Instruct, Math and Coder variants share them."""

_VARIANTS: Final = ("-instruct-v0.3", "-instruct", "-base", "-chat")


def _known(name: str) -> Architecture | None:
    key = name.lower().replace("qwen2.5-math-", "qwen2.5-").replace("qwen2.5-coder-", "qwen2.5-")
    if key == "mistralai/mistral-7b-instruct-v0.3":
        key = "mistralai/mistral-7b-v0.3"
    for suffix in ("", *_VARIANTS):
        stem = key.removesuffix(suffix) if suffix else key
        for candidate in (stem, stem + "-base"):
            if candidate in KNOWN:
                return replace(KNOWN[candidate], name=name)
    return None


def architecture(model: str | None) -> Architecture:
    """The architecture of a model named by folder, `config.json`, or Hub id; None is the bundled starter.

    Weights are never read. A Hub id outside `KNOWN` needs its config in the local cache or a reachable Hub.

    Raises:
        PlanError: nothing readable stands there; the message names the nearest known models.
    """
    if model is None:
        found = sorted((Path(__file__).parent / "starter").rglob("config.json"))
        if found:
            return Architecture.from_config(json.loads(found[0].read_text(encoding="utf-8")), "starter")
        return Architecture("starter", 64, 2, 4, 4, 16, 192, 128, True)
    path = Path(model)
    if path.is_dir():
        path = path / "config.json"
    if path.suffix == ".json" or path.is_file():
        try:
            return Architecture.from_config(json.loads(path.read_text(encoding="utf-8")), model)
        except OSError as error:
            raise PlanError(
                f"model.name: {path}: {error.strerror}; give a model folder, a config.json or a Hub id"
            ) from None
        except ValueError as error:
            if isinstance(error, PlanError):
                raise
            raise PlanError(f"model.name: {path} is not valid JSON: {error}") from None
    if (known := _known(model)) is not None:
        return known
    try:
        return Architecture.from_config(_config_from_hub(model), model)
    except (OSError, ValueError) as error:
        if isinstance(error, PlanError):
            raise
        near = difflib.get_close_matches(model.lower(), KNOWN, n=3, cutoff=0.4)
        hint = ", ".join(KNOWN[name].name for name in near or list(KNOWN)[:4])
        reason = getattr(error, "reason", error)
        raise PlanError(
            f"model.name: no config for {model!r}: it is no folder, not in the cache, and the Hub gave {reason}; "
            f"give a folder, a config.json, or a model known here, such as {hint}"
        ) from None


HUB_SECONDS: Final = 10.0


def _config_from_hub(model: str) -> Mapping[str, Any]:
    """`config.json` of a Hub id, from the local cache or with one request.

    transformers would ask six times over half a minute where there is no network.

    Raises:
        OSError: it is not there, or there is no network.
        ValueError: it is not JSON, or `model` cannot be a Hub id.
    """
    try:
        from huggingface_hub import try_to_load_from_cache

        cached = try_to_load_from_cache(model, "config.json")
        if isinstance(cached, str):
            return cast(Mapping[str, Any], json.loads(Path(cached).read_text(encoding="utf-8")))
    except ImportError:
        pass
    if os.environ.get("HF_HUB_OFFLINE") or os.environ.get("TRANSFORMERS_OFFLINE"):
        raise OSError("nothing: HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is set")
    endpoint = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    request = urllib.request.Request(f"{endpoint}/{urllib.parse.quote(model)}/resolve/main/config.json")
    if token := os.environ.get("HF_TOKEN"):
        request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=HUB_SECONDS) as answer:
        return cast(Mapping[str, Any], json.loads(answer.read()))


# ---------------------------------------------------------------------------------------------------------------------
# The run


@dataclass(frozen=True, slots=True)
class Job:
    """What memory depends on in a run. Lengths are in tokens, counts per process unless said otherwise.

    Attributes:
        in_flight: completions one process generates at once (the `transformers` engine makes them all together).
        head: "fused" is TRL 1.16, which never holds the logits; "full" holds them, as trainers before it did.
        optimiser_scratch: True for an Adam that holds a second copy of all gradients while it steps (torch's
            foreach form; the fused form that GPUs use needs none).
        float32_embeddings: with qlora, True where PEFT's `prepare_model_for_kbit_training` was called: it turns all
            that is not quantised into float32. TRL 1.16 does not call it.
    """

    method: Literal["full", "lora", "qlora"] = "full"
    weight_bytes: int = 2
    optimiser: Literal["adamw", "adamw_8bit", "adafactor", "sgd"] = "adamw"
    beta: float = 0.0
    micro_batch: int = 8
    prompt_tokens: int = UNKNOWN_PROMPT_TOKENS
    completion_tokens: int = 256
    group_size: int = 8
    batch_size: int = 128
    updates_per_generation: int = 1
    checkpointing: bool = True
    flash_attention: bool = False
    lora_rank: int = 32
    lora_targets: str = "all-linear"
    engine: Literal["transformers", "vllm-colocate", "vllm-server"] = "transformers"
    vllm_share: float = 0.3
    vllm_sleep: bool = True
    processes: int = 1
    strategy: Literal["ddp", "fsdp", "deepspeed-zero2", "deepspeed-zero3"] = "ddp"
    head: Literal["fused", "full"] = "fused"
    optimiser_scratch: bool = False
    float32_embeddings: bool = False
    context_bytes: float = CONTEXT_BYTES
    assumptions: tuple[str, ...] = ()

    @property
    def in_flight(self) -> int:
        """Completions generated at once by one process."""
        return max(1, self.batch_size * self.updates_per_generation // self.processes)

    @property
    def tokens(self) -> int:
        """Tokens of one forward and backward pass."""
        return self.micro_batch * (self.prompt_tokens + self.completion_tokens)

    @classmethod
    def of(cls, config: RunConfig, *, gpu: bool = True) -> Job:
        """The memory side of a run's configuration; `gpu=False` plans for a CPU's defaults."""
        model, sampling, optimiser = config.model, config.sampling, config.optimiser
        processes = config.launch.num_processes
        assumed = []
        prompt = config.data.max_prompt_tokens
        if prompt is None:
            prompt = UNKNOWN_PROMPT_TOKENS
            assumed.append(f"prompts of at most {prompt} tokens (set data.max_prompt_tokens to have it hold)")
        share = max(1, sampling.batch_size // processes)
        micro = optimiser.micro_batch or (max(m for m in range(1, 9) if share % m == 0) if gpu else share)
        flash = model.attention == "flash_attention_2" and gpu
        wide = model.dtype == "float32" or (model.dtype == "auto" and (not gpu or config.is_starter))
        checkpointing = optimiser.gradient_checkpointing
        return cls(
            method=model.method,
            weight_bytes=4 if wide else 2,
            optimiser=optimiser.name,
            beta=config.settings.beta,
            micro_batch=micro,
            prompt_tokens=prompt,
            completion_tokens=sampling.max_new_tokens,
            group_size=sampling.group_size,
            batch_size=sampling.batch_size,
            updates_per_generation=config.settings.updates_per_generation,
            checkpointing=gpu and not config.is_starter if checkpointing is None else checkpointing,
            flash_attention=flash,
            lora_rank=model.lora_rank,
            lora_targets=model.lora_targets,
            engine=sampling.engine,
            vllm_share=sampling.vllm_memory_share,
            vllm_sleep=sampling.vllm_sleep,
            processes=processes,
            strategy=config.launch.strategy,
            context_bytes=CONTEXT_BYTES if gpu else 0.5 * GB,
            assumptions=tuple(assumed),
        )


@dataclass(frozen=True, slots=True)
class _Layer:
    """Bytes per token of one decoder layer, counted in the allocation trace.

    `saved` is what the forward pass keeps for the backward pass; `working` is what the backward pass adds while it
    is inside the feed-forward block, its widest place. Factors of hidden size, query width and feed-forward width.

    full, bf16:   two norms, each a float32 copy (4), the normalised (2) and the scaled value (2): 16 hidden. Rotated
                  query, key and value repeated to all heads, attention output: 8 query. gate, silu, up, product: 8.
    lora:         frozen weights save no input, but PEFT gives every adapted matrix its own bf16 copy of its input:
                  norms 8, five copies 10: 18 hidden; attention 8 and one copy: 10 query. 64 per rank.
    bf16 adapter: (QLoRA, as TRL casts it) matrices that read the same tensor share one copy: 12 hidden.
    full, fp32:   float32 residual stream and norms under autocast: 26 hidden.
    """

    saved_hidden: float
    saved_query: float
    saved_rank: float
    working_hidden: float
    working_width: float
    saved_width: float = 8

    def saved(self, arch: Architecture, rank: int) -> float:
        return (
            self.saved_hidden * arch.hidden
            + self.saved_query * arch.query
            + self.saved_width * arch.intermediate
            + self.saved_rank * rank
            + 4 * arch.heads  # logsumexp of the attention
        )

    def working(self, arch: Architecture) -> float:
        return self.working_hidden * arch.hidden + self.working_width * arch.intermediate


_LAYERS: Final[Mapping[str, _Layer]] = {
    "full": _Layer(16, 8, 0, 5, 4),
    "full float32": _Layer(26, 8, 0, 5, 4),
    "lora": _Layer(18, 10, 64, 3, 8),
    "qlora": _Layer(12, 8, 14, 2.2, 4),
}

NF4_BYTES: Final = 0.52
"""Bytes per weight in 4-bit NormalFloat, double quantisation: 0.5 and the block scales (QLoRA, arXiv 2305.14314)."""


# ---------------------------------------------------------------------------------------------------------------------
# The plan


@dataclass(frozen=True, slots=True)
class Part:
    """One line of the plan: bytes of one thing in each moment."""

    name: str
    bytes: Mapping[Moment, float]


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """GPU memory of one process of a run, in bytes.

    Attributes:
        parts: by thing and moment.
        faults: reasons it cannot run whatever the total, such as a vLLM share smaller than the weights.
        compared: name of a method to its peak in bytes: PPO with four models, and with a rule as reward.
        assumptions: what was taken for granted.
    """

    architecture: Architecture
    job: Job
    gpu_bytes: float
    parts: tuple[Part, ...]
    faults: tuple[str, ...] = ()
    compared: Mapping[str, float] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()

    def total(self, moment: Moment) -> float:
        """Bytes in use at one moment."""
        return sum(part.bytes.get(moment, 0.0) for part in self.parts)

    @property
    def peak(self) -> float:
        """The largest moment, in bytes."""
        return max(self.total(moment) for moment in MOMENTS)

    @property
    def peak_moment(self) -> Moment:
        """The moment of the peak."""
        return max(MOMENTS, key=self.total)

    @property
    def fits(self) -> bool:
        """True when the peak leaves the head-room free and nothing else stands in the way."""
        return not self.faults and self.peak <= HEADROOM * self.gpu_bytes

    def part(self, name: str) -> float:
        """The largest bytes of one part over the moments."""
        return max((max(part.bytes.values(), default=0.0) for part in self.parts if part.name == name), default=0.0)

    def as_row(self) -> dict[str, Any]:
        """JSON-plain form: bytes as whole numbers."""
        return {
            "model": self.architecture.name,
            "parameters": self.architecture.parameters,
            "gpu_bytes": round(self.gpu_bytes),
            "parts": {p.name: {m: round(v) for m, v in p.bytes.items()} for p in self.parts},
            "totals": {moment: round(self.total(moment)) for moment in MOMENTS},
            "peak_bytes": round(self.peak),
            "peak_moment": self.peak_moment,
            "fits": self.fits,
            "faults": list(self.faults),
            "compared": {name: round(value) for name, value in self.compared.items()},
            "assumptions": list(self.assumptions),
        }


def _states(arch: Architecture, job: Job) -> tuple[float, float, float, float]:
    """(weights, adapter, gradients, optimiser) in bytes, whole, before any sharding."""
    width = job.weight_bytes
    if job.method == "full":
        trained, trained_bytes, adapter = arch.parameters, width, 0.0
        weights = float(arch.parameters * width)
    else:
        # PEFT keeps adapters of a bf16 model in float32; TRL casts them to bf16 on a quantised one.
        trained = arch.lora_parameters(job.lora_rank, job.lora_targets)
        trained_bytes = 2 if job.method == "qlora" else 4
        adapter = float(trained * trained_bytes)
        if job.method == "qlora":
            weights = arch.linear * NF4_BYTES + (arch.embedding + arch.small) * (4 if job.float32_embeddings else 2)
        else:
            weights = arch.parameters * width
    gradients = trained * trained_bytes
    states = {
        "adamw": 2 * trained_bytes * trained,
        # transformers keeps the states of embeddings in 32 bits under an 8-bit Adam (trainer.py, optim_bits).
        "adamw_8bit": 2 * trained + (6 * arch.vocab * arch.hidden if job.method == "full" else 0),
        "adafactor": 0.02 * trained_bytes * trained,
        "sgd": 0.0,
    }[job.optimiser]
    if job.strategy.startswith("deepspeed") and job.method == "full":
        states += 4 * trained + (2 * (4 - trained_bytes) * trained if job.optimiser == "adamw" else 0)  # fp32 master
    return weights, adapter, gradients, states


def _sharded(job: Job, value: float, kind: Literal["weights", "gradients", "optimiser"]) -> float:
    if job.processes == 1 or job.strategy == "ddp":
        return value
    if kind == "weights" and job.strategy == "deepspeed-zero2":
        return value
    return value / job.processes


def plan(arch: Architecture, job: Job, gpu_bytes: float = A100_80GB_BYTES) -> MemoryPlan:
    """The memory plan of `job` on one GPU of `gpu_bytes`, per process.

    Raises:
        PlanError: LoRA targets this model does not have.
    """
    weights, adapter, gradients, states = _states(arch, job)
    whole_weights = weights
    weights = _sharded(job, weights, "weights")
    gradients, states = _sharded(job, gradients, "gradients"), _sharded(job, states, "optimiser")
    reference = arch.parameters * job.weight_bytes if job.beta > 0 and job.method == "full" else 0.0
    reference = _sharded(job, reference, "weights")
    tokens, length = job.tokens, job.prompt_tokens + job.completion_tokens

    # One layer. What a layer adds besides: an sdpa mask of `length` bf16 values per token, one dequantised matrix.
    wide = job.method == "full" and job.weight_bytes == 4
    layer = _LAYERS["full float32" if wide else job.method]
    saved = layer.saved(arch, job.lora_rank) + (0 if job.flash_attention else 2 * length)
    residual = arch.hidden * (4 if wide else 2)
    extra = 0.0
    if job.method == "qlora":
        extra = 2.0 * arch.hidden * max(arch.expert_intermediate or arch.intermediate, arch.query)
    extra += 2 * arch.linear_per_layer if wide or job.strategy in {"fsdp", "deepspeed-zero3"} else 0.0
    if arch.tied and job.method == "full":
        # The head's share of the gradient waits for the embedding's, which is the last of the backward pass.
        extra += arch.vocab * arch.hidden * job.weight_bytes
    if job.checkpointing:
        kept, inside = float(arch.layers * residual * tokens), (saved + layer.working(arch)) * tokens + extra
    else:
        kept, inside = arch.layers * saved * tokens, layer.working(arch) * tokens + extra

    # Loss head. The forward pass still holds autocast's bf16 copy of float32 weights.
    cast = 2 * arch.linear if wide else 0.0
    if job.head == "fused":
        scoring = 14 * arch.hidden * tokens + 2 * min(tokens, TILE_TOKENS) * min(TILE_VOCAB, arch.vocab)
        gradient = arch.vocab * arch.hidden * (4 if wide else 6) if job.method == "full" else 0
        head = scoring + max(gradient, cast + (2 * min(TILE_VOCAB, arch.vocab) * arch.hidden if wide else 0))
    else:
        # bf16 logits, their float32 copy, log-softmax and its gradient.
        head = tokens * arch.vocab * (2 + 4 + 4) + cast

    # Generation.
    cache_token = 2 * arch.layers * arch.key * 2
    cache = float(cache_token * length * job.in_flight)
    # Prefill of all prompts at once, one layer at a time, and float32 logits of the last position with a sorted copy.
    prefill = float(job.in_flight) * (job.prompt_tokens * (8 * arch.hidden + 6 * arch.intermediate) + 8 * arch.vocab)
    faults = []
    vllm: dict[Moment, float] = dict.fromkeys(MOMENTS, 0.0)
    if job.engine == "vllm-colocate":
        share = job.vllm_share * gpu_bytes
        needed = arch.parameters * 2 + cache_token * length + VLLM_WORKING_BYTES
        if share < needed:
            enough = needed / gpu_bytes + 0.005
            faults.append(
                f"sampling.vllm_memory_share: {job.vllm_share:g} of the GPU is {share / GB:.1f} GB, but vLLM needs at "
                f"least {needed / GB:.1f} GB (weights {arch.parameters * 2 / GB:.1f}, KV cache of one sequence "
                f"{cache_token * length / GB:.2f}, working memory); set --vllm-memory-share {enough:.2f} or more"
            )
        resting = SLEEPING_VLLM_BYTES if job.vllm_sleep else share
        vllm = {"generate": share, "loss head": resting, "layer backward": resting}
    if job.engine != "transformers":
        cache = prefill = 0.0
    gathered = whole_weights - weights if job.engine == "transformers" else 0.0  # ZeRO-3 and FSDP gather to generate
    buckets = gradients if job.strategy == "ddp" and job.processes > 1 else 0.0
    scratch = gradients if job.optimiser_scratch else 0.0

    def always(value: float) -> dict[Moment, float]:
        return dict.fromkeys(MOMENTS, value)

    def training(head_value: float, layer_value: float) -> dict[Moment, float]:
        return {"generate": 0.0, "loss head": head_value, "layer backward": layer_value}

    # The step of the optimiser itself runs with activations gone; its scratch stands where they stood.
    step_scratch = max(0.0, scratch - kept - inside)
    parts = [
        Part("policy weights", {**always(weights), "generate": weights + gathered}),
        Part("adapter", always(adapter)),
        Part("reference weights", always(reference)),
        Part("gradients", training(gradients + buckets, gradients + buckets)),
        Part("optimiser", training(states, states + step_scratch) | {"generate": states}),
        Part("activations", training(kept, kept + inside)),
        Part("logits and head", training(head, 0.0)),
        Part("KV cache", {"generate": cache, "loss head": 0.0, "layer backward": 0.0}),
        Part("generation buffers", {"generate": prefill, "loss head": 0.0, "layer backward": 0.0}),
        Part("vLLM share", vllm),
        Part("context", always(job.context_bytes)),
    ]
    made = MemoryPlan(
        architecture=arch,
        job=job,
        gpu_bytes=gpu_bytes,
        parts=tuple(part for part in parts if any(part.bytes.values())),
        faults=tuple(faults),
        assumptions=job.assumptions,
    )
    return replace(made, compared=_ppo(made))


def model_state_bytes(made: MemoryPlan, *, models: int = 1) -> float:
    """Weights, adapter, reference, gradients and optimiser of GRPO, or of PPO with 3 or 4 `models`.

    PPO adds a critic as large as the policy and trained like it, always holds a reference, and with four models a
    frozen reward model in 16 bits. With an adapter the critic is a second adapter and a value head on shared weights.
    """
    arch, job = made.architecture, made.job
    weights, adapter, gradients, states = _states(arch, job)
    reference = arch.parameters * 2 if job.method == "full" else 0.0
    own = weights + adapter + gradients + states
    if models == 1:
        return own + (reference if job.beta > 0 else 0.0)
    critic = own if job.method == "full" else adapter + gradients + states
    return own + reference + critic + (arch.parameters * 2 if models == 4 else 0.0)


def _ppo(made: MemoryPlan) -> dict[str, float]:
    """Peaks of PPO on the same job: critic and reference beside the policy, with and without a reward model."""
    job, arch = made.job, made.architecture
    extra = model_state_bytes(made, models=3) - model_state_bytes(made, models=1)
    if job.processes > 1 and job.strategy != "ddp":
        extra /= job.processes
    # The critic's checkpoints live beside the policy's during the backward pass.
    critic_activations = arch.layers * arch.hidden * 2 * job.tokens
    rule = max(
        made.total(moment) + extra + (critic_activations if moment == "layer backward" else 0.0) for moment in MOMENTS
    )
    model = arch.parameters * 2 / (job.processes if job.strategy in {"fsdp", "deepspeed-zero3"} else 1)
    return {"PPO, rule reward": rule, "PPO, reward model": rule + model}


# ---------------------------------------------------------------------------------------------------------------------
# What would fit


def _largest(make: Callable[[int], Job], arch: Architecture, gpu_bytes: float, top: int) -> int:
    """The largest n <= top whose job fits; 0 when none does. Fitting is monotone in n."""
    low, high = 0, top
    while low < high:
        middle = (low + high + 1) // 2
        if plan(arch, make(middle), gpu_bytes).fits:
            low = middle
        else:
            high = middle - 1
    return low


GROUP_CAP: Final = 256
LENGTH_CAP: Final = 65_536
MICRO_CAP: Final = 256


def largest(made: MemoryPlan) -> dict[str, int]:
    """The largest group size, completion length and micro-batch that fit, each with everything else kept.

    Group size keeps the number of prompts per step, so the batch grows with it. A value equal to its cap
    (`GROUP_CAP`, `LENGTH_CAP`, `MICRO_CAP`) means memory is not what limits it.
    """
    arch, job, total = made.architecture, made.job, made.gpu_bytes
    prompts = max(1, job.batch_size // job.group_size)
    return {
        "group_size": _largest(lambda n: replace(job, group_size=n, batch_size=n * prompts), arch, total, GROUP_CAP),
        "completion_tokens": _largest(lambda n: replace(job, completion_tokens=n), arch, total, LENGTH_CAP),
        "micro_batch": _largest(lambda n: replace(job, micro_batch=n), arch, total, MICRO_CAP),
    }


def remedies(made: MemoryPlan) -> list[tuple[str, float]]:
    """Single changes after which the run fits, mildest first: (flags, peak in bytes)."""
    job, arch = made.job, made.architecture
    tries: list[tuple[str, Job]] = []
    if not job.checkpointing:
        tries.append(("--gradient-checkpointing", replace(job, checkpointing=True)))
    if job.weight_bytes == 4:
        tries.append(("--dtype bfloat16", replace(job, weight_bytes=2)))
    micro = job.micro_batch
    while micro > 1:
        micro //= 2
        tries.append((f"--micro-batch {micro}", replace(job, micro_batch=micro)))
    if job.engine == "transformers":
        tries.append(("--engine vllm-colocate", replace(job, engine="vllm-colocate")))
    elif not job.vllm_sleep:
        tries.append(("--vllm-sleep", replace(job, vllm_sleep=True)))
    if job.beta > 0 and job.method == "full":
        tries.append(("--beta 0", replace(job, beta=0.0)))
    if job.method == "full" and job.optimiser == "adamw":
        small = replace(job, optimiser="adamw_8bit", weight_bytes=2)
        tries.append(("--optimiser adamw_8bit", small))
        tries.append(("--optimiser adamw_8bit --beta 0 --micro-batch 1", replace(small, beta=0.0, micro_batch=1)))
    if job.method == "full":
        tries.append(("--method lora", replace(job, method="lora", weight_bytes=2)))
    if job.method != "qlora":
        tries.append(("--method qlora", replace(job, method="qlora", weight_bytes=2)))
        tries.append(
            ("--method qlora --micro-batch 1 --gradient-checkpointing",
             replace(job, method="qlora", weight_bytes=2, micro_batch=1, checkpointing=True))
        )  # fmt: skip
    shorter = _largest(lambda n: replace(job, completion_tokens=n), arch, made.gpu_bytes, job.completion_tokens)
    if shorter >= 64:
        tries.append((f"--max-new-tokens {shorter}", replace(job, completion_tokens=shorter)))
    found: list[tuple[str, float]] = []
    for flags, changed in tries:
        if flags.startswith("--micro-batch") and any(f.startswith("--micro-batch") for f, _ in found):
            continue  # the largest one that fits is enough
        if any(flags.startswith(simpler + " ") for simpler, _ in found):
            continue
        candidate = plan(arch, changed, made.gpu_bytes)
        if candidate.fits:
            found.append((flags, candidate.peak))
    return found


def plan_run(config: RunConfig, gpu_bytes: float = A100_80GB_BYTES, model: str | None = None) -> MemoryPlan:
    """The plan of a run's configuration; `model` stands in for `model.name` when given.

    Raises:
        PlanError: the model's config cannot be read or is of another kind.
    """
    return plan(architecture(model or config.model.name), Job.of(config), gpu_bytes)


def refuse_if_too_big(config: RunConfig, gpu_bytes: float, *, gpu: bool = True) -> MemoryPlan | None:
    """Called before weights load. None when the model is of a kind that cannot be planned.

    Raises:
        DoesNotFit: the peak is above the whole of `gpu_bytes`, or the vLLM share is too small. Between the
            head-room and the whole a run is let through: the plan is an estimate.
    """
    try:
        made = plan(architecture(config.model.name), Job.of(config, gpu=gpu), gpu_bytes)
    except PlanError:
        return None
    if made.faults or made.peak > gpu_bytes:
        raise DoesNotFit(explain_misfit(made))
    return made


def explain_misfit(made: MemoryPlan) -> str:
    """Why a plan does not fit and what would, in a few lines."""
    lines = list(made.faults)
    if made.peak > HEADROOM * made.gpu_bytes:
        moment = made.peak_moment
        biggest = sorted(made.parts, key=lambda p: -p.bytes[moment])[:3]
        parts = ", ".join(f"{p.name} {p.bytes[moment] / GB:.1f}" for p in biggest)
        lines.append(
            f"{made.architecture.name}: planned peak {made.peak / GB:.1f} GB ({moment}: {parts}) on a GPU of "
            f"{made.gpu_bytes / GB:.1f} GB"
        )
    fixes = remedies(made)
    if fixes:
        lines.append("any one of these would fit:")
        lines += [f"  {flags}  (peak {peak / GB:.1f} GB)" for flags, peak in fixes[:5]]
    elif not made.fits:
        lines.append(
            "no single change makes it fit on one such GPU: a smaller model, or more GPUs (--launch accelerate)"
        )
    return "\n".join(lines)


# ---------------------------------------------------------------------------------------------------------------------
# Printing


def _gb(value: float) -> str:
    if 0 < value < 0.005 * GB:
        return "<0.01"
    return f"{value / GB:.2f}" if value < 10 * GB else f"{value / GB:.1f}"


def describe(made: MemoryPlan) -> str:
    """The plan as a table for people."""
    arch, job = made.architecture, made.job
    checkpoint = "gradient checkpointing" if job.checkpointing else "no gradient checkpointing"
    training = {"full": "full", "lora": f"LoRA r={job.lora_rank}", "qlora": f"QLoRA r={job.lora_rank}"}[job.method]
    engine = {
        "transformers": f"transformers, {job.in_flight} completions at once",
        "vllm-colocate": f"vLLM on the same GPU, share {job.vllm_share:g}, sleep {'on' if job.vllm_sleep else 'off'}",
        "vllm-server": "vLLM server elsewhere",
    }[job.engine]
    dtype = "float32" if job.weight_bytes == 4 else "bf16"
    size = f"{arch.parameters / GB:.2f} B parameters" if arch.parameters >= 1e8 else f"{arch.parameters:,} parameters"
    lines = [
        f"{arch.name}: {size}, {training}, {dtype}, {job.optimiser}, beta {job.beta:g}",
        f"micro-batch {job.micro_batch} x ({job.prompt_tokens} + {job.completion_tokens}) tokens, "
        f"G = {job.group_size}, {job.batch_size // job.group_size} prompts per step, {checkpoint}",
        f"generation: {engine}"
        + (f"; {job.processes} processes, {job.strategy}; figures per GPU" if job.processes > 1 else ""),
        "",
        f"{'GB':<22}" + "".join(f"{moment:>16}" for moment in MOMENTS),
    ]
    for part in made.parts:
        cells = [_gb(part.bytes[m]) if part.bytes[m] else "-" for m in MOMENTS]
        lines.append(f"{part.name:<22}" + "".join(f"{cell:>16}" for cell in cells))
    lines.append(f"{'total':<22}" + "".join(f"{_gb(made.total(m)):>16}" for m in MOMENTS))
    lines.append("")
    lines.append(
        f"peak {_gb(made.peak)} GB ({made.peak_moment}) of {_gb(made.gpu_bytes)} GB: "
        + ("fits" if made.fits else "DOES NOT FIT")
        + f" (head-room kept free: {1 - HEADROOM:.0%})"
    )
    for name, value in made.compared.items():
        lines.append(f"{name + ' instead':<26} {_gb(value)} GB; GRPO saves {1 - made.peak / value:.0%}")
    if made.fits:
        top = largest(made)
        caps = {"group_size": GROUP_CAP, "completion_tokens": LENGTH_CAP, "micro_batch": MICRO_CAP}
        shown = [
            f"{name.replace('_', ' ')} {value}" + (" (not limited by memory)" if value == caps[name] else "")
            for name, value in top.items()
        ]
        lines.append("largest that fits, each alone: " + ", ".join(shown))
    else:
        lines += ["", explain_misfit(made)]
    lines.append("")
    lines.append(
        "estimate, not measured on a GPU: states and cache are exact arithmetic, activations are counted from an "
        f"allocation trace; assumed: {CONTEXT_BYTES / GB:.1f} GB of context"
        + (f", {SLEEPING_VLLM_BYTES / GB:.1f} GB kept by a sleeping vLLM" if job.engine == "vllm-colocate" else "")
        + "".join(f", {text}" for text in made.assumptions)
    )
    return "\n".join(lines)


def compare(made: MemoryPlan, measured_bytes: float) -> str:
    """Planned against measured, one line. `measured_bytes` is `torch.cuda.max_memory_allocated()` of the run.

    The allocator does not see the CUDA context or another library's memory, so these are left out of the planned side.
    """
    outside = made.part("context") + made.part("vLLM share")
    planned = max(
        made.total(m) - sum(p.bytes[m] for p in made.parts if p.name in {"context", "vLLM share"}) for m in MOMENTS
    )
    off = (planned - measured_bytes) / measured_bytes if measured_bytes else float("inf")
    return (
        f"GPU memory: planned {_gb(planned)} GB, measured {_gb(measured_bytes)} GB by torch's allocator "
        f"({off:+.0%}); outside it and planned for: {_gb(outside)} GB"
    )


def plan_command(config: RunConfig, *, model: str | None = None, gpu_memory: str = "", as_json: bool = False) -> int:
    """`grpo-run plan`: print the plan; 0 when it fits, 1 when it does not.

    Raises:
        PlanError: the model's config or `gpu_memory` cannot be read.
    """
    made = plan_run(config, parse_size(gpu_memory) if gpu_memory else A100_80GB_BYTES, model)
    if as_json:
        row = made.as_row()
        row["largest"] = largest(made) if made.fits else None
        row["remedies"] = [] if made.fits else [{"flags": flags, "peak_bytes": round(b)} for flags, b in remedies(made)]
        print(json.dumps(row, indent=2))
    else:
        print(describe(made))
    return 0 if made.fits else 1


def parse_size(text: str) -> float:
    """Bytes from "80GB", "24 GiB" or a plain number of gigabytes.

    Raises:
        PlanError: not a size.
    """
    cleaned = text.strip().lower().replace(" ", "")
    units: Sequence[tuple[str, float]] = (("gib", 2**30), ("gb", GB), ("mib", 2**20), ("mb", 1e6), ("g", GB))
    for suffix, factor in units:
        if cleaned.endswith(suffix):
            cleaned, scale = cleaned.removesuffix(suffix), factor
            break
    else:
        scale = GB
    try:
        value = float(cleaned) * scale
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise PlanError(f"--gpu-memory: {text!r} is not a size; write it as 80GB, 24GiB or a number of gigabytes")
    return value
