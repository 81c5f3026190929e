"""Which question comes next: shuffled passes, a difficulty band, a curriculum, and the state to resume from.

Every process of a run holds its own `PromptSource` and asks it the same things in the same order, so all agree on
the next question without talking to each other.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Literal

Curriculum = Literal["none", "easy-first", "band"]

HALF_LIFE: Final = 4
"""Answers after which an old measurement of a pass rate weighs half: the policy has moved on."""
LONGEST_REST: Final = 8
"""How many times the number of questions are asked before a question without spread comes again, at most."""
UNKNOWN: Final = 0.5


class PromptSource:
    """Indices of questions, without end.

    Args:
        count: number of questions.
        seed: another seed is another order.
        curriculum: `none` gives shuffled passes over all questions. `easy-first` goes from the highest pass rate to
            the lowest. `band` takes those nearest to a pass rate of one half, where a group is least often all right
            or all wrong. Both use the newest measurements at every call.
        pass_rates: measured share of right answers per question, None where it is not known (taken as one half).
        rest: a question whose group had no spread comes again only when twice as many were asked as there are, after
            a second such group in a row four times as many, at most `LONGEST_REST` times. It is not dropped: the
            policy may come to need it. One that was measured all right or all wrong begins with half of the first
            rest, as a measurement has fewer answers than a group. (With half of these rests `--resample` alone took
            65% of a plain run's completions, with these 56%, in tests/benchmarks/mixed_difficulty.py.)

    Raises:
        ValueError: no questions, or `pass_rates` of another length.
    """

    def __init__(
        self,
        count: int,
        seed: int,
        curriculum: Curriculum = "none",
        pass_rates: Sequence[float | None] | None = None,
        rest: bool = False,
    ) -> None:
        if count < 1:
            raise ValueError("no questions to draw from")
        if pass_rates is not None and len(pass_rates) != count:
            raise ValueError(f"{len(pass_rates)} pass rates for {count} questions")
        self.count = count
        self.seed = seed
        self.curriculum = curriculum
        self.rates: list[float | None] = list(pass_rates) if pass_rates is not None else [None] * count
        self.rest = rest
        self.epoch = 0
        self._queue: list[int] = []
        self._flat: dict[int, int] = {}  # question -> groups without spread in a row
        self._wakes: dict[int, int] = {}  # question -> how many must have been asked before it comes again
        self._asked = 0
        if rest:
            for index, rate in enumerate(self.rates):
                if rate in (0.0, 1.0):
                    self._flat[index], self._wakes[index] = 0, count

    def take(self, count: int, avoid: Collection[int] = ()) -> list[int]:
        """`count` distinct questions, none of them in `avoid`; a new pass starts when this one runs out.

        Raises:
            ValueError: more are asked for than there are.
        """
        if count + len(set(avoid)) > self.count:
            raise ValueError(f"{count} questions beside {len(set(avoid))} in use; the data set has {self.count}")
        taken: list[int] = []
        used = set(avoid)
        skipped: list[int] = []
        while len(taken) < count:
            if not self._queue:
                self._refill(used, count - len(taken))
            index = self._queue.pop(0)
            if index in used:
                skipped.append(index)
                continue
            used.add(index)
            taken.append(index)
            self._asked += 1
        self._queue[:0] = [index for index in dict.fromkeys(skipped) if index in avoid]
        return taken

    def _refill(self, used: Collection[int], wanted: int) -> None:
        order = list(range(self.count))
        random.Random(f"questions/{self.seed}/{self.epoch}").shuffle(order)
        self.epoch += 1
        awake = [index for index in order if self._wakes.get(index, 0) <= self._asked]
        if not any(index not in used for index in awake):  # better a question that rests than none
            resting = [index for index in order if index not in used]
            self._queue = sorted(resting, key=lambda index: self._wakes.get(index, 0))[:wanted]
            return
        order = awake
        if self.curriculum == "easy-first":
            order.sort(key=lambda i: -self._rate(i))  # stable: ties stay shuffled
        elif self.curriculum == "band":
            order.sort(key=lambda i: abs(self._rate(i) - 0.5))
            # A whole pass would end with what is far outside the band; half of it, then measure anew.
            order = order[: max(len(used) + 1, -(-len(order) // 2))]
        self._queue = order

    def _rate(self, index: int) -> float:
        rate = self.rates[index]
        return UNKNOWN if rate is None else rate

    def record(self, index: int, right: int, total: int, flat: bool = False) -> None:
        """Take in that `right` of `total` answers to a question were right; newer answers weigh more.

        `flat` says that its group had no spread.
        """
        if flat and self.rest:
            self._flat[index] = streak = self._flat.get(index, 0) + 1
            self._wakes[index] = self._asked + self.count * min(2**streak, LONGEST_REST)
        elif self.rest:
            self._flat.pop(index, None)
            self._wakes.pop(index, None)
        if total < 1:
            return
        old = self.rates[index]
        new = right / total
        keep = 0.5 ** (total / HALF_LIFE)
        self.rates[index] = new if old is None else keep * old + (1 - keep) * new

    def state(self) -> dict[str, Any]:
        """JSON-plain; `restore` goes on from exactly here."""
        resting = [[index, self._flat[index], wakes] for index, wakes in self._wakes.items()]
        return {
            "epoch": self.epoch,
            "asked": self._asked,
            "queue": list(self._queue),
            "rates": list(self.rates),
            "resting": resting,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a `state()` of a source with the same questions.

        Raises:
            ValueError: the state belongs to another number of questions.
        """
        if len(state["rates"]) != self.count:
            raise ValueError(
                f"the checkpoint was made with {len(state['rates'])} questions, the data set has {self.count}; "
                "resume with the data set, the limits and the difficulty band of the first run"
            )
        self.epoch = int(state["epoch"])
        self._asked = int(state["asked"])
        self._queue = [int(i) for i in state["queue"]]
        self.rates = list(state["rates"])
        self._flat = {index: streak for index, streak, _ in state["resting"]}
        self._wakes = {index: wakes for index, _, wakes in state["resting"]}
