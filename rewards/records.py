"""Rows in and out: JSON lines, JSON arrays, Parquet; which field is which; files that are never half written.

Nothing is dropped in silence. A line that cannot be read becomes a `BadLine` with its `file:line`, is counted, and
gets a row of its own in the output, so that output line k belongs to input line k.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final

from rewards.registry import nearest
from rewards.verdict import Sample, message_text

MAX_LINE_BYTES: Final = 32 * 1024**2
"""A longer line is named and counted, not read: one 50 MB line is a broken export, not a completion."""
MAX_ARRAY_BYTES: Final = 2 * 1024**3

# Which names mean what, most telling first. A dotted name is a path into nested objects; a trailing [] takes each
# element of a list as a completion of its own. Sources: the schemas of verl, SkyRL, OpenR1, NeMo, lm-eval,
# inspect_ai, HumanEval, GSM8K, MATH-500, SYNTHETIC-1, vLLM and OpenAI batch files.
_KNOWN: Final[dict[str, tuple[str, ...]]] = {
    "completion": (
        "completion", "response", "output.completion", "response.body.choices", "generation", "model_output",
        "llm_response", "output", "completions[]", "responses[]", "generations[]", "resps[]", "outputs[]", "choices[]",
    ),
    "gold": (
        "gold", "answer", "ground_truth", "reward_model.ground_truth", "reward_spec.ground_truth", "expected_answer",
        "target", "reference", "reference_answer", "gts", "solution",
    ),
    "tests": ("tests", "test_cases", "verification_info", "input_output"),
    "prompt": ("prompt", "problem", "question", "question_content", "messages", "instruction", "input"),
    "prefill": ("prefill",),
    "id": ("id", "custom_id", "sample_id", "response_id", "uuid"),
    "group": ("group", "prompt_id", "problem_id", "task_id", "question_id", "extra_info.index", "key", "doc_id"),
    "task": ("task", "data_source", "task_type", "env_class"),
    "num_tokens": ("num_tokens", "completion_tokens", "completion_length", "usage.completion_tokens",
                   "response.body.usage.completion_tokens"),
    "truncated": ("truncated", "is_truncated", "finish_reason", "finish_reasons"),
}  # fmt: skip
FIELDS: Final = tuple(_KNOWN)
_CONVERSATIONS: Final = ("messages", "conversation", "conversations")
"""Where nothing else is the completion, these are when they end with an assistant's message."""
_ASKING: Final = frozenset({"system", "developer", "user"})
_TESTS_OVER_FIELDS: Final = frozenset({"test", "test_list", "public_test_cases"})
_WHOLE_ROW: Final = "(the row)"
"""HumanEval, MBPP and LiveCodeBench spread their tests over several fields; `rewards.code_tests` knows which."""


