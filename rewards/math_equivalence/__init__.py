r"""The verifier `math`: does the final answer equal the gold as mathematics?

    >>> MathEquivalence()("so $x=\\boxed{\\frac12}$", gold="0.5").score
    1.0

`rewards.answers` finds where the answer stands; `latex` reads gold and answer into typed trees, each distinct gold
once; `compare` decides by type. What that leaves undecided (integrals, infinite sums, limits) goes to a killable
worker (`symbolic`). Neither sympy nor math-verify is ever imported in the caller's process, and nothing that a model
wrote is evaluated anywhere.

Choices on which graders differ are parameters where users need both; `MathParams` lists them with their defaults.
The rest is decided once:

| pair | verdict | because |
|---|---|---|
| gold 1/2, answer 2/4 | right | equal; reducing is a matter of form |
| gold 2/3, answer 0.67; gold 100.5, answer 100 | wrong | no tolerance unless `rounding` or `decimal_digits` says so |
| gold (-1, 3), answer -1 < x < 3 or x in (-1, 3) | right | the same set; `inequality_as_interval` |
| gold [0, 1), answer [0, 1] | wrong | an end belongs to it or not |
| gold 5 km, answer 5; answer 5000 m; answer 5 m | right; right; wrong | only a stated unit can be wrong |
| gold 3, answer 3 m; answer 3m | right; wrong | a lone letter is a unit only when it stands apart |
| gold 2.5 million, answer 2.5; answer 2,500,000 | wrong; right | a scale word (dozen, million) is a factor, no unit |
| gold x = 5, answer 5; gold 5, answer x = 5 | right | the name goes without saying |
| gold x = 5, answer x + 2 = 7; gold x > 2, answer 2x > 4 | wrong | where the gold is solved, the answer must be |
| gold f(x) = cx, answer f(x) = kx; gold y = bx/a, answer y = ax/b | right; wrong | arbitrary constants have no name |
| gold kπ, k ∈ Z, answer nπ; gold (kπ, kπ+1), answer (nπ, nπ-1) | right; wrong | the letter that counts has no name |
| gold 5, answer x + y = 5; gold 12, answer 3x + 4y = 12 | right; wrong | sums and products of letters are asked for |
| gold sin²x + C, answer -cos²x + C; x² + y² = C, y² = K - x² | right | a constant takes up any number |
| gold 1 + 2 + ... + n, answer n(n+1)/2 | right | dots stand for the rule that the terms beside them show |
| gold abs(x), answer x for x ≥ 0 and -x below | right | functions in pieces are compared by their values |
| gold n ≥ 3, answer n > 2, n ∈ Z; gold x ≥ 3, answer x ≥ 3, x ∈ Z | right; wrong | n counts, x does not |
| gold 20 boys and 15 girls, answer 15 boys and 20 girls | wrong | what is counted belongs to its number |
| gold r = 2cos θ, answer x² + y² = 2x | wrong | the question is which form, so the other one restates it |
| gold A⁻¹B, answer BA⁻¹; gold AB, answer BA | wrong; right | products with an inverse are of matrices; AB is a length |
| gold 1/3, answer P(X = 2) = 1/3 or 0.333... | right | what it is of goes without saying; the dots continue |
| gold n = 12, answer 12 is the smallest such n | right | that says of it what was asked |
| gold \log(x+1), x > -1, answer \log(x+1); with x > 0 | right; wrong | a domain may be left out, not changed |
| gold 5, answer 5 = 6; answer 5, 6; answer 5 or 6 | wrong | a contradiction and a choice of answers pay nothing |
| gold 42, box 42, then "no, it might be 43" in words | right | the box is the answer |
| gold 42, box 41, then "final answer: 42" | right | the later explicit statement is |
| an answer only inside a think block; an unfinished last box | wrong | nothing final was said |
| "see the proof above" as a gold | invalid | the row's fault; no number |
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final, Literal, NamedTuple

from pydantic import Field

from rewards.answers import Answer, GoldTypeError, Where, find_answer, gold_texts, part_boxes
from rewards.math_equivalence.compare import REASONS, Decision, Policy, Reading, equal, read, show
from rewards.math_equivalence.tree import Node
from rewards.registry import Params, Verifier, register
from rewards.verdict import Reason, Sample, Status, Verdict
from rewards.workers import Outcome, WorkerPool

MAX_CACHED_VERDICTS: Final = 1 << 16
MAX_CACHED_CHARS: Final = 2_000
"""Longer answers and golds are judged anew each time, so that a cache cannot fill the memory."""
SLOW_LANE_SECONDS: Final = 10.0
"""Wall-clock limit of one task in a worker; crossing it is an `error`, never a score."""

_SYMBOLIC: Final = "rewards.math_equivalence.symbolic:decide"


class MathParams(Params):
    r"""Parameters of `math`. The defaults are what a careful person accepts.

    What no parameter says is decided once, in the table at the head of `rewards.math_equivalence`: scale words are
    factors (`2.5 \text{ million}` is not 2.5), where the gold is a solution the answer must be one (`x+2=7` is not
    `x=5`), arbitrary constants and counting letters may be named otherwise (`C_1`, `k \in \mathbb{Z}`), a name in
    front of a value is dropped (`P(X=2)=1/3`), and a domain may be left out but not changed.

    Attributes:
        engine: "own"; "math_verify" for numbers comparable with published ones (the whole completion goes to
            math-verify, called as its README says); "both" scores by "own" and says in `parts` where they differ.
        where: which statements may hold the answer: "boxed" (a box or an `<answer>` tag), "stated" (also `####` and
            "the answer is ..."), "anywhere" (also the closing sentence).
        percent: "either": `25%` equals 25 and 0.25; "value": 0.25 only.
        rounding: "exact": a decimal gold is that number, so 100/3 is not 33.3; "gold_precision": an answer that rounds
            to the gold's digits is right too.
        decimal_digits: a decimal answer equals an exact gold when it has at least so many correct significant digits
            (3.141592654 for \pi); 0: never.
        unevaluated: arithmetic left undone (`3\cdot 5` for 15) is right.
        unit_conflict: "refuse": 5 m is not 5 km; "ignore": only the numbers count. A unit on one side only is no
            conflict.
        inequality_as_interval: a solved inequality (`x<3`) equals its interval.
        degrees_as_radians: `45°` equals `\pi/4`.
        log_base: "either": `\log` without a base may be natural or decimal; "e": natural.
        imaginary_j: `3+4j` equals `3+4i` where the gold has no j.
        base_dropped: the digits without the base that the question fixed: 204 for 204_5.
        refuse_prompt_echo: an answer that is only equal once worked out, and that the prompt itself holds (`12\cdot 7`
            when asked for it, the product to be expanded), repeats the question. Needs `Sample.prompt`.
    """

    engine: Literal["own", "math_verify", "both"] = "own"
    where: Where = "anywhere"
    percent: Literal["either", "value"] = "either"
    rounding: Literal["exact", "gold_precision"] = "exact"
    decimal_digits: int = Field(default=10, ge=0, le=100)
    unevaluated: bool = True
    unit_conflict: Literal["refuse", "ignore"] = "refuse"
    inequality_as_interval: bool = True
    degrees_as_radians: bool = True
    log_base: Literal["either", "e"] = "either"
    imaginary_j: bool = True
    base_dropped: bool = True
    refuse_prompt_echo: bool = True


_POLICY: Final = tuple(field.name for field in fields(Policy))
_REASONS: Final[Mapping[str, str]] = {
    **REASONS,
    "echo": "The only answer is the template that the prompt gave.",
    "equal_symbolic": "sympy, in a worker, finds the two equal.",
    "differs_symbolic": "sympy, in a worker, finds the two different.",
    "math_verify_equal": "math-verify calls the two equal.",
    "math_verify_differs": "math-verify calls the two different.",
}


class _Gold(NamedTuple):
    """A gold, read once."""

    readings: tuple[Reading, ...]
    choice: bool
    unusable: Verdict | None

    @property
    def parts(self) -> int:
        """How many values a list holds; asked for only where it matters, since most golds need no tree."""
        node = self.readings[0].node if len(self.readings) == 1 else None
        return len(node.args) if node is not None and node.op in ("list", "seq") else 1


class _Undecided(NamedTuple):
    """A pair for the slow lane."""

    golds: tuple[Reading, ...]
    answer: str
    decision: Decision


@dataclass(frozen=True, slots=True)
class GoldCheck:
    """What a gold is read as.

    Attributes:
        readable: whether answers can be compared with it.
        type_name: its kind ("integer", "interval", ...); of a list of acceptable golds, all kinds.
        reading: the tree on one line.
        problem: why it is not readable; empty otherwise.
    """

    readable: bool
    type_name: str
    reading: str
    problem: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The path of one completion: the span found, both trees, the rule. `str()` prints it."""

    found: Answer
    gold: GoldCheck
    answer_type: str
    answer_reading: str
    verdict: Verdict

    def __str__(self) -> str:
        if self.found.spans:
            where = ", ".join(f"{span.start}..{span.end} {span.text!r}" for span in self.found.spans)
            lines = [f"answer: {self.found.mark}, characters {where}"]
            lines.append(f"  read as {self.answer_type}: {self.answer_reading}")
        else:
            lines = [f"answer: none ({self.found.problem})"]
        lines.append(
            f"gold: {self.gold.type_name}: {self.gold.reading}" if self.gold.readable else f"gold: {self.gold.problem}"
        )
        rule = str(self.verdict.reason)
        meaning = _REASONS.get(rule, "")
        lines.append(f"rule: {rule}{f' ({meaning})' if meaning else ''} {self.verdict.detail}".rstrip())
        return "\n".join(lines)


