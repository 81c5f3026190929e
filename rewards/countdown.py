r"""The numbers game: an arithmetic expression over given numbers that has a given value.

The expression is read by the grammar below and valued with exact fractions; it never reaches `eval` or sympy.
(Scorers that let sympy simplify first lose numbers: `9/9` vanishes, and the numbers in it can be used again.)

    sum   := prod (("+" | "-") prod)*
    prod  := unary (("*" | "/") unary)*            also  x × · ÷ : \times \cdot \div
    unary := "-" unary | atom
    atom  := NUMBER | "(" sum ")" | "\frac{" sum "}{" sum "}"
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Literal

from rewards.answers import find_answer
from rewards.format_checks import Fault, answer_start
from rewards.registry import Params, Verifier, register
from rewards.verdict import Reason, Sample, Verdict

MAX_CHARS: Final = 1000
MAX_DEPTH: Final = 40
MAX_DIGITS: Final = 30

_TOKEN: Final = re.compile(
    r"\s+|\\[,;!]|(?P<number>\d+(?:\.\d+)?)|(?P<frac>\\[dt]?frac)|(?P<times>\\times|\\cdot|[*×·⋅∗xX])"
    r"|(?P<divide>\\div|[/÷:∕])|(?P<plus>[+])|(?P<minus>[-−–])|(?P<open>\\left\s?\(|[({\[])|(?P<close>\\right\s?\)|[)}\]])"
)
_OPENERS: Final = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression: the numbers as written, in order, and the steps that value them, in postfix order."""

    numbers: tuple[Fraction, ...]
    postfix: tuple[Fraction | str, ...]

    def value(self) -> Fraction | None:
        """The exact value; None when it divides by zero."""
        stack: list[Fraction] = []
        for step in self.postfix:
            if isinstance(step, Fraction):
                stack.append(step)
            elif step == "neg":
                stack.append(-stack.pop())
            else:
                right, left = stack.pop(), stack.pop()
                if step == "/" and right == 0:
                    return None
                stack.append(
                    left + right if step == "+" else left - right if step == "-"
                    else left * right if step == "*" else left / right
                )  # fmt: skip
        return stack[0]


class _Unreadable(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.detail)
        self.fault = fault


