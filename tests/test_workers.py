"""The worker pool kills what does not end and loses nothing else."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rewards.math_equivalence import MathEquivalence
from rewards.scoring import judge
from rewards.verdict import Reason, Sample
from rewards.workers import WorkerPool

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    with WorkerPool("worker_targets:misbehave", workers=2, deadline_seconds=0.6, memory_bytes=2 * 1024**3) as pool:
        pool.map(["warm", "warm"])
        yield pool


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def living_members(group: int) -> list[str]:
    """Processes of a group, zombies apart: one stays where the machine's first process does not reap orphans."""
    living = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, pgrp = path.read_text().rsplit(")", 1)[1].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(pgrp) == group and state != "Z":
            living.append(path.parent.name)
    return living


@pytest.mark.parametrize("hang", ["hang", "sleep", "block_signals", "child_then_hang"])
def test_a_task_that_does_not_end_is_killed_at_its_deadline(pool: WorkerPool, hang: str) -> None:
    """Also inside one C call, with all signals blocked, and with a child of its own."""
    started = time.monotonic()
    outcome = pool.call(hang)
    assert outcome.failure is not None
    assert outcome.failure.reason is Reason.DEADLINE
    assert time.monotonic() - started < 0.6 + 1.0 + 2.0  # a fresh worker may have to import first


def test_nothing_is_alive_one_second_after_a_timeout() -> None:
    """The whole process group dies, a child that the task started too."""
    with WorkerPool("worker_targets:misbehave", workers=1, deadline_seconds=0.5) as pool:
        (pid,) = [pool.call("pid").value]
        pool.call("child_then_hang")
        time.sleep(1.0)
        assert not alive(pid)
        assert living_members(pid) == []


@pytest.mark.parametrize("fault", ["hang", "crash", "exit", "memory", "raise", "not_json"])
def test_the_task_after_a_bad_one_is_unharmed(pool: WorkerPool, fault: str) -> None:
    """A fault reaches its own outcome only."""
    bad, good = pool.call(fault), pool.call({"x": [1, 2.5, None]})
    assert bad.failure is not None
    assert good.value == {"x": [1, 2.5, None]}
    assert good.failure is None


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("crash", Reason.WORKER_LOST),
        ("exit", Reason.WORKER_LOST),
        ("memory", Reason.OVER_LIMIT),
        ("raise", Reason.EXCEPTION),
        ("not_json", Reason.EXCEPTION),
    ],
)
def test_a_failure_says_what_kind_it_is(pool: WorkerPool, fault: str, reason: Reason) -> None:
    """So that the boundary can tell our fault from the completion's."""
    failure = pool.call(fault).failure
    assert failure is not None
    assert failure.reason is reason


def test_what_a_task_prints_does_not_reach_the_protocol(pool: WorkerPool) -> None:
    """Libraries print warnings."""
    assert pool.call("print").value == "printed"


def test_outcomes_come_in_the_order_of_the_payloads(pool: WorkerPool) -> None:
    """Whatever worker was faster."""
    assert [o.value for o in pool.map(list(range(50)))] == list(range(50))


