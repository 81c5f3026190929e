"""Words of any script: where spaces part them, and character by character where they do not; and what is blank."""

from __future__ import annotations

import re
from typing import Final

UNSPACED: Final = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u0f00-\u0fff"  # Tibetan
    "\u1000-\u109f\u1780-\u17ff\u1980-\u19df"  # Burmese, Khmer, New Tai Lue
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
"""Ranges, for a character class, of scripts that put no spaces between words. (Hangul does.)"""

_INK: Final = re.compile(
    "[^\\s\\x00-\\x1f\\x7f-\\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0]"
)


def first_ink(text: str, start: int = 0, end: int | None = None) -> int | None:
    """Offset of the first visible character between two offsets; None when there is only white space and the like.

    A zero-width space is as blank as a space: `<think>\\u200b</think>` is an empty block.
    """
    hit = _INK.search(text, start, len(text) if end is None else end)
    return None if hit is None else hit.start()


_UNIT: Final = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+|[^\w\s]")
_ASCII_MARKS: Final = tuple(c for c in map(chr, range(128)) if not (c.isalnum() or c.isspace() or c == "_"))
LONGEST_WORD: Final = 40


def units(text: str) -> list[str]:
    """Words and single punctuation marks, in lower case; each character of an unspaced script is one of them.

    So is each character of a "word" of more than 40: `aaaa...` is a loop, not a word. Splitting on spaces alone
    takes a whole Chinese text for one word, and no loop in it is ever seen.
    """
    text = text.lower()
    if text.isascii():
        # The same cut, without a match object's cost for every word: a third faster.
        for mark in _ASCII_MARKS:
            if mark in text:
                text = text.replace(mark, f" {mark} ")
        out = text.split()
    else:
        out = _UNIT.findall(text)
    if max(map(len, out), default=0) <= LONGEST_WORD:
        return out
    return [piece for unit in out for piece in ((unit,) if len(unit) <= LONGEST_WORD else unit)]