class _Parser:
    """Recursive descent over tokens; every method's docstring is its grammar line."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str, int]] = []
        at = 0
        while at < len(text):
            hit = _TOKEN.match(text, at)
            if hit is None:
                raise _Unreadable(Fault("bad_expression", f"{text[at]!r} at character {at + 1} is not arithmetic"))
            if hit.lastgroup:
                self.tokens.append((hit.lastgroup, hit.group(), at))
            at = hit.end()
        self.at = 0
        self.depth = 0
        self.numbers: list[Fraction] = []
        self.postfix: list[Fraction | str] = []

    def peek(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else "end"

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1][1]

    def fail(self) -> _Unreadable:
        if self.at < len(self.tokens):
            _, token, at = self.tokens[self.at]
            return _Unreadable(Fault("bad_expression", f"{token!r} at character {at + 1} does not fit"))
        return _Unreadable(Fault("bad_expression", "the expression ends early"))

    def sum(self) -> None:
        """sum := prod (("+" | "-") prod)*"""
        self.prod()
        while self.peek() in ("plus", "minus"):
            operator = "+" if self.peek() == "plus" else "-"
            self.at += 1
            self.prod()
            self.postfix.append(operator)

    def prod(self) -> None:
        """prod := unary (("*" | "/") unary)*"""
        self.unary()
        while self.peek() in ("times", "divide"):
            operator = "*" if self.peek() == "times" else "/"
            self.at += 1
            self.unary()
            self.postfix.append(operator)

    def unary(self) -> None:
        """unary := "-" unary | atom"""
        signs = 0
        while self.peek() == "minus":
            self.at += 1
            signs += 1
        self.atom()
        if signs % 2:
            self.postfix.append("neg")

    def atom(self) -> None:
        r"""atom := NUMBER | "(" sum ")" | "\frac{" sum "}{" sum "}" """
        kind = self.peek()
        if kind == "number":
            digits = self.take()
            if len(digits) > MAX_DIGITS:
                raise _Unreadable(Fault(Reason.OVER_LIMIT, f"a number of {len(digits)} digits"))
            self.numbers.append(Fraction(digits))
            self.postfix.append(Fraction(digits))
        elif kind == "open":
            self.bracket()
        elif kind == "frac":
            self.at += 1
            for _ in range(2):
                if self.peek() != "open" or self.tokens[self.at][1] != "{":
                    raise self.fail()
                self.bracket()
            self.postfix.append("/")
        else:
            raise self.fail()

    def bracket(self) -> None:
        """ "(" sum ")", closed by its own kind of bracket"""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _Unreadable(Fault(Reason.OVER_LIMIT, f"brackets nested more than {MAX_DEPTH} deep"))
        opener = self.take()[-1]
        self.sum()
        if self.peek() != "close" or self.tokens[self.at][1][-1] != _OPENERS[opener]:
            raise self.fail()
        self.at += 1
        self.depth -= 1


def parse_expression(text: str) -> Expression | Fault:
    """The expression that `text` is, or why it is none."""
    if len(text) > MAX_CHARS:
        return Fault(Reason.OVER_LIMIT, f"an expression of {len(text)} characters; at most {MAX_CHARS} are read")
    try:
        parser = _Parser(text)
        parser.sum()
        if parser.peek() != "end":
            raise parser.fail()
    except _Unreadable as unreadable:
        return unreadable.fault
    return Expression(tuple(parser.numbers), tuple(parser.postfix))


class CountdownParams(Params):
    """Parameters of `countdown`."""

    use: Literal["all", "some"] = "all"
    """`all`: each given number exactly once. `some`: at most once."""
    where: Literal["boxed", "last_line"] = "boxed"
    """Where the expression stands: in an answer tag or a box, or alone on the last line."""


def _puzzle(sample: Sample) -> tuple[Fraction, Counter[Fraction]] | Fault:
    gold = sample.gold
    if isinstance(gold, str) and gold.lstrip().startswith("{"):
        try:
            gold = json.loads(gold)
        except json.JSONDecodeError as error:
            return Fault(Reason.GOLD_UNREADABLE, f"gold is not JSON: {error}")
    target, numbers = gold, sample.meta.get("numbers", sample.meta.get("nums"))
    if isinstance(gold, Mapping):
        target, numbers = gold.get("target"), gold.get("numbers", gold.get("nums"))
    if not isinstance(numbers, Sequence) or isinstance(numbers, str) or not numbers:
        return Fault(
            Reason.GOLD_UNREADABLE,
            'no numbers; allowed: gold={"target": 24, "numbers": [2, 3, 4]}, or a target and meta["numbers"]',
        )
    read = [_exact(number) for number in (target, *numbers)]
    if None in read:
        return Fault(Reason.GOLD_UNREADABLE, f"target {target!r} or numbers {numbers!r} are not plain numbers")
    exact = [number for number in read if number is not None]
    return exact[0], Counter(exact[1:])


def _exact(number: Any) -> Fraction | None:
    if isinstance(number, bool) or not isinstance(number, int | float | str):
        return None
    text = str(number).strip()
    return Fraction(text) if re.fullmatch(r"-?\d{1,30}(?:\.\d{1,30})?", text) else None


@register("countdown")
class Countdown(Verifier[CountdownParams]):
    """1 when the answer is an expression over the given numbers, each used once, that has the target's value.

    The gold is `{"target": 24, "numbers": [2, 3, 4]}` (also as JSON text; `nums` is understood), or the target with
    `meta["numbers"]`. `... = 24` behind the expression is fine when it is true.
    """

    needs = ("gold",)
    reasons: ClassVar[Mapping[str, str]] = {
        "different": "the expression has another value",
        "wrong_numbers": "a number is used that is not given, or too often, or not at all",
        "bad_expression": "the answer is no arithmetic expression",
        "division_by_zero": "the expression divides by zero",
        "echo": "the answer repeats the prompt's template",
    }
    source = "countdown task of TinyZero and reasoning-gym"
    example: ClassVar[Mapping[str, Any]] = {
        "completion": "<answer>(2 + 4) * 4</answer>", "gold": {"target": 24, "numbers": [2, 4, 4]},
    }  # fmt: skip

    def verify(self, sample: Sample) -> Verdict:
        puzzle = _puzzle(sample)
        if isinstance(puzzle, Fault):
            return Verdict.invalid(puzzle.reason, puzzle.detail)
        target, given = puzzle
        texts = self._answer(sample)
        if isinstance(texts, Fault):
            return Verdict.scored(0.0, texts.reason, texts.detail)
        for text in texts:  # of several that are offered together, each must be right
            fault = self._fault(text, target, given)
            if fault is not None:
                return Verdict.scored(0.0, fault.reason, fault.detail, extracted=text)
        return Verdict.scored(1.0, extracted=texts[-1])

    def _answer(self, sample: Sample) -> list[str] | Fault:
        text = sample.text
        if self.params.where == "last_line":
            last = text[answer_start(text) :].strip().rsplit("\n", 1)[-1].strip()
            return [last] if last else Fault(Reason.NO_ANSWER, "the completion is empty")
        answer = find_answer(text, prompt=sample.prompt_text, where="boxed", truncated=bool(sample.truncated))
        if answer.problem or not answer.spans:
            return Fault(answer.problem or Reason.NO_ANSWER, "no answer tag and no box")
        # In a sentence the mark behind an answer is an exclamation; behind arithmetic it is a factorial.
        return [span.text + "!" * text[span.end :].lstrip().startswith("!") for span in answer.spans]

    def _fault(self, text: str, target: Fraction, given: Counter[Fraction]) -> Fault | None:
        left, equals, right = text.strip().strip("$`").partition("=")
        expression = parse_expression(left)
        if isinstance(expression, Fault):
            return expression
        used = Counter(expression.numbers)
        too_often = used - given
        if too_often:
            return Fault("wrong_numbers", f"not given, or used too often: {_list(too_often)}")
        unused = given - used
        if unused and self.params.use == "all":
            return Fault("wrong_numbers", f"not used: {_list(unused)}")
        value = expression.value()
        if value is None:
            return Fault("division_by_zero", "the expression divides by zero")
        if value != target:
            return Fault("different", f"the value is {value}, the target {target}")
        if equals:
            stated = parse_expression(right)
            if isinstance(stated, Fault) or stated.value() != target:
                return Fault("bad_expression", f"{right.strip()[:40]!r} behind the = is not the value")
        return None


def _list(numbers: Counter[Fraction]) -> str:
    return ", ".join(str(number) for number in sorted(numbers.elements())[:10])
