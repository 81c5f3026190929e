"""What ± stands for: the values of an expression, a tuple, or a list with plus-minus signs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rewards.math_equivalence import tree
from rewards.math_equivalence.tree import Node

MAX_EXPANSION: Final = 64
"""Most values that ± may stand for."""


def has_pm(node: Node) -> bool:
    """Whether ± stands anywhere in the tree."""
    stack = [node]
    while stack:
        n = stack.pop()
        if n.op == "pm" or n.op == "mp":
            return True
        stack.extend(n.args)
    return False


def expand(node: Node) -> list[Node] | None:
    """The values that ± stands for; None when there are too many.

    All ± of one value move together, ∓ against them; without a ∓, terms of a sum and places of a tuple choose freely:
    (±1, ±2) is four points and (±1, ∓2) two.
    """
    if not has_pm(node):
        return [node]
    if node.op == "tuple" and not _has_mp(node):
        rows: list[tuple[Node, ...]] = [()]
        for a in node.args:
            options = expand(a)
            if options is None or len(rows) * len(options) > MAX_EXPANSION:
                return None
            rows = [(*row, option) for row in rows for option in options]
        return [Node("tuple", row) for row in rows]
    if node.op == "add" and sum(1 for a in node.args if has_pm(a)) > 1 and not _has_mp(node):
        totals: list[list[Node]] = [[]]
        for a in node.args:
            options = expand(a)
            if options is None or len(totals) * len(options) > MAX_EXPANSION:
                return None
            totals = [[*terms, option] for terms in totals for option in options]
        return [tree.add(terms) for terms in totals]
    return [_with_sign(node, 1), _with_sign(node, -1)]


def expand_all(values: Sequence[Node]) -> list[Node] | None:
    """All values of several; None when one has too many."""
    out: list[Node] = []
    for value in values:
        options = expand(value)
        if options is None:
            return None
        out.extend(options)
    return out


def _has_mp(node: Node) -> bool:
    stack = [node]
    while stack:
        n = stack.pop()
        if n.op == "mp":
            return True
        stack.extend(n.args)
    return False


def _with_sign(node: Node, sign: int) -> Node:
    if node.op in ("pm", "mp"):
        inner = _with_sign(node.args[0], sign)
        if (sign == 1) == (node.op == "pm"):
            return inner
        if inner.op == "tuple":
            return Node("tuple", tuple(tree.neg(a) for a in inner.args))
        return tree.neg(inner)
    if not node.args:
        return node
    args = [_with_sign(a, sign) for a in node.args]
    if node.op == "add":
        return tree.add(args)
    if node.op == "mul":
        return tree.mul(args)
    if node.op == "div":
        return tree.div(args[0], args[1])
    return Node(node.op, tuple(args), node.value)
