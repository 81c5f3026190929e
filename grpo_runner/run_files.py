"""The files of a run, read and written so that a kill at any moment leaves them readable."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final


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


def write_parquet(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Columns of one length, whole or not at all; what is neither text nor number is written as JSON text."""
    import pyarrow
    import pyarrow.parquet

    part = path.with_name(path.name + ".part")
    table = pyarrow.table({name: _plain(name, values) for name, values in columns.items()})
    # No reader skips row groups of a file of a few hundred rows, so minima and maxima are work for nobody.
    pyarrow.parquet.write_table(table, part, write_statistics=False)
    os.replace(part, path)


_PLAIN: Final = frozenset({str, int, float, bool, type(None)})


def _plain(name: str, values: Sequence[Any]) -> Sequence[Any]:
    """Most columns are plain already, which one look at their types tells."""
    types = set(map(type, values))
    if types <= _PLAIN and not (name == "gold" and types - {str, type(None)}):
        return values
    return [_text(name, value) for value in values]


def _text(name: str, value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if name == "completion" and isinstance(value, list):
        return value[-1]["content"]
    if name != "gold" and isinstance(value, bool | int | float):
        return value  # of a gold column: a number in one row and text in the next make no column
    return json.dumps(value, default=str)
