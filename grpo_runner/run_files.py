"""The files of a run, read and written so that a kill at any moment leaves them readable."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Whole rows of a file; a last line that a kill cut short is left out."""
    if not path.is_file():
        return []
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            break
    return rows


def write_jsonl(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows), encoding="utf-8")
    os.replace(part, path)


def write_line(path: Path, row: Mapping[str, Any]) -> None:
    """One more row at the end of a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, default=str) + "\n")


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Rows with equal keys, whole or not at all; what is neither text nor number is written as JSON text."""
    import pyarrow
    import pyarrow.parquet

    columns = {name: [_plain(name, row.get(name)) for row in rows] for name in rows[0]}
    part = path.with_name(path.name + ".part")
    pyarrow.parquet.write_table(pyarrow.table(columns), part)
    os.replace(part, path)


def _plain(name: str, value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if name == "gold":  # a number in one row and text in the next make no column
        return value if isinstance(value, str) else json.dumps(value, default=str)
    if name == "completion" and isinstance(value, list):
        return value[-1]["content"]
    if isinstance(value, str | int | float):
        return value
    return json.dumps(value, default=str)
