"""How far `ifeval(mode="official")` agrees with a port of IFBench's checks, run side by side on the same responses.

Usage: pip install --no-deps if-verifiable immutabledict && python tests/benchmarks/ifbench_agreement.py [FOLDER]

Every one of the 58 instruction types is tried on the golden rows of `tests/cases/instructions.jsonl`, on shortened and
rearranged copies of them and, where FOLDER (default: ../shared/data/ifeval, beside the repository) holds
`responses_*.jsonl.gz`, on those responses, cut and rearranged so that rare properties occur. The port is given NLTK's
sentence splitting, which the published code has used since spring 2026, and its stop words without a download.
Prints agreement by type and each type's disagreements with their cause.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
import types
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from rewards.instructions import CATALOGUE, InstructionFollowing, ifbench_types
from rewards.instructions.english import STOP_WORDS
from rewards.instructions.response import OfficialResponse
from rewards.scoring import judge
from rewards.verdict import Sample, Status

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data" / "ifeval"
PER_TYPE = 150
CAUSES = {
    "count:pronouns": "the published list of pronouns has grown since the port was made",
    "ratio:overlap": "the port counts trigrams of characters; the published check now counts them of words",
    "ratio:sentence_words": "the port does not look for repeated words; the published check now does",
    "count:word_count_range": "NLTK 3.10 takes vowel signs of Thai and Indic scripts for letters; Python's re does not",
    "custom:sentence_alphabet": "the port takes a quotation mark for a letter; the published check no longer does",
    "repeat:repeat_span": "the port cuts the span by characters; the published check now does by words",
    "format:title_case": "the port passes words of one letter; the published check now looks at them",
    "format:quote_unquote": "the port fails on digits and marks alone (IndexError); the published check does not",
    "words:words_position": "the port counts marks as words; the published check no longer does",
    "words:keywords_specific_position": "the port counts marks as words; the published check no longer does",
    "count:person_names": "the port finds names inside words; the published check no longer does",
    "count:keywords_multiple": "the port counts substrings; the published check counts words",
}
# Needs a tagger that NLTK downloads.
LEFT_OUT = {"words:start_verb"}


def port() -> dict[str, Any]:
    """The port's checks by id, without its download and its loader of data sets."""
    import nltk

    nltk.download = lambda *_, **__: True
    nltk.sent_tokenize = lambda text, *_: OfficialResponse(text).sentences
    nltk.word_tokenize = lambda text, *_: OfficialResponse(text).tokens
    words = types.SimpleNamespace(words=lambda *_: sorted(STOP_WORDS))
    nltk.corpus.stopwords = words
    from if_verifiable.ifbench import instructions_registry, instructions_util

    instructions_util.split_into_sentences = lambda text: OfficialResponse(text).sentences
    found: dict[str, Any] = instructions_registry.INSTRUCTION_DICT
    return found


def rearranged(text: str, rng: random.Random) -> str:
    """A copy in which something rare holds: one sentence, few words, a staircase, one word a line, emoji, no blanks."""
    lines = text.split("\n")
    return rng.choice([
        text.split(".")[0] + ".",
        " ".join(text.split()[: rng.randint(1, 6)]),
        "\n".join(" " * (2 * place) + line.strip() for place, line in enumerate(lines[: rng.randint(1, 6)])),
        "\n".join(text.split()[:20]),
        lines[0],
        text.title(),
        "".join(text.split()),
        text.replace(".", ". \U0001f600").replace("!", "! \U0001f389"),
        text.replace(".", rng.choice("?!")),
        text,
    ])  # fmt: skip


def jobs(folder: Path) -> list[tuple[str, dict[str, Any], str]]:
    """(instruction id, arguments, response), the same on every run."""
    rng = random.Random(0)
    golden = [json.loads(line) for line in (ROOT / "tests/cases/instructions.jsonl").open(encoding="utf-8")]
    texts = [row["completion"] for row in golden if len(row["completion"]) < 20_000]
    for path in sorted(folder.glob("responses_*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            texts += [json.loads(line)["completion"] for line in lines]
    ours = [row for row in golden if row["instruction"] in ifbench_ids() and row["official"] in (True, False)]
    out = [(row["instruction"], row["kwargs"], row["completion"]) for row in ours]
    for name in ifbench_ids():
        kwargs = [row["kwargs"] for row in ours if row["instruction"] == name]
        out += [(name, rng.choice(kwargs), rearranged(rng.choice(texts), rng)) for _ in range(PER_TYPE) if kwargs]
    return out


def ifbench_ids() -> list[str]:
    return [name for name in CATALOGUE if CATALOGUE[name].checks["official"].__module__ == ifbench_types.__name__]


def theirs(checks: dict[str, Any], name: str, kwargs: dict[str, Any], text: str) -> bool | str:
    """What the port says, or the exception it ends with."""
    try:
        check = checks[name](name)
        check.build_description(**kwargs)
        return bool(text.strip() and check.check_following(text))
    except Exception as error:  # its faults are what is counted here
        return type(error).__name__


def main(folder: Path) -> int:
    try:
        checks = port()
    except ImportError as error:
        print(f"{error}; pip install --no-deps if-verifiable immutabledict")
        return 2
    work = [job for job in jobs(folder) if job[0] not in LEFT_OUT]
    samples = [
        Sample(id=str(n), completion=text, tests={"kind": "instructions", "instruction_id_list": [i], "kwargs": [k]})
        for n, (i, k, text) in enumerate(work)
    ]
    verdicts = judge(InstructionFollowing(mode="official"), samples)
    total: Counter[str] = Counter()
    agree: Counter[str] = Counter()
    followed: Counter[str] = Counter()
    apart: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (name, kwargs, text), verdict in zip(work, verdicts, strict=True):
        ours = bool(verdict.score) if verdict.status is Status.SCORED else verdict.status.value
        other = theirs(checks, name, kwargs, text)
        total[name] += 1
        followed[name] += ours is True
        agree[name] += ours == other
        if ours != other:
            apart[name][f"port {other}, ours {ours}"] += 1
    for name in sorted(total):
        print(f"  {name:34s} {agree[name]:4d}/{total[name]:4d}  ({followed[name]} followed)")
    unexplained = 0
    print("\ndisagreements:")
    for name, kinds in sorted(apart.items()):
        crashes = all("Error" in kind for kind in kinds)
        cause = CAUSES.get(name) or ("the port ends with an exception" if crashes else "UNEXPLAINED")
        unexplained += sum(kinds.values()) if cause == "UNEXPLAINED" else 0
        print(f"  {name}: {cause}: {dict(kinds)}")
    print(f"\nleft out: {', '.join(sorted(LEFT_OUT))} (a tagger that NLTK downloads)")
    print(f"agreement {sum(agree.values())}/{sum(total.values())} = {sum(agree.values()) / sum(total.values()):.2%}")
    print(f"disagreements without a named cause: {unexplained}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED))
