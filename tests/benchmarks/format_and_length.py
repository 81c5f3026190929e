"""Speed of the text verifiers beside their peers on the same rows, and the figures that their docstrings state.

    python tests/benchmarks/format_and_length.py [--rows 20000] [--peers DIR] [--skip-language]

Rows are 1.5 kB each, through `rewards.scoring.judge`, on one core, in CPU seconds. Peers are measured where they are
importable: TRL's rewards, and the XML parser of verifiers 0.1 (`pip install --target DIR verifiers==0.1.14`, then
`--peers DIR`: later versions have none). Prose for the repetition and language figures is read from `../shared`.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import random
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rewards.registry import get
from rewards.repetition import repeated_share
from rewards.scoring import judge
from rewards.verdict import Sample, Verdict
from rewards.words import units

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
VOCABULARY = (
    "the of and to in is that we have so number then first total each since equals sum apples day hours price left "
    "adding multiply both sides divide result gives therefore next step need find check value"
)
WORDS = VOCABULARY.split()

OURS: list[tuple[str, dict[str, Any]]] = [
    ("format", {}),
    ("format", {"boxed": True}),
    ("format", {"tags": "think"}),
    ("format_share", {}),
    ("boxed", {}),
    ("answer_line", {}),
    ("regex", {"pattern": r".*</answer>"}),
    ("fenced_code", {}),
    ("overlong", {"max_tokens": 400, "cache": 100}),
    ("cosine_length", {"max_tokens": 400}),
    ("wrong_and_long", {"max_tokens": 300}),
    ("l1_exact", {"target_tokens": 300}),
    ("l1_max", {"target_tokens": 300}),
    ("truncation_penalty", {}),
    ("finished", {}),
    ("kimi_length", {}),
    ("lead_length", {}),
    ("shorter_bonus", {}),
    ("excess_length", {}),
    ("gr3_length", {}),
    ("reasoning_steps", {}),
    ("repetition", {}),
    ("numeric", {}),
    ("exact", {}),
]


def cpu(work: Callable[[], object], repeats: int = 3) -> float:
    """The least CPU seconds of some runs: what else the machine does only ever adds."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def make_rows(count: int) -> list[Sample]:
    """`count` completions of 1.5 kB in the default layout, in groups of eight; a seventh lacks its last tag."""
    random.seed(0)
    rows = []
    for i in range(count):
        text = "<think>\n"
        while len(text) < 1440:
            text += " ".join(random.choices(WORDS, k=11)) + f", that is {i % 97}.\n"
        text = text[:1440] + f"\n</think>\n<answer>\\boxed{{{i % 97}}}" + ("</answer>" if i % 7 else "")
        rows.append(
            Sample(
                id=str(i),
                group=str(i // 8),
                completion=text,
                gold=str(i % 97),
                num_tokens=200 + i % 300,
                truncated=not i % 7,
            )
        )
    return rows


def speed(count: int, peers: Sequence[tuple[str, Callable[[list[Sample]], object]]]) -> None:
    rows = make_rows(count)
    size = sum(len(str(row.completion)) for row in rows) / len(rows)
    print(f"rows per second, {count} rows of {size:.0f} characters, one core")
    read = [Verdict.scored(float(i % 3 == 0)) for i in range(count)]
    for name, params in OURS:
        verifier = get(name)(**params)
        of = read if verifier.reads_of else None
        seconds = cpu(lambda verifier=verifier, of=of: judge(verifier, rows, of))  # type: ignore[misc]
        shown = ", ".join(f"{k}={v}" for k, v in params.items())
        print(f"  ours       {name + ('(' + shown + ')' if shown else ''):48s} {count / seconds:12,.0f}")
    for label, work in peers:
        print(f"  {label:59s} {count / cpu(lambda work=work: work(rows)):12,.0f}")  # type: ignore[misc]


STEPS_SCHEMA = {
    "type": "object",
    "required": ["answer", "steps"],
    "properties": {
        "answer": {"type": "integer"},
        "steps": {
            "type": "array",
            "items": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}},
        },
    },
}


