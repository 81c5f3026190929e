"""Numbers as they are written: separators, decimals, repeating digits, exponents, other bases."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from rewards.math_equivalence.cursor import Cursor
from rewards.math_equivalence.tokens import Token
from rewards.math_equivalence.tree import MAX_DIGITS, Decimal10, Node, Problem, exact_of
from rewards.math_equivalence.vocabulary import BASE_WORDS


class Numerals(Cursor):
    """The part of the grammar that reads one number."""

    __slots__ = ()

    def number(self) -> Node:
        """number := digits with thousands separators, a decimal point or comma, repeating digits, an exponent"""
        token = self.toks[self.i]
        text = token.text
        self.i += 1
        if len(text) > MAX_DIGITS:
            raise Problem("over_limit", f"a number of more than {MAX_DIGITS} digits")
        following = self.toks[self.i]
        fkind = following.kind
        if text.isdigit():
            if fkind in ("w", "W") and following.space < 2 and following.text.lower() in ("st", "nd", "rd", "th"):
                self.i += 1  # an ordinal
                return Node("num", (), int(text))
            if (fkind == "o" and following.text == "_") or (
                fkind in ("w", "W") and following.space == 0 and self.digits_of_a_base()
            ):
                return self.based(text)
            if fkind in ("w", "W", "o") and following.space and (base := self.base_in_words()) is not None:
                return Node("base", (), (text, base))
            if (fkind in (",", "n", "o") or following.space) and (joined := self.grouped(text, following)) is not None:
                return joined
            if fkind == "o" and following.text == "." and following.space == 0:
                repeating = self.repeating(text, "")
                if repeating is not None:
                    return repeating
            return Node("num", (), int(text))
        if "e" in text or "E" in text:
            return scientific(text)
        if text.count(".") > 1:
            groups = text.split(".")
            if len(groups[0]) <= 3 and all(len(g) == 3 for g in groups[1:]):
                whole = "".join(groups)
                after = self.toks[self.i + 1]
                if (
                    fkind == ","
                    and following.text == ","
                    and after.kind == "n"
                    and after.space == 0
                    and after.text.isdigit()
                ):
                    self.i += 2  # 1.234.567,89
                    return decimal(whole, after.text)
                return Node("num", (), int(whole))
            self.i -= 1
            self.fail("a number with several points")
        whole, _, digits = text.partition(".")
        if fkind == "o" and following.text == "_" and following.space == 0:
            return self.based(text)
        if fkind in ("w", "W") and len(digits) == 2 and 0 < len(whole) < 3 and self.half_day()[0]:
            half, self.i = self.half_day()  # 4.30 p.m.
            hours, minutes = int(whole), int(digits)
            if hours <= 12 and minutes < 60:
                return Node("time", (), (60 * (hours % 12 + 12 * (half == "pm")) + minutes, True, hours, minutes))
        if fkind == "," and following.text == "," and len(digits) == 3 and 0 < len(whole) <= 3:
            after = self.toks[self.i + 1]
            if (
                after.kind == "n"
                and after.space == 0
                and following.space == 0
                and after.text.isdigit()
                and len(after.text) <= 2
            ):
                self.i += 2  # 1.000,50
                return decimal(whole + digits, after.text)
        if (fkind == "c" and following.text in ("overline", "bar", "dot")) or (fkind == "o" and following.text == "("):
            repeating = self.repeating(whole or "0", digits)
            if repeating is not None:
                return repeating
        if fkind == "D" and self.toks[self.i + 1].kind in ("", ","):
            self.i += 1  # 1.41...
            shown = repeats(digits)
            if shown is not None:
                start, block = shown
                period = Fraction(int(block), 10**start * (10 ** len(block) - 1))
                return Node(
                    "num", (), whole_or_fraction(Fraction(int((whole or "0") + digits[:start]), 10**start) + period)
                )
        if (
            fkind == "n"
            and following.space == 1
            and len(following.text) == 3
            and len(digits) % 3 == 0
            and following.text.isdigit()
        ):
            while (t := self.toks[self.i]).kind == "n" and t.space == 1 and t.text.isdigit() and len(t.text) <= 3:
                digits += t.text  # 3.141\,592\,653
                self.i += 1
        return decimal(whole or "0", digits)

    def base_of(self) -> int | None:
        name = self.script_text().lower().strip("()").removeprefix("base").strip("()- ")
        if name.isdigit() and len(name) < 4:
            return int(name)
        return BASE_WORDS.get(name)

    def base_in_words(self) -> int | None:
        """base := "in"? "base" NUM | "(" "base" NUM ")", behind digits"""
        j = self.i + (self.is_op("(") or (self.toks[self.i].text == "in" and self.toks[self.i + 1].text == "base"))
        word, base = self.toks[j], self.toks[j + 1]
        if word.kind not in ("w", "W") or word.text.lower() != "base" or base.kind not in ("n", "w", "W"):
            return None
        number = int(base.text) if base.text.isdigit() and len(base.text) < 3 else BASE_WORDS.get(base.text.lower(), 0)
        bracketed = self.is_op("(")
        if not 2 <= number <= 36 or (bracketed and self.toks[j + 2].text != ")"):
            return None
        self.i = j + 2 + bracketed
        return number

    def digits_of_a_base(self) -> bool:
        """`2A_{16}`: capital letters A-F tight after digits, up to a subscript"""
        j = self.i
        while (t := self.toks[j]).kind in ("w", "W", "n") and all(c in "0123456789ABCDEF" for c in t.text):
            if t.space and j > self.i:
                break
            j += 1
        base = self.toks[j + 2 if self.toks[j + 1].text == "{" else j + 1].text
        return j > self.i and self.toks[j].text == "_" and (base in ("16", "12", "11", "13", "14", "15", "hex"))

    def letters_of_a_base(self) -> bool:
        """`FF_{16}`, `A3_{12}`: a letter first, so two digits or more, and base 16 where all are letters"""
        if not self.digits_of_a_base():
            return False
        j = self.i
        digits = ""
        while self.toks[j].text != "_":
            digits += self.toks[j].text
            j += 1
        return len(digits) > 1 and (not digits.isalpha() or "16" in (self.toks[j + 1].text, self.toks[j + 2].text))

    def based(self, digits: str) -> Node:
        """based := digits "_" base"""
        while (t := self.toks[self.i]).kind in ("w", "W", "n"):
            digits += t.text
            self.i += 1
        self.i += 1
        base = self.base_of()
        if base is None or not 2 <= base <= 36:
            self.fail("a subscript on a number that is no base")
        return Node("base", (), (digits.upper(), base))

    def repeating(self, whole: str, digits: str) -> Node | None:
        """repeating := "0." digits? ("\\overline" "{" digits "}" | "(" digits ")")"""
        j = self.i
        if self.toks[j].text == ".":
            j += 1
        opener = self.toks[j]
        if opener.kind == "c" and opener.text == "dot":
            return self.dotted(whole, digits, j)
        if opener.kind == "c" and opener.text in ("overline", "bar"):
            j += 1
            if self.toks[j].text == "{":
                closer = "}"
            elif self.toks[j].kind == "n":
                closer = ""
                j -= 1
            else:
                return None
        elif opener.kind == "o" and opener.text == "(" and opener.space == 0 and digits + self.toks[j - 1].text:
            closer = ")"
            if self.toks[j - 1].text != "." and not digits:
                return None
        else:
            return None
        block = self.toks[j + 1]
        if block.kind != "n" or not block.text.isdigit() or len(block.text) > 200:
            return None
        end = j + 2
        if closer:
            if self.toks[end].text != closer:
                return None
            end += 1
        if len(whole) + len(digits) > MAX_DIGITS:
            return None
        self.i = end
        period = Fraction(int(block.text), 10 ** len(digits) * (10 ** len(block.text) - 1))
        start = Fraction(int(whole + digits), 10 ** len(digits))
        return Node("num", (), whole_or_fraction(start + period))

    def dotted(self, whole: str, digits: str, j: int) -> Node | None:
        """repeating := "0." digits? "\\dot" digit (digits? "\\dot" digit)? : dots over the ends of the period"""
        block = ""
        dots = 0
        while True:
            token = self.toks[j]
            if token.kind == "c" and token.text == "dot" and dots < 2:
                dots += 1
                j += 1
                braced = self.toks[j].text == "{"
                j += braced
                if self.toks[j].kind != "n" or len(self.toks[j].text) != 1:
                    return None
                block += self.toks[j].text
                j += 1 + braced
            elif token.kind == "n" and dots == 1 and token.text.isdigit() and self.toks[j + 1].text == "dot":
                block += token.text
                j += 1
            else:
                break
        if not block or len(block) > 200 or len(whole) + len(digits) > MAX_DIGITS:
            return None
        self.i = j
        period = Fraction(int(block), 10 ** len(digits) * (10 ** len(block) - 1))
        return Node("num", (), whole_or_fraction(Fraction(int(whole + digits), 10 ** len(digits)) + period))

    def grouped(self, text: str, following: Token) -> Node | None:
        """grouped := 1-3 digits (separator 3 digits)+ ; the separator is the same throughout"""
        if len(text) > 3:
            if following.text == "," and following.kind == "," and self.comma == "decimal":
                return self.decimal_comma(text)
            return self.braced_comma(text, following)
        separator = self.group_separator(self.i)
        if separator is None:
            return None
        name, size = separator
        if name == "{,}":
            # {,} is a comma inside one number: thousands before three digits, decimal otherwise
            after = self.toks[self.i + size]
            if len(after.text.partition(".")[0]) != 3:
                return self.braced_comma(text, following)
        if name == ",":
            if self.comma == "decimal":
                return self.decimal_comma(text)
            if self.comma == "list":
                return None
            if text == "0" and len(self.toks[self.i + size].text) == 3 and self.toks[self.i + size + 1].kind != ",":
                return self.decimal_comma(text)  # 0,125
        digits = text
        j = self.i
        while True:
            separator = self.group_separator(j)
            if separator is None or separator[0] != name:
                break
            after = self.toks[j + separator[1]]
            body = after.text.partition(".")[0]
            if len(body) != 3 or (name == " " and after.space != 2) or len(digits) > MAX_DIGITS:
                break
            digits += after.text
            j += separator[1] + 1
            if "." in after.text:
                break
        if digits == text or digits.count(".") > 1 or "e" in digits.lower():
            return None
        if name == " " and not self.space_groups(text, j):
            return None
        self.i = j
        whole, point, decimals = digits.partition(".")
        if point:
            return decimal(whole, decimals)
        return Node("num", (), int(whole))

    def space_groups(self, text: str, j: int) -> bool:
        """`9 500` is one number; `2 100/3`, and `1 234 5`, are not"""
        after = self.toks[j]
        if after.kind == "n" or text == "0":
            return False
        return not (after.kind == "o" and after.text == "/")

    def group_separator(self, j: int) -> tuple[str, int] | None:
        """What stands between two groups of digits at `j`, and how many tokens it takes."""
        token = self.toks[j]
        if token.kind == ",":
            if token.text != "," or token.space == 2:
                return None
            after = self.toks[j + 1]
            if after.kind != "n" or after.space == 2:
                return None
            return (",", 1)
        if token.kind == "o":
            if token.text == "{" and self.toks[j + 1].kind == "," and self.toks[j + 2].text == "}":
                return ("{,}", 3) if self.toks[j + 3].kind == "n" else None
            if token.text == "'" and token.space == 0:
                after = self.toks[j + 1]
                return ("'", 1) if after.kind == "n" and after.space == 0 and len(after.text) == 3 else None
            return None
        if token.kind == "n" and token.space:
            return ("thin" if token.space == 1 else " ", 0)
        return None

    def braced_comma(self, text: str, following: Token) -> Node | None:
        if following.kind == "o" and following.text == "{" and self.toks[self.i + 1].kind == ",":
            after = self.toks[self.i + 3]
            if self.toks[self.i + 2].text == "}" and after.kind == "n" and after.text.isdigit() and after.space == 0:
                self.i += 4
                return decimal(text, after.text)
        return None

    def decimal_comma(self, text: str) -> Node | None:
        after = self.toks[self.i + 1]
        if after.kind == "n" and after.text.isdigit() and after.space == 0 and self.toks[self.i].space == 0:
            self.i += 2
            return decimal(text, after.text)
        return None


def whole_or_fraction(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value


def decimal(whole: str, digits: str) -> Node:
    if len(whole) + len(digits) > MAX_DIGITS:
        raise Problem("over_limit", f"a number of more than {MAX_DIGITS} digits")
    if not digits:
        return Node("num", (), int(whole))
    return Node("dec", (), Decimal10(Fraction(int(whole + digits), 10 ** len(digits)), len(digits)))


def repeats(digits: str) -> tuple[int, str] | None:
    """Where the period of `0.1666...` begins, and the period; None for `3.14159...`, whose digits show none.

    A period of one digit must stand there three times unless it stands alone (0.33...), a longer one twice.
    """
    size = len(digits)
    if not 2 <= size <= 60:
        return None
    for start in range(min(size, 6)):
        for length in range(1, (size - start) // 2 + 1):
            times = (size - start) // length
            block = digits[start : start + length]
            if (length > 1 or times > 2 or start == 0) and all(
                digits[j] == block[(j - start) % length] for j in range(start, size)
            ):
                return start, block
    return None


def scientific(text: str) -> Node:
    mantissa, _, exponent = text.lower().partition("e")
    if len(exponent) > 12:
        raise Problem("over_limit", "an exponent of more than 12 digits")
    power = int(exponent)
    whole, _, digits = mantissa.partition(".")
    base = decimal(whole or "0", digits)
    if abs(power) > MAX_DIGITS:
        return Node("mul", (base, Node("pow", (Node("num", (), 10), Node("num", (), power)))))
    value = exact_of(base)
    assert value is not None
    scaled = Fraction(value) * Fraction(10) ** power
    if scaled.denominator == 1 and len(digits) <= power:
        return Node("num", (), int(scaled))
    return Node("dec", (), Decimal10(scaled, max(len(digits) - power, 0)))


_HAN_DIGITS: Final = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_TENS: Final = {"十": 10, "百": 100, "千": 1000}


def han_number(text: str) -> int | None:
    """25 of `25` and `二十五`, up to 9999; None for other texts."""
    if text.isdecimal():
        return int(text) if len(text) < 16 else None
    if not 0 < len(text) < 8:
        return None
    total, digit = 0, -1
    for c in text:
        if c in _HAN_DIGITS and digit < 0:
            digit = _HAN_DIGITS[c]
        elif c in _HAN_TENS:
            total += (1 if digit < 0 else digit) * _HAN_TENS[c]
            digit = -1
        else:
            return None
    return total + max(digit, 0)
