"""`fake`: a sandbox for tests of what stands on one, answered by functions of yours. Runs nothing.

*Stops*: nothing, because nothing is run. *Does not stop*: everything else; never give it a program that matters.

    FakeSandbox(run=lambda program, limits: Execution(exit=Exit.OK, stdout=b"9"))
    FakeSandbox(call=lambda program, call: CallResult(status=CallStatus.RETURNED, value=9))
    FakeSandbox.down("no worker")                   every program ends by SANDBOX_ERROR
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

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
    Wall,
)

_OK: Final = Execution(exit=Exit.OK, exit_code=0, tier="fake")


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked of the sandbox: `method` is "run", "call" or "judge"."""

    method: str
    program: Program
    limits: Limits
    calls: tuple[Call, ...] = ()
    tests: Program | None = None
    options: Mapping[str, Any] | None = None


class FakeSandbox(Sandbox):
    """Answers from functions; what has no function ends by SANDBOX_ERROR.

    Args:
        run: the `Execution` of a program.
        call: the `CallResult` of one call; a result that is LIMIT ends the program.
        judge: the `JudgeExecution` of (tests, solution).
        execution: how a program ends whose calls are over.
        workers: how many programs a verifier may run at once.
        unusable: when set, every method raises SandboxError with it, as a backend does that cannot start here.

    Attributes:
        requests: everything that was asked, in order.
    """

    name = "fake"

    def __init__(
        self,
        *,
        run: Callable[[Program, Limits], Execution] | None = None,
        call: Callable[[Program, Call], CallResult] | None = None,
        judge: Callable[[Program, Program], JudgeExecution] | None = None,
        execution: Execution = _OK,
        workers: int = 1,
        unusable: str = "",
    ) -> None:
        self._run, self._call, self._judge = run, call, judge
        self._execution = execution
        self._unusable = unusable
        self._lost = Execution(exit=Exit.SANDBOX_ERROR, detail="this fake has no answer to that", tier="fake")
        self.workers = workers
        self.requests: list[Request] = []
        self.closed = False

    @classmethod
    def down(cls, detail: str = "the sandbox is down") -> FakeSandbox:
        """A sandbox that starts and then fails at every program."""
        fake = cls()
        fake._lost = Execution(exit=Exit.SANDBOX_ERROR, detail=detail, tier="fake")
        return fake

    def _ask(self, request: Request) -> None:
        if self.closed:
            raise SandboxError("the sandbox is closed; make a new one")
        if self._unusable:
            raise SandboxError(self._unusable)
        self.requests.append(request)

    def run(self, program: Program, limits: Limits = DEFAULT_LIMITS) -> Execution:
        self._ask(Request("run", program, limits))
        return self._lost if self._run is None else self._run(program, limits)

    def call(
        self,
        program: Program,
        calls: Sequence[Call],
        limits: Limits = DEFAULT_LIMITS,
        *,
        call_wall_seconds: float | None = None,
        stop: Any = None,
    ) -> CallsExecution:
        self._ask(Request("call", program, limits, tuple(calls), options={"call_wall_seconds": call_wall_seconds}))
        not_run = CallResult(status=CallStatus.NOT_RUN)
        if self._call is None:
            return CallsExecution(execution=self._lost, results=(not_run,) * len(calls))
        results: list[CallResult] = []
        for index, call in enumerate(calls):
            results.append(self._call(program, call))
            over = results[-1].status in (CallStatus.LIMIT, CallStatus.NOT_RUN)
            if over or (stop is not None and stop(index, results[-1])):
                break
        results += [not_run] * (len(calls) - len(results))
        return CallsExecution(execution=self._execution, results=tuple(results))

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
        options = {
            "entry_points": entry_points,
            "modules": tuple(modules),
            "runner": runner,
            "keep_going": keep_going,
            "max_tests": max_tests,
            "together": together,
        }
        self._ask(Request("judge", solution, limits, tests=tests, options=options))
        if self._judge is None:
            return JudgeExecution(tests=self._lost, solution=self._lost)
        return self._judge(tests, solution)

    def walls(self) -> list[Wall]:
        return [Wall(name="anything", stands=False, detail="a fake runs nothing and holds nothing")]

    def close(self) -> None:
        self.closed = True
