"""Whether an answer equals a gold: `read` both, then `equal(gold, answer, policy)`.

Three lanes. Plain numbers and identical strings are decided before any parsing, in a few microseconds. Everything else
is read into typed trees and compared by type: numbers exactly, expressions at points of a prime field and in balls,
sets without order, tuples with, intervals with their ends, equations up to a factor, quantities with their units. What
none of this decides is `equal=None`; the caller may hand it to a slower engine in a process that can be killed.

Nothing here evaluates text: no `eval`, no sympy, no signals, no threads of its own. All of it may run from any thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

from rewards.math_equivalence import numeric, tree
from rewards.math_equivalence.dotted import Series, series_of
from rewards.math_equivalence.entries import (
    DOTS,
    MANY,
    Entries,
    binding,
    chain_of,
    condition_of,
    constant_words,
    counted,
    declared_apart,
    entries_of,
    folded,
    integer_words,
    listed,
    renamed_build,
)
from rewards.math_equivalence.equations import (
    Assigned,
    asked_of,
    assignment,
    close,
    constant_factor,
    cross_multiplied,
    holds_derivative,
    is_derivative,
    is_name,
    is_number,
    length_name,
    plain_name,
    solved_alike,
    solves,
)
from rewards.math_equivalence.exact import Quick, Undefined, Unsupported, digit_strings_differ
from rewards.math_equivalence.expressions import (
    is_scalar,
    same_scalar,
    substitute,
    traits,
)
from rewards.math_equivalence.families import (
    CONGRUENT,
    PARAMETERS,
    POINT_LETTERS,
    constants_in,
    holds_congruence,
    parameter_of,
    progression,
    residues_of,
    same_families,
    same_progression,
    same_residues,
)
from rewards.math_equivalence.latex import parse
from rewards.math_equivalence.lines import line_of, may_be_line, same_line
from rewards.math_equivalence.matrices import (
    MAX_VECTORS,
    along_axes,
    as_matrix,
    holds_matrix,
    same_span,
    turned_matrices,
    with_identity,
)
from rewards.math_equivalence.numeric import Evaluator, TooLarge
from rewards.math_equivalence.piecewise import OTHERWISE, condition_form, same_piecewise
from rewards.math_equivalence.plusminus import expand, expand_all, has_pm
from rewards.math_equivalence.readings import Reading, read, show, type_name
from rewards.math_equivalence.realsets import (
    NotReal,
    absolute_solved,
    finite_integers,
    is_set,
    read_set,
    same_integers,
    same_set,
)
from rewards.math_equivalence.renamings import (
    ARBITRARY,
    INTEGRATION,
    arbitrary,
    defines_function,
    renamed,
    renamings,
    same_integral,
    same_levels,
)
from rewards.math_equivalence.tree import NUMERIC, ZERO, Decimal10, Node, Problem, exact_of
from rewards.math_equivalence.wording import answers_yes_or_no, no_statement, ordinal, possible, same_words, told_of

MAX_PAIRS: Final = 2_000
"""Most comparisons of elements for one pair of lists, beyond those that rough values tell apart."""

MAX_CURVE_TERMS: Final = 32
"""Most terms on a side of an equation whose ± are written out."""

REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "equal_string": "The same text after spacing, sizes and delimiters are dropped.",
        "equal_rational": "The same exact number.",
        "equal_decimal": "The same number, one of them written as a decimal.",
        "equal_rounded": "One is the other written out to many digits, or the gold a rounding that the policy allows.",
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
        "unsolved": "An equation or inequality that is not solved, where the gold is its solution.",
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
    plainly = _plainly(gold, answer)
    if plainly is not None:
        return plainly
    # What is plainly a polynomial or a row has a tree too; should the grammar not read it, nothing is paid.
    if gold.node is None:
        return Decision(None, "gold_unreadable", gold.problem_detail)
    if answer.node is None:
        return Decision(False, "unreadable", answer.problem_detail)
    found = _Comparison(policy).top(gold.node, answer.node)
    if found.equal is not True and found.rule != "over_limit" and ("," in gold.text or "," in answer.text):
        found = _other_readings(gold, answer, policy, found)
    if found.equal is not True and found.rule != "over_limit":
        found = _unit_letters(gold, answer, policy, found)
    return found


def _plainly(gold: Reading, answer: Reading) -> Decision | None:
    """Polynomials in the same letters and rows of numbers, without trees; None where these do not decide."""
    ours = gold.terms
    if ours is not None:
        theirs = answer.terms
        if theirs is None:
            return None
        if ours == theirs:
            return Decision(True, "equal_structure" if list(ours) == list(theirs) else "equal_identity")
        letters = [{name for key in terms for name, _ in key} for terms in (ours, theirs)]
        whole = 0 not in ours.values() and 0 not in theirs.values()
        return Decision(False, "value_differs") if whole and letters[0] == letters[1] else None
    row = gold.row
    if row is not None:
        if answer.quick is not None:
            return Decision(False, "count_differs")
        if answer.row == row:
            return Decision(True, "equal_structure")
    return None


def _other_readings(gold: Reading, answer: Reading, policy: Policy, first: Decision) -> Decision:
    """Tries what else the commas between digits may mean: list, thousands, decimal."""
    golds, answers = gold.candidates(), answer.candidates()
    assert gold.node is not None
    assert answer.node is not None
    for g in golds:
        if (found := _Comparison(policy).top(g, answer.node)).equal:
            return found
    for a in answers:
        if (
            a.op == "dec"
            and gold.node.op not in ("dec", "money", "qty", "pct")
            and not isinstance(exact_of(gold.node), Fraction)
        ):
            continue
        if (found := _Comparison(policy).top(gold.node, a)).equal:
            return found
    return first


def _unit_letters(gold: Reading, answer: Reading, policy: Policy, first: Decision) -> Decision:
    """`3 m` for a gold of 3, `3m` for `3 \\text{ m}`: a lone letter as a unit, where the other side has no symbol."""
    g, a = gold.node, answer.node
    assert g is not None
    assert a is not None
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
        share = Fraction(x) / 100 if gm == "%" else x
        other = Fraction(y) / 100 if am == "%" else y
        if share == other or (policy.percent == "either" and x == y):
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
        if _is_float(Fraction(exact), Fraction(shown), digits):
            return Decision(True, "equal_rounded")
    as_gold = Decimal10(Fraction(x), g.digits)
    if policy.rounding == "gold_precision" and g.digits >= 0 and _rounds_to(Fraction(y), as_gold):
        return Decision(True, "equal_rounded")
    return Decision(False, "value_differs")


def _significant(value: Fraction, digits: int) -> int:
    """Significant digits of a decimal with so many digits after the point."""
    return len(str(abs(int(value * 10**digits)))) if value else 0


def _rounds_to(value: Fraction, gold: Decimal10) -> bool:
    """Whether a value is the decimal gold within half a unit of its last digit."""
    return bool(abs(value - gold.value) * 2 * Fraction(10) ** gold.digits <= 1)


def _is_float(exact: Fraction, shown: Fraction, digits: int) -> bool:
    """Whether `shown` is what a computer prints for `exact`, a value that no decimal ends: 3.3333333333333335 for 10/3.

    Sixteen or seventeen digits, of which the last one is an artefact of binary fractions.
    """
    if _significant(shown, digits) not in (15, 16, 17):
        return False
    odd = exact.denominator
    for prime in (2, 5):
        while odd % prime == 0:
            odd //= prime
    try:
        return odd != 1 and float(exact) == float(shown)
    except OverflowError:
        return False


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


class _Far:
    """Rough values of constants, computed once each: far ones need no exact comparison to be told apart."""

    __slots__ = ("values",)

    def __init__(self) -> None:
        self.values: dict[Node, complex | None] = {}

    def apart(self, x: Node, y: Node) -> bool:
        u, v = self.value(x), self.value(y)
        return u is not None and v is not None and abs(u - v) > 1e-6 * (abs(u) + abs(v))

    def value(self, node: Node) -> complex | None:
        if node not in self.values:
            plain = is_number(node) and not traits(node).has_log
            self.values[node] = numeric.rough_value(node) if plain else None
        return self.values[node]


class _Comparison:
    """One pair under one policy."""

    __slots__ = ("joint", "pairs", "policy")

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.pairs = 0
        self.joint = 0
        """How many tuples are being compared: inside one, no value may shift its letter by itself."""

    # ---- the top

    def top(self, gold: Node, answer: Node) -> Decision:
        gold, answer = declared_apart(gold), declared_apart(answer)
        if not self.policy.unevaluated and answer.op == "calc" and gold.op in ("num", "dec"):
            return Decision(False, "unevaluated")
        found = self.same(gold, answer)
        if found.equal is not True and may_be_line(gold) and may_be_line(answer):
            line = line_of(gold)
            other = line_of(answer) if line is not None else None
            if line is not None and other is not None and same_line(line, other):
                return Decision(True, "equal_family", "the same line")
        if found.equal is None and found.rule in ("over_limit", "undefined_value"):
            return Decision(False, found.rule, found.detail)
        return found

    def same(self, g: Node, a: Node) -> Decision:
        """Dispatch on the two types."""
        if g.op == "where" or a.op == "where":
            return self.conditional(g, a)
        if g.op == "build" or a.op == "build":
            g, a = listed(g, a), listed(a, g)
            if g.op == a.op == "build":
                both = counted(g), counted(a)
                g, a = both if both[0].op == both[1].op == "where" else (g, a)
            elif a.op == "build":
                a = counted(a)
            elif g.op == "build":
                g = counted(g)
            if g.op == "where" or a.op == "where":
                return self.conditional(g, a)
            for one, other in ((g, a), (a, g)):
                # n ≥ 2 for {n ∈ N : n ≥ 2}: the letter says that it is whole
                bound = condition_of(one) if one.op == "build" and other.op == "rel" else None
                if bound is not None:
                    same = self.same(*((bound, other) if one is g else (other, bound)))
                    if same.equal:
                        return same
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
        if (g.op == "opaque" and g.value == "forall") or (a.op == "opaque" and a.value == "forall"):
            return self.quantified(g, a)
        if (g.op in CONGRUENT or a.op in CONGRUENT) and (holds_congruence(g) or holds_congruence(a)):
            if (ours := residues_of(g)) is not None and (theirs := residues_of(a)) is not None:
                alike = same_residues(ours, theirs)
                return Decision(alike, "equal_congruence" if alike else "value_differs")
            if "cong" in (g.op, a.op):
                return self.congruences(g, a)
        if g.op == "matrix" or a.op == "matrix" or holds_matrix(g) or holds_matrix(a):
            found = self.matrices(g, a)
            if found is not None:
                return found
        if "numset" in (g.op, a.op) or Node("sym", (), "bold:R") in (g, a):
            g, a = _number_set(g, a), _number_set(a, g)
            if g == a:
                return Decision(True, "equal_set")
        if is_set(g) or is_set(a):
            return self.real_sets(_joined(g, a), _joined(a, g))
        if (g.op == "rel" and g.value[0] in ("=", "≈", "≡", "~", "->")) or (
            a.op == "rel" and a.value[0] in ("=", "≈", "≡", "~", "->")
        ):
            return self.equations(g, a)
        if "call" in (g.op, a.op) and "tuple" in (g.op, a.op):
            return self.points(g, a)
        if "bracket" in (g.op, a.op) and is_scalar(g) != is_scalar(a):
            g, a = _gauss(g, a), _gauss(a, g)
            if is_scalar(g) and is_scalar(a):
                return self.scalars(g, a)
        if g.op in MANY or a.op in MANY or has_pm(g) or has_pm(a):
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
        if g.op == a.op == "span":
            same_space = same_span(g.args, a.args)
            return Decision(same_space, "equal_set" if same_space else "value_differs")
        if g.op == a.op:
            return self.structures(g, a)
        if g.op == "call" or a.op == "call":
            return self.points(g, a)
        return _NO_TYPE

    # ---- numbers and expressions

    def numbers(self, g: Node, a: Node) -> Decision:
        x, y = exact_of(g), exact_of(a)
        assert x is not None
        assert y is not None
        if x == y:
            return Decision(True, "equal_rational" if g.op == a.op else "equal_decimal")
        if (g.op == "dec") != (a.op == "dec") and self.policy.decimal_digits:
            exact, shown, decimal = (x, y, a) if a.op == "dec" else (y, x, g)
            if _is_rounding(Fraction(exact), Fraction(shown), decimal.value.digits, self.policy):
                return Decision(True, "equal_rounded")
            if _is_float(Fraction(exact), Fraction(shown), decimal.value.digits):
                return Decision(True, "equal_rounded")
        if self.policy.rounding == "gold_precision" and g.op == "dec" and _rounds_to(Fraction(y), g.value):
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
            if rule == "equal_identity" and "mul" in (g.op, a.op) and turned_matrices(g, a):
                return Decision(False, "order_differs", "products of matrices do not commute")
            return Decision(True, rule)
        if same is None and (left := series_of(g)) is not None and (right := series_of(a)) is not None:
            return self.same_series(left, right)
        if a.op == "dec" and g.op != "dec" and self.policy.decimal_digits and self.rounds(g, a):
            return Decision(True, "equal_rounded")
        if g.op == "dec" and a.op != "dec" and self.policy.decimal_digits and self.rounds(a, g):
            return Decision(True, "equal_rounded")
        if self.policy.rounding == "gold_precision" and g.op == "dec" and self.rounds(a, g, nearest_only=True):
            return Decision(True, "equal_rounded")
        if rule == "undefined_value" and not traits(a).alone:
            return Decision(False, rule)
        tg, ta = traits(g), traits(a)
        if tg.alone or ta.alone:
            for x, y in renamed(g, a, tg, ta, imaginary_j=self.policy.imaginary_j):
                equal, renamed_rule = self.scalar(x, y)
                if equal:
                    return Decision(True, renamed_rule)
            if same_integral(g, a):
                return Decision(True, "equal_identity", "up to the constant of integration")
        if g.op == "call" and a.op == "call" and len(g.args) != len(a.args):
            return Decision(False, "value_differs")
        point = self.points(g, a)
        if point.equal:
            return point
        if not self.joint and tg.alone != ta.alone and tg.alone and ta.alone and "pi" in constants_in(g):
            family = self.families(g, a, declared=False)
            if family is not None and family.equal:
                return family
        if g.op == a.op == "sym" and (letter := _letter(g)) is not None and letter == _letter(a):
            return Decision(True, "equal_choice")
        return Decision(same, rule)

    def same_series(self, left: Series, right: Series) -> Decision:
        """Infinite sums term by term, the second's index shifted to where the first begins."""
        shift = tree.add([left.counter, Node("num", (), right.start - left.start)])
        same, _ = self.scalar(left.term, substitute(right.term, {right.counter.value: shift}))
        return Decision(True, "equal_identity", "term by term") if same else Decision(None, "undecided")

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
            if _significant(value, digits) in (16, 17):
                # what a computer prints: 7.0710678118654755 for 5√2, whose last digit is 2
                unit = f.number(Fraction(abs(value)) / 2**53)
                off = x - f.number(Fraction(value))
                if not nearest_only and f.is_real(off) and f.floor(off / unit) in (-1, 0):
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
        for one, other in ((g, a), (a, g)):
            if one.op == "const" and one.value in ("true", "false") and other.op == "sym" and other.value in ("T", "F"):
                return Decision((other.value == "T") == (one.value == "true"), "equal_text")
        if {g.value, a.value} == {"empty", "false"}:
            return Decision(True, "equal_text")  # "no" and "no such number"
        if g.op == "const" and a.op == "const":
            return Decision(g.value == a.value, "equal_structure" if g.value == a.value else "value_differs")
        for one, other in ((g, a), (a, g)):
            if one.op == "neg" and one.args[0].op == "const" and other.op == "const":
                return Decision(False, "value_differs")
        empty = Node("const", (), "empty")
        if (g == empty and a.op in MANY and not a.args) or (a == empty and g.op in MANY and not g.args):
            return Decision(True, "equal_set")
        if is_scalar(g) or is_scalar(a):
            scalar, const = (g, a) if is_scalar(g) else (a, g)
            if const.op == "const" and const.value == "infty" and not traits(scalar).alone:
                return Decision(False, "value_differs")
        return _NO_TYPE

    def points(self, g: Node, a: Node) -> Decision:
        """`P(1,2)` is the point (1,2)."""
        for one, other in ((g, a), (a, g)):
            if one.op == "call" and len(one.args) >= 2 and other.op == "tuple" and one.value[0].isupper():
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
        scales = [n.value.factor if n.op == "qty" and n.value.kind == "scale" else None for n in (g, a)]
        if any(scales):
            left = tree.mul([Node("calc", (), scales[0] or 1), inner_g])
            right = tree.mul([Node("calc", (), scales[1] or 1), inner_a])
            found = self.scalars(left, right)
            return Decision(True, "equal_unit") if found.equal else found
        if go == ao == "pct":
            return self.scalars(inner_g, inner_a)
        if (go == "qty") != (ao == "qty") and (inner_g if go == "qty" else inner_a).op == "pct":
            return self.same(inner_g if go == "qty" else g, inner_a if ao == "qty" else a)  # 8% per year
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
        if go == "qty" and ao == "qty":
            return self.units(g, a, inner_g, inner_a)
        if (go == "qty" and _radians(g)) or (ao == "qty" and _radians(a)):
            return self.scalars(inner_g, inner_a)
        if any(n.op == "qty" and "+" in n.value.text for n in (g, a)):
            return Decision(False, "unit_mismatch", "hours and minutes against a bare number")
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
                Node("deg", (inner_g,)) if g.op == "deg" else inner_g,
                Node("deg", (inner_a,)) if a.op == "deg" else inner_a,
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
        if {one.text, two.text} == {"degc", "c"}:
            one = two  # 20 C of a thermometer
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
            if same_words(g.value, a.value):
                return Decision(True, "equal_text")
            return Decision(False, "text_differs")
        for words, other in ((g, a), (a, g)):
            if words.op != "text":
                continue
            if words.value in ("odd", "even") and (parity := residues_of(other)) is not None:
                alike = same_residues(parity, (2, frozenset((int(words.value == "odd"),))))
                return Decision(alike, "equal_congruence" if alike else "value_differs")
            said = answers_yes_or_no(words.value.split())
            if said is not None and other.op == "const" and other.value == said:
                return Decision(True, "equal_text")
            if other.op in ("const", "numset") and (told := told_of(words.value.split())) is not None:
                try:
                    named = parse(told)  # "the expression is undefined"
                except Problem:
                    named = None
                if named == other:
                    return Decision(True, "equal_text")
            if other.op == "const" and possible(words.value) == other.value:
                return Decision(True, "equal_text")
            if (
                other.op == "tuple"
                and words.value in ("origin", "the origin")
                and all(exact_of(n) == 0 for n in other.args)
            ):
                return Decision(True, "equal_tuple")
            if other.op == "num" and ordinal(words.value) == other.value:
                return Decision(True, "equal_text")
            letter = _letter(other) if other.value is not None and str(other.value).isupper() else None
            if letter is not None and _names_letter(words.value.split(), letter.lower()):
                return Decision(True, "equal_choice")
        if g.op == "text":
            letters = _letters_of(a)
            if letters is not None and letters.lower() == g.value.replace(" ", ""):
                return Decision(True, "equal_text")
            # "The rent is 240 yuan, and 210 yuan for ..." against "240, 210": all numbers of the sentence, in its order
            values = a.args if a.op in ("list", "tuple") else (a,)
            bare = [v.args[0] if v.op in ("qty", "money", "label") else v for v in values]
            if g.args and len(g.value.split()) > 3 and all(v.op in NUMERIC for v in bare):
                found = self.ordered(g.args, bare)
                if found.equal:
                    return Decision(True, "equal_in_sentence")
            return Decision(False, "text_differs")
        letters = _letters_of(g)
        if letters is not None and letters.lower() == a.value.replace(" ", ""):
            return Decision(True, "equal_text")
        if a.args and no_statement(a.value.split()):
            return Decision(False, "text_differs")
        if g.op == "list" and len(a.args) == len(g.args) > 1:
            # "Tom has 24 and Ann has 48": as many numbers as the gold has, and no word that makes one a guess
            bare = [v.args[0] if v.op in ("qty", "money", "label") else v for v in g.args]
            labels = [v.value for v in g.args if v.op == "label"]
            order = [labels.index(word) for word in a.value.split() if word in labels]
            if order:  # "Bob 12, Ann 15" for "Ann: 12, Bob: 15" gives each the other's
                bare = [bare[n] for n in order] if sorted(order) == list(range(len(bare))) else []
            compare = self.ordered if order else self.unordered
            if bare and all(v.op in NUMERIC for v in bare) and compare(bare, a.args).equal:
                return Decision(True, "equal_in_sentence")
        if g.op == "rel" and (assigned := assignment(g)) is not None and assigned[1].op in NUMERIC:
            g = assigned[1]
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
        if letter is not None and g.op == "sym" and g.value.isupper():
            return Decision(False, "choice_differs")
        if a.args:
            found = self.same(g, a.args[0])
            if found.equal:
                return Decision(True, "equal_choice")
        return Decision(False, "choice_differs" if letter is not None else "type_differs")

    # ---- conditions: "for all x", "where k is an integer"

    def conditional(self, g: Node, a: Node) -> Decision:
        conditions = [binding(n.value) if n.op == "where" else "" for n in (g, a)]
        if (g.op == "where") != (a.op == "where") and _says_where(g if g.op == "where" else a):
            return self.same(g.args[0] if g.op == "where" else g, a.args[0] if a.op == "where" else a)
        if any(conditions) and not self.same_condition(conditions) and not (g.op == "where" != a.op and _on_domain(g)):
            return Decision(None, "undecided", "a condition on one side")
        words = g.value if g.op == "where" else a.value
        core_g = g.args[0] if g.op == "where" else g
        core_a = a.args[0] if a.op == "where" else a
        found = self.same(core_g, core_a)
        if is_set(core_g) != is_set(core_a) and integer_words(words) and not found.equal:
            found = self.same(*(finite_integers(n) if is_set(n) else n for n in (core_g, core_a)))
        if is_set(core_g) and is_set(core_a):
            counted = [n.op == "where" and integer_words(n.value) for n in (g, a)]
            if any(counted) and all(c or _whole_letter(n) for c, n in zip(counted, (core_g, core_a), strict=True)):
                same = same_integers(core_g, core_a)
                return Decision(True, "equal_set") if same else found._replace(equal=found.equal and not counted[1])
            if counted == [False, True]:
                return Decision(False, "element_differs", "whole numbers only")
        if found.equal:
            return found
        if integer_words(words):
            family = self.families(core_g, core_a, declared=True) or self.unions(core_g, core_a, declared=True)
            if family is not None:
                return family
        if any(n.op == "where" and constant_words(n.value) for n in (g, a)):
            ours, theirs = traits(core_g).alone, traits(core_a).alone
            for mapping in renamings(ours - theirs, theirs - ours):
                if (renamed := self.same(core_g, substitute(core_a, mapping))).equal:
                    return renamed
        return found

    def same_condition(self, conditions: Sequence[str]) -> bool:
        """`x>0` and `0<x`; "x=1" and nothing, where only one side says at which x the value is taken."""
        if conditions[0] == conditions[1]:
            return True
        if not all(conditions):
            return False
        try:
            one, other = parse(conditions[0]), parse(conditions[1])
        except Problem:
            return False
        return one.op == other.op == "rel" and self.same(one, other).equal is True

    def quantified(self, g: Node, a: Node) -> Decision:
        if g.op == a.op and g.value == a.value and len(g.args) == len(a.args):
            return self.aligned(g, a)
        if g.op == a.op == "opaque":
            return Decision(False, "value_differs", "other quantifiers")
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
            if g.op == "cases" and self.pieces(g, a):
                return Decision(True, "equal_structure")
        if "cases" in (g.op, a.op) and all(n.op == "cases" or is_scalar(n) for n in (g, a)):
            same = same_piecewise(g, a)
            if same is not None:
                return Decision(same, "equal_identity" if same else "value_differs")
        if g.op == "numset" and a.op == "numset":
            return Decision(False, "value_differs")
        return Decision(None, "undecided")

    def pieces(self, g: Node, a: Node) -> bool:
        """The same values under the same conditions, in any order; "otherwise" is what the other rows leave."""
        rows = [[(n.args[j], condition_form(n.args[j + 1])) for j in range(0, len(n.args), 2)] for n in (g, a)]
        left: list[tuple[Node, Node]] = []
        for value, condition in rows[0]:
            for j, (other, when) in enumerate(rows[1]):
                if (condition == when or self.same(condition, when).equal) and self.same(value, other).equal:
                    del rows[1][j]
                    break
            else:
                left.append((value, condition))
        if len(left) != 1 or len(rows[1]) != 1:
            return not left and not rows[1]
        rest = (left[0][1], rows[1][0][1])
        return any(n == OTHERWISE for n in rest) and self.same(left[0][0], rows[1][0][0]).equal is True

    # ---- residue classes

    def congruences(self, g: Node, a: Node) -> Decision:
        if g.op == "cong" and a.op == "cong":
            gm, am = g.args[-1], a.args[-1]
            if not self.same(gm, am).equal:
                return Decision(False, "value_differs", "other moduli")
            if len(g.args) == len(a.args) == 3 and not all(n.args[0].op == "sym" for n in (g, a)):
                same_left = self.same(g.args[0], a.args[0])
                if not same_left.equal:
                    return same_left  # 2n ≡ 1 and n ≡ 1
            m = exact_of(gm)
            x, y = exact_of(g.args[-2]), exact_of(a.args[-2])
            if isinstance(m, int) and m > 0 and isinstance(x, int) and isinstance(y, int):
                same = (x - y) % m == 0
                return Decision(same, "equal_congruence" if same else "value_differs")
            return self.same(g.args[-2], a.args[-2])
        one, other = (g, a) if g.op == "cong" else (a, g)
        residue = one.args[-2]
        if exact_of(residue) is None or exact_of(one.args[-1]) is None:
            return Decision(None, "undecided")
        assigned = assignment(other)
        counted = progression(assigned[1] if assigned is not None else other)
        if counted is not None:
            start, step = counted
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
            unsaid = a if ghalf else g  # 3:45 may be either half of the day, 15:45 is the second
            same = gm == am or (ghalf != ahalf and (gm - am) % 720 == 0 and 0 < unsaid.value[2] <= 12)
            return Decision(same, "equal_time" if same else "value_differs")
        one, other = (g, a) if g.op == "time" else (a, g)
        hours, minutes = one.value[2], one.value[3]
        if other.op == "ratio" and (one.value[1] or not minutes):
            return _NO_TYPE
        if other.op == "ratio":
            terms = Node("ratio", (Node("num", (), hours), Node("num", (), minutes)))
            return self.ratios(terms, a) if one is g else self.ratios(g, terms)
        if other.op == "qty" and other.value.text.replace(".", "").replace(" ", "").replace("'", "") in (
            "am",
            "pm",
            "oclock",
            "o'clock",
        ):
            other = other.args[0]
        value = exact_of(other)
        if value is None:
            return _NO_TYPE
        if minutes == 0 and value == hours:
            return Decision(True, "equal_time")
        if minutes > 9 and not one.value[1] and value == Fraction(hours, minutes) and one is a:
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
        shown = base == 10 or self.policy.base_dropped
        if shown and digits.isdigit() and len(digits) <= 4000 and int(digits) == value:
            return Decision(True, "equal_base")
        if base == 10 and "." in digits and len(digits) < 200 and digits.replace(".", "", 1).isdigit():
            return Decision(Fraction(digits) == value, "equal_base" if Fraction(digits) == value else "value_differs")
        if one is a and len(digits) < 200 and _in_base(digits, base) == value:
            return Decision(True, "equal_base")  # 1001_2 where 9 is asked for
        return Decision(False, "base_differs")

    # ---- matrices and vectors

    def matrices(self, g: Node, a: Node) -> Decision | None:
        left, right = as_matrix(g), as_matrix(a)
        if left is None and right is not None and right[0] == right[1] <= MAX_VECTORS:
            left = as_matrix(with_identity(g, right[0]))
        elif right is None and left is not None and left[0] == left[1] <= MAX_VECTORS:
            right = as_matrix(with_identity(a, left[0]))
        if left is not None and right is None and along_axes(g) is not None:
            right = along_axes(a, plain=True)  # 3i - 2j where the gold has bold letters
        if left is None or right is None:
            determinant = any(n.op == "matrix" and n.value[2] == "|" for n in (g, a))
            if determinant and all(is_scalar(n) or n.op == "matrix" for n in (g, a)):
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
        if {"numset", "build"} & {g.op, a.op} and (_whole_letter(g) or _whole_letter(a)) and same_integers(g, a):
            return Decision(True, "equal_set")  # n ≥ 1 for the positive integers
        if g.op == "list" and g.value == "and":
            g = Node("list", g.args, ",")  # a gold's "x < -1 and x > 2" means what its author meant
        try:
            left = read_set(g)
        except NotReal:
            solved = absolute_solved(g)
            if solved is None or absolute_solved(a) is not None:
                return self.relations(g, a)
            left = read_set(solved)
        try:
            right = read_set(a)
        except NotReal:
            if is_scalar(a) and g.op == "rel" and g.value == ("in",):
                return _NO_TYPE
            return self.relations(g, a)
        if (
            left.variable is not None
            and right.variable is not None
            and not _same_variable(left.variable, right.variable)
        ):
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
            if len(g.args) == 2 and all(is_scalar(s) for s in (*g.args, *a.args)) and not _solved(g):
                for other in (a, turned):
                    if other.value == g.value and g.value[0] in _TURN:
                        left = tree.add([g.args[0], tree.neg(g.args[1])])
                        right = tree.add([other.args[0], tree.neg(other.args[1])])
                        factor = constant_factor(left, right)
                        if factor == 1 or (factor == -1 and g.value[0] == "!="):
                            return Decision(True, "equal_real_set")
            return Decision(False, "sign_differs" if set(g.value) != set(a.value) else "value_differs")
        if g.op in ("union", "inter", "minus", "list", "build", "set") and g.op == a.op:
            if g.op == "build":
                found = self.aligned(g, renamed_build(a, g))
                return found if found.equal else Decision(None, "undecided")
            if g.op == "minus":
                return self.aligned(g, a)
            if g.op == "list" and {g.value, a.value} == {"and", "or"}:
                return Decision(False, "value_differs", "and is not or")
            found = self.unordered(g.args, a.args)
            return Decision(True, "equal_set") if found.equal else found
        if g.op == a.op == "interval":
            if g.value != a.value:
                found = self.aligned(g, a)
                return Decision(False, "endpoint_open" if found.equal else "endpoint_differs")
            return self.aligned(g, a)
        if g.op == a.op:
            return self.structures(g, a)
        if g.op == "rel" and g.value == ("in",) and a.op != "rel" and g.args[0].op in ("sym", "tuple", "call"):
            return self.same(g.args[1], a)
        member = a.op == "rel" and a.value == ("in",) and a.args[0].op in ("sym", "tuple", "call")
        if member and g.op != "rel" and not is_scalar(g):
            return self.same(g, a.args[1])
        if (g.op == "interval" and a.op in ("tuple", "bracket")) or (
            a.op == "interval" and g.op in ("tuple", "bracket")
        ):
            return _NO_TYPE
        if {g.op, a.op} & {"build", "cases"}:
            return Decision(None, "undecided")
        return _NO_TYPE

    # ---- equations and assignments

    def equations(self, g: Node, a: Node) -> Decision:
        ga, aa = assignment(g), assignment(a)
        if aa is not None and a.op == "rel":
            broken = self.contradiction(a)
            if broken is not None:
                return broken
        if g.op == "rel" and a.op == "rel":
            return self.two_equations(g, a, ga, aa)
        if g.op == "rel":
            if ga is not None and (ga[1].op == "matrix" or is_set(ga[1])):
                return self.same(ga[1], a)
            if a.op in MANY or has_pm(g):
                return self.many(g, a)
            if ga is not None:
                found = self.same(ga[1], a)
                if found.equal:
                    return Decision(True, "equal_assignment")
                family = self.families(g, a, declared=False)
                if family is not None and family.equal:
                    return family
            curve = len(g.args) == 2 and is_scalar(a) and all(is_scalar(s) and not holds_derivative(s) for s in g.args)
            if curve and traits(a).alone and solves(g, a):
                return Decision(True, "equal_equation")
            if ga is not None:
                return found
            return _NO_TYPE
        if aa is not None and (aa[1].op == "matrix" or is_set(aa[1])):
            return self.same(g, aa[1])
        if g.op in MANY or has_pm(a):
            return self.many(g, a)
        if aa is None:
            chain = is_scalar(g) and set(a.value) == {"="} and len(a.args) < 9 and all(map(is_scalar, a.args))
            # 2x^2-3x+1 = (2x-1)(x-1) states one expression, if it is an identity
            if chain and all(self.scalar(a.args[0], side)[0] for side in a.args[1:]):
                return self.scalars(g, a.args[-1])
            if chain and is_number(g) and len(a.args) == 2 and is_number(a.args[1]) and asked_of(a.args[0]):
                return self.same(g, a.args[1])
            return _NO_TYPE
        found = self.same(g, aa[1])
        return Decision(True, "equal_assignment") if found.equal else found

    def contradiction(self, a: Node) -> Decision | None:
        """`5 = 6`, `x = 7 = 11`: sides that are numbers must agree; after ≈ they must agree roughly."""
        previous: Node | None = None
        for j, side in enumerate(a.args):
            between = 0 < j < len(a.args) - 1 and not (is_scalar(side) and is_scalar(a.args[-1]))
            if between and not is_name(side) and not self.same(side, a.args[-1]).equal:
                return Decision(False, "contradiction", "sides of the answer are not the same kind of thing")
            if not is_number(side) or (j == 0 and side == _E):
                previous = None  # e = 1/2, an eccentricity
                continue
            if previous is not None:
                sign = a.value[j - 1]
                same, _ = self.scalar(previous, side)
                if same is False and (sign != "≈" or not close(previous, side)):
                    return Decision(False, "contradiction", "two sides of the answer are different numbers")
            previous = side
        return None

    def two_equations(self, g: Node, a: Node, ga: Assigned | None, aa: Assigned | None) -> Decision:
        found = _NO_TYPE
        if has_pm(g) or has_pm(a):
            ours, theirs = _curves(g), _curves(a)
            if ours is not None and theirs is not None and self.unordered(ours, theirs).equal:
                return Decision(True, "equal_equation")
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
            if "tuple" in (one[0].op, other[0].op) and (chain_of(g) is not None or chain_of(a) is not None):
                return self.many(g, a)
            found = self.same(one[1], renamed)
            names = self.same_name(one[0], other[0])
            if found.equal and names:
                return Decision(True, "equal_function" if function else "equal_assignment")
            if not found.equal and names and defines_function(one[0]) and is_scalar(one[1]) and is_scalar(renamed):
                names_of = ARBITRARY if one[0].op == "call" else INTEGRATION
                for renaming in arbitrary(traits(one[1]).alone, traits(renamed).alone, names_of, ARBITRARY):
                    if self.scalar(one[1], substitute(renamed, renaming))[0]:
                        return Decision(True, "equal_function")
            if not found.equal and names:
                family = self.families(g, a, declared=False)
                if family is not None and family.equal:
                    return family
                if function or (is_number(one[1]) and is_number(renamed)):
                    return found
            if found.equal:
                found = Decision(False, "name_differs")
        sides = (*g.args, *a.args)
        if len(g.args) == len(a.args) == 2 and all(map(is_scalar, sides)):
            left = tree.add([g.args[0], tree.neg(g.args[1])])
            right = tree.add([a.args[0], tree.neg(a.args[1])])
            if _solved(g) and not _solved(a) and ZERO not in a.args:
                return Decision(False, "unsolved", "x + 2 = 7 where x = 5 is asked for")
            if constant_factor(left, right) is not None:
                return Decision(True, "equal_equation")
            if any(map(holds_derivative, sides)):
                return Decision(False, "value_differs") if found.rule == "type_differs" else found
            if solved_alike(g, a):
                return Decision(True, "equal_equation")
            if same_levels(left, right):
                return Decision(True, "equal_equation", "up to the constant of integration")
            if (crossed := cross_multiplied(g, a)) is not None and constant_factor(*crossed) is not None:
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
        x, y = plain_name(x), plain_name(y)
        if x == y:
            return True
        if x.op == "text" or y.op == "text":
            return True
        if {x.op, y.op} & {"abs", "fn", "sym"} and (one := length_name(x)) and one == length_name(y):
            return True  # |AB| and AB
        if x.op == y.op == "call":
            return x.value == y.value or (not all(n.op == "sym" for n in (*x.args, *y.args)) and x.value == y.value)
        if is_derivative(x) and is_derivative(y):
            return True
        if {x.op, y.op} == {"sym", "call"}:
            name = x if x.op == "sym" else y
            return name.value in ("y", "f", "g", "h") or (x.value == y.value)
        if x.op == y.op == "sym" and x.value.removeprefix("hat:") == y.value.removeprefix("hat:"):
            return True
        if x.op == y.op == "sym" and {x.value, y.value} == {"r", "rho"}:
            return True
        if x.op == y.op == "sym":
            head = x.value.split("_")[0], y.value.split("_")[0]
            return bool(x.value.lower() == y.value.lower()) or (
                head[0] == head[1]
                and bool(set("maxminMAXMIN") >= set((x.value + y.value).replace(head[0], "").replace("_", "")))
            )
        if is_scalar(x) and is_scalar(y):
            return bool(self.scalar(x, y)[0])
        return True

    # ---- families of solutions with an integer parameter

    def families(self, g: Node, a: Node, *, declared: bool) -> Decision | None:
        """`π/4 + kπ` against `π/4 + nπ`: one letter each that only counts; None when the two are no such families."""
        ga, aa = assignment(g), assignment(a)
        x = ga[1] if ga is not None else g
        y = aa[1] if aa is not None else a
        if ga is not None and ga[0].op == "call":
            return None
        if x.op == "tuple" and y.op == "tuple":
            return self.tuple_families(x.args, y.args)
        if not (is_scalar(x) and is_scalar(y)):
            return None
        p = parameter_of(x, ga[0] if ga is not None else None)
        q = parameter_of(y, aa[0] if aa is not None else None)
        if p is None or q is None:
            return None
        if not {p, q} <= PARAMETERS:
            return None
        if not declared:
            # nobody said that the letter counts: it must be a usual one and stand for a solution of something else
            periodic = "pi" in constants_in(x)
            if not periodic and (ga is None or ga[0].op != "sym" or p == q):
                return None
            declared = periodic
        shared = Node("sym", (), "#n")
        left, right = substitute(x, {p: shared}), substitute(y, {q: shared})
        same, _ = self.scalar(left, right)
        if same:
            return Decision(True, "equal_family")
        if declared and same_progression(left, right):
            return Decision(True, "equal_family")
        return Decision(False, "value_differs")

    def tuple_families(self, xs: Sequence[Node], ys: Sequence[Node]) -> Decision | None:
        """`(2t, 1-t)` against `(2s, 1-s)`: one letter on each side, renamed in all places at once."""
        if len(xs) != len(ys):
            return None
        p = parameter_of(Node("add", tuple(xs)), None)
        q = parameter_of(Node("add", tuple(ys)), None)
        if p is None or q is None or p == q or not {p, q} <= POINT_LETTERS:
            return None
        renamed = tuple(substitute(n, {q: Node("sym", (), p)}) for n in ys)
        found = self.ordered(xs, renamed)
        return Decision(True, "equal_family") if found.equal else found

    # ---- lists, sets, tuples, systems

    def many(self, g: Node, a: Node) -> Decision:
        if "list" in (g.op, a.op) or "set" in (g.op, a.op) or (g.op == a.op == "tuple" and (has_pm(g) or has_pm(a))):
            # (±1, 0) is two points
            for one in (g, a):
                if one.op == "tuple" and has_pm(one) and (points := expand(one)) is not None:
                    opened = Node("list", tuple(points), ",")
                    g, a = (opened, a) if one is g else (g, opened)
        forms = a.args if a.op == "list" and a.value == "or" and len(a.args) < 5 and is_number(g) else ()
        if forms and all(n.op in _WRITTEN and self.same(g, n).equal for n in forms):
            return Decision(True, "equal_list", "the same value in several forms")  # 0.5 or 50%
        if g.op == a.op == "list" and {g.value, a.value} == {"and", "or"} and all(n.op == "sym" for n in g.args):
            return Decision(False, "value_differs", "p and q is not p or q")
        ours, theirs = _curves(g), _curves(a)
        if ours is not None and theirs is not None and max(len(ours), len(theirs)) > 1:
            found = self.unordered(ours, theirs)
            if found.equal:
                return Decision(True, "equal_equation")
        left, right = entries_of(g), entries_of(a)
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
            values_l = folded(left, right.values)
        elif right.names and not left.names:
            values_r = folded(right, left.values)
        elif left.names and right.names:
            values_l, values_r = folded(left, right.values), folded(right, left.values)
        if any(n == DOTS for n in (*values_l, *values_r)):
            if len(values_l) == len(values_r) == 1:
                return _NO_TYPE  # dots alone
            found = (
                self.ordered(values_l, values_r) if len(values_l) == len(values_r) else Decision(False, "count_differs")
            )
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
            lone = (len(values_l) == 1) != (len(values_r) == 1)
            if lone and (left.single_tuple or right.single_tuple):
                return _NO_TYPE
            if left.named_values or right.named_values:
                found = self.ordered(values_l, values_r)
                return found if found.equal or not (left.loose and right.loose) else self.unordered(values_l, values_r)
            return self.ordered(values_l, values_r)
        if g.op == a.op == "bracket":
            return self.ordered(values_l, values_r)  # closed intervals, or lists in a programmer's notation
        expanded_l, expanded_r = expand_all(values_l), expand_all(values_r)
        if expanded_l is None or expanded_r is None:
            return Decision(False, "over_limit")
        if g.op == "list" and g.value == "or":
            expanded_l = self.distinct(expanded_l)  # "36 or 6^2" is one value
        if left.is_set or right.is_set or has_pm(g) or has_pm(a):
            if (left.bracket_pair and right.is_set) or (right.bracket_pair and left.is_set):
                return _NO_TYPE
            expanded_l, expanded_r = self.distinct(expanded_l), self.distinct(expanded_r)
        elif len(expanded_r) > len(expanded_l) > 1 and len(self.distinct(expanded_l)) == len(expanded_l):
            expanded_r = self.distinct(expanded_r)  # an element said twice does no harm where the gold has none twice
        if left.is_set and right.is_set and _sets_in(expanded_l) != _sets_in(expanded_r):
            return Decision(False, "element_differs", "a set is no number")
        by_noun = _by_noun(expanded_l, expanded_r)
        if by_noun is not None:
            return self.ordered(*by_noun)
        alike = len(expanded_l) == len(expanded_r) and not (right.names or right.is_set)
        if alike and (orders := _orders_by_name(left.names, expanded_l)) is not None:
            found = next((f for f in (self.ordered(o, expanded_r) for o in orders) if f.equal), None) or Decision(
                False, "order_differs", "the gold names each value; without names they stand in its order"
            )
            return Decision(True, "equal_list") if found.equal else found
        found = self.unordered(expanded_l, expanded_r, parameter=parameter, family=left.family)
        if found.equal:
            return Decision(True, "equal_set" if left.is_set or right.is_set else "equal_list")
        if (unions := self.unions(g, a, declared=parameter)) is not None:
            return unions
        return found

    def unions(self, g: Node, a: Node, *, declared: bool) -> Decision | None:
        """Lists of solutions that repeat: `π/6 + 2kπ or 5π/6 + 2kπ` against `(-1)^k π/6 + kπ`; None for others."""
        sides: list[list[Node]] = []
        names: set[Node] = set()
        for node in (g, a):
            entries = entries_of(node)
            values = expand_all(entries.values) if entries is not None else None
            if entries is None or entries.ordered or entries.bracket_pair or not values or len(values) > 12:
                return None
            if not all(map(is_scalar, values)):
                return None
            if not declared and not all("pi" in constants_in(v) and traits(v).alone for v in values):
                return None
            names.update(entries.names)
            sides.append(values)
        same = len(names) < 2 and same_families(*sides)
        return Decision(True, "equal_family") if same else None

    def systems(self, left: Entries, right: Entries) -> Decision | None:
        """`x=2, y=3` against `y=3, x=2`: by names, when each name stands once and the names are the same."""
        ours, theirs = set(left.names), set(right.names)
        if len(left.names) == len(right.names) and (ours < theirs or theirs < ours):
            return Decision(False, "name_differs", "x = 1, y = 2 is not x = 1, x = 2")
        if len(ours) != len(left.names) or len(theirs) != len(right.names):
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
            self.joint += len(xs) > 1
            found = self.same(x, y)
            self.joint -= len(xs) > 1
            if found.equal is False:
                family = self.tuple_families(xs, ys) if len(xs) > 1 and not self.joint else None
                if family is not None and family.equal:
                    return family
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
        far = _Far() if len(waiting) > 4 else None
        for x in rest_x:
            for j, y in enumerate(waiting):
                if far is not None and far.apart(x, y):
                    continue
                self.pairs += 1
                if self.pairs > MAX_PAIRS:
                    return Decision(None, "over_limit", "too many elements to match")
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


