"""Where untrusted programs run: one contract, several backends, one conformance suite.

`get("local")` makes a sandbox by name; the classes live in `sandboxes.local`, `sandboxes.docker`, `sandboxes.remote`.
"""

from __future__ import annotations

import difflib
from typing import Any, Final

from sandboxes.contract import (
    Call,
    CallResult,
    CallsExecution,
    CallStatus,
    Execution,
    Exit,
    JudgeExecution,
    Limits,
    Program,
    Sandbox,
    SandboxError,
    TestOutcome,
    TestStatus,
    Wall,
)
from sandboxes.plain_data import Opaque

__all__ = [
    "BACKENDS",
    "Call",
    "CallResult",
    "CallStatus",
    "CallsExecution",
    "Execution",
    "Exit",
    "JudgeExecution",
    "Limits",
    "Opaque",
    "Program",
    "Sandbox",
    "SandboxError",
    "TestOutcome",
    "TestStatus",
    "Wall",
    "get",
]

BACKENDS: Final[dict[str, str]] = {
    "local": "sandboxes.local:LocalSandbox",
    "docker": "sandboxes.docker:DockerSandbox",
    "remote": "sandboxes.remote:RemoteSandbox",
}


def get(name: str, **options: Any) -> Sandbox:
    """The sandbox called `name`, made with `options` (see its class).

    Raises:
        SandboxError: unknown name (with the nearest one).
    """
    target = BACKENDS.get(name)
    if target is None:
        near = difflib.get_close_matches(name, BACKENDS, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise SandboxError(f"no sandbox {name!r}{hint} Allowed: {', '.join(BACKENDS)}")
    import importlib

    module, _, attribute = target.partition(":")
    sandbox: Sandbox = getattr(importlib.import_module(module), attribute)(**options)
    return sandbox
