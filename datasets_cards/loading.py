"""`names`, `card`, `load`: from the name of a data set to Samples, from the Hub or from our own sample rows."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from datasets_cards import arithmetic
from datasets_cards.card import Card, CardError
from datasets_cards.readers import Row, UnusableRow, at
from rewards.registry import nearest
from rewards.verdict import Sample

_HOME: Final = Path(__file__).parent
GENERATED_ROWS: Final = 1000
Origin = Literal["hub", "samples", "generated"]


class UnknownCard(LookupError):
    """No card has that name; the message gives the nearest ones."""


class DatasetUnavailable(RuntimeError):
    """The data set could not be fetched; the message says why and what works without the network."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """A row that cannot be judged, and why. Counted and shown; never scored."""

    id: str
    why: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """The rows of one split as Samples without completions, and the rows that could not be used."""

    card: Card
    split: str
    origin: Origin
    samples: tuple[Sample, ...]
    unusable: tuple[Unusable, ...] = ()
    repeated: int = 0

    def __len__(self) -> int:
        return len(self.samples)

    def __iter__(self) -> Iterator[Sample]:
        return iter(self.samples)

    def __str__(self) -> str:
        text = f"{self.card.name}/{self.split} ({self.origin}): {len(self.samples)} rows"
        if self.repeated:
            text += f", {self.repeated} repeated rows left out"
        if self.unusable:
            text += f", {len(self.unusable)} unusable (first: {self.unusable[0].id}: {self.unusable[0].why})"
        return text


def names() -> list[str]:
    """Every card that ships with this package, sorted."""
    return sorted(path.stem for path in _HOME.glob("*.md"))


def card(name: str | Path) -> Card:
    """The card called `name`, or the card in a Markdown file of yours (`./mine.md`).

    Raises:
        UnknownCard: with the nearest names.
        CardError: the file is no valid card.
    """
    if isinstance(name, Path) or name.endswith(".md"):
        path = Path(name)
        if not path.is_file():
            raise UnknownCard(f"no card file {str(path)!r}")
        return Card.from_file(path)
    if name not in names():
        raise UnknownCard(f"no data set {name!r}{nearest(name, names())}; a path to a card of yours (.md) works too")
    return Card.from_file(_HOME / f"{name}.md")


def read_rows(which: Card, rows: Iterable[Row], split: str, origin: Origin, limit: int | None = None) -> Loaded:
    """Raw rows through the card: Samples, and every unusable row with its reason.

    Raises:
        CardError: a column that the card names is missing; the message lists the real ones.
        DatasetUnavailable: no row at all.
    """
    samples: list[Sample] = []
    unusable: list[Unusable] = []
    seen: set[str] = set()
    repeated = 0
    count = 0
    for index, row in enumerate(rows):
        if limit is not None and len(samples) >= limit:
            break
        count += 1
        if index == 0:
            which.check_columns(list(row))
        if which.unique_by is not None:
            key = json.dumps(at(row, which.unique_by), sort_keys=True, default=str)
            if key in seen:
                repeated += 1
                continue
            seen.add(key)
        try:
            samples.append(which.sample(row, split=split, index=index))
        except UnusableRow as why:
            own = at(row, which.id_column) if which.id_column else None
            unusable.append(Unusable(str(own) if own not in (None, "") else f"{which.name}/{split}/{index}", str(why)))
    if not count and limit != 0:
        raise DatasetUnavailable(f"data set {which.name!r}, split {split!r}: no rows")
    return Loaded(which, split, origin, tuple(samples), tuple(unusable), repeated)


def load(
    name: str | Path, split: str | None = None, *, limit: int | None = None, source: Origin | None = None, seed: int = 0
) -> Loaded:
    """The data set called `name` as Samples without completions.

    Args:
        name: a card's name, or the path of a card of yours (`./mine.md`).
        split: one of the card's splits; None means `train`, or the only one.
        limit: at most this many usable rows. For a generated data set: this many (default 1000).
        source: "hub" (default where the card has a Hub id), "samples" (a handful of rows written by us, for trying
            things without a network), "generated" (default for `arithmetic`). Never silently another one.
        seed: for a generated data set.

    Raises:
        UnknownCard, CardError: the name, the split, or the data set's columns do not fit.
        DatasetUnavailable: no network, or `datasets` is not installed; the message says what to do.
    """
    if limit is not None and limit < 0:
        raise ValueError(f"limit={limit}; give a number of rows, 0 or more, or None for all")
    which = card(name)
    hub_split = which.split(split)
    split = split or next(ours for ours, hubs in which.splits.items() if hubs == hub_split)
    default: Origin = "hub" if which.hub_id else "generated" if which.name == "arithmetic" else "samples"
    source = source or default
    if source == "samples":
        return read_rows(which, sample_rows(which), split, source, limit)
    if source == "generated" and which.name == "arithmetic":
        given = arithmetic.rows(split, GENERATED_ROWS if limit is None else limit, seed)  # type: ignore[arg-type]
        return read_rows(which, given, split, source, limit)
    if source == "hub" and which.hub_id:
        return read_rows(which, _hub_rows(which, hub_split), split, source, limit)
    raise CardError(f"data set {which.name!r} has no source {source!r}; allowed: {default}, samples")


def sample_rows(which: Card) -> list[dict[str, Any]]:
    """The sample rows that ship with a card: same columns as on the Hub, contents written by us.

    Raises:
        DatasetUnavailable: the card has none.
    """
    path = _HOME / "samples" / f"{which.name}.jsonl"
    if not path.is_file():
        raise DatasetUnavailable(f"data set {which.name!r} has no sample rows; use source='hub'")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _hub_rows(which: Card, hub_split: str) -> Iterator[Row]:
    try:
        import datasets
    except ImportError:
        raise DatasetUnavailable(
            f"data set {which.name!r} comes from the Hub through the package `datasets`; "
            "pip install 'grpo-rewards[train]', or use source='samples'"
        ) from None
    for config in which.hub_configs or (None,):
        try:
            rows = datasets.load_dataset(which.hub_id, config, split=hub_split)
        except Exception as error:  # `datasets` raises network, file-system, value and its own errors alike
            if os.environ.get("HF_HUB_OFFLINE") or os.environ.get("HF_DATASETS_OFFLINE"):
                reason = "HF_HUB_OFFLINE or HF_DATASETS_OFFLINE is set, and the data set is not in the cache"
            else:
                reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            raise DatasetUnavailable(
                f"could not load {which.hub_id} ({config or 'default'}, {hub_split}) from the Hub: {reason}. "
                "Without a network, source='samples' gives a handful of rows to try things with"
            ) from error
        yield from rows
