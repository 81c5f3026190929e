"""Golden rows of tests/cases/text_match.jsonl."""

from __future__ import annotations

from typing import Any

import pytest
from golden_rows import golden, hold


@pytest.mark.parametrize("row", golden("text_match"))
def test_golden_row(row: dict[str, Any]) -> None:
    """What the row says, for the reason that it gives."""
    hold(row)
