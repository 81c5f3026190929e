"""`code`: which program is taken, what is asked of the sandbox, and that nothing inside a box decides the verdict."""

from __future__ import annotations

import ast
import json
import os
import pickle
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import CASES, SHARED, read_jsonl, shared
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rewards.code_tests import CodeTests, asserts, read_tests, tests_of_row
from rewards.code_tests.asserts import BrokenScript, NeedsObject, plan
from rewards.code_tests.compare import Compare, same_output, same_value, show
from rewards.code_tests.extract import extract, extract_text
from rewards.code_tests.shapes import TestsUnreadable
from rewards.scoring import judge
from rewards.verdict import Sample, Status, Verdict
from sandboxes import (
    CallResult,
    CallStatus,
    Execution,
    Exit,
    JudgeExecution,
    Opaque,
    Program,
    Sandbox,
    SandboxError,
    TestOutcome,
    TestStatus,
    get,
)
from sandboxes.conformance import CATALOGUE
from sandboxes.fake import FakeSandbox

GOOD = "def solve(x):\n    return 3 * x + 1\n"
FUNCTION = {
    "kind": "calls",
    "entry_point": "solve",
    "cases": [{"args": [2], "expected": 7}, {"args": [10], "expected": 31}, {"args": [-5], "expected": -14}],
}
CHECK = {
    "kind": "asserts",
    "entry_point": "solve",
    "script": "def check(candidate):\n"
    "    assert candidate(2) == 7\n    assert candidate(10) == 31\n    assert candidate(-5) == -14\n",
}
TWO_BOXES = {
    "kind": "asserts",
    "entry_point": "solve",
    "script": "def same(a, b):\n    assert a == b\nsame(solve(2), 7)\nsame(solve(10), 31)\nsame(solve(-5), -14)\n",
}
SQUARES = {
    "kind": "stdio",
    "cases": [{"input": "3\n", "output": "1\n4\n9\n"}, {"input": "5\n", "output": "1\n4\n9\n16\n25\n"}],
}


@pytest.fixture(scope="module")
def local() -> Iterator[Sandbox]:
    """The local sandbox where its walls stand, one for the module."""
    sandbox = get("local")
    try:
        sandbox.run(Program.python("pass"))
    except SandboxError as error:
        pytest.skip(f"the local sandbox cannot start here: {error}")
    yield sandbox
    sandbox.close()


def returning(function: Any) -> FakeSandbox:
    """A sandbox whose every call returns `function(*args)`."""
    return FakeSandbox(call=lambda _, call: CallResult(status=CallStatus.RETURNED, value=function(*call.args)))


def printing(*outputs: str) -> FakeSandbox:
    """A sandbox whose programs print the outputs given, one per run."""
    left = list(outputs)
    return FakeSandbox(run=lambda *_: Execution(exit=Exit.OK, stdout=left.pop(0).encode(), exit_code=0))


def verdict(sandbox: Sandbox, tests: Any = FUNCTION, completion: str = GOOD, **params: Any) -> Verdict:
    return CodeTests(sandbox, **params).verify(Sample(completion=completion, tests=tests))


# ---------------------------------------------------------------- golden cases


CODE_CASES = read_jsonl(CASES / "code.jsonl")


@pytest.mark.parametrize("row", CODE_CASES, ids=lambda row: row["name"])
def test_golden_case(row: dict[str, Any], local: Sandbox) -> None:
    """Each row is a completion, its tests and the verdict, with the reason in `why`."""
    sample = Sample(
        id=row["name"],
        prompt=row.get("prompt", ""),
        prefill=row.get("prefill", ""),
        completion=row["completion"],
        tests=row["tests"],
    )
    (got,) = judge(CodeTests(local), [sample])
    assert (got.score, str(got.reason)) == (row["score"], row["reason"]), got
    assert (got.status is Status.SCORED) is (row["score"] is not None)


def test_every_reason_has_a_case() -> None:
    """A documented reason that nothing can give would be a promise nobody keeps."""
    elsewhere = {"compile_error", "disk_limit", "sandbox_failed"}  # below, with a fake
    assert {row["reason"] for row in CODE_CASES} | elsewhere | {"truncated"} >= set(CodeTests.reasons)


# ---------------------------------------------------------------- which program


