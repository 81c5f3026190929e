"""What every test may use, and which skips a full run allows."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT / "tests" / "cases"
SHARED = ROOT.parent / "shared"
"""Corpora that lie beside the checkout where the project is developed. A user's clone has none."""

# With REWARDS_FORBID_SKIPS set, as the project's own CI does, a skip for any other reason is a failure: a missing
# engine, browser, compiler or model must not make a green run.
ALLOWED_SKIPS = (
    "relative to its group by definition",
    "judged one by one",
    "needs the shared corpora",
    "Ray Data is an extra",
    "could not import 'inspect_ai'",  # frameworks of others: their adapters are tried where they are installed
    "could not import 'verifiers",
    "could not import 'skyrl_gym'",
    "this tier lets no program start a process",  # Landlock alone: by design
    "namespaces only",
)


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Rows of a JSON lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def shared(*parts: str) -> Path:
    """A path under the shared corpora; skips the test, saying so, where they are absent."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs the shared corpora, which are not part of a clone: {path.name} is absent")
    return path


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip that is not allowed into a failure, where skips are forbidden."""
    report = yield
    if report.skipped and os.environ.get("REWARDS_FORBID_SKIPS") and not hasattr(report, "wasxfail"):
        reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
        if not any(allowed in reason for allowed in ALLOWED_SKIPS):
            report.outcome = "failed"
            report.longrepr = f"skips are forbidden here, and this test would skip: {reason}"
    return report
