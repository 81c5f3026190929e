"""What every test may use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT / "tests" / "cases"
SHARED = ROOT.parent / "shared"
"""Corpora that lie beside the checkout where the project is developed. A user's clone has none."""


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Rows of a JSON lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def shared(*parts: str) -> Path:
    """A path under the shared corpora; skips the test, saying so, where they are absent."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs the shared corpora, which are not part of a clone: {path.name} is absent")
    return path
