"""JSON that validates against a schema, and tool calls that name a tool and give it fitting arguments.

The text is measured before it is parsed: characters, nesting depth and digits have limits (below), so a parser is
never handed something that it could drown in; a text over a limit is the completion's own fault.
"""

from __future__ import annotations

import functools
import json
import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AliasChoices, BeforeValidator, Field, field_validator, model_validator

from rewards.format_checks import EndTokens, Fault, answer_start, encodable, fences, safe_pattern, without_end_tokens
from rewards.registry import Verifier, register
from rewards.verdict import Reason, Sample, Verdict

MAX_JSON_CHARS: Final = 100_000
MAX_JSON_DEPTH: Final = 40
MAX_JSON_DIGITS: Final = 300
MAX_STARTS: Final = 16
"""How many opening brackets are tried as the start of a JSON value when it may stand anywhere."""

# A string that never closes matches up to the end, so that no position is ever scanned twice.
_STRING_OR_BRACKET: Final = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)


# ---------------------------------------------------------------- reading JSON


@dataclass(frozen=True, slots=True)
class Parsed:
    """A JSON value that was read, and the text it was read from."""

    value: Any
    text: str


class _Refused(ValueError):
    """Raised by the hooks of the JSON reader; carries the reason code."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def _whole_number(digits: str) -> int:
    if len(digits) > MAX_JSON_DIGITS:
        raise _Refused(Reason.OVER_LIMIT, f"a number of {len(digits)} digits; at most {MAX_JSON_DIGITS} are read")
    return int(digits)


def _real_number(digits: str) -> float:
    number = float(digits) if len(digits) <= MAX_JSON_DIGITS else math.inf
    if not math.isfinite(number):
        raise _Refused(Reason.OVER_LIMIT, f"the number {digits[:20]}... does not fit a 64-bit float")
    return number


def _no_constant(name: str) -> Any:
    raise _Refused("not_json", f"{name} is not JSON")


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise _Refused("duplicate_key", f"the key {twice[:80]!r} stands twice in one object")
    return out


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_once_each, parse_constant=_no_constant, parse_int=_whole_number, parse_float=_real_number
)


def _bracket_end(text: str, start: int) -> int | None:
    """The offset behind the bracket that closes the one at `start`; None when it is never closed or nests too deep."""
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text, start):
        first = text[token.start()]
        if first in "[{":
            depth += 1
            if depth > MAX_JSON_DEPTH:
                return None
        elif first in "]}":
            depth -= 1
            if depth == 0:
                return token.end()
    return None


def _depth(text: str) -> int:
    """How deep brackets nest outside strings; any number within the limit where there are too few to cross it."""
    if text.count("[") + text.count("{") <= MAX_JSON_DEPTH:
        return 0
    depth = deepest = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        first = text[token.start()]
        depth += (first in "[{") - (first in "]}")
        deepest = max(deepest, depth)
    return deepest


def parse_json(text: str) -> Parsed | Fault:
    """The JSON value that `text` is, read strictly: no NaN, no key twice in an object, within the limits above."""
    text = text.strip()
    if not text:
        return Fault("empty", "nothing to read as JSON")
    if len(text) > MAX_JSON_CHARS:
        return Fault(Reason.OVER_LIMIT, f"{len(text)} characters; JSON of at most {MAX_JSON_CHARS} is read")
    deepest = _depth(text)
    if deepest > MAX_JSON_DEPTH:
        return Fault(Reason.OVER_LIMIT, f"nested {deepest} deep; at most {MAX_JSON_DEPTH} is read")
    try:
        return Parsed(_DECODER.decode(text), text)
    except _Refused as refused:
        return Fault(refused.reason, str(refused))
    except json.JSONDecodeError as error:
        return Fault("not_json", f"line {error.lineno}, column {error.colno}: {error.msg}")


def find_json(text: str, where: Literal["whole", "anywhere"]) -> Parsed | Fault:
    """The JSON value of an answer: the whole of it or its only fence; with `anywhere`, the last fence or else the
    first bracket of at most `MAX_STARTS` that starts a JSON value."""
    bare = text.strip()
    found = fences(bare)
    if where == "whole":
        alone = len(found) == 1 and found[0].closed and found[0].start == 0 and bare.endswith(("```", "~~~"))
        return parse_json(found[0].content if alone else bare)
    inside = next((fence for fence in reversed(found) if fence.language in ("json", "") and fence.closed), None)
    if inside is not None:
        return parse_json(inside.content)
    if len(bare) > MAX_JSON_CHARS:
        return Fault(Reason.OVER_LIMIT, f"{len(bare)} characters; JSON is looked for in at most {MAX_JSON_CHARS}")
    whole = parse_json(bare)
    if isinstance(whole, Parsed):
        return whole
    fault = whole if not re.search(r"[\[{]", bare) else None
    for start in list(re.finditer(r"[\[{]", bare))[:MAX_STARTS]:
        end = _bracket_end(bare, start.start())
        got = parse_json(bare[start.start() : end]) if end is not None else Fault("not_json", "a bracket never closes")
        if isinstance(got, Parsed):
            return got
        fault = fault or got
    return fault or whole


# ---------------------------------------------------------------- schemas


def _walk(node: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(node, Mapping):
        yield node
        for value in node.values():
            yield from _walk(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _walk(value)


def _points_at_something(schema: Any, pointer: str) -> bool:
    node = schema
    for part in pointer.removeprefix("#").strip("/").split("/"):
        part = part.replace("~1", "/").replace("~0", "~")
        if part == "":
            continue
        if isinstance(node, Mapping) and part in node:
            node = node[part]
        elif isinstance(node, list) and part.isdigit() and int(part) < len(node):
            node = node[int(part)]
        else:
            return False
    return True


def _pattern_keyword(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and safe_pattern(pattern).search(encodable(instance)) is None:
        yield ValidationError(f"{instance[:80]!r} does not match {pattern!r}")


def _unique_keyword(_validator: Any, wanted: bool, instance: Any, _schema: Any) -> Iterator[Any]:
    # jsonschema's own compares pairs when items do not sort: quadratic on a text that a model can write.
    from jsonschema.exceptions import ValidationError

    if wanted and isinstance(instance, list):
        keys = {json.dumps(item, sort_keys=True) for item in instance}
        if len(keys) != len(instance):
            yield ValidationError("an item stands twice in the list")


_Test = Callable[[Any], bool]
_NOTES: Final = frozenset(
    "$schema $comment $defs definitions title description default examples deprecated readOnly writeOnly format".split()
)
_TYPES: Final[Mapping[str, _Test]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (
        (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())
    ),
}
_SIZES: Final[Mapping[str, tuple[type, Callable[[Any, Any], bool]]]] = {
    "minLength": (str, operator.ge), "maxLength": (str, operator.le),
    "minItems": (list, operator.ge), "maxItems": (list, operator.le),
    "minProperties": (dict, operator.ge), "maxProperties": (dict, operator.le),
}  # fmt: skip
_BOUNDS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "minimum": operator.ge, "maximum": operator.le, "exclusiveMinimum": operator.gt, "exclusiveMaximum": operator.lt,
}  # fmt: skip


def _test_for(schema: Any) -> _Test | None:
    """Whether a value validates, as one function; None for a schema that uses more than the common keywords.

    The library walks the schema anew for every value, at some 10 us a node; most schemas say little more than types,
    properties and bounds. What is wrong with a value is the library's to say.
    """
    if isinstance(schema, bool):
        return lambda value: schema
    if not isinstance(schema, Mapping) or "2020-12" not in schema.get("$schema", "2020-12"):
        return None
    tests: list[_Test] = []
    for keyword, argument in schema.items():
        if keyword in _NOTES:
            continue
        test = _keyword_test(keyword, argument, schema)
        if test is None:
            return None
        tests.append(test)
    return _all_of(tests)


def _members_test(members: Sequence[tuple[str, _Test]]) -> _Test:
    def test(value: Any) -> bool:
        if isinstance(value, dict):
            for name, one in members:
                if name in value and not one(value[name]):
                    return False
        return True

    return test


def _required_test(names: Sequence[str]) -> _Test:
    def test(value: Any) -> bool:
        if isinstance(value, dict):
            for name in names:
                if name not in value:
                    return False
        return True

    return test


def _all_of(tests: Sequence[_Test]) -> _Test:
    if len(tests) == 1:
        return tests[0]

    def test(value: Any) -> bool:
        for one in tests:  # noqa: SIM110 - `all` over a generator costs twice as much
            if not one(value):
                return False
        return True

    return test


def _keyword_test(keyword: str, argument: Any, schema: Mapping[str, Any]) -> _Test | None:
    match keyword:
        case "type":
            kinds = [_TYPES[name] for name in ([argument] if isinstance(argument, str) else argument)]
            return kinds[0] if len(kinds) == 1 else lambda value: any(kind(value) for kind in kinds)
        case "properties":
            inner = {name: _test_for(one) for name, one in argument.items()}
            ready = [(name, one) for name, one in inner.items() if one is not None]
            return _members_test(ready) if len(ready) == len(inner) else None
        case "required":
            return _required_test(argument)
        case "items":
            each = _test_for(argument) if "prefixItems" not in schema else None
            return None if each is None else lambda value: not isinstance(value, list) or all(map(each, value))
        case "additionalProperties":
            more = _test_for(argument)
            known = frozenset(schema.get("properties", ()))
            return (
                None
                if more is None
                else lambda value: (
                    not isinstance(value, dict) or all(more(item) for name, item in value.items() if name not in known)
                )
            )
        case "enum" if all(isinstance(choice, str) for choice in argument):
            choices = frozenset(argument)
            return lambda value: isinstance(value, str) and value in choices
        case "const" if isinstance(argument, str):
            return lambda value: isinstance(value, str) and value == argument
        case _ if keyword in _BOUNDS:
            holds, number = _BOUNDS[keyword], _TYPES["number"]
            return lambda value: not number(value) or holds(value, argument)
        case _ if keyword in _SIZES:
            kind, compare = _SIZES[keyword]
            return lambda value: not isinstance(value, kind) or compare(len(value), argument)  # type: ignore[arg-type]
    return None


@functools.lru_cache(maxsize=256)
def _validator(schema_text: str) -> _Ready:
    """A validator for a schema given as JSON text.

    Raises:
        ImportError: jsonschema is not installed; says what to type.
        ValueError: not a schema, or one that this reader does not support.
    """
    try:
        from jsonschema import validators
        from jsonschema.exceptions import SchemaError
    except ImportError:
        raise ImportError(
            "JSON schemas need the package jsonschema, which is missing here. "
            "Type: pip install 'grpo-rewards[structure]', or pip install jsonschema"
        ) from None
    try:
        schema = json.loads(schema_text)
    except json.JSONDecodeError as error:
        raise ValueError(f"the schema is not JSON: {error}") from None
    if not isinstance(schema, dict):
        raise ValueError(f"the schema is a {type(schema).__name__}; a JSON Schema is an object")
    for node in _walk(schema):
        reference = node.get("$ref")
        if isinstance(reference, str) and not (reference.startswith("#") and _points_at_something(schema, reference)):
            raise ValueError(f"$ref {reference!r} points at nothing in the schema; other documents are never fetched")
        if isinstance(node.get("patternProperties"), Mapping):
            raise ValueError("patternProperties is not supported; list the properties, or use propertyNames")
        if isinstance(node.get("pattern"), str):
            safe_pattern(node["pattern"])
    base = validators.validator_for(schema, default=validators.validator_for({}))
    try:
        base.check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"not a JSON Schema: {error.message} at {error.json_path}") from None
    cls: Any = validators.extend(base, {"pattern": _pattern_keyword, "uniqueItems": _unique_keyword})  # type: ignore[no-untyped-call]
    ready = cls(schema)
    try:
        probes: tuple[Any, ...] = ({}, [], "", 0, None)
        for probe in probes:
            ready.is_valid(probe)
    except RecursionError:
        raise ValueError("the schema refers to itself without end") from None
    return _Ready(ready, _test_for(schema))


@dataclass(frozen=True, slots=True)
class _Ready:
    """A checked schema: the library's validator, and where the schema is a common one its quick test."""

    library: Any
    quick: _Test | None


