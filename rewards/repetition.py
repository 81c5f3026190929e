"""How much of a completion repeats itself, as a share of its n-grams."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from rewards.length_penalties import token_count
from rewards.registry import Params, Verifier, register
from rewards.verdict import Sample, Verdict
from rewards.words import units

MAX_ITEMS: Final = 250_000
"""A longer completion is judged by its first so many words: more than any context that models are trained with."""

MAX_SLICED_ITEMS: Final = 8_000_000
"""Up to so many items in all n-grams together, these are compared as slices of a string: faster, n times the memory."""
MAX_SEARCHED: Final = 100_000
"""Up to so many characters are gone through in search of a repeat before the n-grams are counted."""


def ngram_ids(items: Sequence[Hashable], n: int) -> list[int]:
    """One number per n-gram, equal exactly where the n-grams are equal; `len(items) - n + 1` of them.

    The length doubles with every pass (an n-gram is a pair of overlapping shorter ones), so a pass costs one
    dictionary look-up per item whatever n is, and no hash of our own can collide.
    """
    if len(items) < n:
        return []
    seen: dict[Any, int] = {}
    ids = [seen.setdefault(item, len(seen)) for item in items]
    length = 1
    while length < n:
        step = min(length, n - length)
        pairs: dict[tuple[int, int], int] = {}
        ids = [pairs.setdefault(pair, len(pairs)) for pair in zip(ids, ids[step:], strict=False)]
        length += step
    return ids


def _written_in_characters(items: Sequence[Hashable]) -> str:
    """One character per item, equal exactly where the items are equal: n-grams become slices of a string."""
    kinds = dict.fromkeys(items)
    return "".join(map(dict(zip(kinds, map(chr, range(len(kinds))), strict=True)).__getitem__, items))


def _repeats_nothing(text: str, n: int) -> bool:
    """False where an n-gram of `text` may stand twice; True means that none does.

    The first of two equal n-grams contains a whole one of the blocks of n // 2 that `text` is cut into, and the
    second contains its copy further on: so it is enough to look for each block behind itself.
    """
    block = n // 2
    if not block or len(text) * len(text) // block > MAX_SEARCHED:
        return False
    return all(text.find(text[at : at + block], at + 1) < 0 for at in range(0, len(text) - block + 1, block))


def repeated_share(items: Sequence[Hashable], n: int, window: int | None = None) -> float:
    """The share of n-grams that stood before: anywhere, or at most `window` n-grams earlier.

    Without a window this is `1 - distinct / total`. Fewer than n items repeat nothing: 0.
    """
    total = len(items) - n + 1
    if total <= 0:
        return 0.0
    if window is None and total * n <= MAX_SLICED_ITEMS:
        text = _written_in_characters(items)
        if _repeats_nothing(text, n):
            return 0.0
        return 1 - len({text[i : i + n] for i in range(total)}) / total
    ids = ngram_ids(items, n)
    if window is None:
        return 1 - len(set(ids)) / total
    last: dict[int, int] = {}
    repeated = 0
    for i, ngram in enumerate(ids):
        if i - last.get(ngram, -window - 1) <= window:
            repeated += 1
        last[ngram] = i
    return repeated / len(ids)


class RepetitionParams(Params):
    """Parameters of `repetition`."""

    ngram: int = Field(default=20, ge=1, le=1000)
    """Words per n-gram."""
    penalty: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    """What a completion that is nothing but repetition loses."""
    window: int | None = Field(default=None, ge=1)
    """Only a repeat of at most this many n-grams before counts. Without it, one anywhere before."""
    unit: Literal["words", "tokens"] = "words"
    """`tokens`: the token ids in `meta["completion_ids"]` instead of words."""


@register("repetition")
class Repetition(Verifier[RepetitionParams]):
    """`-penalty` times the share of n-grams that the completion already contained.

    Words are lower-cased; punctuation marks count as words; Chinese, Japanese, Thai and the like count character by
    character. Completions shorter than one n-gram, the empty one included, lose nothing.

    Long honest prose repeats SHORT n-grams by itself, more of them the longer it is: with `ngram=3` and no window,
    the setting of common trainers, the share grows with length and the reward is a hidden length penalty. Two ways
    out, measured in tests/benchmarks/format_and_length.py: the default `ngram=20`, which honest prose hardly ever
    repeats at any length, and `window=...` for short n-grams, which compares each with the same stretch of text
    however long the completion is. The paper punishes wrong answers only: `gate(math, 0, repetition)`.
    """

    range = (-1.0, 0.0)
    reasons: ClassVar[Mapping[str, str]] = {
        "repeats": "some n-grams stood before",
        "no_token_ids": "the row has no meta['completion_ids']",
    }
    source = "Demystifying Long CoT (arXiv 2502.03373), n-gram repetition penalty, fraction form"
    example: ClassVar[Mapping[str, Any]] = {"completion": "First add 7 and 8, then check the sum.", "score": 0.0}

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        vars(self)["range"] = (-self.params.penalty, 0.0)

    def verify(self, sample: Sample) -> Verdict:
        p = self.params
        items: Sequence[Hashable]
        if p.unit == "tokens":
            ids = sample.meta.get("completion_ids")
            if not isinstance(ids, Sequence) or isinstance(ids, str):
                return Verdict.invalid(
                    "no_token_ids", "unit=tokens reads meta['completion_ids']; give it, or leave unit=words"
                )
            items = ids if token_count(ids) == len(ids) else [token for turn in ids for token in turn]
        else:
            items = units(sample.text)
        share = repeated_share(items[:MAX_ITEMS], p.ngram, p.window)
        if share == 0:
            return Verdict.scored(0.0)
        return Verdict.scored(-p.penalty * share, "repeats", f"{share:.1%} of the {p.ngram}-grams stood before")