@register("math")
class MathEquivalence(Verifier[MathParams]):
    """Final answer equal to the gold as mathematics: 1, else 0.

    Args:
        pool: workers for the slow lane (`WorkerPool("rewards.math_equivalence.symbolic:decide")`); by default all
            verifiers of a process share one, which starts when it is first needed.
        params: see `MathParams`.
    """

    version: ClassVar[int] = 1
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    needs: ClassVar[tuple[str, ...]] = ("gold",)
    reasons: ClassVar[Mapping[str, str]] = _REASONS
    source: ClassVar[str] = "equality of the final answer as mathematics, as in MATH (arXiv 2103.03874) and math-verify"
    example: ClassVar[Mapping[str, Any] | None] = {
        "completion": r"so the area is $\boxed{\frac{1}{2}}$.",
        "gold": "0.5",
    }

    def __init__(self, *, pool: WorkerPool | None = None, **params: Any) -> None:
        super().__init__(**params)
        self._pool = pool
        self._reset()

    def _reset(self) -> None:
        self._policy = Policy(**{name: getattr(self.params, name) for name in _POLICY})
        self._golds: dict[str, _Gold] = {}
        self._verdicts: dict[tuple[Any, str], Verdict] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"params": self.params, "_pool": self._pool}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.params = state["params"]
        self._pool = state["_pool"]
        self._reset()

    def verify(self, sample: Sample) -> Verdict:
        """The verdict on one sample."""
        if self.params.engine == "own":
            verdict = self._fast(sample)
            if type(verdict) is Verdict:
                return verdict
        return self.verify_many([sample])[0]

    def verify_many(self, samples: Sequence[Sample]) -> list[Verdict]:
        """One verdict per sample, in order; what needs the slow lane goes there together, each distinct pair once."""
        if self.params.engine == "math_verify":
            return self._by_math_verify(samples)
        out: list[Any] = [self._fast(sample) for sample in samples]
        slow: dict[tuple[Any, str], list[int]] = {}
        for i, verdict in enumerate(out):
            if type(verdict) is _Undecided:
                slow.setdefault((verdict.golds, verdict.answer), []).append(i)
        if slow:
            self._decide_slowly(slow, out)
        if self.params.engine == "both":
            theirs = self._by_math_verify(samples)
            out = [_beside(own, other) for own, other in zip(out, theirs, strict=True)]
        return out

    def _gold(self, gold: Any) -> _Gold:
        if type(gold) is str:
            known = self._golds.get(gold)
            if known is None:
                known = _read_gold(gold)
                if len(self._golds) >= MAX_CACHED_VERDICTS:
                    self._golds.clear()
                if len(gold) <= MAX_CACHED_CHARS:
                    self._golds[gold] = known
            return known
        return _read_gold(gold)

    def _fast(self, sample: Sample) -> Verdict | _Undecided:
        gold = self._gold(sample.gold)
        if gold.unusable is not None:
            return gold.unusable
        prompt = sample.prompt
        found = find_answer(
            sample.text,
            prompt=prompt if type(prompt) is str else sample.prompt_text,
            where=self.params.where,
            choice=gold.choice,
            truncated=bool(sample.truncated),
        )
        if not found.spans:
            return _UNANSWERED[found.problem]
        answer = found.text
        key = (sample.gold if type(sample.gold) is str else gold.readings, answer)
        verdict = self._verdicts.get(key)
        if verdict is None:
            decided = self._compare(gold, found)
            if type(decided) is _Undecided:
                return decided
            assert isinstance(decided, Verdict)
            self._remember(key, decided)
            verdict = decided
        if verdict.score == 0.0 and found.mark == "boxed" and len(found.spans) == 1:
            said = sample.text.rpartition("</think>")[2]
            boxes = said.count("boxed")
            if 1 < boxes == gold.parts and (parts := part_boxes(said)):
                joined = self._compare(gold, Answer(parts, "boxed"))
                if isinstance(joined, Verdict) and joined.score == 1.0:
                    return joined
        if verdict.reason in _COMPUTED and self.params.refuse_prompt_echo and _repeats_prompt(answer, sample):
            return _ECHOED
        return verdict

    def _compare(self, gold: _Gold, found: Answer) -> Verdict | _Undecided:
        text = found.text
        answer = read(text, role="answer")
        first: Decision | None = None
        undecided: Decision | None = None
        for reading in gold.readings:
            decision = equal(reading, answer, self._policy)
            if not decision.equal and len(found.spans) > 1:
                decision = self._each_span(reading, found, decision)
            if decision.equal:
                return Verdict.scored(1.0, decision.rule, decision.detail, extracted=text)
            if decision.equal is None and reading.problem is not None:
                return Verdict.invalid(Reason.GOLD_UNREADABLE, decision.detail or "the gold is beyond the caps")
            if decision.equal is None:
                undecided = undecided or decision
            first = first or decision
        if undecided is not None and all(map(_computable, (*gold.readings, answer))):
            return _Undecided(gold.readings, text, undecided)
        first = undecided or first
        assert first is not None
        return Verdict.scored(0.0, first.rule, first.detail, extracted=text)

    def _each_span(self, gold: Reading, found: Answer, joined: Decision) -> Decision:
        """`\\boxed{\\frac34}` or `\\boxed{0.75}`: the same answer twice, written differently, hedges nothing."""
        decision = joined
        for span in found.spans:
            decision = equal(gold, read(span.text, role="answer"), self._policy)
            if not decision.equal:
                return joined
        return decision

    def _remember(self, key: tuple[Any, str], verdict: Verdict) -> None:
        if len(key[1]) > MAX_CACHED_CHARS:
            return
        if len(self._verdicts) >= MAX_CACHED_VERDICTS:
            self._verdicts.clear()
        self._verdicts[key] = verdict

    def _decide_slowly(self, slow: dict[tuple[Any, str], list[int]], out: list[Any]) -> None:
        tasks: list[dict[str, str]] = []
        owners: list[tuple[Any, str]] = []
        for golds, answer in slow:
            for gold in golds:
                tasks.append({"op": "equal", "gold": gold.text, "answer": answer})
                owners.append((golds, answer))
        outcomes: dict[tuple[Any, str], list[Outcome]] = {}
        for owner, outcome in zip(owners, self._workers().map(tasks), strict=True):
            outcomes.setdefault(owner, []).append(outcome)
        for key, places in slow.items():
            verdict = _slow_verdict(outcomes[key], key[1], out[places[0]].decision)
            if verdict.status is Status.SCORED:
                self._remember(key, verdict)
            for i in places:
                out[i] = verdict

    def _by_math_verify(self, samples: Sequence[Sample]) -> list[Verdict]:
        out: list[Any] = [None] * len(samples)
        places: dict[tuple[tuple[str, ...], str], list[int]] = {}
        for i, sample in enumerate(samples):
            try:
                golds = gold_texts(sample.gold)
            except GoldTypeError as error:
                out[i] = Verdict.invalid(Reason.GOLD_UNREADABLE, str(error))
                continue
            if not all(gold.strip() for gold in golds):
                out[i] = Verdict.invalid(Reason.GOLD_UNREADABLE, "the gold is empty")
                continue
            places.setdefault((golds, sample.text), []).append(i)
        tasks = [{"op": "math_verify", "golds": list(golds), "completion": text} for golds, text in places]
        outcomes = self._workers().map(tasks) if tasks else []
        for key, outcome in zip(places, outcomes, strict=True):
            verdict = _math_verify_verdict(outcome)
            for i in places[key]:
                out[i] = verdict
        return out

    def _workers(self) -> WorkerPool:
        return self._pool if self._pool is not None else _shared_pool(self)

    def close(self) -> None:
        """End the shared workers when no other verifier uses them. A pool that was passed in stays its owner's."""
        _leave_shared_pool(self)

    def explain(self, sample: Sample) -> Explanation:
        """How the sample gets its verdict: the span found, both trees, the rule."""
        checked = check_gold(sample.gold)
        gold = self._gold(sample.gold)
        found = find_answer(
            sample.text,
            prompt=sample.prompt_text,
            where=self.params.where,
            choice=gold.choice,
            truncated=bool(sample.truncated),
        )
        answer_type = shown = ""
        if found.spans:
            answer = read(found.text, role="answer")
            answer_type = answer.type_name
            shown = show(answer.node) if answer.node is not None else answer.problem_detail
        return Explanation(found, checked, answer_type, shown, self.verify(sample))


