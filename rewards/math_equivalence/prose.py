"""Texts without a formula: words that are constants or numbers, dates, sentences and the numbers in them."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from rewards.math_equivalence import tree
from rewards.math_equivalence.numerals import Numerals, whole_or_fraction
from rewards.math_equivalence.tokens import PLAIN_CONSTS, Token, is_word
from rewards.math_equivalence.tree import INFTY, Node, Problem
from rewards.math_equivalence.unit_grammar import quantity
from rewards.math_equivalence.units import read_unit
from rewards.math_equivalence.vocabulary import (
    ALL_REAL_PHRASES,
    AND_WORDS,
    BOUNDS,
    EMPTY_PHRASES,
    FALSE_WORDS,
    FUNCTIONS,
    INFINITE_PHRASES,
    NEGATIONS,
    NUMBER_SET_PHRASES,
    OR_WORDS,
    TRUE_WORDS,
    UNDEFINED_PHRASES,
    number_words,
)


def phrase(words: list[str]) -> Node | None:
    """The constant that a few words stand for."""
    text = " ".join(words)
    if text.startswith("there are infinitely many such "):
        words, text = words[2:4], "infinitely many"
    if text in EMPTY_PHRASES:
        return Node("const", (), "empty")
    if text in UNDEFINED_PHRASES:
        return Node("const", (), "undefined")
    if text in INFINITE_PHRASES:
        return INFTY
    if text in ("noon", "midnight"):
        return Node("time", (), (720 * (text == "noon"), True, 12, 0))
    if text in ("negative infinity", "minus infinity"):
        return tree.MINUS_INFTY
    if text in ALL_REAL_PHRASES:
        return Node("numset", (), "R")
    if text in NUMBER_SET_PHRASES:
        return Node("numset", (), NUMBER_SET_PHRASES[text])
    if text in TRUE_WORDS:
        return Node("const", (), "true")
    if text in FALSE_WORDS:
        return Node("const", (), "false")
    value = number_words(words)
    if value is not None:
        return Node("num", (), whole_or_fraction(Fraction(*value)))
    for size in range(len(words) - 1, max(len(words) - 5, 0), -1):
        value = number_words(words[:size])
        if value is not None and words[0] not in ("half", "quarter", "a", "an") and words[size] != "and":
            unit = read_unit(words[size:])
            if unit is not None:
                return quantity(Node("num", (), whole_or_fraction(Fraction(*value))), unit)
    return None


def sentence(toks: list[Token]) -> Node:
    """A sentence: its words, and the numbers in it."""
    words: list[str] = []
    numbers: list[Node] = []
    code = len(toks) > 1 and toks[0].text == "-" and toks[1].kind == "W" and toks[1].space < 2
    for j, token in enumerate(toks):
        code = code or token.kind in ("s", "b", "k", "f")
        if token.kind in ("w", "W", "s", "b", "k", "f"):
            words.append(token.text.lower().removeprefix("numset:"))
        elif token.kind == "n":
            words.append(token.text)
            code = code or (j > 0 and token.space == 0 and toks[j - 1].kind in ("w", "W"))  # five5
            value = _number(token)
            if value is not None:
                minus = j > 0 and toks[j - 1].text == "-" and (j == 1 or toks[j - 1].space or toks[j - 2].kind != "n")
                numbers.append(tree.neg(value) if minus else value)
        elif token.kind in ("r", "m", "%") or (
            token.kind == "o" and token.text not in (".", "!", "?", "{", "}", "'", ":")
        ):
            words.append(token.text)
            code = code or token.kind == "r" or token.text not in ("$", "%", "-", "*")
        elif token.kind not in (",", "q", "o"):
            code = True
    negated = code or any(
        w in NEGATIONS or w in OR_WORDS or (w in BOUNDS and not _extreme(words, j)) for j, w in enumerate(words)
    )
    return Node("text", () if negated else tuple(numbers[:8]), " ".join(words))


def _extreme(words: list[str], at: int) -> bool:
    """`the maximum value is`, `the least number is` name an extreme; `at least`, `a maximum of` are bounds."""
    return (
        words[at] in ("maximum", "minimum", "least", "most")
        and words[max(at - 1, 0)] != "at"
        and words[at + 1 : at + 2] != ["of"]
        and words[at + 1 : at + 2] != []
        and words[at + 1].isalpha()
    )


_WORDS_TOO: Final = frozenset("max min sec arg abs sign floor th det sh ch lcd log exp".split())


def all_words(toks: list[Token]) -> bool:
    """Whether the text has no mathematics at all: words, marks, and at least one real word."""
    if sum(t.text == "?" for t in toks) > 1:
        return False
    real = False
    for token in toks:
        if token.kind == "w":
            joins = token.text.lower() in AND_WORDS or token.text.lower() in OR_WORDS
            real = real or (is_word(token.text) and not joins) or (len(token.text) >= 3 and token.text.isupper())
            if (
                len(token.text) > 1
                and not is_word(token.text)
                and (token.text in PLAIN_CONSTS or token.text.lower() in FUNCTIONS)
            ):
                return False
        elif token.kind == "W":
            joins = token.text.lower() in AND_WORDS or token.text.lower() in OR_WORDS
            if token.text in FUNCTIONS and token.text not in _WORDS_TOO:
                return False  # \\operatorname{arsinh} x
            real = real or (len(token.text) > 1 and not joins) or not token.text.isascii()
        elif token.kind == "," or (token.kind == "o" and token.text in (".", "!", "?", "'", ":", "-", "{", "}")):
            continue
        else:
            return False
    return real


def worded(toks: list[Token]) -> bool:
    """Whether a text that is no formula is prose: at least two real words, or nothing but words and numbers."""
    if all(t.kind in ("w", "W", "n", ",") or t.text == "." for t in toks) and any(is_word(t.text) for t in toks):
        return True
    return sum(1 for t in toks if t.kind in ("w", "W") and (len(t.text) > 2 or t.text == "is") and is_word(t.text)) > 1


_MONTHS: Final = frozenset(
    "january february march april may june july august september october november december".split()
)


def is_date(toks: list[Token]) -> bool:
    """`July 4`, `4th of July`, `May 3, 2024`: a month and numbers, nothing else."""
    months = 0
    for t in toks:
        if t.kind in ("w", "W"):
            if t.text.lower() in _MONTHS and t.text[0].isupper():
                months += 1
            elif t.text.lower() not in ("st", "nd", "rd", "th", "of", "the"):
                return False
        elif not (t.kind == "," or (t.kind == "n" and t.text.isdigit()) or t.text in (".", "{", "}", "^")):
            return False
    return months == 1 and len(toks) > 1


def _number(token: Token) -> Node | None:
    try:
        return Numerals([token], "list").number()
    except Problem:
        return None
