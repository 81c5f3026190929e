"""The one contract of every sandbox: `Program` and `Limits` in, `Execution` out.

*What the contract promises.* A sandbox reports what happened to a program as data: bytes on stdout, plain return
values, an exit, resources used. It never reports whether the program was right: a judge outside the box decides
that, so nothing that a program prints, returns, patches or kills can be a verdict. Expected values never enter the
box that holds the model's program.

*What it does not promise.* How strong the walls are: that is `Sandbox.walls()` and `Execution.tier`, and each
backend's module opens with *Stops / Does not stop*.

This module imports the standard library and nothing of ours.
"""

from __future__ import annotations

import abc
import enum
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Self

LANGUAGES: Final = ("python", "bash", "c", "c++", "javascript")
"""Languages of `Program.language`. Those other than python need their tool chain on the machine (or in the image)."""

MIB: Final = 1024 * 1024
LIGHT_BYTES: Final = 64 * 1024
"""Returned values above this size need not be kept: see `stop` of `Sandbox.call`."""


class SandboxError(RuntimeError):
    """The sandbox itself cannot do what was asked: a missing right or package, an unknown language, a closed pool.

    The message names what is missing and the remedy. It never means that a program failed.
    """


@dataclass(frozen=True, slots=True)
class Program:
    """A program to run: its files, which of them starts, what it reads.

    Attributes:
        files: path relative to the working directory -> content. Paths may have folders (`pkg/mod.py`), may not be
            absolute or climb out (`..`), and count together against `Limits.disk_bytes`.
        entry: the file that is started.
        language: one of `LANGUAGES`.
        stdin: what the program reads on standard input.
        args: command-line arguments after the program's name.

    Raises:
        ValueError: entry not among the files, a path that is absolute, empty or climbs out, an unknown language.
        TypeError: a file's content is not bytes.
    """

    files: Mapping[str, bytes]
    entry: str
    language: str = "python"
    stdin: bytes = b""
    args: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            raise ValueError(f"unknown language {self.language!r}; allowed: {', '.join(LANGUAGES)}")
        if self.entry not in self.files:
            raise ValueError(f"entry {self.entry!r} is not among the files: {', '.join(sorted(self.files)) or 'none'}")
        for path, content in self.files.items():
            parts = path.split("/")
            if not path or "\0" in path or path.startswith("/") or any(part in ("", ".", "..") for part in parts):
                raise ValueError(f"file path {path!r}: must be relative, without empty, '.' or '..' parts")
            if not isinstance(content, bytes):
                raise TypeError(f"file {path!r} is a {type(content).__name__}; allowed: bytes")

    @classmethod
    def python(cls, source: str | bytes, *, stdin: str | bytes = b"", args: Sequence[str] = ()) -> Program:
        """A one-file Python program. Lone surrogates in text are replaced, as a file on disk would refuse them."""
        return cls({"main.py": as_bytes(source)}, "main.py", stdin=as_bytes(stdin), args=tuple(args))


