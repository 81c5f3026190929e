"""Matrices, and what else is one: sums and multiples of matrices, vectors in brackets, `3i - 2j`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from rewards.math_equivalence import tree
from rewards.math_equivalence.equations import assignment
from rewards.math_equivalence.expressions import (
    is_scalar,
    substitute,
    traits,
)
from rewards.math_equivalence.tree import Node, exact_of

_ARITHMETIC: Final = frozenset({"add", "mul", "neg", "div"})


_AXES: Final = ("i", "j", "k")


def holds_matrix(node: Node) -> bool:
    if node.op == "sym":
        return ":" in node.value and node.value[-2:] in (":i", ":j", ":k")
    if node.op not in _ARITHMETIC:
        return False
    return any(a.op in ("matrix", "tuple", "bracket") or holds_matrix(a) for a in node.args)


def turned_matrices(gold: Node, answer: Node) -> bool:
    """Whether two products of capitals with an inverse among them, `A^{-1}B` and `BA^{-1}`, differ in their order."""
    sides: list[list[tuple[str, object]]] = []
    for node in (gold, answer):
        factors: list[tuple[str, object]] = []
        for factor in node.args if node.op == "mul" else (node,):
            base, power = factor.args if factor.op == "pow" else (factor, tree.ONE)
            if base.op != "sym" or not base.value[0].isupper() or exact_of(power) is None:
                return False
            factors.append((base.value, exact_of(power)))
        sides.append(factors)
    inverted = all(any(power == -1 for _, power in factors) for factors in sides)
    return inverted and sides[0] != sides[1]


MAX_VECTORS: Final = 10
"""Most vectors, and most coordinates of one, whose span is compared; most rows of an identity matrix."""


def same_span(gold: Sequence[Node], answer: Sequence[Node]) -> bool | None:
    """Whether two lists of rational vectors span one space: by the ranks of both and of all together."""
    if max(len(gold), len(answer)) > MAX_VECTORS:
        return None
    rows: list[list[list[Fraction]]] = []
    for vectors in (gold, answer):
        side: list[list[Fraction]] = []
        for vector in vectors:
            found = as_matrix(vector)
            values = [exact_of(tree.fold(cell)) for cell in found[2]] if found is not None else []
            if not 0 < len(values) <= MAX_VECTORS or any(v is None for v in values):
                return None
            side.append([Fraction(v) for v in values if v is not None])
        rows.append(side)
    if len({len(row) for side in rows for row in side}) != 1:
        return False
    ranks = {_rank(rows[0]), _rank(rows[1]), _rank(rows[0] + rows[1])}
    return len(ranks) == 1


def _rank(rows: list[list[Fraction]]) -> int:
    """By elimination."""
    left = [row[:] for row in rows]
    rank = 0
    for column in range(len(left[0])):
        pivot = next((r for r in range(rank, len(left)) if left[r][column]), None)
        if pivot is None:
            continue
        left[rank], left[pivot] = left[pivot], left[rank]
        for r in range(rank + 1, len(left)):
            factor = left[r][column] / left[rank][column]
            left[r] = [a - factor * b for a, b in zip(left[r], left[rank], strict=True)]
        rank += 1
    return rank


_IDENTITY: Final = frozenset(("I", "bold:I", "E", "bold:E"))


def with_identity(node: Node, size: int) -> Node:
    """The tree with `I`, `I_2`, `\\mathbf{I}` as the identity matrix of so many rows."""
    if node.op == "sym":
        name, _, script = node.value.partition("_")
        if name not in _IDENTITY or script not in ("", "n", str(size)):
            return node
        cells = tuple(tree.ONE if r == c else tree.ZERO for r in range(size) for c in range(size))
        return Node("matrix", cells, (size, size, "("))
    if node.op == "rel":
        return Node("rel", (*node.args[:-1], with_identity(node.args[-1], size)), node.value)
    if node.op not in _ARITHMETIC:
        return node
    return Node(node.op, tuple(with_identity(a, size) for a in node.args), node.value)


def _linear(node: Node, axes: frozenset[str]) -> bool:
    """Whether the axes stand in the tree only as terms with a factor: `2i + j`, not `i^2`."""
    if node.op == "sym":
        return True
    inside = [bool(traits(a).alone & axes) for a in node.args]
    if not any(inside):
        return True
    if node.op in ("add", "neg"):
        return all(_linear(a, axes) for a in node.args)
    if node.op == "mul":
        return sum(inside) == 1 and all(_linear(a, axes) for a in node.args)
    return node.op == "div" and not inside[1] and _linear(node.args[0], axes)


def along_axes(node: Node, *, plain: bool = False) -> tuple[int, int, tuple[Node, ...]] | None:
    """`3i - 2j` with bold, hatted or arrowed letters as the column of its coefficients."""
    if node.op not in ("add", "mul", "neg", "sym", "div"):
        return None
    names = traits(node).alone
    if not names or any(":" in n and n.partition(":")[2] not in _AXES for n in names):
        return None
    axes = {n: n.partition(":")[2] for n in names if ":" in n}
    if plain and not axes:
        axes = {n: n for n in names if n in _AXES}
    if not axes or len(set(axes.values())) != len(axes):
        return None
    if not _linear(node, frozenset(axes)):
        return None
    width = 3 if "k" in axes.values() else 2
    cells = []
    for axis in _AXES[:width]:
        cells.append(substitute(node, {n: tree.ONE if a == axis else tree.ZERO for n, a in axes.items()}))
    return width, 1, tuple(cells)


def as_matrix(node: Node) -> tuple[int, int, tuple[Node, ...]] | None:
    """Rows, columns and cells: of a matrix, a sum or a multiple of matrices, a vector in brackets, `3i - 2j`."""
    if node.op == "matrix":
        rows, columns, fence = node.value
        return (rows, columns, node.args) if fence != "|" else None
    if node.op == "rel" and node.value == ("=",):
        named = assignment(node)
        return None if named is None else as_matrix(named[1])
    if node.op in ("tuple", "bracket"):
        if node.op == "bracket" and node.args and all(a.op == "bracket" for a in node.args):
            widths = {len(a.args) for a in node.args}
            if len(widths) == 1:
                return len(node.args), widths.pop(), tuple(c for a in node.args for c in a.args)
        return (len(node.args), 1, node.args) if node.args else None
    if node.op == "list" and len(node.args) == 1:
        return as_matrix(node.args[0])
    if node.op == "list":
        pairs = [pair for pair in map(assignment, node.args) if pair is not None and pair[0].op == "sym"]
        if len(pairs) != len(node.args) or not pairs:
            return None
        names = [str(name.value) for name, _ in pairs]
        numbered = names == [f"{names[0][:1]}_{j + 1}" for j in range(len(names))]
        return (len(names), 1, tuple(value for _, value in pairs)) if numbered else None  # x_1 = 1, x_2 = 2
    axes = along_axes(node)
    if axes is not None:
        return axes
    if node.op == "add":
        parts = [as_matrix(a) for a in node.args]
        known = [p for p in parts if p is not None]
        if len(known) != len(parts) or len({p[:2] for p in known}) != 1:
            return None
        cells = tuple(tree.add([p[2][j] for p in known]) for j in range(len(known[0][2])))
        return known[0][0], known[0][1], cells
    if node.op == "neg":
        part = as_matrix(node.args[0])
        return None if part is None else (part[0], part[1], tuple(tree.neg(c) for c in part[2]))
    if node.op == "mul":
        scale = [a for a in node.args if is_scalar(a)]
        others = [m for a in node.args if not is_scalar(a) and (m := as_matrix(a)) is not None]
        if len(scale) + len(others) != len(node.args) or not others:
            return None
        product = others[0]
        for right in others[1:]:
            if product[1] != right[0] or product[0] * product[1] * right[1] > 1000:
                return None
            r, k, c = product[0], product[1], right[1]
            product = (r, c, tuple(
                tree.add([tree.mul([product[2][i * k + m], right[2][m * c + j]]) for m in range(k)])
                for i in range(r) for j in range(c)
            ))  # fmt: skip
        return product[0], product[1], tuple(tree.mul([*scale, cell]) for cell in product[2])
    if node.op == "div" and is_scalar(node.args[1]):
        part = as_matrix(node.args[0])
        return None if part is None else (part[0], part[1], tuple(tree.div(c, node.args[1]) for c in part[2]))
    return None
