"""Golden rows of tests/cases/reasoning_steps.jsonl."""

from __future__ import annotations

from typing import Any

import pytest
from golden_rows import golden, hold


@pytest.mark.parametrize("row", golden("reasoning_steps"))
def test_golden_row(row: dict[str, Any]) -> None:
    """What the row says, for the reason that it gives."""
    hold(row)
