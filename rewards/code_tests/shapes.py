"""What tests look like in data sets, read into one of four shapes. Nothing here runs or unpickles anything.

Ours (`Sample.tests`):

```
{"kind": "asserts", "script": "assert f(2) == 3" or [...], "entry_point": "f", "setup": "..."}
{"kind": "calls",   "entry_point": "f" or "Solution.f", "cases": [{"args": [2], "kwargs": {}, "expected": 3}]}
{"kind": "stdio",   "cases": [{"input": "3\\n", "output": "9\\n"}], "checker": {"source": "..."}}
{"kind": "pytest",  "files": {"test_f.py": "from solution import f\\n..."}, "entry_point": "f"}
```

with, on any of them, `limits` (fields of `sandboxes.Limits`), `language`, `compare` (see `compare.read_compare`).

Theirs, read by their own field names: HumanEval and EvalPlus (`test`, `entry_point`), MBPP (`test_list`,
`test_setup_code`), APPS and TACO (`input_output` JSON with `inputs`, `outputs`, `fn_name`), open-r1
(`verification_info` with `test_cases`; its Codeforces rows with `official_tests`), LiveCodeBench
(`public_test_cases`, `metadata`; its `private_test_cases` are a pickle and are refused).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from rewards.code_tests.compare import Compare, read_compare
from rewards.registry import nearest
from sandboxes.contract import LANGUAGES, Limits

KINDS: Final = ("asserts", "calls", "stdio", "pytest")
MAX_JSON_CHARS: Final = 256_000_000

_LIMIT_FIELDS: Final = tuple(Limits.__dataclass_fields__)
_COMMON: Final = {"kind", "language", "limits", "compare", "entry_point", "modules", "in_process"}
_FIELDS: Final = {
    "asserts": {"script", "setup"},
    "calls": {"cases"},
    "stdio": {"cases", "checker"},
    "pytest": {"files"},
}
_LANGUAGE_NAMES: Final = {"py": "python", "python3": "python", "cpp": "c++", "js": "javascript", "sh": "bash"}


_CHECKER_FILES: Final = ("input", "output", "answer")


class TestsUnreadable(ValueError):
    """Tests that are missing, empty or in no known shape: the data set's fault."""

    __test__ = False

    def __init__(self, message: str, *, missing: bool = False) -> None:
        super().__init__(message)
        self.missing = missing


@dataclass(frozen=True, slots=True)
class Case:
    """One case: `args` and `kwargs` and the `expected` value of a call, or the `input` and `output` of a program."""

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    expected: Any = None
    input: str = ""
    output: str = ""


@dataclass(frozen=True, slots=True)
class Checker:
    """A trusted program that decides whether an output is right.

    It is called with the names of three files, `input.txt output.txt answer.txt` (the case's input, what the candidate
    printed, the case's output), and says yes by exit code 0 and no by 1 or 2 (testlib's convention), or, with
    `verdict` "stdout", by a number that it prints: above 0 means yes.
    """

    source: str
    language: str = "python"
    verdict: str = "exit"
    order: tuple[str, ...] = _CHECKER_FILES