def _sets_in(values: Sequence[Node]) -> int:
    """How many elements are sets themselves: {1, {2}} is not {1, 2}."""
    return sum(n.op == "set" or n == Node("const", (), "empty") for n in values)


def _orders_by_name(names: Sequence[Node], values: Sequence[Node]) -> list[list[Node]] | None:
    """The values of `x = 5, y = 3` as they are named, and by the alphabet; None where no name tells them apart.

    `x = 1 or x = 2` and `x_1 = 1, x_2 = 2` are two values for one thing, in any order.
    """
    told = [str(name.value).rstrip("0123456789'").rstrip("_") for name in names]
    if len(told) < 2 or len(set(told)) != len(told) or len(values) != len(told):
        return None
    by_name = sorted(range(len(told)), key=told.__getitem__)
    return [list(values), [values[n] for n in by_name]]


def _by_noun(gold: Sequence[Node], answer: Sequence[Node]) -> tuple[list[Node], list[Node]] | None:
    """`20 boys, 15 girls` against `15 girls, 20 boys`: both in the order of their nouns; None unless these agree."""
    tables: list[dict[str, Node]] = []
    for values in (gold, answer):
        if len(values) < 2 or not all(n.op == "qty" and n.value.kind == "word" for n in values):
            return None
        tables.append({n.value.text.strip().removesuffix("s"): n.args[0] for n in values})
        if len(tables[-1]) != len(values):
            return None
    if set(tables[0]) != set(tables[1]):
        return None
    return list(tables[0].values()), [tables[1][noun] for noun in tables[0]]


