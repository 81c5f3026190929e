"""How many separate steps a completion writes out, up to the number asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from pydantic import Field

from rewards.registry import Params, Verifier, register
from rewards.verdict import Sample, Verdict

# A numbered line, a bullet, or "Step 3:" at the start of a line, with something behind it.
_ITEM: Final = re.compile(
    r"^[ \t>]{0,8}(?:#{1,6}[ \t])?\*{0,2}"
    r"(?:(?:Step|Schritt|Paso|Étape)[ \t]{1,2}\d{1,3}\*{0,2}[ \t]?[:.)-]?|(?:\(?\d{1,3}[.)]|[-*•+])(?=[ \t])"
    r"|(?:步骤[ \t]?|第)[一二三四五六七八九十\d]{1,3}步?\*{0,2}[:：,，、.]|[一二三四五六七八九十]{1,3}、|[①-⑳])"
    r"(?P<content>[^\n]*)",
    re.MULTILINE | re.IGNORECASE,
)
# "First, ..." at the start of a sentence. One `find` for each word is quicker than one pattern for all of them.
_ORDINALS: Final = (
    "First,", "Firstly,", "Second,", "Secondly,", "Third,", "Thirdly,", "Fourth,", "Next,", "Then,", "After that,",
    "Finally,", "Lastly,",
)  # fmt: skip
_HAN_ORDINALS: Final = ("首先", "其次", "然后", "接着", "最后")
_SENTENCE: Final = re.compile(r"[^\n.!?。！？]*")
MAX_INDENT: Final = 8
_INK: Final = re.compile(r"[^\W_]+")


def _step_texts(text: str) -> Iterator[str]:
    """What stands behind each marker of a step."""
    for item in _ITEM.finditer(text):
        yield item["content"]
    for word in _ORDINALS if text.isascii() else _ORDINALS + _HAN_ORDINALS:
        at = text.find(word)
        while at >= 0:
            end = at + len(word)
            if _begins_sentence(text, at):
                sentence = _SENTENCE.match(text, end)
                assert sentence is not None
                yield sentence.group()
                end = sentence.end()  # `: Then,: Then,` over and over is one step, and would cost its square
            at = text.find(word, end)


def _begins_sentence(text: str, at: int) -> bool:
    start = at
    while start and at - start < MAX_INDENT and text[start - 1] in " \t":
        start -= 1
    if not start or text[start - 1] in "\n。！？":
        return True
    return start < at and text[start - 1] in ".!?:"


class StepsParams(Params):
    """Parameters of `reasoning_steps`."""

    steps: int = Field(default=3, ge=1)
    """This many steps earn the full score."""
    min_words: int = Field(default=1, ge=1)
    """A step needs this many words behind its marker."""


@register("reasoning_steps")
class ReasoningSteps(Verifier[StepsParams]):
    """`min(1, steps found / steps)`: numbered lines, bullets, `Step 3:`, sentences that begin with `First,`.

    A step has words behind its marker and differs from the others by them, so `-` alone and one line written three
    times are no steps. What the steps say is not judged: use it beside an answer's verdict, with a small weight.
    """

    reasons: ClassVar[Mapping[str, str]] = {"few_steps": "fewer steps than asked for"}
    source = "open-r1's reasoning_steps reward, which counts empty bullets and misses steps after the first line"
    example: ClassVar[Mapping[str, Any]] = {"completion": "1. Add 7 and 8.\n2. That is 15.\n3. Double it: 30."}

    def verify(self, sample: Sample) -> Verdict:
        p = self.params
        text = sample.text
        contents = set()
        for content in _step_texts(text):
            words = _INK.findall(content.casefold())
            if len(words) >= p.min_words:
                contents.add(" ".join(words))
        found = len(contents)
        if found >= p.steps:
            return Verdict.scored(1.0)
        return Verdict.scored(found / p.steps, "few_steps", f"{found} of {p.steps} steps")
