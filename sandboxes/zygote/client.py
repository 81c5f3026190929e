"""The trainer's side: starts zygotes, hands them jobs by descriptor, pumps the pipes, says how each box ended.

Nothing here trusts a box. What comes back is read up to a cap, decoded by `plain_data` alone, and an end is classified
from the zygote's report (wait status, resource usage, who killed it), never from what the program says of itself.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import json
import marshal
import os
import queue
import select
import signal
import socket
import struct
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Any, Final, TypeVar

from sandboxes import plain_data
from sandboxes.contract import (
    LIGHT_BYTES,
    Call,
    CallResult,
    CallsExecution,
    CallStatus,
    Execution,
    Exit,
    JudgeExecution,
    Limits,
    Program,
    SandboxError,
    TestOutcome,
    TestStatus,
)
from sandboxes.plain_data import DataTooBig
from sandboxes.zygote import judging
from sandboxes.zygote.peer import new_token

# fmt: off
WARM_MODULES: Final = (
    "abc", "bisect", "collections", "collections.abc", "contextlib", "copy", "enum", "functools",
    "heapq", "io", "itertools", "json", "math", "operator", "os", "random", "re", "string", "sys", "threading", "time",
    "types", "typing", "weakref",
)
# fmt: on
"""Standard modules that a box finds already imported: those that most programs use. Not more, because a box is a copy
of the zygote: each megabyte and each five shared libraries cost every box some 0.2 ms, and a program that needs another
imports it."""

START_SECONDS: Final = 60.0
"""How long a zygote may take to build its walls and import what is kept warm."""
REAL_TIME_FACTOR: Final = 20
"""Wall limits leave out the time a program was ready but the machine was busy, up to this factor (as in `server`)."""
GRACE_SECONDS: Final = 5.0
"""How long past every limit the client waits before it takes the zygote itself for lost."""
PIPE_BYTES: Final = 1 << 18
UNREAD_SECONDS: Final = 0.004
"""How long a program's output may lie in its pipes, which hold `PIPE_BYTES` each, before somebody looks."""
_HEADER: Final = struct.Struct("<I")
_SOCKET_TYPE: Final = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_STREAM
PACKAGE_ROOT: Final = str(Path(__file__).resolve().parents[2])

PYTHON: Final = MAGIC_NUMBER.hex()
"""The byte code of this Python: compiled test scripts go to zygotes that say the same."""

T = TypeVar("T")


class ZygoteLost(Exception):
    """The zygote died or fell silent. The rows it held are run once more elsewhere, then `sandbox_error`."""


class WallsRefused(SandboxError):
    """This machine refuses the walls that were asked for."""


# --- descriptors ------------------------------------------------------------------------------------------------------


