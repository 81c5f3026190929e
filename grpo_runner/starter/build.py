"""Rebuild the starter checkpoint: `python -m grpo_runner.starter.build --out DIR`.

A character-level tokenizer, a Llama of two layers, and a supervised warm start on demonstrations of mixed
quality. The mix is the point: the model sees column addition worked out in `<think>`, but more often a guess
(well formed, and wrong wherever there is a carry) or a malformed answer. So after the warm start it guesses
when decoding greedily, while among eight tries nearly always one is worked out and right: the state in which
GRPO has something to choose from.

Demonstrations come from the `train` split of `datasets_cards.arithmetic` alone; no held-out question, in
either order of its numbers, is ever seen.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from datasets_cards import arithmetic

SPECIAL: Final = ("<|pad|>", "<|end|>", "<|user|>", "<|assistant|>", "<|unk|>")
# The tags are added tokens but NOT special ones: trainers decode completions with skip_special_tokens=True,
# and a tag that vanishes there makes every format reward 0 for ever.
TAGS: Final = ("<think>", "</think>", "<answer>", "</answer>", "\\boxed{")
CHARACTERS: Final = "0123456789+-*=,\n {}?\\abcdefghijklmnopqrstuvwxyz"
CHAT_TEMPLATE: Final = (
    "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] }}"
    "{% if message['role'] == 'assistant' %}{{ '<|end|>' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


@dataclass(frozen=True, slots=True)
class WarmStart:
    """Everything that decides the checkpoint, the seed included.

    Attributes:
        worked: share of demonstrations with the column addition worked out.
        guessed: share of well-formed demonstrations whose reasoning says nothing and whose answer is a guess; the
            rest is malformed.
    """

    seed: int = 0
    steps: int = 1200
    batch: int = 64
    demonstrations: int = 8000
    learning_rate: float = 5e-3
    worked: float = 0.22
    guessed: float = 0.58
    hidden: int = 64
    layers: int = 2
    heads: int = 4
    feed_forward: int = 192


def build_tokenizer() -> PreTrainedTokenizerFast:
    """One token per character, five tags, five special tokens; pads on the left; has its own chat template."""
    vocabulary = {token: i for i, token in enumerate((*SPECIAL, *TAGS, *CHARACTERS))}
    tokenizer = Tokenizer(models.WordLevel(vocab=vocabulary, unk_token="<|unk|>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in TAGS])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<|pad|>",
        eos_token="<|end|>",
        unk_token="<|unk|>",
        padding_side="left",
        clean_up_tokenization_spaces=False,
        model_max_length=256,
    )
    fast.chat_template = CHAT_TEMPLATE
    return fast


def build_model(tokenizer: PreTrainedTokenizerFast, recipe: WarmStart) -> LlamaForCausalLM:
    """A Llama with random weights, drawn from torch's global generator."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=recipe.hidden,
        intermediate_size=recipe.feed_forward,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        num_key_value_heads=recipe.heads,
        max_position_embeddings=256,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return LlamaForCausalLM(config)


def worked_columns(a: int, b: int) -> str:
    """Column addition from the right, as digit+digit+carry=sum: `47+58` gives `7+8+0=15,4+5+1=10`."""
    width = max(len(str(a)), len(str(b)))
    columns, carry = [], 0
    for x, y in zip(reversed(str(a).zfill(width)), reversed(str(b).zfill(width)), strict=True):
        total = int(x) + int(y) + carry
        columns.append(f"{x}+{y}+{carry}={total}")
        carry = total // 10
    return ",".join(columns)


def careless(a: int, b: int) -> int:
    """The sum as a guess has it: every column added for itself, no carry anywhere. Right on a quarter of all sums.

    A guess must be wrong always in the same way. Were it right at random, the model would learn to add without
    thinking (with errors spread around the sum, every single digit is most often the right one), and training on the
    format alone would move it between right and wrong guesses.
    """
    width = max(len(str(a)), len(str(b)))
    columns = zip(str(a).zfill(width), str(b).zfill(width), strict=True)
    return int("".join(str((int(x) + int(y)) % 10) for x, y in columns))


