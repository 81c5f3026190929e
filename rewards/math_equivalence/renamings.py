"""What an answer may name otherwise than the gold: arbitrary constants, cases of letters, bold letters, j for i.

`renamed` yields the pairs that a person would also compare; whether the two of a pair are equal is `expressions`'
business.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Final

from rewards.math_equivalence import tree
from rewards.math_equivalence.equations import constant_difference, constant_factor
from rewards.math_equivalence.expressions import Traits, substitute, traits
from rewards.math_equivalence.tree import Node

_CONSTANT_NAMES: Final = frozenset(("C", "c", "K", "k", "c_1", "C_1", "C_0", "const", "D", "A", "constant"))
NUMBERED: Final = frozenset(f"{c}_{i}" for c in "Cc" for i in "0123")
INTEGRATION: Final = NUMBERED | frozenset(("C", "c", "K", "k", "A", "B"))
_LETTERED: Final = NUMBERED | frozenset("ABCD")
ARBITRARY: Final = INTEGRATION | frozenset(("a", "b", "m", "n", "d", "D", "lambda", "alpha", "beta", "C'", "const"))
"""Letters that answers give to constants nobody fixed: of solutions of differential and functional equations."""


def renamed(g: Node, a: Node, tg: Traits, ta: Traits, *, imaginary_j: bool) -> Iterator[tuple[Node, Node]]:
    """Pairs that mean the same as (g, a) to a person, each with some names of one side spelt like the other's."""
    if imaginary_j and "j" in ta.alone and "j" not in tg.alone and "i" in tg.alone and "i" not in ta.alone:
        yield g, substitute(a, {"j": Node("sym", (), "i")})
    plain = {n: Node("sym", (), n.partition(":")[2]) for n in ta.alone if n.startswith(("bold:", "vec:"))}
    if plain and not {n.value for n in plain.values()} & ta.alone:
        ours = {n: Node("sym", (), n.partition(":")[2]) for n in tg.alone if n.startswith(("bold:", "vec:"))}
        yield substitute(g, ours) if ours else g, substitute(a, plain)
    between = {n: _between(n) for n in tg.alone | ta.alone if n[:4] == "vec:" and n[4:].isupper() and len(n) == 6}
    if between:
        yield substitute(g, between), substitute(a, between)
    if mapping := _case_renaming(tg.alone | tg.called, ta.alone | ta.called):
        yield g, substitute(a, mapping)
    if constant := _integration_constant(g, a, tg.alone, ta.alone):
        yield g, substitute(a, constant)
    if not NUMBERED.isdisjoint(tg.alone) or not NUMBERED.isdisjoint(ta.alone):
        for renaming in arbitrary(tg.alone, ta.alone, _LETTERED, _LETTERED):
            yield g, substitute(a, renaming)


def same_integral(g: Node, a: Node) -> bool:
    """Whether `F + C` and `G + C` are one: F - G is a number."""
    if g.op != "add" or a.op != "add":
        return False
    free, other = _without_constant(g, "CK"), _without_constant(a, "CKc")
    return free is not None and other is not None and constant_difference(free, other)


def _between(name: str) -> Node:
    """`vec:AB` as B - A: so AB + BC is AC and -AB is BA."""
    return tree.add([Node("sym", (), "at:" + name[5]), tree.neg(Node("sym", (), "at:" + name[4]))])


def _case_renaming(gold: frozenset[str], answer: frozenset[str]) -> dict[str, Node]:
    """`2Cx^2` against `2cx^2`: the same letters but for their case, one to one."""
    if gold == answer or len(gold) != len(answer):
        return {}
    table = {name.lower(): name for name in gold}
    if len(table) != len(gold) or {n.lower() for n in answer} != set(table):
        return {}
    return {n: Node("sym", (), table[n.lower()]) for n in answer if table[n.lower()] != n}


def _integration_constant(g: Node, a: Node, gold: frozenset[str], answer: frozenset[str]) -> dict[str, Node]:
    """`... + C` against `... + c` or `+ K`: a constant that stands as a term of its own."""
    if g.op != "add" or a.op != "add":
        return {}
    ours = [t.value for t in g.args if t.op == "sym" and t.value in _CONSTANT_NAMES]
    theirs = [t.value for t in a.args if t.op == "sym" and t.value in _CONSTANT_NAMES]
    if len(ours) != 1 or len(theirs) != 1 or ours == theirs or gold - set(ours) != answer - set(theirs):
        return {}
    return {theirs[0]: Node("sym", (), ours[0])}


def _without_constant(node: Node, letters: str) -> Node | None:
    """`sin^2 x` of `sin^2 x + C`; None for what has no constant of integration as a term of its own."""
    if node.op != "add":
        return None
    rest = [t for t in node.args if t.op != "sym" or t.value.partition("_")[0] not in (*letters, "const")]
    return tree.add(rest) if rest and len(rest) + 1 == len(node.args) else None


def same_levels(left: Node, right: Node) -> bool:
    """Whether `F(x, y) = C` and `G(x, y) = C` are the same curves for all C together."""
    ours, theirs = _level(left), _level(right)
    if ours is None or theirs is None:
        return False
    return constant_factor(ours, theirs) is not None or constant_difference(ours, theirs)


def _level(node: Node) -> Node | None:
    """The F of `F(x, y) = C`, with all terms on one side, where C stands by itself and for any number."""
    if node.op != "add":
        return None
    flat: list[Node] = []
    for term in node.args:
        minus = term.op == "neg" and term.args[0].op == "add"
        flat.extend(map(tree.neg, term.args[0].args) if minus else (term,))
    terms = [t.args[0] if t.op == "neg" and t.args[0].value in ("C", "K") else t for t in flat]
    free = _without_constant(Node("add", tuple(terms)), "CK")
    return free if free is not None and traits(free).alone == {"x", "y"} else None


def defines_function(name: Node) -> bool:
    """`f(x)`, `y`, `y(x)`: what a functional or a differential equation asks for."""
    if name.op == "call":
        return len(name.args) == 1 and name.args[0].op == "sym"
    return name.op == "sym" and name.value in ("y", "f")


def arbitrary(
    gold: frozenset[str], answer: frozenset[str], ours: frozenset[str], theirs: frozenset[str]
) -> list[dict[str, Node]]:
    """The renamings of the answer's arbitrary constants to the gold's; none unless all other letters are the same.

    C_1 and C_2 may change places; letters that both sides use stay as they are, since a and b may be given.
    """
    mine, yours = gold & ours, answer & theirs
    if not mine or len(mine) != len(yours) or gold - mine != answer - yours or not gold - mine:
        return []
    if mine <= NUMBERED or yours <= NUMBERED:
        return renamings(mine, yours)
    return renamings(mine - yours, yours - mine)


def renamings(gold: frozenset[str], answer: frozenset[str]) -> list[dict[str, Node]]:
    """Every one-to-one renaming of at most three letters."""
    if len(gold) != len(answer) or not 0 < len(gold) <= 3:
        return []
    names = sorted(answer)
    return [{n: Node("sym", (), o) for n, o in zip(names, order, strict=True)} for order in permutations(sorted(gold))]
