"""The reward expression: what it means, and how it points at what is wrong."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.expression import ExpressionError, Reward
from rewards.registry import Params, Registry, Verifier, register
from rewards.verdict import Reason, Sample, Status, Verdict

REGISTRY = Registry()
CALLS: list[str] = []


class FixedParams(Params):
    score: float = 1.0
    mode: str = "scored"


class Fixed(Verifier[FixedParams]):
    """Says what its parameters say, or what the completion says."""

    range = (-10.0, 10.0)

    def verify(self, sample: Sample) -> Verdict:
        CALLS.append(f"{self.name}:{sample.id}")
        word = sample.text or self.params.mode
        if word == "scored":
            return Verdict.scored(self.params.score)
        if word == "raise":
            raise RuntimeError("boom")
        return Verdict(Status(word), None, Reason.NOT_APPLICABLE)


@register("a", REGISTRY)
class A(Fixed):
    """First."""


@register("b", REGISTRY)
class B(Fixed):
    """Second."""


class OfParams(Params):
    of: str = "a"


@register("share", REGISTRY)
class Share(Verifier[OfParams]):
    """The read component's score over the group's total."""

    scope = "group"
    reads_of = True
    range = (-10.0, 10.0)

    def verify_group(self, samples: Sequence[Sample], of: Sequence[Verdict] | None) -> list[Verdict]:
        assert of is not None
        total = sum(v.score or 0.0 for v in of)
        return [Verdict.scored((v.score or 0.0) / total) for v in of]


def parse(text: str, **kwargs: object) -> Reward:
    return Reward.parse(text, registry=REGISTRY, **kwargs)  # type: ignore[arg-type]


def value(text: str, completion: str = "", **kwargs: object) -> float | None:
    return parse(text, **kwargs).score([Sample(id="1", completion=completion)])[0].reward


@pytest.mark.parametrize(
    ("text", "reward"),
    [
        ("a", 1.0),
        ("a+b", 2.0),
        ("a - b", 0.0),
        ("a + 0.25*b", 1.25),
        ("a+b:0.25", 1.25),
        ("a+b:-0.25", 0.75),
        ("a(score=3):0.5", 1.5),
        ("-a", -1.0),
        ("--a", 1.0),
        ("2*a*3", 6.0),
        ("2*(a+b)", 4.0),
        ("a(score=-2)", -2.0),
        ("a(score=1e-1)", 0.1),
        ("1 - a", 0.0),
        ("min(a, 0.5, b)", 0.5),
        ("max(a(score=-1), 0)", 0.0),
        ("clip(4*a, 0, 2)", 2.0),
        ("clip(a, -2, -1)", -1.0),
        ("gate(a, b)", 1.0),
        ("gate(a(score=0.5), b)", 0.0),
        ("gate(a(score=0.5), b, -1)", -1.0),
        ("gate(a(score=0.5) >= 0.5, b)", 1.0),
        ("gate(a(score=0.5) > 0.5, b)", 0.0),
        ("gate(a(score=-1) > -2, b)", 1.0),
        ("route(default=a)  + 0", None),
    ],
)
def test_an_expression_means_what_its_grammar_says(text: str, reward: float | None) -> None:
    """Arithmetic, weights, gates and clips."""
    if reward is None:
        with pytest.raises(ExpressionError):
            parse(text)
    else:
        assert value(text) == pytest.approx(reward, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a+", 2, "expected a reward name"),
        ("a+nope", 2, "no verifier 'nope'"),
        ("a(scor=1)", 0, "did you mean 'score'"),
        ("a(score=x)", 0, "score"),
        ("a(score=1, score=2)", 11, "given twice"),
        ("gate(a)", 0, "one or two values"),
        ("clip(a, 2, 1)", 11, "above high"),
        ("a $ b", 2, "unexpected '$'"),
        ("a b", 2, "unexpected 'b'"),
        ("(a", 2, "expected ')'"),
        ("a)", 1, "unexpected ')'"),
        ("", 0, "empty reward expression"),
        ("a('x", 2, "never closed"),
        ("1.2.3", 0, "not a number"),
        ("1e999*a", 0, "too large"),
        ("1e300*1e300*a", 0, "can be infinite"),
        ("clip(1e300*1e300*a, 0, 1)", 0, "can be infinite"),
        ("a/2", 1, "0.5*math"),
        ("a:x", 2, "found 'x'"),
        ("route(7=a)", 6, "route(maths=math"),
        ("shar(of=a)", 0, "did you mean 'share'"),
        ("share(of=3)", 0, "share(of=math)"),
        ("share(of=share)", 9, "reads itself"),
        ("share(of=nope)", 9, "no verifier 'nope'"),
        ("route(x=a, x=b)", 11, "given twice"),
        ("gate", 0, "is a function"),
        ("(" * 60 + "a" + ")" * 60, 50, "nested deeper"),
    ],
)
def test_an_error_points_at_the_place(text: str, place: int, words: str) -> None:
    """With a caret under it and what is allowed."""
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert words in str(caught.value)
    assert caught.value.position == place
    assert str(caught.value).endswith("^")


@pytest.mark.parametrize(
    ("mode", "sum_", "product", "least"),
    [("skipped", 1.0, None, 1.0), ("invalid", None, None, None), ("error", None, None, None)],
)
def test_what_cannot_be_judged(mode: str, sum_: float | None, product: float | None, least: float | None) -> None:
    """Skipped drops out of sums and extremes; invalid and error leave the whole reward unscored."""
    part = f"a(mode={mode})"
    assert value(f"{part} + b") == sum_
    assert value(f"{part} * b") == product
    assert value(f"min({part}, b)") == least


def test_an_exception_is_an_error_and_never_a_number() -> None:
    """No `except` clause produces a score."""
    (result,) = parse("a + b").score([Sample(id="1", completion="raise")])
    assert result.reward is None
    assert result.status is Status.ERROR
    assert result.verdicts["a"].reason == Reason.EXCEPTION
    assert "boom" in result.verdicts["a"].detail


def test_a_gate_is_lazy() -> None:
    """The program of a badly formed completion never runs."""
    CALLS.clear()
    (result,) = parse("gate(a(score=0), b)").score([Sample(id="1")])
    assert CALLS == ["a:1"]
    assert result.verdicts["b"].reason == Reason.NOT_REACHED


def test_an_unreached_error_does_not_spoil_the_reward() -> None:
    """Only what is reached counts."""
    assert value("gate(a(score=0), b(mode=error), 0.5)") == 0.5


def test_equal_components_run_once() -> None:
    """Once per row, however often the expression names them."""
    CALLS.clear()
    assert value("a + a + min(a, 2)") == 3.0
    assert CALLS == ["a:1"]


def test_unequal_components_are_told_apart() -> None:
    """The second gets a number."""
    reward = parse("a + a(score=2) + a(score=2)")
    assert list(reward.components) == ["a", "a_2"]


def test_a_component_reads_the_one_that_is_there() -> None:
    """`share(of=a)` means the `a` of the expression, with its parameters, wherever it stands."""
    reward = parse("share(of=a) + a(score=3)")
    assert reward.reads == {"share": "a"}
    assert list(reward.components) == ["share", "a"]


def test_a_component_can_read_one_of_its_own() -> None:
    """Which then runs but adds nothing to the sum."""
    reward = parse("a + share(of=a(score=3))")
    assert reward.reads == {"share": "a_2"}
    samples = [Sample(id=str(i), group="g") for i in range(3)]
    assert [r.reward for r in reward.score(samples)] == pytest.approx([4 / 3] * 3)


def test_a_group_is_whole_behind_a_gate() -> None:
    """Relative to the group means relative to all of it, also where a gate lets only some rows through."""
    samples = [Sample(id=str(i), group="g", task="x" if i else "y") for i in range(4)]
    reward = parse("route(x=share, default=0)")
    assert [r.reward for r in reward.score(samples)] == pytest.approx([0, 0.25, 0.25, 0.25])


def test_rows_that_cannot_be_judged_leave_the_group() -> None:
    """They get no number and do not count in the others'."""
    samples = [Sample(id="0", group="g", completion="invalid"), Sample(id="1", group="g"), Sample(id="2", group="g")]
    results = parse("share").score(samples)
    assert [r.reward for r in results] == [None, 0.5, 0.5]
    assert results[0].verdicts["share"].reason == Reason.DEPENDS_UNSCORED
    assert results[0].status is Status.INVALID


