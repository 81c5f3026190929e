"""The slow lane: math-verify and sympy. Runs only inside a killable worker (`rewards.workers`), never in the caller.

`decide(payload)` takes and returns JSON:

| `op` | payload | answer |
|---|---|---|
| `math_verify` | `golds`: list of texts, `completion`: text | `{"equal": bool, "detail": ...}` as math-verify's README calls it |
| `equal` | `gold`, `answer`: text | `{"equal": bool or null, "detail": ...}`; null when nothing here can tell |
"""

from __future__ import annotations

import logging
from typing import Any, Final

MAX_CHARS: Final = 20_000
"""Longest text handed to a computer algebra system."""


def decide(payload: dict[str, Any]) -> dict[str, Any]:
    """One task of the slow lane; see the module's table.

    Raises:
        ValueError: an `op` that does not exist.
    """
    op = payload.get("op")
    if op == "math_verify":
        return _math_verify(payload["golds"], payload["completion"])
    if op == "equal":
        return _math_verify([payload["gold"]], wrapped(payload["answer"]))
    raise ValueError(f"symbolic worker was given op={op!r}; allowed: 'math_verify', 'equal'")


def wrapped(text: str) -> str:
    """The text in `$...$` unless it holds a LaTeX environment already: math-verify needs one to see LaTeX at all."""
    if "$" in text or "\\boxed" in text or "\\(" in text or "\\[" in text:
        return text
    return f"${text}$"


def _math_verify(golds: list[str], completion: str) -> dict[str, Any]:
    """math-verify as its README calls it: `verify(parse(gold), parse(answer))`, gold first, the gold in `$...$`.

    Its own time limits are signals; they are off, since the pool kills a worker that runs too long.
    """
    if len(completion) > MAX_CHARS:
        completion = completion[-MAX_CHARS:]
    from math_verify import parse, verify

    logging.getLogger("math_verify").setLevel(logging.ERROR)
    answer = parse(completion, parsing_timeout=0)
    shown = str([str(item)[:200] for item in answer[:2]]) if len(completion) < 2000 else ""
    if not answer:
        return {"equal": False, "detail": "math-verify finds no answer", "parsed": ""}
    for gold in golds:
        parsed = parse(wrapped(gold), parsing_timeout=0)
        if parsed and verify(parsed, answer, timeout_seconds=0):
            return {"equal": True, "detail": "math-verify calls the two equal", "parsed": shown}
    return {"equal": False, "detail": "math-verify calls the two different", "parsed": shown}
