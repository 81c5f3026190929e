"""The starter's table: `python tests/benchmarks/starter_curve.py [--seeds 5] [--out FILE.json]`.

Each row is one whole `grpo-run` in a process of its own from the shipped checkpoint: held-out accuracy before and
after, CPU seconds and wall seconds of the whole process, and what share of a step went into scoring. The last rows are
controls: a reward that pays for the format alone, and the group losses, which must learn the same.

CPU seconds are what compares between machines; wall seconds depend on what else the machine is doing.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def run(words: list[str], out: Path) -> dict[str, Any]:
    """One run of the command line, measured from outside."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    clock = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "grpo_runner.cli", *words, "--out", str(out)],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""}, check=False,
    )  # fmt: skip
    wall = time.perf_counter() - clock
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    summary = json.loads((out / "summary.json").read_text())
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    steps = sum(row["seconds/step"] for row in rows)
    return {
        "words": words,
        "before": summary["before"],
        "after": summary["after"],
        "steps": summary["steps"],
        "completions": summary["completions_generated"],
        "stopped": summary["stopped"],
        "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "wall_seconds": wall,
        "scoring_share": sum(row["seconds/scoring"] for row in rows) / steps,
        "generation_share": sum(row["seconds/generation"] for row in rows) / steps,
    }


def line(title: str, runs: list[dict[str, Any]]) -> str:
    """One row of the Markdown table: every seed's greedy accuracy, means of the rest."""

    def each(when: str, key: str) -> str:
        values = [r[when][key] for r in runs]
        return " / ".join(f"{v:.0%}" for v in values)

    def mean(key: str) -> float:
        return statistics.mean(r[key] for r in runs)

    return (
        f"| {title} | {len(runs)} | {each('before', 'greedy')} | {each('after', 'greedy')} "
        f"| {each('before', 'pass_1')} | {each('after', 'pass_1')} | {runs[0]['steps']} "
        f"| {mean('cpu_seconds'):.0f} | {mean('wall_seconds'):.0f} | {mean('scoring_share'):.1%} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", nargs="*", help="titles to run, such as math+format")
    parser.add_argument("--out", type=Path, help="write every figure as JSON")
    given = parser.parse_args()
    settings: list[tuple[str, list[str], int]] = [
        ("math+format", ["--reward", "math+format"], given.seeds),
        ("grpo, beta 0.04", ["--reward", "math+format", "--algorithm", "grpo"], 1),
        ("dr_grpo", ["--reward", "math+format", "--algorithm", "dr_grpo"], 1),
        ("G = 4", ["--reward", "math+format", "--group-size", "4", "--batch-size", "64"], 1),
        ("control: format", ["--reward", "format", "--eval-reward", "math"], min(3, given.seeds)),
    ]
    found: dict[str, list[dict[str, Any]]] = {}
    print("| reward | seeds | greedy before | greedy after | pass@1 before | pass@1 after | steps | CPU s | wall s "
          "| scoring |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for title, words, seeds in settings:
            if given.only and title not in given.only:
                continue
            runs = [run([*words, "--seed", str(seed)], Path(folder) / f"{title}-{seed}") for seed in range(seeds)]
            found[title] = runs
            print(line(title, runs), flush=True)
    if given.out:
        given.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