def sealed_file(*parts: bytes) -> int:
    """An anonymous file with this content that nobody can change or grow: a program that got it writable could fill
    the trainer's memory through its own stdin."""
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("job", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        _write(handle, parts)
        fcntl.fcntl(handle, fcntl.F_ADD_SEALS, _SEALS)
        os.lseek(handle, 0, os.SEEK_SET)
        return handle
    with tempfile.NamedTemporaryFile() as file:
        _write(file.fileno(), parts)
        return os.open(file.name, os.O_RDONLY | os.O_CLOEXEC)


_SEALS: Final = 0x000F  # seal, shrink, grow, write


def _write(handle: int, parts: Sequence[bytes]) -> None:
    for part in parts:
        view = memoryview(part)
        while view:
            view = view[os.write(handle, view) :]


def _packed(data: Any) -> bytes:
    """What goes to a zygote or a box: read there by C alone. Version 2 of the format is known to every Python 3."""
    return marshal.dumps(data, 2)


# --- one zygote -------------------------------------------------------------------------------------------------------


def interpreter_paths(packages: bool) -> tuple[str, list[str], list[str]]:
    """The interpreter to start, the trees it needs to see, and the import path beyond the standard library.

    Raises:
        SandboxError: no interpreter is known (an embedded Python).
    """
    executable = getattr(sys, "_base_executable", None) or sys.executable
    if not executable or not os.path.exists(executable):
        raise SandboxError("no Python interpreter to start: sys.executable is empty; run under a normal python3")
    executable = os.path.realpath(executable)
    trees = [sys.base_prefix, sys.base_exec_prefix, sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")]
    site: list[str] = []
    if packages:
        site = [path for path in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")) if os.path.isdir(path)]
    trees = [os.path.realpath(path) for path in [*trees, *site, os.path.dirname(executable)]]
    return (
        executable,
        sorted(set(trees), key=lambda path: (len(path), path)),
        sorted({os.path.realpath(p) for p in site}),
    )


CLEAN_ENVIRONMENT: Final = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",
    "USER": "nobody",  # `getpass.getuser()`, where no file tells
    "TMPDIR": "/tmp",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",  # same program, same run: set order does not change between workers
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUTF8": "1",
    "MALLOC_ARENA_MAX": "2",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
"""The whole environment of a zygote and of every program: nothing of the trainer's."""

MARK: Final = "SANDBOX_ZYGOTE"
"""An environment variable of every zygote and box: how what is left over is told from other processes."""


def mark() -> str:
    """The value of `MARK` for a new zygote: whose it is, and which."""
    return f"{os.getpid()}-{os.urandom(6).hex()}"


BOOT: Final = """\
import sys
sys.dont_write_bytecode = False
package = type(sys)("sandboxes")
package.__path__ = [sys.argv[3] + "/sandboxes"]
sys.modules["sandboxes"] = package
from sandboxes.zygote.server import main
main(sys.argv[1:3])
"""
"""How a zygote starts: without the package's `__init__`, which imports what only the trainer's side needs."""


def zygote_options(walls: str, warm: Sequence[str], packages: bool) -> tuple[str, dict[str, Any]]:
    """The interpreter, and the options a zygote gets as JSON."""
    executable, trees, site = interpreter_paths(packages)
    return executable, {
        "walls": walls,
        "read_only": trees,
        "import_path": site,
        "warm": [*WARM_MODULES, *warm],
    }


class Zygote:
    """A running zygote and the control socket to it. Used by one thread at a time."""

    def __init__(self, control: socket.socket, tier: str) -> None:
        self.control = control
        self.tier = tier
        self.process: subprocess.Popen[bytes] | None = None
        self.owner = os.getpid()
        self.programs = 0
        self.breached = False
        self._next = 0
        self._pending = b""
        self.errors: Any = None
        self.scratch_root = ""
        self.on_close: Callable[[], None] | None = None
        self.walls: dict[str, Any] = {}
        self.python = ""

    @classmethod
    def start(cls, tier: str, *, warm: Sequence[str] = (), packages: bool = True) -> Zygote:
        """Starts a zygote on this machine.

        Raises:
            WallsRefused: the walls of `tier` cannot be built here. SandboxError: it did not start at all.
        """
        executable, options = zygote_options(tier, warm, packages)
        if tier in ("landlock", "rlimits"):
            options["scratch_root"] = tempfile.gettempdir()
        ours, theirs = socket.socketpair(socket.AF_UNIX, _SOCKET_TYPE)
        self = cls(ours, tier)
        self.scratch_root = options.get("scratch_root", "")
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the zygote
        command = [executable, "-S", "-s", "-P", "-B", "-c", BOOT, str(theirs.fileno()), json.dumps(options)]
        environment = {**CLEAN_ENVIRONMENT, MARK: mark()}
        if "LD_LIBRARY_PATH" in os.environ:  # an interpreter that was built against libraries in a folder of its own
            environment["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
        try:
            self.process = subprocess.Popen(
                [*command, PACKAGE_ROOT],
                pass_fds=[theirs.fileno()],
                env=environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self.errors,
                start_new_session=True,
            )
        finally:
            theirs.close()
        try:
            self.shake_hands()
        except BaseException:
            self.close()
            raise
        return self

    def shake_hands(self) -> None:
        """Waits for the zygote's first word."""
        self.control.settimeout(START_SECONDS)
        try:
            raw = self.control.recv(65536)
        except OSError as error:
            raise SandboxError(f"the sandbox's zygote did not start within {START_SECONDS:.0f} s ({error})") from None
        finally:
            self.control.settimeout(None)
        if not raw:
            raise SandboxError(f"the sandbox's zygote did not start: {self.last_words() or 'it said nothing'}")
        message = json.loads(raw)
        if "refused" in message:
            raise WallsRefused(message["refused"])
        self.walls, self.python = message["walls"], message["python"]

    def last_words(self) -> str:
        """What the zygote wrote on stderr before it died."""
        if self.errors is None:
            return ""
        with suppress(OSError, ValueError):
            self.errors.seek(0)
            text: str = self.errors.read()[-600:].decode(errors="replace").strip()
            return text.splitlines()[-1] if text else ""
        return ""

    def begin(self, mode: str, descriptors: Sequence[int], limits: Limits, **more: Any) -> int:
        """Starts a box. Raises ZygoteLost."""
        self._next += 1
        self.programs += 1
        self._send({"op": "start", "id": self._next, "mode": mode, "limits": _limits(limits), **more}, descriptors)
        return self._next

    def _send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        raw = _packed(message)
        try:
            socket.send_fds(self.control, [_HEADER.pack(len(raw)) + raw], list(descriptors))
        except OSError as error:
            raise ZygoteLost(f"the zygote is gone ({error})") from None

    def kill(self, number: int, why: str) -> None:
        """Asks for a box's end. Raises ZygoteLost."""
        self._send({"op": "kill", "id": number, "why": why})

    def reports(self) -> list[dict[str, Any]]:
        """Reports that have arrived; called when the socket is readable. Raises ZygoteLost."""
        try:
            raw = self.control.recv(65536)
        except OSError as error:
            raise ZygoteLost(f"the zygote is gone ({error})") from None
        if not raw:
            raise ZygoteLost("the zygote has died")
        lines = (self._pending + raw).split(b"\n")
        self._pending = lines.pop()
        return [_report(plain_data.loads(line)) for line in lines]

    def alive(self) -> bool:
        """Whether its process still runs, as far as can be seen without asking."""
        return self.process is None or self.process.poll() is None

    def close(self) -> None:
        """Ends the zygote, and with it every box. In a forked child of the owner only the descriptor is closed."""
        self.control.close()
        if self.errors is not None:
            self.errors.close()
        if os.getpid() != self.owner:
            return
        if self.process is not None:
            try:
                self.process.wait(0.5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            if self.scratch_root:
                _remove_scratch(self.scratch_root, self.process.pid)
        if self.on_close is not None:
            self.on_close()

    def abandon(self) -> None:
        """Ends the zygote without waiting for anything: for finalizers, where no thread can be started any more."""
        self.control.close()  # the zygote sees it and ends, and its container with it
        if self.process is not None and os.getpid() == self.owner:
            with suppress(OSError):
                self.process.kill()


def _remove_scratch(root: str, process: int) -> None:
    """The folders of boxes whose zygote was killed, and so could not take them away itself."""
    from sandboxes.zygote.server import empty_tree

    with suppress(OSError):
        for name in os.listdir(root):
            if name.startswith(f"box-{process}-"):
                with suppress(OSError):
                    empty_tree(f"{root}/{name}", 1_000_000)
                    os.rmdir(f"{root}/{name}")


def _limits(limits: Limits) -> dict[str, float | int]:
    return {name: getattr(limits, name) for name in limits.__dataclass_fields__}


def _report(line: Any) -> dict[str, Any]:
    """A zygote's word on a box that has ended: `[id, [setup, killed], status, cpu, peak, base, wall]`."""
    number, (setup, killed), status, cpu, peak, base, wall = line
    return {
        "id": number,
        "setup": setup,  # why its walls did not stand
        "killed": killed,  # the limit for which the zygote ended it
        "status": status,
        "cpu": cpu,
        "peak": peak,
        "base": base,
        "wall": wall,
    }


# --- running boxes ----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Running:
    zygote: Zygote
    number: int
    limits: Limits
    output: dict[int, bytearray] = field(default_factory=dict)  # read end -> what came; stdout first
    report: dict[str, Any] | None = None
    asked_to_die: str = ""

    def taken(self) -> int:
        return sum(map(len, self.output.values()))


class Conversation:
    """What the trainer says to a box over a pair of pipes, one frame at a time."""

    reads: int
    writes: int
    patient = False
    """Nobody waits for an answer: what comes may lie in the pipe as output does."""

    def __init__(self, reads: int, writes: int) -> None:
        self.reads, self.writes = reads, writes
        for descriptor in (reads, writes):
            if descriptor >= 0:
                os.set_blocking(descriptor, False)
        self.incoming = bytearray()
        self.outgoing = memoryview(b"")
        self.most = 0
        self.deadline: float | None = None
        self.finished = False
        self.broken = ""

    def frame(self, raw: bytes) -> None:
        """One whole frame has come."""

    def ended(self) -> None:
        """The box has closed its end."""

    def say(self, frame: Any) -> bool:
        """Queues a frame. Returns False when it is over the cap."""
        data = plain_data.dumps(frame)
        if len(data) > self.most:
            return False
        self.outgoing = memoryview(_HEADER.pack(len(data)) + data)
        return True

    def readable(self) -> bool:
        """Takes what is there. Returns False at the end of the pipe."""
        try:
            part = os.read(self.reads, 1 << 18)
        except BlockingIOError:
            return True
        if not part:
            return False
        self.incoming += part
        while len(self.incoming) >= _HEADER.size and not self.broken:
            (length,) = _HEADER.unpack_from(self.incoming)
            if length > self.most + 4096:
                self.broken = "value_bytes"
                return False
            end = _HEADER.size + length
            if len(self.incoming) < end:
                break
            raw = bytes(self.incoming[_HEADER.size : end])
            del self.incoming[:end]
            self.frame(raw)
        return True

    def drain(self) -> None:
        """Takes what still lies in the pipe, once nobody writes to it any more."""
        poll = select.poll()
        if self.reads >= 0:
            poll.register(self.reads, select.POLLIN)
        while self.reads >= 0 and poll.poll(0) and self.readable():
            pass

    def writable(self) -> bool:
        """Sends what is queued. Returns False when nobody reads."""
        try:
            self.outgoing = self.outgoing[os.write(self.writes, self.outgoing) :]
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True

    def close(self) -> None:
        for name in ("reads", "writes"):
            if getattr(self, name) >= 0:
                os.close(getattr(self, name))
                setattr(self, name, -1)


class Pump:
    """Moves every byte between the trainer and its running boxes until all have ended."""

    def __init__(self) -> None:
        self.running: list[_Running] = []
        self.talk: Conversation | None = None
        self.owned: list[int] = []

    def start(
        self,
        zygote: Zygote,
        mode: str,
        header: dict[str, Any],
        files: Mapping[str, bytes],
        limits: Limits,
        *,
        stdin: int,
        extra: Sequence[int] = (),
        **more: Any,
    ) -> _Running:
        """Starts a box in `zygote`; the descriptors handed over are closed here."""
        raw = _packed((header, dict(files)))
        job = sealed_file(raw)
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        given = [stdin, out_write, err_write, job, *extra]
        try:
            for end in (out_read, err_read):
                os.set_blocking(end, False)
                with suppress(OSError):  # the box has another user: `open("/dev/stdout", "w")` of an honest program
                    os.fchmod(end, 0o622)
                if hasattr(fcntl, "F_SETPIPE_SZ"):
                    with suppress(OSError):  # over the user's pipe quota: the default size does
                        fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            self.owned += [out_read, err_read]
            number = zygote.begin(mode, given, limits, job=len(raw), **more)
        finally:
            for descriptor in given:
                os.close(descriptor)
        box = _Running(zygote, number, limits, {out_read: bytearray(), err_read: bytearray()})
        self.running.append(box)
        return box

    def kill(self, box: _Running, why: str) -> None:
        if box.report is None and not box.asked_to_die:
            box.asked_to_die = why
            box.zygote.kill(box.number, why)

    def close(self) -> None:
        for descriptor in self.owned:
            os.close(descriptor)
        self.owned.clear()
        if self.talk is not None:
            self.talk.close()

    def run(self) -> None:
        """Pumps until every box has been reported. Raises ZygoteLost."""
        poll = select.poll()
        sockets: dict[int, Zygote] = {}
        streams: dict[int, _Running] = {}
        for box in self.running:
            sockets[box.zygote.control.fileno()] = box.zygote
            for descriptor in box.output:
                streams[descriptor] = box
        for descriptor in sockets:
            poll.register(descriptor, select.POLLIN)
        talk = self.talk
        talking = reading = writing = False
        if talk is not None:
            talking = True
            reading = not talk.patient
            if reading:
                poll.register(talk.reads, select.POLLIN)
        most_wall = max(box.limits.wall_seconds for box in self.running)
        started = time.monotonic()
        lost_at = started + most_wall * REAL_TIME_FACTOR + GRACE_SECONDS
        # what a short program prints lies in its pipes until it has ended: being woken for it would cost more
        look_at = started + UNREAD_SECONDS
        while any(box.report is None for box in self.running):
            if talk is not None and talking:
                want = len(talk.outgoing) > 0
                if want != writing:
                    (poll.register if want else poll.unregister)(
                        *((talk.writes, select.POLLOUT) if want else (talk.writes,))
                    )
                    writing = want
            now = time.monotonic()
            if now >= look_at:
                look_at = lost_at
                for descriptor in streams:
                    poll.register(descriptor, select.POLLIN)
                if talk is not None and talk.patient:
                    poll.register(talk.reads, select.POLLIN)
                    reading = True
            until = min(lost_at, look_at)
            if talk is not None and talk.deadline is not None and talking:
                until = min(until, talk.deadline)
            events = poll.poll(max(0.0, until - now) * 1000 + 1)
            if not events:
                now = time.monotonic()
                if now >= lost_at:
                    raise ZygoteLost("the zygote fell silent past every limit")
                if talk is not None and talk.deadline is not None and now >= talk.deadline:
                    talk.deadline = None
                    self.kill(self.running[0], "call_wall_seconds")
                continue
            for descriptor, _ in events:
                if descriptor in sockets:
                    for report in sockets[descriptor].reports():
                        for box in self.running:
                            if box.zygote is sockets[descriptor] and box.number == report["id"]:
                                box.report = report
                elif descriptor in streams:
                    if not self._drain(descriptor, streams[descriptor]):
                        poll.unregister(descriptor)
                        del streams[descriptor]
                elif talk is not None and talking:
                    if descriptor == talk.reads and reading:
                        if not talk.readable():
                            poll.unregister(talk.reads)
                            reading = False
                            talk.ended()
                            if talk.broken:
                                self.kill(self.running[0], talk.broken)
                            talk.finished = True
                    elif descriptor == talk.writes and writing and not talk.writable():
                        poll.unregister(talk.writes)
                        writing = False
                        talk.outgoing = memoryview(b"")
                        talking = reading
                    if talk.finished:
                        if talk.broken:
                            self.kill(self.running[0], talk.broken)
                        if reading:
                            poll.unregister(talk.reads)
                        if writing:
                            poll.unregister(talk.writes)
                        talking = reading = writing = False
                        talk.close()
        for descriptor, box in streams.items():  # what was written before the end lies in the pipe
            while self._drain(descriptor, box, at_end=True):
                pass
        if talk is not None and talk.patient:
            talk.drain()

    def _drain(self, descriptor: int, box: _Running, at_end: bool = False) -> bool:
        """Reads once. Returns False when there is no more to come."""
        try:
            part = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return not at_end
        if not part:
            return False
        room = box.limits.output_bytes - box.taken()
        box.output[descriptor] += part[:room]
        if len(part) > room:
            if not at_end:
                self.kill(box, "output_bytes")
            elif box.report is not None and not box.report.get("killed"):
                box.report["killed"] = "output_bytes"
                return False
        return True


_LIMIT_EXITS: Final = {
    "cpu_seconds": Exit.CPU_LIMIT,
    "wall_seconds": Exit.WALL_LIMIT,
    "call_wall_seconds": Exit.WALL_LIMIT,
    "memory_bytes": Exit.MEMORY_LIMIT,
    "output_bytes": Exit.OUTPUT_LIMIT,
    "value_bytes": Exit.OUTPUT_LIMIT,
    "disk_bytes": Exit.DISK_LIMIT,
}


def classify(box: _Running, tier: str) -> Execution:
    """The `Execution` of a box that has been reported."""
    report, limits = box.report, box.limits
    if report is None:
        raise AssertionError("a box without a report")
    stdout, stderr = (bytes(part) for part in box.output.values())
    if report["setup"]:
        return Execution(exit=Exit.SANDBOX_ERROR, detail=f"a box could not be set up: {report['setup']}", tier=tier)
    status: int = report["status"]
    killed: str = report["killed"]
    cpu: float = report["cpu"]
    code, number = (status, None) if status >= 0 else (None, -status)
    over_memory = report["peak"] - report["base"] > limits.memory_bytes
    end, limit = Exit.OK, ""
    if killed in _LIMIT_EXITS:
        end, limit = _LIMIT_EXITS[killed], killed
    elif over_memory:
        end, limit = Exit.MEMORY_LIMIT, "memory_bytes"
    elif (number in (signal.SIGKILL, signal.SIGXCPU) and cpu >= limits.cpu_seconds * 0.95) or cpu > limits.cpu_seconds:
        end, limit = Exit.CPU_LIMIT, "cpu_seconds"
    elif number == signal.SIGXFSZ:
        end, limit = Exit.DISK_LIMIT, "disk_bytes"
    elif number is not None:
        end = Exit.SIGNAL
    elif code:
        last = stderr[-300:].rstrip().rpartition(b"\n")[2]
        end = Exit.NONZERO
        if last.startswith(b"MemoryError"):
            end, limit = Exit.MEMORY_LIMIT, "memory_bytes"
    detail = f"over its limit of {getattr(limits, limit)} {limit}" if limit and hasattr(limits, limit) else ""
    if killed == "noise":
        end, detail = Exit.SIGNAL, "ended: it wrote on the answer channel itself"
    return Execution(
        exit=end,
        stdout=stdout,
        stderr=stderr,
        exit_code=code,
        signal=number,
        cpu_seconds=cpu,
        wall_seconds=report["wall"],
        peak_memory_bytes=report["peak"],
        limit_hit=limit,
        detail=detail,
        tier=tier,
    )


def _stdin_of(program: Program) -> int:
    return sealed_file(program.stdin) if program.stdin else os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)


def run_program(zygote: Zygote, program: Program, limits: Limits) -> Execution:
    """A program from start to end on one zygote. Raises ZygoteLost, SandboxError."""
    if program.language != "python":
        return _run_other_language(zygote, program, limits)
    pump = Pump()
    try:
        header = {"entry": program.entry, "args": program.args}
        box = pump.start(zygote, "script", header, program.files, limits, stdin=_stdin_of(program))
        pump.run()
        return classify(box, zygote.tier)
    finally:
        pump.close()


# --- other languages --------------------------------------------------------------------------------------------------

COMPILE_LIMITS: Final = Limits(
    cpu_seconds=30,
    wall_seconds=60,
    memory_bytes=1 << 30,
    processes=64,
    open_files=256,
    output_bytes=1 << 20,
    disk_bytes=256 << 20,
)
_COMPILERS: Final = {
    "c": ("gcc", "cc", "clang"),
    "c++": ("g++", "c++", "clang++"),
}
_INTERPRETERS: Final = {"bash": ("bash",), "javascript": ("node", "nodejs")}
_BINARY: Final = "program.out"


def _tool(language: str, names: Sequence[str]) -> str:
    import shutil

    for name in names:
        path = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin")
        if path is not None:
            return path
    raise SandboxError(
        f"no tool chain for {language} on this machine: none of {', '.join(names)} lies in /usr/local/bin, /usr/bin or"
        f" /bin; install one (for example: apt-get install {names[0]})"
    )


def _run_other_language(zygote: Zygote, program: Program, limits: Limits) -> Execution:
    language = program.language
    header: dict[str, Any] = {"entry": program.entry}
    extra: list[int] = []
    files = program.files
    if language in _COMPILERS:
        compiled, problem = _binary(zygote, program)
        if compiled is None:
            return problem
        header |= {"argv": [f"./{_BINARY}", *program.args], "binary": _BINARY}
        extra, files = [compiled], {path: content for path, content in files.items() if path != program.entry}
    else:
        tool = _tool(language, _INTERPRETERS[language])
        header["argv"] = [tool, program.entry, *program.args]
    pump = Pump()
    try:
        box = pump.start(
            zygote,
            "binary",
            header,
            files,
            limits,
            stdin=_stdin_of(program),
            extra=extra,
            # V8 reserves far more address space than it uses; its memory is summed by the zygote all the same
            address_space=language != "javascript",
        )
        pump.run()
        return classify(box, zygote.tier)
    finally:
        pump.close()


class _Binaries:
    """The last binaries by what they were compiled from: a task's fifty cases run one program."""

    def __init__(self, most_bytes: int) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._most = most_bytes

    @staticmethod
    def key(program: Program) -> bytes:
        digest = hashlib.sha256()
        for part in (program.language, program.entry, *sorted(program.files)):
            digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
        for path in sorted(program.files):
            digest.update(len(program.files[path]).to_bytes(8, "little") + program.files[path])
        return digest.digest()

    def get(self, key: bytes) -> bytes | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: bytes, binary: bytes) -> None:
        with self._lock:
            self._kept[key] = binary
            while sum(map(len, self._kept.values())) > self._most:
                self._kept.popitem(last=False)


_BINARIES: Final = _Binaries(64 << 20)


def _binary(zygote: Zygote, program: Program) -> tuple[int | None, Execution]:
    """As `_compile`, but once for equal files. The copy is made before the program can write to its own binary."""
    key = _BINARIES.key(program)
    binary = _BINARIES.get(key)
    if binary is None:
        made, execution = _compile(zygote, program)
        if made is not None:
            _BINARIES.put(key, os.pread(made, os.fstat(made).st_size, 0))
        return made, execution
    made = os.memfd_create("binary", os.MFD_CLOEXEC)
    left = memoryview(binary)
    while left:
        left = left[os.write(made, left) :]
    os.lseek(made, 0, os.SEEK_SET)
    return made, Execution(exit=Exit.OK, tier=zygote.tier)


def _compile(zygote: Zygote, program: Program) -> tuple[int | None, Execution]:
    """A descriptor of the compiled binary, or None and why not."""
    tool = _tool(program.language, _COMPILERS[program.language])
    standard = "-std=gnu17" if program.language == "c" else "-std=gnu++17"
    suffix = ".c" if program.language == "c" else ".cpp"
    files = dict(program.files)
    entry = program.entry
    if not entry.endswith((".c", ".cc", ".cpp", ".cxx")):
        entry = f"{entry}{suffix}"
        files[entry] = files.pop(program.entry)
    argv = [tool, standard, "-O2", "-pipe", "-o", _BINARY, entry, "-lm"]
    made = os.memfd_create("binary", os.MFD_CLOEXEC)
    pump = Pump()
    kept: int | None = None
    try:
        kept = os.dup(made)
        header = {"entry": entry, "argv": argv, "output": _BINARY}
        null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        box = pump.start(zygote, "compile", header, files, COMPILE_LIMITS, stdin=null, extra=[made])
        pump.run()
        execution = classify(box, zygote.tier)
        if execution.exit is Exit.OK:
            result, kept = kept, None
            return result, execution
        if execution.exit is Exit.SANDBOX_ERROR:
            return None, execution
        words = execution.stderr or execution.stdout or execution.detail.encode()
        return None, Execution(
            exit=Exit.COMPILE_ERROR,
            stderr=words,
            exit_code=execution.exit_code,
            cpu_seconds=execution.cpu_seconds,
            wall_seconds=execution.wall_seconds,
            limit_hit=execution.limit_hit,
            detail=f"the {program.language} compiler refused the program",
            tier=zygote.tier,
        )
    finally:
        if kept is not None:
            os.close(kept)
        pump.close()


# --- calls ------------------------------------------------------------------------------------------------------------


class _Calls(Conversation):
    """Asks a box for one call after the other."""

    def __init__(
        self,
        reads: int,
        writes: int,
        calls: Sequence[Call],
        limits: Limits,
        wall: float | None,
        stop: Callable[[int, CallResult], bool] | None,
    ) -> None:
        super().__init__(reads, writes)
        self.calls, self.wall, self.stop = calls, wall, stop
        self.most = limits.value_bytes
        self.results: list[CallResult] = []
        self.loaded = False
        self.asked_at = 0.0
        self.token = ""
        self.stopped = False

    def _ask(self) -> None:
        while len(self.results) < len(self.calls):
            call = self.calls[len(self.results)]
            # an argument that is not plain data is the caller's mistake, and was checked before the box started
            arguments = [plain_data.encode(value) for value in call.args]
            keywords = {name: plain_data.encode(value) for name, value in call.kwargs.items()}
            self.token = new_token()
            if self.say(["call", call.entry_point, arguments, keywords, self.token]):
                self.asked_at = time.monotonic()
                self.deadline = None if self.wall is None else self.asked_at + self.wall
                return
            self._take(CallResult(status=CallStatus.TOO_BIG, detail="the arguments are over Limits.value_bytes"))
            if self.finished:
                return
        self.finished = True

    def _take(self, result: CallResult, heavy: bool = False) -> None:
        self.results.append(result)
        if self.stop is None:
            return
        if self.stop(len(self.results) - 1, result):
            self.stopped = self.finished = True
        if heavy and result.status is CallStatus.RETURNED:
            self.results[-1] = replace(result, value=plain_data.Opaque("value that stop has seen"))

    def frame(self, raw: bytes) -> None:
        now = time.monotonic()
        if self.finished:
            return
        if not self.loaded:
            if raw != b'["loaded"]':
                self._noise()
                return
            self.loaded = True
            self._ask()
            return
        seconds = now - self.asked_at
        self.deadline = None
        room = plain_data.Room()
        result = _read_answer(raw, self.token, room, seconds)
        if result is None:
            self._noise()
            return
        self._take(result, heavy=len(raw) > LIGHT_BYTES or plain_data.MAX_FLAT - room.left > LIGHT_BYTES)
        if not self.finished:
            self._ask()

    def _noise(self) -> None:
        """The program itself wrote on the pipe."""
        self.broken = "noise"
        self.finished = True

    def complete(self, execution: Execution) -> tuple[CallResult, ...]:
        """One result per call, once the box has ended."""
        results = list(self.results)
        if len(results) < len(self.calls) and self.loaded and not self.stopped:
            seconds = time.monotonic() - self.asked_at
            status = CallStatus.TOO_BIG if self.broken == "value_bytes" else CallStatus.LIMIT
            detail = execution.detail or f"the program ended during this call ({execution.exit})"
            results.append(CallResult(status=status, detail=detail, wall_seconds=seconds))
        missing = len(self.calls) - len(results)
        results += [CallResult(status=CallStatus.NOT_RUN)] * missing
        return tuple(results)


def _read_answer(raw: bytes, token: str, room: plain_data.Room, seconds: float) -> CallResult | None:
    """An answer frame of an untrusted box; None when it is none to the question that was asked. What is not in the
    grammar is an opaque value."""
    try:
        frame = plain_data.loads(raw)
        if type(frame) is not list or not frame or frame.pop() != token:
            return None
        kind = frame[0]
        if kind == "ok":
            value = plain_data.decode(frame[1], room=room)
            return CallResult(status=CallStatus.RETURNED, value=value, wall_seconds=seconds)
        if kind == "raised":
            name, text = str(frame[1])[:60], str(frame[2])[:400]
            return CallResult(status=CallStatus.RAISED, exception=name, detail=text, wall_seconds=seconds)
        if kind == "missing":
            detail = f"the program has no {str(frame[1])[:100]!r}"
            return CallResult(status=CallStatus.MISSING, detail=detail, wall_seconds=seconds)
        if kind == "big":
            return CallResult(status=CallStatus.TOO_BIG, detail="the return value is over a cap", wall_seconds=seconds)
    except DataTooBig as error:
        return CallResult(status=CallStatus.TOO_BIG, detail=str(error), wall_seconds=seconds)
    except (ValueError, IndexError, KeyError, TypeError):
        pass
    value = plain_data.Opaque("frame outside the grammar")
    return CallResult(status=CallStatus.RETURNED, value=value, wall_seconds=seconds)


def run_calls(
    zygote: Zygote,
    program: Program,
    calls: Sequence[Call],
    limits: Limits,
    call_wall_seconds: float | None,
    stop: Callable[[int, CallResult], bool] | None,
) -> CallsExecution:
    """Loads a module and calls its functions. Raises ZygoteLost, SandboxError."""
    if program.language != "python":
        raise SandboxError(f"calls need a python program; this one is {program.language}: use run with stdin instead")
    ask_read, ask_write = os.pipe()
    answer_read, answer_write = os.pipe()
    pump = Pump()
    talk = _Calls(answer_read, ask_write, calls, limits, call_wall_seconds, stop)
    pump.talk = talk
    try:
        header = {"entry": program.entry, "args": program.args, "value_bytes": limits.value_bytes}
        extra = [ask_read, answer_write]
        box = pump.start(zygote, "calls", header, program.files, limits, stdin=_stdin_of(program), extra=extra)
        pump.run()
        execution = classify(box, zygote.tier)
        return CallsExecution(execution=execution, results=talk.complete(execution))
    finally:
        pump.close()


# --- judging ----------------------------------------------------------------------------------------------------------


class _Verdicts(Conversation):
    """Listens on the verdict channel of a test box."""

    patient = True

    def __init__(self, reads: int) -> None:
        super().__init__(reads, -1)
        self.most = 1 << 22
        self.outcomes: dict[str, TestOutcome] = {}
        self.done = False
        self.fault = ""
        self.detail = ""

    def frame(self, raw: bytes) -> None:
        message = plain_data.loads(raw)
        kind = message[0]
        if kind == "declared":
            for name in message[1]:
                self.outcomes.setdefault(name, TestOutcome(name=name, status=TestStatus.NOT_RUN))
        elif kind == "collected":  # pytest's own list takes the place of what the source promised
            self.outcomes = {name: TestOutcome(name=name, status=TestStatus.NOT_RUN) for name in message[1]}
        elif kind == "outcome":
            name, status, detail = message[1:]
            self.outcomes[name] = TestOutcome(name=name, status=TestStatus(status), detail=detail)
        elif kind == "fault":
            self.fault = message[1]
        elif kind == "detail":
            self.detail = self.detail or message[1]
        elif kind == "done":
            self.done = True


COMPILED_HERE_BYTES: Final = 1 << 16
"""Longest test script that the trainer compiles: a longer one would hold up its other threads, and is rare."""
_ONE_COMPILER: Final = threading.Lock()
_NOT_COMPILED: Final[tuple[bytes, tuple[str, ...]]] = (b"", ())


@functools.lru_cache(maxsize=64)
def _compiled(source: bytes, entry: str, keep_going: bool, max_tests: int | None) -> tuple[bytes, tuple[str, ...]]:
    """The trusted test script, compiled here once for all the completions of a task, and its tests' names.

    Empty where it does not compile: then the box finds so too, and says why.
    """
    with _ONE_COMPILER, warnings.catch_warnings():  # which is global: one at a time
        warnings.simplefilter("ignore")  # what it warns of is no matter of the trainer's
        try:
            code, names = judging.compiled_tests(source, entry, keep_going, max_tests)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return _NOT_COMPILED
    return marshal.dumps(code), tuple(names)


def run_judge(
    tests_zygote: Zygote,
    solution_zygote: Zygote,
    tests: Program,
    solution: Program,
    entry_points: Mapping[str, str],
    limits: Limits,
    *,
    modules: Sequence[str],
    runner: str,
    keep_going: bool,
    max_tests: int | None,
    together: bool,
) -> JudgeExecution:
    """Tests in one box, the solution in another, joined by pipes. Raises ZygoteLost, SandboxError."""
    for program, what in ((tests, "tests"), (solution, "solution")):
        if program.language != "python":
            raise SandboxError(f"judging needs python; the {what} are {program.language}: use run with stdin instead")
    verdict_read, verdict_write = os.pipe()
    pump = Pump()
    pump.talk = talk = _Verdicts(verdict_read)
    code, sites = _NOT_COMPILED
    if runner == "script" and tests_zygote.python == PYTHON and len(tests.files[tests.entry]) <= COMPILED_HERE_BYTES:
        code, sites = _compiled(tests.files[tests.entry], tests.entry, keep_going, max_tests)
        for name in sites or ([judging.WHOLE_SCRIPT] if code else []):
            talk.outcomes[name] = TestOutcome(name=name, status=TestStatus.NOT_RUN)
    header = {
        "code": code,
        "sites": sites,
        "entry": tests.entry,
        "solution_entry": solution.entry,
        "names": dict(entry_points),
        "modules": list(modules),
        "runner": runner,
        "keep_going": keep_going,
        "max_tests": max_tests,
        "together": together,
        "value_bytes": limits.value_bytes,
        "objects": True,
    }
    try:
        if together:
            header["solution"] = dict(solution.files)
            extra = [*(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC) for _ in range(2)), verdict_write]
            box = pump.start(tests_zygote, "tests", header, tests.files, limits, stdin=_stdin_of(tests), extra=extra)
            pump.run()
            execution = classify(box, tests_zygote.tier)
            return _judged(talk, execution, execution)
        ask_read, ask_write = os.pipe()
        answer_read, answer_write = os.pipe()
        for_tests, for_solution = limits, limits
        if tests_zygote is not solution_zygote:
            # one box idles while the other works, and neither zygote sees the other's
            for_tests = replace(limits, wall_seconds=limits.wall_seconds * 4)
            for_solution = replace(limits, wall_seconds=limits.wall_seconds + limits.cpu_seconds)
        test_box = pump.start(
            tests_zygote,
            "tests",
            header,
            tests.files,
            for_tests,
            stdin=_stdin_of(tests),
            extra=[answer_read, ask_write, verdict_write],
        )
        served = {
            "entry": solution.entry,
            "module": (modules or ("solution",))[0],
            "names": judging.plain_names(entry_points),
            "value_bytes": limits.value_bytes,
            "objects": True,
        }
        solution_box = pump.start(
            solution_zygote,
            "calls",
            served,
            solution.files,
            for_solution,
            stdin=_stdin_of(solution),
            extra=[ask_read, answer_write],
        )
        pump.run()
        return _judged(talk, classify(test_box, tests_zygote.tier), classify(solution_box, solution_zygote.tier))
    finally:
        pump.close()


def _judged(talk: _Verdicts, tests: Execution, solution: Execution) -> JudgeExecution:
    finished = talk.done and tests.exit is Exit.OK
    detail = talk.detail
    if not detail and solution.exit is not Exit.OK:
        last = solution.stderr[-400:].decode(errors="replace").strip().rpartition("\n")[2]
        detail = f"the solution ended by {solution.exit}" + (f": {last}" if last else "")
    if not detail and tests.exit is not Exit.OK:
        detail = f"the test box ended by {tests.exit}"
    return JudgeExecution(
        tests=tests,
        solution=solution,
        outcomes=tuple(talk.outcomes.values()),
        finished=finished,
        test_fault=talk.fault,
        detail=detail,
    )


# --- a pool -----------------------------------------------------------------------------------------------------------


class Pool:
    """`workers` slots, each with a zygote (two where boxes cannot share one) started when first needed.

    A lost zygote is replaced and its work done once more; lost again, the failure is the caller's `sandbox_error`.
    """

    def __init__(self, workers: int, make: Callable[[], Zygote], *, pair: bool = False, recycle_after: int = 0) -> None:
        self.workers, self.make, self.pair, self.recycle_after = workers, make, pair, recycle_after
        self._slots: queue.LifoQueue[list[Zygote | None]] = queue.LifoQueue()
        for _ in range(workers):
            self._slots.put([None, None])
        self._worked = False
        self._closed = False
        self._owner = os.getpid()

    def use(self, work: Callable[[Zygote, Zygote], T], *, both: bool = False) -> tuple[T | None, str]:
        """Runs `work` with a zygote for the solution and one for the tests. Returns its result, or why there is none.

        Raises:
            SandboxError: the pool is closed, or no zygote can be started.
        """
        if os.getpid() != self._owner:
            raise SandboxError("a pool does not survive os.fork(): the child starts its own")
        slot = self._slots.get()
        try:
            if self._closed:
                raise SandboxError("the sandbox is closed: make a new one")
            why = ""
            for _ in range(2):
                try:
                    first = self._ready(slot, 0)
                    second = self._ready(slot, 1) if both and self.pair else first
                except SandboxError as error:
                    self._discard(slot)
                    if not self._worked:
                        raise  # it never ran here: the caller has to know why
                    why = str(error)  # it did run: the engine is down for now, and these rows are lost
                    continue
                self._worked = True
                try:
                    return work(first, second), ""
                except ZygoteLost as error:
                    why = str(error)
                    self._discard(slot)
                except BaseException:
                    self._discard(slot)  # whatever state it is in, nobody should meet it again
                    raise
            return None, why
        finally:
            self._slots.put(slot)
            if self._closed:
                self._discard(slot)

    def _ready(self, slot: list[Zygote | None], index: int) -> Zygote:
        zygote = slot[index]
        worn = zygote is not None and (
            zygote.breached or (self.recycle_after and zygote.programs >= self.recycle_after) or not zygote.alive()
        )
        if zygote is not None and worn:
            slot[index] = None
            zygote.close()
            zygote = None
        if zygote is None:
            zygote = slot[index] = self.make()
        return zygote

    @staticmethod
    def _discard(slot: list[Zygote | None]) -> None:
        for index, zygote in enumerate(slot):
            slot[index] = None
            if zygote is not None:
                zygote.close()

    def abandon(self) -> None:
        """Ends idle zygotes without waiting."""
        self._closed = True
        with suppress(queue.Empty):
            while True:
                for zygote in self._slots.get_nowait():
                    if zygote is not None:
                        zygote.abandon()

    def close(self) -> None:
        """Ends every zygote; work in progress keeps its own until it returns."""
        self._closed = True
        taken = []
        while True:
            try:
                taken.append(self._slots.get_nowait())
            except queue.Empty:
                break
        for slot in taken:
            if os.getpid() == self._owner:
                self._discard(slot)
            self._slots.put(slot)