def as_bytes(text: str | bytes) -> bytes:
    """UTF-8 bytes of `text`; a lone surrogate (a model can emit one) becomes '?' instead of an exception."""
    return text if isinstance(text, bytes) else text.encode("utf-8", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one program may use. CPU decides; wall is a looser net for programs that sleep or wait.

    Attributes:
        cpu_seconds: CPU time of the program and all its processes together (user + system). Load on the machine
            does not change it.
        wall_seconds: elapsed time, not counting time in which the program was ready but the machine was busy (where
            the kernel says so), up to `20 * wall_seconds` of real time.
        memory_bytes: resident memory of all processes together, above that of an interpreter that does nothing.
        processes: processes and threads alive at once. 1 means neither may be started.
        open_files: file descriptors per process.
        output_bytes: stdout and stderr together; crossing it ends the program.
        disk_bytes: private scratch space, deleted after the run. It lies in memory on `local` and `docker`.
        value_bytes: encoded size of one argument list or one return value of a call.
    """

    cpu_seconds: float = 4.0
    wall_seconds: float = 6.0
    memory_bytes: int = 512 * MIB
    processes: int = 32
    open_files: int = 64
    output_bytes: int = 4 * MIB
    disk_bytes: int = 32 * MIB
    value_bytes: int = 8 * MIB

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
                raise ValueError(f"Limits.{name} is {value!r}; allowed: a finite number above 0")
        for name, least in (("memory_bytes", 16 * MIB), ("open_files", 16), ("disk_bytes", MIB)):
            if getattr(self, name) < least:
                raise ValueError(f"Limits.{name} is {getattr(self, name)}; allowed: at least {least}")
        for name in ("memory_bytes", "processes", "open_files", "output_bytes", "disk_bytes", "value_bytes"):
            if not isinstance(getattr(self, name), int):
                raise TypeError(f"Limits.{name} is {getattr(self, name)!r}; allowed: a whole number")


DEFAULT_LIMITS: Final = Limits()


class Exit(enum.StrEnum):
    """How a program ended. Closed. All but `SANDBOX_ERROR` are facts about the program."""

    OK = "ok"
    """Exit code 0."""
    NONZERO = "nonzero"
    """Another exit code; an uncaught exception is exit code 1."""
    SIGNAL = "signal"
    """Ended by a signal (a crash, or one it sent to itself)."""
    CPU_LIMIT = "cpu_limit"
    WALL_LIMIT = "wall_limit"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    DISK_LIMIT = "disk_limit"
    """Ended by SIGXFSZ. A full scratch disk is an OSError inside the program, and so mostly `NONZERO`."""
    COMPILE_ERROR = "compile_error"
    """The compiler refused the program; its words are in stderr."""
    SANDBOX_ERROR = "sandbox_error"
    """The sandbox's own failure (worker lost twice, set-up refused): says nothing about the program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What happened to one program.

    Attributes:
        exit: how it ended.
        stdout, stderr: what it wrote, cut at `Limits.output_bytes`.
        exit_code: its exit code, or None when a signal ended it.
        signal: number of the signal that ended it, or None.
        cpu_seconds: user + system time of the program and its waited-for children.
        wall_seconds: elapsed time inside the sandbox.
        peak_memory_bytes: largest resident set of its largest process, the interpreter included.
        limit_hit: name of the `Limits` field that was crossed, or "".
        detail: one sentence; for `SANDBOX_ERROR` what failed and what to do.
        tier: which walls stood: "namespaces", "landlock", "rlimits", "docker", "remote", "fake".
    """

    exit: Exit
    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int | None = None
    signal: int | None = None
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    peak_memory_bytes: int = 0
    limit_hit: str = ""
    detail: str = ""
    tier: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a function (or `Class.method` of a fresh instance) of the program: plain data in.

    Attributes:
        entry_point: `solve`, or `Solution.solve` (the class is created without arguments for each call).
        args, kwargs: plain data as `sandboxes.plain_data.encode` takes it.
    """

    entry_point: str
    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)


class CallStatus(enum.StrEnum):
    """What became of one call. Closed."""

    RETURNED = "returned"
    RAISED = "raised"
    """The function raised; `exception` is the class name."""
    MISSING = "missing"
    """The program has no such entry point."""
    TOO_BIG = "too_big"
    """The return value is over the byte, node or depth cap."""
    LIMIT = "limit"
    """The program was ended during this call; `Execution.exit` says by which limit (or it ended itself)."""
    NOT_RUN = "not_run"
    """The program had already ended (or never loaded)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """One call's outcome. `value` is plain data of exact builtin types; what is not becomes `Opaque`, equal to nothing.

    Attributes:
        wall_seconds: measured outside the box, so the program cannot patch it.
    """

    status: CallStatus
    value: Any = None
    exception: str = ""
    detail: str = ""
    wall_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsExecution:
    """Outcome of `Sandbox.call`: one `CallResult` per `Call`, in order, and the program's `Execution`.

    When `execution.exit` is `SANDBOX_ERROR`, no result says anything about the program.
    """

    execution: Execution
    results: tuple[CallResult, ...]


class TestStatus(enum.StrEnum):
    """What became of one test inside the test box. Closed."""

    __test__ = False  # not a pytest class

    PASSED = "passed"
    FAILED = "failed"
    """Its assertion did not hold, or the program raised."""
    SKIPPED = "skipped"
    NOT_RUN = "not_run"
    """Declared, but never reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestOutcome:
    """One test: `line 12` (and `line 12:8` where a line holds several) of a script, or pytest's node id."""

    __test__ = False  # not a pytest class

    name: str
    status: TestStatus
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeExecution:
    """Outcome of `Sandbox.judge`: what the trusted test script found, written by the test box alone.

    Attributes:
        tests: the test box's run. Its failure (`SANDBOX_ERROR`, or a test script that does not compile) is not the
            candidate's fault: see `test_fault`.
        solution: the run of the box with the model's program.
        outcomes: one row per declared test, in order of declaration.
        finished: the test script ran to its end and said so on the verdict channel.
        test_fault: the test script itself is broken (syntax error, a missing import of its own); "" when not.
        detail: the first failure in a sentence.
    """

    tests: Execution
    solution: Execution
    outcomes: tuple[TestOutcome, ...] = ()
    finished: bool = False
    test_fault: str = ""
    detail: str = ""

    @property
    def passed(self) -> int:
        return sum(outcome.status is TestStatus.PASSED for outcome in self.outcomes)

    @property
    def total(self) -> int:
        """Tests that count, the denominator of a share: those run, and where the script did not reach its end, those
        not run as well. (An assert in a branch that a finished script did not take is no test of this run.)"""
        left_out = (TestStatus.SKIPPED, TestStatus.NOT_RUN) if self.finished else (TestStatus.SKIPPED,)
        return sum(outcome.status not in left_out for outcome in self.outcomes)

    @property
    def all_passed(self) -> bool:
        """The script ran to its end, at least one test was run, and every one that was passed."""
        return self.finished and not self.test_fault and self.passed == self.total > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wall:
    """One line of `Sandbox.walls()`: a wall, whether it stands here, and what to do where it does not."""

    name: str
    stands: bool
    detail: str = ""


