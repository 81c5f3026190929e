"""Units behind a number: words, powers and quotients of them, and remarks in brackets that are passed over."""

from __future__ import annotations

from typing import Final

from rewards.math_equivalence.cursor import Cursor
from rewards.math_equivalence.tokens import Token, is_word
from rewards.math_equivalence.tree import Node
from rewards.math_equivalence.units import MICRO, Unit, read_unit
from rewards.math_equivalence.vocabulary import AND_WORDS, HEDGES, NEGATIONS, OR_WORDS, QUALIFIERS, STOP_WORDS

_LONE_UNITS: Final = frozenset(("m", "s", "g", "h", "L", "l", "N", "J", "W", "V", "A", "K", "T", "C", "F", "Pa", "eV"))
"""Units that are letters when they stand without \\text."""


class UnitGrammar(Cursor):
    """The part of the grammar that reads a unit."""

    __slots__ = ()

    def unit(self) -> Unit | None:
        """unit := word (word | "/" | "per" | "^" NUM | "*")*, up to a separator, a relation or the end"""
        start = self.i
        parts: list[str] = []
        grouped = False
        while True:
            token = self.toks[self.i]
            kind, text = token.kind, token.text
            if kind in ("w", "W"):
                low = text.lower()
                if (low in NEGATIONS and low != "no") or low in ("null", "none", "nan", "undefined", "true", "false"):
                    break
                if low in AND_WORDS or low in OR_WORDS:
                    following = self.toks[self.i + 1]
                    if following.text.lower() in ("something", "anything", "other", "more", "less", "maybe", "so"):
                        break
                    if following.kind not in ("w", "W") or not parts or self.number_follows(self.i + 1):
                        break
                elif (low in STOP_WORDS or low in QUALIFIERS) and (parts or low != "in") and low != "squared":
                    break
                elif kind == "w" and text in ("x", "y", "z") and parts:
                    break  # 12\\text{ cm}x is no length
                parts.append(text)
                self.i += 1
            elif kind == "s" and text == "Omega":
                parts.append(parts.pop() + "ohm" if parts and parts[-1] in ("k", "M") else "ohm")
                self.i += 1
            elif kind == "s" and text == "mu" and self.toks[self.i + 1].text in MICRO:
                parts.append("u" + self.toks[self.i + 1].text)
                self.i += 2
            elif kind == "o" and text == "/" and self.toks[self.i + 1].text == "(" and parts:
                parts.append("/")
                self.i += 2
                grouped = True  # J/(mol K)
            elif kind == "o" and text == ")" and grouped:
                self.i += 1
                grouped = False
            elif kind == "o" and text == "/" and self.toks[self.i + 1].kind in ("w", "W", "n"):
                parts.append("/")
                self.i += 1
            elif kind == "c" and text == "frac" and (fraction := self.unit_fraction()) is not None:
                parts.extend(fraction)
            elif kind == "o" and text == "^":
                exponent = self.unit_exponent()
                if exponent is None:
                    break
                parts.append("^" + exponent)
            elif kind == "n" and parts and text in ("2", "3", "-1", "-2") and token.space == 0:
                parts.append("^" + text)
                self.i += 1
            elif (kind == "o" and text == "*" and self.toks[self.i + 1].kind in ("w", "W")) or (
                kind == "o" and text == "." and self.toks[self.i + 1].kind in ("w", "W")
            ):
                self.i += 1
            elif kind == "o" and text in ("-", "'") and parts and self.toks[self.i + 1].kind in ("w", "W"):
                parts.append(text)
                self.i += 1
            elif kind == "o" and text == "(" and parts and self.word_group():
                continue
            elif kind == "o" and text in ("square",):
                parts.append("square")
                self.i += 1
            else:
                break
        if not parts or parts == ["/"] or grouped:
            self.i = start
            return None
        unit = read_unit(parts)
        if unit is None:
            self.i = start
        return unit

    def unit_fraction(self) -> list[str] | None:
        """`\\frac{\\text{m}}{\\text{s}^2}` as a unit"""
        start = self.i
        self.i += 1
        sides: list[list[str]] = []
        for _ in range(2):
            if not self.take_op("{"):
                break
            side: list[str] = []
            while True:
                token = self.toks[self.i]
                if token.kind == "W":
                    side.append(token.text)
                    self.i += 1
                elif token.kind == "o" and token.text == "^" and (exponent := self.unit_exponent()) is not None:
                    side.append("^" + exponent)
                else:
                    break
            if not side or not self.take_op("}"):
                break
            sides.append(side)
        if len(sides) == 2:
            return [*sides[0], "/", *sides[1]]
        self.i = start
        return None

    def unit_exponent(self) -> str | None:
        j = self.i + 1
        text = ""
        braced = self.toks[j].text == "{"
        if braced:
            j += 1
        if self.toks[j].kind == "o" and self.toks[j].text == "-":
            text = "-"
            j += 1
        if self.toks[j].kind != "n" or not self.toks[j].text.isdigit() or len(self.toks[j].text) > 2:
            return None
        text += self.toks[j].text
        j += 1
        if braced:
            if self.toks[j].text != "}":
                return None
            j += 1
        self.i = j
        return text

    def unit_letter(self, token: Token) -> bool:
        """`3 m`, `2 m^2` without \\text: only when asked for, since `3m` may be a product"""
        if not self.unit_letters or token.text not in _LONE_UNITS:
            return False
        if self.unit_letters == "spaced" and token.space != 2:
            return False
        after = self.toks[self.i + 1]
        before = self.toks[self.i - 1]
        return (before.kind == "n" or before.text in ("}", ")")) and (
            after.kind in ("", ",") or after.text in ("^", "/", ".", ")")
        )

    def speed_ahead(self) -> bool:
        """`m/s`, `km/h` after a number, without \\text"""
        unit, slash, per = self.toks[self.i : self.i + 3]
        return (
            slash.kind == "o"
            and slash.text == "/"
            and unit.text in ("m", "km", "cm", "ft", "mi", "g", "kg", "L", "J", "W", "N")
            and per.kind == "w"
            and per.text in ("s", "h", "hr", "min", "sec", "m", "cm", "kg", "mol", "K", "L", "mL")
            and self.toks[self.i - 1].kind == "n"
            and self.toks[self.i + 3].text in ("", "^", "}", ",", ")", ".")
        )

    def symbol_unit(self, token: Token) -> bool:
        """`5\\Omega` at the end, `3\\mu m`: ohms and micrometres after a number"""
        after = self.toks[self.i + 1]
        if self.toks[self.i - 1].kind != "n":
            return False
        if token.text == "Omega":
            return after.kind in ("", ",", "q")
        return token.text == "mu" and after.text in MICRO and self.toks[self.i + 2].kind in ("", ",", "q")

    def inches_ahead(self) -> bool:
        """`6\\text{ in}`: "in" at the end or before a power is a unit, not a relation"""
        after = self.toks[self.i + 1]
        return after.kind in ("", ",", "q", "n") or after.text in ("^", "}", ")", ".")

    def after_number(self) -> bool:
        return self.toks[self.i - 1].kind in ("n", "N") or self.toks[self.i - 1].text == "}"

    def number_follows(self, j: int) -> bool:
        while self.toks[j].kind in ("w", "W"):
            j += 1
        return self.toks[j].kind == "n"

    def word_group(self) -> bool:
        """A remark in brackets made of words only is passed over."""
        j = self.i + 1
        while self.toks[j].kind in ("w", "W"):
            if self.toks[j].text.lower() in HEDGES:
                return False  # C (maybe D)
            j += 1
        if j > self.i + 1 and self.toks[j].text == ")":
            self.i = j + 1
            return True
        return False

    def words_only_ahead(self) -> bool:
        """A remark in brackets made of words: `15 (approximately)`"""
        j = self.i + 1
        first = self.toks[j]
        if first.kind not in ("w", "W") or not is_word(first.text) or first.text.lower() in ("mod", "modulo"):
            return False
        while self.toks[j].kind in ("w", "W"):
            if self.toks[j].text.lower() in HEDGES:
                return False
            j += 1
        return self.toks[j].text == ")"


def quantity(node: Node, unit: Unit) -> Node:
    if unit.kind == "percent":
        return Node("pct", (node,))
    if unit.kind == "degree":
        return Node("deg", (node,))
    if unit.kind == "money":
        return price(node, unit.text)
    return Node("qty", (node,), unit)


def price(amount: Node, sign: str) -> Node:
    """An amount of money. `12.500 €` are twelve thousand and five hundred: no price has three decimals."""
    if sign == "€" and amount.op == "dec" and amount.value.digits == 3 and amount.value.value >= 1:
        amount = Node("num", (), int(amount.value.value * 1000))
    return Node("money", (amount,), sign)


def unit_like(token: Token) -> bool:
    return read_unit([token.text], plain=True) is not None if token.kind == "w" else True
