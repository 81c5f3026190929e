"""Sets of real numbers from intervals, unions, set builders and solved inequalities.

A set is a tuple of `Piece`s, sorted and merged when their ends can be ordered. `x > 3`, `(3,∞)`, `x ∈ (3,∞)` and
`{x | x > 3}` become the same set; an inequality that is not solved (`x^2-3x+2<0`) becomes none, so restating the
question is no answer.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cmp_to_key
from typing import Final, NamedTuple

from rewards.math_equivalence import tree
from rewards.math_equivalence.expressions import is_scalar, order, same_scalar, substitute, traits
from rewards.math_equivalence.plusminus import expand, has_pm
from rewards.math_equivalence.tree import INFTY, MINUS_INFTY, ZERO, Node, exact_of


class Piece(NamedTuple):
    """One interval; a point has equal closed ends."""

    low: Node
    high: Node
    low_closed: bool
    high_closed: bool


class RealSet(NamedTuple):
    """A union of pieces, and the variable it was written with, if any."""

    pieces: tuple[Piece, ...]
    variable: Node | None


class NotReal(Exception):
    """The tree is no set of real numbers, or one that cannot be put in order."""


EVERYTHING: Final = (Piece(MINUS_INFTY, INFTY, False, False),)
_NUMSETS: Final = {
    "R": EVERYTHING,
    "R+": (Piece(ZERO, INFTY, False, False),),
    "R-": (Piece(MINUS_INFTY, ZERO, False, False),),
    "R0+": (Piece(ZERO, INFTY, True, False),),
    "R0-": (Piece(MINUS_INFTY, ZERO, False, True),),
    "R*": (Piece(MINUS_INFTY, ZERO, False, False), Piece(ZERO, INFTY, False, False)),
}
_SURE: Final = frozenset({"interval", "union", "inter", "minus", "build"})
_INEQUALITIES: Final = frozenset({"<", "<=", ">", ">="})
_FLIP: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}


def is_set(node: Node) -> bool:
    """Whether the tree can only be a set of reals or a condition on one: what makes `(1,2)` opposite it an interval."""
    if node.op in _SURE:
        return True
    if node.op == "numset":
        return node.value in _NUMSETS
    if node.op == "rel":
        return any(sign in _INEQUALITIES or sign in ("in", "!=") for sign in node.value)
    if node.op == "list":
        return (
            bool(node.args) and any(is_set(a) for a in node.args) and all(is_set(a) or a.op == "rel" for a in node.args)
        )
    if node.op == "where":
        return is_set(node.args[0])
    return False


def read_set(node: Node) -> RealSet:
    """The set.

    Raises:
        NotReal: it is none, or its ends cannot be ordered.
    """
    pieces, variable = _read(node)
    return RealSet(normal(pieces), variable)


def _read(node: Node) -> tuple[tuple[Piece, ...], Node | None]:
    op = node.op
    if op == "interval":
        low, high = node.args
        left, right = node.value
        return _piece(low, high, left, right), None
    if op in ("tuple", "bracket") and len(node.args) == 2 and all(map(_is_end, node.args)):
        closed = op == "bracket"
        return _piece(node.args[0], node.args[1], closed, closed), None
    if op == "set":
        points: list[Piece] = []
        for value in node.args:
            if value.op == "rel":
                inner, _ = _read(value)
                points.extend(inner)
            else:
                points.extend(_point(value))
        if len(node.args) > 1 and any(n.op == "rel" for n in node.args):
            raise NotReal  # {x > 3, x > 4} is no set
        return tuple(points), None
    if op == "const" and node.value == "empty":
        return (), None
    if op == "numset":
        if node.value in _NUMSETS:
            return _NUMSETS[node.value], None
        raise NotReal
    if op == "union":
        parts: list[Piece] = []
        for a in node.args:
            parts.extend(_read(_group_as_set(a))[0])
        return tuple(parts), None
    if op == "inter":
        pieces = _read(node.args[0])[0]
        for a in node.args[1:]:
            pieces = intersect(normal(pieces), normal(_read(a)[0]))
        return pieces, None
    if op == "minus":
        left = normal(_read(node.args[0])[0])
        return intersect(left, complement(normal(_read(_group_as_set(node.args[1]))[0]))), None
    if op == "build":
        return _build(node)
    if op == "rel":
        return _relation(node)
    if op == "where":
        return _read(node.args[0])
    if op == "list" and node.args:
        read = [_read(a) for a in node.args]
        variables = {v for _, v in read if v is not None}
        if len(variables) > 1:
            raise NotReal
        variable = variables.pop() if variables else None
        if node.value == "or":
            union = normal(tuple(p for pieces, _ in read for p in pieces))
            if len(read) > 1 and any(normal(pieces) == union for pieces, _ in read):
                raise NotReal  # "x > 3 or x > 4" names two answers
            return union, variable
        if any(a.op not in ("rel", "where") for a in node.args[node.args[0].op == "numset" :]):
            raise NotReal
        pieces = normal(read[0][0])
        for other, _ in read[1:]:
            pieces = intersect(pieces, normal(other))
        if not pieces and node.value == "and":
            raise NotReal  # no number is below -1 and above 2
        if not pieces:
            # "x < -1, x > 2" with a comma means either
            return tuple(p for pieces, _ in read for p in pieces), variable
        return pieces, variable
    raise NotReal


def _group_as_set(node: Node) -> Node:
    """`(-∞,0) ∪ {1}` with plain braces: a number in a union is a point."""
    return Node("set", (node,)) if is_scalar(node) and node.op != "sym" else node


def _is_end(node: Node) -> bool:
    return is_scalar(node) or node in (INFTY, MINUS_INFTY)


def _point(value: Node) -> tuple[Piece, ...]:
    if has_pm(value):
        values = expand(value)
        if values is None:
            raise NotReal
        return tuple(Piece(v, v, True, True) for v in values)
    if not is_scalar(value):
        raise NotReal
    return (Piece(value, value, True, True),)


def _piece(low: Node, high: Node, left: bool, right: bool) -> tuple[Piece, ...]:
    if not (_is_end(low) and _is_end(high)):
        raise NotReal
    found = order(low, high)
    if found == 1 or (found == 0 and not (left and right)):
        raise NotReal
    return (Piece(low, high, left and low != MINUS_INFTY, right and high != INFTY),)


def _build(node: Node) -> tuple[tuple[Piece, ...], Node | None]:
    body, condition = node.args
    if body.op == "rel" and body.value == ("in",):
        domain = _read(body.args[1])[0]
        body = body.args[0]
    else:
        domain = EVERYTHING
    if body.op != "sym":
        raise NotReal
    pieces, variable = _read(condition)
    if variable is not None and variable != body:
        raise NotReal
    if domain is not EVERYTHING:
        pieces = intersect(normal(pieces), normal(domain))
    return pieces, None


def whole_numbers(node: Node, *, zero: bool | None = None) -> Node | None:
    """`{x ∈ Z | -1 ≤ x ≤ 2}` as the set of its elements; None for any other set builder, or one with many elements."""
    body, condition = node.args
    if body.op == "rel" and body.value == ("in",) and body.args[1].op == "numset" and body.args[0].op == "sym":
        domain = body.args[1].value
        if domain[0] not in "ZN":
            return None
        try:
            pieces = normal(_read(condition)[0])
        except NotReal:
            return None
        if "+" in domain:
            pieces = intersect(pieces, (Piece(tree.ONE, INFTY, True, False),))
        elif domain[0] == "N":
            if zero is None:
                return None  # whether 0 counts is the author's choice
            pieces = intersect(pieces, (Piece(ZERO if zero else tree.ONE, INFTY, True, False),))
        found: list[Node] = []
        for piece in pieces:
            low, high = exact_of(piece.low), exact_of(piece.high)
            if low is None or high is None or high - low > 300:
                return None
            for n in range(low.__ceil__(), high.__floor__() + 1):
                if (n > low or piece.low_closed) and (n < high or piece.high_closed):
                    found.append(Node("num", (), n))
        return Node("set", tuple(found)) if found else Node("const", (), "empty")
    return None


_NATURAL: Final = {"Z": (MINUS_INFTY,), "Z+": (tree.ONE,), "N+": (tree.ONE,), "N*": (tree.ONE,), "N": (tree.ONE, ZERO)}


def integers_of(node: Node) -> list[RealSet]:
    """The whole numbers of a set as closed pieces: `n > 2` is [3, ∞). Several readings where N may begin with 0.

    Empty for what is no set of integers with rational ends.
    """
    if node.op == "numset":
        lows = _NATURAL.get(node.value, ())
        return [RealSet((Piece(low, INFTY, low != MINUS_INFTY, False),), None) for low in lows]
    domain = "Z"
    variable: Node | None = None
    if node.op == "build" and node.args[0].op == "sym":
        return []
    if node.op == "build" and node.args[0].op == "rel" and node.args[0].value == ("in",):
        if node.args[0].args[1].op != "numset":
            return []
        domain, node = node.args[0].args[1].value, node.args[1]
    try:
        pieces, variable = _read(node)
        closed: list[Piece] = []
        for piece in normal(pieces):
            ends: list[Node] = []
            for end, inside, low in ((piece.low, piece.low_closed, True), (piece.high, piece.high_closed, False)):
                value = exact_of(end)
                if value is None:
                    if end not in (INFTY, MINUS_INFTY):
                        return []
                    ends.append(end)
                elif low:
                    ends.append(Node("num", (), value.__ceil__() if inside else value.__floor__() + 1))
                else:
                    ends.append(Node("num", (), value.__floor__() if inside else value.__ceil__() - 1))
            if order(ends[0], ends[1]) != 1:
                closed.append(Piece(ends[0], ends[1], ends[0] != MINUS_INFTY, ends[1] != INFTY))
        return [
            RealSet(intersect(normal(tuple(closed)), (Piece(low, INFTY, low != MINUS_INFTY, False),)), variable)
            for low in _NATURAL.get(domain, ())
        ]
    except NotReal:
        return []


def finite_integers(node: Node) -> Node:
    """`1 ≤ k ≤ 3` about whole numbers as the set of them; the tree as it was when they are many."""
    sets = integers_of(node)
    pieces = sets[0].pieces if len(sets) == 1 else ()
    numbers: list[Node] = []
    for piece in pieces:
        low, high = exact_of(piece.low), exact_of(piece.high)
        if not (isinstance(low, int) and isinstance(high, int) and high - low + len(numbers) <= 100):
            return node
        numbers.extend(Node("num", (), n) for n in range(low, high + 1))
    return Node("set", tuple(numbers)) if numbers else node


def same_integers(gold: Node, answer: Node) -> bool:
    """Whether two sets of whole numbers are equal; the letter, where both have one, must be the same."""
    return any(
        x.pieces == y.pieces and (None in (x.variable, y.variable) or x.variable == y.variable)
        for x in integers_of(gold)
        for y in integers_of(answer)
    )


def _relation(node: Node) -> tuple[tuple[Piece, ...], Node | None]:
    sides, signs = node.args, node.value
    if len(sides) == 2 and signs == ("in",):
        if not _is_variable(sides[0]):
            raise NotReal
        return _read(sides[1])[0], sides[0]
    if len(sides) > 2 and signs[-1] in ("=", "in") and all(s == signs[0] for s in signs[:-1]):
        raise NotReal
    if len(sides) == 2:
        a, b = sides
        if _is_variable(a) and _is_constant(b, a):
            return _half(a, signs[0], b)
        if _is_variable(b) and _is_constant(a, b):
            if signs[0] not in _FLIP:
                raise NotReal
            return _half(b, _FLIP[signs[0]], a)
        raise NotReal
    if len(sides) == 3 and _is_variable(sides[1]):
        low, v, high = sides
        s1, s2 = signs
        if s1 in (">", ">=") and s2 in (">", ">="):
            low, high = high, low
            s1, s2 = _FLIP[s2], _FLIP[s1]
        if s1 not in ("<", "<=") or s2 not in ("<", "<="):
            raise NotReal
        if not (_is_constant(low, v) and _is_constant(high, v)):
            raise NotReal
        if v.op == "abs":
            inner = v.args[0]
            if order(low, ZERO) not in (0, 1):
                raise NotReal
            left, right = s1 == "<=", s2 == "<="
            return (
                Piece(tree.neg(high), tree.neg(low), right, left),
                Piece(low, high, left, right),
            ), inner
        return _piece(low, high, s1 == "<=", s2 == "<="), v
    raise NotReal


def _half(v: Node, sign: str, bound: Node) -> tuple[tuple[Piece, ...], Node | None]:
    if has_pm(bound):
        values = expand(bound)
        if values is None or sign not in ("=", "!="):
            raise NotReal
        points = tuple(Piece(b, b, True, True) for b in values)
        return (points if sign == "=" else complement(normal(points))), v
    infinite = bound in (INFTY, MINUS_INFTY)
    if v.op == "abs" and not infinite:
        inner = v.args[0]
        if sign in ("<", "<="):
            if order(bound, ZERO) != 1:
                raise NotReal
            closed = sign == "<="
            return (Piece(tree.neg(bound), bound, closed, closed),), inner
        if sign in (">", ">=") and order(bound, ZERO) == 1:
            closed = sign == ">="
            return (
                Piece(MINUS_INFTY, tree.neg(bound), False, closed),
                Piece(bound, INFTY, closed, False),
            ), inner
        raise NotReal
    if sign == "<" or sign == "<=":
        return (Piece(MINUS_INFTY, bound, False, sign == "<=" and not infinite),), v
    if sign == ">" or sign == ">=":
        return (Piece(bound, INFTY, sign == ">=" and not infinite, False),), v
    if sign == "=" and not infinite:
        return (Piece(bound, bound, True, True),), v
    if sign == "!=" and not infinite:
        return (Piece(MINUS_INFTY, bound, False, False), Piece(bound, INFTY, False, False)), v
    raise NotReal


def absolute_solved(node: Node) -> Node | None:
    """`|2x - 1| > 3` as `x < -1 or x > 2`; None for other relations.

    For golds only: an answer has to be solved, since the unsolved inequality may be the question itself.
    """
    if node.op != "rel" or len(node.args) != 2 or node.value[0] not in _INEQUALITIES:
        return None
    (left, right), sign = node.args, node.value[0]
    if right.op == "abs":
        left, right, sign = right, left, _FLIP[sign]
    if left.op != "abs" or not is_scalar(left) or not is_scalar(right) or len(traits(left).alone) != 1:
        return None
    (name,) = traits(left).alone
    bound = exact_of(tree.fold(right))
    at = [exact_of(tree.fold(substitute(left.args[0], {name: Node("num", (), n)}))) for n in (0, 1, 2)]
    if bound is None or bound <= 0 or at[0] is None or at[1] is None or at[2] is None:
        return None
    slope = Fraction(at[1] - at[0])
    if slope == 0 or at[2] - at[1] != slope:
        return None
    ends = sorted(((-bound - at[0]) / slope, (bound - at[0]) / slope))
    letter = Node("sym", (), name)
    low, high = (Node("num", (), int(end) if end.denominator == 1 else end) for end in ends)
    if sign in ("<", "<="):
        return Node("rel", (low, letter, high), (sign, sign))
    return Node("list", (Node("rel", (letter, low), (_FLIP[sign],)), Node("rel", (letter, high), (sign,))), "or")


def _is_variable(node: Node) -> bool:
    """A letter, `f(x)`, `|x|`: something a solved inequality is about. `_` stands for one left out, as in "≤ 5"."""
    if node.op == "sym":
        return True
    if node.op == "call":
        return all(a.op == "sym" or exact_of(a) is not None for a in node.args)
    return node.op == "abs" and node.args[0].op == "sym"


def _is_constant(node: Node, variable: Node) -> bool:
    if node in (INFTY, MINUS_INFTY):
        return True
    if not is_scalar(node) and not has_pm(node):
        return False
    own = traits(variable).alone
    return not own & traits(node).alone


# --------------------------------------------------------------------------------------------------------------------


def normal(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Sorted by their low ends, overlapping and touching pieces merged."""
    if len(pieces) < 2:
        return pieces

    def before(a: Piece, b: Piece) -> int:
        found = order(a.low, b.low)
        if found is None:
            raise NotReal
        return found or (b.low_closed - a.low_closed)

    ordered = sorted(pieces, key=cmp_to_key(before))
    merged = [ordered[0]]
    for piece in ordered[1:]:
        last = merged[-1]
        found = order(piece.low, last.high)
        if found is None:
            raise NotReal
        if found == 1 or (found == 0 and not (piece.low_closed or last.high_closed)):
            merged.append(piece)
            continue
        end = order(piece.high, last.high)
        if end is None:
            raise NotReal
        if end == 1:
            merged[-1] = Piece(last.low, piece.high, last.low_closed, piece.high_closed)
        elif end == 0 and piece.high_closed:
            merged[-1] = last._replace(high_closed=True)
    return tuple(merged)


