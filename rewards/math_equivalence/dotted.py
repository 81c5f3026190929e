r"""Sums and products with dots: `1 + 2 + \cdots + n`, `n(n-1)\cdots 2\cdot 1`, `2 + 4 + \ldots + 100`.

A person reads the rule off the terms beside the dots. Here the rule is the term behind (or before) the dots as a
formula in its letter, when it gives every other written term at consecutive whole numbers; else an arithmetic, else a
geometric progression of numbers. What none of these explains keeps its dots.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final, NamedTuple

from rewards.math_equivalence import tree
from rewards.math_equivalence.expressions import is_scalar, same_scalar, substitute, traits
from rewards.math_equivalence.tree import Node, exact_of

DOTS: Final = Node("const", (), "dots")
MAX_WRITTEN: Final = 9
"""Most written terms whose rule is looked for."""
_STARTS: Final = range(-2, 9)
"""Where the index may begin."""
_COUNTERS: Final = ("n", "k", "m", "N", "K", "M", "p", "q", "r", "s", "t", "j", "l", "i", "d")
"""Letters that the last term may be counted by, the usual ones first."""
MAX_TRIED: Final = 2
"""Most letters that are tried."""
_INDEX: Final = Node("sym", (), "#k")


def closed(terms: Sequence[Node], kind: str) -> Node | None:
    """The `big` node of written terms with one run of dots between them, or None.

    Args:
        terms: the terms of the sum or the factors of the product, as written.
        kind: "sum" or "prod".
    """
    if not 4 <= len(terms) <= MAX_WRITTEN + 1 or list(terms).count(DOTS) != 1:
        return None
    at = list(terms).index(DOTS)
    head, tail = list(map(indexed, terms[:at])), list(map(indexed, terms[at + 1 :]))
    if not head or not tail or not all(map(is_scalar, (*head, *tail))):
        return None
    for front, back in ((head, tail), (tail[::-1], head[::-1])):
        if (found := _by_formula(front, back, kind)) is not None:
            return found
    if kind == "prod" and len(head) > 2 and (found := _by_formula(head[1:], tail, kind)) is not None:
        return tree.mul([head[0], found])  # v(1-a)(1-2a)...(1-na)
    for front, back in ((head, tail), (tail[::-1], head[::-1])):
        if len(front) > 1 and (found := _by_numbers(front, back, kind)) is not None:
            return found
    return None


class Series(NamedTuple):
    """An infinite sum: its term, the letter that counts in it, and where that begins."""

    term: Node
    counter: Node
    start: int


def series_of(node: Node) -> Series | None:
    """An infinite sum, with the factors before it taken into its term; None for everything else."""
    if node.op == "neg" and (inner := series_of(node.args[0])) is not None:
        return inner._replace(term=tree.neg(inner.term))
    if node.op == "div" and (inner := series_of(node.args[0])) is not None:
        return inner._replace(term=tree.div(inner.term, node.args[1]))
    if node.op == "mul":
        sums = [n for n in node.args if n.op == "big"]
        if len(sums) == 1 and (inner := series_of(sums[0])) is not None:
            return inner._replace(term=tree.mul([*(n for n in node.args if n is not sums[0]), inner.term]))
        return None
    if node.op != "big" or node.value[0] != "sum" or node.args[2] != tree.INFTY:
        return None
    start = exact_of(node.args[1])
    return Series(node.args[0], Node("sym", (), node.value[1]), start) if isinstance(start, int) else None


def indexed(node: Node, letter: str | None = None) -> Node:
    """`a_k`, `a_{k-1}`, `a_0` as values of one unknown function `a_` at k, k-1, 0.

    Args:
        node: the tree.
        letter: only subscripts with this letter; None for all.
    """
    if node.op == "sym":
        name, _, script = node.value.partition("_")
        at = _index_of(script) if script and name else None
        if at is None or (letter is not None and letter not in traits(at).alone):
            return node
        return Node("call", (at,), name + "_")
    return Node(node.op, tuple(indexed(a, letter) for a in node.args), node.value) if node.args else node


def _index_of(script: str) -> Node | None:
    """The whole number that a subscript is: `3`, `k`, `k-1`; None for labels."""
    text = script.replace(" ", "")
    if text.isdigit() and len(text) < 10:
        return Node("num", (), int(text))
    if text[:1] not in _COUNTERS:
        return None
    name = Node("sym", (), text[0])
    if len(text) == 1:
        return name
    if text[1] in "+-" and text[2:].isdigit() and len(text) < 10:
        return tree.add([name, Node("num", (), int(text[1:]))])
    return None


def _big(body: Node, low: Node, high: Node, kind: str) -> Node:
    return Node("big", (body, low, high), (kind, "#k"))


def _by_formula(front: list[Node], back: list[Node], kind: str) -> Node | None:
    """`1^2 + 2^2 + ... + n^2`: the last term in its letter, from the whole number that gives the first."""
    last = back[-1]
    used = {name for term in front for name in _letters(term)}
    free = _letters(last) - used
    for letter in [c for c in _COUNTERS if c in free][:MAX_TRIED]:

        def at(value: Node, letter: str = letter) -> Node:
            return tree.fold(substitute(last, {letter: value}))

        name = Node("sym", (), letter)
        before = (tree.add([name, Node("num", (), j - len(back) + 1)]) for j in range(len(back) - 1))
        if not all(_same(at(value), term) for value, term in zip(before, back, strict=False)):
            continue
        for start in _STARTS:
            if all(_same(at(Node("num", (), start + j)), term) for j, term in enumerate(front)):
                return _big(at(_INDEX), Node("num", (), start), name, kind)
    return None


def _by_numbers(front: list[Node], back: list[Node], kind: str) -> Node | None:
    """`2 + 4 + ... + 2n`, `1 + 2 + 4 + ... + 1024`: an arithmetic, else a geometric progression."""
    known = [exact_of(term) for term in front]
    numbers = [n for n in known if n is not None]
    if len(numbers) != len(front):
        return None
    first, step = numbers[0], numbers[1] - numbers[0]
    if step and all(b - a == step for a, b in pairwise(numbers)):
        count = tree.div(tree.add([back[-1], Node("calc", (), -first)]), Node("calc", (), step))
        whole = exact_of(count)
        if whole is None and not _counts(count):
            return None
        steps = all(_same(tree.add([b, tree.neg(a)]), Node("calc", (), step)) for a, b in pairwise(back))
        if steps and (whole is None or (isinstance(whole, int) and whole > len(front))):
            body = tree.add([Node("calc", (), first), tree.mul([Node("calc", (), step), _INDEX])])
            return _big(body, tree.ZERO, count, kind)
    if len(numbers) > 2 and 0 not in numbers and len(back) == 1 and (end := exact_of(back[0])) is not None:
        ratio = Fraction(numbers[1]) / numbers[0]
        if ratio in (0, 1, -1) or any(b != a * ratio for a, b in pairwise(numbers)):
            return None
        value, count_of = Fraction(numbers[-1]), len(numbers) - 1
        while value != end and count_of < 200:
            value *= ratio
            count_of += 1
        if value == end:
            body = tree.mul([Node("calc", (), first), Node("pow", (tree.calc(ratio), _INDEX))])
            return _big(body, tree.ZERO, Node("num", (), count_of), kind)
    return None


def _letters(node: Node) -> frozenset[str]:
    """The letters of a term, `n` of `n(n+1)` among them."""
    found = traits(node)
    return found.alone | found.called


def _counts(node: Node) -> bool:
    """Whether `2n - 1` is: a whole number for every whole n, and as much larger for each."""
    letters = _letters(node)
    if len(letters) != 1:
        return False
    values = [exact_of(tree.fold(substitute(node, {name: Node("num", (), n)}))) for name in letters for n in (5, 6, 7)]
    whole = [v for v in values if isinstance(v, int)]
    return len(whole) == 3 and whole[2] - whole[1] == whole[1] - whole[0] > 0


def _same(x: Node, y: Node) -> bool:
    return x == y or same_scalar(x, y)[0] is True
