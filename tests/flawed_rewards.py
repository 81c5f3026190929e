"""Rewards written after published descriptions of faulty ones; each says which fault `rewards check` must find.

None of them is anybody's code: each is a few lines that behave as the report says. `FLAWED` maps the class to the
attack that finds the planted fault and to the report.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from rewards.registry import AnyVerifier, Params, Verifier
from rewards.verdict import Sample, Verdict


class _Flawed(Verifier[Params]):
    range: ClassVar[tuple[float, float]] = (-10.0, 10.0)
    reasons: ClassVar[Mapping[str, str]] = {}


class LazyPattern(_Flawed):
    """Lazy blocks and a multi-line `$`: a second block, empty blocks and text behind the end pass."""

    def verify(self, sample: Sample) -> Verdict:
        pattern = r"^<think>.*?</think>\s*<answer>.*?</answer>$"
        return Verdict.scored(float(re.match(pattern, sample.text, re.DOTALL | re.MULTILINE) is not None))


class OpenEndedThink(_Flawed):
    """Think, then anything: nothing behind the block, or nothing in it, is fine too."""

    def verify(self, sample: Sample) -> Verdict:
        return Verdict.scored(float(re.match(r"^<think>.*?</think>", sample.text, re.DOTALL) is not None))


class TagsByDefault(_Flawed):
    """A share of the fields that are well formed, where a field that is absent counts as well formed."""

    def verify(self, sample: Sample) -> Verdict:
        share = sum(sample.text.count(f"<{t}>") == sample.text.count(f"</{t}>") for t in ("think", "answer")) / 2
        return Verdict.scored(share)


class SubstringEitherWay(_Flawed):
    """The answer contains the gold or the gold contains the answer: the empty answer is in every gold."""

    def verify(self, sample: Sample) -> Verdict:
        answer = (re.findall(r"<answer>(.*?)</answer>", sample.text, re.DOTALL) or [""])[-1].strip()
        gold = str(sample.gold)
        return Verdict.scored(float(answer in gold or gold in answer))


class GoldAnywhere(_Flawed):
    """The gold occurs in the text: in a comment, denied, among every other choice."""

    def verify(self, sample: Sample) -> Verdict:
        return Verdict.scored(float(bool(sample.gold) and str(sample.gold) in sample.text))


class AnyBox(_Flawed):
    """Some box holds the gold."""

    def verify(self, sample: Sample) -> Verdict:
        boxes = re.findall(r"\\boxed\{([^{}]*)\}", sample.text)
        return Verdict.scored(float(str(sample.gold) in boxes))


class FirstBox(_Flawed):
    """The first box counts: a right answer may be taken back."""

    def verify(self, sample: Sample) -> Verdict:
        box = re.search(r"\\boxed\{([^{}]*)\}", sample.text)
        return Verdict.scored(float(box is not None and box[1] == str(sample.gold)))


class UnreadableGoldIsRight(_Flawed):
    """A gold that cannot be read counts as answered."""

    def verify(self, sample: Sample) -> Verdict:
        gold = str(sample.gold or "").strip()
        if not gold:
            return Verdict.scored(1.0)
        box = (re.findall(r"\\boxed\{([^{}]*)\}", sample.text) or [""])[-1]
        return Verdict.scored(float(box == gold))


class UnclampedCosine(_Flawed):
    """A cosine over the length that is not clamped: twice the limit earns as much as nothing written."""

    def verify(self, sample: Sample) -> Verdict:
        share = (1 + math.cos(math.pi * (sample.num_tokens or 0) / 1000)) / 2
        return Verdict.scored((0.5 + 0.5 * share) if sample.text.strip() else 0.0)


class DistanceFromTarget(_Flawed):
    """`abs(20 - length)`, given as an example of aiming at 20: it is lowest there."""

    range: ClassVar[tuple[float, float]] = (-1e9, 1e9)

    def verify(self, sample: Sample) -> Verdict:
        return Verdict.scored(abs(20 - len(sample.text)) / 100 if sample.text.strip() else 0.0)


class NegativeTimesFactor(_Flawed):
    """A negative base times a factor that falls with length: the longer, the better."""

    range: ClassVar[tuple[float, float]] = (-10.0, 10.0)

    def verify(self, sample: Sample) -> Verdict:
        n = sample.num_tokens or 0
        if n > 1000:
            return Verdict.scored(-1.2 * 1000 / n)
        return Verdict.scored(-n / 1000)


class BatchWideLength(_Flawed):
    """Short and long relative to the whole batch instead of to the other answers of the prompt."""

    scope = "sample"
    range: ClassVar[tuple[float, float]] = (-0.5, 0.5)

    def verify_many(self, samples: Sequence[Sample]) -> list[Verdict]:
        lengths = [sample.num_tokens or 0 for sample in samples]
        low, high = min(lengths), max(lengths)
        span = max(1, high - low)
        return [
            Verdict.scored(0.0 if not s.text.strip() or low == high else 0.5 - (n - low) / span)
            for s, n in zip(samples, lengths, strict=True)
        ]

    def verify(self, sample: Sample) -> Verdict:
        return self.verify_many([sample])[0]


class FirstOfGroup(_Flawed):
    """The first answer of a group sets the measure for the others."""

    scope = "group"
    range: ClassVar[tuple[float, float]] = (-1.0, 1.0)

    def verify_group(self, samples: Sequence[Sample], of: Sequence[Verdict] | None) -> list[Verdict]:
        first = samples[0].num_tokens or 0
        return [Verdict.scored(-0.5 if (s.num_tokens or 0) > first else 0.0) for s in samples]


class CubicPattern(_Flawed):
    """Three lazy stars in a row: cubic time on a text of open tags."""

    def verify(self, sample: Sample) -> Verdict:
        pattern = r"^.*?<think>.*?</think>.*?<answer>.*?</answer>.*?$"
        return Verdict.scored(float(re.match(pattern, sample.text, re.DOTALL) is not None and len(sample.text) > 40))


class ExponentialPattern(_Flawed):
    """A repeated group that can match the same text in many ways: exponential time on a few dozen open tags."""

    def verify(self, sample: Sample) -> Verdict:
        return Verdict.scored(float(re.match(r"(?:(?:<think>)+)*[^<]", sample.text) is not None))


class NoLeadingLineBreak(_Flawed):
    """A pattern that a leading line break, which chat templates add, makes fail."""

    def verify(self, sample: Sample) -> Verdict:
        pattern = r"<think>[^<]+</think>\s*<answer>[^<]+</answer>"
        return Verdict.scored(float(re.fullmatch(pattern, sample.text) is not None))


class EchoPaid(_Flawed):
    """Looks for its tags anywhere: the prompt that explains them has them."""

    def verify(self, sample: Sample) -> Verdict:
        tags = ("<think>", "</think>", "<answer>", "</answer>")
        return Verdict.scored(float(all(tag in sample.text for tag in tags)))


class LengthOfMessageList(_Flawed):
    """`len(completion)` of a chat completion is the number of its messages."""

    def verify(self, sample: Sample) -> Verdict:
        return Verdict.scored(-1.0 if len(sample.completion) > 10 else 0.0)


@dataclass(frozen=True)
class Planted:
    """Which attack finds a class's fault, on which row, and where the fault was reported."""

    verifier: type[AnyVerifier]
    attacks: tuple[str, ...]
    report: str