def test_extraction_is_one_linear_scan() -> None:
    """Twice the text costs about twice the time, for the shapes that make regular expressions blow up."""
    for unit in (
        "```python\nx\n```\n",
        "```",
        "<answer>",
        "<answer></answer>\n",
        "<think>",
        "def solve(x):\n",
        "a = b, ",
        " ",
    ):
        seconds = []
        for size in (60_000, 480_000):
            text = unit * (size // len(unit))
            best = min(_timed(text) for _ in range(3))
            seconds.append(max(best, 0.002))
        assert seconds[1] < 8 * 2.5 * seconds[0], (unit, seconds)


def _timed(text: str) -> float:
    start = time.process_time()
    extract_text(text, entry_point="solve", prompt="def solve(x):\n    '''Doc.'''\n")
    return time.process_time() - start


def test_a_prompt_is_parsed_and_never_run() -> None:
    """Code in the prompt is put before the completion, whatever it would do when run."""
    prompt = "import os\nos.abort()\n\n\ndef helper(x):\n    return x\n\n\ndef solve(x):\n    '''Doc.'''\n"
    found = extract(Sample(prompt=prompt, completion="def solve(x):\n    return helper(x)\n"), entry_point="solve")
    assert "def helper" in found.program
    assert "abort" not in found.program


@pytest.mark.parametrize("language", ["c++", "c", "bash", "javascript"])
def test_blocks_of_the_task_s_language_count(language: str) -> None:
    """The label decides; a python block in between does not."""
    label = {"c++": "cpp", "c": "c", "bash": "sh", "javascript": "js"}[language]
    text = f"```{label}\nint main() {{ return 0; }}\n```\n```python\nprint(1)\n```"
    assert extract_text(text, language=language).code == "int main() { return 0; }"


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.sampled_from(
            [
                "```",
                "```python\n",
                "~~~\n",
                "\n",
                "<think>",
                "</think>",
                "<answer>",
                "</answer>",
                GOOD,
                "text ",
                "    ",
                "\t",
                "\r\n",
                "def solve",
                "`",
                "\x00",
                "\ud800",
                "import os\n",
            ]
        ),
        max_size=14,
    )
)
def test_extraction_takes_any_text(parts: list[str]) -> None:
    """No text makes it fail, and what it takes stands in the text."""
    text = "".join(parts)
    found = extract_text(text, entry_point="solve")
    squeezed = "".join(text.split())
    assert all("".join(line.split()) in squeezed for line in found.code.split("\n"))


# ---------------------------------------------------------------- asserts as data


CLOSED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.integers(), inner, max_size=2)
    ),
    max_leaves=6,
)
EXPRESSIONS = (
    "f(X) == {want!r}", "{want!r} == f(X)", "f(X) != {want!r}", "f(X)", "not f(X)", "f(X) is None", "f(X) is not None",
    "f(X) is True", "len(f(X)) == 2", "sorted(f(X)) == sorted({want!r})", "set(f(X)) == set({want!r})",
    "abs(f(X) - 1) < 1e-6", "f(X)[0] == {want!r}", "f(X) in ({want!r}, 1)", "isinstance(f(X), (int, list))",
    "type(f(X)) is list", "str(f(X)) == str({want!r})", "f(X) == {want!r} and f(X) is not None", "0 <= f(X) <= 9",
    "f(X)[::-1] == {want!r}", "all(x for x in f(X))", "[x for x in f(X) if x] == {want!r}",
    "round(f(X), 2) == {want!r}",
    "tuple(f(X)) == {want!r}", "max(f(X)) == 3", "f(X).lower() == {want!r}", "sum(f(X)) == 3",
)  # fmt: skip


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(EXPRESSIONS), CLOSED, CLOSED)
def test_an_assert_on_plain_data_says_what_python_says(expression: str, value: Any, want: Any) -> None:
    """Worked out here on the value that came back, or run by Python: the same result, exceptions being failures."""
    test = expression.replace("X", "1").replace("{want!r}", repr(want))
    calls, _ = plan(f"assert {test}", "f")
    assert calls is not None, test
    try:
        expected = bool(eval(test, {"f": lambda _: value}))  # our own text, from the table above
    except Exception:
        expected = False
    (only,) = calls.rounds
    try:
        got = only.holds(dict.fromkeys(only.needs, value))
    except Exception:
        got = False
    assert got is expected, test


def test_most_asserts_of_humaneval_need_no_second_box() -> None:
    """1,172 of 1,181: calls judged here, or `assert True`."""
    rows = _gzipped("data", "tasks", "humaneval.jsonl.gz")
    by_calls = [plan(row["tests"], row["entry_point"]) for row in rows]
    assert sum(calls is not None for calls, _ in by_calls) >= 160
    assert sum(judge_plan.asserts for calls, judge_plan in by_calls if calls is not None) >= 0.94 * 1181


def test_the_entry_point_s_arguments_keep_the_script_s_values() -> None:
    """A list that the candidate was given may have changed in its box: a later use of it goes to the second box."""
    calls, judge_plan = plan("xs = [3, 1]\nassert f(xs) == sorted(xs)", "f")
    assert calls is None
    assert "changed" in judge_plan.why


def test_a_script_that_does_not_parse_is_the_data_set_s_fault() -> None:
    """`BrokenScript`, also where the parser itself gives up."""
    for script in ("assert f(", "assert " + "(" * 100_000, "\x00", "-" * 200_000 + "1"):
        with pytest.raises(BrokenScript):
            plan(script, "f")


def test_the_evaluator_has_a_budget() -> None:
    """A script's own arithmetic cannot stop us."""
    big = (
        "10 ** 10 ** 10",
        "[0] * 10 ** 10",
        "1 << 10 ** 10",
        "'a' * 10 ** 9",
        "f'{1:10000000000}'",
        "'%999999999d' % 1",
    )
    for value in big:
        start = time.process_time()
        for test in (f"f(1) == {value}", f"f({value}) == 1"):
            calls, _ = plan(f"assert {test}", "f")
            if calls is not None:
                with pytest.raises(asserts.NotPlain):
                    calls.rounds[0].holds({0: 1})
        assert time.process_time() - start < 1, value
    calls, _ = plan("r = f(1)\nassert all(x in r for x in r)", "f")
    assert calls is not None
    assert calls.rounds[0].holds({0: [1, 2, 3]})
    with pytest.raises(asserts.NotPlain):
        calls.rounds[0].holds({0: list(range(300_000))})


