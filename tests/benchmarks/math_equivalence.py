r"""Speed of `math` and of math-verify, side by side; and what hostile answers cost.

    python tests/benchmarks/math_equivalence.py [--real 600] [--dev 1400] [--skip-peer]

Each tool runs each set in a fresh process, caches cold, one pass; CPU time (`time.process_time`), imports and two
warming pairs apart. math-verify is called as its README says: `verify(parse(gold), parse(completion))`, gold in
`$...$`, its own time limits on. Real completions and the labelled pairs are read from `../shared`; without that
folder the rows of `tests/cases/math.jsonl` stand in for both. The table is Markdown, for the README.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
Pair = tuple[str, str, bool | None]
"""Gold, completion, label."""


def boxed_sentence(answer: str) -> str:
    """A bare answer as a completion."""
    return f"Therefore, the answer is $\\boxed{{{answer}}}$."


def own_rows() -> list[Pair]:
    """The golden rows of this repository."""
    rows = [json.loads(line) for line in (ROOT / "tests/cases/math.jsonl").read_text(encoding="utf-8").splitlines()]
    return [(r["gold"], r["completion"], bool(r["score"])) for r in rows if isinstance(r["gold"], str)]


def real_pairs(count: int) -> list[Pair]:
    """Real completions, the same number of each file, in groups as a trainer sees them; seeded."""
    files = sorted((SHARED / "data" / "math").glob("*.jsonl.gz"))
    if not files:
        return own_rows()
    out: list[Pair] = []
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        chosen = random.Random(7).sample(range(len(rows)), min(len(rows), -(-count // len(files))))
        out += [(str(rows[i]["answer"]), rows[i]["completion"], rows[i]["label"]) for i in sorted(chosen)]
    return out[:count]


def natural_pairs(count: int) -> list[Pair]:
    """100 MATH problems, 8 completions each: what one GRPO step looks like."""
    file = SHARED / "data" / "math" / "math100x8_qwen.jsonl.gz"
    if not file.exists():
        return own_rows()
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [(str(r["answer"]), r["completion"], r["label"]) for r in rows][:count]


def dev_pairs(count: int) -> list[Pair]:
    """Labelled pairs of every family, without those made to hang a grader."""
    file = SHARED / "cases" / "math_dev.jsonl"
    if not file.exists():
        return own_rows()
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [
        (r["gold"], r["prediction"] if r["form"] == "completion" else boxed_sentence(r["prediction"]), r["expected"])
        for r in rows
        if r["kind"] not in ("dos", "prose")
    ][:count]


WARMING: list[Pair] = [("4", "so $\\boxed{4}$", True), ("\\sqrt{8}", "so $\\boxed{2\\sqrt{2}}$", True)]
"""What loads each tool's libraries before the clock starts."""
SETS: dict[str, Callable[[int], list[Pair]]] = {"natural": natural_pairs, "real": real_pairs, "dev": dev_pairs}

HOSTILE: dict[str, Callable[[int], tuple[str, str]]] = {
    "power tower": lambda n: ("5", "9^{" * min(n, 60) + "9" + "}" * min(n, 60)),
    "tower of the same height as the gold": lambda n: ("9^{9^{9^{9}}}", "9^{9^{9^{8}}}"),
    "factorial of a huge number": lambda n: ("5", "(" + "9" * n + ")!"),
    "nested factorials": lambda n: ("5", "9" + "!" * n),
    "nested braces": lambda n: ("5", "{" * n + "5" + "}" * n),
    "nested brackets": lambda n: ("5", "(" * n + "5" + ")" * n),
    "nested fractions": lambda n: ("5", "\\frac{1}{" * n + "2" + "}" * n),
    "nested roots": lambda n: ("5", "\\sqrt{" * n + "2" + "}" * n),
    "digits": lambda n: ("5", "7" * n),
    "digits in the gold too": lambda n: ("7" * n, "7" * (n - 1) + "8"),
    "a long sum": lambda n: (str(n), "1" + "+1" * (n - 1)),
    "a long product": lambda n: ("5", "\\cdot ".join(["3"] * n)),
    "a long list": lambda n: ("5", ",".join(map(str, range(n)))),
    "a long polynomial": lambda n: ("5", "+".join(f"x^{{{i}}}" for i in range(n))),
    "a power of a polynomial": lambda n: ("(x+1)^{10}", "(x+1)^{" + "9" * min(n, 30) + "}"),
    "a sum to 10^100": lambda n: ("5", "\\sum_{k=1}^{10^{100}} k^{k}"),
    "a binomial": lambda n: ("5", "\\binom{" + "9" * min(n, 40) + "}{" + "4" * min(n, 39) + "}"),
    "division by zero": lambda n: ("5", "\\frac{1}{0}" + "+\\frac{1}{0}" * min(n, 2000)),
    "a tiny power": lambda n: ("0", "10^{-10^{" + "9" * min(n, 20) + "}}"),
    "an exponent of many digits": lambda n: ("1", "1.0000001^{" + "9" * n + "}"),
    "backslashes": lambda n: ("5", "\\" * n),
    "percent signs": lambda n: ("5", "%" * n),
    "plus and minus": lambda n: ("5", "\\pm" * min(n, 3000) + "5"),
    "letters": lambda n: ("5", "a" * n),
    "words": lambda n: ("5", "word " * n),
    "unicode": lambda n: ("5", "½" * n),
    "cells": lambda n: ("5", "\\begin{pmatrix}" + "&".join(["1"] * n) + "\\end{pmatrix}"),
    "signs": lambda n: ("5", "-" * n + "5"),
    "intervals": lambda n: ("(0,1)", "\\cup ".join(["(0,1)"] * n)),
    "equals signs": lambda n: ("5", "=".join(["5"] * n)),
}