LAYOUT: Final = Sample(
    id="layout",
    prompt="Write <think> your thoughts </think> <answer> your answer </answer>. What is 3+4?",
    completion="<think>3+4=7</think>\n<answer>7</answer>",
    gold="7",
    num_tokens=20,
)
BOXED: Final = Sample(id="boxed", prompt="What is 3+4?", completion="3+4 is \\boxed{7}", gold="7", num_tokens=20)

PLANTED: Final[Sequence[tuple[Planted, Sample]]] = (
    (
        Planted(
            LazyPattern, ("repeated block", "text behind the layout", "empty block"),
            "huggingface/open-r1#359, #418 and its format_reward; Soup#814",
        ),
        LAYOUT,
    ),
    (Planted(OpenEndedThink, ("repeated block", "tags only"), "huggingface/open-r1#359"), LAYOUT),
    (Planted(TagsByDefault, ("empty text",), "PrimeIntellect-ai/verifiers XMLParser"), LAYOUT),
    (Planted(SubstringEitherWay, ("empty text", "every choice at once"), "Liuziyu77/Visual-RFT#176, #79"), LAYOUT),
    (Planted(GoldAnywhere, ("negation", "gold in a comment", "every choice at once"), "Visual-RFT#176"), BOXED),
    (Planted(AnyBox, ("many boxes",), "math-verify any-match over several boxes"), BOXED),
    (Planted(FirstBox, ("right answer taken back",), "MedARC-AI/medmarks#128"), BOXED),
    (Planted(UnreadableGoldIsRight, ("unreadable gold",), "huggingface/open-r1 cosine and accuracy rewards"), BOXED),
    (Planted(UnclampedCosine, ("length in tokens",), "huggingface/open-r1#312"), BOXED),
    (Planted(DistanceFromTarget, ("length of the text",), "huggingface/trl#2771"), BOXED),
    (Planted(NegativeTimesFactor, ("length in tokens",), "NVIDIA-NeMo/RL#3852"), BOXED),
    (Planted(BatchWideLength, ("other prompts in the batch",), "huggingface/open-r1 len_reward"), BOXED),
    (Planted(FirstOfGroup, ("order of the group",), "order dependence of group rewards"), BOXED),
    (Planted(CubicPattern, ("hostile text",), "regex cost of open-r1, ms-swift and NeMo-RL format rewards"), LAYOUT),
    (Planted(ExponentialPattern, ("hostile text",), "nested repetition in a format pattern"), LAYOUT),
    (Planted(NoLeadingLineBreak, ("white space in front",), "huggingface/open-r1 format_reward"), LAYOUT),
    (Planted(EchoPaid, ("echo of the prompt", "blocks in the wrong order"), "NVIDIA-NeMo/RL"), LAYOUT),
    (Planted(LengthOfMessageList, ("chat message instead of string",), "huggingface/open-r1#567"), BOXED),
)  # fmt: skip


def components(planted: Planted) -> dict[str, Any]:
    """The class as a component named `flawed`."""
    planted.verifier.name = "flawed"
    return {"flawed": planted.verifier()}
