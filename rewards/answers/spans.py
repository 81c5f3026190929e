"""Stretches of a text, and the small steps by which every scan over one goes."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from rewards.verdict import Reason

Where = Literal["boxed", "stated", "anywhere"]
MAX_GAP_CHARS: Final = 80
"""Longest text between two boxes that may still be one statement."""
MAX_PARTS: Final = 64
"""Most boxes that are joined to one answer; of more, the last ones count."""
MAX_STATEMENT_CHARS: Final = 400
"""Longest stretch that is read after "the answer is" or as a closing sentence."""


class Span(NamedTuple):
    """A stretch of a text: `text == whole[start:end]`."""

    text: str
    start: int
    end: int


class Answer(NamedTuple):
    """The final answer of a completion, or why there is none.

    Attributes:
        spans: one per box of a multi-part answer, otherwise one; empty when there is no answer.
        mark: how it was found: "boxed", "tag", "hashes", "stated", "closing"; empty when there is no answer.
        problem: empty, or `no_answer`, `truncated`, `echo`.
        joiner: what stood between several spans: ", " or " or ".
    """

    spans: tuple[Span, ...]
    mark: str
    problem: str = ""
    joiner: str = ", "

    @property
    def text(self) -> str:
        """The answer as one string; several boxes are joined."""
        spans = self.spans
        if len(spans) == 1:
            return spans[0].text
        return self.joiner.join(span.text for span in spans)


MAX_WORDS_CHARS: Final = 32
"""Longest answer in words alone ("infinitely many") that counts far from the end of the text."""
NO_ANSWER: Final = Answer((), "", Reason.NO_ANSWER.value)
TRUNCATED: Final = Answer((), "", Reason.TRUNCATED.value)
ECHO: Final = Answer((), "", "echo")
CONNECTORS: Final = frozenset(
    {
        "and", "or", "und", "oder", "et", "ou", "y", "e", "o", "и", "или", "and/or", "as", "well", "either", "with",
        "u", "либо", "soit", "和", "或", "与", "及", "以及", "或者", "と", "または", "、",
    }
)  # fmt: skip
ALTERNATIVES: Final = frozenset(
    {
        "or",
        "oder",
        "ou",
        "o",
        "u",
        "или",
        "либо",
        "soit",
        "或",
        "或者",
        "または",
        "and/or",
        "alternatively",
        "vs.",
        "versus",
    }
)
MAYBE: Final = ("maybe", "possibly", "perhaps", "even", "alternatively", "potentially", "probably", "else", "also")
PAIRED: Final = frozenset(
    "minimum maximum min max smallest largest least greatest smaller larger lowest highest other median mean mode "
    "imaginary real sine cosine quotient remainder".split()
)
"""Words for the other half of what was asked: "the minimum is \\boxed{3} and the maximum is \\boxed{11}"."""
COPULAS: Final = (
    " is:", " is", " are:", " are", "=", " equals", " be", "为", "是", "：", ":", " est", " es", " ist", " beträgt",
    "等于", "共有", " 有", "هو", "は", " é", "≈", "\\approx", "i.e.", " yields", " gives", " get", " has", " have", "∈",
    "≡",
    "=>", "⇒", "→",
)  # fmt: skip
STARTS_MATH: Final = frozenset("0123456789+-−–±∓([{<>≤≥|\\$€£¥₹√π∞∅.°½⅓⅔¼¾⅕⅛＋－０１２３４５６７８９①②③④⑤")
TRAILING: Final = " \t\r\n.,;:!?。，；：！？*`_\"'”“’"


def lower_case(text: str) -> str:
    """`text.lower()` of the same length: 'İ', the one letter that grows, would shift every position behind it."""
    low = text.lower()
    return low if len(low) == len(text) else text.replace("İ", "I").lower()


def skip(text: str, at: int, end: int, characters: str) -> int:
    while at < end and text[at] in characters:
        at += 1
    return at


def is_letter(text: str, at: int) -> bool:
    return 0 <= at < len(text) and (text[at].isalnum() or text[at] == "_")


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in " \t\r\n*`_\"'“”’：:，,":
        start += 1
    while end > start and text[end - 1] in TRAILING:
        end -= 1
    return start, end


def answer_like(text: str, at: int, end: int) -> bool:
    """True when mathematics starts at `at`, behind emphasis at most."""
    at = skip(text, at, end, ' \t\n*_`"“:')
    return at < end and text[at] in STARTS_MATH


def trim_end(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1].isspace():
        end -= 1
    return end
