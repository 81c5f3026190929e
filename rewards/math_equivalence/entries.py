"""What a list, a set, a tuple or a system of assignments holds, and the conditions that stand beside it."""

from __future__ import annotations

from typing import Final, NamedTuple

from rewards.math_equivalence.equations import assignment, is_name
from rewards.math_equivalence.expressions import (
    is_scalar,
)
from rewards.math_equivalence.plusminus import has_pm
from rewards.math_equivalence.realsets import whole_numbers
from rewards.math_equivalence.tree import Node

MANY: Final = frozenset({"list", "set", "bracket", "tuple", "seq"})


DOTS: Final = Node("const", (), "dots")


class Entries(NamedTuple):
    """What a list, set, tuple or system holds."""

    values: tuple[Node, ...]
    names: tuple[Node, ...]
    """One per value, or empty."""
    single_tuple: bool
    ordered: bool
    is_set: bool
    bracket_pair: bool
    parameter: bool
    """An integer parameter was declared: "k ∈ Z"."""
    family: bool
    named_values: bool
    loose: bool
    """A bare list: order does not matter unless the other side has one."""


def entries_of(node: Node) -> Entries | None:
    op = node.op
    if op == "tuple":
        return Entries(node.args, (), True, True, False, False, False, False, False, False)
    if op == "seq":
        return Entries(node.args, (), False, True, False, False, False, False, False, False)
    if op == "bracket":
        return Entries(node.args, (), False, False, False, len(node.args) == 2, False, False, False, True)
    if op == "set":
        return Entries(node.args, (), False, False, True, False, False, False, False, False)
    if op == "const" and node.value == "empty":
        return Entries((), (), False, False, True, False, False, False, False, False)
    if op == "rel" or op == "label":
        assigned = assignment(node)
        if assigned is None:
            if op == "rel" and node.value == ("in",) and is_name(node.args[0]):
                return entries_of(node.args[1])
            return None
        name, value = assigned
        if name.op == "tuple" and value.op == "tuple" and len(name.args) == len(value.args):
            return Entries(value.args, name.args, True, True, False, False, False, False, True, False)
        if value.op in MANY:
            return entries_of(value)
        return Entries((value,), (name,), False, False, False, False, False, True, True, True)
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
                name, value = assigned
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
            tuple(values), tuple(names), False, False, False, False, parameter, family, bool(names), not names
        )  # fmt: skip
    if (
        has_pm(node)
        or is_scalar(node)
        or op in ("qty", "money", "pct", "deg", "interval", "text", "matrix", "ratio", "base")
    ):
        return Entries((node,), (), False, False, False, False, False, False, False, True)
    return None


def folded(entries: Entries, other: tuple[Node, ...]) -> tuple[Node, ...]:
    """Values with their names dropped; `p=5, q=2; p=7, q=2` becomes (5,2), (7,2) when the other side has tuples."""
    names = entries.names
    if other and all(o.op == "tuple" for o in other):
        width = len(other[0].args)
        if (
            width > 1
            and len(names) == width * len(other)
            and all(names[j] == names[j % width] for j in range(len(names)))
        ):
            return tuple(Node("tuple", entries.values[j : j + width]) for j in range(0, len(names), width))
    return entries.values


def declared_apart(node: Node) -> Node:
    """`x = kπ, k ∈ Z` as one value under a condition."""
    if node.op != "list":
        return node
    kept = [
        a for a in node.args
        if not (a.op == "rel" and a.value == ("in",) and a.args[1].op == "numset" and a.args[1].value[0] in "ZN")
    ]  # fmt: skip
    if len(kept) == len(node.args) or not kept:
        return node
    return Node("where", (kept[0] if len(kept) == 1 else Node("list", tuple(kept), node.value),), "integer")


def listed(node: Node) -> Node:
    """A set builder with few whole numbers, or with its values written out (`{x | x = 2, 3}`), as the set itself."""
    if node.op != "build":
        return node
    whole = whole_numbers(node)
    if whole is not None:
        return whole
    body, condition = node.args
    if body.op == "sym" and condition.op == "list":
        entries = entries_of(condition)
        if entries is not None and entries.names and all(n == body for n in entries.names):
            return Node("set", entries.values)
    return node


def integer_words(words: str) -> bool:
    low = words.lower()
    return any(w in low for w in ("integer", "numset:z", "numset:n", "in z", "in n", "whole", "natural"))


_BINDING: Final = frozenset(
    ("if", "when", "whenever", "such", "given", "provided", "with", "while", "unless", "satisfying", "which")
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
