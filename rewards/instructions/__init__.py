"""`ifeval`: does a response follow its verifiable instructions? IFEval's 25 types and IFBench's 58.

A row names its instructions in `Sample.tests`, `{"kind": "instructions", "instruction_id_list": [...], "kwargs":
[...]}`, or in the data sets' own columns `instruction_id_list` and `kwargs` in `Sample.meta`. Arguments that are
null count as absent; 0 is a value.

Two modes, chosen by name and never mixed. `fixed` (the default) asks whether the instruction was followed. `official`
gives what the published checks give, known faults included, to compare with published numbers; it needs the packages
of the extra `ifeval`. What each fixed check repairs stands above it in `ifeval_types` and `ifbench_types`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, Literal

from rewards.format_checks import answer_start
from rewards.instructions import ifbench_types, ifeval_types
from rewards.instructions.catalogue import CATALOGUE, Given, Instruction, Mode, RowFault, find
from rewards.instructions.response import DependencyMissing, OfficialResponse, OverLimit, Response, bare
from rewards.registry import Params, Verifier, register
from rewards.verdict import Reason, Sample, Verdict

_READINGS: Final[Mapping[Mode, type[Response]]] = {"official": OfficialResponse, "fixed": Response}


class InstructionParams(Params):
    """Parameters of `ifeval`."""

    mode: Mode = "fixed"
    """`fixed` judges whether the instruction was followed; `official` reproduces the published checks."""
    strictness: Literal["strict", "loose"] = "strict"
    """`strict` judges the response as it stands; `loose` is met when any of eight versions of it (without its first
    line, its last, both, and each without `*`) follows the instruction, as published."""
    score: Literal["all", "share"] = "all"
    """`all` is 1 when every instruction is followed, else 0; `share` is the share that is."""
    reasoning: Literal["drop", "keep"] | None = None
    """`drop` judges what follows the reasoning (the last `</think>` or its like); `keep` judges everything. Without it:
    `drop` in fixed mode, `keep` in official mode."""


@register("ifeval")
class InstructionFollowing(Verifier[InstructionParams]):
    """Share, or conjunction, of a row's verifiable instructions that the response follows.

    `parts` holds `mode`, `strictness`, `followed` and `asked` (counts) and `instructions`: per instruction, in the
    row's order and repeated ids apart, `{"id", "followed", "why_not"}`.

    A blank response follows nothing. Fixed mode judges texts of any length; official mode leaves a text of several
    hundred thousand characters unjudged where the published tokenizers are too slow for it (`error`, `over_limit`).
    A row with an unknown instruction id, with an argument that is missing or of the wrong kind, or with arguments
    that contradict each other or the prompt is `invalid`, in both modes.
    """

    version: ClassVar[int] = 2
    source: ClassVar[str] = "IFEval: Zhou et al. 2023, arXiv:2311.07911; IFBench: Pyatkin et al. 2025, arXiv:2507.02833"
    reasons: ClassVar[Mapping[str, str]] = {
        "not_followed": "at least one instruction is not followed; the detail names the first",
        "bad_instruction": "the row names an unknown instruction, or its arguments cannot be meant",
        "missing_dependency": "an optional package that a check needs is not installed; the detail says which",
    }
    example: ClassVar[Mapping[str, Any]] = {
        "completion": "Rain fell all night and the river rose above the old bridge.",
        "tests": {
            "kind": "instructions",
            "instruction_id_list": ["punctuation:no_comma", "keywords:existence", "length_constraints:number_words"],
            "kwargs": [{}, {"keywords": ["river"]}, {"relation": "at least", "num_words": 10}],
        },
    }

    def verify(self, sample: Sample) -> Verdict:
        """The verdict on one response."""
        mode = self.params.mode
        try:
            asked = [(instruction, instruction.read(given)) for instruction, given in _instructions(sample, mode)]
        except _Absent as absent:
            return Verdict.invalid(Reason.MISSING_FIELD, f"row {sample.id!r}: {absent}")
        except RowFault as fault:
            return Verdict.invalid("bad_instruction", f"row {sample.id!r}: {fault}")
        text = self._judged(sample.text)
        if not text.strip():
            return Verdict.scored(0.0, Reason.NO_ANSWER, "blank response", parts=self._parts(asked, None))
        reading = _READINGS[mode]
        versions = [reading(version) for version in _versions(text, self.params.strictness)]
        try:
            faults = [_fault(instruction, args, versions, mode) for instruction, args in asked]
        except DependencyMissing as missing:
            return Verdict.error("missing_dependency", str(missing))
        except OverLimit as over:
            # What the published check says of such a text is not known: no number.
            return Verdict.error(Reason.OVER_LIMIT, f"{over}; mode=fixed judges texts of any length")
        parts = self._parts(asked, faults)
        failed = [(instruction.id, fault) for (instruction, _), fault in zip(asked, faults, strict=True) if fault]
        if not failed:
            return Verdict.scored(1.0, Reason.OK, parts=parts)
        score = 0.0 if self.params.score == "all" else (len(asked) - len(failed)) / len(asked)
        detail = f"{len(failed)} of {len(asked)} not followed; {failed[0][0]}: {failed[0][1]}"
        return Verdict.scored(score, "not_followed", detail, parts=parts)

    def _judged(self, text: str) -> str:
        reasoning = self.params.reasoning or ("drop" if self.params.mode == "fixed" else "keep")
        if reasoning == "keep":
            return text
        return text[answer_start(text) :].lstrip("\r\n")

    def _parts(self, asked: Sequence[tuple[Instruction, Any]], faults: Sequence[str] | None) -> dict[str, Any]:
        why = faults if faults is not None else ["the response was not judged"] * len(asked)
        return {
            "mode": self.params.mode,
            "strictness": self.params.strictness,
            "followed": sum(1 for fault in why if not fault),
            "asked": len(asked),
            "instructions": [
                {"id": instruction.id, "followed": not fault, "why_not": fault}
                for (instruction, _), fault in zip(asked, why, strict=True)
            ],
        }


class _Absent(Exception):
    """The row carries no instructions."""


def _instructions(sample: Sample, mode: Mode) -> Iterator[tuple[Instruction, Given]]:
    ids, kwargs = _columns(sample)
    prompt = sample.prompt_text
    for instruction_id, given in zip(ids, kwargs, strict=True):
        yield find(instruction_id), Given(instruction_id, given, mode, prompt)


def _columns(sample: Sample) -> tuple[list[Any], list[Mapping[str, Any]]]:
    tests = sample.tests
    if isinstance(tests, Mapping) and tests.get("kind") == "instructions":
        where: Mapping[str, Any] = tests
    elif isinstance(tests, Mapping) and "kind" in tests:
        raise _Absent(f"tests of kind {tests['kind']!r}; ifeval reads kind 'instructions'")
    else:
        where = sample.meta
    if where.get("instruction_id_list") is None:
        raise _Absent("no instruction_id_list, neither in tests of kind 'instructions' nor as a column")
    ids = _listed(where["instruction_id_list"], "instruction_id_list")
    given = where.get("kwargs")
    kwargs = [{}] * len(ids) if given is None else _listed(given, "kwargs")
    if not ids:
        raise RowFault("instruction_id_list is empty")
    if len(ids) != len(kwargs):
        raise RowFault(f"{len(ids)} instruction ids with {len(kwargs)} kwargs; give one mapping per id")
    plain: list[Mapping[str, Any]] = []
    for item in kwargs:
        if item is not None and not isinstance(item, Mapping):
            raise RowFault(f"kwargs holds {item!r}; allowed: a mapping of argument names, or null")
        plain.append(item or {})
    return ids, plain


def _listed(value: Any, name: str) -> list[Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise RowFault(f"{name} is text that is not JSON: {value[:60]!r}") from None
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise RowFault(f"{name} is a {type(value).__name__}; allowed: a list, or its JSON text")
    return list(value)


def _versions(text: str, strictness: str) -> list[str]:
    """The texts of which one must follow: the response, or its eight loose versions, without repeats."""
    if strictness == "strict":
        return [text]
    lines = text.split("\n")
    cut = [text, *("\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1]))]
    every = [*cut, *(version.replace("*", "") for version in cut)]
    return [version for version in dict.fromkeys(every) if version.strip()]


def _fault(instruction: Instruction, args: Mapping[str, Any], versions: Sequence[Response], mode: Mode) -> str:
    """Why no version follows; of the first version where none does. Empty where one follows."""
    first = ""
    for version in versions:
        if mode == "fixed" and not bare(version.text) and instruction.id not in _MARKS_ALONE:
            fault = "no letter or digit in the response"
        else:
            fault = instruction.checks[mode](version, args)
        if not fault:
            return ""
        first = first or fault
    return first


# Types that a response without any letter or digit can follow.
_MARKS_ALONE: Final = frozenset(("keywords:letter_frequency",))

__all__ = [
    "CATALOGUE",
    "DependencyMissing",
    "InstructionFollowing",
    "InstructionParams",
    "RowFault",
    "ifbench_types",
    "ifeval_types",
]
