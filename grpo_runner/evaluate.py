"""Held-out accuracy, judged by the same `Reward` objects that judge training: greedy, pass@1, pass@k, maj@k.

An answer is *right* when its reward is the highest that the judging expression can give.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import comb
from typing import Any, Final

import torch

from rewards.expression import Reward
from rewards.scoring import RewardResult
from rewards.verdict import Sample

BOOTSTRAP_DRAWS: Final = 1000
MAX_TOKENS_IN_FLIGHT: Final = 65_536
"""Prompt and completion tokens of one generation call; more questions are split into several calls."""
MAX_CACHE_BYTES: Final = 4 * 2**30


@dataclass(frozen=True, slots=True)
class Completion:
    """One generated answer: text without special tokens, length in tokens, and whether it was cut off."""

    text: str
    num_tokens: int
    truncated: bool


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share with its 95% bootstrap interval over questions."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.1%} [{self.low:.1%}, {self.high:.1%}]"


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What an evaluation found.

    Attributes:
        questions: how many were judged; unscored ones are not among them.
        unscored: answers without a verdict (gold unreadable, or a failure of ours): in no share.
        greedy: share right when decoding greedily.
        pass_1, pass_k, maj_k: from `samples` sampled answers per question; None when none were drawn.
        rows: one JSON-plain row per greedy answer, for the record.
    """

    questions: int
    unscored: int
    greedy: Estimate
    samples: int = 0
    pass_1: Estimate | None = None
    pass_k: Estimate | None = None
    maj_k: Estimate | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)

    def as_row(self) -> dict[str, Any]:
        """JSON-plain, without the answers."""
        out: dict[str, Any] = {"questions": self.questions, "unscored": self.unscored, "samples": self.samples}
        for name in ("greedy", "pass_1", "pass_k", "maj_k"):
            estimate = getattr(self, name)
            if estimate is not None:
                out[name] = round(estimate.value, 6)
                out[f"{name}_interval"] = [round(estimate.low, 6), round(estimate.high, 6)]
        return out