def test_what_looks_into_an_object_goes_to_the_second_box() -> None:
    """Equality with an object is false; its items and its truth are asked where it lives."""
    same, _ = plan("assert f(1) == [1]", "f")
    items, _ = plan("assert list(f(1)) == [1]", "f")
    assert same is not None
    assert items is not None
    assert same.rounds[0].holds({0: Opaque("generator")}) is False
    with pytest.raises(NeedsObject):
        items.rounds[0].holds({0: Opaque("generator")})


def test_names_that_a_script_needs_are_found_by_scope() -> None:
    """A local variable of a reference function is not the global that the script calls (MBPP 88)."""
    script = "def ref(x):\n    freq = x\n    return freq\nfor x in (1, 2):\n    assert freq(x) == ref(x)\n"
    _, judge_plan = plan(script, "")
    assert dict(judge_plan.names) == {"freq": "freq"}


def test_sets_keep_the_order_that_the_script_gives_them() -> None:
    """`{12, 13, 14, 15, 16}` iterates 16 first when a script is run, and `tuple(s)` shows it (MBPP 341)."""
    calls, _ = plan("\nassert f({12, 13, 14, 15, 16}) == 1", "f")
    assert calls is not None
    assert list(calls.calls[0].args[0]) == list(eval("{12, 13, 14, 15, 16}"))


# ---------------------------------------------------------------- comparing


@pytest.mark.parametrize(
    ("actual", "expected", "compare", "same"),
    [
        ("1\n2\n", "1\n2", Compare(), True),
        ("1 \n2\n\n", "1\n2", Compare(), True),
        ("1\r\n2\r\n", "1\n2\n", Compare(), True),
        ("1 2", "1\n2", Compare(), False),
        ("1 2", "1\n2", Compare("tokens"), True),
        ("\n1", "1", Compare(), False),
        ("1\n2\n", "1\n2", Compare("exact"), False),
        ("", "", Compare(), True),
        ("", "1", Compare(), False),
        ("1.0000001", "1.0", Compare("float"), True),
        ("1.0000001", "1", Compare("float"), True),
        ("1.00001", "1.0", Compare("float"), False),
        ("1.00001", "1.0", Compare("float", abs_tol=1e-3), True),
        ("1.00001", "1.0", Compare("lines", abs_tol=1e-3), True),
        ("1.00001\n", "1.0 ", Compare("lines", abs_tol=1e-3), True),
        ("1000001", "1000000", Compare("float", rel_tol=0.1), False),
        ("007", "7", Compare("float"), True),
        ("-0", "0", Compare("float"), True),
        ("nan", "nan", Compare("float"), True),
        ("nan", "1.0", Compare("float"), False),
        ("inf", "1e400", Compare("float"), False),
        ("1_0.0", "10.0", Compare("float"), False),
        ("١.0", "1.0", Compare("float"), False),  # an Arabic digit
        ("yes", "YES", Compare("float"), False),
    ],
)
def test_printed_text(actual: str, expected: str, compare: Compare, same: bool) -> None:
    """Lines by default, tokens and exact when asked, a tolerance for numbers that are not both whole."""
    assert (same_output(actual, expected, compare) == "") is same


@pytest.mark.parametrize(
    ("actual", "expected", "compare", "same"),
    [
        ((1, 2), [1, 2], Compare(), True),
        ([(1, 2)], [[1, 2]], Compare(), True),
        ({1: "a"}, {"1": "a"}, Compare(), True),
        ({1: "a", "1": "b"}, {"1": "a"}, Compare(), False),
        ({1, 2}, [1, 2], Compare(), False),
        ("12", ["1", "2"], Compare(), False),
        (0.1 + 0.2, 0.3, Compare(), False),
        (0.1 + 0.2, 0.3, Compare("float"), True),
        ([1, 0.1 + 0.2], [1, 0.3], Compare("float"), True),
        (10**400, 1.5, Compare("float"), False),
        (float("nan"), float("nan"), Compare("float"), False),
        ("1.0000001", 1.0, Compare("float"), False),
        (True, 1, Compare(), True),
        (None, 0, Compare(), False),
        ([3, 1, "a"], ["a", 1, 3], Compare(unordered=True), True),
        ([3, 1], [1, 1], Compare(unordered=True), False),
        (Opaque("A"), 7, Compare(), False),
        ([Opaque("A")], [7], Compare(unordered=True), False),
    ],
)
def test_returned_values(actual: Any, expected: Any, compare: Compare, same: bool) -> None:
    """Python's equality of exact builtins, with what JSON cannot write read back."""
    assert same_value(actual, expected, compare) is same


def test_a_value_in_a_message_is_short_and_never_raises() -> None:
    """Ints over Python's digit limit, endless strings, deep lists."""
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    for value in (10**5000, [10**5000], "x" * 10**6, deep, b"\xff", "\ud800"):
        assert len(show(value)) <= 80


# ---------------------------------------------------------------- shapes of tests


