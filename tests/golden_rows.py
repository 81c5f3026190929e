"""Golden rows: one line of `tests/cases/*.jsonl` is one property, with the reason for it.

    {"verifier": "format", "completion": "...", "score": 0, "reason": "no_tags", "why": "..."}

Beside these a row may have `params`, any field of `Sample`, `of` (the score of the component that is read), `status`
(default `scored`), `source` (where the case comes from), `group` with `scores` for group-relative verifiers, or
`refused`: words of the error with which the parameters are refused. `expr` in the place of `completion` builds long
texts: `[["ab", 3], ["c", 1]]` is `abababc`.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping
from typing import Any, Final

import pytest
from conftest import CASES, read_jsonl, shared

from rewards.registry import get
from rewards.scoring import judge
from rewards.verdict import Sample, Status, Verdict

FIELDS: Final = frozenset(Sample.__dataclass_fields__)


def golden(name: str) -> list[Any]:
    """The rows of `tests/cases/NAME.jsonl`, as pytest parameters that name themselves by their reason."""
    return [
        pytest.param(row, id=f"{i}-{row['why'][:60]}") for i, row in enumerate(read_jsonl(CASES / f"{name}.jsonl"), 1)
    ]


def shared_rows(*parts: str) -> list[dict[str, Any]]:
    """Rows of a gzipped JSON lines file of the shared corpora; skips the test where they are absent."""
    with gzip.open(shared(*parts), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def sample_of(row: Mapping[str, Any], number: int = 0) -> Sample:
    fields = {key: value for key, value in row.items() if key in FIELDS}
    if "expr" in row:
        fields["completion"] = "".join(piece * times for piece, times in row["expr"])
    return Sample(**{"id": str(number), "group": "g", **fields})


def hold(row: Mapping[str, Any]) -> None:
    """Assert what the row says."""
    cls, params = get(row["verifier"]), row.get("params", {})
    if "refused" in row:
        with pytest.raises(ValueError, match=re.escape(row["refused"])):
            cls(**params)
        return
    verifier = cls(**params)
    rows = row.get("group", [row])
    samples = [sample_of(one, i) for i, one in enumerate(rows)]
    of = [Verdict.scored(float(one["of"])) for one in rows] if verifier.reads_of else None
    got = judge(verifier, samples, of)
    if "group" in row:
        assert [v.score for v in got] == pytest.approx(row["scores"], abs=1e-4), got
        return
    verdict = got[0]
    assert verdict.status is Status(row.get("status", "scored")), verdict
    if verdict.status is Status.SCORED:
        assert verdict.score == pytest.approx(row["score"], abs=1e-4), verdict
    if "reason" in row:
        assert str(verdict.reason) == row["reason"], verdict
    if "extracted" in row:
        assert verdict.extracted == row["extracted"], verdict