def equivalent(*, gold: Any, answer: Any, **params: Any) -> Verdict:
    """The verdict on a bare answer: no completion, no box. Keywords only: exchanged arguments grade silently wrong.

    Args:
        gold: text, a number, or a list of acceptable ones.
        answer: text or a number.
        params: see `MathParams`.

    Raises:
        GoldTypeError: an answer that is neither text nor a number.
        ParamError: a parameter that does not exist or does not fit.
    """
    text = answer if isinstance(answer, str) else gold_texts(answer)[0]
    verifier = MathEquivalence(**params)
    read_gold = verifier._gold(gold)
    if read_gold.unusable is not None:
        return read_gold.unusable
    decided = verifier._compare(read_gold, _bare_answer(text))
    if isinstance(decided, Verdict):
        return decided
    out: list[Any] = [decided]
    verifier._decide_slowly({(decided.golds, decided.answer): [0]}, out)
    verdict: Verdict = out[0]
    return verdict


def check_gold(gold: Any) -> GoldCheck:
    """What `math` reads a gold as, before any training: readable or not, of what type, and how."""
    found = _read_gold(gold)
    if found.unusable is not None:
        return GoldCheck(False, "", "", found.unusable.detail)
    kinds = " or ".join(
        dict.fromkeys("integer" if reading.node is None else reading.type_name for reading in found.readings)
    )
    trees = " | ".join(
        f"{len(reading.text)} digits" if reading.node is None else show(reading.node) for reading in found.readings
    )
    return GoldCheck(True, kinds, trees, "")


