"""The final answer against the gold as text: verbatim, or after a stated normalisation. Never as a substring.

"The gold occurs in the answer" pays an answer that lists everything, and "either occurs in the other" pays the
empty answer (Liuziyu77/Visual-RFT#176); equality does neither.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal

from rewards.answers import Span, find_answer
from rewards.format_checks import EndTokens, answer_start, without_end_tokens
from rewards.registry import Verifier, register
from rewards.verdict import Reason, Sample, Verdict

_WORD: Final = re.compile(r"[\w\\<>{}]")
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


def whole_content(text: str, answer: Span) -> str:
    """What the tag or the braces around an answer hold: `find_answer` leaves out marks at its two ends.

    Behind "the answer is" the full stop is the sentence's; inside `<answer>U.S.A.</answer>` it is the answer's.
    """
    for opening, closing in (("<answer>", "</answer>"), ("{", "}")):
        start = text.rfind(opening, 0, answer.start) + len(opening)
        end = text.find(closing, answer.end)
        # Only marks may stand between the two: else the answer is a part of what the tag holds.
        if start >= len(opening) and end >= 0 and not _WORD.search(text[start : answer.start] + text[answer.end : end]):
            return text[start:end].strip()
    return answer.text


def unwrapped(text: str) -> str:
    r"""`\text{Paris}` as `Paris`."""
    hit = _TEXT_COMMAND.fullmatch(text)
    return (hit[1] if hit else text).strip()


# Marks that make another answer: signs, decimal points, percents, and the ends of C++ and F#.
_SIGNS: Final = re.compile(
    r"(?<![^\W_])[-+](?=\d)|(?<=\d)[.,](?=\d)|(?<=\d)%|(?<=[^\W\d_])(?:\+{1,2}|\#)(?![^\W_]|[+#])"
)
_MARK: Final = re.compile(r"[^\w\s]|_")


def normalised(text: str, articles: bool = True, punctuation: bool = True, accents: bool = False) -> str:
    """`text` in one form: compatibility characters folded, case folded, white space single, the rest as asked."""
    # The Turkish capital folds to an i with a dot of its own.
    text = unicodedata.normalize("NFKC", text).casefold().replace("i\u0307", "i")
    if accents:
        text = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
    if punctuation:
        kept = {at for hit in _SIGNS.finditer(text) for at in range(*hit.span())}
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
            if len(found.spans) == 1 and not problem:
                answer = whole_content(text, found.spans[0])
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

    SQuAD's normalisation with three of its faults removed: marks that make another answer count (`-5` is not `5`,
    `1.5` not `15`, `C++` not `C`, `50%` not `50`), a text that is nothing but an article is kept, and a gold of which
    nothing is left is `invalid`.
    """

    source = "SQuAD (arXiv 1606.05250) answer normalisation, changed as described"
    example: ClassVar[Mapping[str, Any]] = {"completion": "<answer>the Eiffel tower.</answer>", "gold": "Eiffel Tower"}

    params: NormalisedParams

    def form(self, text: str) -> str:
        p = self.params
        return normalised(unwrapped(text), p.articles, p.punctuation, p.accents)
