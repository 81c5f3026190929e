"""Sets of numbers in words: "all real numbers except 0", "any integer greater than 2", "all positive reals".

"even" alone is an adjective; "all even integers" and "even integers" are a set.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from rewards.math_equivalence import tree
from rewards.math_equivalence.tree import ONE, TWO, Node

_K: Final = Node("sym", (), "k")
_EVEN: Final = Node("where", (tree.mul([TWO, _K]),), "integer")
_ODD: Final = Node("where", (tree.add([tree.mul([TWO, _K]), ONE]),), "integer")


def _set(name: str) -> Node:
    return Node("numset", (), name)


_NOUNS: Final[dict[str, Node]] = {
    "real numbers": _set("R"), "real number": _set("R"), "reals": _set("R"), "real values": _set("R"),
    "real value": _set("R"), "real": _set("R"), "numbers": _set("R"), "values": _set("R"),
    "positive real numbers": _set("R+"), "positive real number": _set("R+"), "positive reals": _set("R+"),
    "positive real": _set("R+"), "positive numbers": _set("R+"), "negative real numbers": _set("R-"),
    "negative reals": _set("R-"), "negative numbers": _set("R-"), "nonnegative real numbers": _set("R0+"),
    "non-negative real numbers": _set("R0+"), "nonnegative reals": _set("R0+"), "non-negative reals": _set("R0+"),
    "nonpositive real numbers": _set("R0-"), "non-positive real numbers": _set("R0-"),
    "nonzero real numbers": _set("R*"), "non-zero real numbers": _set("R*"), "nonzero reals": _set("R*"),
    "nonzero real number": _set("R*"), "nonnegative numbers": _set("R0+"),
    "non-negative numbers": _set("R0+"),
    "nonzero numbers": _set("R*"), "non-zero numbers": _set("R*"),
    "integers": _set("Z"), "integer": _set("Z"), "integer values": _set("Z"),
    "whole numbers": _set("Z"), "positive integers": _set("Z+"), "positive integer": _set("Z+"),
    "natural numbers": _set("N"), "natural number": _set("N"), "positive natural numbers": _set("Z+"),
    "even integers": _EVEN, "even integer": _EVEN, "even numbers": _EVEN, "odd integers": _ODD, "odd integer": _ODD,
    "odd numbers": _ODD, "rational numbers": _set("Q"), "rational number": _set("Q"), "rationals": _set("Q"),
    "complex numbers": _set("C"), "complex number": _set("C"),
}  # fmt: skip
_BARE: Final = frozenset(("numbers", "values", "real", "positive real"))
"""What needs a letter or a bound behind it: "all real x", "all values except 0"."""
_QUANTIFIERS: Final = frozenset(("all", "any", "every", "each"))
_LEADING: Final = frozenset(("the", "of", "for", "is", "set", "be", "can", "may"))
RELATIONS: Final[dict[str, str]] = {
    "": "", "less than": "<", "smaller than": "<", "below": "<", "greater than": ">", "more than": ">",
    "larger than": ">", "bigger than": ">", "above": ">", "at least": ">=", "at most": "<=", "not less than": ">=",
    "no less than": ">=", "not greater than": "<=", "no greater than": "<=", "no more than": "<=",
    "not exceeding": "<=", "less than or equal to": "<=", "greater than or equal to": ">=",
    "smaller than or equal to": "<=", "larger than or equal to": ">=", "except": "except", "except for": "except",
    "but": "except", "other than": "except", "excluding": "except", "not equal to": "except",
    "different from": "except", "apart from": "except", "besides": "except", "not including": "except",
    "between": "between", "strictly between": "between", "such that": "such", "with": "such", "where": "such",
    "satisfying": "such", "for which": "such",
}  # fmt: skip


class Domain(NamedTuple):
    """What the words name, and how what follows bounds it: a sign, `except`, `between`, `such`, or nothing."""

    base: Node
    relation: str
    bare: bool


def domain_of(words: list[str]) -> Domain | None:
    """The set that words name, up to a bound; None for words that name none or go on otherwise."""
    at = 0
    while at < len(words) and words[at] in _LEADING:
        at += 1
    if at < len(words) and words[at] in _QUANTIFIERS:
        at += 1
        while at < len(words) and words[at] in ("of", "the"):
            at += 1
    elif not (at and "set" in words[:at]) and not words[-1].endswith("s"):
        return None
    for size in (3, 2, 1):
        noun = " ".join(words[at : at + size])
        base = _NOUNS.get(noun)
        if base is not None and len(words) >= at + size:
            relation = relation_of(words[at + size :])
            if words[0] == noun.partition(" ")[0] and (relation or noun in ("numbers", "values", "integers")):
                return None  # "numbers less than 5" without "all" may be a heading
            return None if relation is None else Domain(base, relation, noun in _BARE)
    return None


def relation_of(words: list[str]) -> str | None:
    """The bound that words announce; None for other words."""
    if words[:2] in (["that", "are"], ["which", "are"], ["that", "is"]):
        words = words[2:]
    if words and words[0] in ("strictly", "are", "is"):
        words = words[1:]
    return RELATIONS.get(" ".join(words))


def bounded(base: Node, sign: str, bound: Node) -> Node:
    """The numbers of a set on one side of a bound."""
    if base == _set("R"):
        return Node("rel", (Node("sym", (), "_"), bound), (sign,))
    letter = Node("sym", (), "n")
    return Node("build", (Node("rel", (letter, base), ("in",)), Node("rel", (letter, bound), (sign,))))


def between(base: Node, low: Node, high: Node, closed: bool) -> Node:
    """The numbers of a set between two bounds."""
    sign = "<=" if closed else "<"
    if base == _set("R"):
        return Node("interval", (low, high), (closed, closed))
    letter = Node("sym", (), "n")
    return Node("build", (Node("rel", (letter, base), ("in",)), Node("rel", (low, letter, high), (sign, sign))))
