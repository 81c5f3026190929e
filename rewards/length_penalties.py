"""Every published length reward worth having, each with its source, in tokens.

Lengths are `Sample.num_tokens`. Characters are used only where `unit=characters` says so: mixing the two makes
the reward oscillate (modelscope/ms-swift#3353), and `len()` of a chat completion counts messages
(huggingface/open-r1#567). Every formula is clamped to the interval that its paper states; parameters that a
formula cannot bear (a cache longer than the limit, a limit of 0) are refused when the verifier is built.

Those with `of` read what another component said of the row: `cosine_length(of=math, max_tokens=4096)`. A row that
the other component could not score is not scored here either, and leaves the group's statistics alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Literal, TypeVar

from pydantic import Field, model_validator

from rewards.registry import Params, Verifier, register
from rewards.verdict import Reason, Sample, Verdict
from rewards.words import first_ink

Unit = Literal["tokens", "characters"]

BAD_COUNT: Final = "bad_token_count"
_COUNT_REASONS: Final = {BAD_COUNT: "num_tokens is not a whole number from 0 to 2**53"}
MAX_TOKENS: Final = 2**53
"""Beyond it a float no longer tells two lengths apart; no count of tokens comes near."""


class LengthParams(Params):
    """What every length reward can be told."""

    unit: Unit = "tokens"
    """What is counted: `tokens` (`Sample.num_tokens`) or, only when asked by name, `characters` of the completion."""


class ReadsParams(LengthParams):
    """A length reward that depends on whether the completion is right."""

    of: str = "math"
    """Name of the component that says whether the completion is right."""
    right_at: float = Field(default=1.0, allow_inf_nan=False)
    """Lowest score of that component which counts as right."""


def token_count(completion_ids: Sequence[Any]) -> int:
    """Number of token ids, those nested per turn included: `[[0, 1, 2], [3, 4, 5, 6]]` is 7, not 2.

    Counting the outer list took turns for tokens, so nobody paid the overlong penalty (modelscope/ms-swift#10149).
    """
    return sum(token_count(item) if isinstance(item, Sequence) else 1 for item in completion_ids)


P = TypeVar("P", bound=LengthParams)
R = TypeVar("R", bound=ReadsParams)


class LengthVerifier(Verifier[P]):
    """Base: where the length comes from, and a range that may depend on the parameters."""

    needs = ("num_tokens",)
    reasons = _COUNT_REASONS

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        # `needs` and `range` are class facts for `rewards show`; an instance may know better: characters need no
        # token count, and a cosine from -10 to 2 has that range.
        if self.params.unit == "characters":
            vars(self)["needs"] = tuple(name for name in type(self).needs if name != "num_tokens")
        span = self._range()
        if span is not None:
            vars(self)["range"] = span

    def _range(self) -> tuple[float, float] | None:
        return None

    def length(self, sample: Sample) -> int | Verdict:
        """The completion's length, or the `invalid` verdict that says why there is none.

        The prefill does not count: the model did not write it.
        """
        if self.params.unit == "characters":
            completion = sample.completion
            return len(completion) if isinstance(completion, str) else len(sample.text) - len(sample.prefill)
        tokens = sample.num_tokens
        if type(tokens) is int and 0 <= tokens <= MAX_TOKENS:
            return tokens
        return Verdict.invalid(BAD_COUNT, f"num_tokens is {str(tokens)[:40]}; allowed: a whole number from 0 to 2**53")


class GroupLengthVerifier(LengthVerifier[R]):
    """Base of the group-relative ones: lengths and rightness of one prompt's answers, then one formula over both."""

    scope = "group"
    reads_of = True

    def verify_group(self, samples: Sequence[Sample], of: Sequence[Verdict] | None) -> list[Verdict]:
        if of is None:
            raise ValueError(f"{self.name} reads the component {self.params.of!r}; its verdicts were not given")
        lengths = [self.length(sample) for sample in samples]
        usable = [i for i, length in enumerate(lengths) if not isinstance(length, Verdict)]
        right = [(of[i].score or 0.0) >= self.params.right_at for i in usable]
        scores = self.shares([n for n in lengths if not isinstance(n, Verdict)], right)
        out = [length if isinstance(length, Verdict) else None for length in lengths]
        for i, is_right, score in zip(usable, right, scores, strict=True):
            detail = f"{lengths[i]} {self.params.unit}, {'right' if is_right else 'wrong'}"
            out[i] = Verdict.scored(score, detail=detail)
        return [verdict for verdict in out if verdict is not None]

    def shares(self, lengths: Sequence[int], right: Sequence[bool]) -> list[float]:
        """One score per answer of the group."""
        raise NotImplementedError


def _positive(model: Any, *names: str) -> None:
    for name in names:
        value = getattr(model, name)
        if not value > 0 or not math.isfinite(value):
            raise ValueError(f"{name} is {value:g}; it must be above 0")


# ---------------------------------------------------------------- one answer at a time


class OverlongParams(LengthParams):
    """Parameters of `overlong`."""

    max_tokens: int
    """L: from here on the full penalty. In training: the generation limit."""
    cache: int
    """C: the last stretch before L over which the penalty grows from 0 to -1."""

    @model_validator(mode="after")
    def _possible(self) -> OverlongParams:
        if not 0 < self.cache <= self.max_tokens:
            raise ValueError(
                f"cache is {self.cache} and max_tokens {self.max_tokens}; 0 < cache <= max_tokens is needed "
                "(with a longer cache the empty answer is punished, with 0 the formula divides by it)"
            )
        return self


@register("overlong")
class Overlong(LengthVerifier[OverlongParams]):
    """Soft overlong punishment: 0 up to L - C, then linearly down to -1 at L, -1 beyond.

        y <= L - C        0
        L - C < y <= L    ((L - C) - y) / C
        y > L             -1

    Add it to the task's reward: `math + overlong(max_tokens=20480, cache=4096)` are the paper's numbers.
    """

    range = (-1.0, 0.0)
    reasons = _COUNT_REASONS | {"too_long": "longer than what is free"}
    source = "DAPO (arXiv 2503.14476) equation 13"
    example: ClassVar[Mapping[str, Any]] = {
        "params": {"max_tokens": 8, "cache": 2}, "completion": "short", "num_tokens": 6, "score": 0.0,
    }  # fmt: skip

    def verify(self, sample: Sample) -> Verdict:
        y = self.length(sample)
        if isinstance(y, Verdict):
            return y
        p = self.params
        free = p.max_tokens - p.cache
        if y <= free:
            return Verdict.scored(0.0)
        return Verdict.scored(max(-1.0, (free - y) / p.cache), "too_long", f"{y} {p.unit}, free up to {free}")


class WrongAndLongParams(ReadsParams):
    """Parameters of `wrong_and_long`."""

    max_tokens: int = Field(gt=0)
    """A wrong answer may be this long for nothing."""
    cost: float = Field(default=0.1, gt=0, allow_inf_nan=False)
    """What a longer wrong one loses."""


@register("wrong_and_long")
class WrongAndLong(LengthVerifier[WrongAndLongParams]):
    """A wrong answer longer than `max_tokens` costs `cost`; right answers and short ones cost nothing.

    A right answer is never punished for its length, so brevity is not bought with correctness.
    """

    range = (-0.1, 0.0)
    reads_of = True
    reasons = _COUNT_REASONS | {"wrong_and_long": "the answer is wrong and longer than max_tokens"}
    source = "ours: shaping that leaves right answers alone"
    example: ClassVar[Mapping[str, Any]] = {
        "params": {"max_tokens": 512}, "completion": "2+2 is \\boxed{4}", "gold": "4", "num_tokens": 900, "of": 1.0,
        "score": 0.0,
    }  # fmt: skip

    def _range(self) -> tuple[float, float]:
        return -self.params.cost, 0.0

    def verify_with(self, sample: Sample, of: Verdict) -> Verdict:
        y = self.length(sample)
        if isinstance(y, Verdict):
            return y
        p = self.params
        if y <= p.max_tokens or (of.score or 0.0) >= p.right_at:
            return Verdict.scored(0.0)
        return Verdict.scored(-p.cost, "wrong_and_long", f"wrong, and {y} {p.unit} of at most {p.max_tokens}")


class CosineParams(ReadsParams):
    """Parameters of `cosine_length`. Each bound is named by the length at which it is paid."""

    max_tokens: int = Field(gt=0)
    """L: the length at which the curve ends. Not below the generation limit, or longer answers all look alike."""
    right_at_zero: float = Field(default=1.0, allow_inf_nan=False)
    """Paid for a right answer of length 0."""
    right_at_max: float = Field(default=0.5, allow_inf_nan=False)
    """Paid for a right answer of length L."""
    wrong_at_zero: float = Field(default=-1.0, allow_inf_nan=False)
    """Paid for a wrong answer of length 0."""
    wrong_at_max: float = Field(default=-0.5, allow_inf_nan=False)
    """Paid for a wrong answer of length L."""
    exceed: float | None = Field(default=None, allow_inf_nan=False)
    """Paid from L on, right or wrong (the paper's r_e); without it the curve stays at its value at L."""

    @model_validator(mode="after")
    def _possible(self) -> CosineParams:
        if min(self.right_at_zero, self.right_at_max) < max(self.wrong_at_zero, self.wrong_at_max):
            raise ValueError(
                f"right answers earn {self.right_at_zero:g} to {self.right_at_max:g} and wrong ones "
                f"{self.wrong_at_zero:g} to {self.wrong_at_max:g}: some wrong answer would beat a right one"
            )
        return self


@register("cosine_length")
class CosineLength(LengthVerifier[CosineParams]):
    """Cosine length reward: from the value at length 0 to the value at L along half a cosine, then constant.

        m + (M - m) (1 + cos(pi y / L)) / 2,   M the value at y = 0, m the value at y = L,   y clamped to L

    Right answers earn less as they grow, wrong ones lose less. Without the clamp the cosine rises again beyond L
    and 2 L earns as much as 0 (huggingface/open-r1#312). The defaults are those of common trainers; the paper's own
    are `right_at_zero=2, right_at_max=1, wrong_at_zero=-10, wrong_at_max=0, exceed=-10`.
    """

    range = (-1.0, 1.0)
    reads_of = True
    source = "Demystifying Long CoT (arXiv 2502.03373), cosine reward"
    example: ClassVar[Mapping[str, Any]] = {
        "params": {"max_tokens": 1000}, "completion": "\\boxed{4}", "gold": "4", "num_tokens": 500, "of": 1.0,
        "score": 0.75,
    }  # fmt: skip

    def _range(self) -> tuple[float, float]:
        p = self.params
        ends = [p.right_at_zero, p.right_at_max, p.wrong_at_zero, p.wrong_at_max]
        ends += [] if p.exceed is None else [p.exceed]
        return min(ends), max(ends)

    def verify_with(self, sample: Sample, of: Verdict) -> Verdict:
        y = self.length(sample)
        if isinstance(y, Verdict):
            return y
        p = self.params
        right = (of.score or 0.0) >= p.right_at
        high, low = (p.right_at_zero, p.right_at_max) if right else (p.wrong_at_zero, p.wrong_at_max)
        detail = f"{y} of {p.max_tokens} {p.unit}, {'right' if right else 'wrong'}"
        if y >= p.max_tokens:
            return Verdict.scored(low if p.exceed is None else p.exceed, detail=detail)
        share = (1 + math.cos(math.pi * y / p.max_tokens)) / 2
        # Written as a blend, so that rounding cannot leave the interval between the two ends.
        return Verdict.scored(high * share + low * (1 - share), detail=detail)


class TargetParams(ReadsParams):
    """Parameters of `l1_exact` and `l1_max`."""

    target_tokens: int | None = Field(default=None, gt=0)
    """n*: the length asked for. Without it each row brings its own in `meta["target_tokens"]`."""
    alpha: float = Field(default=3e-4, gt=0, allow_inf_nan=False)
    """What one token of distance costs."""


class L1ExactParams(TargetParams):
    """Parameters of `l1_exact`."""

    floor: float = Field(default=-2.0, le=0, allow_inf_nan=False)
    """Lowest score. The paper has none; with its lengths (up to 4,096 tokens) the lowest is -1.2."""


class TargetVerifier(LengthVerifier[P]):
    """Base of the two that aim at a length which the prompt states."""

    def target(self, sample: Sample, given: int | None) -> int | Verdict:
        """n*, or the `invalid` verdict that says what the row lacks."""
        target = sample.meta.get("target_tokens") if given is None else given
        if type(target) is int and 0 < target <= MAX_TOKENS:
            return target
        return Verdict.invalid(
            "no_target",
            f"meta['target_tokens'] is {target!r}; give each row the length its prompt asks for, or target_tokens=...",
        )


_TARGET_REASONS: Final = _COUNT_REASONS | {"no_target": "the row does not say which length is asked for"}


@register("l1_exact")
class L1Exact(TargetVerifier[L1ExactParams]):
    """LCPO-Exact: `c - alpha |n* - y|`, c being 1 for a right answer and 0 for a wrong one.

    Best at the length that the prompt asks for, falling on both sides; never below `floor`.
    """

    range = (-2.0, 1.0)
    reads_of = True
    reasons = _TARGET_REASONS
    source = "L1 (arXiv 2503.04697), LCPO-Exact, alpha = 3e-4"
    example: ClassVar[Mapping[str, Any]] = {
        "params": {"target_tokens": 500}, "completion": "\\boxed{4}", "gold": "4", "num_tokens": 500, "of": 1.0,
        "score": 1.0,
    }  # fmt: skip

    def _range(self) -> tuple[float, float]:
        return self.params.floor, 1.0

    def verify_with(self, sample: Sample, of: Verdict) -> Verdict:
        y, target = self.length(sample), self.target(sample, self.params.target_tokens)
        if isinstance(y, Verdict):
            return y
        if isinstance(target, Verdict):
            return target
        p = self.params
        right = (of.score or 0.0) >= p.right_at
        return Verdict.scored(
            max(p.floor, float(right) - p.alpha * abs(target - y)), detail=f"{y} {p.unit}, {target} asked for"
        )


@register("l1_max")
class L1Max(TargetVerifier[TargetParams]):
    """LCPO-Max: `c * clip(alpha (n* - y) + 0.5, 0, 1)`: a right answer within the budget earns, and more if shorter."""

    reads_of = True
    reasons = _TARGET_REASONS
    source = "L1 (arXiv 2503.04697), LCPO-Max, delta = 0.5"
    example: ClassVar[Mapping[str, Any]] = {
        "params": {"target_tokens": 2000}, "completion": "\\boxed{4}", "gold": "4", "num_tokens": 300, "of": 1.0,
        "score": 1.0,
    }  # fmt: skip

    def verify_with(self, sample: Sample, of: Verdict) -> Verdict:
        y, target = self.length(sample), self.target(sample, self.params.target_tokens)
        if isinstance(y, Verdict):
            return y
        if isinstance(target, Verdict):
            return target
        p = self.params
        right = (of.score or 0.0) >= p.right_at
        share = min(1.0, max(0.0, p.alpha * (target - y) + 0.5))
        return Verdict.scored(share if right else 0.0, detail=f"{y} {p.unit}, at most {target} asked for")


class TruncationParams(Params):
    """Parameters of `truncation_penalty`."""

    penalty: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    """What an answer loses that was cut off."""


@register("truncation_penalty")
class TruncationPenalty(Verifier[TruncationParams]):
    """`-penalty` for an answer that ended without an end-of-sequence token, else 0.

    It reads `Sample.truncated`, not a length: an answer may stop by itself at exactly the limit.
    """

    range = (-1.0, 0.0)
    needs = ("truncated",)
    source = "stop-properly penalty, as in ProRL (arXiv 2505.24864) and OpenRLHF"
    example: ClassVar[Mapping[str, Any]] = {"completion": "It is 4.", "truncated": False, "score": 0.0}

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        vars(self)["range"] = (-self.params.penalty, 0.0)

    def verify(self, sample: Sample) -> Verdict:
        if sample.truncated:
            return Verdict.scored(-self.params.penalty, Reason.TRUNCATED, "generation stopped before the end of turn")
        return Verdict.scored(0.0)


class FinishedParams(Params):
    """Parameters of `finished`."""

    truncated_share: float = Field(default=0.0, ge=0, le=1)
    """The factor for an answer that was cut off."""


@register("finished")
class Finished(Verifier[FinishedParams]):
    """1 for an answer that ended by itself, `truncated_share` for one that was cut off; a factor: `math*finished`.

    Multiply only what is never below 0: a factor under 1 makes a negative reward larger (NVIDIA-NeMo/RL#3852).
    """

    needs = ("truncated",)
    reasons: ClassVar[Mapping[str, str]] = {"empty": "the completion is empty"}
    source = "stop-properly coefficient, as in ProRL (arXiv 2505.24864) and OpenRLHF"
    example: ClassVar[Mapping[str, Any]] = {"completion": "It is 4.", "truncated": False}

    def verify(self, sample: Sample) -> Verdict:
        if first_ink(sample.text, len(sample.prefill)) is None:
            return Verdict.scored(0.0, "empty", "nothing was written")
        if sample.truncated:
            return Verdict.scored(self.params.truncated_share, Reason.TRUNCATED, "stopped before the end of turn")
        return Verdict.scored(1.0)


# ---------------------------------------------------------------- relative to the other answers of the prompt


class KimiParams(ReadsParams):
    """Parameters of `kimi_length`."""

    floor: float = Field(default=-0.5, ge=-0.5, le=0.5)
    """Lowest score of a right answer. The paper's -0.5 puts the longest right answer below the shortest wrong one
    (huggingface/open-r1#360); `floor=0` does not."""


@register("kimi_length")
class KimiLength(GroupLengthVerifier[KimiParams]):
    """Kimi k1.5 length reward, over the answers to one prompt.

        lambda = 0.5 - (y - min) / (max - min)      right: lambda      wrong: min(0, lambda)      0 if max = min

    Over the whole batch instead, short answers to easy prompts are paid and long ones to hard prompts punished.
    """

    range = (-0.5, 0.5)
    source = "Kimi k1.5 (arXiv 2501.12599) section 2.3.3"
    example: ClassVar[Mapping[str, Any]] = {
        "group": [
            {"completion": "\\boxed{4}", "num_tokens": 20, "of": 1.0},
            {"completion": "\\boxed{4}", "num_tokens": 40, "of": 1.0},
        ],
        "scores": [0.5, -0.5],
    }

    def shares(self, lengths: Sequence[int], right: Sequence[bool]) -> list[float]:
        if not lengths or min(lengths) == max(lengths):
            return [0.0] * len(lengths)
        shortest, span = min(lengths), max(lengths) - min(lengths)
        out = []
        for y, is_right in zip(lengths, right, strict=True):
            share = 0.5 - (y - shortest) / span
            out.append(max(self.params.floor, share) if is_right else min(0.0, share))
        return out


class LeadParams(ReadsParams):
    """Parameters of `lead_length`."""

    alpha: float = Field(default=0.05, gt=0, le=1)
    """How fast the reward falls with length."""
    wrong: float = Field(default=-1.0, le=0, allow_inf_nan=False)
    """Score of a wrong answer."""


_MAX_Z: Final = 10.0  # |z| of n numbers is at most (n - 1) / sqrt(n): reached only by groups of more than 100


@register("lead_length")
class LeadLength(GroupLengthVerifier[LeadParams]):
    """GRPO-LEAD length-dependent accuracy: `exp(-alpha z)` for a right answer, `wrong` (-1) for a wrong one.

    z = (y - mean) / (standard deviation + 1e-6) over the RIGHT answers of the group (population deviation); one
    right answer has z = 0. It stands in the place of the accuracy reward, not beside it. The paper's difficulty
    weight acts on advantages and belongs into the trainer.
    """

    range = (-1.0, math.exp(0.5))
    source = "GRPO-LEAD (arXiv 2504.09696), length-dependent accuracy reward"
    example: ClassVar[Mapping[str, Any]] = {
        "group": [
            {"completion": "\\boxed{4}", "num_tokens": 100, "of": 1.0},
            {"completion": "\\boxed{5}", "num_tokens": 900, "of": 0.0},
        ],
        "scores": [1.0, -1.0],
    }

    def _range(self) -> tuple[float, float]:
        return self.params.wrong, math.exp(self.params.alpha * _MAX_Z)

    def shares(self, lengths: Sequence[int], right: Sequence[bool]) -> list[float]:
        good = [y for y, is_right in zip(lengths, right, strict=True) if is_right]
        mean = sum(good) / len(good) if good else 0.0
        spread = math.sqrt(sum((y - mean) ** 2 for y in good) / len(good)) if good else 0.0
        out = []
        for y, is_right in zip(lengths, right, strict=True):
            z = max(-_MAX_Z, min(_MAX_Z, (y - mean) / (spread + 1e-6)))
            out.append(math.exp(-self.params.alpha * z) if is_right else self.params.wrong)
        return out


@register("shorter_bonus")
class ShorterBonus(GroupLengthVerifier[ReadsParams]):
    """A bonus for right answers below the mean length of the right ones: `clamp(1 - y / mean, 0, 1)`; wrong: 0."""

    source = "PrimeIntellect-ai/prime-rl#2265"
    example: ClassVar[Mapping[str, Any]] = {
        "group": [
            {"completion": "\\boxed{4}", "num_tokens": 50, "of": 1.0},
            {"completion": "\\boxed{4}", "num_tokens": 150, "of": 1.0},
        ],
        "scores": [0.5, 0.0],
    }

    def shares(self, lengths: Sequence[int], right: Sequence[bool]) -> list[float]:
        good = [y for y, is_right in zip(lengths, right, strict=True) if is_right]
        mean = sum(good) / len(good) if good else 0.0
        # A mean of 0 means that every right answer has no tokens: none is shorter than another.
        return [
            min(1.0, max(0.0, 1 - y / mean)) if is_right and mean > 0 else 0.0
            for y, is_right in zip(lengths, right, strict=True)
        ]


class ExcessParams(ReadsParams):
    """Parameters of `excess_length`."""

    quantile: float = Field(default=0.5, ge=0, le=1)
    """Which length of the right answers is the reference."""
    slack: float = Field(default=0.2, ge=0, allow_inf_nan=False)
    """Share of the reference that may be exceeded for nothing."""
    beta: float = Field(default=0.1, gt=0, allow_inf_nan=False)
    """Penalty for exceeding the allowance by one reference length."""
    cap: float = Field(default=0.2, gt=0, allow_inf_nan=False)
    """Largest penalty."""


@register("excess_length")
class ExcessLength(GroupLengthVerifier[ExcessParams]):
    """Among two or more right answers, those far longer than the others lose a little; all else 0.

    reference = the quantile of the right answers' lengths (linear between neighbours)
    penalty   = min(cap, beta (y - reference (1 + slack)) / reference)   where positive
    """

    range = (-0.2, 0.0)
    source = "radixark/miles#1573, group-relative length penalty"
    example: ClassVar[Mapping[str, Any]] = {
        "group": [
            {"completion": "\\boxed{4}", "num_tokens": 100, "of": 1.0},
            {"completion": "\\boxed{4}", "num_tokens": 110, "of": 1.0},
        ],
        "scores": [0.0, 0.0],
    }

    def _range(self) -> tuple[float, float]:
        return -self.params.cap, 0.0

    def shares(self, lengths: Sequence[int], right: Sequence[bool]) -> list[float]:
        p = self.params
        good = sorted(y for y, is_right in zip(lengths, right, strict=True) if is_right)
        if len(good) < 2:
            return [0.0] * len(lengths)
        at = p.quantile * (len(good) - 1)
        below = good[math.floor(at)]
        reference = below + (good[math.ceil(at)] - below) * (at - math.floor(at))
        out = []
        for y, is_right in zip(lengths, right, strict=True):
            excess = y - reference * (1 + p.slack)
            if not is_right or excess <= 0:
                out.append(0.0)
            elif reference <= 0:
                out.append(-p.cap)
            else:
                out.append(-min(p.cap, p.beta * excess / reference))
        return out


class RescaleParams(ReadsParams):
    """Parameters of `gr3_length`."""

    right_at: float = Field(default=1e-9, gt=0, allow_inf_nan=False)
    """Lowest score of that component which is rescaled: any above 0, partial ones too, as in the paper."""
    alpha: float = Field(default=0.33, gt=0, allow_inf_nan=False)
    """How strongly length counts."""


@register("gr3_length")
class RescaledLength(GroupLengthVerifier[RescaleParams]):
    """A factor between 0 and 1 that falls with the length relative to the group: `math*gr3_length(of=math)`.

        1 / (1 + alpha y / mean),   mean over the whole group

    A factor, not a summand: a penalty that is added can be earned back by being short and wrong. Multiply only what
    is never below 0. An answer without a score above 0 gets 0, as its product would.
    """

    version = 2
    source = "GR3 (arXiv 2603.10535) equation 6; alpha as in PrimeIntellect-ai/prime-rl#2029"
    example: ClassVar[Mapping[str, Any]] = {
        "params": {"alpha": 1.0},
        "group": [
            {"completion": "\\boxed{4}", "num_tokens": 100, "of": 1.0},
            {"completion": "\\boxed{4}", "num_tokens": 100, "of": 1.0},
        ],
        "scores": [0.5, 0.5],
    }

    def shares(self, lengths: Sequence[int], right: Sequence[bool]) -> list[float]:
        mean = sum(lengths) / len(lengths) if lengths else 0.0
        return [
            1 / (1 + self.params.alpha * (y / mean if mean > 0 else 0.0)) if is_right else 0.0
            for y, is_right in zip(lengths, right, strict=True)
        ]
