"""A place in a list of tokens, and the steps that every part of the grammar takes from it."""

from __future__ import annotations

from typing import NoReturn

from rewards.math_equivalence.tokens import ENDS, Token
from rewards.math_equivalence.tree import Problem
from rewards.math_equivalence.vocabulary import AND_WORDS, OR_WORDS


class Cursor:
    """Tokens and a position. `comma` says what `1,234` is: `thousands`, `list` or `decimal`."""

    __slots__ = ("bars", "comma", "depth", "dots", "forgiven", "i", "integrals", "open", "toks", "unit_letters")

    def __init__(self, toks: list[Token], comma: str, unit_letters: str = "") -> None:
        self.unit_letters = unit_letters
        self.forgiven = 0
        self.depth = 0
        self.toks = toks
        # several ends, so that looking a few tokens ahead needs no bounds
        self.toks.extend(ENDS)
        self.i = 0
        self.bars = 0
        self.integrals = 0
        self.dots = 0
        self.open: list[str] = []
        self.comma = comma

    def fail(self, why: str) -> NoReturn:
        token = self.toks[self.i]
        raise Problem("unreadable", f"{why} at {token.text!r}" if token.kind else f"{why} at the end")

    def is_op(self, text: str) -> bool:
        token = self.toks[self.i]
        return token.kind == "o" and token.text == text

    def take_op(self, text: str) -> bool:
        token = self.toks[self.i]
        if token.kind == "o" and token.text == text:
            self.i += 1
            return True
        return False

    def expect(self, text: str) -> None:
        """A closing bracket; one missing at the very end is forgiven, as a person would."""
        token = self.toks[self.i]
        if token.kind == "o" and token.text == text:
            self.i += 1
        elif token.kind != "":
            self.fail(f"expected {text!r}")

    def at_clause_end(self) -> bool:
        token = self.toks[self.i]
        if token.kind in ("", ",", "q"):
            return True
        if token.kind == "o":
            return token.text in (")", "}", "\\}", "]", ".", "!", "\\\\", "&")
        return token.kind in ("w", "W") and token.text.lower() in (AND_WORDS | OR_WORDS)

    def half_day(self) -> tuple[str, int]:
        letters = ""
        j = self.i
        first, second, third = (t.text.lower() for t in self.toks[j : j + 3])
        if first in ("noon", "midnight"):
            return "pm" if first == "noon" else "am", j + 1
        if (first, second) == ("in", "the") and third in ("morning", "afternoon", "evening"):
            return "am" if third == "morning" else "pm", j + 3
        while (self.toks[j].kind in ("w", "W") and len(letters) < 2) or (self.toks[j].text == "." and letters):
            letters += self.toks[j].text.lower().strip(".")
            j += 1
        return (letters, j) if letters in ("am", "pm") else ("", self.i)

    def script_text(self) -> str:
        """The text of a subscript, as part of a name: `x_{n+1}` is named `x_n+1`."""
        token = self.toks[self.i]
        if token.kind == "o" and token.text == "{":
            depth = 0
            parts: list[str] = []
            while True:
                token = self.toks[self.i]
                if token.kind == "":
                    break
                self.i += 1
                if token.kind == "o" and token.text == "{":
                    depth += 1
                elif token.kind == "o" and token.text == "}":
                    depth -= 1
                    if depth == 0:
                        break
                else:
                    parts.append(token.text)
            return "".join(parts)
        if token.kind == "":
            self.fail("nothing under the subscript")
        if token.kind == "n" and len(token.text) > 1 and token.text.isdigit():
            # x_12 is x_{12} to a person who forgot the braces
            self.i += 1
            return token.text
        self.i += 1
        if token.kind == "w" and len(token.text) > 1:
            self.split_word(token, self.i - 1, 1)
            return token.text[0]
        return token.text

    def split_word(self, token: Token, at: int, size: int) -> None:
        """Leaves the rest of a run of letters as the next token."""
        rest = Token("w", token.text[size:], 0)
        self.toks[at] = Token("w", token.text[:size], token.space)
        self.toks.insert(at + 1, rest)
