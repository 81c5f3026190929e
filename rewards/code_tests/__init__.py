"""`code`: runs what a completion hands in against the task's tests, in a sandbox, and says what came of it.

The verdict never comes from the process that runs the model's code. That process sends data: what it printed, or the
plain values its function returned. What is right is decided outside it: printed text is compared here; calls and
asserts about plain data are compared here (`asserts`, `compare`); any other test script runs in a second box, with
stubs that ask the first. So an exit code, a printed PASS, a patched `assert`, an object that equals everything or an
`atexit` handler reach nothing, and expected values never enter the candidate's box.

The four shapes of `Sample.tests`, and the data sets that are read into them, are described in
`rewards.code_tests.shapes`; how the program is found in a completion in `rewards.code_tests.extract`.
"""

from __future__ import annotations

import atexit
import os
import re
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Literal, Protocol

from pydantic import Field

from rewards.code_tests import asserts
from rewards.code_tests.asserts import BrokenScript, CallPlan, JudgePlan, NeedsObject, NotPlain
from rewards.code_tests.compare import Compare, same_output, same_value, show
from rewards.code_tests.extract import Extraction, defines, extract, put_before
from rewards.code_tests.shapes import Case, Checker, Tests, TestsUnreadable, read_tests, tests_of_row
from rewards.registry import Params, Verifier, register
from rewards.verdict import Reason, Sample, Verdict
from sandboxes.contract import (
    Call,
    CallResult,
    CallsExecution,
    CallStatus,
    Execution,
    Exit,
    JudgeExecution,
    Limits,
    Program,
    Sandbox,
    SandboxError,
    TestStatus,
)
from sandboxes.zygote.judging import spread

__all__ = ["CodeTests", "CodeTestsParams", "TestsUnreadable", "read_tests", "tests_of_row"]

WALL_SLACK_SECONDS: Final = 2.0
"""How much longer than its CPU limit a program may take where the task names no wall limit."""
JUDGE_VALUE_BYTES: Final = 256 * 1024 * 1024
"""Size of one value between the two boxes of the judge; what comes to this process has the smaller `Limits` default."""
OUTPUT_BYTES: Final = 16 * 1024 * 1024
"""What a program may print beyond twice the expected output, where the task names no limit."""
MAX_PARTS_TESTS: Final = 500
"""Most tests listed one by one in a verdict's parts; the counts are always there."""

LEETCODE_IMPORTS: Final = """\
import bisect, collections, copy, datetime, functools, heapq, itertools, json, math, operator, random, re, string, sys
from bisect import *
from collections import *
from copy import *
from functools import *
from heapq import *
from itertools import *
from math import *
from operator import *
from string import *
from typing import *
from builtins import *
"""
"""What LeetCode has imported before a `class Solution`, and LiveCodeBench's harness too: solutions use `List` without
importing it. The last line takes back what `math` and `operator` hide."""

_SOURCE_FILES: Final = {
    "python": "main.py",
    "bash": "main.sh",
    "c": "main.c",
    "c++": "main.cpp",
    "javascript": "main.js",
}
_LIMIT_REASONS: Final = {
    Exit.CPU_LIMIT: "time_limit",
    Exit.WALL_LIMIT: "time_limit",
    Exit.MEMORY_LIMIT: "memory_limit",
    Exit.OUTPUT_LIMIT: "output_limit",
    Exit.DISK_LIMIT: "disk_limit",
    Exit.COMPILE_ERROR: "compile_error",
}


