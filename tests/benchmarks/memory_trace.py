"""Bytes a training step really allocates, traced on fake tensors, beside the memory plan. Needs no GPU and no weights.

Every tensor that TRL's fused loss head, transformers and PEFT create is seen by a dispatch mode; storages are counted
while they live. The CUDA path of the loss head works in place, so its CPU stand-in (which copies) is switched off.
Model sizes are the real ones with fewer layers: activations are linear in the number of layers.

    python -m tests.benchmarks.memory_trace            the trace, and the table of published figures
"""

from __future__ import annotations

import json
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

from grpo_runner.memory import GB, Architecture, Job, architecture, plan

PUBLISHED = Path(__file__).parents[1] / "cases" / "memory_published.jsonl"


def traced_bytes(arch: Architecture, job: Job) -> tuple[float, float]:
    """(bytes standing before a step: weights, adapter, gradients; peak bytes the step adds) for `job.micro_batch`."""
    import torch
    import trl.kernels.chunked_logprob as head
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_iter
    from transformers import AutoModelForCausalLM, LlamaConfig, Qwen2Config
    from trl.trainer.utils import add_fused_lm_head

    class Living(TorchDispatchMode):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.sizes: dict[int, int] = {}
            self.now = self.peak = 0

        def add(self, tensor: torch.Tensor) -> None:
            storage = tensor.untyped_storage()
            key = storage._cdata
            if key not in self.sizes:
                self.sizes[key] = storage.nbytes()
                self.now += self.sizes[key]
                self.peak = max(self.peak, self.now)
                weakref.finalize(storage, self.drop, key)

        def drop(self, key: int) -> None:
            self.now -= self.sizes.pop(key, 0)

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = func(*args, **(kwargs or {}))
            for item in tree_iter(out):
                if isinstance(item, torch.Tensor):
                    self.add(item)
            return out

    kept = {name: getattr(head, name) for name in ("_forward_tile", "_backward_tile", "_addmm_fp32")}
    for name in kept:
        setattr(head, name, lambda *args, **kwargs: None)
    dtype = torch.float32 if job.weight_bytes == 4 else torch.bfloat16
    sizes = {
        "hidden_size": arch.hidden, "num_hidden_layers": arch.layers, "num_attention_heads": arch.heads,
        "num_key_value_heads": arch.kv_heads, "intermediate_size": arch.intermediate, "vocab_size": arch.vocab,
        "tie_word_embeddings": arch.tied,
    }  # fmt: skip
    config = Qwen2Config(**sizes) if arch.qkv_bias else LlamaConfig(**sizes)
    length = job.prompt_tokens + job.completion_tokens
    try:
        with FakeTensorMode():
            model = AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="sdpa")
            add_fused_lm_head(model, outputs=("log_probs", "entropy"))
            if job.checkpointing:
                model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
            if job.method != "full":
                from peft import LoraConfig, get_peft_model

                moved = torch.nn.Module.to
                torch.nn.Module.to = lambda self, *args, **kwargs: self  # type: ignore[assignment]
                try:
                    adapter = LoraConfig(r=job.lora_rank, target_modules="all-linear", task_type="CAUSAL_LM")
                    model = get_peft_model(model, adapter)
                finally:
                    torch.nn.Module.to = moved  # type: ignore[method-assign]
                if job.method == "qlora":
                    for parameter in model.parameters():
                        if parameter.requires_grad:
                            parameter.data = parameter.data.to(torch.bfloat16)
                if job.checkpointing:
                    model.enable_input_require_grads()
            model.train()
            ids = torch.zeros((job.micro_batch, length), dtype=torch.long)
            labels = ids.clone()
            labels[:, : job.prompt_tokens] = -100

            def step() -> None:
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    out = model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=labels, fused_lm_head=True)
                out.log_probs.float().mean().backward()

            step()  # gradients stand from here on, as they do in every accumulation step but the first
            living = Living()
            for parameter in model.parameters():
                living.add(parameter)
                if parameter.grad is not None:
                    living.add(parameter.grad)
            before = living.now
            with living:
                step()
            return float(before), float(living.peak - before)
    finally:
        for name, original in kept.items():
            setattr(head, name, original)


def planned_bytes(arch: Architecture, job: Job) -> tuple[float, float]:
    """The plan's figures for the same two quantities; optimiser states, context and generation left out."""
    made = plan(arch, replace(job, engine="vllm-server", context_bytes=0.0))
    standing = sum(made.part(name) for name in ("policy weights", "adapter", "gradients"))
    step = max(
        sum(p.bytes[moment] for p in made.parts if p.name in {"activations", "logits and head"})
        for moment in ("loss head", "layer backward")
    )  # fmt: skip
    return standing, step


_SHORT = Job(micro_batch=4, prompt_tokens=256, completion_tokens=512)
_LONG = Job(micro_batch=8, prompt_tokens=256, completion_tokens=1024)
TRACES: list[tuple[str, int, Job]] = [
    ("Qwen/Qwen2.5-7B", 4, _LONG),
    ("Qwen/Qwen2.5-7B", 4, replace(_LONG, method="lora", lora_rank=16)),
    ("Qwen/Qwen2.5-1.5B", 28, replace(_SHORT, method="lora", micro_batch=8)),
    ("Qwen/Qwen2.5-1.5B", 8, replace(_SHORT, micro_batch=16)),
    ("Qwen/Qwen2.5-14B", 4, replace(_SHORT, method="lora", lora_rank=16)),
    ("meta-llama/Llama-3.1-8B", 4, replace(_SHORT, method="lora", lora_rank=16, checkpointing=False)),
    ("deepseek-ai/deepseek-coder-6.7b-base", 4, replace(_SHORT, checkpointing=False)),
    ("Qwen/Qwen2.5-7B", 12, replace(_LONG, weight_bytes=4)),
]


def main() -> None:
    print("| traced step (CPU, fake tensors) | traced GB | planned GB | off |\n|---|---|---|---|")
    for name, layers, job in TRACES:
        arch = replace(architecture(name), layers=layers)
        _, traced = traced_bytes(arch, job)
        _, planned = planned_bytes(arch, job)
        form = (
            f"{job.method}{' fp32' if job.weight_bytes == 4 else ''}{'' if job.checkpointing else ', no checkpointing'}"
        )
        shape = f"{layers} layers, {form}, {job.micro_batch} x {job.prompt_tokens + job.completion_tokens}"
        print(f"| {name}, {shape} | {traced / GB:.2f} | {planned / GB:.2f} | {planned / traced - 1:+.0%} |")
    print("\n| published or earlier figure | kind | GB | planned GB | off |\n|---|---|---|---|---|")
    for line in PUBLISHED.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        model = row["model"]
        arch = architecture(model) if isinstance(model, str) else Architecture.from_config(model)
        peak = plan(arch, Job(**row["job"])).peak / GB
        print(f"| {row['name']} | {row['kind']} | {row['gb']:.1f} | {peak:.1f} | {peak / row['gb'] - 1:+.0%} |")


if __name__ == "__main__":
    main()