class Sandbox(abc.ABC):
    """Runs untrusted programs. Usable from any thread; picklable by its configuration (processes start lazily).

    Every method returns one result per program: a limit, a crash or a hostile program is an `Execution`, never an
    exception. The sandbox's own failure is retried once and then `Exit.SANDBOX_ERROR` on the affected rows.

    Raises:
        SandboxError: when the sandbox cannot start here at all, or is closed.
    """

    name: str = ""
    workers: int = 1

    @abc.abstractmethod
    def run(self, program: Program, limits: Limits = DEFAULT_LIMITS) -> Execution:
        """Runs one program with its stdin to its end or its limit."""

    def run_many(self, programs: Iterable[Program], limits: Limits = DEFAULT_LIMITS) -> list[Execution]:
        """Runs programs on all workers; results in the order given."""
        todo = list(programs)
        if len(todo) < 2 or self.workers < 2:
            return [self.run(program, limits) for program in todo]
        with ThreadPoolExecutor(min(self.workers, len(todo))) as threads:
            return list(threads.map(lambda program: self.run(program, limits), todo))

    @abc.abstractmethod
    def call(
        self,
        program: Program,
        calls: Sequence[Call],
        limits: Limits = DEFAULT_LIMITS,
        *,
        call_wall_seconds: float | None = None,
        stop: Any = None,
    ) -> CallsExecution:
        """Loads the program's module once in a box and calls its functions one by one with plain data.

        Args:
            limits: for loading and all calls together, so a program that hangs on each of three tests costs one limit.
            call_wall_seconds: the most one call may take; None leaves it to `limits`. Crossing it ends the program.
            stop: `(index, CallResult) -> bool`, asked after each call outside the box: True ends the program there
                and leaves the rest `NOT_RUN` (early stop at the first failing test). A value over 64 kB may be an
                `Opaque` in the results afterwards: `stop` has seen it.
        """

    @abc.abstractmethod
    def judge(
        self,
        tests: Program,
        solution: Program,
        entry_points: Mapping[str, str] | Sequence[str],
        limits: Limits = DEFAULT_LIMITS,
        *,
        modules: Sequence[str] = ("solution",),
        runner: str = "script",
        keep_going: bool = False,
        max_tests: int | None = None,
        together: bool = False,
    ) -> JudgeExecution:
        """Runs a trusted test program in one box against the model's program in another.

        In the test box each name of `entry_points` is a stub that asks the other box: arguments and results cross
        as plain data, objects as handles whose methods and attributes are asked for one by one and which are equal
        only to themselves. The test box alone writes the verdict channel.

        Args:
            entry_points: `{"candidate": "has_close_elements"}` (name in the tests -> name in the solution), or just
                names that are the same in both.
            modules: names under which the tests may import the solution (`from solution import f`).
            runner: "script": the entry file is run, every `assert` statement in it is one declared test (an assert
                in a loop is passed when all its rounds are); a script without an assert counts as one test, named
                "script". "pytest": the entry and every `test_*.py` are collected by pytest (which has to be
                installed) and each item is a test.
            keep_going: go on after a failing assert, to count a share. Otherwise the first one ends the script.
            max_tests: run at most so many of the declared tests, spread evenly over them; the others are left
                out of the script.
            together: run the solution inside the test box (for tests that patch it or need identity). Then the
                program can forge the outcome: only for trusted solutions, never in training.
        """

    @abc.abstractmethod
    def walls(self) -> list[Wall]:
        """Which walls stand on this machine, strongest first."""

    @abc.abstractmethod
    def close(self) -> None:
        """Ends every process of the sandbox. Idempotent; a closed sandbox raises SandboxError on use."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
