"""A batch in a process of its own: the same verdicts, one limit for all, and nothing lost but what was not judged."""

from __future__ import annotations

import pickle
import threading
import time
from pathlib import Path

import pytest
from conftest import CASES, read_jsonl
from scoring_targets import registry

from rewards.expression import Reward
from rewards.registry import Params, Verifier
from rewards.scoring_process import RewardNotPortable, ScoringProcess
from rewards.verdict import Reason, Sample, Status, Verdict
from rewards.workers import WorkerStartError


def obeying(*words: str, group: str = "") -> list[Sample]:
    return [Sample(id=str(i), group=group or f"g{i}", completion=text) for i, text in enumerate(words)]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_verdicts_are_those_of_scoring_in_this_process() -> None:
    """Every field, also where there is no score; rows in the order given, groups whole."""
    samples = [
        Sample(id=str(i), group=str(i % 7), completion=row["completion"], gold=row["gold"], num_tokens=i)
        for i, row in enumerate(read_jsonl(CASES / "math.jsonl")[:60])
    ]
    samples.append(Sample(id="none", group="none", completion="\\boxed{1}"))
    reward = Reward.parse("math + 0.25*format + 0.5*kimi_length(of=math)")
    with_process = ScoringProcess(reward)
    try:
        assert with_process.score(samples) == reward.score(samples)
        assert with_process.score([]) == []
    finally:
        with_process.close()
        reward.close()


def test_at_the_limit_judged_groups_keep_their_verdicts_and_the_next_batch_is_unharmed() -> None:
    """An endless loop in somebody's verifier costs its own group, one limit, and nothing else."""
    reward = Reward.parse("obeys", registry=registry())
    process = ScoringProcess(reward, batch_seconds=2.0)
    try:
        (first,) = process.score(obeying("pid"))
        pid = int(first.verdicts["obeys"].extracted or 0)
        began = time.monotonic()
        results = process.score(obeying("fine", "spin", "fine"))
        assert time.monotonic() - began < 12.0  # on a busy machine
        assert [result.status for result in results] == [Status.SCORED, Status.ERROR, Status.SCORED]
        assert results[1].reward is None
        assert results[1].verdicts["obeys"].reason == Reason.DEADLINE
        assert not alive(pid)
        assert [result.reward for result in process.score(obeying("fine", "fine"))] == [1.0, 1.0]
    finally:
        process.close()


def test_a_process_that_dies_once_is_replaced_and_its_batch_finished(tmp_path: Path) -> None:
    """A lost worker changes no verdict."""
    process = ScoringProcess(Reward.parse("obeys", registry=registry()))
    try:
        results = process.score(obeying("fine", f"die-once {tmp_path / 'mark'}", "fine"))
        assert [result.reward for result in results] == [1.0, 1.0, 1.0]
    finally:
        process.close()


def test_a_row_that_kills_the_process_each_time_is_an_error_and_no_zero() -> None:
    """Whose fault it is cannot be told, so nobody is paid and nobody is punished."""
    process = ScoringProcess(Reward.parse("obeys", registry=registry()))
    try:
        (result,) = process.score(obeying("die"))
        assert (result.reward, result.status) == (None, Status.ERROR)
        assert result.verdicts["obeys"].reason == Reason.WORKER_LOST
        assert process.score(obeying("fine"))[0].reward == 1.0
    finally:
        process.close()


def test_groups_reach_group_verifiers_whole_and_exceptions_stay_verdicts() -> None:
    """Rows of one group may lie anywhere in the batch."""
    process = ScoringProcess(Reward.parse("share", registry=registry()))
    samples = [Sample(id=str(i), group="a" if i % 3 else "b", completion="x") for i in range(9)]
    try:
        assert [r.reward for r in process.score(samples)] == [1 / 6 if i % 3 else 1 / 3 for i in range(9)]
    finally:
        process.close()
    process = ScoringProcess(Reward.parse("obeys", registry=registry()))
    try:
        (result,) = process.score(obeying("raise"))
        assert result.verdicts["obeys"].reason == Reason.EXCEPTION
    finally:
        process.close()


def test_a_reward_that_cannot_travel_is_refused_with_the_remedy() -> None:
    """A class inside a function has no name that another process could import."""

    class Local(Verifier[Params]):
        def verify(self, sample: Sample) -> Verdict:
            return Verdict.scored(1.0)

    own = registry()
    own.add("local", Local)
    process = ScoringProcess(Reward.parse("local", registry=own))
    with pytest.raises(RewardNotPortable, match="top level of a module"):
        process.start()
    with pytest.raises(ValueError, match="above 0"):
        ScoringProcess(batch_seconds=0)


def test_a_reward_that_the_process_was_not_made_for_is_refused() -> None:
    """By name, and before anything is scored."""
    with pytest.raises(ValueError, match="made for 'obeys'"):
        ScoringProcess(Reward.parse("obeys", registry=registry())).score([], Reward.parse("format"))


def test_a_copy_has_a_process_of_its_own_and_threads_take_turns() -> None:
    """Pickled into another worker, or asked from eight threads: the same answers."""
    process = ScoringProcess(Reward.parse("obeys", registry=registry()))
    copy = pickle.loads(pickle.dumps(process))
    found: list[str | None] = []

    def ask() -> None:
        found.extend(result.verdicts["obeys"].extracted for result in process.score(obeying("pid", "pid")))

    try:
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 16
        assert len(set(found)) == 1
        assert copy.score(obeying("pid"))[0].verdicts["obeys"].extracted not in found
    finally:
        process.close()
        copy.close()


def test_a_first_batch_long_after_the_start_is_judged() -> None:
    """Evaluating and generating come before it, and may take longer than loading verifiers is allowed to."""
    process = ScoringProcess(Reward.parse("obeys", registry=registry()), start_seconds=2.0)
    try:
        process.start()
        time.sleep(2.2)
        assert process.score(obeying("fine"))[0].reward == 1.0
    finally:
        process.close()


def test_a_start_that_comes_too_late_is_no_fault_of_the_reward() -> None:
    """A busy machine: said as what it is, after one more try, and not as a class that cannot be pickled."""
    process = ScoringProcess(Reward.parse("obeys", registry=registry()), start_seconds=0.001)
    with pytest.raises(WorkerStartError, match=r"not ready within 0\.001 s|did not start"):
        process.score(obeying("fine"))
    assert process._child is None


def test_no_process_is_left_after_close() -> None:
    """Those that the verifiers started neither."""
    process = ScoringProcess(Reward.parse("math(engine=both)"))
    process.score([Sample(completion="\\boxed{\\sin(x)^2}", gold="1-\\cos(x)^2")])
    child = process._child
    assert child is not None
    below = [int(p) for p in Path(f"/proc/{child.process.pid}/task/{child.process.pid}/children").read_text().split()]
    for task in Path(f"/proc/{child.process.pid}/task").iterdir():
        below += [int(p) for p in (task / "children").read_text().split()]
    assert below, "the math verifier's own workers run below"
    process.close()
    end = time.monotonic() + 1.0
    while any(alive(p) for p in below) and time.monotonic() < end:
        time.sleep(0.02)
    assert not any(alive(p) for p in below)
