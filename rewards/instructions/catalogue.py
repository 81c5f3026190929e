"""The catalogue of instruction types: what each one's keyword arguments are, and its check in each mode.

A check is a pure function `check(response, args) -> str`: the empty string where the instruction is followed, else
what is wrong, in words. Arguments are validated before any check runs: the published code draws a missing argument
at random, reads `keywords` as regular expressions and takes 3.0 for 3, so a row with such a fault has no right
answer and is `invalid`, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from rewards.instructions.response import Response
from rewards.registry import nearest

Mode = Literal["official", "fixed"]
Args = Mapping[str, Any]
Check = Callable[[Any, Args], str]
FOLLOWED: Final = ""

RELATIONS: Final = ("less than", "at least")
LANGUAGES: Final = frozenset(
    "af ar bg bn ca cs cy da de el en es et fa fi fr gu he hi hr hu id it ja kn ko lt lv mk ml mr ne nl no pa pl pt ro"
    " ru sk sl so sq sv sw ta te th tl tr uk ur vi zh zh-cn zh-tw".split()
)


class RowFault(ValueError):
    """The row asks for something that no response can be held against; the message says what."""


@dataclass(frozen=True, slots=True)
class Given:
    """One instruction of a row: its id, its arguments as they stand, the mode, and the prompt around it."""

    id: str
    kwargs: Mapping[str, Any]
    mode: Mode
    prompt: str


def _count(value: Any, name: str) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a parquet column with gaps turns whole numbers into floats
    if isinstance(value, bool) or not isinstance(value, int):
        raise RowFault(f"{name} is {value!r}; allowed: a whole number")
    if value < 0:
        raise RowFault(f"{name} is {value}; allowed: 0 or more")
    return value


def _place(value: Any, name: str) -> int:
    number = _count(value, name)
    if number < 1:
        raise RowFault(f"{name} is {number}; positions count from 1")
    return number


def _percentage(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        raise RowFault(f"{name} is {value!r}; allowed: 0 to 100")
    return float(value)


def _relation(value: Any, name: str) -> str:
    if value not in RELATIONS:
        raise RowFault(f"{name} is {value!r}; allowed: 'less than', 'at least'")
    return str(value)


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise RowFault(f"{name} is {value!r}; allowed: text that is not blank")
    return value


def _texts(value: Any, name: str) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        raise RowFault(f"{name} is {value!r}; allowed: a list of texts")
    return tuple(_text(item, name) for item in value)


def _letter(value: Any, name: str) -> str:
    letter = value.strip() if isinstance(value, str) else value
    if not isinstance(letter, str) or len(letter) != 1:
        raise RowFault(f"{name} is {value!r}; allowed: one character")
    return letter


def _language(value: Any, name: str) -> str:
    if not isinstance(value, str) or value.lower() not in LANGUAGES:
        near = nearest(value.lower() if isinstance(value, str) else "", sorted(LANGUAGES))
        raise RowFault(f"{name} is {value!r}, which the language identifier does not know{near}")
    return value.lower()


Reader = Callable[[Any, str], Any]
COUNT: Final[Reader] = _count
PLACE: Final[Reader] = _place
PERCENTAGE: Final[Reader] = _percentage
RELATION: Final[Reader] = _relation
TEXT: Final[Reader] = _text
TEXTS: Final[Reader] = _texts
LETTER: Final[Reader] = _letter
LANGUAGE: Final[Reader] = _language


@dataclass(slots=True)
class Instruction:
    """One instruction type.

    Attributes:
        id: `group:name`, as in the data sets' `instruction_id_list`.
        params: argument name -> how it is read; all are required.
        whole_row: looks at arguments together and at the prompt; raises RowFault where they contradict.
        checks: mode -> check.
    """

    id: str
    params: Mapping[str, Reader]
    whole_row: Callable[[Given, Args], None] | None = None
    checks: dict[Mode, Check] = field(default_factory=dict)

    def read(self, given: Given) -> dict[str, Any]:
        """The arguments, validated.

        Raises:
            RowFault: an argument is missing, unknown, of the wrong kind, or contradicts another or the prompt.
        """
        present = {name: value for name, value in given.kwargs.items() if value is not None}
        for name in present:
            if name not in self.params:
                raise RowFault(f"{self.id} has no argument {name!r}{nearest(name, sorted(self.params))}")
        missing = [name for name in self.params if name not in present]
        if missing:
            raise RowFault(
                f"{self.id} needs {' and '.join(missing)}, which is missing or null "
                "(the published code would draw it at random)"
            )
        args = {name: reader(present[name], name) for name, reader in self.params.items()}
        if self.whole_row is not None:
            self.whole_row(given, args)
        return args


CATALOGUE: Final[dict[str, Instruction]] = {}


def declare(
    instruction_id: str, whole_row: Callable[[Given, Args], None] | None = None, /, **params: Reader
) -> Instruction:
    """Add an instruction type."""
    if instruction_id in CATALOGUE:
        raise ValueError(f"instruction type {instruction_id!r} is declared twice")
    CATALOGUE[instruction_id] = Instruction(instruction_id, params, whole_row)
    return CATALOGUE[instruction_id]


def check(instruction_id: str, *modes: Mode) -> Callable[[Check], Check]:
    """Decorator: this function is the check of that type; without modes, in both."""

    def decorate(function: Check) -> Check:
        for mode in modes or ("official", "fixed"):
            if mode in CATALOGUE[instruction_id].checks:
                raise ValueError(f"{instruction_id!r} has two checks for mode {mode!r}")
            CATALOGUE[instruction_id].checks[mode] = function
        return function

    return decorate


def find(instruction_id: Any) -> Instruction:
    """The instruction type.

    Raises:
        RowFault: unknown, with the nearest ids (confident-ai/deepeval#3063 paid 18 of 29 unknown ids).
    """
    known = CATALOGUE.get(instruction_id) if isinstance(instruction_id, str) else None
    if known is None:
        near = nearest(str(instruction_id), sorted(CATALOGUE))
        raise RowFault(f"no instruction type {instruction_id!r}{near if near.startswith('; did') else ''}")
    return known


# ---------------------------------------------------------------- what many checks share


def compare(number: int, relation: str, threshold: int, noun: str) -> str:
    """Hold a count against `less than N` or `at least N`."""
    if (number < threshold) if relation == "less than" else (number >= threshold):
        return FOLLOWED
    return f"{number} {noun}; asked for {relation} {threshold}"


def at_least(number: int, threshold: int, noun: str) -> str:
    """Hold a count against a minimum."""
    return FOLLOWED if number >= threshold else f"{number} {noun}; asked for at least {threshold}"


def said(ok: bool, complaint: str) -> str:
    """The complaint, unless the property holds."""
    return FOLLOWED if ok else complaint


_PATTERN_MARKS: Final = re.compile(r"[*+?{]")


def as_pattern(keyword: str, name: str) -> re.Pattern[str]:
    """A keyword as the published code reads it: a regular expression, ignoring case.

    Raises:
        RowFault: it does not compile, or repeats something (then its run time has no bound).
    """
    if _PATTERN_MARKS.search(keyword):
        raise RowFault(f"{name} {keyword!r} is read as a regular expression by the official check, and it repeats")
    try:
        return re.compile(keyword, re.IGNORECASE)
    except re.error as error:
        message = f"{name} {keyword!r} is a regular expression to the official check, and does not compile: {error}"
        raise RowFault(message) from None


__all__ = [
    "CATALOGUE",
    "COUNT",
    "FOLLOWED",
    "LANGUAGE",
    "LETTER",
    "PERCENTAGE",
    "PLACE",
    "RELATION",
    "TEXT",
    "TEXTS",
    "Args",
    "Given",
    "Instruction",
    "Mode",
    "Response",
    "RowFault",
    "as_pattern",
    "at_least",
    "check",
    "compare",
    "declare",
    "find",
    "said",
]