class Evaluator:
    """Asks a model the held-out questions.

    Args:
        reward: judges the answers.
        score: scores samples with `reward`; by default in this process.
        samples: questions; prompts already in the form that the tokenizer's template takes.
        tokenizer: the model's.
        prefill: see `rewards.integrations.trl.chat_prefill`.
        stop_token_ids: ids that end a completion.
        temperature, top_p, top_k, min_p: for the sampled answers, those of training.
    """

    def __init__(
        self,
        reward: Reward,
        samples: Sequence[Sample],
        tokenizer: Any,
        *,
        prefill: str,
        stop_token_ids: Sequence[int],
        max_new_tokens: int,
        temperature: float = 1.0,
        top_p: float = 1.0,
        top_k: int = 0,
        min_p: float | None = None,
        seed: int = 0,
        score: Callable[[Sequence[Sample]], list[RewardResult]] | None = None,
    ) -> None:
        self.score = score or reward.score
        self.samples = list(samples)
        self.tokenizer = tokenizer
        self.prefill = prefill
        self.stop_token_ids = list(stop_token_ids)
        self.max_new_tokens = max_new_tokens
        self.sampling = {"temperature": temperature, "top_p": top_p, "top_k": top_k, "min_p": min_p}
        self.seed = seed
        self._best = reward.range[1]
        self._prompt_ids = [encode(tokenizer, sample.prompt) for sample in self.samples]

    def run(self, model: Any, draws: int = 0) -> Accuracy:
        """Greedy answers to every question, and `draws` sampled ones where `draws` is above 0.

        Training is not disturbed: random state and train/eval mode are put back.
        """
        greedy = self.answer(model, 1, greedy=True)
        results = self.judge([answers[0] for answers in greedy])
        right = [self.is_right(result) for result in results]
        rows = [
            {
                "id": sample.id,
                "prompt": sample.prompt,
                "completion": answers[0].text,
                "gold": sample.gold,
                "num_tokens": answers[0].num_tokens,
                "truncated": answers[0].truncated,
                "reward": result.reward,
                "right": is_right,
                "verdicts": {key: verdict.as_row() for key, verdict in result.verdicts.items()},
            }
            for sample, answers, result, is_right in zip(self.samples, greedy, results, right, strict=True)
        ]
        scored = [float(r) for r in right if r is not None]
        accuracy = Accuracy(len(scored), len(right) - len(scored), bootstrap(scored, self.seed), rows=rows)
        return self._with_samples(model, draws, accuracy) if draws else accuracy

    def _with_samples(self, model: Any, draws: int, accuracy: Accuracy) -> Accuracy:
        answers = self.answer(model, draws, greedy=False)
        flat = self.judge([answer for group in answers for answer in group])
        votes = any(verdict.extracted is not None for result in flat for verdict in result.verdicts.values())
        ones: list[float] = []
        some: list[float] = []
        majority: list[float] = []
        for start in range(0, len(flat), draws):
            group = [(r, right) for r in flat[start : start + draws] if (right := self.is_right(r)) is not None]
            if len(group) < draws:
                continue  # pass@k of fewer than k answers is not defined; they are counted as unscored
            correct = sum(right for _, right in group)
            ones.append(correct / draws)
            some.append(pass_at_k(draws, correct, draws))
            majority.append(float(majority_is_right(group)))
        seed = self.seed
        return replace(
            accuracy,
            samples=draws,
            pass_1=bootstrap(ones, seed),
            pass_k=bootstrap(some, seed),
            maj_k=bootstrap(majority, seed) if votes else None,  # no verifier here extracts an answer to vote with
        )

    def answer(self, model: Any, draws: int, *, greedy: bool) -> list[list[Completion]]:
        """`draws` answers to every question."""
        ids = [prompt for prompt in self._prompt_ids for _ in range(draws)]
        with undisturbed(model, self.seed):
            flat = generate(
                model,
                self.tokenizer,
                ids,
                max_new_tokens=self.max_new_tokens,
                stop_token_ids=self.stop_token_ids,
                sampling=None if greedy else self.sampling,
            )
        return [flat[i : i + draws] for i in range(0, len(flat), draws)]

    def judge(self, answers: Sequence[Completion]) -> list[RewardResult]:
        """One result per answer; `answers` holds the same number for each question, in order."""
        draws = len(answers) // max(1, len(self.samples))
        return self.score(
            [
                replace(
                    self.samples[i // draws],
                    id=f"{self.samples[i // draws].id}#{i % draws}",
                    completion=answer.text,
                    prefill=self.prefill,
                    num_tokens=answer.num_tokens,
                    truncated=answer.truncated,
                )
                for i, answer in enumerate(answers)
            ]
        )

    def is_right(self, result: RewardResult) -> bool | None:
        """None where the row is unscored."""
        return None if result.reward is None else result.reward >= self._best - 1e-9


def encode(tokenizer: Any, prompt: Any) -> list[int]:
    """Token ids of a prompt, through the chat template where it is a conversation."""
    if isinstance(prompt, str):
        return list(tokenizer(prompt)["input_ids"])
    encoded = tokenizer.apply_chat_template(list(prompt), add_generation_prompt=True, tokenize=True, return_dict=True)
    return list(encoded["input_ids"])


@contextmanager
def undisturbed(model: Any, seed: int) -> Iterator[None]:
    """Run in eval mode under a seed of its own; afterwards mode and random state are as they were."""
    training = model.training
    devices = [model.device] if model.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        model.eval()
        try:
            yield
        finally:
            model.train(training)


def tokens_in_flight(model: Any) -> int:
    """Tokens that one call may hold in the key-value cache: a trained model leaves little room beside it."""
    config = model.config.get_text_config()
    heads = getattr(config, "num_attention_heads", None) or 1
    kept = getattr(config, "num_key_value_heads", None) or heads
    width = getattr(config, "head_dim", None) or getattr(config, "hidden_size", 1024) // heads
    per_token: int = 2 * getattr(config, "num_hidden_layers", 32) * kept * width * model.dtype.itemsize
    return max(1, min(MAX_TOKENS_IN_FLIGHT, MAX_CACHE_BYTES // per_token))


def generate(
    model: Any,
    tokenizer: Any,
    prompt_ids: Sequence[Sequence[int]],
    *,
    max_new_tokens: int,
    stop_token_ids: Sequence[int],
    sampling: dict[str, Any] | None = None,
) -> list[Completion]:
    """One completion per prompt, in order; greedy when `sampling` is None."""
    if not prompt_ids:
        return []
    width = max(len(ids) for ids in prompt_ids)
    size = max(1, tokens_in_flight(model) // (width + max_new_tokens))
    how: dict[str, Any] = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
    if sampling is not None:
        how = {"do_sample": True, **{k: v for k, v in sampling.items() if v is not None}}
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    stops = set(stop_token_ids)
    out: list[Completion] = []
    for start in range(0, len(prompt_ids), size):
        batch = prompt_ids[start : start + size]
        longest = max(len(ids) for ids in batch)
        input_ids = torch.tensor([[pad] * (longest - len(ids)) + list(ids) for ids in batch], device=model.device)
        mask = torch.tensor([[0] * (longest - len(ids)) + [1] * len(ids) for ids in batch], device=model.device)
        with torch.no_grad():
            tokens = model.generate(
                input_ids=input_ids,
                attention_mask=mask,
                max_new_tokens=max_new_tokens,
                pad_token_id=pad,
                eos_token_id=list(stop_token_ids),
                **how,
            )
        for row in tokens[:, longest:].tolist():
            end = next((i + 1 for i, token in enumerate(row) if token in stops), len(row))
            kept = row[:end]
            text = tokenizer.decode(kept, skip_special_tokens=True)
            out.append(Completion(text, len(kept), not kept or kept[-1] not in stops))
    return out


def pass_at_k(n: int, correct: int, k: int) -> float:
    """Chance that one of k answers drawn from n without replacement is right: 1 - C(n-c, k) / C(n, k).

    Source: Chen et al. 2021, arXiv 2107.03374, equation 1.

    Raises:
        ValueError: k above n: not defined.
    """
    if not 0 < k <= n:
        raise ValueError(f"pass@{k} of {n} answers is not defined; draw at least k")
    return 1.0 - comb(n - correct, k) / comb(n, k)


def majority_is_right(group: Sequence[tuple[RewardResult, bool]]) -> bool:
    """maj@k (self-consistency, arXiv 2203.11171): the most frequent extracted answer is right.

    Answers are told apart by the text that the first component extracted; an answer without one votes for nothing.
    A tie goes to the answer given first.
    """
    votes: Counter[str] = Counter()
    right_by: dict[str, bool] = {}
    for result, right in group:
        extracted = next((v.extracted for v in result.verdicts.values() if v.extracted is not None), None)
        if extracted is None:
            continue
        answer = " ".join(extracted.split())
        votes[answer] += 1
        right_by.setdefault(answer, right)
    return bool(votes) and right_by[votes.most_common(1)[0][0]]


def bootstrap(values: Sequence[float], seed: int, draws: int = BOOTSTRAP_DRAWS) -> Estimate:
    """Mean with its 95% percentile bootstrap interval; questions are what is resampled. NaN for no values."""
    if not values:
        return Estimate(float("nan"), float("nan"), float("nan"))
    n = len(values)
    rng = random.Random(f"bootstrap/{seed}")
    means = sorted(sum(rng.choices(values, k=n)) / n for _ in range(draws))
    return Estimate(sum(values) / n, means[int(0.025 * draws)], means[min(draws - 1, int(0.975 * draws))])