_TURN: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!=", "≈": "≈", "~": "~", "≡": "≡"}


_E: Final = Node("const", (), "e")
_WRITTEN: Final = frozenset(("num", "dec", "pct", "money", "qty", "deg"))
"""Values as they are written, not worked out."""


def _curves(node: Node) -> list[Node] | None:
    """The equations of a list, ± written out: `x-y=0 or x+y=3`, `2x \\pm y = 0`; None for anything else."""
    parts = list(node.args) if node.op == "list" else [node]
    if not all(n.op == "rel" and n.value in (("=",), ("≡",)) for n in parts):
        return None
    if any(len(side.args) > MAX_CURVE_TERMS for n in parts for side in n.args if has_pm(side)):
        return None
    return expand_all(parts)


def _says_where(node: Node) -> bool:
    """Whether a condition only tells at which point a number is taken: "3 when x = 1"."""
    words = node.value.split()
    return is_number(node.args[0]) and words[0].lower() in ("when", "at", "for", "with", "(") and words[2:3] == ["="]


def _on_domain(node: Node) -> bool:
    """Whether a condition bounds a letter of the formula before it: f(x) = log(x+1), x > -1. Answers may omit it."""
    core, words = node.args[0], node.value.split()
    return any(w in traits(core).alone for w in words) and not any(len(w) > 2 and w.isalpha() for w in words)