def test_a_pool_serves_many_threads_at_once(pool: WorkerPool) -> None:
    """Sixty-four threads, two workers, every answer to its own question."""
    answers: dict[int, object] = {}
    threads = [threading.Thread(target=lambda i=i: answers.update({i: pool.call(i).value})) for i in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {i: i for i in range(64)}


def test_a_worker_outlives_the_thread_that_started_it() -> None:
    """A parent-death signal would kill it: the kernel means the parent thread."""
    with WorkerPool("worker_targets:misbehave", workers=1, deadline_seconds=5) as pool:
        first: list[object] = []
        thread = threading.Thread(target=lambda: first.append(pool.call("pid").value))
        thread.start()
        thread.join()
        assert pool.call("pid").value == first[0]


def test_fifty_killed_workers_change_no_outcome() -> None:
    """Tasks of a worker that somebody else killed go to a fresh one."""
    with WorkerPool("worker_targets:slow_echo", workers=2, deadline_seconds=20) as pool:
        pool.map([0, 0])
        results: list[object] = []
        run = threading.Thread(target=lambda: results.extend(o.value for o in pool.map(list(range(700)))))
        run.start()
        killed = 0
        while run.is_alive() and killed < 50:
            for pid in pool.pids():
                os.kill(pid, signal.SIGKILL)
                killed += 1
            time.sleep(0.25)
        run.join(120)
        assert killed >= 50
        assert results == list(range(700))


def test_fifty_killed_workers_change_no_verdict() -> None:
    """One layer up: real comparisons by math-verify, whichever worker is killed, also while it still imports."""
    samples = [
        Sample(
            id=str(i),
            completion=f"so \\boxed{{\\frac{{{i}}}{{{i + 7 + (i % 3 == 0)}}}}}",
            gold=f"{2 * i}/{2 * (i + 7)}",
        )
        for i in range(1, 400)
    ]
    target = "rewards.math_equivalence.symbolic:decide"

    def verdicts(pool: WorkerPool) -> list[tuple[str, float | None, str]]:
        # A verifier of its own each time: no cache to answer from.
        found = judge(MathEquivalence(engine="math_verify", pool=pool), samples)
        return [(v.status.value, v.score, str(v.reason)) for v in found]

    with WorkerPool(target, workers=2, deadline_seconds=30) as pool:
        undisturbed = verdicts(pool)
    assert {score for _, score, _ in undisturbed} == {0.0, 1.0}
    killed = 0
    with WorkerPool(target, workers=2, deadline_seconds=30) as pool:
        while killed < 50:
            found: list[list[tuple[str, float | None, str]]] = []
            run = threading.Thread(target=lambda into=found: into.append(verdicts(pool)))
            run.start()
            while run.is_alive():
                time.sleep(0.3)
                for pid in pool.pids()[:1]:
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
            run.join()
            assert found == [undisturbed]


def test_a_pickled_pool_works_on_its_own(pool: WorkerPool) -> None:
    """TRL and Ray pickle reward functions."""
    with pickle.loads(pickle.dumps(pool)) as copy:
        assert copy.call(7).value == 7
        assert set(copy.pids()).isdisjoint(pool.pids())


def _child_asks(pool: WorkerPool, queue: object) -> None:
    queue.put(pool.call("from the child").value)  # type: ignore[attr-defined]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_pool_works_in_a_child_process(pool: WorkerPool, method: str) -> None:
    """A forked child must not read the answers that belong to its parent."""
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(target=_child_asks, args=(pool, queue))
    child.start()
    assert queue.get(timeout=60) == "from the child"
    child.join()
    assert pool.call("still ours").value == "still ours"


def test_a_spare_worker_that_waited_longer_than_its_start_limit_is_ready() -> None:
    """After a kill the successor starts at once, and the next task may come minutes later: it said hello in time."""
    with WorkerPool("worker_targets:misbehave", workers=1, deadline_seconds=0.6, start_seconds=2.0) as pool:
        assert pool.call("sleep").failure is not None
        time.sleep(2.2)
        assert pool.call("fine").value == "fine"


def test_workers_die_with_a_parent_that_was_killed() -> None:
    """Even in the middle of one endless C call; a watching thread would never get the interpreter lock."""
    script = (
        f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
        "from rewards.workers import WorkerPool\n"
        "pool = WorkerPool('worker_targets:misbehave', workers=1, deadline_seconds=60)\n"
        "print(pool.call('pid').value, flush=True)\n"
        "pool.call('hang')\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        time.sleep(0.5)
        parent.kill()
    deadline = time.monotonic() + 1.0
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(pid)


def test_a_target_that_cannot_be_imported_is_our_failure() -> None:
    """And the detail names it."""
    with WorkerPool("no_such_module:f", workers=1) as pool:
        failure = pool.call(1).failure
    assert failure is not None
    assert failure.reason is Reason.WORKER_LOST
    assert "no_such_module" in failure.detail


@pytest.mark.parametrize(
    ("kwargs", "word"),
    [({"target": "nothing"}, "module:function"), ({"workers": 0}, "at least 1"), ({"deadline_seconds": 0}, "above 0")],
)
def test_impossible_settings_are_refused(kwargs: dict[str, object], word: str) -> None:
    """At build time, saying what is allowed."""
    settings: dict[str, object] = {"target": "worker_targets:double", **kwargs}
    with pytest.raises(ValueError, match=word):
        WorkerPool(**settings)  # type: ignore[arg-type]
