"""Golden rows of tests/cases/structured_output.jsonl."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from golden_rows import golden, hold
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rewards.expression import Reward
from rewards.format_checks import Fault
from rewards.structured_output import JsonSchema, Parsed, ToolCalls, _validator, parse_json
from rewards.verdict import Sample, Status


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


def test_a_schema_comes_from_a_file_by_its_path(tmp_path: Path) -> None:
    """A reward expression has no place for a mapping; the content counts, not the path, and is read once."""
    schema = {"type": "object", "required": ["answer"]}
    path = tmp_path / "answer.schema.json"
    path.write_text(json.dumps(schema, sort_keys=True), encoding="utf-8")
    reward = Reward.parse(f'json_schema(schema="{path}")')
    assert (
        reward.components["json_schema"].fingerprint == JsonSchema(spec=json.dumps(schema, sort_keys=True)).fingerprint
    )
    path.unlink()
    results = reward.score([Sample(completion='{"answer": 3}'), Sample(completion='{"other": 3}')])
    assert [result.reward for result in results] == [1.0, 0.0]
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"function": {"name": "add", "parameters": {}}}]), encoding="utf-8")
    assert ToolCalls(tools=str(tools)) == ToolCalls(tools={"add": {}})


@pytest.mark.parametrize("value", ["nowhere.json", "", "\x00", ".", 7])
def test_a_file_that_cannot_be_read_is_named_with_what_is_allowed(value: Any) -> None:
    """When the verifier is built, not in the middle of a run; a row's own schema never opens a file."""
    with pytest.raises(ValueError, match="allowed: a mapping"):
        JsonSchema(schema=value)
    row = Sample(completion="{}", meta={"json_schema": value})
    assert JsonSchema().verify(row).status is Status.INVALID


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, 1.0, 1.5, -2.0, "", "a", "bb"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)  # fmt: skip
KEYWORDS: dict[str, st.SearchStrategy[Any]] = {
    "type": st.sampled_from(["object", "array", "string", "integer", "number", "boolean", "null", ["string", "null"]]),
    "required": st.lists(st.sampled_from("ab"), unique=True, max_size=2),
    "enum": st.lists(st.sampled_from(["", "a", "bb"]), min_size=1, unique=True),
    "const": st.sampled_from(["a", 1, True]),
    "minimum": st.integers(-2, 2),
    "exclusiveMaximum": st.sampled_from([0, 1.5]),
    "minLength": st.integers(0, 2),
    "maxItems": st.integers(0, 2),
    "minProperties": st.integers(0, 2),
    "title": st.just("t"),
    "$schema": st.sampled_from(
        ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"]
    ),
}
SCHEMAS = st.recursive(
    st.fixed_dictionaries({}, optional=KEYWORDS),
    lambda inner: st.fixed_dictionaries(
        {},
        optional=KEYWORDS
        | {
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "additionalProperties": inner | st.booleans(),
        },
    ),
    max_leaves=4,
)


@settings(max_examples=400, deadline=None)
@given(SCHEMAS, VALUES)
def test_the_quick_test_and_the_library_agree(schema: dict[str, Any], value: object) -> None:
    """Common schemas are tested without the library; it never comes to another verdict."""
    ready = _validator(json.dumps(schema))
    if ready.quick is not None:
        assert ready.quick(value) is ready.library.is_valid(value)