class CodeTestsParams(Params):
    """Parameters of `code`. Limits named by a task's own tests win over these.

    Attributes:
        score: "all": 1 when every test passes, else 0. "share": passed tests over declared tests. A program that runs
            into a limit ends its sample there: the tests it did not reach count as not passed.
        early_stop: stop at the first test that fails; None: yes for "all", no for "share".
        max_tests: use at most so many of the declared tests, spread evenly over them (the first ones are the examples
            in the prompt as a rule, and a program that only knows those should not pass).
        cpu_seconds: CPU time of one program run (of one case, for stdio tests; of all calls together otherwise).
        wall_seconds: elapsed time of the same; None: `cpu_seconds` + 2.
        memory_bytes: resident memory, above an idle interpreter's.
        compare: how printed text is compared where the task does not say: lines, tokens, exact or float.
        abs_tol, rel_tol: tolerance for numbers that are not both whole; None is exact.
        language: of the tasks that do not say.
        allow_in_process: let tests that ask for it (`"in_process": true`) run in the candidate's own process. Such a
            candidate can forge its verdict: never in training. Marked in `parts` as mode "in_process".
        sandbox: name of the backend where no sandbox object was passed in: local, docker or remote.
    """

    score: Literal["all", "share"] = "all"
    early_stop: bool | None = None
    max_tests: int | None = Field(None, ge=1)
    cpu_seconds: float = Field(4.0, gt=0, allow_inf_nan=False)
    wall_seconds: float | None = Field(None, gt=0, allow_inf_nan=False)
    memory_bytes: int = Field(512 * 1024 * 1024, ge=16 * 1024 * 1024)
    compare: Literal["lines", "tokens", "exact", "float"] = "lines"
    abs_tol: float | None = Field(None, ge=0, allow_inf_nan=False)
    rel_tol: float | None = Field(None, ge=0, allow_inf_nan=False)
    language: Literal["python", "bash", "c", "c++", "javascript"] = "python"
    allow_in_process: bool = False
    # Where a program ran does not change what is right, so it is no part of the fingerprint.
    sandbox: str = Field("local", exclude=True)


@dataclass(slots=True)
class _Findings:
    """What became of each test: "passed", "not_run", or the reason it failed."""

    mode: str
    names: Sequence[str]
    statuses: list[str] = field(default_factory=list)
    detail: str = ""
    unscored: Verdict | None = None

    def __post_init__(self) -> None:
        self.statuses = self.statuses or ["not_run"] * len(self.names)

    def fail(self, test: int, reason: str, detail: str) -> None:
        """The first word on a test stands, and the first detail is the verdict's."""
        if self.statuses[test] in ("not_run", "passed"):
            self.statuses[test] = reason
            self.detail = self.detail or f"{self.names[test]}: {detail}"


