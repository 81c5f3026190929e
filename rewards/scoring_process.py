"""A batch scored in a process of its own, under a limit that holds for whatever verifiers it runs.

The pools inside single verifiers bound one task each: a thousand rows that each take their five seconds still hold a
training step up for an hour, and a verifier of somebody else's, running in the trainer, may never come back at all.
Here the whole batch has one limit. At the limit the process gets SIGKILL, with its group, and is replaced; groups of
samples that were judged by then keep their verdicts, the others are `error` with the reason `deadline`. Scoring also
leaves the trainer's interpreter lock alone, so that it costs generation nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import socket
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from rewards import workers
from rewards.expression import Reward
from rewards.scoring import RewardResult
from rewards.verdict import Reason, Sample, Status, Verdict

DEFAULT_BATCH_SECONDS: Final = 600.0
MAX_GROUPS_AT_ONCE: Final = 32
MAX_ATTEMPTS: Final = 2
"""How often a batch is begun when the process dies under it or is not ready in time."""

_BOOT: Final = (
    "import json,sys;s=json.loads(sys.argv[1]);sys.path[:]=s['path'];import rewards.scoring_process as p;p._serve(s)"
)


class RewardNotPortable(ValueError):
    """The reward cannot be taken to another process; the message says what to change."""


class ScoringProcess:
    """Scores with `rewards` in one child process.

    Args:
        rewards: expressions that are used here; verifiers they share stay shared.
        batch_seconds: wall-clock seconds for one call of `score`, loading of the verifiers apart.
        start_seconds: longest time for the process to load them.

    Picklable: the copy starts a process of its own. One batch at a time; threads wait for each other.

    Raises:
        ValueError: `batch_seconds` is not above 0.
    """

    def __init__(
        self,
        *rewards: Reward,
        batch_seconds: float = DEFAULT_BATCH_SECONDS,
        start_seconds: float = workers.DEFAULT_START_SECONDS,
    ) -> None:
        if not batch_seconds > 0:
            raise ValueError(f"batch_seconds={batch_seconds}; it must be above 0")
        self.rewards = rewards
        self.batch_seconds = batch_seconds
        self.start_seconds = start_seconds
        self._reset()

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._child: workers.Worker | None = None
        self._owner = os.getpid()

    def __getstate__(self) -> dict[str, Any]:
        return {key: self.__dict__[key] for key in ("rewards", "batch_seconds", "start_seconds")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._reset()

    # ------------------------------------------------------------ the process

    def start(self) -> None:
        """Begin loading the verifiers; the first batch waits for what is left of it.

        Raises:
            RewardNotPortable: a verifier cannot be pickled.
            WorkerStartError: no process can be started.
        """
        with self._lock:
            self._begin()

    def _begin(self) -> workers.Worker:
        if self._owner != os.getpid():  # a forked copy: the child answers the parent
            if self._child is not None:
                self._child.forget()
            self._child, self._owner = None, os.getpid()
        if self._child is None:
            try:
                packed = pickle.dumps(self.rewards)
            except Exception as error:  # pickle raises what the object's own code raises
                raise RewardNotPortable(_remedy(f"{type(error).__name__}: {error}")) from None
            child = workers.Worker(_BOOT, {}, show_output=True)
            try:
                workers.send_frame(child.connection, packed, time.monotonic() + self.start_seconds)
            except (workers.ConnectionEnded, workers.DeadlineCrossed) as error:
                child.kill()
                raise workers.WorkerStartError(f"the scoring process did not start: {type(error).__name__}") from None
            self._child = child
        return self._child

    def _ready(self) -> workers.Worker:
        child = self._begin()
        try:
            child.wait_ready(self.start_seconds)
        except workers.WorkerLoadError as error:
            self._drop()
            raise RewardNotPortable(_remedy(str(error))) from None
        except workers.WorkerStartError:  # too late: a machine that is busy, not a reward that cannot travel
            self._drop()
            raise
        except workers.ConnectionEnded:
            self._drop()
            raise workers.WorkerStartError(
                "the scoring process ended while it loaded the verifiers; what it wrote is above"
            ) from None
        return child

    def _drop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()

    def close(self) -> None:
        """Kill the process; a later batch starts a new one."""
        if self._owner == os.getpid():
            with self._lock:
                self._drop()

    def __del__(self) -> None:
        child = self.__dict__.get("_child")
        if child is not None and self._owner == os.getpid():
            child.kill()

    # ------------------------------------------------------------ scoring

    def score(self, samples: Sequence[Sample], reward: Reward | None = None) -> list[RewardResult]:
        """As `reward.score(samples)` gives, for rows judged within the limit; `error` for the others.

        Args:
            reward: one of those this process was made for; by default the first.

        Raises:
            ValueError: the process was not made for `reward`.
            RewardNotPortable: a verifier cannot be pickled, or not imported in another process.
            WorkerStartError: no process can be started.
        """
        which = 0 if reward is None else next((i for i, known in enumerate(self.rewards) if known is reward), None)
        if which is None:
            made_for = ", ".join(repr(known.text) for known in self.rewards)
            raise ValueError(f"this process was made for {made_for}, not for {reward!r}; make one with that reward too")
        groups: dict[str | int, list[int]] = {}
        for i, sample in enumerate(samples):
            groups.setdefault(sample.group or i, []).append(i)
        waiting = list(groups.values())
        found: list[RewardResult | None] = [None] * len(samples)
        with self._lock:
            attempt = 0
            while waiting:
                attempt += 1
                try:
                    child = self._ready()
                except workers.WorkerStartError:
                    if attempt >= MAX_ATTEMPTS:
                        raise
                    continue
                deadline = time.monotonic() + self.batch_seconds
                try:
                    waiting = self._exchange(child, which, samples, waiting, found, deadline)
                except workers.DeadlineCrossed:
                    self._drop()
                    with contextlib.suppress(workers.WorkerStartError):  # the next batch tries again and reports
                        self._begin()  # so that it need not wait for the loading
                    why = Verdict.error(
                        Reason.DEADLINE,
                        f"not judged within the {self.batch_seconds:g} s of its batch; the scoring process was killed",
                    )
                    self._fill(which, found, why)
                    break
                except (workers.ConnectionEnded, ValueError) as error:  # ValueError: what came is no JSON
                    self._drop()
                    waiting = [members for members in waiting if found[members[0]] is None]
                    if attempt >= MAX_ATTEMPTS:
                        said = f"the scoring process died {attempt} times under this batch"
                        if isinstance(error, ValueError):
                            said = f"the scoring process sent no verdicts: {error}"
                        self._fill(which, found, Verdict.error(Reason.WORKER_LOST, said))
                        break
        return found  # type: ignore[return-value]

    def _exchange(
        self,
        child: workers.Worker,
        which: int,
        samples: Sequence[Sample],
        waiting: Sequence[list[int]],
        found: list[RewardResult | None],
        deadline: float,
    ) -> list[list[int]]:
        # A whole group to a frame: group-relative verifiers need it, and a judged group is safe from the limit.
        for number, members in enumerate(waiting):
            frame = pickle.dumps((number, which, [samples[i] for i in members]))
            workers.send_frame(child.connection, frame, deadline)
        for _ in waiting:
            number, rows = json.loads(workers.receive_frame(child.connection, deadline))
            members = waiting[number]
            if len(rows) != len(members):
                raise ValueError(f"{len(rows)} results for {len(members)} samples")
            for i, row in zip(members, rows, strict=True):
                found[i] = _result(row)
        return []

    def _fill(self, which: int, found: list[RewardResult | None], why: Verdict) -> None:
        verdicts = dict.fromkeys(self.rewards[which].components, why)
        for i, result in enumerate(found):
            if result is None:
                found[i] = RewardResult(None, Status.ERROR, verdicts)


def _remedy(why: str) -> str:
    return (
        f"the reward cannot be taken to a process of its own ({why}); define its verifiers at the top level of a "
        "module that can be imported (not in __main__, no lambda), or score in this process, without a limit"
    )


def _row(result: RewardResult) -> list[Any]:
    return [result.reward, result.status.value, {key: v.as_row() for key, v in result.verdicts.items()}]


def _result(row: Sequence[Any]) -> RewardResult:
    reward, status, verdicts = row
    return RewardResult(
        reward,
        Status(status),
        {
            key: Verdict(Status(v["status"]), v["score"], v["reason"], v["detail"], v["extracted"], v.get("parts"))
            for key, v in verdicts.items()
        },
    )


# ---------------------------------------------------------------- in the child


def _serve(setup: dict[str, Any]) -> None:
    """Load the rewards, then score group by group until the parent closes its end."""
    workers.die_with_the_parent()
    connection = socket.socket(fileno=setup["connection"])
    far = time.monotonic() + 10**9

    def answer(value: Any) -> None:
        with speaking:
            workers.send_frame(connection, json.dumps(value, default=str).encode(), far)

    speaking = threading.Lock()
    try:
        rewards: tuple[Reward, ...] = pickle.loads(workers.receive_frame(connection, far))  # our own parent's bytes
    except Exception as error:
        answer({"failure": f"{type(error).__name__}: {error}"})
        return
    answer({"ready": True})

    def judge(number: int, which: int, samples: Sequence[Sample]) -> None:
        try:
            answer([number, [_row(result) for result in rewards[which].score(samples)]])
        except workers.ConnectionEnded:
            return
        except BaseException as error:  # a fault of ours: the batch ends as lost, with what is printed here
            print(f"scoring process: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)

    # The reader never judges, so that the parent can always hand over the whole batch. Threads are many, because each
    # group that never ends keeps one until the limit, and must not keep the others waiting.
    threads = ThreadPoolExecutor(MAX_GROUPS_AT_ONCE, "scoring")
    while True:
        try:
            frame = workers.receive_frame(connection, far)
        except (workers.ConnectionEnded, workers.DeadlineCrossed):
            os._exit(0)
        threads.submit(judge, *pickle.loads(frame))