def test_a_task_without_a_branch_is_invalid() -> None:
    """And the verdict says which tasks there are."""
    (result,) = parse("route(x=a, 'y/z'=b)").score([Sample(id="1", task="w")])
    assert result.status is Status.INVALID
    assert result.verdicts["route"].reason == Reason.UNROUTED_TASK
    assert "y/z" in result.verdicts["route"].detail


def test_aliases_stand_for_expressions() -> None:
    """Also inside each other; a circle is refused."""
    assert value("2*both", aliases={"both": "a + half", "half": "0.5*b"}) == 3.0
    with pytest.raises(ExpressionError, match="defined through itself"):
        parse("x", aliases={"x": "y", "y": "x"})


def test_a_fingerprint_is_that_of_the_meaning() -> None:
    """Blanks and aliases change nothing; what an alias means does."""
    one, same = Reward.parse("numeric+0.5*format"), Reward.parse("numeric + format:0.5")
    assert one.fingerprint == same.fingerprint
    mixes = [
        Reward.parse("mix", aliases={"mix": text}).fingerprint for text in ("numeric+0.5*format", "numeric+2*format")
    ]
    assert mixes[0] == one.fingerprint
    assert mixes[0] != mixes[1]


def test_a_ready_verifier_can_stand_for_a_name() -> None:
    """So that a sandbox or a pool can be passed in."""
    mine = A(score=7)
    reward = parse("mine + b", components={"mine": mine})
    assert reward.components["mine"] is mine
    assert value("mine + b", components={"mine": mine}) == 8.0


