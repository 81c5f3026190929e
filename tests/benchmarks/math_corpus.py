r"""Accuracy of the `math` verifier on labelled pairs, by kind; every failing row with its reason.

    python tests/benchmarks/math_corpus.py [--engine own|math_verify] [--kind KIND ...] [--file FILE] [--quiet]

Reads `../shared/cases/math_dev.jsonl` unless FILE is given. A row: `gold`, `prediction`, `expected`, `kind`, and
`form` ("answer": a bare string, put into one boxed sentence; "completion": used as it is).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from rewards.math_equivalence import MathEquivalence
from rewards.scoring import judge
from rewards.verdict import Sample, Status

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
NEVER_PAID = (
    "hedge", "echo", "literal_garbage", "empty", "reward_hack", "near_miss", "code_injection", "tiny_values",
)  # fmt: skip


def completion_of(row: dict[str, Any]) -> str:
    """The row's completion; a bare answer goes into one boxed sentence."""
    if row["form"] == "completion":
        return str(row["prediction"])
    return f"Therefore, the answer is $\\boxed{{{row['prediction']}}}$."


def load(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def main() -> int:
    """Print the table and the failing rows; exit 1 when a target of the table is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, default=SHARED / "cases" / "math_dev.jsonl")
    parser.add_argument("--engine", default="own")
    parser.add_argument("--kind", nargs="*", help="only these kinds")
    parser.add_argument("--quiet", action="store_true", help="no failing rows")
    parser.add_argument("--limit", type=int, help="only the first rows")
    arguments = parser.parse_args()
    if not arguments.file.exists():
        print(f"{arguments.file} is absent; give labelled pairs with --file", file=sys.stderr)
        return 2
    rows = [r for r in load(arguments.file) if not arguments.kind or r["kind"] in arguments.kind][: arguments.limit]
    verifier = MathEquivalence(engine=arguments.engine)
    began = time.process_time()
    verdicts = judge(verifier, [Sample(id=r["id"], completion=completion_of(r), gold=r["gold"]) for r in rows])
    cpu = time.process_time() - began
    verifier.close()

    count: dict[str, list[int]] = defaultdict(
        lambda: [0, 0, 0, 0, 0]
    )  # right labels, refused, wrong labels, paid, unscored
    failing = []
    for row, verdict in zip(rows, verdicts, strict=True):
        paid = verdict.status is Status.SCORED and verdict.score == 1.0
        for key in (row["kind"], "all"):
            count[key][0 if row["expected"] else 2] += 1
            count[key][1 if row["expected"] else 3] += int(paid is not row["expected"])
            count[key][4] += int(verdict.status is not Status.SCORED)
        if paid is not row["expected"]:
            failing.append((row, verdict))

    if not arguments.quiet:
        for row, verdict in sorted(failing, key=lambda f: (f[0]["expected"], f[0]["kind"])):
            what = "REFUSED" if row["expected"] else "PAID"
            print(
                f"{what} {row['id']} {row['kind']}: gold {row['gold']!r} | {row['prediction'][-160:]!r} | "
                f"{verdict.extracted!r} {verdict.status.value} {verdict.reason}: {verdict.detail[:160]}"
            )
        print()
    print("| kind | right answers | refused | wrong answers | paid | unscored |\n|---|---:|---:|---:|---:|---:|")
    for kind, (right, refused, wrong, leaked, unscored) in sorted(
        count.items(), key=lambda item: (-sum(item[1][1:4:2]), item[0])
    ):
        if kind != "all" and (refused or leaked or not arguments.quiet):
            print(f"| {kind} | {right} | {refused or ''} | {wrong} | {leaked or ''} | {unscored or ''} |")
    right, refused, wrong, total_paid, unscored = count["all"]
    accuracy = 1 - (refused + total_paid) / max(1, right + wrong)
    print(f"| **all** | {right} | {refused} | {wrong} | {total_paid} | {unscored} |")
    print(
        f"\naccuracy {accuracy:.2%}; of right answers refused {refused / max(1, right):.2%}; of wrong answers paid "
        f"{total_paid / max(1, wrong):.2%}; {1e6 * cpu / max(1, len(rows)):.0f} us of CPU a pair in this process"
    )
    leaks = [kind for kind in NEVER_PAID if count[kind][3]]
    if leaks:
        print(f"paid in kinds that must never pay: {', '.join(leaks)}")
    return 0 if accuracy >= 0.97 and refused <= 0.03 * right and total_paid <= 0.005 * wrong and not leaks else 1


if __name__ == "__main__":
    sys.exit(main())