@pytest.mark.parametrize(
    ("value", "kind", "detail"),
    [
        ({"test": "def check(c):\n    assert c(1) == 1", "entry_point": "f"}, "asserts", "f"),
        ({"test_list": ["assert add(1, 2) == 3"], "test_setup_code": "A = 1"}, "asserts", "add"),
        ({"test_list": ["assert set(pairs([1])) == {1}"], "test_imports": ["import math"]}, "asserts", "pairs"),
        ({"input_output": json.dumps({"inputs": ["1\n"], "outputs": ["2\n"]})}, "stdio", ""),
        ({"inputs": [[1, 2]], "outputs": [[3]], "fn_name": "add"}, "calls", "add"),
        ({"inputs": [["1", "2"]], "outputs": ["3"]}, "stdio", ""),
        (
            {
                "verification_info": {
                    "language": "python",
                    "test_cases": [{"input": "1", "output": "2", "type": "stdin_stdout"}],
                }
            },
            "stdio",
            "",
        ),
        (
            {
                "verification_info": json.dumps(
                    {"language": "cpp", "test_cases": [{"input": "1", "output": "2", "fn_name": None}]}
                )
            },
            "stdio",
            "",
        ),
        (
            {
                "public_test_cases": json.dumps([{"input": "[1, 2]\n3", "output": "4", "testtype": "functional"}]),
                "metadata": json.dumps({"func_name": "add"}),
            },
            "calls",
            "Solution.add",
        ),
        ({"public_test_cases": json.dumps([{"input": "1", "output": "2", "testtype": "stdin"}])}, "stdio", ""),
        ({"official_tests": [{"input": "1", "output": "2"}], "time_limit": 2.0, "memory_limit": 256.0}, "stdio", ""),
        (["assert f(1) == 2"], "asserts", "f"),
        ("assert f(1) == 2", "asserts", ""),
        (json.dumps(FUNCTION), "calls", "solve"),
        ({"tests": FUNCTION}, "calls", "solve"),
    ],
)
def test_shapes_of_known_data_sets(value: Any, kind: str, detail: str) -> None:
    """HumanEval, MBPP, APPS, open-r1, LiveCodeBench, and ours as JSON text."""
    tests = read_tests(value)
    assert (tests.kind, tests.entry_point) == (kind, detail)


def test_functional_arguments_are_one_json_value_per_line() -> None:
    """LiveCodeBench's format."""
    row = {
        "test_cases": [{"input": '[1, 2]\n"a"', "output": "4", "testtype": "functional"}],
        "entry_point": "Solution.f",
    }
    (case,) = read_tests(tests_of_row(row)).cases
    assert (case.args, case.expected) == (([1, 2], "a"), 4)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (7, "int"),
        ({"kind": "call", "cases": []}, "did you mean 'calls'"),
        ({"kind": "calls", "cases": [{"args": [1], "expected": 1}]}, "entry_point"),
        ({"kind": "calls", "entry_point": "f", "cases": [{"args": [1]}]}, "expected"),
        ({"kind": "calls", "entry_point": "f", "cases": [{"args": 1, "expected": 1}]}, "args"),
        ({"kind": "calls", "entry_point": "f(", "cases": [{"args": [1], "expected": 1}]}, "entry_point"),
        ({"kind": "calls", "entry_point": "f", "case": []}, "did you mean 'cases'"),
        ({**SQUARES, "limits": {"cpu_second": 3}}, "did you mean 'cpu_seconds'"),
        ({**SQUARES, "limits": {"cpu_seconds": -1}}, "above 0"),
        ({**SQUARES, "compare": "token"}, "tokens"),
        ({**SQUARES, "compare": {"abs_tol": -1}}, "abs_tol"),
        ({**SQUARES, "language": "cobol"}, "language"),
        ({**SQUARES, "checker": {"source": ""}}, "source"),
        ({**CHECK, "language": "bash"}, "python"),
        ({"kind": "pytest", "files": {"../test_a.py": ""}}, "'..'"),
        ({"kind": "pytest", "files": {"a.py": ""}}, "test_*.py"),
        ({"inputs": ["1"], "outputs": []}, "1 inputs for 0 outputs"),
        ({"public_test_cases": "[]", "private_test_cases": "eJxrYJmqwQAB"}, "pickle"),
        ({"official_tests": [{"input": "1", "output": "2"}], "generated_checker": "print(1)"}, "checker"),
        ({"official_tests": [{"input": "1", "output": "2"}], "input_mode": "file"}, "stdin"),
        ("{broken", "JSON"),
        ({"question": "?"}, "known fields"),
    ],
)
def test_an_unreadable_shape_says_what_is_allowed(value: Any, says: str) -> None:
    """Whoever wrote the row can mend it from the message alone."""
    with pytest.raises(TestsUnreadable, match=says.replace("(", r"\(").replace("*", r"\*").replace(".", r"\.")):
        read_tests(value)


# ---------------------------------------------------------------- what is asked of the sandbox


@pytest.mark.parametrize("tests", [FUNCTION, CHECK, SQUARES, TWO_BOXES], ids=["calls", "asserts", "stdio", "two boxes"])
def test_an_outage_is_an_error_and_never_a_number(tests: Any) -> None:
    """A sandbox that is down, or cannot start, says nothing about the completion."""
    for sandbox in (FakeSandbox.down("no worker"), FakeSandbox(unusable="install it")):
        got = verdict(sandbox, tests)
        assert (got.status, got.score, got.reason) == (Status.ERROR, None, "sandbox_failed")


@pytest.mark.parametrize("tests", [FUNCTION, CHECK], ids=["calls", "asserts"])
def test_expected_values_never_enter_the_candidate_s_box(tests: Any) -> None:
    """What is sent is the program and the arguments."""
    sandbox = returning(lambda x: 3 * x + 1)
    assert verdict(sandbox, tests).score == 1.0
    (request,) = sandbox.requests
    sent = repr(request.program.files) + repr(request.calls)
    assert "31" not in sent
    assert "-14" not in sent


