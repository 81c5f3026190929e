"""What a list, a set, a tuple or a system of assignments holds, and the conditions that stand beside it."""

from __future__ import annotations

from itertools import pairwise
from typing import Final, NamedTuple

from rewards.math_equivalence import tree
from rewards.math_equivalence.equations import assignment, plain_name
from rewards.math_equivalence.expressions import (
    is_scalar,
    substitute,
    traits,
)
from rewards.math_equivalence.plusminus import has_pm
from rewards.math_equivalence.readings import show
from rewards.math_equivalence.realsets import whole_numbers
from rewards.math_equivalence.tree import MAX_ELEMENTS, ZERO, Node, exact_of

MANY: Final = frozenset({"list", "set", "bracket", "tuple", "seq"})


DOTS: Final = Node("const", (), "dots")


class Entries(NamedTuple):
    """What a list, set, tuple or system holds."""

    values: tuple[Node, ...]
    names: tuple[Node, ...] = ()
    """One per value, or empty."""
    single_tuple: bool = False
    ordered: bool = False
    is_set: bool = False
    bracket_pair: bool = False
    parameter: bool = False
    """An integer parameter was declared: "k ∈ Z"."""
    family: bool = False
    """The values are solutions for a letter, so a counting letter may stand in them."""
    named_values: bool = False
    loose: bool = False
    """A bare list: order does not matter unless it does on the other side."""


def entries_of(node: Node) -> Entries | None:
    """The entries of a node; None for what holds none."""
    op = node.op
    if op == "tuple":
        return Entries(opened(node.args), single_tuple=True, ordered=True)
    if op == "seq":
        return Entries(node.args, ordered=True)
    if op == "bracket":
        return Entries(node.args, bracket_pair=len(node.args) == 2, loose=True)
    if op == "set":
        return Entries(opened(node.args), is_set=True)
    if op == "const" and node.value == "empty":
        return Entries((), is_set=True)
    if op == "rel" or op == "label":
        if (chained := chain_of(node)) is not None:
            return Entries((node.args[-1],) * len(chained), chained, family=True, named_values=True, loose=True)
        assigned = assignment(node)
        if assigned is None:
            if op == "rel" and node.value == ("in",) and node.args[0].op in ("sym", "tuple", "call"):
                return entries_of(node.args[1])
            return None
        name, value = assigned
        if name.op == "tuple" and value.op == "tuple" and len(name.args) == len(value.args):
            return Entries(value.args, name.args, single_tuple=True, ordered=True, named_values=True)
        if value.op in MANY:
            return entries_of(value)
        return Entries((value,), (name,), family=True, named_values=True, loose=True)
    if op == "list":
        values: list[Node] = []
        names: list[Node] = []
        parameter = False
        last_name: Node | None = None
        for item in node.args:
            if item.op == "where" and not binding(item.value):
                parameter = parameter or integer_words(item.value)
                item = item.args[0]
            if item.op == "rel" and item.value == ("in",) and item.args[1].op == "numset":
                parameter = parameter or item.args[1].value[0] in "ZN"
                continue
            assigned = assignment(item)
            if assigned is not None:
                name, value = plain_name(assigned[0]), assigned[1]
                if name.op == "tuple" and value.op == "tuple":
                    values.append(value)
                    last_name = None
                    continue
                if value.op == "list":
                    values.extend(value.args)
                    names.extend([name] * len(value.args))
                else:
                    values.append(value)
                    names.append(name)
                last_name = name
            elif item.op == "rel":
                return None
            else:
                values.append(item)
                if last_name is not None:
                    names.append(last_name)
        family = bool(names) and all(n.op == "sym" for n in names)
        if len(names) != len(values):
            names = []
        return Entries(
            opened(tuple(values)),
            tuple(names),
            parameter=parameter,
            family=family,
            named_values=bool(names),
            loose=not names,
        )
    if (
        has_pm(node)
        or is_scalar(node)
        or op in ("qty", "money", "pct", "deg", "interval", "text", "matrix", "ratio", "base")
    ):
        return Entries((node,), loose=True)
    return None


