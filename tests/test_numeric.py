"""Golden rows of tests/cases/numeric.jsonl."""

from __future__ import annotations

from typing import Any

import pytest
from golden_rows import golden, hold, shared_rows
from hypothesis import given
from hypothesis import strategies as st

from rewards.numeric import Numeric, read_number
from rewards.verdict import Sample, Status


@pytest.mark.parametrize("row", golden("numeric"))
def test_golden_row(row: dict[str, Any]) -> None:
    """What the row says, for the reason that it gives."""
    hold(row)


@given(
    st.integers(-(10**12), 10**12), st.sampled_from(["{:d}", "{:,}", "\\boxed{{{:d}}}", "${:,}", "x = {:d}", "{:d} km"])
)
def test_a_number_is_read_as_it_is_written(number: int, form: str) -> None:
    """Signs, thousands, boxes, currency, equations, units."""
    text = form.format(number)
    assert read_number(text.replace("\\boxed{", "").rstrip("}")) == number
    assert Numeric().verify(Sample(completion=f"\\boxed{{{number}}}", gold=text)).score == 1.0


@pytest.mark.parametrize("name", ["gsm8k_openai2021", "gsm8k_qwen2_5-3b-instruct", "gsm8k_test_rho-math-7b-v0_1"])
def test_labelled_solutions_are_judged_as_labelled(name: str) -> None:
    """Real completions of several models; a label stands for the gold as mathematics."""
    rows = shared_rows("data", "math", f"{name}.jsonl.gz")
    rows = [row for row in rows if row["label"] is not None]
    wrong = []
    for row in rows:
        verdict = Numeric().verify(Sample(completion=row["completion"], gold=row["answer"], prompt=row["prompt"]))
        if (verdict.score == 1.0) is not row["label"]:
            wrong.append((row["id"], verdict.reason, verdict.extracted, row["answer"]))
    assert len(wrong) <= len(rows) // 1000, wrong[:10]


def test_every_gold_of_gsm8k_is_readable_and_right_by_itself() -> None:
    """The gold passes its own verifier, as a whole solution and as its number."""
    for row in shared_rows("data", "tasks", "gsm8k_test.jsonl.gz"):
        verdict = Numeric().verify(Sample(completion=f"#### {row['answer']}", gold=f"It is so.\n#### {row['answer']}"))
        assert verdict.status is Status.SCORED, (row["id"], verdict)
        assert verdict.score == 1.0, (row["id"], verdict)
