"""A verifier whose own code fails on every row; tests/test_cli.py scores with it."""

from rewards import Params, Sample, Verdict, Verifier, register


@register("failing")
class Failing(Verifier[Params]):
    """Raises."""

    def verify(self, sample: Sample) -> Verdict:
        raise RuntimeError("the verifier itself is broken")
