"""Rule-based verifiers for reinforcement learning with verifiable rewards.

    >>> from rewards import MathEquivalence
    >>> MathEquivalence()("so it is \\\\boxed{\\\\frac12}", gold="0.5").score
    1.0

Every public name loads on first use: `import rewards` brings neither sympy nor torch.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_WHERE = {
    "Sample": "rewards.verdict",
    "Verdict": "rewards.verdict",
    "Status": "rewards.verdict",
    "Reason": "rewards.verdict",
    "Params": "rewards.registry",
    "Verifier": "rewards.registry",
    "register": "rewards.registry",
    "get": "rewards.registry",
    "names": "rewards.registry",
    "Reward": "rewards.expression",
    "RewardResult": "rewards.scoring",
    "WorkerPool": "rewards.workers",
    "MathEquivalence": "rewards.math_equivalence",
    "CodeTests": "rewards.code_tests",
    "TagLayout": "rewards.format_checks",
}

__all__ = ["__version__", *_WHERE]

if TYPE_CHECKING:
    from rewards.code_tests import CodeTests as CodeTests
    from rewards.expression import Reward as Reward
    from rewards.format_checks import TagLayout as TagLayout
    from rewards.math_equivalence import MathEquivalence as MathEquivalence
    from rewards.registry import Params as Params
    from rewards.registry import Verifier as Verifier
    from rewards.registry import get as get
    from rewards.registry import names as names
    from rewards.registry import register as register
    from rewards.scoring import RewardResult as RewardResult
    from rewards.verdict import Reason as Reason
    from rewards.verdict import Sample as Sample
    from rewards.verdict import Status as Status
    from rewards.verdict import Verdict as Verdict
    from rewards.workers import WorkerPool as WorkerPool


def __getattr__(name: str) -> Any:
    where = _WHERE.get(name)
    if where is None:
        from rewards.registry import nearest

        raise AttributeError(f"module 'rewards' has no attribute {name!r}{nearest(name, sorted(_WHERE))}")
    value = getattr(importlib.import_module(where), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


def _warn_of_namesakes() -> None:
    """PyPI's `rewards` and `sandboxes` are other projects with the same import names; both installed, files mix."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for entry in os.scandir(folder):
        name, _, rest = entry.name.partition("-")
        if name in ("rewards", "sandboxes") and rest.endswith(".dist-info"):
            import warnings

            warnings.warn(
                f"the package {name!r} from PyPI is installed beside grpo-rewards and has the same import name; "
                f"run: pip uninstall {name} && pip install --force-reinstall --no-deps grpo-rewards",
                stacklevel=3,
            )


_warn_of_namesakes()