def chain_of(node: Node) -> tuple[Node, ...] | None:
    """The names of `x = y = z = 0`: two letters or more with one value; None for anything else."""
    names = node.args[:-1]
    chained = len(names) > 1 and node.op == "rel" and set(node.value) == {"="}
    letters = chained and all(n.op == "sym" for n in names) and len(set(names)) == len(names)
    return names if letters and is_scalar(node.args[-1]) and node.args[-1].op != "sym" else None


def renamed_build(node: Node, like: Node) -> Node:
    """`{2n : n ∈ Z}` with the letter of `{2k | k ∈ Z}`; the tree as it was when the two are not of that form."""
    letters = []
    for build in (node, like):
        condition = build.args[1]
        if condition.op != "rel" or condition.args[0].op != "sym":
            return node
        letters.append(condition.args[0])
    if letters[0] == letters[1]:
        return node
    return Node("build", tuple(substitute(n, {letters[0].value: letters[1]}) for n in node.args), node.value)


def opened(values: tuple[Node, ...]) -> tuple[Node, ...]:
    """`1, 2, ..., 10` with its dots filled in, when two numbers before them and one after give the step."""
    if values.count(DOTS) != 1 or len(values) < 4:
        return values
    at = values.index(DOTS)
    steady = [exact_of(v) for v in values[:at]]
    known = [n for n in steady if n is not None]
    if len(known) == at > 2 and len({b - a for a, b in pairwise(known)}) == 1:
        values, at = (*values[:2], *values[at:]), 2  # 1, 2, 3, ..., n is 1, 2, ..., n
    if values[-1] == DOTS or len(values) < 4:
        return values
    numbers = [exact_of(v) for v in (*values[:at], *values[at + 1 :])]
    if at < 2 or any(not isinstance(n, int) for n in numbers):
        return values
    whole = [n for n in numbers if isinstance(n, int)]
    step = whole[1] - whole[0]
    if step == 0 or (whole[-1] - whole[0]) % step or not 0 < (whole[-1] - whole[0]) // step < MAX_ELEMENTS:
        return values
    full = list(range(whole[0], whole[-1] + (1 if step > 0 else -1), step))
    if full[:at] != whole[:at] or full[len(full) - (len(whole) - at) :] != whole[at:]:
        return values
    return tuple(Node("num", (), n) for n in full)


def folded(entries: Entries, other: tuple[Node, ...]) -> tuple[Node, ...]:
    """Values with their names dropped; `p=5, q=2; p=7, q=2` becomes (5,2), (7,2) when the other side has tuples."""
    names = entries.names
    if other and all(o.op == "tuple" for o in other):
        width = len(other[0].args)
        if (
            width > 1
            and len(names) == width * len(other)
            and all(_letter_of(names[j]) == _letter_of(names[j % width]) for j in range(len(names)))
            and all(_index_of(names[j]) == _index_of(names[j - j % width]) for j in range(len(names)))
        ):
            return tuple(Node("tuple", entries.values[j : j + width]) for j in range(0, len(names), width))
    return entries.values


def as_vector(node: Node) -> tuple[Node, ...] | None:
    """The cells of a vector or of a multiple of one."""
    factors = node.args if node.op == "mul" else (node,)
    if factors[-1].op not in ("tuple", "matrix"):
        return None
    return (*factors[:-1], *factors[-1].args)


def _letter_of(name: Node) -> str:
    """`x` of `x_1`."""
    return str(name.value).partition("_")[0] if name.op == "sym" else show(name)


def _index_of(name: Node) -> str:
    """`1` of `x_1`: whose coordinate it is."""
    return str(name.value).partition("_")[2] if name.op == "sym" else ""


