"""Verdicts of `code` on real completions against the labels that were got by running them, and on reference solutions.

    python tests/benchmarks/code_labels.py                     all files: code/*.jsonl.gz and tasks/*.jsonl.gz
    python tests/benchmarks/code_labels.py code/mbpp           files whose name starts so
    python tests/benchmarks/code_labels.py --every 10          each tenth row
    python tests/benchmarks/code_labels.py --programs          chat rows with the program that the label was run on
    python tests/benchmarks/code_labels.py --json              the figures on stdout

A label was got by running one program. In chat rows that is the first block by the source's own rule; ours is the last
block that defines the function, so in some rows another program is judged: `--programs` leaves extraction out.

Prints for each file the rows, how many verdicts agree with the label, and every other row with its cause. Reads
`../shared/data` (see its README): without that folder there is nothing to measure, and it says so.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# The file beside this one is called `sandboxes`, and a script's own folder comes first: put the checkout there.
sys.path[0] = str(Path(__file__).resolve().parents[2])

from rewards.code_tests import CodeTests  # noqa: E402
from rewards.verdict import Sample, Status, Verdict  # noqa: E402

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
FENCE = "~" * 40
LABELLED = ("code/*.jsonl.gz",)
REFERENCES = tuple(f"tasks/{name}.jsonl.gz" for name in ("humaneval", "mbpp", "humanevalplus", "mbppplus"))


def rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def labelled(row: dict[str, Any], programs: bool) -> tuple[Sample, bool]:
    """A completion as it stands in the data (or the program taken from it), and whether running it passed."""
    tests = {"kind": "asserts", "script": row["tests"], "entry_point": row.get("entry_point") or ""}
    completion = row["completion"]
    if programs and row["mode"] == "chat":
        completion = f"{FENCE}python\n{row['code']}\n{FENCE}"  # a fence that nothing inside it can close
    sample = Sample(id=row["id"], group=row["id"], prompt=row["prompt"], completion=completion, tests=tests)
    return sample, bool(row["label"])


def reference(row: dict[str, Any], path: Path) -> tuple[Sample, bool]:
    """The reference solution of a task, which should pass."""
    tests = {"kind": "asserts", "script": row["tests"], "entry_point": row.get("entry_point") or ""}
    prompt = row["prompt"] if "humaneval" in path.name else ""
    sample = Sample(id=row["id"], group=row["id"], prompt=prompt, completion=row["canonical_solution"], tests=tests)
    return sample, True


def cause(row: dict[str, Any], sample: Sample, label: bool, verdict: Verdict) -> str:
    """Why verdict and label differ, as far as a script can tell."""
    if verdict.status is not Status.SCORED:
        return f"unscored: {verdict.reason}"
    extracted = (verdict.extracted or "").strip()
    if row.get("mode") == "chat" and extracted != row["code"].strip().replace("\r\n", "\n"):
        return "another block was taken than the label was run on"
    if row.get("mode") in ("full", "continuation") and extracted != sample.text.strip():
        return "the label was run on the raw text, fences and prose included"
    if row.get("mode") == "full" and sample.text.lstrip("\n")[:1].isspace() and verdict.score:
        return "the completion continues its prompt; the label was run without it (IndentationError)"
    if "__main__" in sample.text and verdict.score:
        return "a main guard that runs in a script and not in a module"
    if "too big or too deep" in verdict.detail:
        return "an answer of more elements than cross between two boxes"
    if row.get("outcome") == "timeout" or verdict.reason == "time_limit":
        return "time limit"
    return "passed here, failed there" if verdict.score else f"failed here ({verdict.reason}), passed there"


def measured(verifier: CodeTests, path: Path, every: int, programs: bool) -> dict[str, Any]:
    read = rows(path)[::every]
    pairs = [labelled(row, programs) if "label" in row else reference(row, path) for row in read]
    started, cpu = time.monotonic(), time.process_time()
    verdicts = verifier.verify_many([sample for sample, _ in pairs])
    seconds = time.monotonic() - started
    differing = []
    for row, (sample, label), verdict in zip(read, pairs, verdicts, strict=True):
        passed = verdict.status is Status.SCORED and verdict.score == 1.0
        if verdict.status is not Status.SCORED or passed is not label:
            differing.append(
                {
                    "id": row["id"],
                    "label": label,
                    "score": verdict.score,
                    "reason": str(verdict.reason),
                    "detail": verdict.detail[:160],
                    "cause": cause(row, sample, label, verdict),
                }
            )
    return {
        "file": f"{path.parent.name}/{path.name}",
        "rows": len(read),
        "agree": len(read) - len(differing),
        "seconds": round(seconds, 1),
        "rows_per_second": round(len(read) / seconds, 1),
        "own_cpu_seconds": round(time.process_time() - cpu, 1),
        "reasons": dict(collections.Counter(str(v.reason) for v in verdicts).most_common()),
        "modes": dict(collections.Counter(str((v.parts or {}).get("mode")) for v in verdicts).most_common()),
        "differing": differing,
    }


def wanted(prefixes: list[str]) -> Iterator[Path]:
    for pattern in (*LABELLED, *REFERENCES):
        for path in sorted(DATA.glob(pattern)):
            name = f"{path.parent.name}/{path.name}"
            if not prefixes or any(name.startswith(prefix) for prefix in prefixes):
                yield path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="names that start so, e.g. code/mbpp")
    parser.add_argument("--every", type=int, default=1, help="use each Nth row")
    parser.add_argument("--programs", action="store_true", help="judge the program that the label was run on")
    parser.add_argument("--sandbox", default="local", help="backend: local or docker")
    parser.add_argument("--cpu-seconds", type=float, default=6.0, help="CPU limit of completions; the labels had 6")
    parser.add_argument("--reference-cpu-seconds", type=float, default=30.0, help="CPU limit of reference solutions")
    parser.add_argument("--memory-mib", type=int, default=4096, help="memory limit per program")
    parser.add_argument("--json", action="store_true", help="the figures as JSON on stdout")
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"{DATA} is absent: the labelled completions are not part of this repository", file=sys.stderr)
        return 2
    found = []
    for path in wanted(options.files):
        cpu_seconds = options.reference_cpu_seconds if path.parent.name == "tasks" else options.cpu_seconds
        verifier = CodeTests(
            sandbox=options.sandbox, cpu_seconds=cpu_seconds, memory_bytes=options.memory_mib * 1024 * 1024
        )
        result = measured(verifier, path, options.every, options.programs)
        verifier.close()
        found.append(result)
        share = result["agree"] / result["rows"]
        print(
            f"{result['file']}: {result['agree']} of {result['rows']} agree ({share:.2%}), "
            f"{result['rows_per_second']} rows per second, {result['modes']}",
            file=sys.stderr,
        )
        for row in result["differing"]:
            print(
                f"    {row['id']}: label {row['label']}, here {row['score']} {row['reason']}: {row['cause']}; "
                f"{row['detail']}",
                file=sys.stderr,
            )
    for kind in ("code/", "tasks/"):
        group = [r for r in found if r["file"].startswith(kind)]
        if group:
            agree, total = sum(r["agree"] for r in group), sum(r["rows"] for r in group)
            print(f"{kind} {agree} of {total} agree ({agree / total:.3%})", file=sys.stderr)
    if options.json:
        json.dump(found, sys.stdout, indent=1)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
