"""What any backend has to pass: named checks of the contract, and a catalogue of hostile and honest programs.

`python -m sandboxes check BACKEND` prints the table; `tests/test_sandboxes_conformance.py` runs the same as tests.

The catalogue is a folder of programs with `index.jsonl` (or `index.json`). A row: `id`, `kind`, `task` (or `mode`:
"func", "stdio", "both"), `expect` ("pass" marks the honest), `must`, `max_s`, `reason`, and optionally `pair` (a second
program that runs right after in the same warm sandbox), `danger`, `needs` ("fork": an honest program that starts
processes; else the name of a package that it imports, such as "numpy"). Function task: `solve(x)` returns `3*x+1`;
stdin task: read n, print the squares 1..n, one per line.

A program that gets out leaves a mark: a file `/esc/<id>` on the host, a connection to the listener on 127.0.0.1:47999
or on the abstract unix socket `sbx-canary`, or the token from the harness's environment.
"""

from __future__ import annotations

import json
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sandboxes.contract import (
    Call,
    CallStatus,
    Execution,
    Exit,
    Limits,
    Program,
    Sandbox,
    SandboxError,
)
from sandboxes.zygote.client import MARK

ESCAPES: Final = Path("/esc")
CANARY_PORT: Final = 47999
CANARY_SOCKET: Final = "\0sbx-canary"
CANARY_TOKEN: Final = "canary-token"
LIMITS: Final = Limits(cpu_seconds=2, wall_seconds=3)
"""Limits of honest programs, and of those that are stopped by another cap before their time is up."""
SHORT_LIMITS: Final = Limits(cpu_seconds=1, wall_seconds=1.5)
"""Limits of all others: many spin or sleep until a limit, in up to three forms, and one second proves what two do."""
FUNCTION_CASES: Final = ((2, 7), (10, 31), (-5, -14))
STDIO_CASES: Final = (("3\n", "1\n4\n9\n"), ("5\n", "1\n4\n9\n16\n25\n"))
ASSERTS: Final = b"def check(candidate):\n" + b"".join(
    b"    assert candidate(%d) == %d\n" % case for case in FUNCTION_CASES
)
ASSERTS_CALL: Final = ASSERTS + b"check(candidate)\n"


# --- the catalogue ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One program of a catalogue."""

    id: str
    kind: str
    task: str
    honest: bool
    must: str
    max_s: float
    source: bytes
    pair: str = ""
    reason: str = ""
    needs: str = ""

    @property
    def limits(self) -> Limits:
        """What it may spend. A bomb cut off at a second could be stopped by the clock before it meets its own cap."""
        return LIMITS if self.honest or self.kind == "resource" else SHORT_LIMITS

    @property
    def forms(self) -> tuple[str, ...]:
        """How it is judged: by calls and by asserts (function task), by stdin and stdout."""
        return {"func": ("calls", "asserts"), "stdio": ("stdio",), "both": ("calls", "asserts", "stdio")}[self.task]


CATALOGUE: Final = Path(__file__).resolve().parent / "hostile"
"""Our own catalogue."""


def load_catalogue(folder: Path) -> list[Row]:
    """The rows of a catalogue folder, in the order of its index."""
    lines = folder / "index.jsonl"
    if lines.exists():
        raw = [json.loads(line) for line in lines.read_text().splitlines() if line.strip()]
    else:
        raw = json.loads((folder / "index.json").read_text())
    return [
        Row(
            id=row["id"],
            kind=row["kind"],
            task=row.get("task") or row["mode"],
            honest=row["expect"] == "pass",
            must=row["must"],
            max_s=row["max_s"],
            source=(folder / f"{row['id']}.py").read_bytes(),
            pair=row.get("pair") or "",
            reason=row.get("reason", ""),
            needs=row.get("needs", ""),
        )
        for row in raw
    ]


# --- what a program may leave behind ----------------------------------------------------------------------------------


