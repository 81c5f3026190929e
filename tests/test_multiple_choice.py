"""Golden rows of tests/cases/multiple_choice.jsonl."""

from __future__ import annotations

from typing import Any

import pytest
from golden_rows import golden, hold, shared_rows
from hypothesis import given
from hypothesis import strategies as st

from rewards.multiple_choice import MultipleChoice
from rewards.verdict import Sample


@pytest.mark.parametrize("row", golden("multiple_choice"))
def test_golden_row(row: dict[str, Any]) -> None:
    """What the row says, for the reason that it gives."""
    hold(row)


@given(
    st.lists(st.sampled_from("ABCDEF"), min_size=2, max_size=6, unique=True),
    st.sampled_from([", ", " or ", "/", " and ", "\n", " ", "; ", ") ", ". "]),
    st.sampled_from(["\\boxed{{{}}}", "<answer>{}</answer>", "The answer is {}", "Answer: {}"]),
)
def test_several_letters_never_earn(letters: list[str], joint: str, form: str) -> None:
    """However they are joined and stated, and whichever of them is the gold."""
    text = form.format(joint.join(letters))
    for gold in letters:
        assert MultipleChoice().verify(Sample(completion=text, gold=gold)).score == 0.0, text


@given(st.sampled_from("ABCDEF"), st.sampled_from("ABCDEF"))
def test_one_letter_earns_exactly_where_it_is_the_gold(letter: str, gold: str) -> None:
    """In every form of statement."""
    for form in ("\\boxed{{{}}}", "<answer>({})</answer>", "The answer is {}.", "#### {}", "\\boxed{{\\text{{{}}}}}"):
        verdict = MultipleChoice().verify(Sample(completion=f"So.\n{form.format(letter)}", gold=gold))
        assert verdict.score == float(letter == gold), verdict


def test_labelled_answers_are_judged_as_labelled() -> None:
    """254 real completions on AQuA; two labels there are the source's own slips."""
    rows = shared_rows("data", "math", "aqua_qwen2_5-3b-instruct.jsonl.gz")
    wrong = [
        row["id"]
        for row in rows
        if (MultipleChoice().verify(Sample(completion=row["completion"], gold=row["answer"])).score == 1.0)
        is not row["label"]
    ]
    assert len(wrong) <= 2, wrong