def declared_apart(node: Node) -> Node:
    """`x = kπ, k ∈ Z` as one value under a condition; `(t, 2t), t ∈ R` with its letter declared an arbitrary constant.

    A number set of its own first (`R, x ≠ 0`) declares nothing.
    """
    if node.op != "list":
        return node
    first = node.args[0]
    if len(node.args) == 2 and node.args[1].op == "rel" and (letter := _argument_of(first)) is not None:
        condition = node.args[1]
        if condition.value == ("in",) and condition.args[1] == Node("numset", (), "R"):
            return Node("where", (first,), "real")
        if condition.value[0] != "=" and any(side == letter for side in condition.args):
            return Node("where", (first,), f"if {show(condition)}")  # f(x) = √x, x ≥ 0
    last = node.args[1]
    if len(node.args) == 2 and last.op == "qty" and last.value.text in _SORTS and _elsewhere(last.args[0], [first]):
        return Node("where", (first,), f"where {show(last.args[0])} {last.value.text}")  # n = p^k, p prime
    if len(node.args) == 2 and last.op == "rel" and last.value == ("!=",) and (cells := as_vector(first)) is not None:
        inside = {name for cell in cells for name in traits(cell).alone}
        if any(side.op == "sym" and side.value in inside for side in last.args):
            return Node("where", (first,), f"if {show(last)}")  # k(1,1,0), k ≠ 0
    if len(node.args) == 2 and node.args[1].op == first.op == "rel" and first.value == ("=",):
        condition = node.args[1]
        curve = all(map(is_scalar, first.args)) and not (assignment(first) and not traits(first.args[1]).alone)
        inside = {name for side in first.args for name in traits(side).alone} if curve else set()
        if condition.value[0] in ("<", "<=", ">", ">=", "!=") and any(
            side.op == "sym" and side.value in inside for side in condition.args
        ):
            return Node("where", (first,), f"if {show(condition)}")  # x = y^2, y ≥ 0
    kept: list[Node] = []
    declared = ""
    for a in node.args:
        if kept and a.op == "rel" and a.value == ("in",) and a.args[1].op == "numset" and a.args[0].op in _LETTERS:
            if a.args[1].value[0] in "ZN":
                declared = "integer" if a.args[1].value == "Z" else "natural"
                continue
            if _elsewhere(a.args[0], kept):
                declared = declared or "constant"
                continue
        kept.append(a)
    if not declared:
        return node
    return Node("where", (kept[0] if len(kept) == 1 else Node("list", tuple(kept), node.value),), declared)


def _argument_of(node: Node) -> Node | None:
    """The letter x of `f(x) = ...`, `y = ...`, of a formula in x; None for what defines no function."""
    assigned = assignment(node) if node.op == "rel" else None
    if assigned is None and is_scalar(node) and node.op != "sym" and "x" in traits(node).alone:
        return Node("sym", (), "x")  # log(x+1), x > -1
    if assigned is None or not is_scalar(assigned[1]):
        return None
    name = assigned[0]
    if name.op == "call" and len(name.args) == 1 and name.args[0].op == "sym":
        return name.args[0]
    x = Node("sym", (), "x")
    return x if name == Node("sym", (), "y") and "x" in traits(assigned[1]).alone else None


_LETTERS: Final = frozenset(("sym", "list", "tuple"))
_SORTS: Final = frozenset(("prime", "constant", "integer", "real", "arbitrary", "is prime", "primes"))


def _elsewhere(letter: Node, kept: list[Node]) -> bool:
    """Whether a letter stands in a formula before: so in `f(x) = kx, k ∈ R`; in `x > 2, x ∈ R` it is the subject."""
    if letter.op != "sym" or any(n.op == "rel" and n.args[0] == letter for n in kept):
        return False
    return any(letter.value in traits(n).alone for n in kept)


def constant_words(words: str) -> bool:
    """Whether a condition only says that letters are arbitrary: "for some constant c", "k ∈ R"."""
    low = words.lower().split()
    return any(w in ("constant", "constants", "arbitrary", "real", "parameter", "parameters") for w in low)


def listed(node: Node, other: Node | None = None) -> Node:
    """A set builder with few whole numbers, or with its values written out (`{x | x = 2, 3}`), as the set itself."""
    if node.op != "build":
        return node
    zero = ZERO in other.args if other is not None and other.op == "set" else None
    whole = whole_numbers(node, zero=zero)  # whether N begins with 0 is seen in the other set
    if whole is not None:
        return whole
    body, condition = node.args
    if body.op == "sym" and condition.op == "list" and len(condition.args) == 2:
        value, letter = condition.args
        if (
            value.op == "rel" and value.value == ("=",) and value.args[0] == body
            and letter.op == "rel" and letter.value == ("in",) and letter.args[1].op == "numset"
        ):  # fmt: skip
            return Node("build", (value.args[1], letter))
    if body.op == "sym" and condition.op == "list":
        entries = entries_of(condition)
        if entries is not None and entries.names and all(n == body for n in entries.names):
            return Node("set", entries.values)
    return _images(body, condition) or node