def structured_speed(count: int) -> None:
    """JSON and tool calls on rows of their own, beside the library that does the validating elsewhere."""
    from jsonschema import Draft202012Validator

    random.seed(0)
    values = []
    for i in range(count):
        steps: list[dict[str, Any]] = []
        while len(json.dumps(steps)) < 1420:
            steps.append({"text": " ".join(random.choices(WORDS, k=12)), "step": len(steps)})
        values.append({"answer": i, "steps": steps})
    texts = [json.dumps(value) for value in values]
    print(f"rows per second, {count} JSON rows of {sum(map(len, texts)) / count:.0f} characters, one core")
    rows = [Sample(id=str(i), completion=text) for i, text in enumerate(texts)]
    calls = [
        Sample(
            id=str(i),
            completion=f"<tool_call>\n{json.dumps({'name': 'solve', 'arguments': v})}\n</tool_call>",
        )
        for i, v in enumerate(values)
    ]
    validator = Draft202012Validator(STEPS_SCHEMA)
    schema, tools = get("json_schema")(spec=STEPS_SCHEMA), get("tool_calls")(tools={"solve": STEPS_SCHEMA})
    for label, work in (
        ("ours       json_schema", lambda: judge(schema, rows)),
        ("ours       tool_calls(tools=...)", lambda: judge(tools, calls)),
        ("jsonschema json.loads, is_valid", lambda: [validator.is_valid(json.loads(text)) for text in texts]),
    ):
        print(f"  {label:59s} {count / cpu(work):12,.0f}")