# ---------------------------------------------------------------- golds


def _read_gold(gold: Any) -> _Gold:
    try:
        texts = gold_texts(gold)
    except GoldTypeError as error:
        return _Gold((), False, Verdict.invalid(Reason.GOLD_UNREADABLE, str(error)))
    readings = tuple(read(text, role="gold") for text in texts)
    for text, reading in zip(texts, readings, strict=True):
        # A number of a million digits has no tree, but its digits can be compared.
        if reading.problem is not None and not (reading.problem == "over_limit" and _is_digits(text)):
            why = reading.problem_detail or "nothing is written" if text.strip() else "nothing is written"
            detail = f"gold {_short(text)} cannot be read: {why}"
            return _Gold((), False, Verdict.invalid(Reason.GOLD_UNREADABLE, detail))
    return _Gold(readings, any(_is_choice(text) for text in texts), None)


def _is_digits(text: str) -> bool:
    return text.strip().strip("$").lstrip("-").isdecimal()


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")


def _is_choice(gold: str) -> bool:
    """`B`, `(B)`, `$\\text{B}$`, `ACD`, `(D) Alina`: the letter of an option, or several."""
    text = gold.strip().strip("$").strip()
    for command in ("\\text", "\\textbf", "\\mathrm", "\\mathbf"):
        if text.startswith(command + "{") and text.endswith("}"):
            text = text[len(command) + 1 : -1].strip()
    if len(text) > 3 and text[0] == "(" and text[2] == ")":
        text = text[:3]
    text = text.strip("()[]. ")
    letters = text.replace(",", "").replace(" ", "")
    return 0 < len(letters) <= 6 and all("A" <= c <= "J" for c in letters) and list(letters) == sorted(set(letters))


