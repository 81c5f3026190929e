"""Golden rows of tests/cases/language.jsonl."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from golden_rows import golden, hold, shared_rows

from rewards.language import LanguageConsistency, _identifier, prose
from rewards.verdict import Sample


@pytest.mark.parametrize("row", golden("language"))
def test_golden_row(row: dict[str, Any]) -> None:
    """What the row says, for the reason that it gives."""
    hold(row)


@pytest.mark.parametrize("name", ["gsm8k_qwen2_5-3b-instruct", "theoremqa_internlm2_math_20b_5shots_short"])
def test_english_solutions_are_english(name: str) -> None:
    """Real completions with formulas, code and names: fewer than one in 200 falls below 0.95."""
    rows = shared_rows("data", "math", f"{name}.jsonl.gz")
    scores = [LanguageConsistency().verify(Sample(completion=row["completion"])).score for row in rows[:400]]
    numbers = [score for score in scores if score is not None]
    assert len(numbers) > 300
    assert sum(score < 0.95 for score in numbers) <= len(numbers) // 200


def test_importing_it_loads_no_model() -> None:
    """The identifier and numpy come when a verifier is built, not before."""
    code = "import sys, rewards.language; print('py3langid' in sys.modules, 'numpy' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "False"]


def test_a_missing_identifier_is_named_with_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    """py3langid is optional."""
    monkeypatch.setitem(sys.modules, "py3langid.langid", None)
    _identifier.cache_clear()
    with pytest.raises(ImportError, match="pip install"):
        LanguageConsistency()


def test_prose_is_what_is_left_without_code_and_formulas() -> None:
    """Words stay, and words in a formula's text command stay."""
    text = "Let $x_1 = \\frac{a}{b}$ be `code` with var_name and 42.\n```py\nfor i in x: pass\n```\n"
    text += "\\[y \\text{ so }\\] end"
    assert prose(text).split() == ["Let", "be", "with", "and", ".", "so", "end"]
