"""What holds for every registered verifier, whoever wrote it.

Each class brings an `example`: fields of a `Sample`, with `params`, for those that read another component `of` (its
score), and `score` where the best score is not the top of the range. A group-scoped one brings `group`, a list of
such rows, and `scores`. What the example needs beside the completion (gold, tests, token count) is what the texts
below are judged against.
"""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rewards.registry import _BUILT_IN, AnyVerifier, get, names
from rewards.scoring import judge
from rewards.verdict import Reason, Sample, Status, Verdict

NAMES: Final = names()
SAMPLE_FIELDS: Final = frozenset(Sample.__dataclass_fields__)
NOT_A_FIELD: Final = frozenset({"params", "of", "score", "group", "scores"})


BUILT: Final[dict[str, AnyVerifier]] = {}


def build(name: str) -> AnyVerifier:
    """The verifier with its example's parameters; one per test run, since some start processes."""
    if name not in BUILT:
        BUILT[name] = get(name)(**example(name).get("params", {}))
    return BUILT[name]


def example(name: str) -> Mapping[str, Any]:
    found = get(name).example
    assert found is not None, f"{name} has no example; give the class one (see the head of this file)"
    return found


def rows(name: str) -> list[Mapping[str, Any]]:
    """The example as one row, or as the rows of its group."""
    given = example(name)
    return list(given["group"]) if "group" in given else [given]


def sample_from(row: Mapping[str, Any], **changes: Any) -> Sample:
    fields = {key: value for key, value in row.items() if key not in NOT_A_FIELD}
    return Sample(**{"id": "0", "group": "g", **fields, **changes})


def verdicts_on(name: str, texts: list[str], of: float = 0.0, **changes: Any) -> list[Verdict]:
    """Verdicts on texts that stand in the place of the example's completion, in one group."""
    row = rows(name)[0]
    # The real count does not matter to anybody but the length rewards; they must be total in it too.
    samples = [
        sample_from(row, id=str(i), completion=text, **{"num_tokens": len(text.split()), "truncated": False, **changes})
        for i, text in enumerate(texts)
    ]
    verifier = build(name)
    return judge(verifier, samples, [Verdict.scored(of)] * len(samples) if verifier.reads_of else None)


@pytest.fixture(scope="module", autouse=True)
def _closed() -> Any:
    yield
    for verifier in BUILT.values():
        verifier.close()


# ---------------------------------------------------------------- the contract


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_is(name: str) -> None:
    """A docstring, a source, an example of Sample fields, documented parameters, a sensible range."""
    cls = get(name)
    assert (cls.__doc__ or "").strip(), "no docstring"
    assert cls.source, "no source: the paper and equation, or the public definition"
    assert set(example(name)) <= SAMPLE_FIELDS | NOT_A_FIELD
    low, high = cls.range
    assert low < high
    assert set(cls.needs) <= SAMPLE_FIELDS
    assert all(code and meaning for code, meaning in cls.reasons.items())


@pytest.mark.parametrize("name", NAMES)
def test_its_example_gets_its_best_score(name: str) -> None:
    """What `rewards show` prints is true."""
    verifier, given = build(name), example(name)
    samples = [sample_from(row, id=str(i)) for i, row in enumerate(rows(name))]
    of = [Verdict.scored(float(row.get("of", 1.0))) for row in rows(name)] if verifier.reads_of else None
    got = judge(verifier, samples, of)
    assert [v.status for v in got] == [Status.SCORED] * len(got), got
    wanted = given.get("scores", [given.get("score", verifier.range[1])])
    assert [v.score for v in got] == pytest.approx(wanted), got


@pytest.mark.parametrize("name", NAMES)
def test_it_survives_pickling(name: str) -> None:
    """Trainers pickle rewards; the copy has the same fingerprint and gives the same verdict."""
    verifier = build(name)
    copy = pickle.loads(pickle.dumps(verifier))
    assert copy.fingerprint == verifier.fingerprint
    samples = [sample_from(row, id=str(i)) for i, row in enumerate(rows(name))]
    of = [Verdict.scored(1.0)] * len(samples) if verifier.reads_of else None
    assert judge(copy, samples, of) == judge(verifier, samples, of)
    copy.close()


@pytest.mark.parametrize("name", NAMES)
def test_unknown_parameters_are_refused_with_a_name(name: str) -> None:
    """A typo in a config is an error that names it, not a default that stays."""
    with pytest.raises(ValueError, match="no_such_parameter"):
        get(name)(**{**example(name).get("params", {}), "no_such_parameter": 1})


# ---------------------------------------------------------------- any string