def _bare_answer(text: str) -> Answer:
    from rewards.answers import Span

    return Answer((Span(text, 0, len(text)),), "stated")


# ---------------------------------------------------------------- verdicts

_UNANSWERED: Final[Mapping[str, Verdict]] = {
    "no_answer": Verdict.scored(0.0, Reason.NO_ANSWER, "no final answer stands in the completion"),
    "truncated": Verdict.scored(0.0, Reason.TRUNCATED, "the completion ends before its last answer or thought does"),
    "echo": Verdict.scored(0.0, "echo", "the only answer is the template that the prompt gave"),
}


_COMPUTED: Final = frozenset({"equal_rational", "equal_decimal", "equal_identity", "equal_value", "equal_symbolic"})
"""Rules that find equal what is written differently: only there can an answer repeat the question's expression."""
_ECHOED: Final = Verdict.scored(0.0, "echo", "the answer repeats an expression of the question, not worked out")


def _repeats_prompt(answer: str, sample: Sample) -> bool:
    if answer.isalnum():
        return False
    reading = read(answer, role="answer")
    if reading.quick is not None:
        return False  # a plain number of the question may be its answer
    asked = sample.prompt_text
    text = _squeezed(answer)
    return len(text) > 2 and any(sign in text for sign in "+-*/^(") and text in _squeezed(asked)


