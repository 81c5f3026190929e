"""How far `ifeval(mode="official")` agrees with given official results, instruction by instruction.

Usage: python tests/benchmarks/ifeval_agreement.py [FOLDER]

FOLDER (default: ../shared/data/ifeval, beside the repository) holds `responses_*.jsonl.gz` with rows
`{id, key, prompt, completion, instruction_id_list, kwargs, strict, loose}`; `strict` and `loose` hold one bool per
instruction, or null where two runs of the official checks differed. Prints agreement per file and per instruction
type, every disagreement by name with its cause, and how `fixed` mode differs from `official`, by type.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from rewards.instructions import InstructionFollowing
from rewards.scoring import judge
from rewards.verdict import Sample, Status

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "ifeval"
TARGET = 0.995
# What the two sides may differ in, by instruction type: the only parts of the published code that draw at random.
CAUSES = {
    "language:response_language": "langdetect is random where the published code leaves it unseeded",
    "change_case:english_capital": "langdetect is random where the published code leaves it unseeded",
    "change_case:english_lowercase": "langdetect is random where the published code leaves it unseeded",
    "keywords:letter_frequency": "older ports draw a random letter where the row names '#' or '!'",
}


def samples_of(rows: list[dict[str, Any]]) -> list[Sample]:
    """The rows as samples; what judges them stands in the columns, as on the Hub."""
    return [
        Sample(
            id=row["id"],
            prompt=row["prompt"],
            completion=row["completion"],
            meta={"instruction_id_list": row["instruction_id_list"], "kwargs": row["kwargs"]},
        )
        for row in rows
    ]


def main(folder: Path) -> int:
    files = sorted(folder.glob("responses_*.jsonl.gz"))
    if not files:
        print(f"no responses_*.jsonl.gz in {folder}: nothing to compare with")
        return 2
    agree: Counter[str] = Counter()
    total: Counter[str] = Counter()
    unexplained = 0
    moved: Counter[tuple[str, str]] = Counter()
    invalid: Counter[str] = Counter()
    seconds = 0.0
    for path in files:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        samples = samples_of(rows)
        here = {}
        for strictness in ("strict", "loose"):
            begun = time.process_time()
            verdicts = judge(InstructionFollowing(mode="official", strictness=strictness), samples)
            seconds += time.process_time() - begun
            fixed = judge(InstructionFollowing(mode="fixed", strictness=strictness), samples)
            good = asked = 0
            for row, verdict, repaired in zip(rows, verdicts, fixed, strict=True):
                if verdict.status is not Status.SCORED:
                    print(f"  {row['id']}: official mode gives {verdict.status.value}: {verdict.detail}")
                    unexplained += 1
                    continue
                given = verdict.parts["instructions"]  # type: ignore[index]
                for part, theirs in zip(given, row[strictness], strict=True):
                    if theirs is None:
                        continue
                    asked += 1
                    total[part["id"]] += 1
                    if part["followed"] == theirs:
                        good += 1
                        agree[part["id"]] += 1
                    else:
                        cause = CAUSES.get(part["id"], "UNEXPLAINED")
                        unexplained += cause == "UNEXPLAINED"
                        print(
                            f"  {row['id']} key {row['key']} {strictness} {part['id']}: given {theirs}, "
                            f"ours {part['followed']} ({part['why_not'] or 'followed'}): {cause}"
                        )
                if repaired.status is not Status.SCORED:
                    invalid[f"{repaired.detail.split(': ', 1)[1]}"] += 1
                    continue
                for part, other in zip(given, repaired.parts["instructions"], strict=True):  # type: ignore[index]
                    if part["followed"] != other["followed"]:
                        moved[part["id"], "to followed" if other["followed"] else "to not followed"] += 1
            here[strictness] = f"{good}/{asked} = {good / asked:.4%}"
        print(f"{path.name}: strict {here['strict']}, loose {here['loose']}")
    print("\nby instruction type (strict and loose together):")
    for name in sorted(total):
        print(f"  {name:45s} {agree[name]:5d}/{total[name]:5d}  {agree[name] / total[name]:.4%}")
    share = sum(agree.values()) / sum(total.values())
    print(f"\nagreement {sum(agree.values())}/{sum(total.values())} = {share:.4%} (target {TARGET:.1%})")
    print(f"disagreements without a named cause: {unexplained}")
    print(f"official mode: {seconds:.1f} CPU-seconds for {sum(total.values())} judgements")
    print("\nfixed mode differs from official on the same rows:")
    for (name, way), number in sorted(moved.items()):
        print(f"  {name:45s} {way:16s} {number}")
    for detail, number in sorted(invalid.items()):
        print(f"  invalid in fixed mode, {number} times: {detail}")
    return 0 if share >= TARGET and not unexplained else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED))