FRAGMENTS: Final = [
    "<think>", "</think>", "<answer>", "</answer>", "\\boxed{", "}", "{", "[", "]", '"', "\\", "$", "`", "```python\n",
    "```", "\n", "#### ", "Answer:", "the answer is ", "A", "B or C", "1", "-", "1/", "1,000", ".", "(", ")", "+", "*",
    "{\"a\": 1}", "<tool_call>", "</tool_call>", "<|im_end|>", "def f(x):\n    return x\n", "import os\n", "的", "é",
    "\u200b", "\x00", "\ud800", "\U0001f600", "\r\n", "First, ", "1. a\n", "\\frac{1}{2}", "\\sqrt", "^", "NaN",
    "the quick brown fox jumps over the lazy dog ", "wo ist das Haus und wer hat es gebaut ", "我们首先把两个数相加",
    "1e999",
]  # fmt: skip
TEXTS: Final = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join),
    st.binary(max_size=60).map(repr),
)
EXAMPLES: Final = {"math": 40, "code": 8}
"""Fewer examples where one means work in another process."""


@pytest.mark.parametrize("name", NAMES)
def test_any_text_gets_a_verdict_that_keeps_the_contract(name: str) -> None:
    """No string makes a verifier fail; scores are inside the range; reasons are documented; verdicts repeat."""

    @settings(
        max_examples=EXAMPLES.get(name, 60), deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
    )
    @given(st.lists(TEXTS, min_size=1, max_size=3), st.sampled_from([0.0, 1.0]), st.booleans())
    def holds(texts: list[str], of: float, truncated: bool) -> None:
        got = verdicts_on(name, texts, of, truncated=truncated)
        verifier = build(name)
        low, high = verifier.range
        for verdict in got:
            # `judge` turns a raised exception, a score out of range and an unknown reason into `error`.
            assert verdict.status is not Status.ERROR, verdict
            assert (verdict.score is None) is (verdict.status is not Status.SCORED)
            assert verdict.score is None or low <= verdict.score <= high
            assert str(verdict.reason) in verifier.known_reasons()
            json.dumps(verdict.as_row())
        assert verdicts_on(name, texts, of, truncated=truncated) == got

    holds()


@pytest.mark.parametrize("name", [n for n in NAMES if get(n).scope == "sample"])
def test_the_same_text_gets_the_same_verdict_in_any_company(name: str) -> None:
    """A sample-scoped verdict depends on its own row alone: order and neighbours do not matter."""
    texts = ["", "x", str(rows(name)[0]["completion"]), "<think>a</think><answer>b</answer>", "\\boxed{4}"]
    forwards = verdicts_on(name, texts)
    backwards = verdicts_on(name, texts[::-1])[::-1]
    alone = [verdicts_on(name, [text])[0] for text in texts]
    assert forwards == backwards == alone


@pytest.mark.parametrize("name", [n for n in NAMES if get(n).scope == "group"])
def test_a_group_may_come_in_any_order(name: str) -> None:
    """Reordering the answers to a prompt reorders the verdicts and changes none."""
    texts = ["a", "a b c", "a b", "", "a b c d e f"]
    right = [1.0, 0.0, 1.0, 0.0, 1.0]
    row = rows(name)[0]
    samples = [
        sample_from(row, id=str(i), completion=text, num_tokens=len(text.split()) * 10) for i, text in enumerate(texts)
    ]
    of = [Verdict.scored(score) for score in right]
    verifier = build(name)
    assert judge(verifier, samples[::-1], of[::-1])[::-1] == judge(verifier, samples, of)


@pytest.mark.parametrize("blank", ["", " ", "\n\n", "\u200b", "\u00a0\t"])
@pytest.mark.parametrize("name", NAMES)
def test_the_empty_completion_is_never_paid(name: str, blank: str) -> None:
    """Nothing written earns nothing (penalties may leave it at 0)."""
    for verdict in verdicts_on(name, [blank, blank]):
        assert verdict.score is None or verdict.score <= 0, verdict


@pytest.mark.parametrize("name", NAMES)
def test_a_chat_message_is_judged_as_its_text(name: str) -> None:
    """A completion as messages gets the verdict of its text (huggingface/open-r1#567: `len` of it counted messages)."""
    row = rows(name)[0]
    text = row["completion"]
    verifier = build(name)
    of = [Verdict.scored(1.0)] if verifier.reads_of else None
    plain = judge(verifier, [sample_from(row)], of)
    chat = judge(verifier, [sample_from(row, completion=[{"role": "assistant", "content": text}])], of)
    assert chat == plain