def schema_text(schema: Any) -> str:
    """A schema given as a mapping or as JSON text, as canonical JSON text."""
    return schema if isinstance(schema, str) else json.dumps(schema, sort_keys=True, default=dict)


def _schema_fault(ready: _Ready, value: Any) -> str | None:
    """The first violation as `$.path: message`, or None."""
    if ready.quick is not None and ready.quick(value):
        return None
    error = next(ready.library.iter_errors(value), None)
    return None if error is None else f"{error.json_path}: {error.message}"[:300]


def _from_file(value: Any) -> Any:
    """`"answer.schema.json"`, which is what a reward expression can say, as the JSON text that the file holds.

    Read once, when the verifier is built: the fingerprint is that of the content, and workers need no file.
    """
    if value is None or isinstance(value, Mapping | list | tuple):
        return value
    if not isinstance(value, str):
        raise ValueError(f"is a {type(value).__name__}; allowed: a mapping, its JSON text, or the path of a JSON file")
    if value.lstrip().startswith(("{", "[")):
        return value
    try:
        return Path(value).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ValueError(
            f"{value[:80]!r} is neither JSON text nor a file that can be read ({why}); allowed: a mapping, its JSON "
            "text, or the path of a JSON file, seen from the folder where the command runs"
        ) from None


FromFile = BeforeValidator(_from_file)