@dataclass(frozen=True, slots=True)
class Tests:
    """Tests of one task, read and checked. `language` is "" where the row names none."""

    __test__ = False

    kind: str
    entry_point: str = ""
    script: str = ""
    cases: tuple[Case, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    checker: Checker | None = None
    language: str = ""
    limits: Mapping[str, float] = field(default_factory=dict)
    compare: Any = None
    modules: tuple[str, ...] = ("solution",)
    in_process: bool = False

    def comparison(self, default: Compare) -> Compare:
        """How outputs or values are compared, the task's own wish before the default."""
        return read_compare(self.compare, default)


def read_tests(value: Any) -> Tests:
    """The tests in `value`, which may be any of the shapes named in this module, or JSON text of one.

    Raises:
        TestsUnreadable: missing, empty, unknown or malformed; the message says what is allowed.
    """
    return _read_text(value) if isinstance(value, str) else _read(value)


@lru_cache(maxsize=32)
def _read_text(text: str) -> Tests:
    """Kept, because the completions of one group come with the same megabytes of JSON."""
    return _read(_json_or_script(text))


def _read(value: Any) -> Tests:
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = _from_list(value)
    if not isinstance(value, Mapping):
        raise TestsUnreadable(f"tests are a {type(value).__name__}; allowed: an object with kind {', '.join(KINDS)}")
    if "kind" not in value:
        value = tests_of_row(value)
    kind = value["kind"]
    if kind not in KINDS:
        raise TestsUnreadable(f"tests of kind {kind!r}{nearest(str(kind), KINDS)}")
    allowed = _COMMON | _FIELDS[kind]
    unknown = sorted(str(key) for key in value if key not in allowed)
    if unknown:
        raise TestsUnreadable(f"{kind} tests have no field {unknown[0]!r}{nearest(unknown[0], sorted(allowed))}")
    entry = value.get("entry_point") or ""
    if not isinstance(entry, str) or (entry and not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)?", entry)):
        raise TestsUnreadable(f"entry_point {entry!r}; allowed: a function's name, or Class.method")
    tests = Tests(
        kind=kind,
        entry_point=entry,
        language=_language(value["language"]) if value.get("language") else "",
        limits=_limits(value.get("limits")),
        compare=value.get("compare"),
        modules=_names(value.get("modules"), "modules") or ("solution",),
        in_process=_flag(value.get("in_process")),
        **_READ[kind](value),
    )
    try:
        read_compare(tests.compare, Compare())
    except ValueError as error:
        raise TestsUnreadable(str(error)) from None
    if kind == "calls" and not entry:
        raise TestsUnreadable("calls tests need entry_point, the name of the function")
    if kind != "stdio" and tests.language not in ("", "python"):
        raise TestsUnreadable(f"{kind} tests in {tests.language}; allowed: python (other languages take stdio tests)")
    return tests


def _read_asserts(value: Mapping[str, Any]) -> dict[str, Any]:
    script, setup = value.get("script"), value.get("setup") or ""
    if isinstance(script, Sequence) and not isinstance(script, str):
        if not all(isinstance(line, str) for line in script):
            raise TestsUnreadable("script is a list of something else than strings")
        script = "\n".join(line.strip() for line in script)
    if not isinstance(script, str) or not isinstance(setup, str):
        raise TestsUnreadable("asserts tests need script, a string or a list of assert lines", missing=script is None)
    if not script.strip():
        raise TestsUnreadable("the test script is empty", missing=True)
    return {"script": f"{setup.rstrip()}\n{script}" if setup.strip() else script}


def _read_calls(value: Mapping[str, Any]) -> dict[str, Any]:
    cases = []
    for number, case in enumerate(_cases(value)):
        args, kwargs = case.get("args", []), case.get("kwargs") or {}
        if "expected" not in case:
            raise TestsUnreadable(f"case {number} has no expected value")
        if isinstance(args, str) or not isinstance(args, Sequence):
            raise TestsUnreadable(f"case {number}: args is a {type(args).__name__}; allowed: a list")
        if not isinstance(kwargs, Mapping) or not all(isinstance(key, str) for key in kwargs):
            raise TestsUnreadable(f"case {number}: kwargs is a {type(kwargs).__name__}; allowed: an object")
        _only(case, {"args", "kwargs", "expected"}, number)
        cases.append(Case(args=tuple(args), kwargs=dict(kwargs), expected=case["expected"]))
    return {"cases": tuple(cases)}


def _read_stdio(value: Mapping[str, Any]) -> dict[str, Any]:
    checker = _checker(value.get("checker"))
    cases = []
    for number, case in enumerate(_cases(value)):
        given, output = case.get("input", ""), case.get("output")
        if output is None and checker is not None:
            output = ""
        given, output = _joined(given), _joined(output)
        if not isinstance(given, str) or not isinstance(output, str):
            raise TestsUnreadable(f"case {number} needs input and output, both strings")
        _only(case, {"input", "output"}, number)
        cases.append(Case(input=given, output=output))
    return {"cases": tuple(cases), "checker": checker}


def _read_pytest(value: Mapping[str, Any]) -> dict[str, Any]:
    files = value.get("files")
    if not isinstance(files, Mapping) or not files:
        raise TestsUnreadable("pytest tests need files, an object of file name to source", missing=not files)
    for name, source in files.items():
        parts = name.split("/") if isinstance(name, str) else [""]
        if any(part in ("", ".", "..") for part in parts) or not isinstance(source, str):
            raise TestsUnreadable(f"test file {name!r}: allowed: relative names without '..', and text")
    if not any(name.rpartition("/")[2].startswith("test") and name.endswith(".py") for name in files):
        raise TestsUnreadable("no file among the pytest tests is called test_*.py")
    return {"files": dict(files)}


_READ: Final = {"asserts": _read_asserts, "calls": _read_calls, "stdio": _read_stdio, "pytest": _read_pytest}


def _cases(value: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    cases = value.get("cases")
    if isinstance(cases, str) or not isinstance(cases, Sequence):
        raise TestsUnreadable(f"{value['kind']} tests need cases, a list of objects", missing=cases is None)
    if not cases:
        raise TestsUnreadable("no test cases", missing=True)
    if not all(isinstance(case, Mapping) for case in cases):
        raise TestsUnreadable("cases is a list of something else than objects")
    return cases


def _only(case: Mapping[str, Any], allowed: set[str], number: int) -> None:
    for key in case:
        if key not in allowed:
            raise TestsUnreadable(f"case {number} has no field {key!r}{nearest(str(key), sorted(allowed))}")


def _joined(text: Any) -> Any:
    """APPS writes some inputs as lists of lines."""
    if isinstance(text, Sequence) and not isinstance(text, str) and all(isinstance(line, str) for line in text):
        return "\n".join(text)
    return text


def _checker(value: Any) -> Checker | None:
    if value is None:
        return None
    if isinstance(value, str):
        value = {"source": value}
    if not isinstance(value, Mapping) or not isinstance(value.get("source"), str) or not value["source"].strip():
        raise TestsUnreadable("checker needs source, the text of a program")
    order = _names(value.get("order"), "checker.order") or _CHECKER_FILES
    verdict = value.get("verdict", "exit")
    if verdict not in ("exit", "stdout") or sorted(order) != sorted(_CHECKER_FILES):
        raise TestsUnreadable(
            "checker: verdict is 'exit' or 'stdout', order the list of 'input', 'output', 'answer' as it takes them"
        )
    return Checker(value["source"], _language(value.get("language")), verdict, order)


def _language(value: Any) -> str:
    name = str(value or "python").lower()
    name = _LANGUAGE_NAMES.get(name, name)
    if name not in LANGUAGES:
        raise TestsUnreadable(f"language {value!r}{nearest(name, LANGUAGES)}")
    return name


def _limits(value: Any) -> dict[str, float]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TestsUnreadable(f"limits is a {type(value).__name__}; allowed: an object of {', '.join(_LIMIT_FIELDS)}")
    for key in value:
        if key not in _LIMIT_FIELDS:
            raise TestsUnreadable(f"limits has no field {key!r}{nearest(str(key), _LIMIT_FIELDS)}")
    try:
        Limits(**dict(value))
    except (TypeError, ValueError) as error:
        raise TestsUnreadable(str(error)) from None
    return dict(value)


def _names(value: Any, what: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(item, str) for item in value):
        raise TestsUnreadable(f"{what} is a {type(value).__name__}; allowed: a list of names")
    return tuple(value)


def _flag(value: Any) -> bool:
    if value not in (None, True, False):
        raise TestsUnreadable(f"in_process is {value!r}; allowed: true or false")
    return bool(value)


# ---------------------------------------------------------------- the shapes of known data sets


def tests_of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The tests of a data set's row in one of our shapes; which data set is told by its field names.

    Raises:
        TestsUnreadable: no known field, or one that cannot be read safely.
    """
    for name in ("verification_info", "input_output", "tests"):
        inner = row.get(name)
        if inner:
            read = _json_or_script(inner) if isinstance(inner, str) else inner
            if isinstance(read, Sequence) and not isinstance(read, str):
                read = _from_list(read)
            if isinstance(read, Mapping):
                merged = {"entry_point": row["entry_point"]} if row.get("entry_point") else {}
                return {**merged, **(read if "kind" in read else tests_of_row(read))}
    if "test_cases" in row:
        return _open_r1(row)
    if row.get("official_tests"):
        return _codeforces(row)
    if "inputs" in row and "outputs" in row:
        return _apps(row)
    if "public_test_cases" in row or "private_test_cases" in row:
        return _livecodebench(row)
    if row.get("test_list"):
        setup = row.get("test_setup_code") or "\n".join(row.get("test_imports") or ())
        return _some(kind="asserts", script=list(row["test_list"]), setup=setup, entry_point=_guessed(row["test_list"]))
    if isinstance(row.get("test"), str) and row["test"].strip():
        return _some(kind="asserts", script=row["test"], entry_point=row.get("entry_point"))
    raise TestsUnreadable(
        "no tests found; known fields: tests, test + entry_point (HumanEval), test_list (MBPP), input_output (APPS), "
        "verification_info (open-r1), official_tests (Codeforces), public_test_cases (LiveCodeBench)",
        missing=True,
    )


# Its name begins as a test's does: pytest would collect it in every module that imports it.
tests_of_row.__dict__["__test__"] = False


def _some(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value}


def _json_or_script(text: str) -> Any:
    """JSON where the text is JSON, else an assert script."""
    if not text.strip():
        raise TestsUnreadable("tests are an empty string", missing=True)
    if text.lstrip()[:1] in "{[":
        return _loads(text, "tests")
    return {"kind": "asserts", "script": text}


def _loads(text: str, what: str) -> Any:
    if len(text) > MAX_JSON_CHARS:
        raise TestsUnreadable(f"{what} have {len(text)} characters; allowed: {MAX_JSON_CHARS}")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TestsUnreadable(f"{what} are not JSON: {error}") from None


def _from_list(items: Sequence[Any]) -> Mapping[str, Any]:
    if not items:
        raise TestsUnreadable("tests are an empty list", missing=True)
    if all(isinstance(item, str) for item in items):
        return {"kind": "asserts", "script": list(items), "entry_point": _guessed(items)}
    if all(isinstance(item, Mapping) for item in items):
        return {"test_cases": items}
    raise TestsUnreadable("tests are a list of something else than strings or objects")


_WRAPPERS: Final = frozenset(
    ("set", "sorted", "list", "tuple", "abs", "round", "len", "int", "float", "str", "sum", "isclose", "not")
)


def _guessed(lines: Sequence[Any]) -> str:
    """The function under test of an assert list: MBPP does not name it. The first call that is no builtin's."""
    found = [name for line in lines for name in re.findall(r"([A-Za-z_]\w*)[ \t]*\(", str(line).partition("assert")[2])]
    return next((name for name in found if name not in _WRAPPERS), found[0] if found else "")


def _function_arguments(text: Any) -> list[Any]:
    """The arguments of one functional case: LiveCodeBench and open-r1 write one JSON value per line."""
    if not isinstance(text, str):
        return list(text) if isinstance(text, Sequence) else [text]
    return [_value(line) for line in text.split("\n") if line.strip()]


def _value(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    return _loads(text, "the arguments of a functional case")


def _apps(row: Mapping[str, Any]) -> dict[str, Any]:
    inputs, outputs = row["inputs"], row["outputs"]
    if not isinstance(inputs, Sequence) or not isinstance(outputs, Sequence) or isinstance(inputs, str):
        raise TestsUnreadable("input_output needs inputs and outputs, both lists")
    if len(inputs) != len(outputs):
        raise TestsUnreadable(f"{len(inputs)} inputs for {len(outputs)} outputs")
    name = row.get("fn_name")
    if not name:
        return {"kind": "stdio", "cases": [{"input": i, "output": o} for i, o in zip(inputs, outputs, strict=True)]}
    cases = []
    for given, wanted in zip(inputs, outputs, strict=True):
        # APPS wraps most expected values in a list of one; TACO does not always.
        one = isinstance(wanted, Sequence) and not isinstance(wanted, str) and len(wanted) == 1
        cases.append({"args": _function_arguments(given), "expected": wanted[0] if one else wanted})
    return {"kind": "calls", "entry_point": str(name), "cases": cases}


def _open_r1(row: Mapping[str, Any]) -> dict[str, Any]:
    cases = row["test_cases"]
    if isinstance(cases, str):
        cases = _loads(cases, "test_cases")
    if isinstance(cases, Mapping):
        name = cases.get("fn_name") or row.get("fn_name")
        return {**_some(language=row.get("language")), **_apps({**cases, "fn_name": name})}
    if not isinstance(cases, Sequence) or not all(isinstance(case, Mapping) for case in cases):
        raise TestsUnreadable("test_cases is something else than a list of objects")
    if all("args" in case and "expected" in case for case in cases) and cases:
        return _some(kind="calls", entry_point=row.get("entry_point") or row.get("fn_name"), cases=list(cases))
    functional = [case for case in cases if case.get("fn_name") or case.get("testtype") == "functional"]
    if functional:
        name = row.get("entry_point") or next((c["fn_name"] for c in functional if c.get("fn_name")), None)
        calls = [{"args": _function_arguments(c.get("input")), "expected": _value(c.get("output"))} for c in cases]
        return _some(kind="calls", entry_point=name, cases=calls)
    stdio = [{"input": case.get("input", ""), "output": case.get("output")} for case in cases]
    return {"kind": "stdio", "cases": stdio, **_some(language=row.get("language"))}


def _codeforces(row: Mapping[str, Any]) -> dict[str, Any]:
    if row.get("generated_checker"):
        raise TestsUnreadable(
            "generated_checker: a task with many right outputs needs its checker program; give it as checker, an "
            "object with source, order (of its file arguments: input, output, answer) and verdict ('exit' or 'stdout')"
        )
    if row.get("input_mode") == "file":
        raise TestsUnreadable("input_mode 'file': the program reads and writes named files; allowed: stdin and stdout")
    limits: dict[str, Any] = {}
    if row.get("time_limit"):
        limits["cpu_seconds"] = float(row["time_limit"])
    if row.get("memory_limit"):
        limits["memory_bytes"] = int(float(row["memory_limit"]) * 1024 * 1024)
    cases = [{"input": case.get("input", ""), "output": case.get("output")} for case in row["official_tests"]]
    return {"kind": "stdio", "cases": cases, **_some(limits=limits, language=row.get("language"))}


def _livecodebench(row: Mapping[str, Any]) -> dict[str, Any]:
    cases: list[Any] = []
    for name in ("public_test_cases", "private_test_cases"):
        value = row.get(name)
        if isinstance(value, str) and value.strip():
            if value.lstrip()[:1] not in "[{":
                raise TestsUnreadable(
                    f"{name} is base64 of zlib of a pickle, and a pickle runs code when it is read; decode it once "
                    "where that may happen, store the JSON text that is inside it, and give that"
                )
            value = _loads(value, name)
        cases.extend(value or ())
    metadata = row.get("metadata") or {}
    if isinstance(metadata, str):
        metadata = _loads(metadata, "metadata")
    function = metadata.get("func_name") if isinstance(metadata, Mapping) else None
    return _open_r1({"test_cases": cases, "entry_point": f"Solution.{function}" if function else ""})