@register("code")
class CodeTests(Verifier[CodeTestsParams]):
    """Runs the completion's program against the task's tests in a sandbox.

    Args:
        sandbox: a `sandboxes.Sandbox` (a value of yours, closed by you), or the name of a backend; without it one of
            `params.sandbox` is started at first use, shared by all verifiers of the process that did not bring theirs.
        params: see `CodeTestsParams`.
    """

    version: ClassVar[int] = 1
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    needs: ClassVar[tuple[str, ...]] = ("tests",)
    reasons: ClassVar[Mapping[str, str]] = {
        "passed": "every test passed",
        "wrong_answer": "a test ran, and the answer was not the expected one",
        "no_code": "the completion holds no program",
        "syntax_error": "the program does not parse",
        "compile_error": "the compiler refused the program",
        "runtime_error": "the program, or a call of it, ended by an exception, a signal or an exit code other than 0",
        "exited_early": "the program ended itself before it had answered",
        "missing_entry_point": "the program does not define the function under test",
        "time_limit": "the program ran into its CPU or wall limit",
        "memory_limit": "the program ran into its memory limit",
        "output_limit": "the program printed or returned more than the limit",
        "disk_limit": "the program wrote more files than the limit",
        "tests_missing": "invalid: the row has no tests, or none are left",
        "tests_unreadable": "invalid: the tests are in no known shape; the detail says what is allowed",
        "tests_broken": "invalid: the test script itself fails (syntax, a package it imports, no assert reached)",
        "in_process_refused": "invalid: the tests ask to run in the candidate's process; see allow_in_process",
        "sandbox_failed": "error: the sandbox could not run the program; says nothing about it",
        "checker_failed": "error: the task's checker program failed",
    }
    source: ClassVar[str] = (
        "HumanEval (arXiv:2107.03374) and MBPP (arXiv:2108.07732) assert scripts, APPS (arXiv:2105.09938) stdin/stdout "
        "cases; here run with the tests outside the candidate's process"
    )
    example: ClassVar[Mapping[str, Any]] = {
        "completion": "```python\ndef square(x):\n    return x * x\n```",
        "tests": {"kind": "calls", "entry_point": "square", "cases": [{"args": [3], "expected": 9}]},
    }

    def __init__(self, sandbox: Sandbox | str | None = None, **params: Any) -> None:
        if isinstance(sandbox, str):
            params["sandbox"] = sandbox
            sandbox = None
        super().__init__(**params)
        self._given: Sandbox | None = sandbox
        self._lease: _Lease | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"params": self.params, "_given": self._given, "_lease": None}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)

    # -- the boundary

    def verify(self, sample: Sample) -> Verdict:
        """The verdict on one sample; see `reasons`."""
        try:
            tests = read_tests(sample.tests)
            compare = tests.comparison(self._default_compare())
        except TestsUnreadable as error:
            return Verdict.invalid("tests_missing" if error.missing else "tests_unreadable", str(error))
        if tests.in_process and not self.params.allow_in_process:
            return Verdict.invalid(
                "in_process_refused",
                "these tests run in the candidate's own process, where it can forge the verdict; "
                "pass allow_in_process=True if the completions can be trusted (never in training)",
            )
        language = tests.language or self.params.language
        try:
            entry_point = _entry_point(tests)
        except BrokenScript as error:
            return Verdict.invalid("tests_broken", str(error))
        found = extract(sample, language=language, entry_point=entry_point or None)
        if not found.code:
            cut = found.cut or sample.truncated is True
            what = "ended before any program was written" if cut else "holds no program"
            return Verdict.scored(0.0, Reason.TRUNCATED if cut else "no_code", f"the completion {what}")
        try:
            findings = self._findings(self._sandbox(), tests, found, language, compare)
        except BrokenScript as error:
            return Verdict.invalid("tests_broken", str(error), extracted=found.code)
        except SandboxError as error:
            return Verdict.error("sandbox_failed", str(error), extracted=found.code)
        return self._verdict(findings, found)

    def verify_many(self, samples: Sequence[Sample]) -> list[Verdict]:
        """One verdict per sample, in order; as many at once as the sandbox has workers."""
        if len(samples) < 2:
            return [self.verify(sample) for sample in samples]
        try:
            workers = self._sandbox().workers
        except SandboxError:
            workers = 1
        with ThreadPoolExecutor(max(1, min(workers, len(samples)))) as threads:
            return list(threads.map(self.verify, samples))

    def close(self) -> None:
        """Lets go of the shared sandbox; one that was passed in stays open."""
        if self._lease is not None:
            self._lease.give_back()
            self._lease = None

    def _sandbox(self) -> Sandbox:
        if self._given is not None:
            return self._given
        with _SHARED.lock:
            if self._lease is None or not self._lease.alive:
                self._lease = _Lease(self, self.params.sandbox)
            return self._lease.sandbox

    @classmethod
    def walls(cls) -> list[str]:
        """Which walls of the local sandbox stand on this machine, one line each, strongest first."""
        import sandboxes

        try:
            with sandboxes.get("local") as sandbox:
                return [
                    f"{'stands' if w.stands else 'absent'}: {w.name}; {w.detail}".rstrip("; ") for w in sandbox.walls()
                ]
        except SandboxError as error:
            return [f"the local sandbox cannot start here: {error}"]

    def _default_compare(self) -> Compare:
        return Compare(self.params.compare, self.params.abs_tol, self.params.rel_tol)

    def _limits(self, tests: Tests) -> Limits:
        own = dict(tests.limits)
        cpu = float(own.pop("cpu_seconds", self.params.cpu_seconds))
        wall = own.pop("wall_seconds", self.params.wall_seconds)
        memory = int(own.pop("memory_bytes", self.params.memory_bytes))
        return Limits(
            cpu_seconds=cpu,
            wall_seconds=cpu + WALL_SLACK_SECONDS if wall is None else float(wall),
            memory_bytes=memory,
            **own,  # type: ignore[arg-type]
        )

    @property
    def _early_stop(self) -> bool:
        return self.params.early_stop if self.params.early_stop is not None else self.params.score == "all"

    def _verdict(self, findings: _Findings, found: Extraction) -> Verdict:
        if findings.unscored is not None:
            unscored = findings.unscored
            return Verdict(unscored.status, None, unscored.reason, unscored.detail, found.code, unscored.parts)
        statuses = findings.statuses
        if not statuses:  # no way leads here; if one ever does, no tests must not be all tests
            return Verdict.invalid("tests_missing", "no test is left to run", extracted=found.code)
        passed = statuses.count("passed")
        parts = {
            "mode": findings.mode,
            "passed": passed,
            "total": len(statuses),
            "tests": [
                {"name": name, "status": status}
                for name, status in zip(findings.names[:MAX_PARTS_TESTS], statuses, strict=False)
            ],
        }
        if passed == len(statuses):
            return Verdict.scored(1.0, "passed", extracted=found.code, parts=parts)
        reason = next((s for s in statuses if s not in ("passed", "not_run")), "wrong_answer")
        detail = findings.detail
        if reason == "syntax_error" and found.cut:
            detail += " (the completion was cut off)"
        score = passed / len(statuses) if self.params.score == "share" else 0.0
        return Verdict.scored(score, reason, detail, extracted=found.code, parts=parts)

    # -- the kinds of tests

    def _findings(
        self, sandbox: Sandbox, tests: Tests, found: Extraction, language: str, compare: Compare
    ) -> _Findings:
        limits = self._limits(tests)
        if tests.kind == "stdio":
            return self._stdio(sandbox, tests, found.program, language, limits, compare)
        if tests.kind == "calls":
            entry_point = _as_defined(tests.entry_point, found.program)
            cases = self._picked(tests.cases)
            names = [f"case {number}" for number, _ in cases]
            calls = [Call(entry_point, case.args, case.kwargs) for _, case in cases]
            rounds = [_CaseRound(i, case, compare) for i, (_, case) in enumerate(cases)]
            findings = self._called(sandbox, _ready(found.program, entry_point), names, calls, rounds, limits)
            assert findings is not None  # a case asks nothing of an object, so nothing needs the judge
            return findings
        if tests.kind == "pytest":
            return self._pytest(sandbox, tests, found.program, limits)
        calls_plan, judge_plan = asserts.plan(tests.script, tests.entry_point)
        if calls_plan is not None and not tests.in_process:
            names, plan_calls, plan_rounds = self._picked_plan(calls_plan)
            source = _ready(found.program, tests.entry_point) + calls_plan.suffix
            by_calls = self._called(sandbox, source, names, plan_calls, plan_rounds, limits)
            if by_calls is not None:
                return by_calls
        return self._judged(sandbox, tests, judge_plan, _ready(found.program, tests.entry_point), limits)

    def _picked(self, cases: Sequence[Case]) -> list[tuple[int, Case]]:
        """The cases to use, with their numbers."""
        return [(i, cases[i]) for i in spread(len(cases), self.params.max_tests)]

    def _picked_plan(self, plan: CallPlan) -> tuple[list[str], list[Call], list[_Round]]:
        kept = {test: i for i, test in enumerate(spread(len(plan.tests), self.params.max_tests))}
        if len(kept) == len(plan.tests):
            return list(plan.tests), list(plan.calls), list(plan.rounds)
        rounds = [r for r in plan.rounds if r.test in kept]
        needed = sorted({index for r in rounds for index in r.needs})
        where = {old: new for new, old in enumerate(needed)}
        moved: list[_Round] = [_MovedRound(kept[r.test], r, where) for r in rounds]
        return [plan.tests[test] for test in kept], [plan.calls[old] for old in needed], moved

    def _stdio(
        self, sandbox: Sandbox, tests: Tests, source: str, language: str, limits: Limits, compare: Compare
    ) -> _Findings:
        cases = self._picked(tests.cases)
        findings = _Findings("stdio", [f"case {number}" for number, _ in cases])
        entry = _SOURCE_FILES[language]
        files = {entry: source.encode("utf-8", "replace")}
        for test, (_, case) in enumerate(cases):
            program = Program(files, entry, language, stdin=case.input.encode("utf-8", "replace"))
            room = limits
            if "output_bytes" not in tests.limits:  # what is expected can be printed, and a log beside it
                room = replace(limits, output_bytes=OUTPUT_BYTES + 2 * len(case.output.encode("utf-8", "replace")))
            execution = sandbox.run(program, room)
            if execution.exit is Exit.SANDBOX_ERROR:
                return _failed_sandbox(findings, execution)
            if execution.exit is not Exit.OK:
                reason = _exit_reason(execution)
                findings.fail(test, reason, _exit_detail(execution))
                if self._early_stop or execution.exit in _LIMIT_REASONS:
                    break  # a program that hangs on each of three cases costs one limit, not three
                continue
            printed = execution.stdout.decode("utf-8", "replace")
            if tests.checker is not None:
                wrong, broken = _checked(sandbox, tests.checker, case, execution.stdout)
                if broken is not None:
                    findings.unscored = broken
                    return findings
            else:
                wrong = same_output(printed, case.output, compare)
            if wrong:
                findings.fail(test, "wrong_answer", wrong)
                if self._early_stop:
                    break
            else:
                findings.statuses[test] = "passed"
        return findings

    def _called(
        self,
        sandbox: Sandbox,
        source: str,
        names: Sequence[str],
        calls: Sequence[Call],
        rounds: Sequence[_Round],
        limits: Limits,
    ) -> _Findings | None:
        """Findings of calls compared here; None when an assert asked for more than plain data."""
        bench = _Bench(_Findings("calls", names), calls, rounds, self._early_stop)
        done = sandbox.call(_solution(source), calls, limits, stop=bench.stop)
        return bench.finish(done)

    def _judged(self, sandbox: Sandbox, tests: Tests, plan: JudgePlan, source: str, limits: Limits) -> _Findings:
        if "value_bytes" not in tests.limits:
            limits = replace(limits, value_bytes=JUDGE_VALUE_BYTES)
        if not plan.uses & {*plan.names, *tests.modules}:
            raise BrokenScript("the test script never uses the completion: any program would pass it")
        if plan.runner == "pytest":
            files = {"test_script.py": plan.script.encode("utf-8", "replace")}
            program = Program(files, "test_script.py")
        else:
            program = Program({"tests.py": plan.script.encode("utf-8", "replace")}, "tests.py")
        mode = "in_process" if tests.in_process else "two_boxes"
        entry_points = {name: _as_defined(target, source) for name, target in plan.names.items()}
        done = sandbox.judge(
            program,
            _solution(source),
            entry_points,
            limits,
            modules=tests.modules,
            runner=plan.runner,
            keep_going=not self._early_stop,
            max_tests=self.params.max_tests,
            together=tests.in_process,
        )
        return self._judge_findings(done, mode)

    def _pytest(self, sandbox: Sandbox, tests: Tests, source: str, limits: Limits) -> _Findings:
        files = {name: text.encode("utf-8", "replace") for name, text in tests.files.items()}
        entry = next(name for name in files if name.rpartition("/")[2].startswith("test") and name.endswith(".py"))
        names = [tests.entry_point.partition(".")[0]] if tests.entry_point else []
        done = sandbox.judge(
            Program(files, entry),
            _solution(source),
            names,
            limits,
            modules=tests.modules,
            runner="pytest",
            keep_going=not self._early_stop,
            max_tests=self.params.max_tests,
            together=tests.in_process,
        )
        return self._judge_findings(done, "in_process" if tests.in_process else "two_boxes")

    def _judge_findings(self, done: JudgeExecution, mode: str) -> _Findings:
        findings = _Findings(mode, [outcome.name for outcome in done.outcomes])
        for box, execution in (("candidate's", done.solution), ("test", done.tests)):
            if execution.exit is Exit.SANDBOX_ERROR:
                findings.unscored = Verdict.error("sandbox_failed", f"the {box} box: {execution.detail}")
                return findings
        if done.tests.exit in (Exit.NONZERO, Exit.SIGNAL) and not done.finished and not done.test_fault:
            # The test box runs our code and the task's; nothing of the candidate's can make it fail like this.
            findings.unscored = Verdict.error("sandbox_failed", f"the test box failed: {_exit_detail(done.tests)}")
            return findings
        if done.test_fault:
            findings.unscored = Verdict.invalid("tests_broken", f"the test script itself fails: {done.test_fault}")
            return findings
        candidate = _box_reason(done.solution)
        reason = candidate or _box_reason(done.tests) or "wrong_answer"
        said = [done.detail, *[outcome.detail for outcome in done.outcomes]]
        if reason == "wrong_answer" and any("AttributeError: the solution has no " in detail for detail in said):
            reason = "missing_entry_point"
        for test, outcome in enumerate(done.outcomes):
            if outcome.status is TestStatus.PASSED:
                findings.statuses[test] = "passed"
            elif outcome.status is TestStatus.FAILED:
                findings.fail(test, reason, outcome.detail or done.detail or "failed")
        ran = [status for status in findings.statuses if status != "not_run"]
        if done.finished and not self._any_failed(findings) and ran:
            # What a script that ran to its end did not reach stands in a branch not taken (EvalPlus asserts in one
            # way for floats and in another for the rest): not a test of this candidate.
            findings.names = [n for n, s in zip(findings.names, findings.statuses, strict=True) if s != "not_run"]
            findings.statuses = ran
        elif not self._any_failed(findings):
            if done.finished:
                findings.unscored = Verdict.invalid("tests_broken", "the test script ran to its end without any assert")
            elif findings.statuses:
                first = next((i for i, s in enumerate(findings.statuses) if s == "not_run"), len(ran) - 1)
                findings.fail(first, reason, done.detail or _exit_detail(done.solution))
            else:
                findings = _Findings(mode, ["script"], [reason], done.detail or _exit_detail(done.solution))
        return findings

    @staticmethod
    def _any_failed(findings: _Findings) -> bool:
        return any(status not in ("passed", "not_run") for status in findings.statuses)


