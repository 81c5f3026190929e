"""Golden rows of tests/cases/structured_output.jsonl."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from golden_rows import golden, hold
from hypothesis import assume, given
from hypothesis import strategies as st

from rewards.format_checks import Fault
from rewards.structured_output import JsonSchema, Parsed, _validator, parse_json
from rewards.verdict import Sample


@pytest.mark.parametrize("row", golden("structured_output"))
def test_golden_row(row: dict[str, Any]) -> None:
    """What the row says, for the reason that it gives."""
    hold(row)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_what_was_written_is_what_is_read(value: object) -> None:
    """Every JSON value comes back, bare and in a fence."""
    text = json.dumps(value)
    got = parse_json(text)
    assert isinstance(got, Parsed)
    assert got.value == value
    assume("</think>" not in text)  # what stands before it is reasoning, wherever it stands
    assert JsonSchema(spec="{}").verify(Sample(completion=f"```json\n{text}\n```")).score == 1.0


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing raises; what is read is what the standard reader reads."""
    got = parse_json(text)
    if isinstance(got, Parsed):
        assert got.value == json.loads(text.strip())
    else:
        assert isinstance(got, Fault)


def test_a_missing_package_is_named_with_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    """jsonschema is optional."""
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    _validator.cache_clear()
    with pytest.raises(ImportError, match="pip install jsonschema"):
        JsonSchema(spec='{"title": "never read before"}')