def test_every_test_counts_in_the_denominator() -> None:
    """Two of three right is two thirds, and nothing under `all`."""
    sandbox = returning(lambda x: 7 if x == 2 else 31 if x == 10 else 0)
    assert verdict(sandbox, FUNCTION, score="share").score == pytest.approx(2 / 3)
    assert verdict(sandbox, CHECK, score="share").score == pytest.approx(2 / 3)
    assert verdict(sandbox, FUNCTION).score == 0.0


def test_early_stop_ends_at_the_first_failure() -> None:
    """Under `all` the rest is not run; under `share` it is."""
    asked: list[Any] = []
    sandbox = returning(lambda x: asked.append(x))
    got = verdict(sandbox, FUNCTION)
    assert asked == [2]
    assert got.parts is not None
    assert [t["status"] for t in got.parts["tests"]] == ["wrong_answer", "not_run", "not_run"]
    verdict(sandbox, FUNCTION, score="share")
    assert asked == [2, 2, 10, -5]
    assert verdict(printing("1\n4\n9\n", "x"), SQUARES, score="share", early_stop=True).score == 0.5


def test_max_tests_spreads_over_the_declared_ones() -> None:
    """The first tests are the prompt's examples: taking only those would pay for knowing them.

    The task's other fields stay (rllm-org/rllm#128: the function's name was lost).
    """
    asked: list[Any] = []

    def recording(x: Any) -> Any:
        asked.append(x)
        return x

    cases = [{"args": [i], "expected": i} for i in range(10)]
    got = verdict(returning(recording), {"kind": "calls", "entry_point": "g", "cases": cases}, max_tests=2)
    assert (got.score, asked) == (1.0, [0, 5])
    script = "\n".join(f"assert g({i}) == {i}" for i in range(10))
    asked.clear()
    got = verdict(returning(recording), {"kind": "asserts", "script": script}, max_tests=2)
    assert (got.score, asked) == (1.0, [0, 5])
    two_boxes = FakeSandbox()
    script = "\n".join(f"h = g({i})\nassert h.count is not h" for i in range(10))
    verdict(two_boxes, {"kind": "asserts", "script": script, "entry_point": "g"}, max_tests=2)
    assert (two_boxes.requests[-1].options or {}).get("max_tests") == 2


def test_a_program_that_hangs_is_run_once() -> None:
    """Three tests cost one limit, also where a share is counted."""
    hang = Execution(exit=Exit.CPU_LIMIT, limit_hit="cpu_seconds")
    for score in ("all", "share"):
        sandbox = FakeSandbox(run=lambda *_: hang)
        got = verdict(sandbox, SQUARES, score=score)
        assert (got.score, got.reason, len(sandbox.requests)) == (0.0, "time_limit", 1)


@pytest.mark.parametrize(
    ("execution", "reason"),
    [
        (Execution(exit=Exit.COMPILE_ERROR, stderr=b"main.c:1: error"), "compile_error"),
        (Execution(exit=Exit.DISK_LIMIT), "disk_limit"),
        (Execution(exit=Exit.MEMORY_LIMIT), "memory_limit"),
        (Execution(exit=Exit.OUTPUT_LIMIT), "output_limit"),
        (Execution(exit=Exit.WALL_LIMIT), "time_limit"),
        (Execution(exit=Exit.SIGNAL, signal=11), "runtime_error"),
        (Execution(exit=Exit.NONZERO, exit_code=1, stderr=b"  File\nSyntaxError: invalid syntax\n"), "syntax_error"),
        (Execution(exit=Exit.NONZERO, exit_code=1, stderr=b"MemoryError\n"), "memory_limit"),
    ],
)
def test_each_end_of_a_program_has_its_reason(execution: Execution, reason: str) -> None:
    """A scored 0 that says why."""
    got = verdict(FakeSandbox(run=lambda *_: execution), SQUARES)
    assert (got.score, got.reason) == (0.0, reason)


def judged(*statuses: TestStatus, finished: bool = True, fault: str = "", **boxes: Execution) -> FakeSandbox:
    done = Execution(exit=Exit.OK, exit_code=0)
    outcomes = tuple(TestOutcome(name=f"line {i}", status=status) for i, status in enumerate(statuses))
    return FakeSandbox(
        judge=lambda *_: JudgeExecution(
            tests=boxes.get("tests", done),
            solution=boxes.get("solution", done),
            outcomes=outcomes,
            finished=finished,
            test_fault=fault,
        )
    )


P, F, N = TestStatus.PASSED, TestStatus.FAILED, TestStatus.NOT_RUN