# ---------------------------------------------------------------- calls compared here


class _Round(Protocol):
    """What has to hold of the results of some calls: `asserts.Round`, or a case of `calls` tests."""

    @property
    def test(self) -> int: ...
    @property
    def needs(self) -> frozenset[int]: ...
    @property
    def after(self) -> int: ...
    def holds(self, values: Mapping[int, Any]) -> bool: ...


@dataclass(frozen=True, slots=True)
class _CaseRound:
    test: int
    case: Case
    compare: Compare

    @property
    def needs(self) -> frozenset[int]:
        return frozenset((self.test,))

    @property
    def after(self) -> int:
        return self.test + 1

    def holds(self, values: Mapping[int, Any]) -> bool:
        return same_value(values[self.test], self.case.expected, self.compare)


@dataclass(frozen=True, slots=True)
class _MovedRound:
    """A round of a plan of which only some calls are made."""

    test: int
    round: asserts.Round
    where: Mapping[int, int]

    @property
    def needs(self) -> frozenset[int]:
        return frozenset(self.where[index] for index in self.round.needs)

    @property
    def after(self) -> int:
        return max(self.needs) + 1

    def holds(self, values: Mapping[int, Any]) -> bool:
        return self.round.holds({old: values[self.where[old]] for old in self.round.needs})