@pytest.mark.parametrize("name", [n for n in NAMES if get(n).needs])
def test_a_row_without_what_it_needs_is_invalid(name: str) -> None:
    """Missing data is the data set's fault and never a number."""
    verifier = build(name)
    of = [Verdict.scored(1.0)] if verifier.reads_of else None
    for field in verifier.needs:
        (verdict,) = judge(verifier, [sample_from(rows(name)[0], **{field: None})], of)
        assert verdict.status is Status.INVALID
        assert verdict.reason == Reason.MISSING_FIELD
        assert field in verdict.detail


@pytest.mark.parametrize("name", [n for n in NAMES if get(n).reads_of])
@pytest.mark.parametrize(
    "read",
    [Verdict.invalid("missing_field"), Verdict.error("exception"), Verdict.skipped()],
    ids=lambda v: v.status.value,
)
def test_what_it_reads_must_have_a_score(name: str, read: Verdict) -> None:
    """An unscored component leaves the row unscored, with the same status, and leaves the group's numbers alone."""
    row = rows(name)[0]
    samples = [sample_from(row, id=str(i), num_tokens=n) for i, n in enumerate((10, 20, 100_000))]
    right = Verdict.scored(1.0)
    got = judge(build(name), samples, [right, right, read])
    assert got[2].status is read.status
    assert got[2].reason == Reason.DEPENDS_UNSCORED
    assert got[:2] == judge(build(name), samples[:2], [right, right])


# ---------------------------------------------------------------- time

HOSTILE: Final[Mapping[str, Callable[[int], str]]] = {
    unit if unit.isprintable() else repr(unit): (lambda n, unit=unit: unit * (n // len(unit)))  # type: ignore[misc]
    for unit in (
        "<think>", "</think>", "<answer>x</answer>", "<think>a</think><answer>b</answer>", "\\boxed{", "\\boxed{1} ",
        "{", "[", "(", '"', "\\", "\\(", "$", "`", "```\n", "```python\nx\n```\n", "\n", " ", "a", "a ", "A or ", "1",
        "1,", "1/", "1 + ", "-", "- x\n", "1. x\n", "#### ", "Answer: 1\n", "the answer is ", "的",
        "<tool_call>", '<tool_call>{"name": "f", "arguments": {}}</tool_call>', '{"a":', "<|im_end|>", "\\text{",
        "\\frac{1}{", "First, ", "def f(x):\n", "é\u0301", "a" * 30 + "!", "x=1;",
        ": Then,", "\\boxed{\\,}", "- x\n    ```\n", "<answer>.</answer>",
    )
}  # fmt: skip
MIXED: Final = "".join(family(45_000) for family in HOSTILE.values())[:2_000_000]


def cpu_seconds(name: str, text: str) -> float:
    start = time.process_time()
    verdicts_on(name, [text], 1.0)
    return time.process_time() - start


@pytest.mark.parametrize("name", NAMES)
def test_two_megabytes_of_hostile_text_take_less_than_two_seconds(name: str) -> None:
    """CPU time of this process, on a mixture of everything above and on its two most expensive parts alone.

    A busy neighbour on the same core costs cache misses, which count as CPU time: a slow run gets two more tries.
    """
    verdicts_on(name, ["warm"], 1.0)
    small = {label: cpu_seconds(name, family(20_000)) for label, family in HOSTILE.items()}
    slowest = sorted(small, key=small.__getitem__)[-2:]
    texts = {"mixed": MIXED, **{label: HOSTILE[label](2_000_000) for label in slowest}}
    for label, text in texts.items():
        took = cpu_seconds(name, text)
        for _ in range(2):
            took = took if took < 2.0 else min(took, cpu_seconds(name, text))
        assert took < 2.0, f"{label}: {took:.2f} s"


@pytest.mark.parametrize("name", NAMES)
def test_twice_the_text_takes_at_most_two_point_six_times_as_long(name: str) -> None:
    """Over three doublings, for each kind of hostile text; below 2 ms is noise, and a slow run gets two more tries."""
    verdicts_on(name, ["warm"], 1.0)
    for label, family in HOSTILE.items():
        short, long = family(16_000), family(128_000)
        for attempt in range(3):
            before, after = cpu_seconds(name, short), cpu_seconds(name, long)
            if after <= 2.6**3 * max(before, 0.002):
                break
            assert attempt < 2, f"{label}: {before * 1000:.1f} ms for 16 kB, {after * 1000:.1f} ms for 128 kB"


def test_the_names_in_the_registry_are_the_ones_tested() -> None:
    """Every built-in name is covered above, and nothing is broken."""
    assert set(_BUILT_IN) <= set(NAMES)  # other test files may have registered verifiers of their own
    assert len(NAMES) > 25
