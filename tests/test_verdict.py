"""A score exists exactly when the status is `scored`; chat and text completions read the same."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from rewards.verdict import Reason, Sample, Status, Verdict, chat_text


@pytest.mark.parametrize("status", [Status.SKIPPED, Status.INVALID, Status.ERROR])
def test_no_number_without_scored(status: Status) -> None:
    """A sandbox outage scored as 0 is the fault this type exists to prevent."""
    with pytest.raises(ValueError, match="exactly when status is 'scored'"):
        Verdict(status, 0.0)


def test_scored_needs_a_number() -> None:
    """And the other way round."""
    with pytest.raises(ValueError, match="exactly when status is 'scored'"):
        Verdict(Status.SCORED)


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf")])
def test_a_score_is_finite(score: float) -> None:
    """An infinite reward gives loss 0 in TRL without a word."""
    with pytest.raises(ValueError, match="not finite"):
        Verdict.scored(score)


def test_a_verdict_is_json_plain() -> None:
    """The row of `rewards score`."""
    row = Verdict.scored(1, Reason.OK, "fine", extracted="4", parts={"x": [1]}).as_row()
    assert json.loads(json.dumps(row)) == {
        "status": "scored", "score": 1.0, "reason": "ok", "detail": "fine", "extracted": "4", "parts": {"x": [1]},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("completion", "text"),
    [
        ("plain", "plain"),
        ([{"role": "assistant", "content": "said"}], "said"),
        ([{"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}], "ab"),
        ([{"role": "assistant", "content": None, "tool_calls": []}], ""),
        ([{"role": "assistant", "content": "call"}, {"role": "tool", "content": "42"},
          {"role": "assistant", "content": "so 42"}], "so 42"),
        ([], ""),
    ],
)  # fmt: skip
def test_a_completion_reads_as_text(completion: object, text: str) -> None:
    """A chat reply is a list with one message; its length is not its text's (huggingface/open-r1#567)."""
    assert chat_text(completion) == text  # type: ignore[arg-type]


def test_prefill_comes_before_the_completion() -> None:
    """What the chat template wrote belongs to what a reader sees (huggingface/trl#6966)."""
    assert Sample(prefill="<think>\n", completion="a\n</think>\n4").text == "<think>\na\n</think>\n4"


def test_a_message_that_is_none_is_refused_by_name() -> None:
    """Instead of its repr being scored."""
    with pytest.raises(TypeError, match="chat message is a str"):
        chat_text(["hello"])  # type: ignore[list-item]


@pytest.mark.parametrize("clone", [lambda s: pickle.loads(pickle.dumps(s)), copy.copy, copy.deepcopy])
def test_a_sample_can_be_sent_and_copied(clone: object) -> None:
    """Frozen and slotted classes need their own protocol for that."""
    sample = Sample(id="1", completion="x", gold=["1", "2"], meta={"level": 3}, num_tokens=7)
    assert clone(sample) == sample  # type: ignore[operator]


def test_samples_and_verdicts_are_frozen() -> None:
    """Verifiers share them across threads."""
    with pytest.raises(AttributeError):
        Sample(id="1").id = "2"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        Verdict.scored(1).score = 0.0  # type: ignore[misc]
