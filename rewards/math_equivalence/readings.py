"""A text and what it is read as: the quick number, the key for identity, and the tree, built when first needed."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Final, Literal

from rewards.math_equivalence.exact import Monomial, Quick, quick_number, quick_polynomial, quick_row
from rewards.math_equivalence.latex import parse
from rewards.math_equivalence.tokens import fold_unicode
from rewards.math_equivalence.tree import MAX_CHARS, NUMERIC, Decimal10, Exact, Node, Problem
from rewards.math_equivalence.vocabulary import PLACEHOLDER_WORDS

Role = Literal["gold", "answer"]


_WRAPPERS: Final = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))


_KEY_DROPS: Final = (
    (r"\left", ""), (r"\right", ""), (r"\dfrac", r"\frac"), (r"\tfrac", r"\frac"), (r"\!", ""), (r"\,", ""),
    (r"\;", ""),
    (r"\displaystyle", ""), ("{,}", ","),
)  # fmt: skip


_TYPE_NAMES: Final[Mapping[str, str]] = {
    "dec": "decimal", "calc": "arithmetic", "sym": "symbol", "pct": "percent", "deg": "angle", "money": "money",
    "qty": "quantity", "tuple": "tuple", "list": "list", "set": "set", "bracket": "list or closed interval",
    "seq": "sequence", "interval": "interval", "union": "union", "inter": "intersection", "minus": "difference",
    "build": "set builder", "cong": "residue class", "matrix": "matrix", "cases": "piecewise", "ratio": "ratio",
    "time": "time", "label": "labelled value", "choice": "choice", "text": "text", "base": "number in a base",
    "numset": "number set", "opaque": "unevaluated", "pm": "plus-minus", "mp": "plus-minus", "call": "expression",
    "big": "sum or product",
}  # fmt: skip


class Reading:
    """A text and what it was read as. Immutable; the tree is built on first use.

    Attributes:
        text: as given.
        role: "gold" or "answer".
        quick: the plain number it is, if it is one; then no tree is needed.
        key: the text without spacing, sizes and delimiters, for identity.
    """

    __slots__ = ("_node", "_problem", "_row", "_terms", "key", "quick", "role", "text")

    def __init__(self, text: str, role: Role) -> None:
        self.text = text
        self.role: Role = role
        bare = _bare(text)
        self.key = _key(bare)
        self.quick = quick_number(bare)
        self._node: Node | None = None
        self._problem: Problem | None = None
        self._terms: dict[Monomial, Exact] | Literal[False] | None = False
        self._row: tuple[Exact, ...] | Literal[False] | None = False

    @property
    def terms(self) -> dict[Monomial, Exact] | None:
        """The polynomial that it is, if it is plainly one; then no tree is needed."""
        if self._terms is False:
            self._terms = quick_polynomial(self.key) if self.quick is None else None
        return self._terms

    @property
    def row(self) -> tuple[Exact, ...] | None:
        """The numbers of a plain list in square brackets, if it is one."""
        if self._row is False:
            self._row = quick_row(self.key)
        return self._row

    def _parsed(self) -> None:
        if self._node is None and self._problem is None:
            try:
                node = _node_of(self.quick) if self.quick is not None else parse(self.text)
                if self.role == "gold" and _is_placeholder(node):
                    raise Problem("unreadable", "the gold points elsewhere or says nothing")
                self._node = node
            except Problem as problem:
                self._problem = problem

    @property
    def node(self) -> Node | None:
        """The tree, or None when there is a problem."""
        self._parsed()
        return self._node

    @property
    def problem(self) -> str | None:
        """Why there is no tree: `gold_unreadable` for a gold; `unreadable`, `empty` or `over_limit` for an answer."""
        if self.quick is not None or self.terms is not None or self.row is not None:
            return None
        self._parsed()
        if self._problem is None:
            return None
        if self.role == "gold":
            return "over_limit" if self._problem.code == "over_limit" else "gold_unreadable"
        return self._problem.code

    @property
    def problem_detail(self) -> str:
        """A sentence about the problem; empty when there is none."""
        self._parsed()
        return "" if self._problem is None else self._problem.detail

    @property
    def type_name(self) -> str:
        """What kind of answer it is: `integer`, `decimal`, `interval`, `equation`, ...; `unreadable` when none."""
        node = self.node
        return "unreadable" if node is None else type_name(node)

    def candidates(self) -> list[Node]:
        """Other trees that the same text may mean: `1,234` as a list, `3,5` as a decimal."""
        node = self.node
        if not _between_digits(self.text) or node is None or len(self.text) > 2000:
            return []
        found: list[Node] = []
        grouped = any(part[:1] == "0" and part[1:2].isdigit() for part in self.text.split(",")[1:])
        for mode in ("list", "thousands", "decimal"):
            if mode == "list" and grouped and node.op in NUMERIC:
                continue  # 10,000 is no list of 10 and 000
            try:
                other = parse(self.text, mode)
            except Problem:
                continue
            if other != node and other not in found:
                if mode == "decimal" and not self._may_be_decimal():
                    continue
                found.append(other)
        return found

    def _may_be_decimal(self) -> bool:
        """One comma in all, or semicolons between the values: `0,75` and `(0,5; 1,5)`, but not `-1,0,1`."""
        if _decimal_comma_unit(self.text):
            return True
        if self.role == "gold" and not _decimal_comma_gold(self.text):
            return False
        return ";" in self.text or (self.text.count(",") == 1 and not any(c in self.text for c in "([{"))

    def __repr__(self) -> str:
        return f"Reading({self.text!r}, {self.role!r}, {self.type_name})"

    def __getstate__(self) -> tuple[str, Role]:
        return self.text, self.role

    def __setstate__(self, state: tuple[str, Role]) -> None:
        self.__init__(*state)  # type: ignore[misc]


def read(text: str, *, role: Role) -> Reading:
    """Reads a text. Cheap for plain numbers; short texts are remembered, so a gold is read once.

    Args:
        text: the bare answer, without the sentence around it; `$...$` may stand around it.
        role: "gold" or "answer".
    """
    if len(text) <= 2000:
        return _cached(text, role)
    return Reading(text, role)


@lru_cache(maxsize=8192)
def _cached(text: str, role: Role) -> Reading:
    return Reading(text, role)


def _bare(text: str) -> str:
    """The text without white space and math delimiters around it."""
    if not text.isascii():
        if len(text) > MAX_CHARS:
            return text
        text = fold_unicode(text)
    text = text.strip()
    for left, right in _WRAPPERS:
        if text.startswith(left) and text.endswith(right) and len(text) >= len(left) + len(right):
            inner = text[len(left) : -len(right)]
            if left not in inner and right not in inner:
                return inner.strip()
    return text


def _key(text: str) -> str:
    """The text for identity: spacing and sizes gone. Words keep their spaces apart from each other."""
    if len(text) > MAX_CHARS:
        return text
    if "\\" in text:
        for a, b in _KEY_DROPS:
            text = text.replace(a, b)
    text = " ".join(text.split())
    return text.rstrip(".") if len(text) > 1 else text


def _node_of(quick: Quick) -> Node:
    if quick.digits >= 0:
        node = Node("dec", (), Decimal10(Fraction(quick.value), quick.digits))
    else:
        value = quick.value
        if isinstance(value, Fraction) and value.denominator == 1:
            value = value.numerator
        node = Node("num", (), value)
    if quick.mark == "%":
        return Node("pct", (node,))
    if quick.mark == "$":
        return Node("money", (node,), "$")
    if quick.mark == "°":
        return Node("deg", (node,))
    return node


def _is_placeholder(node: Node) -> bool:
    """A gold such as "see the proof above" or "answers may vary" is no answer to compare with."""
    if node.op != "text":
        return node.op == "sym" and node.value == "?"
    words = node.value.split()
    if node.value in ("none of the above", "all of the above"):
        return False
    return (
        len(words) <= 8
        and any(w in PLACEHOLDER_WORDS for w in words)
        and not (words[0] == "the" and ("is" in words or "are" in words))
        and not (len(words) == 1 and words[0] in ("above", "below", "various", "unknown"))
    )


def _between_digits(text: str) -> bool:
    """Whether a comma stands tight between digits, braces and thin spaces aside: only such a comma reads otherwise."""
    at = text.find(",")
    while at >= 0:
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        if (before.isdigit() or before == "{") and (after.isdigit() or after in ("}", "\\")):
            return True
        at = text.find(",", at + 1)
    return False


def _decimal_comma_unit(text: str) -> bool:
    """`2,5\\text{ kg}`, `99,9\\%`: digits, a comma, digits other than three, and a unit behind them."""
    whole, _, rest = text.strip().strip("$").lstrip("-").partition(",")
    tail = rest.lstrip("0123456789")
    size = len(rest) - len(tail)
    unit = tail.lstrip(" ~\\,").startswith(("text", "mathrm", "%", "€", "°", "^\\circ", "^{\\circ", "kg", "km", "cm"))
    return whole.isdigit() and size not in (0, 3) and unit and "," not in tail and not any(c.isdigit() for c in tail)


def _decimal_comma_gold(text: str) -> bool:
    """Whether a gold with a comma may be a decimal: `0,75`, `12,50`; `5,1` is two values."""
    body = text.strip().strip("$").lstrip("-")
    whole, _, rest = body.partition(",")
    if not (whole.isdigit() and rest.isdigit()):
        return False
    return whole == "0" or len(rest) == 2


def type_name(node: Node) -> str:
    """The kind of answer that a tree is, for people."""
    if node.op == "num":
        return "integer" if isinstance(node.value, int) else "rational"
    if node.op == "const":
        return {"infty": "infinity", "empty": "empty set", "undefined": "undefined"}.get(node.value, "constant")
    if node.op == "rel":
        return (
            "equation" if set(node.value) <= {"=", "≈", "≡"} else "membership" if "in" in node.value else "inequality"
        )
    if node.op == "where":
        return type_name(node.args[0])
    return _TYPE_NAMES.get(node.op, "expression")


def show(node: Node) -> str:
    """The tree as one readable line: `interval[closed 0, open 1/2]`, `x^2 + 2*x + 1`."""
    op, args, value = node
    if op == "num" or op == "calc":
        return str(value) if len(str(value)) < 200 else str(value)[:40] + "..."
    if op == "dec":
        digits = value.digits
        scaled = int(abs(value.value) * 10**digits)
        text = str(scaled).rjust(digits + 1, "0")
        return ("-" if value.value < 0 else "") + (f"{text[:-digits]}.{text[-digits:]}" if digits else text)
    if op in ("sym", "numset"):
        return str(value)
    if op == "const":
        return str(value)
    inner = [show(a) for a in args]
    if op in ("add", "mul", "div", "pow"):
        joined = {"add": " + ", "mul": "*", "div": "/", "pow": "^"}[op].join(
            f"({t})" if a.op in ("add", "div", "rel") or (op in ("div", "pow") and a.op in ("mul", "neg", "pow")) else t
            for a, t in zip(args, inner, strict=True)
        )
        return joined
    if op == "neg":
        return f"-({inner[0]})" if args[0].op in ("add", "div") else f"-{inner[0]}"
    if op in ("pm", "mp"):
        return f"{'±' if op == 'pm' else '∓'}{inner[0]}"
    if op == "rel":
        text = inner[0]
        for sign, side in zip(value, inner[1:], strict=True):
            text += f" {sign} {side}"
        return text
    if op == "interval":
        left, right = value
        return f"interval{'[' if left else '('}{inner[0]}, {inner[1]}{']' if right else ')'}"
    if op in ("tuple", "list", "set", "bracket", "seq", "union", "inter", "minus", "ratio", "build"):
        return f"{op}({', '.join(inner)})"
    if op == "matrix":
        rows, columns, _ = value
        lines = [", ".join(inner[r * columns : (r + 1) * columns]) for r in range(rows)]
        return "matrix(" + "; ".join(lines) + ")"
    if op == "qty":
        return f"{inner[0]} [{value.text}]"
    if op == "base":
        return f"{value[0]} in base {value[1]}"
    if op == "time":
        return f"time {value[0] // 60}:{value[0] % 60:02d}"
    if op in ("fn", "call"):
        return f"{value}({', '.join(inner)})"
    if op == "text":
        return f"text {value!r}"
    label = "" if value is None else f" {value}" if isinstance(value, str) else f" {value!r}"
    return f"{op}{label}({', '.join(inner)})" if args else f"{op}{label}"