def demonstration(question: str, answer: str, rng: random.Random, recipe: WarmStart) -> str:
    """An assistant turn for `question` ("47+58=?"): worked, guessed or malformed, as the recipe's shares say."""
    a, b = (int(number) for number in question.removesuffix("=?").split("+"))
    thought = worked_columns(a, b)
    guess = str(careless(a, b))
    draw = rng.random()
    if draw < recipe.worked:
        return f"<think>{thought}</think><answer>\\boxed{{{answer}}}</answer>"
    if draw < recipe.worked + recipe.guessed:
        return f"<think>hm</think><answer>\\boxed{{{guess}}}</answer>"
    return rng.choice(
        [
            f"<think>{thought}</think>\\boxed{{{answer}}}",
            f"<think>hm</think><answer>{guess}</answer>",
            f"<answer>\\boxed{{{guess}}}</answer>",
            f"\\boxed{{{guess}}}",
            guess,
        ]
    )


def warm_start(recipe: WarmStart) -> tuple[PreTrainedTokenizerFast, LlamaForCausalLM, float]:
    """Tokenizer, trained model, and the mean loss of the last 20 steps.

    Deterministic for one torch build and thread count; another build may round differently.
    """
    torch.manual_seed(recipe.seed)
    rng = random.Random(recipe.seed)
    tokenizer = build_tokenizer()
    model = build_model(tokenizer, recipe)
    encoded: list[tuple[list[int], list[int]]] = []
    for row in arithmetic.rows("train", recipe.demonstrations, recipe.seed):
        said = demonstration(row["prompt"], row["answer"], rng, recipe)
        prompt = tokenizer.encode(f"<|user|>{row['prompt']}<|assistant|>", add_special_tokens=False)
        encoded.append((prompt, tokenizer.encode(said + "<|end|>", add_special_tokens=False)))
    width = max(len(prompt) + len(turn) for prompt, turn in encoded)
    ids = torch.full((len(encoded), width), tokenizer.pad_token_id)
    labels = torch.full((len(encoded), width), -100)
    mask = torch.zeros(len(encoded), width, dtype=torch.long)
    for i, (prompt, turn) in enumerate(encoded):
        end = len(prompt) + len(turn)
        ids[i, :end] = torch.tensor(prompt + turn)
        labels[i, len(prompt) : end] = torch.tensor(turn)
        mask[i, :end] = 1
    optimiser = torch.optim.AdamW(model.parameters(), lr=recipe.learning_rate, weight_decay=0.01, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, max_lr=recipe.learning_rate, total_steps=recipe.steps, pct_start=0.1
    )
    generator = torch.Generator().manual_seed(recipe.seed)
    model.train()
    losses: list[float] = []
    for _ in range(recipe.steps):
        chosen = torch.randint(0, len(encoded), (recipe.batch,), generator=generator)
        used = int(mask[chosen].sum(1).max())
        loss = model(
            input_ids=ids[chosen, :used],
            attention_mask=mask[chosen, :used],
            labels=labels[chosen, :used],
            use_cache=False,
        ).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad(set_to_none=True)
        losses.append(float(loss.detach()))
    last = losses[-20:]
    return tokenizer, model.eval(), sum(last) / len(last)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m grpo_runner.starter.build", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder to write the checkpoint to")
    parser.add_argument("--threads", type=int, default=1, help="torch threads (part of what is reproducible)")
    for name, value in asdict(WarmStart()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    given = parser.parse_args(argv)
    torch.set_num_threads(given.threads)
    recipe = WarmStart(**{name: getattr(given, name) for name in asdict(WarmStart())})
    began = time.process_time()
    tokenizer, model, loss = warm_start(recipe)
    given.out.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(given.out)
    tokenizer.save_pretrained(given.out)
    recipe_flags = [f"--threads {given.threads}"] if given.threads != 1 else []
    recipe_flags += [f"--{k.replace('_', '-')} {v}" for k, v in asdict(recipe).items() if v != getattr(WarmStart(), k)]
    provenance = {
        "command": " ".join(["python -m grpo_runner.starter.build --out DIR", *recipe_flags]),
        "recipe": asdict(recipe),
        "torch": torch.__version__,
        "final_loss": round(loss, 4),
        "cpu_seconds": round(time.process_time() - began, 1),
        "licence": "Apache-2.0; trained from nothing on rows this package generates",
    }
    (given.out / "PROVENANCE.json").write_text(json.dumps(provenance, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(provenance))


if __name__ == "__main__":
    main()
