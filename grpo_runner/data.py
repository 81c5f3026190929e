"""From `[data]` to Samples without completions: generated, by card, from a file, or through `datasets` from the Hub.

Nothing here loads a model. Every problem with columns or sizes is found before one is.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import datasets_cards
from datasets_cards import CardError, DatasetUnavailable, UnknownCard, UnusableRow
from datasets_cards.readers import GOLD_READERS
from grpo_runner.config import DataConfig, RunConfig
from rewards.registry import nearest
from rewards.verdict import Sample

PROMPT_COLUMNS: Final = ("prompt", "question", "problem", "messages", "instruction", "input")
GOLD_COLUMNS: Final = ("gold", "answer", "ground_truth", "final_answer", "expected_answer", "target", "reference")
TESTS_COLUMNS: Final = ("tests",)
TASK_COLUMNS: Final = ("task", "task_type", "data_source")
ID_COLUMNS: Final = ("id", "unique_id", "question_id", "task_id", "uuid")
HELD_OUT_SPLITS: Final = ("heldout", "test", "validation", "dev", "eval")
SET_ASIDE_SHARE: Final = 0.1
FILE_ENDINGS: Final = (".jsonl", ".ndjson", ".json", ".parquet", ".csv")
ARITHMETIC_ROWS: Final = 4000


class DataError(ValueError):
    """A data set that cannot be used as asked; the message says what was given and what is there."""


@dataclass(frozen=True, slots=True)
class Questions:
    """What is trained or evaluated on.

    Attributes:
        samples: without completions; `prompt` is text or chat messages.
        origin: where they come from, for people.
        columns: `Sample` field to the data set's column, as found or as told.
        unusable: rows left out, each with the reason.
        judged_by: the card's own reward expression, if the data set has a card.
    """

    samples: tuple[Sample, ...]
    origin: str
    columns: Mapping[str, str]
    unusable: tuple[str, ...] = ()
    judged_by: str | None = None

    def __len__(self) -> int:
        return len(self.samples)


def load(config: RunConfig) -> tuple[Questions, Questions]:
    """Questions to train on, and held-out ones (empty when the evaluation is off).

    Raises:
        DataError: a wrong column or split, an unreadable file, no rows, or no network.
    """
    data = config.data
    wanted = config.evaluation.questions
    train = _load(data, data.dataset, data.split, data.limit, config.seed)
    if not wanted:
        return train, Questions((), "evaluation is off", {})
    if data.eval_dataset is not None:
        held = _load(data, data.eval_dataset, data.eval_split or data.split, wanted, config.seed)
        return train, held
    split = data.eval_split or _held_out_split(data)
    if split is not None:
        return train, _load(data, data.dataset, split, wanted, config.seed)
    return _set_aside(train, wanted, config.seed)


def difficulty_of(sample: Sample, column: str) -> float | None:
    """The measured pass rate that `grpo-run difficulty` wrote, or None."""
    value = sample.meta.get(column)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def keep_band(questions: Questions, band: tuple[float, float], column: str) -> Questions:
    """Only the questions whose measured pass rate lies in the band, ends included.

    Raises:
        DataError: no question has a measurement, or none lies in the band.
    """
    rates = [difficulty_of(sample, column) for sample in questions.samples]
    if all(rate is None for rate in rates):
        raise DataError(
            f"data.difficulty: no row has a number in column {column!r}; "
            "measure first: grpo-run difficulty --dataset FILE --out MEASURED.jsonl"
        )
    low, high = band
    kept = tuple(
        s for s, rate in zip(questions.samples, rates, strict=True) if rate is not None and low <= rate <= high
    )
    if not kept:
        raise DataError(f"data.difficulty: none of {len(rates)} rows has a pass rate in {low:g}..{high:g}")
    return replace(questions, samples=kept, origin=f"{questions.origin}; {len(kept)} with pass rate {low:g}..{high:g}")


# ---------------------------------------------------------------- sources


def _load(data: DataConfig, name: str | None, split: str, limit: int | None, seed: int) -> Questions:
    card = _card_for(data, name)
    if card is not None:
        return _from_card(data, card, split, limit, seed)
    assert name is not None
    path = Path(name)
    rows: Iterable[Mapping[str, Any]]
    if path.name.removesuffix(".gz").endswith((".jsonl", ".ndjson")):
        rows = _jsonl(path)
    elif path.suffix == ".json":
        rows = _json_array(path)
    else:
        rows = _datasets(data, name, split)
    return _from_rows(data, rows, f"{name}" + ("" if path.suffix else f" [{split}]"), limit)


def _card_for(data: DataConfig, name: str | None) -> datasets_cards.Card | None:
    if name is None:
        return datasets_cards.card("arithmetic")
    if name in datasets_cards.names() or name.endswith(".md"):
        try:
            return datasets_cards.card(name)
        except (UnknownCard, CardError) as error:
            raise DataError(f"data.dataset: {error}") from None
    if data.prompt_column is None and data.gold_column is None and not Path(name).exists():
        for known in datasets_cards.names():
            card = datasets_cards.card(known)
            if card.hub_id == name:
                return card
    return None


def _from_card(data: DataConfig, card: datasets_cards.Card, split: str, limit: int | None, seed: int) -> Questions:
    if card.name == "arithmetic" and limit is None:
        limit = ARITHMETIC_ROWS
    ours = {hub: name for name, hub in card.splits.items()}
    split = ours.get(split, split)
    try:
        loaded = datasets_cards.load(card.name, split, limit=limit, seed=seed)
    except (UnknownCard, CardError, DatasetUnavailable) as error:
        raise DataError(f"data.dataset: {error}") from None
    columns = {"prompt": card.prompt}
    if card.gold is not None:
        columns["gold"] = card.gold.column
    if card.tests is not None:
        columns["tests"] = card.tests.column
    samples = loaded.samples
    if data.system_prompt is not None:
        samples = tuple(replace(s, prompt=_with_system(s.prompt, data.system_prompt)) for s in samples)
    return Questions(
        samples, str(loaded), columns, tuple(f"{row.id}: {row.why}" for row in loaded.unusable), card.reward
    )


def _held_out_split(data: DataConfig) -> str | None:
    card = _card_for(data, data.dataset)
    if card is not None:
        return next((name for name in HELD_OUT_SPLITS if name in card.splits and name != data.split), None)
    name = data.dataset
    assert name is not None
    if Path(name).name.removesuffix(".gz").endswith(FILE_ENDINGS):
        return None
    found = _split_names(data, name)
    return next((split for split in HELD_OUT_SPLITS if split in found and split != data.split), None)


def _set_aside(train: Questions, wanted: int, seed: int) -> tuple[Questions, Questions]:
    """No held-out split: a tenth of the rows (at most what is wanted) is kept out of training, by seed."""
    order = list(range(len(train.samples)))
    random.Random(f"set-aside/{seed}").shuffle(order)
    size = min(wanted, int(len(order) * SET_ASIDE_SHARE))
    held = set(order[:size])
    note = f"{size} rows of {train.origin}, set aside"
    return (
        replace(train, samples=tuple(s for i, s in enumerate(train.samples) if i not in held)),
        replace(train, samples=tuple(s for i, s in enumerate(train.samples) if i in held), origin=note, unusable=()),
    )


def _jsonl(path: Path) -> list[dict[str, Any]]:
    rows = []
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise DataError(f"data.dataset: {path}:{number}: not JSON: {error}") from None
                if not isinstance(row, dict):
                    raise DataError(f"data.dataset: {path}:{number}: a row is an object, this is {str(row)[:40]!r}")
                rows.append(row)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"data.dataset: {path}: {getattr(error, 'strerror', None) or error}") from None
    return rows


def _json_array(path: Path) -> list[dict[str, Any]]:
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"data.dataset: {path}: cannot be read: {error}") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError(f"data.dataset: {path}: not a list of objects; one object a line goes into a .jsonl file")
    return rows


def _datasets(data: DataConfig, name: str, split: str) -> Any:
    try:
        import datasets
    except ImportError:
        raise DataError("data.dataset: needs the package `datasets`; pip install 'grpo-rewards[train]'") from None
    path = Path(name)
    kind = {".parquet": "parquet", ".csv": "csv"}.get(path.suffix)
    try:
        if kind is not None:
            if not path.is_file():
                raise DataError(f"data.dataset: {path}: no such file")
            return datasets.load_dataset(kind, data_files=str(path), split="train")
        if path.is_dir() and (path / "dataset_dict.json").is_file() | (path / "state.json").is_file():
            loaded = datasets.load_from_disk(name)
            if isinstance(loaded, datasets.DatasetDict):
                if split not in loaded:
                    raise DataError(f"data.split: {name} has no split {split!r}{nearest(split, list(loaded))}")
                return loaded[split]
            return loaded
        return datasets.load_dataset(name, data.subset, split=split)
    except DataError:
        raise
    except Exception as error:  # network, file-system, value and own errors alike
        raise DataError(f"data.dataset: {_why_not(name, error)}") from None


def _split_names(data: DataConfig, name: str) -> Sequence[str]:
    import datasets

    path = Path(name)
    try:
        if path.is_dir() and (path / "dataset_dict.json").is_file():
            return list(json.loads((path / "dataset_dict.json").read_text(encoding="utf-8"))["splits"])
        if path.is_dir() and (path / "state.json").is_file():
            return []
        return list(datasets.get_dataset_split_names(name, data.subset))
    except Exception as error:
        raise DataError(f"data.dataset: {_why_not(name, error)}") from None


def _why_not(name: str, error: Exception) -> str:
    first = (str(error).splitlines() or [""])[0][:200]
    if not Path(name).exists():
        cards = nearest(name, datasets_cards.names())
        if os.environ.get("HF_HUB_OFFLINE") or os.environ.get("HF_DATASETS_OFFLINE"):
            return (
                f"{name!r} is no file or folder here, and HF_HUB_OFFLINE or HF_DATASETS_OFFLINE is set, so the Hub is "
                f"not asked and it is not in the cache{cards}"
            )
        return f"{name!r} is no file or folder here, and the Hub gave: {type(error).__name__}: {first}{cards}"
    return f"{name}: {type(error).__name__}: {first}"


# ---------------------------------------------------------------- columns


def _from_rows(data: DataConfig, rows: Iterable[Mapping[str, Any]], origin: str, limit: int | None) -> Questions:
    iterator = iter(rows)
    first = next(iterator, None)
    if first is None:
        raise DataError(f"data.dataset: {origin}: no rows")
    have = list(first)
    faults: list[str] = []
    columns: dict[str, str] = {}
    told = {
        "prompt": (data.prompt_column, PROMPT_COLUMNS, True),
        "gold": (data.gold_column, GOLD_COLUMNS, False),
        "tests": (data.tests_column, TESTS_COLUMNS, False),
        "task": (data.task_column, TASK_COLUMNS, False),
        "id": (None, ID_COLUMNS, False),
    }
    for field, (given, usual, needed) in told.items():
        if given is not None:
            if _at(first, given) is _ABSENT:
                faults.append(
                    f"data.{field}_column: no column {given!r}{nearest(given, have)}; columns: {', '.join(have)}"
                )
            columns[field] = given
            continue
        found = next((name for name in usual if name in first), None)
        if found is not None:
            columns[field] = found
        elif needed:
            faults.append(
                f"data.{field}_column: none of {', '.join(usual)} is there; columns: {', '.join(have)}; "
                f"name yours with --{field}-column"
            )
    if faults:
        raise DataError("\n".join(faults))
    # GSM8K and its kin write the worked solution and then `#### 42` in one column; the answer is what stands last.
    worked = "gold" in columns and "####" in str(_at(first, columns["gold"]))
    samples: list[Sample] = []
    unusable: list[str] = []
    seen: dict[str, int] = {}
    for index, row in enumerate([first, *iterator] if limit is None else _at_most(first, iterator, limit)):
        row_id = str(_at(row, columns["id"])) if "id" in columns else str(index)
        seen[row_id] = seen.get(row_id, 0) + 1
        if seen[row_id] > 1:  # ids name groups, so two rows must never share one
            row_id = f"{row_id}/{seen[row_id]}"
        prompt = _at(row, columns["prompt"])
        if not _is_prompt(prompt):
            unusable.append(f"{row_id}: {columns['prompt']} is {str(prompt)[:40]!r}, neither text nor chat messages")
            continue
        tests = _at(row, columns["tests"]) if "tests" in columns else None
        task = _at(row, columns["task"]) if "task" in columns else None
        gold = _at(row, columns["gold"]) if "gold" in columns else None
        if worked:
            try:
                gold = GOLD_READERS["number_after_hashes"](row, columns["gold"])
            except UnusableRow as why:
                unusable.append(f"{row_id}: {why}")
                continue
        samples.append(
            Sample(
                id=row_id,
                group=row_id,
                prompt=_with_system(prompt, data.system_prompt) if data.system_prompt is not None else prompt,
                gold=None if gold is _ABSENT else gold,
                tests=json.loads(tests) if isinstance(tests, str) else None if tests is _ABSENT else tests,
                task=None if task is None or task is _ABSENT else str(task),
                meta={key: value for key, value in row.items() if key != columns["prompt"]},
            )
        )
    return Questions(tuple(samples), f"{origin}: {len(samples)} rows", columns, tuple(unusable))


def _at_most(first: Mapping[str, Any], rest: Iterable[Mapping[str, Any]], limit: int) -> Iterable[Mapping[str, Any]]:
    yield first
    for index, row in enumerate(rest, 2):
        if index > limit:
            return
        yield row


_ABSENT: Final = object()


def _at(row: Mapping[str, Any], path: str) -> Any:
    """The value at a column, or at a dotted path such as `reward_model.ground_truth`."""
    if path in row:
        return row[path]
    value: Any = row
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return _ABSENT
        value = value[part]
    return value


def _is_prompt(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    return (
        isinstance(value, Sequence)
        and len(value) > 0
        and all(isinstance(message, Mapping) and "role" in message and "content" in message for message in value)
    )


def _with_system(prompt: str | Sequence[Mapping[str, Any]], system: str) -> list[Mapping[str, Any]]:
    messages: list[Mapping[str, Any]] = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else [*prompt]
    if messages and messages[0].get("role") == "system":
        messages = messages[1:]
    return [{"role": "system", "content": system}, *messages]