class _Bench:
    """Compares results as they come, so that a failing program is ended at its first wrong answer."""

    def __init__(self, findings: _Findings, calls: Sequence[Call], rounds: Sequence[_Round], early_stop: bool) -> None:
        self.findings = findings
        self.calls = calls
        self.early_stop = early_stop
        self.values: dict[int, Any] = {}
        self.failed: dict[int, tuple[str, str]] = {}
        self.seen = 0
        self.stopped = False
        self.needs_judge = False
        self.waiting: dict[int, list[_Round]] = {}
        self.left = [0] * len(findings.names)
        self.uses: Counter[int] = Counter()
        for each in rounds:
            self.waiting.setdefault(each.after, []).append(each)
            self.left[each.test] += 1
            self.uses.update(each.needs)

    def stop(self, index: int, result: CallResult) -> bool:
        """Takes in the result of one call; True when the rest need not be made."""
        if index != self.seen or self.stopped:
            return self.stopped
        self.seen += 1
        if result.status is not CallStatus.RETURNED:
            self.failed[index] = self._failure(index, result)
        elif self.uses[index]:
            self.values[index] = result.value
        for each in self.waiting.get(self.seen, ()):
            self._check(each)
            if self.stopped:
                break
            for used in each.needs:
                self.uses[used] -= 1
                if not self.uses[used]:  # a hundred large values must not pile up here
                    self.values.pop(used, None)
        return self.stopped

    def _check(self, each: _Round) -> None:
        test = each.test
        self.left[test] -= 1
        broken = min((index for index in each.needs if index in self.failed), default=None)
        if broken is not None:
            self._fail(test, *self.failed[broken])
            return
        try:
            right = each.holds({index: self.values[index] for index in each.needs})
            detail = "" if right else self._gave(each)
        except (NeedsObject, NotPlain):
            self.needs_judge = self.stopped = True
            return
        except Exception as error:  # what the assert itself would have raised: `len(candidate(3))` of an int
            right, detail = False, f"{type(error).__name__}: {error}; {self._gave(each)}"
        if not right:
            self._fail(test, "wrong_answer", detail)
        elif not self.left[test] and self.findings.statuses[test] == "not_run":
            self.findings.statuses[test] = "passed"

    def _fail(self, test: int, reason: str, detail: str) -> None:
        self.findings.fail(test, reason, detail)
        self.stopped = self.stopped or self.early_stop

    def _call(self, index: int) -> str:
        call = self.calls[index]
        name, given = call.entry_point, call.args
        if name == asserts.CHANGED_NAME:
            name, given = call.args
        args = [show(arg, 40) for arg in given[:6]]
        args += [f"{key}={show(value, 40)}" for key, value in list(call.kwargs.items())[:6]]
        return f"{name}({', '.join(args)})"

    def _gave(self, each: _Round) -> str:
        told = [f"{self._call(index)} gave {show(self.values[index])}" for index in sorted(each.needs)[:2]]
        if isinstance(each, _CaseRound):
            told.append(f"expected {show(each.case.expected)}")
        return ", ".join(told)

    def _failure(self, index: int, result: CallResult) -> tuple[str, str]:
        call = self._call(index)
        if result.status is CallStatus.MISSING:
            return "missing_entry_point", f"the program has no {self.calls[index].entry_point}"
        if result.status is CallStatus.TOO_BIG:
            return "output_limit", f"{call} returned more than the limit"
        if result.status is CallStatus.RAISED:
            known = {"MemoryError": "memory_limit", "SystemExit": "exited_early"}
            return known.get(result.exception, "runtime_error"), f"{call} raised {result.exception}"
        return "runtime_error", f"{call} did not return"

    def finish(self, done: CallsExecution) -> _Findings | None:
        """The findings, once the program has ended; None when the script needs the judge."""
        findings = self.findings
        if done.execution.exit is Exit.SANDBOX_ERROR:
            return _failed_sandbox(findings, done.execution)
        for index, result in enumerate(done.results):
            if self.stopped:
                break
            if index < self.seen:
                continue
            if result.status in (CallStatus.LIMIT, CallStatus.NOT_RUN):
                self._ended(index, result, done.execution)
                break
            self.stop(index, result)
        return None if self.needs_judge else findings

    def _ended(self, index: int, result: CallResult, execution: Execution) -> None:
        """The program was over before it answered call `index`: the tests that wait for it, and no others, fail."""
        waiting = [each.test for after, group in self.waiting.items() if after > index for each in group]
        first = min(waiting, default=len(self.left) - 1)
        where = f" in {self._call(index)}" if result.status is CallStatus.LIMIT else ""
        reason = _LIMIT_REASONS.get(execution.exit) or _exit_reason(execution)
        silent = execution.exit is Exit.NONZERO and not execution.stderr.strip()  # no traceback: it left by itself
        if execution.exit is Exit.OK or silent or (result.status is CallStatus.LIMIT and reason == "runtime_error"):
            reason = "exited_early"
        self.findings.fail(first, reason, _exit_detail(execution) + where)