@pytest.mark.parametrize(
    ("sandbox", "score", "reason"),
    [
        (judged(P, P), 1.0, "passed"),
        (judged(P, N), 1.0, "passed"),  # an assert in the branch not taken (EvalPlus)
        (judged(P, F), 0.0, "wrong_answer"),
        (judged(P, P, finished=False), 0.0, "wrong_answer"),
        (judged(N, N, finished=False), 0.0, "wrong_answer"),
        (judged(N, N), None, "tests_broken"),
        (judged(P, P, fault="No module named 'x'"), None, "tests_broken"),
        (judged(P, P, solution=Execution(exit=Exit.SANDBOX_ERROR, detail="lost")), None, "sandbox_failed"),
        (judged(P, P, tests=Execution(exit=Exit.SANDBOX_ERROR, detail="lost")), None, "sandbox_failed"),
        (judged(P, N, finished=False, tests=Execution(exit=Exit.NONZERO, exit_code=1)), None, "sandbox_failed"),
        (judged(P, N, finished=False, tests=Execution(exit=Exit.SIGNAL, signal=9)), None, "sandbox_failed"),
        (judged(P, F, finished=False, solution=Execution(exit=Exit.CPU_LIMIT)), 0.0, "time_limit"),
        (judged(finished=False, solution=Execution(exit=Exit.MEMORY_LIMIT)), 0.0, "memory_limit"),
    ],
)
def test_the_judge_s_outcomes_become_a_verdict(sandbox: FakeSandbox, score: float | None, reason: str) -> None:
    """A pass needs a script that ran to its end, an assert that held and none that did not."""
    got = verdict(sandbox, TWO_BOXES)
    assert (got.score, got.reason) == (score, reason)


def test_share_of_a_judged_script_counts_what_was_not_reached() -> None:
    """The declared asserts are the denominator once one failed."""
    got = verdict(judged(P, F, N, finished=False), TWO_BOXES, score="share")
    assert got.score == pytest.approx(1 / 3)


def test_in_process_is_refused_unless_asked_for_and_then_marked() -> None:
    """A candidate beside its tests can forge the outcome."""
    tests = {**TWO_BOXES, "in_process": True}
    sandbox = judged(P)
    refused = verdict(sandbox, tests)
    assert (refused.status, refused.reason, sandbox.requests) == (Status.INVALID, "in_process_refused", [])
    allowed = verdict(sandbox, tests, allow_in_process=True)
    assert allowed.parts is not None
    assert (allowed.score, allowed.parts["mode"]) == (1.0, "in_process")
    (request,) = sandbox.requests
    assert request.options is not None
    assert request.options["together"] is True


def test_the_task_s_own_limits_win() -> None:
    """Limits of the row over those of the verifier; a wall limit that nobody named follows the CPU limit."""
    sandbox = printing("x")
    verdict(sandbox, {**SQUARES, "limits": {"cpu_seconds": 9}}, cpu_seconds=1.0, memory_bytes=64 << 20)
    (request,) = sandbox.requests
    assert (request.limits.cpu_seconds, request.limits.wall_seconds) == (9.0, 11.0)
    assert request.limits.memory_bytes == 64 << 20


def test_two_samples_are_judged_at_once_where_the_sandbox_has_two_workers() -> None:
    """Each of two calls waits for the other: one after the other would never end."""
    together = threading.Barrier(2, timeout=20)

    def call(*_: Any) -> CallResult:
        together.wait()
        return CallResult(status=CallStatus.RETURNED, value=7)

    tests = {"kind": "calls", "entry_point": "solve", "cases": [{"args": [2], "expected": 7}]}
    samples = [Sample(id=str(i), completion=GOOD, tests=tests) for i in range(4)]
    got = CodeTests(FakeSandbox(call=call, workers=2)).verify_many(samples)
    assert [v.score for v in got] == [1.0] * 4


def test_a_sandbox_of_yours_is_not_closed() -> None:
    """Who made it closes it."""
    sandbox = returning(lambda x: 7)
    verifier = CodeTests(sandbox)
    verifier.close()
    assert not sandbox.closed


def test_importing_the_verifier_starts_nothing() -> None:
    """A sandbox starts at the first program, and pickling carries none."""
    verifier = CodeTests()
    copy = pickle.loads(pickle.dumps(verifier))
    assert copy.fingerprint == verifier.fingerprint == CodeTests(sandbox="docker").fingerprint
    assert copy.params.sandbox == "local"
    assert CodeTests(sandbox="docker").params.sandbox == "docker"


# ---------------------------------------------------------------- on the local sandbox


def test_verdicts_do_not_depend_on_order_or_company(local: Sandbox) -> None:
    """Any order, any number of workers."""
    rows = [row for row in CODE_CASES if row["score"] is not None and "limits" not in row["tests"]][::4]
    samples = [
        Sample(id=r["name"], completion=r["completion"], tests=r["tests"], prompt=r.get("prompt", "")) for r in rows
    ]
    verifier = CodeTests(local)
    together = verifier.verify_many(samples)
    assert verifier.verify_many(samples[::-1])[::-1] == together
    assert [verifier.verify(sample) for sample in samples] == together


def test_verifiers_without_a_sandbox_share_one_and_leave_none(local: Sandbox) -> None:
    """Two verifiers, one set of workers; the last to close ends it."""
    from rewards.code_tests import _SHARED

    one, two = CodeTests(), CodeTests(score="share")
    sample = Sample(completion=GOOD, tests=FUNCTION)
    assert one.verify(sample).score == two.verify(sample).score == 1.0
    assert one._sandbox() is two._sandbox()
    one.close()
    assert two.verify(sample).score == 1.0
    two.close()
    assert "local" not in _SHARED.open
    assert one.verify(sample).score == 1.0  # a closed verifier starts again when it is used again
    one.close()