def one_tool(tool: str, name: str, count: int) -> dict[str, Any]:
    """Run one set with one tool in this process."""
    pairs = SETS[name](count)
    began = time.process_time()
    judge = own_judge() if tool == "own" else peer_judge()
    for gold, completion, _ in WARMING:
        judge(gold, completion)
    imported = time.process_time() - began
    seconds = []
    right = labelled = 0
    for gold, completion, label in pairs:
        began = time.process_time()
        paid = judge(gold, completion)
        seconds.append(time.process_time() - began)
        if label is not None:
            labelled += 1
            right += paid is label
    return {
        "pairs": len(pairs),
        "mean": statistics.fmean(seconds),
        "median": statistics.median(seconds),
        "p99": sorted(seconds)[int(0.99 * (len(seconds) - 1))],
        "max": max(seconds),
        "agree": right / max(1, labelled),
        "import": imported,
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def own_judge() -> Callable[[str, str], bool]:
    """Our verifier, one sample at a time."""
    from rewards.math_equivalence import MathEquivalence
    from rewards.verdict import Sample

    verifier = MathEquivalence()

    def judge(gold: str, completion: str) -> bool:
        return verifier.verify(Sample(completion=completion, gold=gold)).score == 1.0

    return judge


def peer_judge() -> Callable[[str, str], bool]:
    """math-verify as its README says."""
    import logging

    from math_verify import parse, verify

    logging.disable(logging.CRITICAL)

    def judge(gold: str, completion: str) -> bool:
        wrapped = gold if "$" in gold or "\\boxed" in gold else f"${gold}$"
        return bool(verify(parse(wrapped), parse(completion)))

    return judge


def hostile() -> list[tuple[str, float, float, float]]:
    """Per hostile family: CPU seconds at 50,000 and at 100,000 repeats, and the growth of memory in MB."""
    judge = own_judge()
    for gold, completion, _ in WARMING:
        judge(gold, completion)
    out = []
    for name, make in HOSTILE.items():
        took = []
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for n in (50_000, 100_000):
            gold, answer = make(n)
            completion = f"\\boxed{{{answer}}}"
            began = time.process_time()
            judge(gold, completion)
            took.append(time.process_time() - began)
        growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        out.append((name, took[0], took[1], growth))
    return out


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--real", type=int, default=600, help="real completions of all files")
    parser.add_argument("--natural", type=int, default=800)
    parser.add_argument("--dev", type=int, default=1400, help="labelled pairs")
    parser.add_argument("--skip-peer", action="store_true")
    parser.add_argument("--tool", choices=["own", "peer"], help=argparse.SUPPRESS)
    parser.add_argument("--set", choices=list(SETS), help=argparse.SUPPRESS)
    parser.add_argument("--hostile", action="store_true", help="only the hostile rows")
    arguments = parser.parse_args()
    counts = {"natural": arguments.natural, "real": arguments.real, "dev": arguments.dev}
    if arguments.tool:
        print(json.dumps(one_tool(arguments.tool, arguments.set, counts[arguments.set])))
        return 0
    if not arguments.hostile:
        compare_tools(counts, arguments.skip_peer)
    print("| hostile answer | CPU ms at 50,000 repeats | at 100,000 | memory growth, MB |\n|---|---:|---:|---:|")
    for name, half, full, growth in hostile():
        print(f"| {name} | {1e3 * half:.1f} | {1e3 * full:.1f} | {growth:.0f} |")
    return 0


def compare_tools(counts: dict[str, int], skip_peer: bool) -> None:
    """Each set with each tool in a process of its own; prints the Markdown table."""
    titles = {
        "natural": "100 MATH problems x 8 completions",
        "real": "real completions, all sources",
        "dev": "labelled pairs, every family",
    }
    print(
        "| pairs | tool | agrees with label | CPU mean | median | p99 | max | pairs per CPU-second | times faster |\n"
        "|---|---|---:|---:|---:|---:|---:|---:|---:|"
    )
    for name in SETS:
        found = {}
        for tool in ("own",) if skip_peer else ("own", "peer"):
            command = [sys.executable, __file__, "--tool", tool, "--set", name]
            for key, value in counts.items():
                command += [f"--{key}", str(value)]
            ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
            found[tool] = json.loads(ran.stdout.strip().splitlines()[-1])
        for tool, row in found.items():
            faster = f"{found['peer']['mean'] / row['mean']:.0f}" if tool == "own" and "peer" in found else ""
            print(
                f"| {titles[name]} ({row['pairs']}) | {'rewards' if tool == 'own' else 'math-verify 0.9'} | "
                f"{row['agree']:.1%} | {1e3 * row['mean']:.3f} ms | {1e3 * row['median']:.3f} | "
                f"{1e3 * row['p99']:.2f} | {1e3 * row['max']:.1f} | "
                f"{1 / row['mean']:,.0f} | {faster} |"
            )
        if "peer" in found:
            print(
                f"| cold import and first pair | rewards / math-verify | | {1e3 * found['own']['import']:.0f} / "
                f"{1e3 * found['peer']['import']:.0f} ms | | | | peak memory {found['own']['rss_mb']:.0f} / "
                f"{found['peer']['rss_mb']:.0f} MB | |"
            )
    print()


if __name__ == "__main__":
    sys.exit(main())
