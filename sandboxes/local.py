"""`local`: programs on this machine, behind the kernel's own walls, without root, daemon or compiled part.

*Stops* (tier `namespaces`): files outside a read-only view of Python and /usr; the network; other processes, their
memory and environment; descendants that outlive the verdict; fork bombs, memory, disk, output and CPU over the limits;
System V and POSIX ipc, ptrace, io_uring, bpf, keyrings, mounts, new namespaces. *Stops* (tier `landlock`): the same by
Landlock and seccomp, and therefore every new process: a program that starts one fails there.

*Does not stop*: a hole in the kernel, which is shared (use docker with gVisor's `runsc` against that); timing and cache
side channels; reading the machine's installed software (/usr and site-packages are visible, read-only). Tier `rlimits`
(macOS, or by `allow_weak=True`) stops only runaway CPU and output: no file, no network, no process is out of reach.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Final

from sandboxes.contract import DEFAULT_LIMITS, Program, SandboxError, Wall
from sandboxes.pooled import PooledSandbox
from sandboxes.zygote import client
from sandboxes.zygote.client import Pool, Zygote

TIERS: Final = ("namespaces", "landlock", "rlimits")
"""Strongest first."""

_NAMESPACE_REMEDY: Final = (
    "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1; on Ubuntu 24.04 sysctl"
    " kernel.apparmor_restrict_unprivileged_userns=0), or use the docker backend"
)
_PROBE: Final = Program.python("import os\nos.write(1, b'box')\n")


class LocalSandbox(PooledSandbox):
    """Warm zygotes on this machine.

    Args:
        workers: programs that run at once; by default one per CPU this process may use.
        tier: "auto" takes the strongest that stands; a name asks for that one or fails.
        allow_weak: lets "auto" fall to `rlimits`, which holds nothing against a hostile program.
        warm: modules imported once in each zygote, so that programs find them ready (`("numpy",)`).
        packages: whether programs may import the packages installed beside this one.

    Raises:
        SandboxError: at first use, when no tier that is allowed can stand here; names the missing right.
    """

    name = "local"

    def __init__(
        self,
        *,
        workers: int | None = None,
        tier: str = "auto",
        allow_weak: bool = False,
        warm: Sequence[str] = (),
        packages: bool = True,
    ) -> None:
        if tier != "auto" and tier not in TIERS:
            raise SandboxError(f"unknown tier {tier!r}; allowed: auto, {', '.join(TIERS)}")
        if tier == "rlimits" and not allow_weak:
            raise SandboxError("tier 'rlimits' stops no hostile program: pass allow_weak=True to use it all the same")
        if workers is not None and workers < 1:
            raise SandboxError(f"workers is {workers}; allowed: at least 1")
        self._tier, self._allow_weak, self._warm, self._packages = tier, allow_weak, tuple(warm), packages
        super().__init__(
            {
                "workers": workers or available_cpus(),
                "tier": tier,
                "allow_weak": allow_weak,
                "warm": self._warm,
                "packages": packages,
            }
        )

    def _reset(self) -> None:
        super()._reset()
        self._refusals: dict[str, str] = {}

    # -- starting

    def _allowed_tiers(self) -> Sequence[str]:
        if self._tier != "auto":
            return (self._tier,)
        strong = TIERS[:-1] if sys.platform == "linux" else ()
        return (*strong, "rlimits") if self._allow_weak else strong

    def _start(self, tier: str) -> Zygote:
        return Zygote.start(tier, warm=self._warm, packages=self._packages)

    def _probe(self, tier: str) -> str:
        """Why `tier` does not stand here, or "". A zygote that starts is not enough: a box has to run in it."""
        try:
            zygote = self._start(tier)
        except SandboxError as error:
            return str(error)
        try:
            execution = client.run_program(zygote, _PROBE, DEFAULT_LIMITS)
        except client.ZygoteLost as error:
            return f"{error}: {zygote.last_words()}"
        finally:
            zygote.close()
        return "" if execution.stdout == b"box" else (execution.detail or f"a first program ended by {execution.exit}")

    def tier(self) -> str:
        """The tier that stands here. Raises SandboxError when none that is allowed does."""
        with self._lock:
            return self._find_tier()

    def _find_tier(self) -> str:
        if self._tier_found:
            return self._tier_found
        for tier in self._allowed_tiers():
            if tier not in self._refusals:
                refusal = self._probe(tier)
                if not refusal:
                    self._tier_found = tier
                    return tier
                self._refusals[tier] = refusal
        if sys.platform != "linux" and not self._allow_weak:
            raise SandboxError(
                f"on {sys.platform} only resource limits stand, which stop no hostile program: use the docker backend"
                " (recommended), or pass allow_weak=True"
            )
        said = "; ".join(f"{tier}: {why}" for tier, why in self._refusals.items())
        raise SandboxError(
            f"no wall stands on this machine ({said}). Remedy: {_NAMESPACE_REMEDY}; or pass allow_weak=True to run with"
            " resource limits alone, which stop no hostile program"
        )

    def _open(self) -> Pool:
        tier = self._find_tier()
        return Pool(self.workers, lambda: self._start(tier))

    def walls(self) -> list[Wall]:
        rows = []
        for tier in TIERS[:-1]:
            refusal = self._probe(tier) if sys.platform == "linux" else "needs Linux"
            rows.append(Wall(name=tier, stands=not refusal, detail=refusal or _WHAT[tier]))
        rows.append(Wall(name="rlimits", stands=True, detail=_WHAT["rlimits"]))
        return rows


_WHAT: Final = {
    "namespaces": "user, pid, mount, network, ipc, uts namespaces; read-only root; private tmpfs; seccomp; rlimits",
    "landlock": "Landlock files and scopes; seccomp without new processes; rlimits",
    "rlimits": "resource limits only: stops no hostile program",
}


def available_cpus() -> int:
    """CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1