def _in_base(digits: str, base: int) -> int | None:
    try:
        return int(digits, base)
    except ValueError:
        return None


def _solved(node: Node) -> bool:
    """`x = 5`, `2 < x`: a letter on one side, a number on the other."""
    return len(node.args) == 2 and any(
        x.op == "sym" and is_number(y) for x, y in (node.args, tuple(reversed(node.args)))
    )


def _radians(node: Node) -> bool:
    return bool(node.value.dimension == (("rad", 1),))


def _letter(node: Node) -> str | None:
    """The option letter that a lone symbol is."""
    if node.op == "sym" and len(node.value) == 1 and node.value.upper() in "ABCDEFGHIJ":
        return str(node.value.upper())
    if node.op == "sym" and node.value.startswith("bold:") and len(node.value) == 6:
        return str(node.value[5].upper())
    if node.op == "const" and node.value == "e":
        return "E"
    return None


_LETTERED: Final = frozenset(
    (
        "plan",
        "option",
        "choice",
        "point",
        "scheme",
        "team",
        "method",
        "case",
        "statement",
        "figure",
        "graph",
        "set",
        "company",
        "store",
        "box",
        "bag",
        "route",
        "machine",
        "model",
        "group",
        "class",
        "line",
        "table",
        "diagram",
        "player",
        "person",
        "student",
        "train",
        "car",
        "boat",
        "school",
        "city",
        "urn",
        "vertex",
    )
)


