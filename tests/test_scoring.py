"""The boundary: our failures become `error`, the data's become `invalid`, and neither becomes a number."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rewards.registry import Params, Verifier
from rewards.scoring import judge, judge_one
from rewards.verdict import Reason, Sample, Status, Verdict


class Base(Verifier[Params]):
    name = "base"
    needs = ("gold",)

    def verify(self, sample: Sample) -> Verdict:
        if sample.text == "bug":
            raise ZeroDivisionError("of ours")
        return Verdict.scored(float(sample.text == sample.gold))


SAMPLES = [
    Sample(id="right", completion="4", gold="4"),
    Sample(id="bug", completion="bug", gold="4"),
    Sample(id="no gold", completion="4"),
    Sample(id="wrong", completion="5", gold="4"),
]


def test_one_bad_row_does_not_touch_the_others() -> None:
    """An exception is the error of its own row; a missing gold is invalid."""
    verdicts = judge(Base(), SAMPLES)
    assert [v.status for v in verdicts] == [Status.SCORED, Status.ERROR, Status.INVALID, Status.SCORED]
    assert [v.score for v in verdicts] == [1.0, None, None, 0.0]
    assert verdicts[1].reason == Reason.EXCEPTION
    assert "ZeroDivisionError" in verdicts[1].detail
    assert verdicts[2].reason == Reason.MISSING_FIELD
    assert "gold" in verdicts[2].detail


def test_a_false_gold_is_still_a_gold() -> None:
    """0, "" and [] are values; only None is missing."""
    verdicts = judge(Base(), [Sample(completion="", gold=""), Sample(completion="x", gold=0)])
    assert [v.score for v in verdicts] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (Verdict.scored(1.5), "outside its range"),
        (Verdict.scored(-0.1), "outside its range"),
        (Verdict.scored(1.0, "made_up"), "undocumented reason"),
        (0.5, "not a Verdict"),
        (None, "not a Verdict"),
    ],
)
def test_a_verifier_that_breaks_its_contract_is_not_believed(verdict: object, words: str) -> None:
    """The reward is unscored, and the detail says what was wrong."""

    class Liar(Base):
        def verify(self, sample: Sample) -> Verdict:
            return verdict  # type: ignore[return-value]

    for got in (*judge(Liar(), SAMPLES[:1]), judge_one(Liar(), SAMPLES[0])):
        assert got.status is Status.ERROR
        assert got.reason == Reason.BAD_VERDICT
        assert words in got.detail


def test_one_sample_alone_is_judged_as_in_a_batch() -> None:
    """A score, a missing gold, an exception: the short way gives what the long one gives."""
    for sample in (*SAMPLES, Sample(completion="x")):
        assert judge_one(Base(), sample) == judge(Base(), [sample])[0]


def test_a_wrong_number_of_verdicts_is_an_error() -> None:
    """Zipping them to the rows would shift every reward after the gap."""

    class Group(Base):
        scope = "group"

        def verify_group(self, samples: Sequence[Sample], of: Sequence[Verdict] | None) -> list[Verdict]:
            return [Verdict.scored(1.0)]

    got = judge(Group(), [Sample(group="g", gold="1"), Sample(group="g", gold="1")])
    assert [v.status for v in got] == [Status.ERROR, Status.ERROR]


def test_a_failing_batch_falls_back_to_single_samples() -> None:
    """So that the row at fault can be named."""

    class Batch(Base):
        def verify_many(self, samples: Sequence[Sample]) -> list[Verdict]:
            raise RuntimeError("the batch path is broken")

    assert [v.score for v in judge(Batch(), SAMPLES)] == [1.0, None, None, 0.0]


def test_samples_without_a_group_stand_alone() -> None:
    """An empty group is not one big group."""

    class Size(Base):
        scope = "group"
        needs = ()
        range = (0.0, 100.0)

        def verify_group(self, samples: Sequence[Sample], of: Sequence[Verdict] | None) -> list[Verdict]:
            return [Verdict.scored(float(len(samples)))] * len(samples)

    got = judge(Size(), [Sample(), Sample(group="a"), Sample(), Sample(group="a")])
    assert [v.score for v in got] == [1.0, 2.0, 1.0, 2.0]


def test_reading_nothing_is_refused() -> None:
    """A verifier that reads another component cannot be judged without it."""

    class OfParams(Params):
        of: str = "math"

    class Reads(Verifier[OfParams]):
        name = "reads"
        reads_of = True

    with pytest.raises(ValueError, match="reads another component"):
        judge(Reads(), SAMPLES)
