r"""The verifier `math`: does the final answer equal the gold as mathematics?

    >>> MathEquivalence()("so $x=\\boxed{\\frac12}$", gold="0.5").score
    1.0

The answer's place is found by `rewards.answers`; gold and answer are read into typed trees and compared by type.
What that leaves undecided goes to a killable worker (`symbolic`); neither sympy nor math-verify is ever imported in
the caller's process, and nothing that a model wrote is evaluated.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Literal

from rewards.answers import Answer, GoldTypeError, Where, find_answer, gold_texts
from rewards.registry import Params, Verifier, register
from rewards.verdict import Reason, Sample, Verdict
from rewards.workers import Outcome, WorkerPool

MAX_CACHED_VERDICTS: Final = 1 << 16
SLOW_LANE_SECONDS: Final = 10.0

_SYMBOLIC: Final = "rewards.math_equivalence.symbolic:decide"


class MathParams(Params):
    """Parameters of `math`.

    Attributes:
        engine: "own"; "math_verify" for numbers comparable with published ones (the whole completion goes to
            math-verify, called as its README says); "both" scores by "own" and reports where they differ in `parts`.
        where: which statements may hold the answer: "boxed" (a box or an `<answer>` tag), "stated" (also `####` and
            "the answer is ..."), "anywhere" (also the closing sentence).
    """

    engine: Literal["own", "math_verify", "both"] = "math_verify"
    where: Where = "anywhere"


_REASONS: Final[Mapping[str, str]] = {
    "echo": "the only answer is the prompt's own template",
    "math_verify_equal": "math-verify calls the two equal",
    "math_verify_differs": "math-verify calls the two different",
}


@register("math")
class MathEquivalence(Verifier[MathParams]):
    """Final answer equal to the gold as mathematics: 1, else 0."""

    version: ClassVar[int] = 1
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    needs: ClassVar[tuple[str, ...]] = ("gold",)
    reasons: ClassVar[Mapping[str, str]] = _REASONS
    example: ClassVar[Mapping[str, Any] | None] = {"completion": r"so the area is $\boxed{\frac{1}{2}}$.", "gold": "0.5"}

    def __init__(self, *, pool: WorkerPool | None = None, **params: Any) -> None:
        super().__init__(**params)
        self._pool = pool
        self._verdicts: dict[tuple[Any, str], Verdict] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"params": self.params, "_pool": self._pool}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.params = state["params"]
        self._pool = state["_pool"]
        self._verdicts = {}

    def verify(self, sample: Sample) -> Verdict:
        """The verdict on one sample."""
        return self.verify_many([sample])[0]

    def verify_many(self, samples: Sequence[Sample]) -> list[Verdict]:
        """One verdict per sample; what needs the slow lane goes there together."""
        out: list[Verdict | None] = [None] * len(samples)
        slow: dict[tuple[tuple[str, ...], str], list[int]] = {}
        for i, sample in enumerate(samples):
            try:
                golds = gold_texts(sample.gold)
            except GoldTypeError as error:
                out[i] = Verdict.invalid(Reason.GOLD_UNREADABLE, str(error))
                continue
            if not any(gold.strip() for gold in golds):
                out[i] = Verdict.invalid(Reason.GOLD_UNREADABLE, "the gold is empty")
                continue
            slow.setdefault((golds, sample.text), []).append(i)
        keys = list(slow)
        payloads = [{"op": "math_verify", "golds": list(golds), "completion": text} for golds, text in keys]
        for key, outcome in zip(keys, self._workers().map(payloads) if payloads else [], strict=True):
            verdict = _math_verify_verdict(outcome)
            for i in slow[key]:
                out[i] = verdict
        return out  # type: ignore[return-value]

    def _workers(self) -> WorkerPool:
        return self._pool if self._pool is not None else _shared_pool(self)

    def close(self) -> None:
        """End the shared workers when no other verifier uses them. A pool that was passed in stays its owner's."""
        _leave_shared_pool(self)


def _math_verify_verdict(outcome: Outcome) -> Verdict:
    if outcome.failure is not None:
        return Verdict.error(outcome.failure.reason, outcome.failure.detail)
    if outcome.value["equal"]:
        return Verdict.scored(1.0, "math_verify_equal", outcome.value["detail"])
    return Verdict.scored(0.0, "math_verify_differs", outcome.value["detail"])


# ---------------------------------------------------------------- the shared pool

_lock = threading.Lock()
_shared: WorkerPool | None = None
_users: weakref.WeakSet[MathEquivalence] = weakref.WeakSet()


def _shared_pool(user: MathEquivalence) -> WorkerPool:
    global _shared
    with _lock:
        if _shared is None:
            _shared = WorkerPool(_SYMBOLIC, workers=2, deadline_seconds=SLOW_LANE_SECONDS)
        _users.add(user)
        return _shared


def _leave_shared_pool(user: MathEquivalence) -> None:
    global _shared
    with _lock:
        if user not in _users:
            return
        _users.discard(user)
        if not _users and _shared is not None:
            _shared.close()
            _shared = None


def _after_fork() -> None:
    # Another thread may have held the lock; the pool itself resets in rewards.workers.
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