def intersect(a: tuple[Piece, ...], b: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """The common part of two normal sets."""
    if len(a) * len(b) > 4000:
        raise NotReal
    out: list[Piece] = []
    for p in a:
        for q in b:
            low_order, high_order = order(p.low, q.low), order(p.high, q.high)
            if low_order is None or high_order is None:
                raise NotReal
            if low_order == 0:
                low, left = p.low, p.low_closed and q.low_closed
            else:
                low, left = (p.low, p.low_closed) if low_order == 1 else (q.low, q.low_closed)
            if high_order == 0:
                high, right = p.high, p.high_closed and q.high_closed
            else:
                high, right = (p.high, p.high_closed) if high_order == -1 else (q.high, q.high_closed)
            found = order(low, high)
            if found is None:
                raise NotReal
            if found == -1 or (found == 0 and left and right):
                out.append(Piece(low, high, left, right))
    return tuple(out)


def complement(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """All reals outside a normal set."""
    out: list[Piece] = []
    low, closed = MINUS_INFTY, False
    for piece in pieces:
        if piece.low != MINUS_INFTY:
            out.append(Piece(low, piece.low, closed, not piece.low_closed))
        low, closed = piece.high, not piece.high_closed
        if piece.high == INFTY:
            return tuple(out)
    out.append(Piece(low, INFTY, closed, False))
    return tuple(out)


def same_set(gold: RealSet, answer: RealSet) -> tuple[bool | None, str]:
    """Whether two sets are equal, and by which rule."""
    if len(gold.pieces) != len(answer.pieces):
        return False, "count_differs"
    only_ends = False
    for p, q in zip(gold.pieces, answer.pieces, strict=True):
        for end, other in ((p.low, q.low), (p.high, q.high)):
            if end == other:
                continue
            if {end, other} & {INFTY, MINUS_INFTY}:
                return False, "endpoint_differs"
            same, rule = same_scalar(end, other)
            if same is None:
                return None, rule
            if not same:
                return False, "endpoint_differs"
        if (p.low_closed, p.high_closed) != (q.low_closed, q.high_closed):
            only_ends = True
    if only_ends:
        return False, "endpoint_open"
    return True, "equal_real_set"