class Canaries:
    """Listens where a contained program cannot come, and collects marks."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.marks_possible = False
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> Canaries:
        os.environ["HF_TOKEN"] = CANARY_TOKEN
        with suppress(OSError):
            ESCAPES.mkdir(exist_ok=True)
            ESCAPES.chmod(0o777)
        self.marks_possible = ESCAPES.is_dir() and os.access(ESCAPES, os.W_OK)
        for family, address in ((socket.AF_INET, ("127.0.0.1", CANARY_PORT)), (socket.AF_UNIX, CANARY_SOCKET)):
            if family == socket.AF_UNIX and sys.platform != "linux":
                continue
            listener = socket.socket(family, socket.SOCK_STREAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(address)
            except OSError:
                listener.close()  # another harness on this machine listens there: then its marks are its own
                continue
            listener.listen(8)
            self._sockets.append(listener)
            threading.Thread(target=self._accept, args=(listener, str(address)), daemon=True).start()
        return self

    def _accept(self, listener: socket.socket, address: str) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.close()
            self.reached.append(f"connection to {address}")

    def __exit__(self, *_: object) -> None:
        for listener in self._sockets:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def take(self) -> list[str]:
        """Marks and connections since the last time; the marks are deleted."""
        found, self.reached = self.reached, []
        if self.marks_possible:
            for mark in ESCAPES.iterdir():
                found.append(f"mark {mark.name}")
                with suppress(OSError):
                    mark.unlink()
        return found


def processes_left(sandbox: Sandbox) -> list[int]:
    """Processes on this machine that came out of a box of this trainer, or of a container of it, and still live.

    They carry the zygote's environment mark. The zygotes themselves are left out: children of this process, their
    children that are PID 1 of the zygote's namespace, and the first process of a container.
    """
    found: dict[int, tuple[int, bool]] = {}  # process -> its parent, whether it is the first of its namespace
    mine = f"{MARK}={os.getpid()}-".encode()
    for name in os.listdir("/proc") if sys.platform == "linux" else []:
        if not name.isdigit():
            continue
        try:
            environment = Path(f"/proc/{name}/environ").read_bytes()
            if not any(entry.startswith(mine) for entry in environment.split(b"\0")):
                continue
            status = dict(line.split(":", 1) for line in Path(f"/proc/{name}/status").read_text().splitlines())
            if status["State"].strip().startswith("Z"):
                continue
            found[int(name)] = (int(status["PPid"]), status["NSpid"].split()[-1] == "1")
        except (OSError, ValueError, IndexError, KeyError):
            continue
    me = os.getpid()
    started = {pid for pid, (parent, _) in found.items() if parent == me}
    containers = {pid for pid, (parent, first) in found.items() if first and parent not in found}
    inner = {pid for pid, (parent, first) in found.items() if first and parent in started}
    return sorted(set(found) - started - containers - inner)


# --- running one program ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Outcome:
    """What came of one catalogue row on one backend."""

    row: Row
    passed: dict[str, bool] = field(default_factory=dict)
    exits: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    reached: list[str] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    trouble: str = ""

    @property
    def faults(self) -> list[str]:
        """What is wrong; empty when the row holds."""
        found = []
        if self.trouble:
            found.append(f"no verdict: {self.trouble}")
        if self.row.honest:
            found += [f"honest failed by {form} ({self.exits[form]})" for form, ok in self.passed.items() if not ok]
        else:
            found += [f"paid by {form}" for form, ok in self.passed.items() if ok]
        found += [f"reached out: {mark}" for mark in self.reached]
        if self.left:
            found.append(f"left {len(self.left)} processes")
        if self.seconds > self.row.max_s * max(1, len(self.passed)) * machine_is_busy():
            found.append(f"took {self.seconds:.1f} s")
        return found


def machine_is_busy() -> float:
    """How many times over the CPUs are wanted; 1 on an idle machine. Times are only compared net of it."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def same_lines(produced: bytes, expected: str) -> bool:
    """Equal line by line, each compared by tokens; trailing blank lines do not count."""
    mine = [line.split() for line in produced.decode("utf-8", "replace").rstrip().split("\n")]
    return mine == [line.split() for line in expected.rstrip().split("\n")]


def judge_form(sandbox: Sandbox, source: bytes, form: str, limits: Limits = LIMITS) -> tuple[bool, Execution]:
    """Judges a program of one of the two tasks. Returns whether it passed and how its run ended."""
    if form == "calls":
        calls = [Call("solve", (x,)) for x, _ in FUNCTION_CASES]
        wants = [want for _, want in FUNCTION_CASES]

        def wrong(index: int, result: Any) -> bool:
            right = result.status is CallStatus.RETURNED and type(result.value) is int and result.value == wants[index]
            return not right

        outcome = sandbox.call(Program.python(source), calls, limits, stop=wrong)
        passed = [not wrong(index, result) for index, result in enumerate(outcome.results)]
        return all(passed) and outcome.execution.exit is not Exit.SANDBOX_ERROR, outcome.execution
    if form == "asserts":
        tests = Program({"tests.py": ASSERTS_CALL}, "tests.py")
        judged = sandbox.judge(tests, Program.python(source), {"candidate": "solve"}, limits)
        return judged.all_passed, judged.solution
    execution = Execution(exit=Exit.SANDBOX_ERROR)
    for given, wanted in STDIO_CASES:
        execution = sandbox.run(Program.python(source, stdin=given), limits)
        if execution.exit is not Exit.OK or not same_lines(execution.stdout, wanted):
            return False, execution
    return True, execution


