"""`Card`: how a row of one data set becomes a `Sample`, and which reward judges it.

A card is a Markdown file: typed front matter in TOML between two `+++` lines, then text for people.
TOML because the standard library reads it, so a card costs no dependency and `no` is never a boolean.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from datasets_cards.readers import GOLD_READERS, TEST_READERS, Row, UnusableRow, at
from rewards.registry import nearest
from rewards.verdict import Sample

_FENCE: Final = "+++"
_PLACE: Final = re.compile(r"\{([A-Za-z_][\w.]*)\}")


class CardError(ValueError):
    """A card, or a data set that does not fit its card. The message says what was given and what is allowed."""


class Reader(BaseModel):
    """Which column, read how. `column` may be a dotted path such as `reward_model.ground_truth`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    column: str
    reader: str


class Card(BaseModel):
    """One data set.

    Attributes:
        name: how `load` knows it.
        summary: one sentence.
        hub_id: `owner/name` on the Hugging Face Hub; absent for a generated data set.
        hub_configs: configurations to read, one after the other; empty means the only one.
        splits: our name of a split -> its name on the Hub.
        columns: the columns that a row must have.
        id_column: dotted path of the row's own id; without one, ids are `<name>/<split>/<index>`.
        unique_by: dotted path; only the first row with each value counts (for sets that repeat their rows).
        prompt: column of the prompt (text, or chat messages), or a template such as `Use {nums} to make {target}.`
            with dotted paths in its places; a list is shown with commas.
        instruction: text added below the prompt, so that what is asked for is what the reward looks for.
        gold, tests: column and reader; a card has at least one of the two.
        reward: the default reward expression.
        licence: licence of the data, as its publisher states it.
        source: where the data set and its description come from.
        body: the Markdown below the front matter.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    summary: str
    hub_id: str | None = Field(default=None, pattern=r"^[\w.-]+/[\w.-]+$")
    hub_configs: tuple[str, ...] = ()
    splits: Mapping[str, str] = Field(min_length=1)
    columns: tuple[str, ...] = Field(min_length=1)
    id_column: str | None = None
    unique_by: str | None = None
    prompt: str
    instruction: str = ""
    gold: Reader | None = None
    tests: Reader | None = None
    reward: str
    licence: str
    source: str
    body: str = ""

    @field_validator("gold")
    @classmethod
    def _known_gold_reader(cls, value: Reader | None) -> Reader | None:
        if value is not None and value.reader not in GOLD_READERS:
            raise ValueError(f"no gold reader {value.reader!r}{nearest(value.reader, sorted(GOLD_READERS))}")
        return value

    @field_validator("tests")
    @classmethod
    def _known_test_reader(cls, value: Reader | None) -> Reader | None:
        if value is not None and value.reader not in TEST_READERS:
            raise ValueError(f"no test reader {value.reader!r}{nearest(value.reader, sorted(TEST_READERS))}")
        return value

    @model_validator(mode="after")
    def _whole(self) -> Card:
        if self.gold is None and self.tests is None:
            raise ValueError("needs [gold] or [tests]: without either no reward can judge a row")
        for path in self.paths():
            if path.split(".")[0] not in self.columns:
                raise ValueError(f"{path!r} is not under columns{nearest(path, self.columns)}")
        return self

    def paths(self) -> list[str]:
        """Every dotted path that the card reads."""
        found = _PLACE.findall(self.prompt) or [self.prompt]
        found += [path for path in (self.id_column, self.unique_by) if path]
        found += [reader.column for reader in (self.gold, self.tests) if reader]
        return found

    @classmethod
    def from_text(cls, text: str, where: str = "card") -> Card:
        """Read a card from its Markdown.

        Raises:
            CardError: no front matter, or front matter that does not validate; every fault is named with its key.
        """
        lines = text.splitlines()
        marks = [number for number, line in enumerate(lines) if line.strip() == _FENCE]
        if len(marks) < 2 or marks[0] != 0:
            raise CardError(f"{where}: no front matter; a card opens with TOML between two '{_FENCE}' lines")
        try:
            data = tomllib.loads("\n".join(lines[1 : marks[1]]))
        except tomllib.TOMLDecodeError as error:
            raise CardError(f"{where}: the front matter is not TOML: {error}") from None
        try:
            return cls(**{**data, "body": "\n".join(lines[marks[1] + 1 :]).strip()})
        except ValidationError as error:
            faults = []
            for item in error.errors():
                key = ".".join(str(part) for part in item["loc"])
                hint = nearest(key, sorted(cls.model_fields)) if item["type"] == "extra_forbidden" else ""
                faults.append(f"{key + ': ' if key else ''}{item['msg'].removeprefix('Value error, ')}{hint}")
            raise CardError(f"{where}: " + "; ".join(faults)) from None

    @classmethod
    def from_file(cls, path: str | Path) -> Card:
        """Read a card from a Markdown file. Raises: CardError, OSError."""
        return cls.from_text(Path(path).read_text(encoding="utf-8"), str(path))

    def check_columns(self, columns: Sequence[str]) -> None:
        """Hold the card against a data set's real columns.

        Raises:
            CardError: a column is missing; the message lists the real ones and the nearest.
        """
        for name in self.columns:
            if name not in columns:
                have = ", ".join(columns)
                hint = nearest(name, list(columns))
                hint = hint if hint.startswith("; did") else ""
                raise CardError(f"card {self.name!r}: the data set has no column {name!r}; it has: {have}{hint}")

    def split(self, name: str | None) -> str:
        """The Hub's name of a split of ours; None means the only one, or `train`.

        Raises:
            CardError: with the nearest name.
        """
        if name is None:
            name = "train" if "train" in self.splits else next(iter(self.splits))
        if name not in self.splits:
            near = nearest(name, list(self.splits))
            raise CardError(f"card {self.name!r} has no split {name!r}{near}; splits: {', '.join(self.splits)}")
        return self.splits[name]

    def sample(self, row: Row, *, split: str, index: int) -> Sample:
        """The row as a `Sample` without a completion; the card's columns, but for the prompt, stand in `meta`.

        Raises:
            UnusableRow: the row cannot be judged; the message says why.
        """
        prompt = self._prompt(row)
        own_id = at(row, self.id_column) if self.id_column else None
        row_id = str(own_id) if own_id not in (None, "") else f"{self.name}/{split}/{index}"
        return Sample(
            id=row_id,
            group=row_id,
            prompt=prompt,
            gold=GOLD_READERS[self.gold.reader](row, self.gold.column) if self.gold else None,
            tests=TEST_READERS[self.tests.reader](row, self.tests.column) if self.tests else None,
            task=self.name,
            # Only what the card names: OpenR1-Math brings the full text of several generations with every row.
            meta={name: row[name] for name in self.columns if name != self.prompt and name in row},
        )

    def _prompt(self, row: Row) -> str | list[dict[str, Any]]:
        if _PLACE.search(self.prompt):
            text = _PLACE.sub(lambda found: _shown(at(row, found[1]), found[1]), self.prompt)
            return self._instructed(text)
        value = at(row, self.prompt)
        if isinstance(value, str) and value.strip():
            return self._instructed(value)
        if isinstance(value, Sequence) and value and all(isinstance(m, Mapping) and "role" in m for m in value):
            messages = [dict(message) for message in value]
            if self.instruction:
                messages[-1]["content"] = self._instructed(str(messages[-1].get("content") or ""))
            return messages
        raise UnusableRow(f"{self.prompt} is {str(value)[:60]!r}; a prompt is text or a list of chat messages")

    def _instructed(self, text: str) -> str:
        return f"{text}\n\n{self.instruction}" if self.instruction else text


def _shown(value: Any, path: str) -> str:
    if value is None or value == "" or value == []:
        raise UnusableRow(f"{path} is empty, and the prompt is made from it")
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(str(item) for item in value)
    return str(value)
