"""The letter of a multiple-choice answer against the gold letter; naming several letters is naming none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from rewards.answers import find_answer
from rewards.format_checks import Fault
from rewards.registry import Params, Verifier, register
from rewards.verdict import Reason, Sample, Verdict

_WRAPPER: Final = re.compile(r"\\(?:text|textbf|mathrm|mathbf|mbox|textrm|boxed|fbox|bf|rm)(?![A-Za-z])|[\\${}*_`~]")
_LEAD: Final = re.compile(
    r"^(?:[\s\"'(\[<]|(?i:the|correct|final|best|right|answer|option|choice|is|letter)\b|:)*"
    r"(?P<letter>[A-Za-z])(?![A-Za-z0-9'])(?P<rest>.*)$",
    re.DOTALL,
)
_JOIN: Final = (
    r"(?:,|;|/|\||&|\+|\s|或者|或|和|及|option|choice"
    r"|\b(?:or|and|either|maybe|perhaps|possibly|else|und|oder|et|ou|y|o)\b)"
)
# Another letter joined to the first by nothing but punctuation and connectors, behind it or before it.
_HEDGE_AFTER: Final = re.compile(
    rf"^[)\].:\"'>]*{_JOIN}+[(\[\"']*(?P<letter>[A-Z])(?![A-Za-z0-9'])"
    r"(?!(?<=[AI])\s+(?!or\b|and\b)[a-z])"  # the article, the pronoun
)
_HEDGE_BEFORE: Final = re.compile(rf"(?<![A-Za-z0-9'])(?P<letter>[A-Z])[)\].:\"'>]*{_JOIN}+[(\[\"']*$")
# Another label: a letter at the start of a line, or one between punctuation marks.
_LABEL: Final = re.compile(r"(?:\n[\s(\[*]*|[.;,)\]]\s*[(\[]?)(?P<letter>[A-Z])(?=[).:\]]|\s*$|\s*\n)")
_NEAR_CHARS: Final = 40
MAX_ANSWER_CHARS: Final = 2000


class MultipleChoiceParams(Params):
    """Parameters of `multiple_choice`."""

    letters: str = Field(default="ABCDEFGHIJ", pattern=r"^[A-Z]{2,26}$")
    """The letters that name a choice."""
    where: Literal["boxed", "stated", "anywhere"] = "anywhere"
    """Where the answer may stand: in a box or answer tag; also behind "the answer is"; also in the closing sentence."""


@register("multiple_choice")
class MultipleChoice(Verifier[MultipleChoiceParams]):
    """1 when the final answer names the gold choice and no other.

    The gold is a letter (`C`, `(C)`, `C. Paris`), a 0-based index, or a list of acceptable ones. The answer is a
    letter (`(C)`, `\\text{C}`, `C. Paris`, `option C`), or the text of exactly one of `meta["choices"]` (a list, or a
    mapping of letter to text). `A or B or C` is `several_choices`, whatever the gold is (Liuziyu77/Visual-RFT#79).
    """

    needs = ("gold",)
    reasons: ClassVar[Mapping[str, str]] = {
        "different": "another choice is named",
        "several_choices": "several choices are named",
        "no_choice": "the answer names no choice",
        "echo": "the answer repeats the prompt's template",
    }
    source = "letter match as in MMLU and GPQA evaluations"
    example: ClassVar[Mapping[str, Any]] = {"completion": "So it boils.\n\\boxed{C}", "gold": "C"}

    def verify(self, sample: Sample) -> Verdict:
        golds = sample.gold if isinstance(sample.gold, list | tuple) else [sample.gold]
        wanted = [self._gold_letter(gold, sample) for gold in golds]
        if not wanted or None in wanted:
            return Verdict.invalid(
                Reason.GOLD_UNREADABLE,
                f"gold {str(sample.gold)[:80]!r} names no choice of {self.params.letters}; "
                "allowed: a letter, a 0-based index, or a list of these",
            )
        answer = find_answer(
            sample.text,
            prompt=sample.prompt_text,
            where=self.params.where,
            choice=True,
            truncated=bool(sample.truncated),
        )
        if answer.problem or not answer.spans:
            return Verdict.scored(0.0, answer.problem or Reason.NO_ANSWER, "no final answer found")
        named = [self.letter(span.text, sample) for span in answer.spans]
        letters = {letter for letter in named if isinstance(letter, str)}
        if len(letters) == 1:
            # "A, B, C, D" and "A or maybe C" leave the other letters outside the span that was found.
            letters |= self._beside(sample.text, answer.spans[0].start, answer.spans[-1].end, sample)
        if len(letters) > 1:
            return Verdict.scored(0.0, "several_choices", f"{' and '.join(sorted(letters))}", extracted=answer.text)
        letter = named[0]
        if isinstance(letter, Fault):
            return Verdict.scored(0.0, letter.reason, letter.detail, extracted=answer.text)
        if letter in wanted:
            return Verdict.scored(1.0, extracted=letter)
        return Verdict.scored(0.0, "different", f"{letter} against {' or '.join(map(str, wanted))}", extracted=letter)

    def letter(self, text: str, sample: Sample) -> str | Fault:
        """The one choice that an answer text names."""
        if len(text) > MAX_ANSWER_CHARS:
            return Fault(Reason.OVER_LIMIT, f"an answer of {len(text)} characters; at most {MAX_ANSWER_CHARS} are read")
        by_text = self._by_text(text, sample)
        if by_text is not None:
            return by_text
        bare = _WRAPPER.sub("", text).strip()
        lead = _LEAD.match(bare)
        if lead is None or (letter := lead["letter"].upper()) not in self.params.letters:
            return Fault("no_choice", f"{text[:80]!r} names no choice")
        if lead["letter"].islower() and lead["rest"].strip(" .)]:") and lead["rest"][:1] not in (")", "]", ":"):
            return Fault("no_choice", f"{text[:80]!r} names no choice")  # the article in "a dog"
        rest = lead["rest"]
        for other in (_HEDGE_AFTER.match(rest), *_LABEL.finditer(rest)):
            # A lone I may be the numeral in "C. I and II".
            if other is not None and other["letter"] not in (letter, "I") and other["letter"] in self._known(sample):
                return Fault("several_choices", f"{text[:80]!r} names {letter} and {other['letter']}")
        return letter

    def _beside(self, text: str, start: int, end: int, sample: Sample) -> set[str]:
        """Letters joined to the answer's span from outside it."""
        before = _HEDGE_BEFORE.search(text, max(0, start - _NEAR_CHARS), start)
        after = _HEDGE_AFTER.match(text[end : end + _NEAR_CHARS])
        return {hit["letter"] for hit in (before, after) if hit is not None and hit["letter"] in self._known(sample)}

    def _known(self, sample: Sample) -> str:
        """The letters that are choices of this row, as far as the row says."""
        return "".join(self._choices(sample)) or self.params.letters

    def _by_text(self, text: str, sample: Sample) -> str | None:
        plain = _plain(text)
        found = [letter for letter, choice in self._choices(sample).items() if _plain(choice) == plain and plain]
        return found[0] if len(found) == 1 else None

    def _choices(self, sample: Sample) -> dict[str, str]:
        choices = sample.meta.get("choices")
        if isinstance(choices, Mapping):
            # The ARC and CommonsenseQA shape: {"label": ["A", ...], "text": [...]}.
            labels, texts = choices.get("label"), choices.get("text")
            if isinstance(labels, Sequence) and isinstance(texts, Sequence) and not isinstance(labels, str):
                return {str(label): str(text) for label, text in zip(labels, texts, strict=False)}
            return {str(letter): str(choice) for letter, choice in choices.items()}
        if isinstance(choices, Sequence) and not isinstance(choices, str):
            return dict(zip(self.params.letters, map(str, choices), strict=False))
        return {}

    def _gold_letter(self, gold: Any, sample: Sample) -> str | None:
        if isinstance(gold, int) and not isinstance(gold, bool):
            return self.params.letters[gold] if 0 <= gold < len(self.params.letters) else None
        if not isinstance(gold, str) or not gold.strip():
            return None
        letter = self.letter(gold, sample)
        return letter if isinstance(letter, str) else None


def _plain(text: str) -> str:
    return " ".join(_WRAPPER.sub("", text).casefold().split()).strip(" .")