def _ready(source: str, entry_point: str) -> str:
    """The program of a LeetCode task with the imports that it may count on."""
    return put_before(LEETCODE_IMPORTS, source) if entry_point.startswith("Solution.") else source


def _solution(source: str) -> Program:
    return Program({"solution.py": source.encode("utf-8", "replace")}, "solution.py")


def _as_defined(entry_point: str, source: str) -> str:
    """LeetCode tasks take a bare function or the method of a class `Solution`, and models write either."""
    if "." in entry_point:
        method = entry_point.partition(".")[2]
        if not defines(source, entry_point, "python") and defines(source, method, "python", top_level=True):
            return method
    elif entry_point and not defines(source, entry_point, "python", top_level=True):
        inside = f"Solution.{entry_point}"
        if defines(source, inside, "python"):
            return inside
    return entry_point


def _entry_point(tests: Tests) -> str:
    """What the completion has to define, where the tests say so in some way."""
    if tests.kind == "stdio" or tests.entry_point:
        return "" if tests.kind == "stdio" else tests.entry_point
    if tests.kind == "asserts":
        return next(iter(asserts.plan(tests.script, "")[1].names), "")
    for source in tests.files.values():
        for module in tests.modules:
            match = re.search(rf"^[ \t]*from[ \t]+{re.escape(module)}[ \t]+import[ \t(]+(\w+)", source, re.MULTILINE)
            if match:
                return match.group(1)
    return ""