class JsonSchemaParams(EndTokens):
    """Parameters of `json_schema`."""

    spec: Annotated[str | dict[str, Any] | None, FromFile] = Field(
        default=None, validation_alias=AliasChoices("spec", "schema")
    )
    """The JSON Schema: a mapping, its JSON text, or the path of a file that holds it; may also be called `schema`.
    Without it each row brings its own in `meta["json_schema"]`."""
    where: Literal["whole", "anywhere"] = "whole"
    """`whole`: the answer is the JSON value and nothing else, bare or in one code fence. `anywhere`: the last fence, or
    the first JSON object or list in the answer."""

    @model_validator(mode="after")
    def _is_a_schema(self) -> JsonSchemaParams:
        if self.spec is not None:
            _validator(schema_text(self.spec))
        return self


@register("json_schema")
class JsonSchema(Verifier[JsonSchemaParams]):
    """1 when the answer part is JSON that validates against a JSON Schema, else 0 with the first violation.

    JSON is read strictly: no NaN, no key twice in an object. Patterns run on RE2; formats are not checked.
    """

    reasons: ClassVar[Mapping[str, str]] = {
        "empty": "the answer is empty",
        "not_json": "the answer is not JSON",
        "duplicate_key": "a key stands twice in one object",
        "schema_violation": "the JSON does not validate",
        "bad_schema": "the row's schema cannot be used",
    }
    source = "JSON Schema 2020-12, https://json-schema.org/specification"
    example: ClassVar[Mapping[str, Any]] = {
        "params": {"spec": {"type": "object", "required": ["answer"], "properties": {"answer": {"type": "integer"}}}},
        "completion": '{"answer": 15}',
    }

    def verify(self, sample: Sample) -> Verdict:
        p = self.params
        ready = _row_validator(p.spec if p.spec is not None else sample.meta.get("json_schema"))
        if isinstance(ready, Fault):
            return Verdict.invalid(ready.reason, ready.detail)
        text = without_end_tokens(sample.text, p.strip_tokens)
        got = find_json(text[answer_start(text) :], p.where)
        if isinstance(got, Fault):
            return Verdict.scored(0.0, Reason.TRUNCATED if sample.truncated else got.reason, got.detail)
        violation = _schema_fault(ready, got.value)
        if violation is not None:
            return Verdict.scored(0.0, "schema_violation", violation, extracted=got.text)
        return Verdict.scored(1.0, extracted=got.text)


