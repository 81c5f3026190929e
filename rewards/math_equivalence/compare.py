"""Whether an answer equals a gold: `read` both, then `equal(gold, answer, policy)`.

Three lanes. Plain numbers and identical strings are decided before any parsing, in a few microseconds. Everything else
is read into typed trees and compared by type: numbers exactly, expressions at points of a prime field and in balls,
sets without order, tuples with, intervals with their ends, equations up to a factor, quantities with their units. What
none of this decides is `equal=None`; the caller may hand it to a slower engine in a process that can be killed.

Nothing here evaluates text: no `eval`, no sympy, no signals, no threads of its own. All of it may run from any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from rewards.math_equivalence import numeric, tree
from rewards.math_equivalence.exact import Quick, Undefined, Unsupported, digit_strings_differ, quick_number
from rewards.math_equivalence.expressions import (
    is_scalar,
    order,
    products,
    same_scalar,
    substitute,
    traits,
)
from rewards.math_equivalence.latex import fold_unicode, parse
from rewards.math_equivalence.numeric import Evaluator, TooLarge
from rewards.math_equivalence.plusminus import expand, expand_all, has_pm
from rewards.math_equivalence.realsets import NotReal, is_set, read_set, same_set, whole_numbers
from rewards.math_equivalence.tree import INFTY, MAX_CHARS, MINUS_INFTY, NUMERIC, Decimal10, Node, Problem, exact_of
from rewards.math_equivalence.vocabulary import PLACEHOLDER_WORDS

Role = Literal["gold", "answer"]

MAX_PAIRS: Final = 20_000
"""Most comparisons of elements for one pair of lists."""

REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "equal_string": "The same text after spacing, sizes and delimiters are dropped.",
        "equal_rational": "The same exact number.",
        "equal_decimal": "The same number, one of them written as a decimal.",
        "equal_rounded": "The answer is the exact gold written out to many digits, or the gold is a rounding of the answer and the policy allows it.",
        "equal_percent": "The same share, written with and without a percent sign.",
        "equal_degree": "The same angle, in degrees and in radians or without a sign.",
        "equal_unit": "The same quantity; units converted, or written on one side only.",
        "equal_structure": "The same expression.",
        "equal_identity": "The expressions agree for all values of their symbols.",
        "equal_value": "The constants agree to hundreds of bits.",
        "equal_list": "The same values, in any order.",
        "equal_tuple": "The same values in the same places.",
        "equal_set": "The same set.",
        "equal_real_set": "The same set of real numbers: intervals with their ends.",
        "equal_equation": "The equations have the same solutions: they differ by a factor, or one is the other solved.",
        "equal_assignment": "The same values for the same names, or the value without its name.",
        "equal_matrix": "The same entries in the same places.",
        "equal_ratio": "The same proportion.",
        "equal_base": "The same digits in the same base.",
        "equal_time": "The same time.",
        "equal_choice": "The same option letter, or the text of that option.",
        "equal_text": "The same words.",
        "equal_family": "The same family of solutions; only the integer parameter is named otherwise or shifted.",
        "equal_congruence": "The same residue class.",
        "equal_function": "The same function; only the bound variable is named otherwise.",
        "equal_in_sentence": "A sentence that states this one value.",
        "value_differs": "The values differ.",
        "element_differs": "An element has no partner on the other side.",
        "count_differs": "One side has more values than the other.",
        "order_differs": "The same values in another order, where order matters.",
        "endpoint_differs": "An interval ends elsewhere.",
        "endpoint_open": "An interval end is open on one side and closed on the other.",
        "unit_mismatch": "The units do not measure the same thing, or not the same amount.",
        "type_differs": "The two are not the same kind of answer.",
        "name_differs": "The values belong to different names.",
        "sign_differs": "The relations point in different directions.",
        "base_differs": "The number bases differ.",
        "choice_differs": "Another option.",
        "text_differs": "Other words.",
        "contradiction": "The answer states an equation between numbers that is false.",
        "unevaluated": "Arithmetic left undone, and the policy asks for its result.",
        "undefined_value": "The answer has no value: a division by zero, a logarithm of zero.",
        "unreadable": "The answer cannot be read as mathematics or words.",
        "empty": "Nothing is written.",
        "over_limit": "A size, a depth or a magnitude is beyond the caps.",
        "gold_unreadable": "The gold cannot be read.",
        "undecided": "These rules do not decide the pair.",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Policy:
    """Choices on which graders differ. The defaults are what a careful person accepts.

    Attributes:
        percent: "either": `25%` equals 25 and 0.25; "value": it equals 0.25 only, and `25%` equals `25%`.
        rounding: "exact": a decimal gold is that number; "gold_precision": an answer that rounds to the gold's digits
            is right too (`100/3` for `33.3`).
        decimal_digits: an exact value (`1/3`, `\\sqrt2`) equals a decimal with at least this many correct significant
            digits, rounded or cut; 0 switches it off.
        unevaluated: `3\\cdot 5` for 15, `3245/5` for 649 and sums left standing are right.
        unit_conflict: "refuse": `5 m` is not `5 km`; "ignore": only the numbers count.
        inequality_as_interval: a solved inequality equals its interval.
        degrees_as_radians: `45°` equals `\\pi/4`.
        log_base: "either": `\\log` without a base may be natural or decimal; "e": natural.
        imaginary_j: `3+4j` equals `3+4i` where the gold has no j.
        base_dropped: `204` equals `204_5`: the digits without the base they were asked in.
    """

    percent: Literal["either", "value"] = "either"
    rounding: Literal["exact", "gold_precision"] = "exact"
    decimal_digits: int = 10
    unevaluated: bool = True
    unit_conflict: Literal["refuse", "ignore"] = "refuse"
    inequality_as_interval: bool = True
    degrees_as_radians: bool = True
    log_base: Literal["either", "e"] = "either"
    imaginary_j: bool = True
    base_dropped: bool = True


DEFAULT_POLICY: Final = Policy()


class Decision(NamedTuple):
    """What was found.

    Attributes:
        equal: True, False, or None when these rules do not decide.
        rule: a key of `REASONS`.
        detail: one sentence for people.
    """

    equal: bool | None
    rule: str
    detail: str = ""


# --------------------------------------------------------------------------------------------------------------------
# Readings


class Reading:
    """A text and what it was read as. Immutable; the tree is built on first use.

    Attributes:
        text: as given.
        role: "gold" or "answer".
        quick: the plain number it is, if it is one; then no tree is needed.
        key: the text without spacing, sizes and delimiters, for identity.
    """

    __slots__ = ("_node", "_problem", "key", "quick", "role", "text")

    def __init__(self, text: str, role: Role) -> None:
        self.text = text
        self.role: Role = role
        bare = _bare(text)
        self.key = _key(bare)
        self.quick = quick_number(bare)
        self._node: Node | None = None
        self._problem: Problem | None = None

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
        if "," not in self.text or node is None or len(self.text) > 2000:
            return []
        found: list[Node] = []
        for mode in ("list", "thousands", "decimal"):
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


_WRAPPERS: Final = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))


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


_KEY_DROPS: Final = (
    (r"\left", ""), (r"\right", ""), (r"\dfrac", r"\frac"), (r"\tfrac", r"\frac"), (r"\!", ""), (r"\,", ""), (r"\;", ""),
    (r"\displaystyle", ""), ("{,}", ","),
)  # fmt: skip


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
    return len(words) <= 8 and any(w in PLACEHOLDER_WORDS for w in words) and not (
        len(words) == 1 and words[0] in ("above", "below", "various", "unknown")
    )


def _decimal_comma_gold(text: str) -> bool:
    """Whether a gold with a comma may be a decimal: `0,75`, `12,50`; `5,1` is two values."""
    body = text.strip().strip("$").lstrip("-")
    whole, _, rest = body.partition(",")
    if not (whole.isdigit() and rest.isdigit()):
        return False
    return whole == "0" or len(rest) == 2


_TYPE_NAMES: Final[Mapping[str, str]] = {
    "dec": "decimal", "calc": "arithmetic", "sym": "symbol", "pct": "percent", "deg": "angle", "money": "money",
    "qty": "quantity", "tuple": "tuple", "list": "list", "set": "set", "bracket": "list or closed interval",
    "seq": "sequence", "interval": "interval", "union": "union", "inter": "intersection", "minus": "difference",
    "build": "set builder", "cong": "residue class", "matrix": "matrix", "cases": "piecewise", "ratio": "ratio",
    "time": "time", "label": "labelled value", "choice": "choice", "text": "text", "base": "number in a base",
    "numset": "number set", "opaque": "unevaluated", "pm": "plus-minus", "mp": "plus-minus", "call": "expression",
    "big": "sum or product",
}  # fmt: skip


def type_name(node: Node) -> str:
    """The kind of answer that a tree is, for people."""
    if node.op == "num":
        return "integer" if isinstance(node.value, int) else "rational"
    if node.op == "const":
        return {"infty": "infinity", "empty": "empty set", "undefined": "undefined"}.get(node.value, "constant")
    if node.op == "rel":
        return "equation" if set(node.value) <= {"=", "≈", "≡"} else "membership" if "in" in node.value else "inequality"
    if node.op == "where":
        return type_name(node.args[0])
    return _TYPE_NAMES.get(node.op, "expression")


# --------------------------------------------------------------------------------------------------------------------
# The fast lane


def equal(gold: Reading, answer: Reading, policy: Policy = DEFAULT_POLICY) -> Decision:
    """Whether the answer equals the gold.

    Args:
        gold: `read(text, role="gold")`.
        answer: `read(text, role="answer")`.
        policy: the choices on which graders differ.
    """
    g, a = gold.quick, answer.quick
    if g is not None and a is not None:
        return _quick(g, a, policy)
    if gold.key == answer.key and gold.key:
        if gold.problem is not None and gold.problem != "over_limit":
            return Decision(None, "gold_unreadable", gold.problem_detail)
        return Decision(True, "equal_string")
    differ = digit_strings_differ(gold.key, answer.key)
    if differ is not None:
        return Decision(False, "value_differs") if differ else Decision(True, "equal_rational")
    if gold.problem is not None:
        return Decision(None, "gold_unreadable" if gold.problem != "over_limit" else "over_limit", gold.problem_detail)
    if answer.problem is not None:
        return Decision(False, answer.problem, answer.problem_detail)
    assert gold.node is not None and answer.node is not None
    try:
        found = _Comparison(policy).top(gold.node, answer.node)
        if found.equal is not True and found.rule != "over_limit" and ("," in gold.text or "," in answer.text):
            found = _other_readings(gold, answer, policy, found)
        if found.equal is not True and found.rule != "over_limit":
            found = _unit_letters(gold, answer, policy, found)
    except RecursionError:
        return Decision(False, "over_limit", "nested too deep")
    return found


def _other_readings(gold: Reading, answer: Reading, policy: Policy, first: Decision) -> Decision:
    """Tries what else the commas between digits may mean: list, thousands, decimal."""
    golds, answers = gold.candidates(), answer.candidates()
    assert gold.node is not None and answer.node is not None
    for g in golds:
        if (found := _Comparison(policy).top(g, answer.node)).equal:
            return found
    for a in answers:
        if a.op == "dec" and gold.node.op not in ("dec", "money", "qty", "pct") and not isinstance(exact_of(gold.node), Fraction):
            continue
        if (found := _Comparison(policy).top(gold.node, a)).equal:
            return found
    return first


def _unit_letters(gold: Reading, answer: Reading, policy: Policy, first: Decision) -> Decision:
    """`3 m` for a gold of 3, `3m` for `3 \\text{ m}`: a lone letter as a unit, where the other side has no such symbol."""
    g, a = gold.node, answer.node
    assert g is not None and a is not None
    for reading, node, other in ((answer, a, g), (gold, g, a)):
        if node.op == "mul" and len(reading.text) < 80 and (other.op == "qty" or other.op in NUMERIC):
            try:
                again = parse(reading.text, "auto", "tight" if other.op == "qty" else "spaced")
            except Problem:
                continue
            if again.op == "qty":
                found = _Comparison(policy).top(*((g, again) if reading is answer else (again, a)))
                if found.equal:
                    return found
    return first


def _quick(g: Quick, a: Quick, policy: Policy) -> Decision:
    x, y = g.value, a.value
    gm, am = g.mark, a.mark
    if gm != am and (gm == "%" or am == "%"):
        if "$" in (gm, am) or "°" in (gm, am):
            return Decision(False, "unit_mismatch")
        share = x / 100 if gm == "%" else x
        other = Fraction(y) / 100 if am == "%" else y
        if Fraction(share) == other or (policy.percent == "either" and x == y):
            return Decision(True, "equal_percent")
        return Decision(False, "value_differs")
    if gm != am and "$" in (gm, am) and "°" in (gm, am):
        return Decision(False, "unit_mismatch")
    if x == y:
        return Decision(True, "equal_decimal" if (g.digits >= 0) != (a.digits >= 0) else "equal_rational")
    if policy.decimal_digits and (a.digits >= 0) != (g.digits >= 0):
        exact, shown, digits = (x, y, a.digits) if a.digits >= 0 else (y, x, g.digits)
        if _is_rounding(Fraction(exact), Fraction(shown), digits, policy):
            return Decision(True, "equal_rounded")
    if policy.rounding == "gold_precision" and g.digits >= 0 and abs(x - y) * 2 * 10**g.digits <= 1:
        return Decision(True, "equal_rounded")
    return Decision(False, "value_differs")


def _significant(value: Fraction, digits: int) -> int:
    """Significant digits of a decimal with so many digits after the point."""
    return len(str(abs(int(value * 10**digits)))) if value else 0


def _is_rounding(exact: Fraction, shown: Fraction, digits: int, policy: Policy) -> bool:
    """Whether `shown` is `exact` rounded or cut to its digits, and has enough of them."""
    if _significant(shown, digits) < policy.decimal_digits:
        return False
    scale = 10**digits
    whole = int(shown * scale)
    cut = int(exact * scale)  # towards zero
    nearest = (2 * exact * scale + 1).__floor__() // 2
    return whole in (cut, nearest)


# --------------------------------------------------------------------------------------------------------------------
# Typed comparison

_Found = Decision
_NO_TYPE: Final = Decision(False, "type_differs")
_ARITHMETIC: Final = frozenset({"add", "mul", "neg", "div"})
_MANY: Final = frozenset({"list", "set", "bracket", "tuple", "seq"})
_PARAMETERS: Final = frozenset("k n m l t j ell".split())
"""Letters that count solutions."""
_CONSTANT_NAMES: Final = frozenset("C c K k c_1 C_1 C_0 const D A constant".split())


class _Comparison:
    """One pair under one policy."""

    __slots__ = ("pairs", "policy")

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.pairs = 0

    # ---- the top

    def top(self, gold: Node, answer: Node) -> Decision:
        gold, answer = _declared(gold), _declared(answer)
        if not self.policy.unevaluated and answer.op == "calc" and gold.op in ("num", "dec"):
            return Decision(False, "unevaluated")
        found = self.same(gold, answer)
        if found.equal is None and found.rule in ("over_limit", "undefined_value"):
            return Decision(False, found.rule, found.detail)
        return found

    def same(self, g: Node, a: Node) -> Decision:
        """Dispatch on the two types."""
        if g.op == "where" or a.op == "where":
            return self.conditional(g, a)
        if g.op == "build" or a.op == "build":
            g, a = _listed(g), _listed(a)
        if g == a:
            return Decision(True, "equal_structure")
        if g.op in NUMERIC and a.op in NUMERIC:
            return self.numbers(g, a)
        if g.op == "choice" or a.op == "choice":
            return self.choices(g, a)
        if g.op == "text" or a.op == "text":
            return self.texts(g, a)
        if g.op == "label" or a.op == "label":
            return self.same(g.args[0] if g.op == "label" else g, a.args[0] if a.op == "label" else a)
        if g.op == "opaque" and g.value == "forall" or a.op == "opaque" and a.value == "forall":
            return self.quantified(g, a)
        if "cong" in (g.op, a.op):
            return self.congruences(g, a)
        if g.op == "matrix" or a.op == "matrix" or _holds_matrix(g) or _holds_matrix(a):
            found = self.matrices(g, a)
            if found is not None:
                return found
        if is_set(g) or is_set(a) or _set_against_interval(g, a):
            return self.real_sets(g, a)
        if g.op == "rel" and g.value[0] in ("=", "≈", "≡", "~") or a.op == "rel" and a.value[0] in ("=", "≈", "≡", "~"):
            return self.equations(g, a)
        if "call" in (g.op, a.op) and "tuple" in (g.op, a.op):
            return self.points(g, a)
        if g.op in _MANY or a.op in _MANY or has_pm(g) or has_pm(a):
            if "mul" in (g.op, a.op) and (letters := _letters_of(g)) is not None and letters == _letters_of(a):
                return Decision(True, "equal_choice")
            return self.many(g, a)
        if g.op == "time" or a.op == "time":
            return self.times(g, a)
        if g.op == "ratio" or a.op == "ratio":
            return self.ratios(g, a)
        if g.op == "base" or a.op == "base":
            return self.bases(g, a)
        if g.op == "cases" or a.op == "cases":
            return self.structures(g, a)
        if g.op in ("pct", "deg", "money", "qty") or a.op in ("pct", "deg", "money", "qty"):
            return self.quantities(g, a)
        if is_scalar(g) and is_scalar(a):
            return self.scalars(g, a)
        if g.op == "const" or a.op == "const":
            return self.constants(g, a)
        if g.op == a.op:
            return self.structures(g, a)
        if g.op == "call" or a.op == "call":
            return self.points(g, a)
        return _NO_TYPE

    # ---- numbers and expressions

    def numbers(self, g: Node, a: Node) -> Decision:
        x, y = exact_of(g), exact_of(a)
        assert x is not None and y is not None
        if x == y:
            return Decision(True, "equal_rational" if g.op == a.op else "equal_decimal")
        if a.op == "dec" and g.op != "dec" and self.policy.decimal_digits:
            if _is_rounding(Fraction(x), Fraction(y), a.value.digits, self.policy):
                return Decision(True, "equal_rounded")
        if g.op == "dec" and a.op != "dec" and self.policy.decimal_digits:
            if _is_rounding(Fraction(y), Fraction(x), g.value.digits, self.policy):
                return Decision(True, "equal_rounded")
        if self.policy.rounding == "gold_precision" and g.op == "dec" and abs(x - y) * 2 * 10**g.value.digits <= 1:
            return Decision(True, "equal_rounded")
        return Decision(False, "value_differs")

    def scalars(self, g: Node, a: Node) -> Decision:
        """Two expressions, with the renamings that a person grants."""
        if g.op == a.op == "call" and g.value == a.value and len(g.args) == len(a.args) > 1:
            found = self.ordered(g.args, a.args)
            if found.equal:
                return found
        same, rule = self.scalar(g, a)
        if same:
            return Decision(True, rule)
        if a.op == "dec" and g.op != "dec" and self.policy.decimal_digits and self.rounds(g, a):
            return Decision(True, "equal_rounded")
        if g.op == "dec" and a.op != "dec" and self.policy.decimal_digits and self.rounds(a, g):
            return Decision(True, "equal_rounded")
        if self.policy.rounding == "gold_precision" and g.op == "dec" and self.rounds(a, g, nearest_only=True):
            return Decision(True, "equal_rounded")
        if rule == "undefined_value" and not traits(a).alone:
            return Decision(False, rule)
        tg, ta = traits(g), traits(a)
        if self.policy.imaginary_j and "j" in ta.alone and "j" not in tg.alone and "i" in tg.alone and "i" not in ta.alone:
            renamed, renamed_rule = self.scalar(g, substitute(a, {"j": Node("sym", (), "i")}))
            if renamed:
                return Decision(True, renamed_rule)
        mapping = _case_renaming(tg.alone | tg.called, ta.alone | ta.called)
        if mapping:
            renamed, renamed_rule = self.scalar(g, substitute(a, mapping))
            if renamed:
                return Decision(True, renamed_rule)
        constant = _integration_constant(g, a, tg.alone, ta.alone)
        if constant:
            renamed, renamed_rule = self.scalar(g, substitute(a, constant))
            if renamed:
                return Decision(True, renamed_rule)
        if g.op == "call" and a.op == "call" and len(g.args) != len(a.args):
            return Decision(False, "value_differs")
        point = self.points(g, a)
        if point.equal:
            return point
        if tg.alone != ta.alone and tg.alone and ta.alone and "pi" in _constants_in(g):
            family = self.families(g, a, declared=False)
            if family is not None and family.equal:
                return family
        if g.op == a.op == "sym" and (letter := _letter(g)) is not None and letter == _letter(a):
            return Decision(True, "equal_choice")
        return Decision(same, rule)

    def scalar(self, g: Node, a: Node) -> tuple[bool | None, str]:
        return same_scalar(g, a, log_either=self.policy.log_base == "either")

    def rounds(self, exact: Node, shown: Node, *, nearest_only: bool = False) -> bool:
        """Whether a decimal shows a constant to its digits; enough of them are asked for unless it is the gold."""
        if traits(exact).alone or traits(exact).opaque:
            return False
        value, digits = shown.value
        if not nearest_only and _significant(value, digits) < self.policy.decimal_digits:
            return False
        if digits > 400:
            return False

        def work() -> bool:
            evaluator = Evaluator({}, frozenset())
            f = evaluator.f
            x = evaluator.value(exact)
            if not f.is_real(x):
                return False
            scaled = x * f.number(10**digits)
            whole = int(value * 10**digits)
            nearest = f.floor(scaled + f.number(Fraction(1, 2)))
            if nearest == whole:
                return True
            cut = f.floor(scaled)
            return not nearest_only and cut is not None and whole == (cut if cut >= 0 else cut + 1)

        try:
            found: bool = numeric.at_precision(128 + 4 * digits, work)
        except (Unsupported, Undefined, TooLarge):
            return False
        return found

    def constants(self, g: Node, a: Node) -> Decision:
        """∞, undefined, the empty set, true and false."""
        if g.op == "const" and a.op == "const":
            return Decision(g.value == a.value, "equal_structure" if g.value == a.value else "value_differs")
        for one, other in ((g, a), (a, g)):
            if one.op == "neg" and one.args[0].op == "const" and other.op == "const":
                return Decision(False, "value_differs")
        empty = Node("const", (), "empty")
        if g == empty and a.op in _MANY and not a.args or a == empty and g.op in _MANY and not g.args:
            return Decision(True, "equal_set")
        if is_scalar(g) or is_scalar(a):
            scalar, const = (g, a) if is_scalar(g) else (a, g)
            if const.op == "const" and const.value == "infty" and not traits(scalar).alone:
                return Decision(False, "value_differs")
        return _NO_TYPE

    def points(self, g: Node, a: Node) -> Decision:
        """`P(1,2)` is the point (1,2)."""
        for one, other in ((g, a), (a, g)):
            if one.op == "call" and len(one.args) >= 2 and other.op == "tuple":
                found = self.ordered(one.args, other.args) if one is g else self.ordered(other.args, one.args)
                if found.equal:
                    return found
        return _NO_TYPE

    # ---- percent, angle, money, units

    def quantities(self, g: Node, a: Node) -> Decision:
        go, ao = g.op, a.op
        inner_g = g.args[0] if go in ("pct", "deg", "money", "qty") else g
        inner_a = a.args[0] if ao in ("pct", "deg", "money", "qty") else a
        if not (is_scalar(inner_g) and is_scalar(inner_a)):
            if inner_g.op in ("pct", "deg", "money", "qty") or inner_a.op in ("pct", "deg", "money", "qty"):
                return self.same(inner_g, inner_a)
            return _NO_TYPE
        if go == ao == "pct":
            return self.scalars(inner_g, inner_a)
        if "pct" in (go, ao):
            other = ao if go == "pct" else go
            if other in ("deg", "money") or (other == "qty" and (a if go == "pct" else g).value.kind == "unit"):
                return Decision(False, "unit_mismatch")
            hundredth = Node("calc", (), Fraction(1, 100))
            left = tree.mul([hundredth, inner_g]) if go == "pct" else inner_g
            right = tree.mul([hundredth, inner_a]) if ao == "pct" else inner_a
            found = self.scalars(left, right)
            if found.equal:
                return Decision(True, "equal_percent")
            if self.policy.percent == "either":
                same = self.scalars(inner_g, inner_a)
                if same.equal:
                    return Decision(True, "equal_percent")
            return found
        if "deg" in (go, ao):
            return self.angles(g, a, inner_g, inner_a)
        if go == "money" or ao == "money":
            return self.money(g, a, inner_g, inner_a)
        scales = [n.value.factor if n.op == "qty" and n.value.kind == "scale" else None for n in (g, a)]
        if any(scales):
            left = tree.mul([Node("calc", (), scales[0] or 1), inner_g])
            right = tree.mul([Node("calc", (), scales[1] or 1), inner_a])
            found = self.scalars(left, right)
            if not found.equal and None in scales:
                found = self.scalars(inner_g, inner_a)
            return Decision(True, "equal_unit") if found.equal else found
        if go == "qty" and ao == "qty":
            return self.units(g, a, inner_g, inner_a)
        if go == "qty" and _radians(g) or ao == "qty" and _radians(a):
            return self.scalars(inner_g, inner_a)
        found = self.scalars(inner_g, inner_a)
        if found.equal:
            return Decision(True, "equal_unit")
        return found

    def angles(self, g: Node, a: Node, inner_g: Node, inner_a: Node) -> Decision:
        if g.op == "deg" and a.op == "deg":
            return self.scalars(inner_g, inner_a)
        other = a if g.op == "deg" else g
        if other.op in ("money",) or (other.op == "qty" and not _radians(other) and other.value.kind == "unit"):
            return Decision(False, "unit_mismatch")
        if not (other.op == "qty" and _radians(other)):
            found = self.scalars(inner_g, inner_a)
            if found.equal:
                return Decision(True, "equal_degree")
        if self.policy.degrees_as_radians:
            found = self.scalars(
                Node("deg", (inner_g,)) if g.op == "deg" else inner_g, Node("deg", (inner_a,)) if a.op == "deg" else inner_a
            )
            if found.equal:
                return Decision(True, "equal_degree")
        return Decision(False, "value_differs")

    def money(self, g: Node, a: Node, inner_g: Node, inner_a: Node) -> Decision:
        found = self.scalars(inner_g, inner_a)
        if g.op == "money" and a.op == "money" and g.value != a.value:
            cents = {g.value, a.value} == {"$", "¢"}
            if cents:
                hundred = Node("num", (), 100)
                left = tree.mul([inner_g, hundred]) if g.value == "$" else inner_g
                right = tree.mul([inner_a, hundred]) if a.value == "$" else inner_a
                converted = self.scalars(left, right)
                if converted.equal:
                    return Decision(True, "equal_unit")
            if self.policy.unit_conflict == "refuse":
                return Decision(False, "unit_mismatch", f"{g.value} against {a.value}")
        other = a if g.op == "money" else g
        if other.op == "qty" and other.value.kind == "unit" and self.policy.unit_conflict == "refuse":
            return Decision(False, "unit_mismatch", f"money against {other.value.text}")
        return Decision(True, "equal_unit") if found.equal else found

    def units(self, g: Node, a: Node, inner_g: Node, inner_a: Node) -> Decision:
        one, two = g.value, a.value
        found = self.scalars(inner_g, inner_a)
        if one.kind == "unit" and two.kind == "unit" and (one.dimension, one.factor) != (two.dimension, two.factor):
            if one.dimension == two.dimension:
                left = tree.mul([Node("calc", (), one.factor), inner_g])
                right = tree.mul([Node("calc", (), two.factor), inner_a])
                converted = self.scalars(left, right)
                if converted.equal:
                    return Decision(True, "equal_unit")
            if self.policy.unit_conflict == "refuse":
                return Decision(False, "unit_mismatch", f"{one.text} against {two.text}")
        return Decision(True, "equal_unit") if found.equal else found

    # ---- words

    def texts(self, g: Node, a: Node) -> Decision:
        if g.op == "text" and a.op == "text":
            if _same_words(g.value, a.value):
                return Decision(True, "equal_text")
            return Decision(False, "text_differs")
        if g.op == "text":
            letters = _letters_of(a)
            if letters is not None and letters.lower() == g.value.replace(" ", ""):
                return Decision(True, "equal_text")
            return Decision(False, "text_differs")
        letters = _letters_of(g)
        if letters is not None and letters.lower() == a.value.replace(" ", ""):
            return Decision(True, "equal_text")
        if a.args and len(a.args) == 1 and (g.op in NUMERIC or g.op in ("money", "pct", "qty", "deg")):
            found = self.same(g.args[0] if g.op in ("money", "qty", "deg", "pct") else g, a.args[0])
            if found.equal:
                return Decision(True, "equal_in_sentence")
        return Decision(False, "text_differs")

    def choices(self, g: Node, a: Node) -> Decision:
        if g.op == "choice" and a.op == "choice":
            same = g.value == a.value
            return Decision(same, "equal_choice" if same else "choice_differs")
        if g.op == "choice":
            if (letter := _letter(a)) is not None:
                return Decision(letter == g.value, "equal_choice" if letter == g.value else "choice_differs")
            if g.args:
                found = self.same(g.args[0], a)
                if found.equal:
                    return Decision(True, "equal_choice")
            return Decision(False, "choice_differs")
        letter = _letter(g)
        if letter is not None and letter == a.value and (g.op != "const" or not a.args):
            return Decision(True, "equal_choice")
        if a.args:
            found = self.same(g, a.args[0])
            if found.equal:
                return Decision(True, "equal_choice")
        return Decision(False, "choice_differs" if letter is not None else "type_differs")

    # ---- conditions: "for all x", "where k is an integer"

    def conditional(self, g: Node, a: Node) -> Decision:
        binding = [_binding(n.value) if n.op == "where" else "" for n in (g, a)]
        if any(binding) and binding[0] != binding[1]:
            return Decision(None, "undecided", "a condition on one side")
        words = g.value if g.op == "where" else a.value
        core_g = g.args[0] if g.op == "where" else g
        core_a = a.args[0] if a.op == "where" else a
        found = self.same(core_g, core_a)
        if found.equal:
            return found
        if _integer_words(words):
            family = self.families(core_g, core_a, declared=True)
            if family is not None:
                return family
        return found

    def quantified(self, g: Node, a: Node) -> Decision:
        if g.op == a.op and g.value == a.value and len(g.args) == len(a.args):
            return self.aligned(g, a)
        core = g.args[-1] if g.op == "opaque" else a.args[-1]
        return self.same(core, a) if g.op == "opaque" else self.same(g, core)

    def aligned(self, g: Node, a: Node) -> Decision:
        """Child by child."""
        for x, y in zip(g.args, a.args, strict=True):
            found = self.same(x, y)
            if not found.equal:
                return found
        return Decision(True, "equal_structure")

    def structures(self, g: Node, a: Node) -> Decision:
        """Same operation, compared child by child; a difference proves nothing."""
        if g.op == a.op and g.value == a.value and len(g.args) == len(a.args):
            found = self.aligned(g, a)
            if found.equal:
                return found
            if g.op in ("union", "inter"):
                return self.unordered(g.args, a.args)
        if g.op == "numset" and a.op == "numset":
            return Decision(False, "value_differs")
        return Decision(None, "undecided")

    # ---- residue classes

    def congruences(self, g: Node, a: Node) -> Decision:
        if g.op == "cong" and a.op == "cong":
            gm, am = g.args[-1], a.args[-1]
            if not self.same(gm, am).equal:
                return Decision(False, "value_differs", "other moduli")
            m = exact_of(gm)
            x, y = exact_of(g.args[-2]), exact_of(a.args[-2])
            if isinstance(m, int) and m > 0 and isinstance(x, int) and isinstance(y, int):
                same = (x - y) % m == 0
                return Decision(same, "equal_congruence" if same else "value_differs")
            return self.same(g.args[-2], a.args[-2])
        one, other = (g, a) if g.op == "cong" else (a, g)
        residue = one.args[-2]
        assigned = _assignment(other)
        progression = _progression(assigned[1] if assigned is not None else other)
        if progression is not None:
            start, step = progression
            m, r = exact_of(one.args[-1]), exact_of(residue)
            same = isinstance(m, int) and isinstance(r, int) and step == m and (start - r) % m == 0
            return Decision(same, "equal_congruence" if same else "value_differs")
        found = self.same(residue, other) if one is g else self.same(other, residue)
        return Decision(True, "equal_congruence") if found.equal else found

    # ---- ratios, times, bases

    def ratios(self, g: Node, a: Node) -> Decision:
        if g.op == "ratio" and a.op == "ratio":
            if len(g.args) != len(a.args):
                return Decision(False, "count_differs")
            if any(n.op == "const" for n in (*g.args, *a.args)):
                found = self.aligned(g, a)
                return Decision(found.equal, "equal_ratio" if found.equal else found.rule)
            if not all(is_scalar(n) for n in (*g.args, *a.args)):
                return self.aligned(g, a)
            for x, y in zip(g.args[1:], a.args[1:], strict=True):
                same, rule = self.scalar(tree.mul([g.args[0], y]), tree.mul([a.args[0], x]))
                if not same:
                    return Decision(same, rule)
            if exact_of(a.args[0]) == 0 and exact_of(g.args[0]) != 0:
                return Decision(False, "value_differs")
            return Decision(True, "equal_ratio")
        one, other = (g, a) if g.op == "ratio" else (a, g)
        if len(one.args) == 2 and is_scalar(other) and all(map(is_scalar, one.args)):
            quotient = tree.div(one.args[0], one.args[1])
            found = self.scalars(quotient, other) if one is g else self.scalars(other, quotient)
            return Decision(True, "equal_ratio") if found.equal else found
        return _NO_TYPE

    def times(self, g: Node, a: Node) -> Decision:
        if g.op == "time" and a.op == "time":
            gm, ghalf, am, ahalf = g.value[0], g.value[1], a.value[0], a.value[1]
            same = gm == am or (ghalf != ahalf and (gm - am) % 720 == 0)
            return Decision(same, "equal_time" if same else "value_differs")
        one, other = (g, a) if g.op == "time" else (a, g)
        hours, minutes = one.value[2], one.value[3]
        if other.op == "ratio":
            terms = Node("ratio", (Node("num", (), hours), Node("num", (), minutes)))
            return self.ratios(terms, a) if one is g else self.ratios(g, terms)
        if other.op == "qty" and other.value.text.replace(".", "").replace(" ", "") in ("am", "pm", "oclock", "o'clock"):
            other = other.args[0]
        value = exact_of(other)
        if value is None:
            return _NO_TYPE
        if minutes == 0 and value == hours:
            return Decision(True, "equal_time")
        if minutes and value == Fraction(hours, minutes) and one is a:
            return Decision(True, "equal_ratio")
        return Decision(False, "value_differs")

    def bases(self, g: Node, a: Node) -> Decision:
        if g.op == "base" and a.op == "base":
            (gd, gb), (ad, ab) = g.value, a.value
            if gb != ab:
                return Decision(False, "base_differs")
            same = gd.lstrip("0") == ad.lstrip("0")
            return Decision(same, "equal_base" if same else "value_differs")
        one, other = (g, a) if g.op == "base" else (a, g)
        digits, base = one.value
        value = exact_of(other)
        if value is None:
            return _NO_TYPE
        if base == 10 or self.policy.base_dropped:
            if digits.isdigit() and len(digits) <= 4000 and int(digits) == value:
                return Decision(True, "equal_base")
        return Decision(False, "base_differs")

    # ---- matrices and vectors

    def matrices(self, g: Node, a: Node) -> Decision | None:
        left, right = _as_matrix(g), _as_matrix(a)
        if left is None or right is None:
            if (g.op == "matrix" and g.value[2] == "|") or (a.op == "matrix" and a.value[2] == "|"):
                if (is_scalar(g) or g.op == "matrix") and (is_scalar(a) or a.op == "matrix"):
                    same, rule = self.scalar(g, a)
                    return Decision(same, rule)
            return None if left is None and right is None else _NO_TYPE
        (r1, c1, cells1), (r2, c2, cells2) = left, right
        if (r1, c1) != (r2, c2):
            flat = {g.op, a.op} & {"tuple", "bracket", "list"}
            if not (flat and len(cells1) == len(cells2) and 1 in (r1, c1) and 1 in (r2, c2)):
                return Decision(False, "count_differs" if len(cells1) != len(cells2) else "order_differs")
        found = self.ordered(cells1, cells2)
        return Decision(True, "equal_matrix") if found.equal else found

    # ---- sets of reals

    def real_sets(self, g: Node, a: Node) -> Decision:
        if not self.policy.inequality_as_interval and (_is_inequality(g) != _is_inequality(a)):
            return _NO_TYPE
        g, a = _without_name(g, a), _without_name(a, g)
        try:
            left = read_set(g)
        except NotReal:
            return self.relations(g, a)
        try:
            right = read_set(a)
        except NotReal:
            if is_scalar(a) and g.op == "rel" and g.value == ("in",):
                return _NO_TYPE
            return self.relations(g, a)
        if left.variable is not None and right.variable is not None and not _same_variable(left.variable, right.variable):
            return Decision(False, "name_differs")
        if is_scalar(a) or is_scalar(g):
            return _NO_TYPE
        same, rule = same_set(left, right)
        return Decision(same, rule)

    def relations(self, g: Node, a: Node) -> Decision:
        """Inequalities and memberships that are not solved: side by side, turned around, or up to a positive factor."""
        if g.op == "rel" and a.op == "rel" and len(g.args) == len(a.args):
            turned = Node("rel", tuple(reversed(a.args)), tuple(_TURN.get(s, s) for s in reversed(a.value)))
            for other in (a, turned):
                if other.value == g.value:
                    found = self.aligned(g, other)
                    if found.equal:
                        return Decision(True, "equal_real_set")
            if len(g.args) == 2 and all(is_scalar(s) for s in (*g.args, *a.args)):
                for other in (a, turned):
                    if other.value == g.value and g.value[0] in _TURN:
                        left = tree.add([g.args[0], tree.neg(g.args[1])])
                        right = tree.add([other.args[0], tree.neg(other.args[1])])
                        factor = _constant_factor(left, right)
                        if factor == 1 or (factor == -1 and g.value[0] == "!="):
                            return Decision(True, "equal_real_set")
            return Decision(False, "sign_differs" if set(g.value) != set(a.value) else "value_differs")
        if g.op in ("union", "inter", "minus", "list", "build", "set") and g.op == a.op:
            if g.op == "build":
                found = self.aligned(g, a)
                return found if found.equal else Decision(None, "undecided")
            if g.op == "minus":
                return self.aligned(g, a)
            found = self.unordered(g.args, a.args)
            return Decision(True, "equal_set") if found.equal else found
        if g.op == a.op == "interval":
            if g.value != a.value:
                found = self.aligned(g, a)
                return Decision(False, "endpoint_open" if found.equal else "endpoint_differs")
            return self.aligned(g, a)
        if g.op == a.op:
            return self.structures(g, a)
        if g.op == "rel" and g.value == ("in",) and a.op != "rel":
            return self.same(g.args[1], a)
        if a.op == "rel" and a.value == ("in",) and g.op != "rel" and not is_scalar(g):
            return self.same(g, a.args[1])
        if (g.op == "interval" and a.op in ("tuple", "bracket")) or (a.op == "interval" and g.op in ("tuple", "bracket")):
            return _NO_TYPE
        if {g.op, a.op} & {"build", "cases"}:
            return Decision(None, "undecided")
        return _NO_TYPE

    # ---- equations and assignments

    def equations(self, g: Node, a: Node) -> Decision:
        ga, aa = _assignment(g), _assignment(a)
        if aa is not None and a.op == "rel":
            broken = self.contradiction(a)
            if broken is not None:
                return broken
        if g.op == "rel" and a.op == "rel":
            return self.two_equations(g, a, ga, aa)
        if g.op == "rel":
            if a.op in _MANY or has_pm(g):
                return self.many(g, a)
            if ga is not None:
                found = self.same(ga[1], a)
                if found.equal:
                    return Decision(True, "equal_assignment")
                family = self.families(g, a, declared=False)
                if family is not None and family.equal:
                    return family
            if len(g.args) == 2 and is_scalar(a) and traits(a).alone and all(map(is_scalar, g.args)):
                if _solves(g, a):
                    return Decision(True, "equal_equation")
            if ga is not None:
                return found
            return _NO_TYPE
        if g.op in _MANY or has_pm(a):
            return self.many(g, a)
        if aa is None:
            return _NO_TYPE
        found = self.same(g, aa[1])
        return Decision(True, "equal_assignment") if found.equal else found

    def contradiction(self, a: Node) -> Decision | None:
        """`5 = 6`, `x = 7 = 11`: sides that are numbers must agree; after ≈ they must agree roughly."""
        previous: Node | None = None
        for j, side in enumerate(a.args):
            if not _is_number(side):
                previous = None
                continue
            if previous is not None:
                sign = a.value[j - 1]
                same, _ = self.scalar(previous, side)
                if same is False and (sign != "≈" or not _close(previous, side)):
                    return Decision(False, "contradiction", "two sides of the answer are different numbers")
            previous = side
        return None

    def two_equations(self, g: Node, a: Node, ga: _Assigned | None, aa: _Assigned | None) -> Decision:
        found = _NO_TYPE
        if ga is not None and aa is not None:
            one, other = ga, aa
            renamed = other[1]
            function = False
            if (
                one[0].op == other[0].op == "call"
                and len(one[0].args) == len(other[0].args)
                and all(n.op == "sym" for n in (*one[0].args, *other[0].args))
            ):
                mapping = {y.value: x for x, y in zip(one[0].args, other[0].args, strict=True) if x != y}
                free = traits(renamed).alone if mapping and is_scalar(renamed) else frozenset()
                if any(x.value in free for x in mapping.values()):
                    return Decision(False, "value_differs", "the argument is another letter")
                if mapping:
                    renamed = substitute(renamed, mapping)
                    function = True
            if one[0].op == "tuple" and other[0].op == "tuple":
                return self.many(g, a)
            found = self.same(one[1], renamed)
            names = self.same_name(one[0], other[0])
            if found.equal and names:
                return Decision(True, "equal_function" if function else "equal_assignment")
            if not found.equal and names:
                family = self.families(g, a, declared=False)
                if family is not None and family.equal:
                    return family
                if function or (_is_number(one[1]) and _is_number(renamed)):
                    return found
            if found.equal:
                found = Decision(False, "name_differs")
        sides = (*g.args, *a.args)
        if len(g.args) == len(a.args) == 2 and all(map(is_scalar, sides)):
            left = tree.add([g.args[0], tree.neg(g.args[1])])
            right = tree.add([a.args[0], tree.neg(a.args[1])])
            if _constant_factor(left, right) is not None:
                return Decision(True, "equal_equation")
            if _solved_alike(g, a):
                return Decision(True, "equal_equation")
        if found is _NO_TYPE or found.rule == "type_differs":
            if len(g.args) == len(a.args) and g.value == a.value:
                aligned = self.aligned(g, a)
                if aligned.equal:
                    return aligned
                return Decision(aligned.equal, aligned.rule)
            return Decision(False, "value_differs")
        return found

    def same_name(self, x: Node, y: Node) -> bool:
        """Whether two left sides name the same thing: the same letter; y and f(x) are one to a person."""
        if x == y:
            return True
        if x.op == "text" or y.op == "text":
            return True
        if x.op == y.op == "call":
            return x.value == y.value or not all(n.op == "sym" for n in (*x.args, *y.args)) and x.value == y.value
        if _is_derivative(x) and _is_derivative(y):
            return True
        if {x.op, y.op} == {"sym", "call"}:
            name = x if x.op == "sym" else y
            return name.value in ("y", "f", "g", "h") or (x.value == y.value)
        if x.op == y.op == "sym":
            head = x.value.split("_")[0], y.value.split("_")[0]
            return bool(x.value.lower() == y.value.lower()) or (
                head[0] == head[1] and bool(set("maxminMAXMIN") >= set((x.value + y.value).replace(head[0], "").replace("_", "")))
            )
        if is_scalar(x) and is_scalar(y):
            return bool(self.scalar(x, y)[0])
        return True

    # ---- families of solutions with an integer parameter

    def families(self, g: Node, a: Node, *, declared: bool) -> Decision | None:
        """`π/4 + kπ` against `π/4 + nπ`: one letter each that only counts; None when the two are no such families."""
        ga, aa = _assignment(g), _assignment(a)
        x = ga[1] if ga is not None else g
        y = aa[1] if aa is not None else a
        if ga is not None and ga[0].op == "call":
            return None
        if x.op == "tuple" and y.op == "tuple":
            return self.tuple_families(x, y)
        if not (is_scalar(x) and is_scalar(y)):
            return None
        p = _parameter(x, ga[0] if ga is not None else None)
        q = _parameter(y, aa[0] if aa is not None else None)
        if p is None or q is None:
            return None
        if not {p, q} <= _PARAMETERS:
            return None
        if not declared:
            # nobody said that the letter counts: it must be a usual one and stand for a solution of something else
            periodic = "pi" in _constants_in(x)
            if not periodic and (ga is None or ga[0].op != "sym" or p == q):
                return None
            declared = periodic
        shared = Node("sym", (), "#n")
        left, right = substitute(x, {p: shared}), substitute(y, {q: shared})
        same, _ = self.scalar(left, right)
        if same:
            return Decision(True, "equal_family")
        if declared and _same_progression(left, right):
            return Decision(True, "equal_family")
        return Decision(False, "value_differs")

    def tuple_families(self, x: Node, y: Node) -> Decision | None:
        if len(x.args) != len(y.args):
            return None
        p = _parameter(Node("add", x.args), None)
        q = _parameter(Node("add", y.args), None)
        if p is None or q is None or p == q:
            return None
        renamed = tuple(substitute(n, {q: Node("sym", (), p)}) for n in y.args)
        found = self.ordered(x.args, renamed)
        return Decision(True, "equal_family") if found.equal else found

    # ---- lists, sets, tuples, systems

    def many(self, g: Node, a: Node) -> Decision:
        if "list" in (g.op, a.op) or "set" in (g.op, a.op):
            # (±1, 0) is two points
            for one in (g, a):
                if one.op == "tuple" and has_pm(one) and (points := expand(one)) is not None:
                    opened = Node("list", tuple(points), ",")
                    g, a = (opened, a) if one is g else (g, opened)
        left, right = _entries(g), _entries(a)
        if left is None or right is None:
            return _NO_TYPE
        parameter = left.parameter or right.parameter
        if left.single_tuple and right.single_tuple and not left.names and not right.names:
            return self.ordered(left.values, right.values)
        if left.names and right.names and len(left.names) == len(left.values) and len(right.names) == len(right.values):
            named = self.systems(left, right)
            if named is not None:
                return named
        values_l, values_r = left.values, right.values
        if left.names and not right.names:
            values_l = _folded(left, right.values)
        elif right.names and not left.names:
            values_r = _folded(right, left.values)
        elif left.names and right.names:
            values_l, values_r = _folded(left, right.values), _folded(right, left.values)
        if any(n == _DOTS for n in (*values_l, *values_r)):
            found = self.ordered(values_l, values_r) if len(values_l) == len(values_r) else Decision(False, "count_differs")
            return Decision(found.equal, found.rule) if found.equal is not None else found
        if left.single_tuple != right.single_tuple or left.ordered or right.ordered:
            lone_l = left.single_tuple and len(values_r) == 1 and values_r[0].op == "tuple"
            lone_r = right.single_tuple and len(values_l) == 1 and values_l[0].op == "tuple"
            if lone_r and not left.single_tuple:
                return self.ordered(values_l[0].args, values_r)
            if lone_l and not right.single_tuple:
                return self.ordered(values_l, values_r[0].args)
            if left.is_set or right.is_set:
                return _NO_TYPE
            if left.bracket_pair or right.bracket_pair:
                return _NO_TYPE  # (1,2) is no [1,2]
            if len(values_l) == 1 != len(values_r) or len(values_r) == 1 != len(values_l):
                if left.single_tuple or right.single_tuple:
                    return _NO_TYPE
            if left.named_values or right.named_values:
                found = self.ordered(values_l, values_r)
                return found if found.equal or not (left.loose and right.loose) else self.unordered(values_l, values_r)
            return self.ordered(values_l, values_r)
        if left.bracket_pair and right.bracket_pair and order(values_l[0], values_l[1]) == -1:
            return self.ordered(values_l, values_r)  # closed intervals
        expanded_l, expanded_r = expand_all(values_l), expand_all(values_r)
        if expanded_l is None or expanded_r is None:
            return Decision(False, "over_limit")
        if left.is_set or right.is_set or has_pm(g) or has_pm(a):
            if left.bracket_pair and right.is_set or right.bracket_pair and left.is_set:
                return _NO_TYPE
            expanded_l, expanded_r = self.distinct(expanded_l), self.distinct(expanded_r)
        elif len(expanded_r) > len(expanded_l) > 1 and len(self.distinct(expanded_l)) == len(expanded_l):
            expanded_r = self.distinct(expanded_r)  # an element said twice does no harm where the gold has none twice
        found = self.unordered(expanded_l, expanded_r, parameter=parameter, family=left.family)
        if found.equal:
            return Decision(True, "equal_set" if left.is_set or right.is_set else "equal_list")
        return found

    def systems(self, left: _Entries, right: _Entries) -> Decision | None:
        """`x=2, y=3` against `y=3, x=2`: by names, when each name stands once and the names are the same."""
        if len(set(left.names)) != len(left.names) or len(set(right.names)) != len(right.names):
            return None
        table = dict(zip(right.names, right.values, strict=True))
        if set(left.names) != set(right.names):
            if len(left.names) == len(right.names) == 1:
                return None
            return None if len(left.names) != len(right.names) else Decision(False, "name_differs")
        for name, value in zip(left.names, left.values, strict=True):
            found = self.same(value, table[name])
            if not found.equal:
                return found
        return Decision(True, "equal_assignment")

    def ordered(self, xs: Sequence[Node], ys: Sequence[Node]) -> Decision:
        if len(xs) != len(ys):
            return Decision(False, "count_differs")
        undecided: Decision | None = None
        for j, (x, y) in enumerate(zip(xs, ys, strict=True)):
            found = self.same(x, y)
            if found.equal is False:
                if len(xs) <= 12 and len(xs) > 1 and self.unordered(xs, ys).equal:
                    return Decision(False, "order_differs", f"element {j + 1}")
                return Decision(False, "element_differs" if len(xs) > 1 else found.rule, f"element {j + 1}")
            if found.equal is None:
                undecided = found
        return undecided or Decision(True, "equal_tuple")

    def unordered(
        self, xs: Sequence[Node], ys: Sequence[Node], *, parameter: bool = False, family: bool = False
    ) -> Decision:
        """A one-to-one match. Exact numbers are matched by value first, so long lists stay linear."""
        if len(xs) != len(ys):
            return Decision(False, "count_differs", f"{len(xs)} against {len(ys)}")
        counts: dict[Any, int] = {}
        rest_x: list[Node] = []
        for x in xs:
            key = exact_of(x)
            if key is None:
                rest_x.append(x)
            else:
                counts[key] = counts.get(key, 0) + 1
        rest_y: list[Node] = []
        for y in ys:
            key = exact_of(y)
            if key is not None and counts.get(key, 0):
                counts[key] -= 1
            else:
                rest_y.append(y)
        rest_x.extend(Node("num", (), key) for key, n in counts.items() for _ in range(n))
        undecided: Decision | None = None
        waiting = list(rest_y)
        for x in rest_x:
            self.pairs += len(waiting)
            if self.pairs > MAX_PAIRS:
                return Decision(None, "over_limit", "too many elements to match")
            for j, y in enumerate(waiting):
                found = self.same(x, y)
                if not found.equal and (parameter or family):
                    shifted = self.families(x, y, declared=parameter)
                    if shifted is not None and shifted.equal:
                        found = shifted
                if found.equal:
                    del waiting[j]
                    break
                if found.equal is None:
                    undecided = found
            else:
                return undecided or Decision(False, "element_differs")
        return Decision(True, "equal_list")

    def distinct(self, values: list[Node]) -> list[Node]:
        """The values without repetitions."""
        out: list[Node] = []
        seen: set[Any] = set()
        for value in values:
            key = exact_of(value)
            if key is not None:
                if key in seen:
                    continue
                seen.add(key)
                out.append(value)
            elif len(values) > 60 or not any(v.op not in NUMERIC and self.same(v, value).equal for v in out):
                out.append(value)
        return out


_TURN: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!=", "≈": "≈", "~": "~", "≡": "≡"}
_DOTS: Final = Node("const", (), "dots")
_Assigned = tuple[Node, Node]


def _radians(node: Node) -> bool:
    return node.value.dimension == (("rad", 1),)


def _is_number(node: Node) -> bool:
    return node.op in NUMERIC or (is_scalar(node) and not traits(node).alone and not traits(node).opaque and node.op != "call")


def _close(x: Node, y: Node) -> bool:
    """Whether a stated approximation is one: one part in fifty."""

    def work() -> bool:
        e = Evaluator({}, frozenset())
        a, b = e.value(x), e.value(y)
        return bool(abs(a - b) <= abs(a) / 50)

    try:
        found: bool = numeric.at_precision(96, work)
    except (Unsupported, Undefined, TooLarge, TypeError):
        return True
    return found


def _letter(node: Node) -> str | None:
    """The option letter that a lone symbol is."""
    if node.op == "sym" and len(node.value) == 1 and node.value.upper() in "ABCDEFGHIJ":
        return str(node.value.upper())
    if node.op == "sym" and node.value.startswith("bold:") and len(node.value) == 6:
        return str(node.value[5].upper())
    if node.op == "const" and node.value == "e":
        return "E"
    return None


def _letters_of(node: Node) -> str | None:
    """`A, C, D` and the product ACD as the word they spell."""
    if node.op in ("list", "set", "tuple") and node.args:
        letters = [_letter(a) for a in node.args]
        return "".join(x for x in letters if x) if all(letters) else None
    if node.op == "mul" and all(a.op == "sym" or a == Node("const", (), "e") for a in node.args):
        return "".join(a.value for a in node.args)
    if node.op in ("sym",):
        return str(node.value)
    return None


_DROPPED_WORDS: Final = frozenset("the a an of is are that it its in on to be s".split())
_YES: Final = {"yes": "true", "no": "false", "correct": "true", "incorrect": "false"}


def _same_words(g: str, a: str) -> bool:
    """Equal up to case, articles and hyphens; a yes is a true."""
    if g == a or g.replace(" ", "") == a.replace(" ", ""):
        return True
    x = [_YES.get(w, w) for w in g.split() if w not in _DROPPED_WORDS]
    y = [_YES.get(w, w) for w in a.split() if w not in _DROPPED_WORDS]
    return bool(x) and x == y


def _integer_words(words: str) -> bool:
    low = words.lower()
    return any(w in low for w in ("integer", "numset:z", "numset:n", "in z", "in n", "whole", "natural"))


_BINDING: Final = frozenset("if when whenever such given provided with while unless satisfying which".split())


def _binding(words: str) -> str:
    """The condition that changes what an answer says ("if x > 0"); "" for one that only names its letters."""
    parts = words.split()
    if not parts:
        return ""
    first = parts[0].lower().strip("(")
    if first in _BINDING or (first == "for" and len(parts) > 1 and parts[1].lower() == "which"):
        return "".join(parts[1:]).lower()
    if parts[0] == "(" and not ({"in"} & set(parts)):
        return "".join(parts).lower().strip("()")
    return ""


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


def _declared(node: Node) -> Node:
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


def _listed(node: Node) -> Node:
    """A set builder with few whole numbers, or with its values written out (`{x | x = 2, 3}`), as the set itself."""
    if node.op != "build":
        return node
    whole = whole_numbers(node)
    if whole is not None:
        return whole
    body, condition = node.args
    if body.op == "sym" and condition.op == "list":
        entries = _entries(condition)
        if entries is not None and entries.names and all(n == body for n in entries.names):
            return Node("set", entries.values)
    return node


def _is_inequality(node: Node) -> bool:
    if node.op == "rel":
        return any(s in ("<", "<=", ">", ">=", "!=") for s in node.value)
    return node.op == "list" and any(_is_inequality(a) for a in node.args)


def _set_against_interval(g: Node, a: Node) -> bool:
    return False


def _without_name(node: Node, other: Node) -> Node:
    """`D = (0,1)`, `S = \\{...\\}`: the set without its name."""
    assigned = _assignment(node)
    if assigned is not None and node.op == "rel" and node.value[0] == "=" and not is_scalar(assigned[1]):
        return assigned[1]
    return node


def _same_variable(x: Node, y: Node) -> bool:
    if x == y or Node("sym", (), "_") in (x, y):
        return True
    if x.op == y.op == "sym":
        return bool(x.value.lower() == y.value.lower())
    return {x.op, y.op} == {"sym", "call"}


# ---- matrices


def _holds_matrix(node: Node) -> bool:
    if node.op == "sym":
        return ":" in node.value and node.value[-2:] in (":i", ":j", ":k")
    if node.op not in _ARITHMETIC:
        return False
    return any(a.op == "matrix" or _holds_matrix(a) for a in node.args)


_AXES: Final = ("i", "j", "k")


def _along_axes(node: Node) -> tuple[int, int, tuple[Node, ...]] | None:
    """`3i - 2j` with bold, hatted or arrowed letters as the column of its coefficients."""
    if node.op not in ("add", "mul", "neg", "sym", "div"):
        return None
    names = traits(node).alone
    if not names or any(":" in n and n.partition(":")[2] not in _AXES for n in names):
        return None
    axes = {n: n.partition(":")[2] for n in names if ":" in n}
    if not axes or len(set(axes.values())) != len(axes):
        return None
    width = 3 if "k" in axes.values() else 2
    cells = []
    for axis in _AXES[:width]:
        cells.append(substitute(node, {n: tree.ONE if a == axis else tree.ZERO for n, a in axes.items()}))
    return width, 1, tuple(cells)


def _as_matrix(node: Node) -> tuple[int, int, tuple[Node, ...]] | None:
    """Rows, columns and cells of a matrix, of a sum or a multiple of matrices, of a vector in brackets, of `3i - 2j`."""
    if node.op == "matrix":
        rows, columns, fence = node.value
        return (rows, columns, node.args) if fence != "|" else None
    if node.op == "rel" and node.value[0] == "=" and len(node.args) >= 2:
        return _as_matrix(node.args[-1])
    if node.op in ("tuple", "bracket"):
        if node.op == "bracket" and node.args and all(a.op == "bracket" for a in node.args):
            widths = {len(a.args) for a in node.args}
            if len(widths) == 1:
                return len(node.args), widths.pop(), tuple(c for a in node.args for c in a.args)
        return (len(node.args), 1, node.args) if node.args else None
    if node.op == "list" and len(node.args) == 1:
        return _as_matrix(node.args[0])
    axes = _along_axes(node)
    if axes is not None:
        return axes
    if node.op == "add":
        parts = [_as_matrix(a) for a in node.args]
        known = [p for p in parts if p is not None]
        if len(known) != len(parts) or len({p[:2] for p in known}) != 1:
            return None
        cells = tuple(tree.add([p[2][j] for p in known]) for j in range(len(known[0][2])))
        return known[0][0], known[0][1], cells
    if node.op == "neg":
        part = _as_matrix(node.args[0])
        return None if part is None else (part[0], part[1], tuple(tree.neg(c) for c in part[2]))
    if node.op == "mul":
        scale = [a for a in node.args if is_scalar(a)]
        others = [m for a in node.args if not is_scalar(a) and (m := _as_matrix(a)) is not None]
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
        part = _as_matrix(node.args[0])
        return None if part is None else (part[0], part[1], tuple(tree.div(c, node.args[1]) for c in part[2]))
    return None


# ---- assignments and equations


def _assignment(node: Node) -> _Assigned | None:
    """(name, value) of `x = 5`, `f(x) = x^2`, `m+n = 17`, `|AB| = 1`, `x = y = z = 1`, `2+3 = 5`.

    None for an equation whose left side is no name: `x+2 = 7` is a question, not the answer 7.
    """
    if node.op == "label":
        return Node("text", (), node.value), node.args[0]
    if node.op != "rel" or node.value[0] not in ("=", "≈", "≡", "~"):
        return None
    if any(s not in ("=", "≈", "~", "in") for s in node.value):
        return None
    sides = list(node.args)
    if node.value[-1] == "in":
        return None
    # an approximation after the value does not replace it
    while len(sides) > 1 and node.value[len(sides) - 2] in ("≈", "~") and (len(sides) > 2 or _is_number(sides[0])):
        sides.pop()
    if len(sides) == 1:
        return Node("text", (), ""), sides[0]
    first = sides[0]
    if _is_name(first):
        return first, sides[-1]
    if all(_is_number(s) for s in sides):
        return Node("text", (), ""), sides[-1]
    if len(sides) == 2 and _is_name(sides[1]) and sides[1].op == "sym" and not _is_name(first):
        if not traits(first).alone and is_scalar(first):
            return sides[1], first  # 5 = x
    if first.op == "opaque" or first.op == "big":
        return first, sides[-1]
    return None


def _is_name(node: Node) -> bool:
    """What stands on the left of "=" as the name of a value."""
    op = node.op
    if op == "sym" or op == "text":
        return True
    if op == "const":
        return node.value == "e"
    if op == "call":
        return all(a.op in ("sym", "num", "mul", "call") or is_scalar(a) for a in node.args) and (
            len(node.args) > 1 or node.args[0].op != "add" or node.value in ("P", "f", "g", "E", "F", "S", "T", "N")
        )
    if op == "tuple":
        return all(_is_name(a) for a in node.args)
    if op in ("abs", "opaque"):
        return op == "opaque" or _is_name(node.args[0]) or _letters_product(node.args[0])
    if op == "fn":
        return node.value == "overline"
    if op == "ratio":
        return all(_is_name(a) or _letters_product(a) for a in node.args)
    if op == "div":
        return all(_letters_product(a) for a in node.args) or _is_derivative(node)
    if op == "mul":
        return _letters_product(node)
    if op == "add":
        names = {a.value for a in node.args if a.op == "sym"}
        return len(names) == len(node.args) and not names <= {"x", "y", "z"}
    return False


def _is_derivative(node: Node) -> bool:
    """`f'(x)`, `y'`, `dy/dx`"""
    if node.op in ("sym", "call"):
        return str(node.value).endswith("'") and not str(node.value).endswith("''")
    return node.op == "div" and all(
        a.op == "mul" and a.args[0] == Node("sym", (), "d") and len(a.args) == 2 for a in node.args
    )


def _letters_product(node: Node) -> bool:
    """`AB`, `NO`, `BC`: a product of capital letters names a length."""
    if node.op == "sym":
        return bool(node.value[0].isupper())
    return node.op == "mul" and all(a.op == "sym" and a.value[0].isupper() for a in node.args)


def _differences(left: Node, right: Node, visit: Callable[[Any, Any, Any], bool | None], count: int) -> bool:
    """Runs `visit(f, left value, right value)` at `count` real points of both; False once it says so, or without points."""
    from rewards.math_equivalence.exact import seed_of
    from rewards.math_equivalence.expressions import fingerprint, point_for

    tl, tr = traits(left), traits(right)
    if tl.opaque or tr.opaque or tl.dots or tr.dots:
        return False
    names = products(tl, tr)
    symbols = sorted((tl.alone | tr.alone | names) - {"i"})
    if not symbols:
        return False
    seed = seed_of(fingerprint(left), fingerprint(right))
    done = 0
    for attempt in range(count + 6):
        point = point_for(symbols, tl.integers | tr.integers, seed, attempt)

        def work(point: dict[str, Any] = point) -> bool | None:
            evaluator = Evaluator(point, names)
            return visit(evaluator.f, evaluator.value(left), evaluator.value(right))

        try:
            said: bool | None = numeric.at_precision(256, work)
        except (Undefined, TooLarge):
            continue
        except Unsupported:
            return False
        if said is False:
            return False
        if said is True:
            done += 1
            if done == count:
                return True
    return False


def _constant_factor(left: Node, right: Node) -> int | None:
    """The sign of c where left = c·right for a constant c ≠ 0; None when there is no such constant."""
    state: list[Any] = []

    def visit(f: Any, x: Any, y: Any) -> bool | None:
        if not (f.is_real(x) and f.is_real(y)) or f.contains_zero(x) or f.contains_zero(y):
            return None if f.is_real(x) and f.is_real(y) and f.contains_zero(x) and f.contains_zero(y) else False
        ratio = x / y
        if not state:
            state.append(ratio)
            return True
        return f.overlaps(ratio, state[0]) and f.rel_bits(ratio) > 90

    if not _differences(left, right, visit, 4):
        return None
    return 1 if numeric.backend().positive(state[0]) else -1


def _solves(equation: Node, value: Node) -> bool:
    """Whether `y = value` is the equation solved for one of its symbols, in which it is linear."""
    left = tree.add([equation.args[0], tree.neg(equation.args[1])])
    inside = traits(left)
    if inside.opaque:
        return False
    own = traits(value).alone
    for name in sorted(inside.alone - own):
        if not own <= inside.alone:
            break
        if _is_root(left, name, value):
            return True
    for name in sorted(inside.called - own):
        # f(x) = ... written unsolved is rare; the name of a function is solved for like a letter
        if len(name) == 1 and name in ("y",):
            return _is_root(left, name, value)
    return False


def _is_root(left: Node, name: str, value: Node) -> bool:
    """Whether left vanishes for name := value, and is linear in name with a slope that is not zero."""
    step = Node("sym", (), "#step")
    zero = substitute(left, {name: value})
    one = substitute(left, {name: tree.add([value, step])})
    two = substitute(left, {name: tree.add([value, step, step])})
    if same_scalar(zero, tree.ZERO)[0] is not True:
        return False
    if same_scalar(two, tree.add([one, one]))[0] is not True:
        return False
    return same_scalar(one, tree.ZERO)[0] is False


def _solved_alike(g: Node, a: Node) -> bool:
    """`xy = 1` against `y = 1/x`: one side of one equation is a lone letter, and the other equation has it as root."""
    for one, other in ((g, a), (a, g)):
        for lone, value in (one.args, one.args[::-1]):
            if lone.op == "sym" and lone.value not in traits(value).alone and traits(value).alone:
                left = tree.add([other.args[0], tree.neg(other.args[1])])
                if lone.value in traits(left).alone and _is_root(left, lone.value, value):
                    return True
    return False


# ---- families


def _parameter(node: Node, name: Node | None) -> str | None:
    """The one symbol that counts: the only free one besides the name itself."""
    free = traits(node).alone - {"i"}
    if name is not None and name.op == "sym" and name.value in free:
        return None
    if len(free) == 1:
        (only,) = free
        return only
    known = free & _PARAMETERS
    return next(iter(known)) if len(known) == 1 else None


def _progression(node: Node) -> tuple[int, int] | None:
    """(a, b) of the integers a + bk, for one counting letter k; None for anything else."""
    if not is_scalar(node):
        return None
    free = traits(node).alone
    if len(free) != 1 or not free <= _PARAMETERS:
        return None
    (name,) = free
    values = []
    for n in (0, 1, 2):
        value = _exact_value(substitute(node, {name: Node("num", (), n)}))
        if value is None:
            return None
        values.append(value)
    a, b, c = values
    return (a, abs(b - a)) if c - b == b - a != 0 else None


def _exact_value(node: Node) -> int | None:
    """The integer of a small constant tree of + - *."""
    value = exact_of(node)
    if value is not None:
        return value if isinstance(value, int) else None
    if node.op not in ("add", "mul", "neg"):
        return None
    parts = [_exact_value(a) for a in node.args]
    known = [p for p in parts if p is not None]
    if len(known) != len(parts):
        return None
    if node.op == "neg":
        return -known[0]
    if node.op == "add":
        return sum(known)
    product = 1
    for p in known:
        product *= p
    return product


def _constants_in(node: Node) -> set[str]:
    if node.op in ("const", "deg"):
        return {"pi" if node.op == "deg" else str(node.value)}
    return {name for a in node.args for name in _constants_in(a)}


def _same_progression(left: Node, right: Node) -> bool:
    """Whether {A + Bn} and {A' + B'n} over the integers are the same set: B' = ±B and (A' - A)/B whole."""
    shared = "#n"

    def at(node: Node, n: int) -> Node:
        return substitute(node, {shared: Node("num", (), n)})

    for node in (left, right):
        line = tree.add([at(node, 2), tree.mul([Node("num", (), -2), at(node, 1)]), at(node, 0)])
        if same_scalar(line, tree.ZERO)[0] is not True:
            return False
    step = tree.add([at(left, 1), tree.neg(at(left, 0))])
    other = tree.add([at(right, 1), tree.neg(at(right, 0))])
    if same_scalar(step, other)[0] is not True and same_scalar(step, tree.neg(other))[0] is not True:
        return False
    shift = tree.div(tree.add([at(right, 0), tree.neg(at(left, 0))]), step)

    def work() -> bool:
        evaluator = Evaluator({}, frozenset())
        f = evaluator.f
        value = evaluator.value(shift)
        if not f.is_real(value):
            return False
        whole = f.floor(value + f.number(Fraction(1, 2)))
        return whole is not None and f.overlaps(value, f.number(whole))

    try:
        found: bool = numeric.at_precision(256, work)
    except (Unsupported, Undefined, TooLarge):
        return False
    return found


# ---- entries of a list


class _Entries(NamedTuple):
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


def _entries(node: Node) -> _Entries | None:
    op = node.op
    if op == "tuple":
        return _Entries(node.args, (), True, True, False, False, False, False, False, False)
    if op == "seq":
        return _Entries(node.args, (), False, True, False, False, False, False, False, False)
    if op == "bracket":
        return _Entries(node.args, (), False, False, False, len(node.args) == 2, False, False, False, True)
    if op == "set":
        return _Entries(node.args, (), False, False, True, False, False, False, False, False)
    if op == "const" and node.value == "empty":
        return _Entries((), (), False, False, True, False, False, False, False, False)
    if op == "rel" or op == "label":
        assigned = _assignment(node)
        if assigned is None:
            if op == "rel" and node.value == ("in",):
                return _entries(node.args[1])
            return None
        name, value = assigned
        if name.op == "tuple" and value.op == "tuple" and len(name.args) == len(value.args):
            return _Entries(value.args, name.args, True, True, False, False, False, False, True, False)
        if value.op in _MANY:
            return _entries(value)
        return _Entries((value,), (name,), False, False, False, False, False, True, True, True)
    if op == "list":
        values: list[Node] = []
        names: list[Node] = []
        parameter = False
        last_name: Node | None = None
        for item in node.args:
            if item.op == "where" and not _binding(item.value):
                parameter = parameter or _integer_words(item.value)
                item = item.args[0]
            if item.op == "rel" and item.value == ("in",):
                if item.args[1].op == "numset":
                    parameter = parameter or item.args[1].value[0] in "ZN"
                    continue
            assigned = _assignment(item)
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
        return _Entries(
            tuple(values), tuple(names), False, False, False, False, parameter, family, bool(names), not names
        )  # fmt: skip
    if has_pm(node) or is_scalar(node) or op in ("qty", "money", "pct", "deg", "interval", "text", "matrix", "ratio", "base"):
        return _Entries((node,), (), False, False, False, False, False, False, False, True)
    return None


def _folded(entries: _Entries, other: tuple[Node, ...]) -> tuple[Node, ...]:
    """Values with their names dropped; `p=5, q=2; p=7, q=2` becomes (5,2), (7,2) when the other side has tuples."""
    names = entries.names
    if other and all(o.op == "tuple" for o in other):
        width = len(other[0].args)
        if width > 1 and len(names) == width * len(other) and all(names[j] == names[j % width] for j in range(len(names))):
            return tuple(
                Node("tuple", entries.values[j : j + width]) for j in range(0, len(names), width)
            )
    return entries.values


# --------------------------------------------------------------------------------------------------------------------


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


__all__ = [
    "DEFAULT_POLICY", "INFTY", "MINUS_INFTY", "REASONS", "Decision", "Policy", "Reading", "equal", "expand", "read",
    "show", "type_name",
]  # fmt: skip