def _names_letter(words: list[str], letter: str) -> bool:
    """`plan a`, `point b`: a noun that letters number, and the letter."""
    return len(words) == 2 and words[0] in _LETTERED and words[1] == letter


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


def _is_inequality(node: Node) -> bool:
    if node.op == "rel":
        return any(s in ("<", "<=", ">", ">=", "!=") for s in node.value)
    return node.op == "list" and any(_is_inequality(a) for a in node.args)


def _gauss(node: Node, other: Node) -> Node:
    """`[n/2]` where the other side has floors: Gauss's bracket."""
    if node.op == "bracket" and len(node.args) == 1 and traits(node.args[0]).alone and _has_floor(other):
        return Node("floor", node.args)
    return node


def _has_floor(node: Node) -> bool:
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.op in ("floor", "ceil"):
            return True
        waiting.extend(one.args)
    return False


def _joined(node: Node, other: Node) -> Node:
    """`(-2,0) and (2,∞)` against one set of numbers: the intervals of a list are a union."""
    if node.op != "list" or other.op == "list" or not any(n.op == "interval" for n in node.args):
        return node
    pairs = [n.op == "tuple" and len(n.args) == 2 for n in node.args]
    if not all(pair or n.op == "interval" for pair, n in zip(pairs, node.args, strict=True)):
        return node
    ends = (Node("interval", n.args, (False, False)) if pair else n for pair, n in zip(pairs, node.args, strict=True))
    return Node("union", tuple(ends))