def run_row(sandbox: Sandbox, row: Row, canaries: Canaries, partner: Row | None = None, settle: float = 0.0) -> Outcome:
    """Runs one row in every form it is for (and its pair right after), then looks for what is left."""
    outcome = Outcome(row)
    started = time.monotonic()
    for form in row.forms:
        try:
            passed, execution = judge_form(sandbox, row.source, form, row.limits)
            if execution.exit is Exit.SANDBOX_ERROR:
                outcome.trouble = f"{form}: {execution.detail}"
            outcome.passed[form], outcome.exits[form] = passed, execution.exit.value
            if partner is not None and form in partner.forms:
                passed, execution = judge_form(sandbox, partner.source, form, partner.limits)
                outcome.passed[f"{partner.id} by {form}"] = passed
        except SandboxError as error:
            outcome.trouble = f"{form}: {error}"
    outcome.seconds = time.monotonic() - started
    time.sleep(settle)
    outcome.reached = canaries.take()
    outcome.left = processes_left(sandbox)
    if outcome.left and settle < 1:
        time.sleep(1.0 - settle)
        outcome.left = processes_left(sandbox)
    return outcome


def run_at_once(sandbox: Sandbox, rows: Sequence[Row], canaries: Canaries, threads: int) -> list[Outcome]:
    """Runs rows beside each other, as a training step does. Marks are told apart by their names; a connection or a
    process that is left cannot be, and stands on the first outcome."""
    with ThreadPoolExecutor(threads) as pool:
        outcomes = list(pool.map(lambda row: _judge_row(sandbox, row), rows))
    time.sleep(1.0)
    by_id = {outcome.row.id: outcome for outcome in outcomes}
    for mark in canaries.take():
        by_id.get(mark.removeprefix("mark "), outcomes[0]).reached.append(mark)
    outcomes[0].left = processes_left(sandbox)
    return outcomes


def _judge_row(sandbox: Sandbox, row: Row) -> Outcome:
    outcome = Outcome(row)
    started = time.monotonic()
    for form in row.forms:
        try:
            passed, execution = judge_form(sandbox, row.source, form, row.limits)
        except SandboxError as error:
            outcome.trouble = f"{form}: {error}"
            continue
        if execution.exit is Exit.SANDBOX_ERROR:
            outcome.trouble = f"{form}: {execution.detail}"
        outcome.passed[form], outcome.exits[form] = passed, execution.exit.value
    outcome.seconds = time.monotonic() - started
    return outcome


def applies(row: Row, sandbox: Sandbox) -> str:
    """Why a row cannot be asked of this backend, or ""."""
    if row.needs == "fork" and not starts_processes(sandbox):
        return "this tier lets no program start a process"
    if row.needs not in ("", "fork"):
        # Looked for, not imported: a cold import that ran into a limit on a busy machine read as "not installed".
        source = f"import importlib.util\nraise SystemExit(importlib.util.find_spec({row.needs!r}) is None)"
        absent = sandbox.run(Program.python(source), LIMITS).exit is Exit.NONZERO
        return f"{row.needs} is not installed where programs run" if absent else ""
    return ""


def starts_processes(sandbox: Sandbox) -> bool:
    """Whether programs may start processes on this backend."""
    source = "import os\nif os.fork() == 0: os._exit(0)\nos.wait()\n"
    return sandbox.run(Program.python(source), LIMITS).exit is Exit.OK


# --- named checks of the contract -------------------------------------------------------------------------------------

Check = Callable[[Sandbox], None]
CHECKS: dict[str, Check] = {}


def _check(function: Check) -> Check:
    CHECKS[function.__name__.removeprefix("check_")] = function
    return function


def _expect(condition: bool, what: str) -> None:
    if not condition:
        raise AssertionError(what)


def _run(sandbox: Sandbox, source: str, stdin: str = "", **limits: Any) -> Execution:
    given = {"cpu_seconds": 2.0, "wall_seconds": 4.0} | limits
    return sandbox.run(Program.python(source, stdin=stdin), Limits(**given))


