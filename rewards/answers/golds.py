"""Golds as texts: numbers, `$...$`, boxes, `#### ...` lines, lists of what is acceptable."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from numbers import Rational, Real
from typing import Any

from rewards.answers.boxes import find_boxed
from rewards.answers.find import find_answer
from rewards.answers.statements import hash_line


class GoldTypeError(TypeError):
    """A gold (or an answer given as an object) of a type that is none."""


def gold_texts(gold: Any) -> tuple[str, ...]:
    r"""The acceptable answers that a gold names, as text: bare, `$...$`, boxed, behind `####`, numbers, or a list.

    Raises:
        GoldTypeError: anything else (`True`, a dict, an object): say it as text or as a number.
    """
    if isinstance(gold, str):
        return (_gold_text(gold),)
    if isinstance(gold, bool):
        return (str(gold),)
    number = number_text(gold)
    if number is not None:
        return (number,)
    if isinstance(gold, Sequence) and not isinstance(gold, bytes | bytearray):
        texts = tuple(text for item in gold for text in gold_texts(item))
        if texts:
            return texts
        raise GoldTypeError("gold is an empty list; allowed: at least one acceptable answer")
    raise GoldTypeError(
        f"gold is a {type(gold).__name__}; allowed: a string, a number, or a list of acceptable answers"
    )


def number_text(value: Any) -> str | None:
    """A Python number as text (`Fraction(1, 3)` -> `1/3`); None when `value` is no finite number."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Rational):
        return f"{int(value.numerator)}/{int(value.denominator)}"
    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else None
    if isinstance(value, Real):
        as_float = float(value)
        return repr(as_float) if math.isfinite(as_float) else None
    return None


def _gold_text(gold: str) -> str:
    text = gold.strip()
    if "boxed" in text or "\\fbox" in text:
        boxed, _ = find_boxed(text, 0, len(text), "")
        if boxed is not None and boxed.spans:
            return boxed.text
    if "####" in text:
        found = hash_line(text, 0, len(text))
        if found is not None:
            return text[found[0] : found[1]].strip()
    if text.startswith("<answer>") and text.endswith("</answer>"):
        return text[8:-9].strip()
    if text[:40].lower().startswith(("answer:", "final answer:", "the answer is", "the final answer is", "答案")):
        stated = find_answer(text, where="stated")
        if stated.spans:
            return stated.text
    return text
