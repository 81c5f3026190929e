"""A third party's verifier, loaded through an entry point in tests/test_registry.py."""

from rewards import Params, Sample, Verdict, Verifier


class Theirs(Verifier[Params]):
    """Half a point for everybody."""

    def verify(self, sample: Sample) -> Verdict:
        return Verdict.scored(0.5)


NOT_A_VERIFIER = 3