@_check
def check_stdin_reaches_stdout(sandbox: Sandbox) -> None:
    """What is written comes back byte for byte, stdout and stderr apart."""
    execution = _run(sandbox, "import sys\nprint(input())\nsys.stderr.write('err')\n", "héllo\n")
    _expect(execution.exit is Exit.OK, f"exit {execution.exit}: {execution.detail}")
    _expect(execution.stdout == "héllo\n".encode(), f"stdout {execution.stdout!r}")
    _expect(execution.stderr == b"err", f"stderr {execution.stderr!r}")


@_check
def check_exit_codes(sandbox: Sandbox) -> None:
    """0, another code, and an uncaught exception are told apart."""
    _expect(_run(sandbox, "pass").exit_code == 0, "a program that ends has exit code 0")
    execution = _run(sandbox, "import sys; sys.exit(7)")
    _expect(execution.exit is Exit.NONZERO and execution.exit_code == 7, f"{execution.exit} {execution.exit_code}")
    execution = _run(sandbox, "1/0")
    _expect(execution.exit is Exit.NONZERO and b"ZeroDivisionError" in execution.stderr, str(execution))


@_check
def check_several_files(sandbox: Sandbox) -> None:
    """A program of several files imports its own and reads its data."""
    files = {"main.py": b"import pkg.a\nprint(pkg.a.X, open('d.txt').read())", "pkg/a.py": b"X = 5", "d.txt": b"hi"}
    execution = sandbox.run(Program({**files, "pkg/__init__.py": b""}, "main.py"), LIMITS)
    _expect(execution.stdout == b"5 hi\n", str(execution))


@_check
def check_cpu_limit(sandbox: Sandbox) -> None:
    """A busy program ends at its CPU limit."""
    started = time.monotonic()
    execution = _run(sandbox, "while True: pass", cpu_seconds=1.0, wall_seconds=20.0)
    _expect(execution.exit is Exit.CPU_LIMIT, f"exit {execution.exit}")
    _expect(0.8 < execution.cpu_seconds < 1.6, f"used {execution.cpu_seconds} s of CPU")
    _expect(time.monotonic() - started < 15, "took too long")


@_check
def check_wall_limit(sandbox: Sandbox) -> None:
    """A sleeping program ends at its wall limit."""
    execution = _run(sandbox, "import time; time.sleep(60)", wall_seconds=1.0)
    _expect(execution.exit is Exit.WALL_LIMIT, f"exit {execution.exit}")
    _expect(execution.wall_seconds < 2.5, f"took {execution.wall_seconds} s")


@_check
def check_memory_limit(sandbox: Sandbox) -> None:
    """Memory over the limit ends the program, and half the limit does not."""
    source = "x = bytearray({} << 20)\nfor i in range(0, len(x), 4096): x[i] = 1\nprint('ok')"
    low = _run(sandbox, source.format(60), memory_bytes=128 << 20)
    _expect(low.exit is Exit.OK, f"half the limit: {low.exit} {low.detail}")
    high = _run(sandbox, source.format(400), memory_bytes=128 << 20)
    _expect(high.exit is Exit.MEMORY_LIMIT, f"three times the limit: {high.exit}")


@_check
def check_output_limit(sandbox: Sandbox) -> None:
    """Output is cut at the limit and the program ended."""
    execution = _run(sandbox, "while True: print('x' * 1000)", output_bytes=100_000)
    _expect(execution.exit is Exit.OUTPUT_LIMIT, f"exit {execution.exit}")
    _expect(len(execution.stdout) + len(execution.stderr) <= 100_000, f"{len(execution.stdout)} bytes")


@_check
def check_big_honest_output(sandbox: Sandbox) -> None:
    """Output below the limit comes back whole, on both streams at once (no pipe deadlock)."""
    source = "import sys\nsys.stdout.write('o' * 1_000_000)\nsys.stderr.write('e' * 1_000_000)\n"
    execution = _run(sandbox, source)
    _expect(execution.exit is Exit.OK, f"exit {execution.exit}")
    _expect((len(execution.stdout), len(execution.stderr)) == (1_000_000, 1_000_000), "bytes are missing")