def hostile(peers: Sequence[tuple[str, Callable[[list[Sample]], object]]]) -> None:
    print("\nCPU seconds on hostile text of 1, 2, 4 ... 128 kB (stopped when one takes more than 3 s)")
    families = {
        "<think> over and over": "<think>",
        "<think>a</think> over and over": "<think>a</think>",
        "line breaks": "\n",
    }
    layout = get("format")()
    ours: tuple[str, Callable[[list[Sample]], object]] = ("ours       format", lambda rows: judge(layout, rows))
    for family, unit in families.items():
        print(f"  {family}")
        for label, work in [ours, *[peer for peer in peers if "format" in peer[0]]]:
            times: list[float] = []
            for size in (1000 * 2**k for k in range(8)):
                rows = [Sample(completion="<think>" + unit * (size // len(unit)))]
                times.append(cpu(lambda work=work, rows=rows: work(rows), repeats=1))  # type: ignore[misc]
                if times[-1] > 3:
                    break
            print(f"    {label:36s} " + " ".join(f"{t:7.4f}" for t in times))


def trl_peers() -> list[tuple[str, Callable[[list[Sample]], object]]]:
    try:
        trl = importlib.import_module("trl.rewards")
    except ImportError:
        print("trl is not installed: no peer figures from it")
        return []
    overlong = trl.get_soft_overlong_punishment(400, 100)

    def chats(rows: list[Sample]) -> list[list[dict[str, str]]]:
        return [[{"role": "assistant", "content": str(row.completion)}] for row in rows]

    ids: dict[int, list[int]] = {}

    def overlong_reward(rows: list[Sample]) -> object:
        # The trainer hands token ids over: making them is not part of the reward.
        return overlong(
            completion_ids=[ids.setdefault(n, list(range(n))) for n in (row.num_tokens or 0 for row in rows)]
        )

    peers: list[tuple[str, Callable[[list[Sample]], object]]] = [
        ("TRL        think_format_reward", lambda rows: trl.think_format_reward(chats(rows))),
        ("TRL        get_soft_overlong_punishment", overlong_reward),
    ]
    if hasattr(trl, "get_repetition_penalty_reward"):
        repetition = trl.get_repetition_penalty_reward(ngram_size=20, max_penalty=-1.0)
        word_ids: dict[str, int] = {}

        def repetition_reward(rows: list[Sample]) -> object:
            texts = [[word_ids.setdefault(w, len(word_ids)) for w in str(row.completion).split()] for row in rows]
            return repetition(completions=chats(rows), completion_ids=texts)

        peers.append(("TRL        get_repetition_penalty_reward", repetition_reward))
    return peers


def verifiers_peers(where: str | None) -> list[tuple[str, Callable[[list[Sample]], object]]]:
    if where:
        sys.path.append(where)  # behind everything else: its dependencies must not replace ours
    try:
        verifiers = importlib.import_module("verifiers")
        parser = verifiers.XMLParser(["think", "answer"])
    except (ImportError, AttributeError):
        print("verifiers 0.1 is not importable (see --peers): no peer figures from it")
        return []
    reward = parser.get_format_reward_func()
    return [
        (
            "verifiers  XMLParser format reward",
            lambda rows: [reward([{"role": "assistant", "content": str(row.completion)}]) for row in rows],
        )
    ]


def completions(name: str) -> list[str]:
    with gzip.open(SHARED / "math" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["completion"] for line in lines]


def repetition_figures() -> None:
    print("\nshare of repeated n-grams in honest text, by its length in words")
    with gzip.open(SHARED / "tasks" / "gsm8k_train.jsonl.gz", "rt", encoding="utf-8") as lines:
        prose = units("\n".join(json.loads(line)["prompt"] for line in lines))
    solutions = units("\n".join(completions("gsm8k_qwen2_5-3b-instruct")))
    settings: list[tuple[str, int, int | None]] = [
        ("n=3, no window", 3, None), ("n=3, window=256", 3, 256), ("n=20, no window", 20, None),
    ]  # fmt: skip
    for source, words in (("word problems", prose), ("model solutions", solutions)):
        for label, n, window in settings:
            cells = []
            for length in (500, 2000, 8000, 32000):
                pieces = [words[i * length : (i + 1) * length] for i in range(min(20, len(words) // length))]
                cells.append(sum(repeated_share(p, n, window) for p in pieces) / len(pieces))
            print(f"  {source:16s} {label:16s} " + "  ".join(f"{c:.4f}" for c in cells) + "   (500, 2k, 8k, 32k words)")


def language_figures() -> None:
    from rewards.language import MARGIN, LanguageConsistency, _identifier

    identifier = _identifier()
    texts = completions("gsm8k_qwen2_5-3b-instruct")[:300]
    words = re.findall(r"[^\W\d_]{2,}", re.sub(r"\\[a-z]+|\$[^$]*\$", "", " ".join(texts)))
    print(
        "\nEnglish solutions: share of stretches that the identifier gives to another language, and beyond the margin"
    )
    for letters in (20, 40, 60, 90):
        stretches, now = [], ""
        for word in words:
            now += word + " "
            if len(now) >= letters:
                stretches.append(now)
                now = ""
        gaps = []
        for stretch in stretches:
            ranking = identifier.rank(stretch)
            gaps.append(ranking[0][1] - dict(ranking)["en"])
        first = sum(gap > 0 for gap in gaps) / len(gaps)
        print(f"  {letters} letters: {first:.2%}, {sum(gap > MARGIN for gap in gaps) / len(gaps):.2%} of {len(gaps)}")
    verifier = LanguageConsistency()
    for name in (
        "gsm8k_qwen2_5-3b-instruct",
        "olympiadbench_qwen2_5-3b-instruct",
        "theoremqa_internlm2_math_20b_5shots_short",
    ):
        scores = [
            v.score for v in judge(verifier, [Sample(completion=t) for t in completions(name)]) if v.score is not None
        ]
        below = sum(score < 0.95 for score in scores)
        print(f"  language(en) on {name}: mean {sum(scores) / len(scores):.4f}, {below} of {len(scores)} below 0.95")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--peers", metavar="DIR", help="folder with verifiers 0.1, from pip install --target")
    parser.add_argument("--skip-language", action="store_true")
    arguments = parser.parse_args()
    peers = [*trl_peers(), *verifiers_peers(arguments.peers)]
    speed(arguments.rows, peers)
    structured_speed(arguments.rows // 5)
    hostile(peers)
    if not SHARED.exists():
        print(f"\n{SHARED.name} corpora absent: no repetition and language figures")
        return
    repetition_figures()
    if not arguments.skip_language:
        language_figures()


if __name__ == "__main__":
    main()