# ---------------------------------------------------------------- executions in words


def _failed_sandbox(findings: _Findings, execution: Execution) -> _Findings:
    findings.unscored = Verdict.error("sandbox_failed", execution.detail or "the sandbox could not run the program")
    return findings


def _exit_reason(execution: Execution) -> str:
    """The reason code of a program that did not end well."""
    if execution.exit in _LIMIT_REASONS:
        return _LIMIT_REASONS[execution.exit]
    last = _last_line(execution)
    if last.startswith(("SyntaxError", "IndentationError", "TabError")):
        return "syntax_error"
    if last.startswith("MemoryError"):
        return "memory_limit"
    return "runtime_error"


def _box_reason(execution: Execution) -> str:
    """The reason code of a box of the judge, "" when it ended well."""
    if execution.exit is Exit.OK:
        return ""
    if execution.exit in _LIMIT_REASONS:
        return _LIMIT_REASONS[execution.exit]
    reason = _exit_reason(execution)
    return "" if reason == "runtime_error" and not execution.stderr else reason


def _last_line(execution: Execution) -> str:
    lines = execution.stderr[-2000:].decode("utf-8", "replace").strip().split("\n")
    return lines[-1].strip()[:200]


def _compiler_s_word(execution: Execution) -> str:
    """The first error: what follows it is mostly a consequence."""
    lines = execution.stderr[:20_000].decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in lines if "error" in line), lines[0])[:200]