@_check
def check_calls_return_plain_data(sandbox: Sandbox) -> None:
    """Exact builtin types come back as they are, anything else as opaque."""
    value = [1, -(2**70), 1.5, float("inf"), "é\0", b"\xff", (1, (2,)), {"a": {1, 2}}, None, True, 2j, frozenset({3})]
    source = "def same(x): return x\nclass A:\n    __eq__ = lambda s, o: True\ndef obj(): return A()\n"
    outcome = sandbox.call(Program.python(source), [Call("same", (value,)), Call("obj"), Call("nope")], LIMITS)
    first, second, third = outcome.results
    _expect(first.value == value and [type(v) for v in first.value] == [type(v) for v in value], repr(first))
    _expect(second.status is CallStatus.RETURNED and second.value != 1, repr(second))
    _expect(third.status is CallStatus.MISSING, repr(third))


@_check
def check_calls_survive_exceptions(sandbox: Sandbox) -> None:
    """An exception is that call's outcome; the next call goes on. A hang is the end of the rest."""
    source = "import time\ndef f(x):\n    if x == 0: raise KeyError('k')\n    if x == 2: time.sleep(99)\n    return x"
    calls = [Call("f", (x,)) for x in (0, 1, 2, 3)]
    outcome = sandbox.call(Program.python(source), calls, Limits(cpu_seconds=1, wall_seconds=1))
    got = [result.status for result in outcome.results]
    wanted = [CallStatus.RAISED, CallStatus.RETURNED, CallStatus.LIMIT, CallStatus.NOT_RUN]
    _expect(got == wanted, repr(got))
    _expect(outcome.results[0].exception == "KeyError", repr(outcome.results[0]))
    _expect(outcome.execution.exit is Exit.WALL_LIMIT, outcome.execution.exit)


@_check
def check_two_boxes(sandbox: Sandbox) -> None:
    """A right solution passes its asserts; a wrong one, one that exits and one that equals all do not."""
    tests = Program({"tests.py": ASSERTS_CALL}, "tests.py")
    names = {"candidate": "solve"}
    right = sandbox.judge(tests, Program.python("def solve(x): return 3*x+1"), names, LIMITS)
    _expect(right.all_passed and right.total == len(FUNCTION_CASES), f"{right.outcomes} {right.detail}")
    for source in (
        "def solve(x): return 7",
        "import os\ndef solve(x): os._exit(0)",
        "class A:\n    __eq__ = lambda s, o: True\n    __ne__ = lambda s, o: False\ndef solve(x): return A()",
    ):
        _expect(not sandbox.judge(tests, Program.python(source), names, LIMITS).all_passed, source)


@_check
def check_programs_do_not_meet(sandbox: Sandbox) -> None:
    """No file, module or patch of one program is seen by the next."""
    _run(sandbox, "import builtins, os, tempfile\nbuiltins.left = 1\nopen('left', 'w').close()\nopen('/tmp/left', 'w')")
    execution = _run(
        sandbox, "import builtins, os\nprint(hasattr(builtins, 'left'), os.path.exists('left'), os.listdir('.'))"
    )
    _expect(execution.stdout == b"False False ['main.py']\n", repr(execution.stdout))


@_check
def check_environment_is_empty(sandbox: Sandbox) -> None:
    """Nothing of the trainer's environment is there."""
    os.environ["SANDBOX_CHECK_SECRET"] = CANARY_TOKEN
    try:
        execution = _run(sandbox, "import os\nprint(dict(os.environ))")
    finally:
        del os.environ["SANDBOX_CHECK_SECRET"]
    _expect(CANARY_TOKEN.encode() not in execution.stdout, "the environment leaks")


@_check
def check_no_network(sandbox: Sandbox) -> None:
    """No socket leaves the box."""
    source = (
        "import socket\n"
        "for family in (socket.AF_INET, socket.AF_INET6):\n"
        "    try:\n"
        f"        socket.create_connection(('127.0.0.1', {CANARY_PORT}), 1); print('reached')\n"
        "    except OSError: print('refused')\n"
    )
    with socket.socket() as listener:
        with suppress(OSError):
            listener.bind(("127.0.0.1", CANARY_PORT))
            listener.listen(1)
        execution = _run(sandbox, source)
    _expect(execution.stdout == b"refused\nrefused\n", repr(execution.stdout) + repr(execution.stderr[-200:]))


@_check
def check_many_at_once(sandbox: Sandbox) -> None:
    """Results of many programs come back in order, whatever runs beside them."""
    programs = [Program.python(f"print({index})") for index in range(40)]
    got = [execution.stdout for execution in sandbox.run_many(programs, LIMITS)]
    _expect(got == [b"%d\n" % index for index in range(40)], repr(got))


