r"""One number against one number, exactly or within a tolerance that is asked for: GSM8K and its relatives.

Numbers are read from text as they are written there (`1,234.50`, `$72`, `-3/4`, `2 1/2`, `\frac{3}{4}`, `1.5e3`,
`1.5 \times 10^3`, `12%`) and kept as exact fractions, so no float decides a reward. For mathematics beyond plain
numbers (roots, sets, symbols) use `math`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from rewards.answers import GoldTypeError, find_answer, gold_texts
from rewards.format_checks import Fault, answer_start
from rewards.registry import Params, Verifier, register
from rewards.verdict import Reason, Sample, Verdict

MAX_DIGITS: Final = 400
"""A longer number, or an exponent above this, is over the limit."""
MAX_ANSWER_CHARS: Final = 2000

# Digits group by thousands only where the groups are whole: "3 5" stays two numbers (stanford-crfm/helm#4289) and
# "72, in total" is 72 (stanford-crfm/helm#4337).
_WHOLE: Final = r"\d{1,3}(?:(?:,|\{,\}|\\,)\d{3})+(?!\d)|\d+"
_NUMBER: Final = re.compile(
    rf"(?P<minus>[-\u2212]\s?)?\\?[$€£¥]?\s?(?P<minus2>[-\u2212](?=[\d.]))?"
    r"(?:"
    r"(?P<mixed>\d+)?\s?\\[dt]?frac\s?\{?\s?(?P<top>-?\d+)\s?\}?\s?\{?\s?(?P<bottom>\d+)\s?\}?"
    r"|(?P<mixed2>\d+)\s(?P<top2>\d+)/(?P<bottom2>\d+)(?![\d.])"
    rf"|(?:(?P<whole>{_WHOLE})(?P<decimals>\.\d+)?|(?P<bare>\.\d+))"
    r"(?:[eE](?P<exponent>[+-]?\d+)(?!\w)|\s?(?:\\times|\\cdot|[x×*·])\s?10\s?\^\s?\{?(?P<power>[+-]?\d+)\}?)?"
    r"(?:\s?/\s?(?P<divisor>\d+)(?![\d.]|\s?/))?"
    r")"
)
# What holds digits without being a number of the answer: exponents of units, degree signs.
_UNITS: Final = re.compile(
    r"\\(?:text|mathrm|mbox|textrm|textbf)\s?\{[^{}\d]{0,200}\}(?:\s?\^\s?\{?\d\}?)?"
    r"|(?<=\d):00(?![\d:])|\^\s?\{?\s?\\circ\s?\}?|(?<=[\d\s}])(?:m|[A-Za-z]{2,12})\s?\^\s?\{?[23]\}?"
)

# What makes another value of the numbers beside it, or no value: looked for in what is left without them.
_NOT_PLAIN: Final = re.compile(
    r"\\(?:sqrt|pi|log|ln|exp|sin|cos|tan|pm|mp|infty|leq?|geq?|neq?|lt|gt)(?![A-Za-z])|[\u221a\u03c0\u221e\u00b1<>\u2264\u2265\u2260^!]"
    r"|\*\*[^*]|\bnot\b|n't\b"
)
_VARIABLE: Final = re.compile(r"\d[ixyz](?![A-Za-z0-9])")
_SPACED: Final = re.compile(r"\D*\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:\.\d+)?\D*")


def _value(text: str, hit: re.Match[str]) -> Fraction | Fault | None:
    """The number that a match writes; None for a division by zero."""
    parts = hit.groupdict()
    if any(value is not None and len(value) > MAX_DIGITS for value in parts.values()):
        return Fault(Reason.OVER_LIMIT, f"a number of more than {MAX_DIGITS} digits")
    top, bottom = parts["top"] or parts["top2"], parts["bottom"] or parts["bottom2"]
    if top is not None and bottom is not None:
        if int(bottom) == 0:
            return None
        value = Fraction(int(top), int(bottom)) + int(parts["mixed"] or parts["mixed2"] or 0)
    else:
        whole = re.sub(r"\D", "", parts["whole"] or "")
        value = Fraction(f"{whole}{parts['decimals'] or parts['bare'] or ''}")
        exponent = int(parts["exponent"] or parts["power"] or 0)
        if abs(exponent) > MAX_DIGITS:
            return Fault(Reason.OVER_LIMIT, f"an exponent of {exponent}; at most {MAX_DIGITS} is read")
        if exponent:
            value *= Fraction(10) ** exponent
        if parts["divisor"] is not None:
            if int(parts["divisor"]) == 0:
                return None
            value /= int(parts["divisor"])
    minus = parts["minus"]
    if minus is not None:
        # "16 - 3" and "x-3" subtract, "2021-11" is a date; "= -3", "is -3" and "- 3" at the start are signs.
        before = text[max(0, hit.start() - 2) : hit.start()]
        touching = before[-1:]
        spaced = touching.isspace() or not touching
        near = before.strip()[-1:] if spaced else touching
        joined = near.isalnum() or near in (")", "]", "}", "%")
        if not joined or (spaced and len(minus) == 1):
            value = -value
    return -value if parts["minus2"] is not None else value


def numbers_in(text: str) -> Iterator[Fraction | Fault]:
    """Every number written in `text`, in order, exactly; a `Fault` for one of more digits than are read."""
    for hit in _NUMBER.finditer(text):
        value = _value(text, hit)
        if value is not None:
            yield value


def read_number(text: str) -> Fraction | Fault:
    """The one number that an answer states: after its last `=`, units, currency and emphasis apart."""
    if len(text) > MAX_ANSWER_CHARS:
        return Fault(Reason.OVER_LIMIT, f"an answer of {len(text)} characters; at most {MAX_ANSWER_CHARS} are read")
    if len(text) <= MAX_DIGITS and text.isascii() and text.isdigit():  # most answers, at a fifth of the cost
        return Fraction(int(text))
    stated = re.split(r"=|\u2248|\\approx", text)[-1]
    bare = _UNITS.sub(" ", stated)
    if _SPACED.fullmatch(bare):  # "9 500" alone is one number; among others, "3 500" may be two
        bare = re.sub(r"(?<=\d)\s(?=\d)", "", bare)
    found = list(numbers_in(bare))
    for number in found:
        if isinstance(number, Fault):
            return number
    more = _NOT_PLAIN.search(_NUMBER.sub(" ", bare)) or _VARIABLE.search(bare)
    if found and more is not None:
        return Fault("no_number", f"{text[:80]!r} is not a plain number: {more[0]!r}")
    if not found:
        return Fault("no_number", f"{text[:80]!r} holds no number")
    if any(number != found[0] for number in found):
        return Fault("several_numbers", f"{text[:80]!r} holds {len(found)} numbers")
    return found[0]


class NumericParams(Params):
    """Parameters of `numeric`."""

    where: Literal["boxed", "stated", "anywhere", "last_number"] = "anywhere"
    """Where the answer may stand: in a box or answer tag; also behind `####` or "the answer is"; also in the closing
    sentence. `last_number`: the last number of the text, whatever stands around it (also "not 42"; see
    `rewards check`)."""
    relative_tolerance: float = Field(default=0.0, ge=0, lt=1)
    """Largest distance as a share of the gold. 0: exactly equal."""
    absolute_tolerance: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """Largest distance as such. The wider of the two counts."""


@register("numeric")
class Numeric(Verifier[NumericParams]):
    """1 when the final answer is the gold number, exactly or within the tolerance.

    The gold is a number, its text (`-1,234.5`), a whole GSM8K solution that ends in `#### 72`, or a list of
    acceptable ones. An answer that names several different numbers is wrong. `12%` is 12.
    """

    needs = ("gold",)
    reasons: ClassVar[Mapping[str, str]] = {
        "different": "the number is another one",
        "no_number": "the answer holds no number",
        "several_numbers": "the answer holds several numbers",
        "echo": "the answer repeats the prompt's template",
    }
    source = "GSM8K (arXiv 2110.14168), final answer after ####"
    example: ClassVar[Mapping[str, Any]] = {"completion": "2+40=42\n#### 42", "gold": "First 2, then 40.\n#### 42"}

    def verify(self, sample: Sample) -> Verdict:
        try:
            texts = gold_texts(sample.gold)
        except GoldTypeError as error:
            return Verdict.invalid(Reason.GOLD_UNREADABLE, str(error))
        golds = [read_number(text) for text in texts]
        wanted = [gold for gold in golds if not isinstance(gold, Fault)]
        if len(wanted) < len(golds):
            return Verdict.invalid(
                Reason.GOLD_UNREADABLE,
                f"gold {str(sample.gold)[:80]!r} is not one number; allowed: '72', '-1,234.5', 3/4",
            )
        found, shown = self._answer(sample)
        if isinstance(found, Fault):
            return Verdict.scored(0.0, found.reason, found.detail, extracted=shown)
        if any(self._close(found, gold) for gold in wanted):
            return Verdict.scored(1.0, extracted=shown)
        return Verdict.scored(0.0, "different", f"{shown[:80]!r} against {texts[0][:80]!r}", extracted=shown)

    def _answer(self, sample: Sample) -> tuple[Fraction | Fault, str]:
        text = sample.text
        where = self.params.where
        if where == "last_number":
            last: Fraction | Fault = Fault(Reason.NO_ANSWER, "no number in the text")
            for number in numbers_in(text[answer_start(text) :]):
                last = number
            return last, "" if isinstance(last, Fault) else str(last)
        answer = find_answer(text, prompt=sample.prompt_text, where=where, truncated=bool(sample.truncated))
        if answer.problem or not answer.spans:
            return Fault(answer.problem or Reason.NO_ANSWER, "no final answer found"), ""
        return read_number(answer.text), answer.text

    def _close(self, found: Fraction, gold: Fraction) -> bool:
        p = self.params
        if found == gold or not (p.absolute_tolerance or p.relative_tolerance):
            return found == gold
        distance = abs(found - gold)
        allowed = max(Fraction(p.absolute_tolerance), Fraction(p.relative_tolerance) * abs(gold))
        return distance <= allowed
