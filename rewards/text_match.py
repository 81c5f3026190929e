"""The final answer against the gold as text: verbatim, or after a stated normalisation. Never as a substring.

"The gold occurs in the answer" pays an answer that lists everything, and "either occurs in the other" pays the
empty answer (Liuziyu77/Visual-RFT#176); equality does neither.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal

from rewards.answers import find_answer
from rewards.format_checks import EndTokens, answer_start, without_end_tokens
from rewards.registry import Verifier, register
from rewards.verdict import Reason, Sample, Verdict

_TEXT_COMMAND: Final = re.compile(r"\s*\\(?:text|textbf|textit|mathrm|mathbf|mbox|textrm)\s*\{([^{}]*)\}\s*")


class MatchParams(EndTokens):
    """Parameters of `exact`."""

    where: Literal["boxed", "stated", "anywhere", "whole"] = "stated"
    """Where the answer stands: in a box or answer tag; also behind "the answer is"; also in the closing sentence.
    `whole`: everything that follows the reasoning is the answer."""


class NormalisedParams(MatchParams):
    """Parameters of `text_match`."""

    articles: bool = True
    """`a`, `an` and `the` do not count."""
    punctuation: bool = True
    """Punctuation does not count, signs of numbers and decimal points apart."""
    accents: bool = False
    """Accents do not count."""


def gold_strings(gold: Any) -> list[str] | None:
    """The acceptable answers as strings; None when the gold is no text, number, or list of these, or is blank."""
    items = gold if isinstance(gold, list | tuple) else [gold]
    out: list[str] = []
    for item in items:
        if isinstance(item, bool) or not isinstance(item, str | int | float):
            return None
        text = str(item).strip()
        if not text:
            return None
        out.append(text)
    return out or None


def unwrapped(text: str) -> str:
    r"""`\text{Paris}` as `Paris`."""
    hit = _TEXT_COMMAND.fullmatch(text)
    return (hit[1] if hit else text).strip()


_SIGNS: Final = re.compile(r"(?<![^\W_])[-+](?=\d)|(?<=\d)[.,](?=\d)")
_MARK: Final = re.compile(r"[^\w\s]|_")


def normalised(text: str, articles: bool = True, punctuation: bool = True, accents: bool = False) -> str:
    """`text` in one form: compatibility characters folded, case folded, white space single, the rest as asked."""
    text = unicodedata.normalize("NFKC", text).casefold()
    if accents:
        text = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
    if punctuation:
        kept = {hit.start() for hit in _SIGNS.finditer(text)}
        text = _MARK.sub(lambda hit: hit[0] if hit.start() in kept else " ", text)
    words = text.split()
    if articles and len(words) > 1:
        words = [word for word in words if word not in ("a", "an", "the")]
    return " ".join(words)


_REASONS: Final = {"different": "the answer is another text", "echo": "the answer repeats the prompt's template"}


class _Match(Verifier[MatchParams]):
    """Base: finds the answer, compares it with each acceptable one."""

    needs = ("gold",)
    reasons: ClassVar[Mapping[str, str]] = _REASONS

    def form(self, text: str) -> str:
        """The form in which two texts are compared."""
        return unwrapped(text)

    def verify(self, sample: Sample) -> Verdict:
        strings = gold_strings(sample.gold)
        if strings is None:
            return Verdict.invalid(
                Reason.GOLD_UNREADABLE,
                f"gold {str(sample.gold)[:80]!r}; allowed: text that is not blank, or a list of it",
            )
        golds = [self.form(text) for text in strings]
        if not all(golds):
            return Verdict.invalid(
                Reason.GOLD_UNREADABLE,
                f"nothing is left of gold {str(sample.gold)[:80]!r} after normalisation; use exact",
            )
        text = without_end_tokens(sample.text, self.params.strip_tokens)
        if self.params.where == "whole":
            answer = text[answer_start(text) :].strip()
            problem = "" if answer else Reason.NO_ANSWER.value
        else:
            found = find_answer(
                text, prompt=sample.prompt_text, where=self.params.where, truncated=bool(sample.truncated)
            )
            answer, problem = (
                (found.text, found.problem) if found.spans else ("", found.problem or Reason.NO_ANSWER.value)
            )
        if problem:
            return Verdict.scored(0.0, problem, "no final answer found")
        if self.form(answer) in golds:
            return Verdict.scored(1.0, extracted=answer)
        return Verdict.scored(0.0, "different", f"{answer[:80]!r} against {strings[0][:80]!r}", extracted=answer)


@register("exact")
class Exact(_Match):
    """1 when the final answer is the gold, character by character (white space at the ends and `\\text{}` apart)."""

    source = "exact match"
    example: ClassVar[Mapping[str, Any]] = {"completion": "<answer>Paris</answer>", "gold": "Paris"}


@register("text_match")
class TextMatch(_Match, Verifier[NormalisedParams]):
    """1 when the final answer is the gold after normalisation: case, white space, punctuation, articles.

    SQuAD's normalisation with three of its faults removed: signs and decimal points count (`-5` is not `5`, `1.5` is
    not `15`), a text that is nothing but an article is kept, and a gold of which nothing is left is `invalid`.
    """

    source = "SQuAD (arXiv 1606.05250) answer normalisation, changed as described"
    example: ClassVar[Mapping[str, Any]] = {"completion": "<answer>the Eiffel tower.</answer>", "gold": "Eiffel Tower"}

    params: NormalisedParams

    def form(self, text: str) -> str:
        p = self.params
        return normalised(unwrapped(text), p.articles, p.punctuation, p.accents)
