"""What `local` and `docker` share: a pool of zygotes that starts at first use, and the contract on top of it."""

from __future__ import annotations

import abc
import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from sandboxes.contract import (
    DEFAULT_LIMITS,
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
)
from sandboxes.zygote import client
from sandboxes.zygote.client import Pool, Zygote


class PooledSandbox(Sandbox):
    """A sandbox whose programs run in the boxes of pooled zygotes.

    Picklable by its settings: the copy starts zygotes of its own, and so does a forked child.
    """

    unit = "worker"
    """What is lost when a zygote is."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self.workers = settings["workers"]
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._pool: Pool | None = None
        self._owner = os.getpid()
        self._closed = False
        self._tier_found = ""

    def __getstate__(self) -> dict[str, Any]:
        return self._settings

    def __setstate__(self, settings: dict[str, Any]) -> None:
        self.__init__(**settings)  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self._settings.items())})"

    # -- what a backend adds

    @abc.abstractmethod
    def _open(self) -> Pool:
        """Makes the pool, and sets `_tier_found`. Raises SandboxError when it cannot stand here."""

    def _check(self, limits: Limits) -> None:
        """Raises SandboxError for limits that this backend cannot hold."""

    def _ended(self, zygote: Zygote, execution: Execution) -> None:
        """A box of `zygote` has ended."""

    # -- the contract

    def _ready(self) -> Pool:
        if os.getpid() != self._owner:
            self._reset()  # a forked child: the parent's zygotes are the parent's
        with self._lock:
            if self._closed:
                raise SandboxError("the sandbox is closed: make a new one")
            if self._pool is None:
                self._pool = self._open()
            return self._pool

    def run(self, program: Program, limits: Limits = DEFAULT_LIMITS) -> Execution:
        self._check(limits)

        def work(zygote: Zygote, _: Zygote) -> Execution:
            execution = client.run_program(zygote, program, limits)
            self._ended(zygote, execution)
            return execution

        result, why = self._ready().use(work)
        return result if result is not None else self._lost(why)

    def call(
        self,
        program: Program,
        calls: Sequence[Call],
        limits: Limits = DEFAULT_LIMITS,
        *,
        call_wall_seconds: float | None = None,
        stop: Any = None,
    ) -> CallsExecution:
        self._check(limits)

        def work(zygote: Zygote, _: Zygote) -> CallsExecution:
            outcome = client.run_calls(zygote, program, calls, limits, call_wall_seconds, stop)
            self._ended(zygote, outcome.execution)
            return outcome

        result, why = self._ready().use(work)
        if result is not None:
            return result
        return CallsExecution(execution=self._lost(why), results=(CallResult(status=CallStatus.NOT_RUN),) * len(calls))

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
        self._check(limits)
        names = dict(entry_points) if isinstance(entry_points, Mapping) else {name: name for name in entry_points}

        def work(solving: Zygote, testing: Zygote) -> JudgeExecution:
            outcome = client.run_judge(
                testing,
                solving,
                tests,
                solution,
                names,
                limits,
                modules=modules,
                runner=runner,
                keep_going=keep_going,
                max_tests=max_tests,
                together=together,
            )
            self._ended(solving, outcome.solution)
            self._ended(testing, outcome.tests)
            return outcome

        result, why = self._ready().use(work, both=True)
        return result if result is not None else JudgeExecution(tests=self._lost(why), solution=self._lost(why))

    def _lost(self, why: str) -> Execution:
        detail = f"the sandbox's {self.unit} was lost twice ({why}); the pool has replaced it"
        return Execution(exit=Exit.SANDBOX_ERROR, detail=detail, tier=self._tier_found)

    def close(self) -> None:
        if os.getpid() != self._owner:
            self._reset()
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def __del__(self) -> None:
        try:
            if self._pool is not None and os.getpid() == self._owner:
                self._pool.abandon()
        except Exception:  # interpreter shutdown: a zygote whose control socket closes ends by itself
            return
