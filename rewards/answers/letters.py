"""The letter of a multiple choice inside a sentence."""

from __future__ import annotations

from typing import Final

from rewards.answers.denials import denied_behind
from rewards.answers.spans import is_letter, skip


def chosen_letter(text: str, start: int, end: int, *, last: bool) -> tuple[int, int] | None:
    """A choice letter A-J that stands alone; the first one, or the last one that is not denied ("not A", "不是 A")."""
    order = range(end - 1, start - 1, -1) if last else range(start, end)
    for at in order:
        c = text[at]
        if not ("A" <= c <= "J"):
            continue
        if at > start and ((text[at - 1].isascii() and text[at - 1].isalnum()) or text[at - 1] in "'’"):
            continue
        if at + 1 < end and text[at + 1].isascii() and (text[at + 1].isalnum() or text[at + 1] in "'’"):
            run = _letter_run(text, at, end)
            if run:
                return at, run
            continue
        article = c in "AI" and at + 2 < end and text[at + 1] == " " and text[at + 2].islower()
        if article and not text.startswith(_AFTER_LETTER if last else ("or ", "and "), at + 2):
            continue  # also the pronoun
        if text[max(start, at - 12) : at].rstrip(" (*$\\").endswith(("not", "n't", "不是", "不选", "非", "nor")):
            continue
        if denied_behind(text, at + 1, end):
            continue
        return at, at + 1
    return None


_AFTER_LETTER: Final = ("or ", "and ", "because", "since", "as ", "seems", "gives", "are ", "than ")


def letters_before(text: str, start: int, at: int) -> int:
    """Back over the letters that stand with the one at `at`: "either A or B" names both."""
    while True:
        gap = at
        while gap > start and text[gap - 1] in " ,、/()*&":
            gap -= 1
        joined = "," in text[gap:at] or "/" in text[gap:at] or "、" in text[gap:at]
        for word in ("and", "or", "和", "或", "及"):
            if text.endswith(word, start, gap):
                gap -= len(word)
                joined = True
                while gap > start and text[gap - 1] in " ,()*":
                    gap -= 1
        before = gap - 1
        alone = before >= start and "A" <= text[before] <= "J" and not is_letter(text, before - 1)
        if not joined or not alone:
            return at
        at = before


def _letter_run(text: str, at: int, end: int) -> int:
    """One past `AC`, `BCD`: two to five letters in order that stand alone, as a choice of several; else 0."""
    stop = at
    while stop < end and "A" <= text[stop] <= "H" and (stop == at or text[stop] > text[stop - 1]):
        stop += 1
    alone = stop >= end or not (text[stop].isascii() and text[stop].isalnum())
    return stop if alone and 1 < stop - at <= 5 else 0


def chosen_letters(text: str, start: int, end: int) -> tuple[int, int] | None:
    """One letter, or all of a statement that names several (`A, C, D`; hedging stays visible: `A or B`)."""
    first = chosen_letter(text, start, end, last=False)
    if first is None:
        return None
    at = first[1]
    stop = at
    while True:
        after = skip(text, at, end, " ,、/)(*;&$")
        for word in ("and", "or", "和", "或", "及"):
            if text.startswith(word, after):
                after = skip(text, after + len(word), end, " (*$")
                break
        else:
            if after == at:
                break
        if after < end and "A" <= text[after] <= "J" and not (after + 1 < end and text[after + 1].isalnum()):
            at = stop = after + 1
            continue
        break
    return first[0], stop
