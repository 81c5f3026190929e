"""Verifiers that misbehave, importable in another process."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from rewards.registry import Params, Registry, Verifier
from rewards.verdict import Sample, Verdict


class Obeys(Verifier[Params]):
    """Does what the completion says: sleeps, spins, dies, counts, or just scores 1."""

    def verify(self, sample: Sample) -> Verdict:
        word, _, rest = sample.text.partition(" ")
        if word == "sleep":
            time.sleep(float(rest))
        elif word == "spin":
            while True:
                pass
        elif word == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif word == "die-once" and not Path(rest).exists():
            Path(rest).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        elif word == "pid":
            return Verdict.scored(1.0, extracted=str(os.getpid()))
        elif word == "raise":
            raise RuntimeError("as told")
        return Verdict.scored(1.0)


class SpinsOnEven(Verifier[Params]):
    """Never comes back where the gold is even; else the share of digits."""

    needs = ("gold",)

    def verify(self, sample: Sample) -> Verdict:
        while int(sample.gold) % 2 == 0:
            pass
        return Verdict.scored(sum(c.isdigit() for c in sample.text) / max(1, len(sample.text)))


class GroupShare(Verifier[Params]):
    """1 over the number of samples it sees together."""

    scope = "group"

    def verify_group(self, samples: Sequence[Sample], of: Sequence[Verdict] | None = None) -> list[Verdict]:
        return [Verdict.scored(1 / len(samples))] * len(samples)


def registry() -> Registry:
    """All of them."""
    own = Registry()
    own.add("obeys", Obeys)
    own.add("spins", SpinsOnEven)
    own.add("share", GroupShare)
    return own
