"""Samples to the same held-out accuracy on a mixed data set: `python tests/benchmarks/mixed_difficulty.py [--seeds 3]`.

A third of the questions is too easy for the starter (sums without a carry: its guesses are right), a third is right
for it (two digits with a carry), a third is out of its reach (four digits). Groups of the first and the last kind are
all right or all wrong and teach nothing. Compared are, for each seed, the completions generated until greedy accuracy
on held-out questions of the middle kind first reaches the target, those for measuring pass rates (two answers to each
question) included.

The plain run takes the runner's default batch of 16 questions, of which a third teaches. The others take 6 questions a
step: the same number that teaches, since theirs all (or nearly all) do. At an equal batch the gain would show as less
noise per step rather than as fewer completions.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from datasets_cards import arithmetic

ROOT = Path(__file__).resolve().parents[2]
K = 2


def carries(row: dict[str, str]) -> bool:
    a, b = (int(x) for x in row["prompt"].removesuffix("=?").split("+"))
    return a % 10 + b % 10 > 9


def easy(row: dict[str, str]) -> bool:
    a, b = (int(x) for x in row["prompt"].removesuffix("=?").split("+"))
    return a % 10 + b % 10 < 10 and a // 10 + b // 10 < 10


def write(path: Path, rows: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps({"id": row["prompt"], **row}) + "\n" for row in rows))


def command(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "grpo_runner.cli", *words],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""}, check=False,
    )  # fmt: skip
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return done.stdout


def samples_to(out: Path, target: float) -> int | None:
    """Completions generated until the first evaluation at or above the target."""
    metrics = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    for line in (out / "evaluations.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["greedy"] >= target:
            return int(sum(m.get("completions_generated", 0) for m in metrics if m["step"] <= row["step"]))
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--targets", type=float, nargs="+", default=[0.9, 0.95, 0.99], help="held-out greedy accuracy")
    parser.add_argument("--ways", nargs="*", help="only these, by number from 0; plain is 0")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--each", type=int, default=24, help="questions of each kind")
    given = parser.parse_args()
    common = [
        "--reward", "math", "--max-new-tokens", "40", "--eval-every", "2", "--eval-samples", "1",
        "--eval-questions", "128", "--watch", "off", "--completions-every", "0",
    ]  # fmt: skip
    ways: dict[str, list[str]] = {
        "plain": [],
        "--difficulty": ["--batch-size", "48", "--difficulty", "0.1..0.9"],
        "--difficulty --resample": ["--batch-size", "48", "--difficulty", "0.1..0.9", "--resample"],
        "--resample, measured": ["--batch-size", "48", "--resample"],
        "--resample, not measured": ["--batch-size", "48", "--resample"],
    }
    if given.ways:
        ways = {name: words for i, (name, words) in enumerate(ways.items()) if str(i) in given.ways}
    found: dict[tuple[float, str], list[int | None]] = {(t, name): [] for t in given.targets for name in ways}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed in range(given.seeds):
            pool = list(arithmetic.rows("train", 4000, seed))
            kinds = [
                [row for row in pool if easy(row)][: given.each],
                [row for row in pool if carries(row)][: given.each],
                list(arithmetic.rows("train", given.each, seed, digits=4)),
            ]
            rows = [row for kind in kinds for row in kind]
            random.Random(seed).shuffle(rows)
            data, measured, held = folder / "data.jsonl", folder / "measured.jsonl", folder / "held.jsonl"
            write(data, rows)
            write(held, [row for row in arithmetic.rows("heldout", 900, seed) if carries(row)][:128])
            asked = ["--dataset", str(data), "--eval-reward", "math", "--max-new-tokens", "40", "--seed", str(seed)]
            shown = command("difficulty", *asked, "--k", str(K), "-o", str(measured))
            print(shown.splitlines()[-2], flush=True)
            for way, words in ways.items():
                knows = way not in ("plain", "--resample, not measured")
                source, cost = (measured, K * len(rows)) if knows else (data, 0)
                out = folder / f"{seed}-{list(ways).index(way)}"
                steps = str(given.steps)
                where = ["--dataset", str(source), "--eval-dataset", str(held), "--out", str(out)]
                command(*common, *where, "--seed", str(seed), "--steps", steps, *words)
                for target in given.targets:
                    spent = samples_to(out, target)
                    found[target, way].append(None if spent is None else spent + cost)
                reached = [found[target, way][-1] for target in given.targets]
                print(f"seed {seed}  {way}: {reached} completions (of these {cost} to measure)", flush=True)
    print("\n| greedy on held-out sums with a carry | way | completions per seed | of the plain run |")
    print("|---|---|---|---|")

    def mean(values: list[int | None]) -> float:
        return statistics.mean(v if v is not None else float("inf") for v in values)

    for target in given.targets:
        plain: Any = mean(found[target, "plain"])
        for way in ways:
            values = found[target, way]
            print(f"| {target:.0%} | {way} | {' / '.join(map(str, values))} | {mean(values) / plain:.0%} |")


if __name__ == "__main__":
    main()