C_SQUARES = """int main() {
    int n;
    scanf("%d", &n);
    for (int i = 1; i <= n; i++) printf("%d\\n", i * i);
}"""
OTHER_LANGUAGES = {
    "c": f"#include <stdio.h>\n{C_SQUARES}",
    "c++": f"#include <cstdio>\n{C_SQUARES}",
    "bash": "read n\nfor ((i = 1; i <= n; i++)); do echo $((i * i)); done",
    "javascript": "const n = parseInt(require('fs').readFileSync(0));\nfor (let i = 1; i <= n; i++) console.log(i * i)",
}


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_other_languages_take_stdin_tests(language: str, local: Sandbox) -> None:
    """Right, wrong and broken, where the tool chain is there; compiled once for all cases."""
    tools = {"c": ("gcc", "cc"), "c++": ("g++",), "bash": ("bash",), "javascript": ("node", "nodejs")}[language]
    if not any(shutil.which(tool, path="/usr/local/bin:/usr/bin:/bin") for tool in tools):
        pytest.skip(f"no {tools[0]} on this machine")
    label = {"c++": "cpp"}.get(language, language)
    source = OTHER_LANGUAGES[language]
    cases = [{"input": f"{n}\n", "output": "".join(f"{i * i}\n" for i in range(1, n + 1))} for n in range(1, 9)]
    tests = {"kind": "stdio", "cases": cases, "language": language}
    assert verdict(local, tests, f"```{label}\n{source}\n```").score == 1.0
    assert verdict(local, tests, f"```{label}\n{source.replace('i * i', 'i')}\n```").reason == "wrong_answer"
    broken = verdict(local, tests, f"```{label}\n{source}}}{{(\n```")
    assert broken.reason == ("compile_error" if language in ("c", "c++") else "runtime_error")


def test_an_expected_output_of_megabytes_can_be_printed(local: Sandbox) -> None:
    """The output limit is counted from what is expected."""
    tests = {"kind": "stdio", "cases": [{"input": "20000000", "output": "x" * 20_000_000}]}
    assert verdict(local, tests, "import sys\nsys.stdout.write('x' * int(input()))").score == 1.0


def test_a_returned_dict_of_colliding_keys_costs_nothing(local: Sandbox) -> None:
    """Multiples of 2**61-1 share one hash: building a dict of them here would take minutes."""
    program = (
        "def f(x):\n"
        "    many = [i * (2 ** 61 - 1) for i in range(100000)]\n"
        "    return dict.fromkeys(many[:100]) if x else many\n"
    )
    for script in ("assert f(1) == {}", "assert set(f(0)) == {1}"):
        start = time.process_time()
        got = verdict(local, {"kind": "asserts", "script": script, "entry_point": "f"}, program)
        assert got.score == 0.0, got
        assert time.process_time() - start < 3


FORGING = ("comparator", "comparison", "early-exit", "forge-result", "monkeypatch", "steal-tests", "honest")


def test_the_catalogue_s_forgers_are_not_paid_and_its_honest_programs_pass(local: Sandbox) -> None:
    """Every program of `sandboxes/hostile` that works on the judge, by each way of judging."""
    rows = [row for row in read_jsonl(CATALOGUE / "index.jsonl") if row["kind"] in FORGING]
    function: list[Any] = [FUNCTION, CHECK, TWO_BOXES]
    forms = {"func": function, "stdio": [SQUARES], "both": [*function, SQUARES]}
    asked = []
    for row in rows:
        try:
            source = (CATALOGUE / f"{row['id']}.py").read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a file in another encoding is no completion, which is text
        for tests in forms[row.get("task") or row["mode"]]:
            asked.append((row, Sample(id=row["id"], completion=source, tests=tests)))
    assert len(rows) > 40
    got = CodeTests(local, cpu_seconds=2.0, wall_seconds=3.0).verify_many([sample for _, sample in asked])
    wrong = [(row["id"], v) for (row, _), v in zip(asked, got, strict=True) if v.score != (row["expect"] == "pass")]
    assert wrong == []


# ---------------------------------------------------------------- the corpora beside the checkout