def _images(body: Node, condition: Node) -> Node | None:
    """`{2k : 1 ≤ k ≤ 4}`, `{k^2 : k = 1, 2, 3}`: the values of a formula at whole numbers that the condition counts."""
    if not is_scalar(body) or body.op == "sym":
        return None
    free = traits(body).alone
    if len(free) != 1 or not free <= COUNTING:
        return None
    letter = Node("sym", (), next(iter(free)))
    values: list[int] | None = None
    parts = condition.args if condition.op == "list" else (condition,)
    equal = [p for p in parts if p.op == "rel" and p.value == ("=",) and p.args[0] == letter]
    if equal:
        known = [exact_of(n) for n in (equal[0].args[1], *(p for p in parts if p.op != "rel"))]
        values = [n for n in known if isinstance(n, int)]
        if len(values) != len(known):
            return None
    elif len(parts) == 1 and parts[0].op == "rel" and parts[0].value == ("in",) and parts[0].args[1].op == "set":
        known = [exact_of(n) for n in opened(parts[0].args[1].args)]
        values = [n for n in known if isinstance(n, int)]
        if len(values) != len(known):
            return None
    else:
        for part in parts:
            if part.op == "rel" and part.value == ("in",) and part.args[1].op == "numset":
                continue
            integers = Node("rel", (letter, Node("numset", (), "Z")), ("in",))
            whole = whole_numbers(Node("build", (integers, part)))
            if values is not None or whole is None or whole.op != "set":
                return None
            values = [n.value for n in whole.args]
    if values is None or len(values) > 100:
        return None
    return Node("set", tuple(tree.fold(substitute(body, {letter.value: Node("num", (), n)})) for n in values))


COUNTING: Final = frozenset(("k", "n", "m", "j", "l", "t", "p", "r"))


def condition_of(build: Node) -> Node | None:
    """`n ≥ 2` of `{n ∈ N : n ≥ 2}`: the condition of a set of whole numbers; None for other sets."""
    body, condition = build.args
    if body.op == "rel" and body.value == ("in",) and body.args[0].op == "sym" and body.args[1].op == "numset":
        return condition if body.args[1].value[0] in "ZN" else None
    if body.op == "sym" and condition.op == "list":
        kept = [
            p for p in condition.args
            if not (p.op == "rel" and p.value == ("in",) and p.args[1].op == "numset" and p.args[1].value[0] in "ZN")
        ]  # fmt: skip
        return kept[0] if len(kept) == 1 and len(condition.args) == 2 else None
    return None


def counted(node: Node) -> Node:
    """`{kπ : k ∈ Z}` as the family kπ with k an integer; the tree as it was when it is no such set."""
    body, condition = node.args
    whole = condition.op == "rel" and condition.value == ("in",) and condition.args[1].op == "numset"
    if whole and condition.args[1].value[0] in "ZN" and condition.args[0].op == "sym" and body != condition.args[0]:
        return Node("where", (body,), "integer")
    return node


def integer_words(words: str) -> bool:
    low = words.lower()
    return any(w in low for w in ("integer", "numset:z", "numset:n", "in z", "in n", "whole", "natural"))


_BINDING: Final = frozenset(
    ("if", "at", "when", "whenever", "such", "given", "provided", "with", "while", "unless", "satisfying", "which")
)


def binding(words: str) -> str:
    """The condition that changes what an answer says ("if x > 0"); "" for one that only names its letters."""
    parts = words.split()
    if not parts:
        return ""
    first = parts[0].lower().strip("(")
    if first in _BINDING or (first == "for" and len(parts) > 1 and parts[1].lower() == "which"):
        return "".join(parts[1:]).lower()
    if "=" in parts:
        return "".join(parts).lower()  # "where c = 2" says what the answer is
    if parts[0] == "(" and not ({"in"} & set(parts)):
        return "".join(parts).lower().strip("()")
    return ""