def _number_set(node: Node, other: Node) -> Node:
    """`\\mathbf{Q}`, `N^*` where the other side is a set of numbers, spelt as one."""
    if (
        node.op == "sym"
        and (other.op == "numset" or is_set(other))
        and node.value.removeprefix("bold:") in ("R", "Z", "N", "Q", "C")
    ):
        return Node("numset", (), node.value.removeprefix("bold:"))
    return Node("numset", (), "Z+") if node.op == "numset" and node.value in ("N*", "N+") else node


def _whole_letter(node: Node) -> bool:
    """Whether an inequality is about a letter that stands for whole numbers by custom: `n > 2`."""
    names = {side.value for side in node.args if side.op == "sym"} if node.op == "rel" else set()
    return bool(names) and names <= {"n", "k", "m", "N", "_"}


def _without_name(node: Node, other: Node) -> Node:
    """`D = (0,1)`, `S = \\{...\\}`: the set without its name."""
    assigned = assignment(node)
    if assigned is not None and node.op == "rel" and node.value[0] == "=" and not is_scalar(assigned[1]):
        return assigned[1]
    return node


def _same_variable(x: Node, y: Node) -> bool:
    if x == y or Node("sym", (), "_") in (x, y):
        return True
    if x.op == y.op == "sym":
        return bool(x.value.lower() == y.value.lower())
    return {x.op, y.op} == {"sym", "call"}


__all__ = ["DEFAULT_POLICY", "REASONS", "Decision", "Policy", "Reading", "equal", "read", "show", "type_name"]