def _exit_detail(execution: Execution) -> str:
    if execution.limit_hit:
        return f"over the limit {execution.limit_hit}"
    how = {
        Exit.OK: "the program ended itself",
        Exit.NONZERO: f"the program ended with exit code {execution.exit_code}",
        Exit.SIGNAL: f"the program ended by signal {execution.signal}",
        Exit.COMPILE_ERROR: "the program does not compile",
    }.get(execution.exit, f"the program ended by {execution.exit.value}")
    last = _compiler_s_word(execution) if execution.exit is Exit.COMPILE_ERROR else _last_line(execution)
    return f"{how}: {show(last, 160)}" if last and execution.exit is not Exit.OK else how


def _checked(sandbox: Sandbox, checker: Checker, case: Case, output: bytes) -> tuple[str, Verdict | None]:
    """("" or why the output is wrong, a verdict instead when the checker itself failed)."""
    entry = _SOURCE_FILES[checker.language].replace("main", "checker")
    files = {
        entry: checker.source.encode("utf-8", "replace"),
        "input.txt": case.input.encode("utf-8", "replace"),
        "output.txt": output,
        "answer.txt": case.output.encode("utf-8", "replace"),
    }
    arguments = tuple(f"{name}.txt" for name in checker.order)
    execution = sandbox.run(Program(files, entry, checker.language, args=arguments))
    if execution.exit is Exit.SANDBOX_ERROR:
        return "", Verdict.error("sandbox_failed", execution.detail)
    said = execution.stdout.decode("utf-8", "replace").strip()
    if checker.verdict == "stdout" and execution.exit is Exit.OK:
        try:
            right = float(said.split()[-1]) > 0
        except (IndexError, ValueError):
            return "", Verdict.error("checker_failed", f"the checker printed {show(said)}, not a number")
        return ("" if right else "the checker refuses the output"), None
    if execution.exit is Exit.OK:
        return "", None
    if execution.exit is Exit.NONZERO and execution.exit_code in (1, 2):
        return f"the checker refuses the output: {show(said or _last_line(execution))}", None
    return "", Verdict.error("checker_failed", f"the checker failed: {_exit_detail(execution)}")


# ---------------------------------------------------------------- one sandbox for all that bring none


class _Shared:
    """Sandboxes by backend name, each with the number of verifiers that use it; closed when the last lets go."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.open: dict[str, tuple[int, Sandbox, int]] = {}

    def take(self, name: str) -> tuple[int, Sandbox]:
        import sandboxes

        with self.lock:
            pid = os.getpid()
            have = self.open.get(name)
            if have is not None and have[0] == pid:  # a forked child starts its own
                self.open[name] = (pid, have[1], have[2] + 1)
                return pid, have[1]
            sandbox = sandboxes.get(name)
            self.open[name] = (pid, sandbox, 1)
            return pid, sandbox

    def give_back(self, name: str, pid: int) -> None:
        with self.lock:
            have = self.open.get(name)
            if have is None or have[0] != pid or pid != os.getpid():
                return
            if have[2] > 1:
                self.open[name] = (pid, have[1], have[2] - 1)
                return
            del self.open[name]
            have[1].close()

    def close(self) -> None:
        with self.lock:
            for pid, sandbox, _ in self.open.values():
                if pid == os.getpid():
                    sandbox.close()
            self.open.clear()


_SHARED: Final = _Shared()
atexit.register(_SHARED.close)


class _Lease:
    """One verifier's hold on a shared sandbox; given back when the verifier is closed or forgotten."""

    def __init__(self, owner: object, name: str) -> None:
        self.pid, self.sandbox = _SHARED.take(name)
        self.give_back: Callable[[], Any] = weakref.finalize(owner, _SHARED.give_back, name, self.pid)

    @property
    def alive(self) -> bool:
        return self.pid == os.getpid()