def _row_validator(schema: Any) -> _Ready | Fault:
    if schema is None:
        return Fault(Reason.MISSING_FIELD, "no schema: give spec=..., or meta['json_schema'] in each row")
    try:
        return _validator(schema_text(schema))
    except (ValueError, TypeError) as error:
        return Fault("bad_schema", str(error))


# ---------------------------------------------------------------- tool calls


class ToolCallParams(EndTokens):
    """Parameters of `tool_calls`."""

    template: Literal["hermes", "qwen_xml", "llama", "mistral", "deepseek"] = "hermes"
    """How the chat template writes calls; see the class."""
    tag: str = Field(default="tool_call", pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$")
    """Name of the block that holds one call, for `hermes` and `qwen_xml`."""
    tools: Annotated[str | dict[str, Any] | None, FromFile] = None
    """Tool name to the JSON Schema of its arguments, or the list that chat templates take: as such, as JSON text, or
    as the path of a file that holds it. Without it the row's `meta["tools"]` counts; without both, any name is fine."""
    min_calls: int = Field(default=1, ge=1)
    """Fewer calls are `no_call`."""
    max_calls: int | None = Field(default=None, ge=1)
    """More calls are `too_many_calls`; without it any number is fine."""

    @field_validator("tools")
    @classmethod
    def _tools(cls, tools: Any) -> Any:
        return None if tools is None else _tool_schemas(tools)

    @model_validator(mode="after")
    def _order(self) -> ToolCallParams:
        if self.max_calls is not None and self.max_calls < self.min_calls:
            raise ValueError(f"min_calls is {self.min_calls} and max_calls {self.max_calls}: no completion can pass")
        return self


def _tool_schemas(tools: Any) -> dict[str, Any]:
    """Tool name to schema, from a mapping, its JSON text, or the list of `{"function": {...}}` of chat templates.

    Raises:
        ValueError: anything else, or a schema that is none.
    """
    if isinstance(tools, str):
        try:
            tools = json.loads(tools)
        except json.JSONDecodeError as error:
            raise ValueError(f"tools is not JSON: {error}") from None
    if isinstance(tools, Sequence) and not isinstance(tools, str):
        functions = [tool.get("function", tool) if isinstance(tool, Mapping) else None for tool in tools]
        if not all(isinstance(f, Mapping) and isinstance(f.get("name"), str) for f in functions):
            raise ValueError("each tool needs a name; allowed: {'function': {'name': ..., 'parameters': {...}}}")
        tools = {f["name"]: f.get("parameters", {}) for f in functions if isinstance(f, Mapping)}
    if not isinstance(tools, Mapping):
        raise ValueError(f"tools is a {type(tools).__name__}; allowed: a mapping of tool name to JSON Schema")
    for schema in tools.values():
        _validator(schema_text(schema))
    return dict(tools)


@register("tool_calls")
class ToolCalls(Verifier[ToolCallParams]):
    """1 when every tool call of the answer is one that can be made, and there are as many as asked for.

    Each call names one of `tools`, and its arguments are an object (or that object as JSON text) that validates. Chat
    completions with structured `tool_calls` are judged on those; texts by the template that wrote them:

        hermes      <tool_call>{"name": ..., "arguments": {...}}</tool_call>            Hermes, Qwen 2.5 and 3
        qwen_xml    <tool_call><function=f><parameter=x>1</parameter></function></tool_call>      Qwen3-Coder
        llama       {"name": ..., "parameters": {...}}   alone, behind <|python_tag|> or not; several joined by ;
        mistral     [TOOL_CALLS][{"name": ..., "arguments": {...}}]   or   [TOOL_CALLS]f[ARGS]{...}
        deepseek    <｜tool▁call▁begin｜>f<｜tool▁sep｜>{...}<｜tool▁call▁end｜>
                    V3.1; R1 and V3 write "function" before the separator, the name and a ```json fence behind it

    Blocks are closed and not nested. Calls inside the reasoning do not count. Special tokens must still be in the
    text: decode with `skip_special_tokens=False`.
    """

    reasons: ClassVar[Mapping[str, str]] = {
        "no_call": "no tool call, or fewer than asked for",
        "too_many_calls": "more tool calls than allowed",
        "unclosed_call": "a block is not closed, or closed without being open",
        "not_json": "a block does not hold JSON",
        "duplicate_key": "a key stands twice in one object",
        "bad_call": "a call has no name, or its arguments are not an object",
        "unknown_tool": "no tool has that name",
        "bad_arguments": "the arguments do not validate",
        "bad_schema": "the row's tools cannot be used",
        "empty": "a block is empty",
    }
    source = "the chat templates of Hermes, Qwen, Llama 3.1, Mistral and DeepSeek"
    example: ClassVar[Mapping[str, Any]] = {
        "completion": '<tool_call>\n{"name": "search", "arguments": {"query": "GRPO"}}\n</tool_call>',
    }

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        tools = self.params.tools
        self._texts = {name: schema_text(schema) for name, schema in tools.items()} if isinstance(tools, dict) else {}

    def verify(self, sample: Sample) -> Verdict:
        given = self.params.tools
        tools = given if isinstance(given, dict) else _row_tools(sample.meta.get("tools"))
        if isinstance(tools, Fault):
            return Verdict.invalid(tools.reason, tools.detail)
        calls = self._calls(sample)
        fault = calls if isinstance(calls, Fault) else self._fault(calls, tools)
        if fault is not None:
            return Verdict.scored(0.0, fault.reason, fault.detail)
        return Verdict.scored(1.0, parts={"calls": calls})

    def _fault(self, calls: list[dict[str, Any]], tools: dict[str, Any] | None) -> Fault | None:
        p = self.params
        if len(calls) < p.min_calls:
            return Fault("no_call", f"{len(calls)} tool calls; at least {p.min_calls}")
        if p.max_calls is not None and len(calls) > p.max_calls:
            return Fault("too_many_calls", f"{len(calls)} tool calls; at most {p.max_calls}")
        for number, call in enumerate(calls, 1):
            if tools is None:
                continue
            if call["name"] not in tools:
                return Fault("unknown_tool", f"call {number}: no tool {call['name'][:80]!r}")
            schema = tools[call["name"]]
            text = self._texts[call["name"]] if tools is self.params.tools else schema_text(schema)
            violation = _schema_fault(_validator(text), _typed(call["arguments"], schema))
            if violation is not None:
                return Fault("bad_arguments", f"call {number}: {violation}")
        return None

    def _calls(self, sample: Sample) -> list[dict[str, Any]] | Fault:
        out: list[dict[str, Any]] = []
        for value in self._raw_calls(sample):
            if isinstance(value, Fault):
                return value
            call = _as_call(value, len(out) + 1)
            if isinstance(call, Fault):
                return call
            out.append(call)
        return out

    def _raw_calls(self, sample: Sample) -> Iterator[Any]:
        """The JSON value of each call, in order; a `Fault` for one that cannot be read."""
        if not isinstance(sample.completion, str):
            structured = [call for message in sample.completion for call in message.get("tool_calls") or ()]
            if structured:
                yield from (call.get("function", call) if isinstance(call, Mapping) else call for call in structured)
                return
        text = without_end_tokens(sample.text, self.params.strip_tokens)
        yield from _TEMPLATES[self.params.template](text[answer_start(text) :], self.params.tag, bool(sample.truncated))


def _unclosed(opening: str, truncated: bool) -> Fault:
    return Fault(Reason.TRUNCATED if truncated else "unclosed_call", f"the last {opening} never closes")


def _blocks(text: str, opening: str, closing: str, truncated: bool) -> Iterator[str | Fault]:
    """What stands in each block, in order; a `Fault` for the first tag that does not fit."""
    inside: int | None = None
    for tag in re.finditer(f"{re.escape(opening)}|{re.escape(closing)}", text):
        if (tag.group() == opening) is (inside is not None):
            belongs = closing if inside is not None else opening
            yield Fault("unclosed_call", f"{tag.group()} where {belongs} belongs")
            return
        if inside is None:
            inside = tag.end()
            continue
        yield text[inside : tag.start()]
        inside = None
    if inside is not None:
        yield _unclosed(opening, truncated)


def _value(got: Parsed | Fault) -> Any:
    return got.value if isinstance(got, Parsed) else got


def _hermes(text: str, tag: str, truncated: bool) -> Iterator[Any]:
    for block in _blocks(text, f"<{tag}>", f"</{tag}>", truncated):
        yield block if isinstance(block, Fault) else _value(parse_json(block))


_XML_FUNCTION: Final = re.compile(r"\s*<function=([^<>\s]+)>(.*)</function>\s*", re.DOTALL)
_XML_PARAMETER: Final = re.compile(r"<parameter=([^<>\s]+)>|</parameter>")


def _qwen_xml(text: str, tag: str, truncated: bool) -> Iterator[Any]:
    for block in _blocks(text, f"<{tag}>", f"</{tag}>", truncated):
        yield block if isinstance(block, Fault) else _xml_call(block)


def _xml_call(block: str) -> Any:
    hit = _XML_FUNCTION.fullmatch(block)
    if hit is None:
        return Fault("bad_call", "a block is not <function=NAME> ... </function>")
    name, body = hit.groups()
    arguments: dict[str, str] = {}
    key: str | None = None
    at = 0
    for mark in _XML_PARAMETER.finditer(body):
        if (mark[1] is None) is (key is None):
            return Fault("unclosed_call", f"{mark.group()[:80]} does not fit")
        if key is None:
            if body[at : mark.start()].strip():
                return Fault("bad_call", f"text between the parameters of {name[:80]!r}")
            key, at = mark[1], mark.end()
            if key in arguments:
                return Fault("duplicate_key", f"the parameter {key[:80]!r} stands twice")
            continue
        # The template puts a line break behind the opening and before the closing tag.
        arguments[key] = body[at : mark.start()].removeprefix("\n").removesuffix("\n")
        key, at = None, mark.end()
    if key is not None or body[at:].strip():
        return Fault("unclosed_call", f"the parameters of {name[:80]!r} do not end")
    return {"name": name, "arguments": {key: _Untyped(value) for key, value in arguments.items()}}


class _Untyped(str):
    """An argument written without its type: it is what the tool's schema makes of it."""

    __slots__ = ()


def _typed(arguments: Mapping[str, Any], schema: Any) -> dict[str, Any]:
    """Arguments as the tool's schema types them: text stays text where it says `string`, else JSON is read."""
    properties = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
    out: dict[str, Any] = {}
    for name, value in arguments.items():
        if isinstance(value, _Untyped):
            wanted = properties.get(name, {}) if isinstance(properties, Mapping) else {}
            kind = wanted.get("type", "string") if isinstance(wanted, Mapping) else "string"
            got = None if kind == "string" else parse_json(value)
            out[name] = got.value if isinstance(got, Parsed) else str(value)
        else:
            out[name] = value
    return out


def _json_run(text: str, at: int) -> tuple[Parsed | Fault, int]:
    """The JSON object or list that starts at an offset, and where it ends."""
    end = _bracket_end(text, at) if text[at : at + 1] in ("{", "[") else None
    if end is None:
        return Fault("not_json", f"no whole JSON value in {text[at : at + 40]!r}"), at
    return parse_json(text[at:end]), end


_PYTHON_TAG: Final = "<|python_tag|>"


def _llama(text: str, tag: str, truncated: bool) -> Iterator[Any]:
    text = text.strip()
    if text.startswith(_PYTHON_TAG):
        text = text.removeprefix(_PYTHON_TAG)
    elif not text.startswith("{"):
        return  # prose: no call at all
    at = 0
    while (at := _skip(text, at, " \t\r\n;")) < len(text):
        got, end = _json_run(text, at)
        if isinstance(got, Fault):
            yield Fault(Reason.TRUNCATED, got.detail) if truncated else got
            return
        call = got.value
        if isinstance(call, Mapping) and "parameters" in call and "arguments" not in call:
            call = {"name": call.get("name"), "arguments": call["parameters"]}
        yield call
        at = end


_MISTRAL: Final = "[TOOL_CALLS]"
_MISTRAL_NAME: Final = re.compile(
    r"\s*([A-Za-z0-9_.-]{1,128})\s*(?:\[CALL_ID\][A-Za-z0-9]{1,64}\s*)?(?:\[ARGS\])?\s*(?=\{)"
)


def _mistral(text: str, tag: str, truncated: bool) -> Iterator[Any]:
    for piece in text.split(_MISTRAL)[1:]:
        named = _MISTRAL_NAME.match(piece)
        at = named.end() if named is not None else _skip(piece, 0, " \t\r\n")
        got, end = _json_run(piece, at)
        if isinstance(got, Parsed) and piece[end:].strip():
            got = Fault("bad_call", f"text behind a call: {piece[end:].strip()[:40]!r}")
        if isinstance(got, Fault):
            yield Fault(Reason.TRUNCATED, got.detail) if truncated else got
            return
        if named is not None:
            yield {"name": named[1], "arguments": got.value}
        elif isinstance(got.value, list):
            yield from got.value
        else:
            yield got.value


_DEEPSEEK: Final = "<\uff5ctool\u2581call\u2581begin\uff5c>", "<\uff5ctool\u2581call\u2581end\uff5c>"
_DEEPSEEK_SEPARATOR: Final = "<\uff5ctool\u2581sep\uff5c>"


def _deepseek(text: str, tag: str, truncated: bool) -> Iterator[Any]:
    for block in _blocks(text, *_DEEPSEEK, truncated):
        if isinstance(block, Fault):
            yield block
            return
        name, separator, arguments = block.partition(_DEEPSEEK_SEPARATOR)
        if not separator:
            yield Fault("bad_call", f"a call without {_DEEPSEEK_SEPARATOR}")
            return
        if name.strip() == "function":  # V3 and R1: the name on a line of its own, then a fence
            name, _, arguments = arguments.partition("\n")
        got = find_json(arguments, "whole")
        yield got if isinstance(got, Fault) else {"name": name.strip(), "arguments": got.value}


def _skip(text: str, at: int, characters: str) -> int:
    while at < len(text) and text[at] in characters:
        at += 1
    return at


_TEMPLATES: Final[Mapping[str, Callable[[str, str, bool], Iterator[Any]]]] = {
    "hermes": _hermes,
    "qwen_xml": _qwen_xml,
    "llama": _llama,
    "mistral": _mistral,
    "deepseek": _deepseek,
}


def _as_call(value: Any, number: int) -> dict[str, Any] | Fault:
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str) or not value["name"]:
        return Fault("bad_call", f"call {number} is not an object with a name")
    arguments = value.get("arguments", {})
    if isinstance(arguments, str):
        got = parse_json(arguments)
        if isinstance(got, Fault):
            return Fault("bad_call" if got.reason == "empty" else got.reason, f"call {number}, arguments: {got.detail}")
        arguments = got.value
    if not isinstance(arguments, Mapping):
        return Fault("bad_call", f"call {number}: arguments is a {type(arguments).__name__}, not an object")
    return {"name": value["name"], "arguments": dict(arguments)}


def _row_tools(tools: Any) -> dict[str, Any] | Fault | None:
    if tools is None:
        return None
    try:
        return _tool_schemas(tools)
    except ValueError as error:
        return Fault("bad_schema", str(error))