_SQUEEZE: Final = str.maketrans(dict.fromkeys(" \t\r\n$"))


def _squeezed(text: str) -> str:
    for spelling in ("\\cdot", "\\times", "×", "·"):
        text = text.replace(spelling, "*")
    for size in ("\\left", "\\right", "\\,", "\\!", "\\;"):
        text = text.replace(size, "")
    return text.replace("\\dfrac", "\\frac").translate(_SQUEEZE)


_ALGEBRA: Final = frozenset(
    {
        "num", "dec", "calc", "sym", "const", "add", "mul", "neg", "div", "pow", "root", "abs", "floor", "ceil", "deg",
        "pct", "fact", "dfact", "binom", "fn", "call", "big", "opaque", "rel", "tuple", "list", "seq", "matrix",
    }
)  # fmt: skip
"""Nodes that the slow lane can compute with."""


def _computable(reading: Reading) -> bool:
    """Whether the slow lane can say anything of it; words, sets and dots need no worker to stay undecided."""
    stack = [] if reading.node is None else [reading.node]
    while stack:
        node = stack.pop()
        if node.op not in _ALGEBRA or (node.op == "const" and node.value not in ("pi", "e", "i", "infty")):
            return False
        if node.op in ("add", "mul", "div", "pow") and any(arg.value == "infty" for arg in node.args):
            return False  # infinity minus infinity has no value to ask for
        if node.op == "opaque" and str(node.value).endswith("int") and any(map(_has_no_integral, node.args)):
            return False  # it would only run into the deadline, which is no fact about the answer
        stack.extend(node.args)
    return reading.node is not None