def test_the_order_of_the_rows_changes_nothing() -> None:
    """Same input, same verdict."""
    samples = [Sample(id=str(i), group=str(i % 3), completion=("", "skipped", "invalid")[i % 3]) for i in range(30)]
    reward = parse("share + 0.5*b")
    forward = {s.id: r.reward for s, r in zip(samples, reward.score(samples), strict=True)}
    backward = {s.id: r.reward for s, r in zip(samples[::-1], reward.score(samples[::-1]), strict=True)}
    assert forward == backward


def test_the_range_bounds_the_reward() -> None:
    """By interval arithmetic."""
    assert parse("a - 2*b").range == (-30.0, 30.0)
    assert parse("clip(a, 0, 1) * max(b, 0)").range == (0.0, 10.0)


def test_a_weighted_sum_is_seen_as_one() -> None:
    """Weights by component, or None where the expression is something else."""
    assert parse("a + 0.25*b - a:0.5").additive() == {"a": 0.5, "b": 0.25}
    assert parse("a*b").additive() is None


def test_a_reward_survives_pickling() -> None:
    """TRL, Ray and multiprocessing send it."""
    reward = Reward.parse("format + 0.5*overlong(max_tokens=100, cache=20)")
    copy = pickle.loads(pickle.dumps(reward))
    assert copy.fingerprint == reward.fingerprint


@given(st.text(alphabet="ab+-*():,.=<>1 \n'gatemn", max_size=40))
def test_any_text_parses_or_is_refused_with_a_caret(text: str) -> None:
    """Nothing else comes out of the parser."""
    try:
        parse(text)
    except ExpressionError as error:
        assert 0 <= error.position <= len(text)