class InputError(ValueError):
    """The input cannot be used as a whole: no such file, binary, empty, a column that is not there."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no row."""

    where: str
    problem: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row as read, and where it stood (`file:line`)."""

    where: str
    number: int
    data: Mapping[str, Any]


# ---------------------------------------------------------------- reading


def read_rows(path: str | os.PathLike[str]) -> Iterator[Row | BadLine]:
    """Rows of a JSON lines file (plain or .gz), a JSON array, or a Parquet file, in order.

    Raises:
        InputError: the file is absent, a directory, binary, or Parquet without pyarrow.
    """
    file = Path(path)
    name = str(path)
    if file.is_dir():
        raise InputError(f"{name} is a directory; give a .jsonl, .jsonl.gz, .json or .parquet file")
    try:
        raw: IO[bytes] = file.open("rb")
    except FileNotFoundError:
        beside = [p.name for p in file.parent.iterdir()] if file.parent.is_dir() else []
        close = nearest(file.name, beside) if beside else ""
        raise InputError(f"no file {name}{close if 'did you mean' in close else ''}") from None
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror}") from None
    with raw:
        head = raw.read(4)
        raw.seek(0)
        if head == b"PAR1":
            yield from _parquet(name)
            return
        if head[:2] == b"\x1f\x8b":
            yield from _lines(name, io.BufferedReader(gzip.GzipFile(fileobj=raw)))
            return
        yield from _lines(name, raw)


def _lines(name: str, stream: IO[bytes]) -> Iterator[Row | BadLine]:
    number = 0
    while True:
        try:
            line = stream.readline(MAX_LINE_BYTES + 1)
            size = len(line)
            while line and not line.endswith(b"\n") and size > MAX_LINE_BYTES:
                rest = stream.readline(1 << 20)
                if not rest:
                    break
                size += len(rest)
                if rest.endswith(b"\n"):
                    break
        except (OSError, EOFError) as error:
            raise InputError(f"{name}: damaged compressed file after line {number}: {error}") from None
        if not line:
            return
        number += 1
        where = f"{name}:{number}"
        if size > MAX_LINE_BYTES:
            yield BadLine(where, f"line of {size:,} bytes; at most {MAX_LINE_BYTES:,} are read")
            continue
        if b"\0" in line:
            raise InputError(f"{name} is binary (a NUL byte in line {number}); give JSON lines, .jsonl.gz or Parquet")
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        stripped = line.strip()
        if not stripped:
            continue
        if number == 1 and name.lower().endswith((".csv", ".tsv")) and not stripped.startswith((b"{", b"[")):
            raise InputError(
                f"{name} is a table; give JSON lines, for example: pandas.read_csv(...).to_json("
                'FILE, orient="records", lines=True)'
            )
        if number == 1 and stripped.startswith(b"["):
            yield from _array(name, line + stream.read(MAX_ARRAY_BYTES))
            return
        yield _parsed(where, number, stripped)


def _parsed(where: str, number: int, line: bytes) -> Row | BadLine:
    try:
        data = json.loads(line)
    except UnicodeDecodeError as error:
        return BadLine(where, f"not UTF-8 at byte {error.start}")
    except json.JSONDecodeError as error:
        return BadLine(where, f"not JSON: {error.msg} at column {error.colno}")
    except (RecursionError, ValueError) as error:
        return BadLine(where, f"not JSON that can be read: {error}")
    if not isinstance(data, dict):
        return BadLine(where, f"a JSON {_kind(data)}, not an object with fields")
    return Row(where, number, data)


def _array(name: str, content: bytes) -> Iterator[Row | BadLine]:
    try:
        items = json.loads(content)
    except (ValueError, RecursionError):
        # Not one array: JSON lines whose first line happens to be a list.
        for number, line in enumerate(content.splitlines(), 1):
            if line.strip():
                yield _parsed(f"{name}:{number}", number, line.strip())
        return
    for number, item in enumerate(items, 1):
        where = f"{name}[{number - 1}]"
        if isinstance(item, dict):
            yield Row(where, number, item)
        else:
            yield BadLine(where, f"a JSON {_kind(item)}, not an object with fields")


def _parquet(name: str) -> Iterator[Row]:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise InputError(f"{name} is Parquet, which needs pyarrow: pip install pyarrow") from None
    number = 0
    for batch in parquet.ParquetFile(name).iter_batches(batch_size=1024):
        for data in batch.to_pylist():
            number += 1
            yield Row(f"{name}[{number - 1}]", number, data)


def _kind(value: Any) -> str:
    names = {list: "array", str: "string", bool: "boolean", type(None): "null", int: "number", float: "number"}
    return names.get(type(value), type(value).__name__)


# ---------------------------------------------------------------- which field is which


@dataclass(frozen=True, slots=True)
class _Path:
    """`json:a.b[]`: the way to a value inside a row."""

    text: str
    parts: tuple[str, ...]
    explode: bool
    parse_json: bool

    @classmethod
    def of(cls, text: str) -> _Path:
        body = text.removeprefix("json:")
        explode = body.endswith("[]")
        return cls(text, tuple(body.removesuffix("[]").split(".")), explode, text.startswith("json:"))

    def find(self, data: Mapping[str, Any]) -> Any:
        """The value, or `_ABSENT`."""
        whole = ".".join(self.parts)
        if whole in data:  # a field whose own name has a dot in it
            return self._decoded(data[whole])
        value: Any = data
        for part in self.parts:
            value = self._decoded(value)
            if isinstance(value, Mapping) and part in value:
                value = value[part]
            elif isinstance(value, Sequence) and not isinstance(value, str) and part.isdigit():
                if int(part) >= len(value):
                    return _ABSENT
                value = value[int(part)]
            else:
                return _ABSENT
        return self._decoded(value)

    def _decoded(self, value: Any) -> Any:
        if self.parse_json and isinstance(value, str):
            with contextlib.suppress(ValueError, RecursionError):
                return json.loads(value)
        return value


_ABSENT: Final = object()


@dataclass(frozen=True)
class FieldMap:
    """Which field of a row is which field of a `Sample`."""

    paths: Mapping[str, str]
    explicit: frozenset[str] = frozenset()
    _compiled: dict[str, _Path] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._compiled.update({name: _Path.of(path) for name, path in self.paths.items()})

    def describe(self) -> str:
        """One line for people: `completion=response, gold=answer`."""
        return ", ".join(f"{name}={path}" for name, path in self.paths.items())

    def read(self, row: Row) -> list[tuple[Sample, str]]:
        """The samples of one row, each with what is wrong with its completion, or "".

        Several where the row holds several completions (a list of texts, the choices of a chat API, `outputs` of
        vLLM). A null is an answer that never came, and an object without text in it none that could be judged:
        neither is an empty completion, which would be worth 0.
        """
        found = {name: path.find(row.data) for name, path in self._compiled.items() if path.text != _WHOLE_ROW}
        if self.paths.get("tests") == _WHOLE_ROW:
            found["tests"] = _tests_of(row.data)
        given = found.pop("completion", _ABSENT)
        values = {k: v for k, v in found.items() if v is not _ABSENT}
        path = self._compiled.get("completion")
        explode = path is not None and path.explode and isinstance(given, Sequence) and not isinstance(given, str)
        read = list(_each(given)) if explode or _is_several(given) else [_one(given)]
        if not read:
            read, explode = [("", "the row has an empty list where its completions belong")], False
        if "prompt" not in values and isinstance(read[0][0], list) and (asked := _asked(read[0][0])):
            values["prompt"] = asked
        row_id = str(values["id"]) if values.get("id") is not None else str(row.number)
        group = self._group(values)
        several = explode or len(read) > 1
        if several:
            group = group or row_id
        used = {p.parts[0] for p in self._compiled.values()}
        meta = {k: v for k, v in row.data.items() if k not in used}
        samples = [
            Sample(
                id=f"{row_id}#{k}" if several else row_id,
                group=group,
                prompt=_prompt(values.get("prompt")),
                prefill=str(values.get("prefill") or ""),
                completion=completion[len(_asked(completion)) :] if isinstance(completion, list) else completion,
                gold=values.get("gold"),
                tests=_tests(values.get("tests")),
                task=None if values.get("task") is None else str(values["task"]),
                num_tokens=_count(_element(values.get("num_tokens"), k if several else None)),
                truncated=_truncated(_element(values.get("truncated"), k if several else None)),
                meta=meta,
            )
            for k, (completion, _) in enumerate(read)
        ]
        return [(sample, problem) for sample, (_, problem) in zip(samples, read, strict=True)]

    def samples(self, row: Row) -> list[Sample]:
        """The samples of one row whose completion can be judged."""
        return [sample for sample, problem in self.read(row) if not problem]

    @staticmethod
    def _group(values: Mapping[str, Any]) -> str:
        if values.get("group") is not None:
            return str(values["group"])
        prompt = values.get("prompt")
        if not prompt:
            return ""
        plain = prompt if isinstance(prompt, str) else json.dumps(prompt, sort_keys=True, default=str)
        return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def detect_fields(
    data: Mapping[str, Any], mapping: Mapping[str, str] | None = None, *, needs: frozenset[str] = frozenset()
) -> FieldMap:
    """Decide which field is which from one row.

    Args:
        data: the first row of the input.
        mapping: what the user said: `{"completion": "response.text", "gold": "json:info.answer"}`.
        needs: `Sample` fields that the reward cannot do without.

    Raises:
        InputError: an unknown name, a path the row does not have, nothing or more than one thing that could be the
            completion, or a needed field that is nowhere.
    """
    mapping = dict(mapping or {})
    fields = _field_paths(data)
    shown = ", ".join(sorted(data)) or "none"
    for name, path in mapping.items():
        if name not in FIELDS:
            raise InputError(f"--map {name}={path}: no field {name!r}{nearest(name, FIELDS)}")
        if _Path.of(path).find(data) is _ABSENT:
            plain = path.removeprefix("json:").removesuffix("[]")
            raise InputError(f"--map {name}={path}: the rows have no {plain!r}{nearest(plain, sorted(fields))}")
    paths: dict[str, str] = {}
    for name, candidates in _KNOWN.items():
        if name in mapping:
            paths[name] = mapping[name]
            continue
        taken = {p.removeprefix("json:").removesuffix("[]") for p in mapping.values()}
        fits = [c for c in candidates if c.removesuffix("[]") not in taken and _fits(c, data)]
        if name == "completion" and len(fits) > 1 and fits[0] != "completion":
            raise InputError(
                f"several fields could be the completion: {', '.join(fits)}; say which: --map completion={fits[0]}"
            )
        if name == "completion" and not fits:
            fits = [c for c in _CONVERSATIONS if c not in taken and _ends_with_an_answer(data.get(c))]
        # A first row may be the one whose answer never came: the field is there, and the others have a value.
        fits = fits or [c for c in candidates if c.removesuffix("[]") not in taken and _Path.of(c).find(data) is None]
        if fits:
            paths[name] = fits[0]
    if "completion" not in paths:
        raise InputError(f"no field looks like the completion; the rows have: {shown}; write --map completion=FIELD")
    if "tests" not in paths and "tests" in needs and _TESTS_OVER_FIELDS & data.keys():
        paths["tests"] = _WHOLE_ROW
    if "prompt" in paths and paths["prompt"] == paths["completion"]:
        del paths["prompt"]
    for name in sorted(needs - set(paths) - {"completion"}):
        raise InputError(f"the reward needs {name!r}; the rows have: {shown}; write --map {name}=FIELD")
    return FieldMap(paths, frozenset(mapping))


def value_at(data: Mapping[str, Any], path: str) -> Any:
    """The value at a path such as `reward_model.ground_truth` or `json:info.answer`; None where there is none."""
    value = _Path.of(path).find(data)
    return None if value is _ABSENT else value


def _fits(candidate: str, data: Mapping[str, Any]) -> bool:
    path = _Path.of(candidate)
    value = path.find(data)
    if value is _ABSENT or value is None:
        return False
    if path.explode:
        return isinstance(value, Sequence) and not isinstance(value, str)
    if candidate == "output" and isinstance(value, Mapping):
        return False
    return not (candidate == "response" and isinstance(value, Mapping))


def _ends_with_an_answer(value: Any) -> bool:
    is_chat = isinstance(value, Sequence) and not isinstance(value, str) and all(_is_message(item) for item in value)
    return is_chat and bool(value) and value[-1].get("role") == "assistant"


def _field_paths(data: Mapping[str, Any]) -> set[str]:
    out = set(data)
    for name, value in data.items():
        if isinstance(value, Mapping):
            out.update(f"{name}.{inner}" for inner in value)
    return out


def _element(value: Any, index: int | None) -> Any:
    if index is not None and isinstance(value, Sequence) and not isinstance(value, str):
        return value[index] if index < len(value) else None
    return value


def _prompt(value: Any) -> Any:
    if value is None:
        return ""
    return value if isinstance(value, str | list) else str(value)


def _is_several(value: Any) -> bool:
    """A list of more than one completion: texts, or choices of an API. A list of chat messages is one conversation."""
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) < 2:
        return False
    return all(isinstance(item, str) for item in value) or all(_is_choice(item) for item in value)


def _is_choice(value: Any) -> bool:
    return isinstance(value, Mapping) and ("message" in value or "text" in value) and not _is_message(value)


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and ("role" in value or "content" in value)


def _each(values: Sequence[Any]) -> Iterator[tuple[Any, str]]:
    for value in values:
        if _is_several(value):  # lm-eval: a list of requests, each with a list of its answers
            yield from _each(value)
        else:
            yield _one(value)


def _one(value: Any) -> tuple[Any, str]:
    """One completion, text or chat messages, and what is wrong with it or ""."""
    if value is _ABSENT or value is None:
        return "", "the row has no completion"
    if isinstance(value, str):
        return value, ""
    if isinstance(value, int | float):
        return str(value), ""
    if _is_message(value):
        return [value], ""
    if isinstance(value, Mapping):
        if _is_choice(value):
            message = value["message"] if "message" in value else value["text"]
            if _is_message(message) and not message.get("tool_calls"):
                message = message.get("content")
                message = message if message is None else message_text(message)
            return _one(message)
        inside = ", ".join(map(str, value)) or "nothing"
        return "", f"the completion is an object with {inside}, not a text; write --map completion=PATH.TO.TEXT"
    if not value:
        return "", "the row has an empty list where its completion belongs"
    if len(value) == 1 and not _is_message(value[0]):  # lm-eval and chat APIs keep one answer in a list
        return _one(value[0])
    if all(_is_message(item) for item in value):
        if len(_asked(value)) == len(value):
            return "", "the conversation ends without a message of the assistant"
        return list(value), ""
    return "", f"the completion is a list of {', '.join(sorted({_kind(item) for item in value}))}, not a text"


def _asked(messages: Sequence[Any]) -> list[Any]:
    """The messages up to the last one that asks: what the assistant answers."""
    roles = [message.get("role", "assistant") for message in messages]
    return list(messages[: max((i + 1 for i, role in enumerate(roles) if role in _ASKING), default=0)])


def _tests_of(data: Mapping[str, Any]) -> Any:
    from rewards.code_tests.shapes import TestsUnreadable, tests_of_row

    try:
        return tests_of_row(data)
    except TestsUnreadable:
        return None  # judged `invalid`: a row without tests


def _tests(value: Any) -> Any:
    if isinstance(value, str):
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and value >= 0 else None


def _truncated(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):  # finish_reason of the OpenAI and vLLM formats
        return value in ("length", "max_tokens", "model_length")
    return None


# ---------------------------------------------------------------- writing


class WholeFile:
    """Writes rows to a file that appears only when complete: a killed run leaves no half-written row in it.

    Rows go to `NAME.partial` beside the target, which is renamed over it on success; after a failure the partial file
    stays for a look.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.partial = self.path.with_name(self.path.name + ".partial")

    def __enter__(self) -> WholeFile:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.partial.open("wb")
        except OSError as error:
            raise InputError(f"cannot write {self.path}: {error.strerror}") from None
        return self

    def write(self, row: Mapping[str, Any]) -> None:
        """Append one JSON row."""
        line = json.dumps(row, ensure_ascii=False, allow_nan=False)
        try:
            encoded = line.encode()
        except UnicodeEncodeError:  # lone surrogates, which models do emit; as escapes they read back the same
            encoded = json.dumps(row, allow_nan=False).encode()
        self._file.write(encoded + b"\n")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.flush()
        if kind is None:
            os.fsync(self._file.fileno())
        self._file.close()
        if kind is None:
            os.replace(self.partial, self.path)
