"""A pool of killable worker processes: for our own work that may not end.

Parsing and comparing what a model wrote can take for ever (`9^{9^{9^9}}` hangs a computer algebra system inside
one bignum power, where no signal handler and no thread runs). So such work runs in spawned processes, each in a
process group of its own; at the deadline the whole group gets SIGKILL and a fresh process takes its place.
No signals, no threads that stop waiting: usable from any thread, under `fork` and `spawn`.

Only JSON crosses the pipe. A worker that has read hostile text is not trusted, so its answer is never unpickled.

Stops: endless computation, memory growth (RLIMIT_AS), a crash of the interpreter, orphans when this process dies.
Does not stop: hostile code. Nothing that a model wrote is executed here; programs go to `sandboxes`.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from rewards.verdict import Reason

DEFAULT_DEADLINE_SECONDS: Final = 5.0
DEFAULT_MEMORY_BYTES: Final = 2 * 1024**3
DEFAULT_START_SECONDS: Final = 120.0
MAX_FRAME_BYTES: Final = 256 * 1024**2
MAX_LOSSES_BY_SIGKILL: Final = 100
"""How often one task is given to a fresh worker when somebody else (an operator, the OOM killer) kills it; and only
while the killed attempts together took less than MAX_LOST_DEADLINES deadlines, since the task may be the cause."""
MAX_LOST_DEADLINES: Final = 4
MAX_LOSSES_BY_CRASH: Final = 2
"""The same for a worker that dies by itself (segmentation fault): the task itself is then the likely cause."""

_HEADER: Final = struct.Struct("!Q")
_BOOT: Final = "import json,sys;s=json.loads(sys.argv[1]);sys.path[:]=s['path'];import rewards.workers as w;w._serve(s)"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a task gave no value. `reason` is DEADLINE, WORKER_LOST, OVER_LIMIT (memory) or EXCEPTION."""

    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one task: a JSON-plain `value`, or a `failure`."""

    value: Any = None
    failure: Failure | None = None


class WorkerStartError(RuntimeError):
    """Worker processes cannot be started, or cannot import the target."""


class WorkerLoadError(WorkerStartError):
    """A worker process runs, and what it should load raised there."""


class ConnectionEnded(Exception):
    """The process at the other end is gone."""


class DeadlineCrossed(Exception):
    """The peer did not answer in time."""


def _wait(connection: socket.socket, event: int, deadline: float) -> None:
    poller = select.poll()
    poller.register(connection, event)
    # What lies ready counts also after the deadline: a spare worker may have said hello long before it is asked.
    remaining = max(0.0, deadline - time.monotonic())
    if not poller.poll(min(remaining * 1000, 2**30)):  # poll takes a C int
        raise DeadlineCrossed


def send_frame(connection: socket.socket, frame: bytes, deadline: float) -> None:
    """One length-prefixed message, whole by `deadline` (monotonic seconds). Raises ConnectionEnded, DeadlineCrossed."""
    view = memoryview(_HEADER.pack(len(frame)) + frame)
    while view:
        _wait(connection, select.POLLOUT, deadline)
        try:
            view = view[connection.send(view) :]
        except BlockingIOError:
            continue
        except OSError as error:
            raise ConnectionEnded from error


def receive_frame(connection: socket.socket, deadline: float) -> bytes:
    """The next message of `send_frame`. Raises ConnectionEnded, DeadlineCrossed."""
    buffer = bytearray()
    want = _HEADER.size
    header = True
    while len(buffer) < want:
        _wait(connection, select.POLLIN, deadline)
        try:
            piece = connection.recv(min(want - len(buffer), 1 << 20))
        except BlockingIOError:
            continue
        except OSError as error:
            raise ConnectionEnded from error
        if not piece:
            raise ConnectionEnded
        buffer += piece
        if header and len(buffer) == want:
            (want,) = _HEADER.unpack(buffer)
            if want > MAX_FRAME_BYTES:
                raise ConnectionEnded
            buffer.clear()
            header = False
    return bytes(buffer)


class Worker:
    """One child process in a session of its own, and the socket to it.

    Args:
        boot: Python text that the child runs; it reads `setup` from `sys.argv[1]` as JSON.
        setup: JSON-plain; the search path and the connection's descriptor are added.
        show_output: what the child writes goes to our stderr; else nowhere.
    """

    __slots__ = ("_lifeline", "connection", "process", "ready", "started")

    def __init__(self, boot: str, setup: Mapping[str, Any], *, show_output: bool = False) -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        lifeline_read, self._lifeline = os.pipe()
        whole = json.dumps({**setup, "path": sys.path, "connection": theirs.fileno()})
        output = None if show_output else subprocess.DEVNULL
        try:
            # -I keeps the caller's directory and PYTHON* variables out; the search path is then ours, spelled out.
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-c", boot, whole],
                stdin=lifeline_read,
                stdout=2 if show_output else subprocess.DEVNULL,  # stdout is the caller's, for results
                stderr=output,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            os.close(self._lifeline)
            raise WorkerStartError(
                f"cannot start a worker process with {sys.executable!r}: {error}; "
                "check the process limit (ulimit -u) and the free memory"
            ) from error
        finally:
            theirs.close()
            os.close(lifeline_read)
        self.connection = ours
        self.ready = False
        self.started = time.monotonic()

    def wait_ready(self, start_seconds: float) -> None:
        """Wait for its first word. Raises WorkerStartError when it failed or came too late, ConnectionEnded."""
        if self.ready:
            return
        try:
            hello = json.loads(receive_frame(self.connection, self.started + start_seconds))
        except DeadlineCrossed:
            raise WorkerStartError(f"a worker was not ready within {start_seconds:g} s") from None
        if hello.get("failure"):
            raise WorkerLoadError(f"a worker could not start: {hello['failure']}")
        self.ready = True

    def kill(self, *, dying: bool = False) -> int | None:
        """SIGKILL the whole group and reap it. Of a `dying` worker, the return code says how it came to that."""
        code = None
        if dying:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self.process.wait(0.5)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.forget()
        return code

    def forget(self) -> None:
        """Close our ends without touching the process."""
        self.connection.close()
        with contextlib.suppress(OSError):
            os.close(self._lifeline)


class WorkerPool:
    """Runs `target(payload)` in killable processes.

    Args:
        target: "package.module:function", importable in the child; takes and returns JSON-plain values.
        workers: number of processes; they start on first use.
        deadline_seconds: wall-clock seconds from handing a task to a ready worker until SIGKILL.
        memory_bytes: address space of each worker, its interpreter and imports included (RLIMIT_AS).
        start_seconds: longest time for a worker to import its target; not part of a task's deadline.

    A pool is picklable: the copy starts processes of its own when first used.
    """

    def __init__(
        self,
        target: str,
        *,
        workers: int = 2,
        deadline_seconds: float = DEFAULT_DEADLINE_SECONDS,
        memory_bytes: int = DEFAULT_MEMORY_BYTES,
        start_seconds: float = DEFAULT_START_SECONDS,
    ) -> None:
        module, _, function = target.partition(":")
        if not module or not function:
            raise ValueError(f"target {target!r} is not 'package.module:function'")
        if workers < 1:
            raise ValueError(f"workers={workers}; at least 1 is needed")
        if not deadline_seconds > 0:
            raise ValueError(f"deadline_seconds={deadline_seconds}; it must be above 0")
        self.target = target
        self.workers = workers
        self.deadline_seconds = deadline_seconds
        self.memory_bytes = memory_bytes
        self.start_seconds = start_seconds
        self._reset()

    @property
    def _setup(self) -> dict[str, Any]:
        return {"target": self.target, "memory_bytes": self.memory_bytes}

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._free = threading.Condition()
        self._closed = False
        _POOLS.add(self)

    def __getstate__(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "workers": self.workers,
            "deadline_seconds": self.deadline_seconds,
            "memory_bytes": self.memory_bytes,
            "start_seconds": self.start_seconds,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._reset()

    def _after_fork(self) -> None:
        # The parent's workers answer the parent. Keep neither its sockets nor a lock that one of its threads held.
        for worker in (*self._idle, *self._busy):
            worker.forget()
        self._reset()

    def _acquire(self) -> Worker:
        with self._free:
            while True:
                if self._closed:
                    raise WorkerStartError("this worker pool is closed; make a new one")
                if self._idle:
                    # A ready one before one that is still importing.
                    at = next((i for i, w in enumerate(self._idle) if w.ready), len(self._idle) - 1)
                    worker = self._idle.pop(at)
                    break
                if len(self._busy) < self.workers:
                    worker = Worker(_BOOT, self._setup)
                    break
                self._free.wait()
            self._busy.add(worker)
            return worker

    def _release(self, worker: Worker) -> None:
        with self._free:
            self._busy.discard(worker)
            if self._closed:
                worker.kill()
            else:
                self._idle.append(worker)
            self._free.notify()

    def _replace(self, worker: Worker, *, dying: bool = False) -> int | None:
        """Kill `worker`; its successor begins to import at once, so that the next task need not wait for it."""
        code = worker.kill(dying=dying)
        with self._free:
            self._busy.discard(worker)
            if not self._closed:
                with contextlib.suppress(WorkerStartError):  # the next _acquire tries again and reports
                    self._idle.append(Worker(_BOOT, self._setup))
            self._free.notify()
        return code

    def call(self, payload: Any, *, deadline_seconds: float | None = None) -> Outcome:
        """Run one task; blocks the calling thread for at most the deadline (waiting for a free worker apart).

        Never raises for what the task does: a value or a failure comes back.

        Raises:
            TypeError, ValueError: the payload is not JSON-plain.
        """
        frame = json.dumps(payload).encode()
        limit = self.deadline_seconds if deadline_seconds is None else deadline_seconds
        crashes = kills = 0
        lost_seconds = 0.0
        while True:
            worker = None
            sent = None
            try:
                worker = self._acquire()
                worker.wait_ready(self.start_seconds)
                sent = time.monotonic()
                deadline = sent + limit
                send_frame(worker.connection, _HEADER.pack(int(limit * 1000)) + frame, deadline)
                answer = json.loads(receive_frame(worker.connection, deadline))
            except DeadlineCrossed:
                assert worker is not None
                self._replace(worker)
                return Outcome(failure=Failure(Reason.DEADLINE, f"no answer within {limit:g} s; the worker was killed"))
            except ConnectionEnded:
                assert worker is not None
                code = self._replace(worker, dying=True)
                killed = code is None or code == -signal.SIGKILL
                kills, crashes = kills + killed, crashes + (not killed)
                if sent is not None:  # a worker killed while it was still importing says nothing about the task
                    lost_seconds += time.monotonic() - sent
                if (
                    crashes >= MAX_LOSSES_BY_CRASH
                    or kills >= MAX_LOSSES_BY_SIGKILL
                    or lost_seconds >= MAX_LOST_DEADLINES * limit
                ):
                    how = f"exit code {code}" if code is not None else "connection closed"
                    return Outcome(
                        failure=Failure(
                            Reason.WORKER_LOST, f"{kills + crashes} workers died on this task, the last with {how}"
                        )
                    )
            except WorkerStartError as error:
                if worker is not None:
                    with self._free:
                        self._busy.discard(worker)
                        self._free.notify()
                    worker.kill()
                return Outcome(failure=Failure(Reason.WORKER_LOST, str(error)))
            except (ValueError, RecursionError) as error:
                assert worker is not None
                self._replace(worker)
                return Outcome(failure=Failure(Reason.WORKER_LOST, f"a worker sent no JSON: {error}"))
            except BaseException:
                # KeyboardInterrupt in mid-task: the worker's answer would be taken for the next task's.
                if worker is not None:
                    self._replace(worker)
                raise
            else:
                self._release(worker)
                if failure := answer.get("failure"):
                    return Outcome(failure=Failure(Reason(failure[0]), failure[1]))
                return Outcome(value=answer.get("value"))

    def map(self, payloads: Sequence[Any], *, deadline_seconds: float | None = None) -> list[Outcome]:
        """`call` for each payload, as many at a time as there are workers; outcomes in the order of the payloads."""
        if len(payloads) <= 1 or self.workers == 1:
            return [self.call(p, deadline_seconds=deadline_seconds) for p in payloads]
        with ThreadPoolExecutor(min(self.workers, len(payloads)), "rewards-pool") as threads:
            return list(threads.map(lambda p: self.call(p, deadline_seconds=deadline_seconds), payloads))

    def pids(self) -> list[int]:
        """Process ids of the live workers."""
        with self._free:
            return [w.process.pid for w in (*self._idle, *self._busy)]

    def close(self) -> None:
        """Kill every worker. Tasks under way in other threads end as lost."""
        if self._pid != os.getpid():
            return
        with self._free:
            self._closed = True
            workers = [*self._idle]
            self._idle.clear()
            for busy in self._busy:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(busy.process.pid, signal.SIGKILL)
            self._free.notify_all()
        for worker in workers:
            worker.kill()

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()


_POOLS: weakref.WeakSet[WorkerPool] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for pool in list(_POOLS):
        pool._after_fork()


os.register_at_fork(after_in_child=_after_fork_in_child)


# ---------------------------------------------------------------- in the child


def _serve(setup: dict[str, Any]) -> None:
    """Main loop of a worker. Ends when the parent closes the socket; dies when the parent dies."""
    die_with_the_parent()
    connection = socket.socket(fileno=setup["connection"])
    far = time.monotonic() + 10**9
    try:
        target = _load(setup["target"])
        _limit_memory(setup["memory_bytes"])
    except BaseException as error:
        send_frame(connection, json.dumps({"failure": f"{type(error).__name__}: {error}"}).encode(), far)
        return
    send_frame(connection, json.dumps({"ready": True}).encode(), far)
    while True:
        try:
            frame = receive_frame(connection, far)
        except (ConnectionEnded, DeadlineCrossed):
            return
        (limit_ms,) = _HEADER.unpack(frame[: _HEADER.size])
        _limit_cpu(limit_ms / 1000)
        try:
            answer = json.dumps({"value": target(json.loads(frame[_HEADER.size :]))})
        except MemoryError:
            answer = json.dumps(
                {"failure": [Reason.OVER_LIMIT.value, f"memory limit of {setup['memory_bytes']} bytes reached"]}
            )
        except Exception as error:  # becomes an `error` verdict in the parent, never a score
            answer = json.dumps({"failure": [Reason.EXCEPTION.value, f"{type(error).__name__}: {error}"[:2000]]})
        try:
            send_frame(connection, answer.encode(), far)
        except ConnectionEnded:
            return


def _load(target: str) -> Callable[[Any], Any]:
    import importlib

    module, _, function = target.partition(":")
    found: Callable[[Any], Any] = getattr(importlib.import_module(module), function)
    return found


def die_with_the_parent() -> None:
    """In a `Worker`'s process: have the kernel end it when the process that started it is gone."""
    # Stdin is a pipe whose other end lives in the parent alone. Asking the kernel for a signal when it closes works
    # even while the interpreter is inside one endless C call; a watching thread would never get the GIL then.
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import fcntl

        signal.signal(signal.SIGIO, signal.SIG_DFL)
        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)


def _limit_memory(memory_bytes: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def _limit_cpu(seconds: float) -> None:
    # A second line behind the parent's SIGKILL, for the case that the parent is stopped or gone.
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        usage = resource.getrusage(resource.RUSAGE_SELF)
        soft = int(usage.ru_utime + usage.ru_stime + seconds) + 2
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))