def _gzipped(*parts: str) -> list[dict[str, Any]]:
    import gzip

    with gzip.open(shared(*parts), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _rows_or_skip(name: str, rows: list[dict[str, Any]]) -> list[Any]:
    """Parameters, or one that skips with the reason: an empty set would be a skip without one."""
    absent = pytest.mark.skip(f"needs the shared corpora, which are not part of a clone: {name} is absent")
    return [*rows] or [pytest.param({"id": "absent"}, marks=absent)]


def _hostile() -> list[Any]:
    index = SHARED / "cases" / "hostile" / "index.json"
    return _rows_or_skip("hostile", json.loads(index.read_text()) if index.exists() else [])


@pytest.mark.parametrize("row", _hostile(), ids=lambda row: row["id"])
def test_no_hostile_program_is_paid_and_no_honest_one_fails(row: dict[str, Any], local: Sandbox) -> None:
    """By calls, by asserts, in two boxes, by stdin and stdout."""
    source = shared("cases", "hostile", f"{row['id']}.py").read_text()
    function: list[Any] = [FUNCTION, CHECK, TWO_BOXES]
    forms = {"func": function, "stdio": [SQUARES], "both": [*function, SQUARES]}
    for tests in forms[row["mode"]]:
        got = verdict(local, tests, source, cpu_seconds=2.0, wall_seconds=3.0)
        assert got.status is Status.SCORED, got
        assert got.score == (1.0 if row["expect"] == "pass" else 0.0), (tests, got)


def _bugs() -> list[Any]:
    path = SHARED / "cases" / "bugs_dev.jsonl"
    rows = read_jsonl(path) if path.exists() else []
    return _rows_or_skip(path.name, [r for r in rows if r["area"] == "code" and r["confidence"] in ("sure", "policy")])


def _bug_tests(given: dict[str, Any]) -> Any:
    """A bug row's tests in our shape."""
    compare = "float" if given.get("compare") == "float_tolerance_1e-6" else None
    extra: dict[str, Any] = {"compare": compare} if compare else {}
    limits = {}
    if "time_limit_s" in given:
        limits["cpu_seconds"] = given["time_limit_s"]
    if "memory_mb" in given:
        limits["memory_bytes"] = given["memory_mb"] << 20
    if limits:
        extra["limits"] = limits
    cases = given["tests"]
    if cases and "assert" in cases[0]:
        return {
            "kind": "asserts",
            "script": [f"assert {case['assert']}" for case in cases],
            "entry_point": "f",
            **extra,
        }
    if cases and "call" in cases[0]:
        calls = [{"args": case["args"], "expected": case["returns"]} for case in cases]
        return {"kind": "calls", "entry_point": cases[0]["call"], "cases": calls, **extra}
    stdio = []
    for case in cases:
        output = case["stdout"] if "stdout" in case else ast.literal_eval("'1'") + "0" * 5000 + "\n"
        stdio.append({"input": case["stdin"], "output": output})
    checkers = [case["checker"] for case in cases if "checker" in case]
    if checkers:
        extra["checker"] = f"import sys\nout = open(sys.argv[2]).read()\nsys.exit(0 if {checkers[0]} else 1)\n"
    return {"kind": "stdio", "cases": stdio, **extra}


@pytest.mark.parametrize("row", _bugs(), ids=lambda row: row["id"])
def test_a_bug_that_others_had(row: dict[str, Any], local: Sandbox) -> None:
    """Rows from public bug reports, each with the right verdict."""
    given, expect = row["input"], row["expect"]
    tests = _bug_tests(given)
    sandbox = FakeSandbox.down(given["fault"]) if "fault" in given else local
    samples = [Sample(id="0", completion=given["candidate"], tests=tests)]
    if "parallel_candidate" in given:
        ok = {"kind": "stdio", "cases": [{"input": "", "output": "1\n"}]}
        samples.append(Sample(id="1", completion=given["parallel_candidate"], tests=ok))
    if "parallel" in given:
        samples = [Sample(id=str(i), completion=given["candidate"], tests=tests) for i in range(given["parallel"])]
    start = time.monotonic()
    got = CodeTests(sandbox, max_tests=given.get("max_tests")).verify_many(samples)
    assert time.monotonic() - start < expect.get("within_seconds", 60)
    assert got[0].score == expect["reward"], got[0]
    if "parallel" in given:
        assert all(v.score == expect["reward"] for v in got)
    if "parallel_candidate" in given:
        assert got[1].score == 1.0
    kinds = {"timeout": "time_limit", "memory": "memory_limit"}
    if expect["verdict"] in kinds:
        assert got[0].reason == kinds[expect["verdict"]]


@pytest.mark.parametrize(
    "name", ["mbpp_starcoder", "humaneval_starcoder", "humaneval_completions_codegen16b", "chat_can_ai_code"]
)
def test_labels_of_real_completions_are_met(name: str, local: Sandbox) -> None:
    """Every 12th row; `tests/benchmarks/code_labels.py` has them all, and the cause of each that differs."""
    rows = _gzipped("data", "code", f"{name}.jsonl.gz")[::12]
    verifier = CodeTests(local, cpu_seconds=6.0)
    samples = [
        Sample(
            id=row["id"],
            prompt=row["prompt"],
            completion=row.get("code", row["completion"]),
            tests={"kind": "asserts", "script": row["tests"], "entry_point": row["entry_point"]},
        )
        for row in rows
    ]
    got = verifier.verify_many(samples)
    assert all(v.status is Status.SCORED for v in got)
    differing = [
        (row["id"], v.reason, v.detail)
        for row, v in zip(rows, got, strict=True)
        if (v.score == 1.0) is not row["label"]
    ]
    assert len(differing) <= len(rows) * 0.025, differing


@pytest.mark.parametrize("name", ["humaneval", "mbpp"])
def test_reference_solutions_pass(name: str, local: Sandbox) -> None:
    """A third of the canonical solutions, each third row."""
    rows = _gzipped("data", "tasks", f"{name}.jsonl.gz")[::3]
    samples = [
        Sample(
            id=row["id"],
            prompt=row["prompt"] if name == "humaneval" else "",
            completion=row["canonical_solution"],
            tests={"kind": "asserts", "script": row["tests"], "entry_point": row["entry_point"]},
        )
        for row in rows
    ]
    got = CodeTests(local).verify_many(samples)
    assert [(row["id"], v.detail) for row, v in zip(rows, got, strict=True) if v.score != 1.0] == []


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_process_stays_when_the_verifier_is_closed() -> None:
    """A verifier that started its own sandbox leaves nothing behind."""
    others = _children()
    verifier = CodeTests()
    got = verifier.verify(Sample(completion=GOOD, tests=FUNCTION))
    if got.status is Status.ERROR:
        pytest.skip(got.detail)
    started = _children() - others
    assert started
    verifier.close()
    deadline = time.monotonic() + 5
    while started & _children() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not started & _children()


def _children() -> set[int]:
    """Living processes whose parent is this one."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid() and fields[0] != b"Z":
            found.add(int(stat.parent.name))
    return found