def _has_no_integral(node: Node) -> bool:
    """`x^x`, `x!`, `floor(x)` in an integrand: no rule of integration knows them."""
    if node.op == "pow" and all(map(_symbols, node.args)):
        return True
    if node.op in ("fact", "dfact", "binom", "floor", "ceil") and _symbols(node):
        return True
    return any(map(_has_no_integral, node.args))


def _symbols(node: Node) -> bool:
    return node.op == "sym" or any(map(_symbols, node.args))


def _slow_verdict(outcomes: Sequence[Outcome], answer: str, decision: Decision) -> Verdict:
    values = [outcome.value for outcome in outcomes if outcome.failure is None]
    for value in values:
        if value["equal"] is True:
            return Verdict.scored(1.0, "equal_symbolic", value["detail"], extracted=answer)
    for outcome in outcomes:
        if outcome.failure is not None:
            return Verdict.error(outcome.failure.reason, outcome.failure.detail, extracted=answer)
    for value in values:
        if value["equal"] is None:
            return Verdict.scored(0.0, "undecided", decision.detail or value["detail"], extracted=answer)
    return Verdict.scored(0.0, "differs_symbolic", values[0]["detail"], extracted=answer)


def _math_verify_verdict(outcome: Outcome) -> Verdict:
    if outcome.failure is not None:
        return Verdict.error(outcome.failure.reason, outcome.failure.detail)
    if outcome.value["equal"]:
        return Verdict.scored(1.0, "math_verify_equal", outcome.value["detail"])
    return Verdict.scored(0.0, "math_verify_differs", outcome.value["detail"])


def _beside(own: Verdict, other: Verdict) -> Verdict:
    """Our verdict, with math-verify's score in `parts` and whether the two differ (null where it gave none)."""
    differs = None if other.score is None else own.score != other.score
    parts = {**(own.parts or {}), "math_verify": other.score, "differs": differs}
    return Verdict(own.status, own.score, own.reason, own.detail, own.extracted, parts)


# ---------------------------------------------------------------- the shared pool

_lock = threading.Lock()
_shared: WorkerPool | None = None
_users: dict[int, weakref.ref[MathEquivalence]] = {}


def _shared_pool(user: MathEquivalence) -> WorkerPool:
    global _shared
    with _lock:
        if _shared is None:
            _shared = WorkerPool(_SYMBOLIC, workers=2, deadline_seconds=SLOW_LANE_SECONDS)
        _users[id(user)] = weakref.ref(user)
        return _shared


def _leave_shared_pool(user: MathEquivalence) -> None:
    global _shared
    with _lock:
        if _users.pop(id(user), None) is None:
            return
        for key, reference in list(_users.items()):
            if reference() is None:
                del _users[key]
        if not _users and _shared is not None:
            _shared.close()
            _shared = None


def _after_fork() -> None:
    # Another thread may have held the lock; the pool itself resets in rewards.workers.
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