@_check
def check_threads_of_the_caller(sandbox: Sandbox) -> None:
    """The sandbox is used from several threads at once."""
    found: list[bytes] = []

    def work(index: int) -> None:
        found.append(_run(sandbox, f"print({index})").stdout)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    _expect(sorted(found) == [b"%d\n" % index for index in range(8)], repr(found))


@_check
def check_same_run_twice(sandbox: Sandbox) -> None:
    """Hash order and `random` are the same in every run."""
    source = "import random\nprint(random.random(), list({'a', 'b', 'c', 'd', 'e', 'f'}))"
    _expect(len({_run(sandbox, source).stdout for _ in range(4)}) == 1, "two runs differ")


@_check
def check_pickles_by_configuration(sandbox: Sandbox) -> None:
    """A pickled sandbox starts processes of its own."""
    with pickle.loads(pickle.dumps(sandbox)) as copy:
        _expect(_run(copy, "print(1)").stdout == b"1\n", "the copy does not run")


# --- the whole --------------------------------------------------------------------------------------------------------


def canary_works() -> str:
    """Whether a program outside any sandbox leaves a mark: else that none is left would prove nothing."""
    if not (ESCAPES.is_dir() and os.access(ESCAPES, os.W_OK)):
        return f"{ESCAPES} cannot be written here, so files as marks prove nothing: create it with mode 0777"
    mark = ESCAPES / "canary_works"
    subprocess.run([sys.executable, "-c", f"open({str(mark)!r}, 'w')"], check=False, timeout=60)
    if not mark.exists():
        return "a program outside any sandbox left no mark"
    mark.unlink()
    return ""


def run_catalogue(sandbox: Sandbox, rows: Sequence[Row], canaries: Canaries) -> Iterator[Outcome | tuple[Row, str]]:
    """Outcomes row by row; a row that cannot be asked of this backend comes with the reason."""
    partners = {row.id: row for row in rows}
    needs: dict[str, str] = {}
    for row in rows:
        if row.needs and row.needs not in needs:
            needs[row.needs] = applies(row, sandbox)
        if needs.get(row.needs):
            yield row, needs[row.needs]
            continue
        yield run_row(sandbox, row, canaries, partners.get(row.pair))


def report(sandbox: Sandbox, folders: Sequence[Path], write: Callable[[str], Any] = print) -> int:
    """Runs everything on one backend and prints the table. Returns the number of faults."""
    faults = 0
    for wall in sandbox.walls():
        write(f"{'stands' if wall.stands else 'absent':7} {wall.name:14} {wall.detail}")
    write("")
    for name, check in CHECKS.items():
        try:
            check(sandbox)
            write(f"{'ok':7} {name}")
        except (AssertionError, SandboxError) as error:
            faults += 1
            write(f"{'FAULT':7} {name}: {error}")
    with Canaries() as canaries:
        warning = canary_works()
        if warning:
            write(f"note: {warning}")
        for folder in folders:
            faults += _report_catalogue(sandbox, folder, canaries, write)
    return faults


def _report_catalogue(sandbox: Sandbox, folder: Path, canaries: Canaries, write: Callable[[str], Any]) -> int:
    rows = load_catalogue(folder)
    table: dict[str, list[int]] = {}
    problems: list[str] = []
    for outcome in run_catalogue(sandbox, rows, canaries):
        if isinstance(outcome, tuple):
            row, why = outcome
            counts = table.setdefault(row.kind, [0] * 7)
            counts[0] += 1
            counts[6] += 1
            problems.append(f"left out {row.id}: {why}")
            continue
        counts = table.setdefault(outcome.row.kind, [0] * 7)
        counts[0] += 1
        counts[1] += not outcome.row.honest and any(outcome.passed.values())
        counts[2] += bool(outcome.reached)
        counts[3] += bool(outcome.left)
        counts[4] += bool(outcome.trouble)
        counts[5] += outcome.row.honest and not all(outcome.passed.values())
        problems += [f"FAULT   {outcome.row.id}: {fault}" for fault in outcome.faults]
    write("")
    write(f"{len(rows)} programs of {folder.name} on {sandbox.name}")
    write(f"{'kind':16} programs  paid  reached  left  no verdict  honest failed  left out")
    for kind in sorted(table):
        programs, paid, reached, left, trouble, honest, out = table[kind]
        write(f"{kind:16} {programs:8} {paid:5} {reached:8} {left:5} {trouble:11} {honest:14} {out:9}")
    for problem in problems:
        write(problem)
    return sum(problem.startswith("FAULT") for problem in problems)
