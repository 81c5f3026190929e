"""From a raw row to what judges it: gold readers and test readers, by name, as the cards name them.

A reader is a plain function of the row and the card's column path. It returns the field or raises
`UnusableRow` with the reason; it never guesses. A row without a usable gold is counted and shown, and
never reaches a verifier: a comparison with the word "notfound" is no fact about any completion.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

Row = Mapping[str, Any]

PLACEHOLDERS: Final = frozenset(
    ("proof", "notfound", "not found", "not_found", "none", "null", "nan", "n/a", "unknown", "error", "tbd", "todo")
)
"""Words that data sets write where there is no answer (a quarter of NuminaMath-1.5's rows)."""

# The sign may stand before the currency or behind it: `-$5`, `$-5`.
_NUMBER: Final = re.compile(
    r"(?P<sign>[-\u2212+]?)[$\u20ac\u00a3]? ?(?P<behind>[-\u2212+]?)"
    r"(?P<number>(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+) ?%?\.?"
)
_LIST_AS_TEXT: Final = re.compile(r"""^\[\s*(?:['"].*['"]|[-+]?\d[\d.\s,+-]*,[\d.\s,+-]*)\s*\]$""", re.DOTALL)


class UnusableRow(ValueError):
    """The row cannot be judged; the message says why."""


def at(row: Row, path: str) -> Any:
    """The value at a dotted path such as `reward_model.ground_truth` or `test_list.0`; None where a step is absent."""
    value: Any = row
    for step in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif step.isdigit() and isinstance(value, Sequence) and not isinstance(value, str) and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def plain(row: Row, path: str) -> str | list[str]:
    """The column as it stands: text, a number, or a list of acceptable answers."""
    value = at(row, path)
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return _text_gold(value, path)
    if isinstance(value, Sequence) and not isinstance(value, bytes) and value:
        return [_text_gold(item, path) for item in value]
    raise UnusableRow(f"{path} is {value!r}; a gold is text, a number, or a list of acceptable answers")


def _text_gold(value: Any, path: str) -> str:
    text = str(value).strip()
    if not text:
        raise UnusableRow(f"{path} is empty")
    if text.lower() in PLACEHOLDERS:
        raise UnusableRow(f"{path} is the placeholder word {text!r}, not an answer")
    if _LIST_AS_TEXT.match(text) and ("'" in text or '"' in text):
        raise UnusableRow(f"{path} is a list written as text, {text[:60]!r}; store a real list of acceptable answers")
    return text


def number_after_hashes(row: Row, path: str) -> str:
    """GSM8K: the number after the last `####`, without thousands commas or a currency sign: `-1,234.5` -> `-1234.5`."""
    text = at(row, path)
    if not isinstance(text, str):
        raise UnusableRow(f"{path} is {text!r}; allowed: a worked solution that ends with '#### <number>'")
    _, mark, tail = text.rpartition("####")
    if not mark:
        raise UnusableRow(f"{path} has no '####' before its final number")
    shown = tail.strip()
    found = _NUMBER.fullmatch(shown)
    if not found or (found["sign"] and found["behind"]):
        raise UnusableRow(f"{path} ends with {shown[:60]!r} after '####', which is not one number")
    minus = (found["sign"] or found["behind"]) in ("-", "\u2212")
    return ("-" if minus else "") + found["number"].replace(",", "")


def last_box(row: Row, path: str) -> str:
    r"""MATH: what stands in the last `\boxed{...}` (or `\fbox{...}`, or `\boxed 5`) of a worked solution."""
    text = at(row, path)
    if not isinstance(text, str):
        raise UnusableRow(f"{path} is {text!r}; allowed: a worked solution with its answer in \\boxed{{...}}")
    start = max(text.rfind("\\boxed"), text.rfind("\\fbox"))
    if start < 0:
        raise UnusableRow(f"{path} has no \\boxed{{...}}")
    body = text[start:].partition("box")[2].removeprefix("ed").lstrip()
    if not body.startswith("{"):
        # `\boxed 5` and `\boxed\frac12` are TeX for a box around one token; a few rows of MATH write `\boxed 5$`.
        token = re.split(r"[\s$]", body, maxsplit=1)[0].rstrip(".,")
        if not token:
            raise UnusableRow(f"{path} has an empty box")
        return token
    depth, index = 0, 0
    while index < len(body):
        letter = body[index]
        if letter == "\\":
            index += 2
            continue
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            inner = body[1:index].strip()
            if not inner:
                raise UnusableRow(f"{path} has an empty box")
            return inner
        index += 1
    raise UnusableRow(f"{path} has a box whose brace is never closed")


def code_tests(row: Row, path: str) -> dict[str, Any]:
    """HumanEval (`test`, `entry_point`) and MBPP (`test_list`, `test_setup_code`), as `rewards.code_tests` reads them.

    What names which data set, and which function MBPP's asserts are about, is known there and nowhere else.
    """
    from rewards.code_tests.shapes import TestsUnreadable, read_tests, tests_of_row

    tests_column, entry_point = at(row, path), at(row, "entry_point")
    lines = isinstance(tests_column, list) and all(isinstance(line, str) for line in tests_column)
    if not tests_column or not (lines or isinstance(tests_column, str)):
        raise UnusableRow(f"{path} is {str(tests_column)[:60]!r}; allowed: a script, or a list of assert statements")
    named = {path: tests_column}
    if isinstance(entry_point, str):
        named["entry_point"] = entry_point
    setup = at(row, "test_setup_code")
    if isinstance(setup, str):
        named["test_setup_code"] = setup
    try:
        tests = tests_of_row(named)
        read_tests(tests)
    except TestsUnreadable as fault:
        raise UnusableRow(f"{path}: {fault}") from None
    return tests


def instructions(row: Row, path: str) -> dict[str, Any]:
    """IFEval and IFBench: ids and their keyword arguments, one dict per id.

    On the Hub a row's `kwargs` are structs with every possible key, None where a key does not belong.
    Only None is dropped: 0 is a value (EleutherAI/lm-evaluation-harness#4213).
    """
    ids, given = at(row, path), at(row, "kwargs")
    if isinstance(ids, str) or not isinstance(ids, Sequence) or not ids:
        raise UnusableRow(f"{path} is {ids!r}; allowed: a list of instruction ids")
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != len(ids):
        raise UnusableRow(f"kwargs must be a list with one mapping for each of the {len(ids)} instruction ids")
    if not all(item is None or isinstance(item, Mapping) for item in given):
        raise UnusableRow("kwargs holds something else than mappings of argument names")
    kwargs = [{k: v for k, v in (item or {}).items() if v is not None} for item in given]
    return {"kind": "instructions", "instruction_id_list": list(ids), "kwargs": kwargs}


def countdown(row: Row, path: str) -> dict[str, Any]:
    """The numbers game: a target and the numbers that make it (`numbers` or `nums`)."""
    target, numbers = at(row, path), at(row, "numbers") or at(row, "nums")
    whole = isinstance(numbers, Sequence) and not isinstance(numbers, str)
    if not _is_number(target) or not whole or not all(map(_is_number, numbers)):
        raise UnusableRow(f"{path} is {target!r} with numbers {numbers!r}; allowed: a number, and a list of numbers")
    return {"target": target, "numbers": list(numbers)}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


GOLD_READERS: Final[Mapping[str, Callable[[Row, str], Any]]] = {
    "plain": plain,
    "number_after_hashes": number_after_hashes,
    "last_box": last_box,
    "countdown": countdown,
}
TEST_READERS: Final[Mapping[str, Callable[[Row, str], dict[str, Any]]]] = {
    "code_tests": code_tests,
    "instructions": instructions,
}
