"""Everything that can be found wrong with a run before a model is loaded, all at once.

A fault is what would waste the run; a remark is what may be meant. Both name the setting and the remedy.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from grpo_runner.config import RunConfig
from grpo_runner.data import Questions
from rewards.expression import Reward
from rewards.registry import AnyVerifier
from rewards.verdict import Sample, Status

SHOWN: Final = 3
"""Rows shown for each kind of fault."""


@dataclass(slots=True)
class Findings:
    """Faults stop the run; remarks are printed."""

    faults: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def check_sizes(config: RunConfig, train: Questions, found: Findings) -> None:
    """TRL trains 0 steps on a data set smaller than one generated batch, and says nothing."""
    needed = config.prompts_per_generation
    if len(train) < needed:
        found.faults.append(
            f"data.dataset: {len(train)} usable questions, one generated batch takes {needed} "
            f"({config.sampling.batch_size} completions / {config.sampling.group_size} per question"
            + (f" x {config.settings.updates_per_generation} updates" if needed != config.prompts_per_step else "")
            + "); use more rows, or a smaller --batch-size"
        )
    if train.unusable:
        text = f"data.dataset: {len(train.unusable)} rows left out, such as {'; '.join(train.unusable[:SHOWN])}"
        (found.remarks if len(train) else found.faults).append(text)


def check_needs(reward: Reward, train: Questions, found: Findings) -> None:
    """Each component must find the fields it needs in the rows."""
    for key, verifier in reward.components.items():
        for name in verifier.needs:
            if name in _FROM_GENERATION:
                continue
            lacking = [s.id for s in train.samples if getattr(s, name) is None]
            if not lacking:
                continue
            columns = ", ".join(f"{ours} from {theirs!r}" for ours, theirs in train.columns.items())
            text = (
                f"reward: {key} needs {name}, and {len(lacking)} of {len(train)} rows have none "
                f"(such as {', '.join(lacking[:SHOWN])}); found: {columns}; name the column with --{name}-column"
            )
            (found.faults if len(lacking) == len(train) else found.remarks).append(text)


_FROM_GENERATION: Final = frozenset({"num_tokens", "truncated", "completion", "prompt"})


def check_tasks(reward: Reward, train: Questions, found: Findings) -> None:
    """Every task of the data set has a branch in `route(...)`."""
    known = reward.tasks()
    if known is None:
        return
    unknown = sorted({str(s.task) for s in train.samples if s.task not in known})
    if unknown:
        found.faults.append(
            f"reward: route() has no branch for the tasks {', '.join(unknown[:5])}; it has {', '.join(sorted(known))}; "
            "add a branch or default=..."
        )


def boxed(gold: Any) -> str:
    """A completion that states the gold as its final answer."""
    shown = gold[0] if isinstance(gold, list | tuple) and gold else gold
    return f"The answer is \\boxed{{{shown}}}."


def changed(gold: Any) -> Any:
    """Another value of the same kind, so a judge that accepts it would accept anything."""
    if isinstance(gold, list | tuple) and gold:
        return [changed(gold[0])]
    if isinstance(gold, bool):
        return not gold
    if isinstance(gold, int | float):
        return gold + 1
    text = str(gold)
    try:
        return str(int(text.replace(",", "")) + 1)
    except ValueError:
        return f"{text} + 7919"


def check_gold_column(reward: Reward, train: Questions, found: Findings) -> None:
    """A column of essays, or of one value, is not a column of answers."""
    if not any("gold" in verifier.needs for verifier in reward.components.values()):
        return
    golds = [s.gold for s in train.samples if s.gold is not None]
    column = train.columns.get("gold")
    essays = [g for g in golds if isinstance(g, str) and len(g.split()) > ESSAY_WORDS]
    if golds and len(essays) > len(golds) / 2:
        found.faults.append(
            f"data.gold_column: {len(essays)} of {len(golds)} golds in column {column!r} are texts of more than "
            f"{ESSAY_WORDS} words, such as {essays[0][:60]!r}: looks like the wrong one (a worked solution?); "
            "set --gold-column to the column with the answer alone"
        )
    holes = [s for s in train.samples if isinstance(s.gold, str) and s.gold.strip().lower() in PLACEHOLDERS]
    if holes and len(holes) > len(golds) / 100:
        found.faults.append(
            f"data.gold_column: {len(holes)} of {len(golds)} golds in column {column!r} are placeholders such as "
            f"{holes[0].gold!r} (row {holes[0].id}); remove these rows"
        )
    if len(golds) >= 16 and len({repr(g) for g in golds}) == 1:
        found.faults.append(
            f"data.gold_column: every row of column {column!r} holds {str(golds[0])[:60]!r}: looks like the wrong one; "
            "set --gold-column"
        )


ESSAY_WORDS: Final = 25
PLACEHOLDERS: Final = frozenset({"n/a", "na", "nan", "none", "null", "todo", "tbd", "unknown", "?", "-", "undefined"})
"""Texts that stand for "no answer here" in data sets; a judge that compares text would accept them."""
GOLD_SECONDS: Final = 60.0
"""Time for trying golds on themselves; what is left over is said."""
_CHUNK: Final = 64


def check_golds(reward: Reward, train: Questions, found: Findings, limit: int | None = None) -> None:
    """Every gold, boxed, must get full marks from what judges it, and a changed copy of it must not.

    A column that holds the worked solution instead of the answer fails here, not after a night of reward 0.
    """
    samples = [s for s in train.samples if s.gold is not None][:limit]
    distinct: dict[str, Sample] = {}
    for sample in samples:
        distinct.setdefault(repr(sample.gold), sample)
    asked = list(distinct.values())
    for key, verifier in reward.components.items():
        if "gold" in verifier.needs and verifier.scope == "sample" and not verifier.reads_of and asked:
            _try_golds(key, verifier, asked, train.columns.get("gold"), found)


def _try_golds(key: str, verifier: AnyVerifier, asked: list[Sample], column: str | None, found: Findings) -> None:
    from rewards.scoring import judge

    top = verifier.range[1]
    bad: list[tuple[Sample, str]] = []
    lax: list[Sample] = []
    began = time.monotonic()
    tried = 0
    for start in range(0, len(asked), _CHUNK):
        if time.monotonic() - began > GOLD_SECONDS:
            found.remarks.append(f"data.gold_column: {tried} of {len(asked)} golds tried in {GOLD_SECONDS:.0f} s")
            break
        part = asked[start : start + _CHUNK]
        tried += len(part)
        itself = judge(verifier, [_answered(s, boxed(s.gold)) for s in part])
        other = judge(verifier, [_answered(s, boxed(changed(s.gold))) for s in part])
        for sample, own, copy in zip(part, itself, other, strict=True):
            if own.score is None or own.score < top:
                bad.append((sample, own.detail or str(own.reason)))
            elif copy.score is not None and copy.score >= top:
                lax.append(sample)
    if bad:
        rows = "; ".join(f"{s.id}: gold {str(s.gold)[:60]!r}: {why[:100]}" for s, why in bad[:SHOWN])
        text = (
            f"data.gold_column: {len(bad)} of {tried} distinct golds do not get full marks from {key} when given back "
            f"in a box ({rows})"
        )
        if len(bad) > tried / 2:
            found.faults.append(f"{text}; column {column!r} looks like the wrong one: set --gold-column")
        elif len(bad) > tried / 100:
            found.faults.append(f"{text}; correct or remove these rows")
        else:
            found.remarks.append(text)
    if lax:
        rows = "; ".join(f"{s.id}: {str(s.gold)[:40]!r} accepts {str(changed(s.gold))[:40]!r}" for s in lax[:SHOWN])
        text = f"data.gold_column: {len(lax)} of {tried} golds accept a changed copy from {key} ({rows})"
        (found.faults if len(lax) > tried / 100 else found.remarks).append(text)


def _answered(sample: Sample, completion: str) -> Sample:
    return replace(sample, completion=completion, num_tokens=16, truncated=False)


def check_lengths(config: RunConfig, reward: Reward, found: Findings) -> None:
    """A length penalty whose limit generation can never reach punishes nothing; one far below punishes everything."""
    limit = config.sampling.max_new_tokens
    for key, verifier in reward.components.items():
        top = getattr(verifier.params, "max_tokens", None)
        if isinstance(top, int) and top > limit:
            found.remarks.append(
                f"reward: {key} has max_tokens = {top}, generation stops at sampling.max_new_tokens = {limit}: "
                f"it can never reach its limit; set --max-new-tokens {top} or {key}(max_tokens={limit}, ...)"
            )


def check_constant(reward: Reward, train: Questions, found: Findings) -> None:
    """The reward must tell different completions apart on rows of this data set."""
    asked = train.samples[:8]
    probes: list[Sample] = []
    for sample in asked:
        answer = boxed(sample.gold) if sample.gold is not None else "42"
        for text in ("", "I do not know.", answer, f"<think>so</think><answer>{answer}</answer>", "word " * 400):
            probes.append(_answered(sample, text))
    results = reward.score(probes)
    values = {result.reward for result in results if result.reward is not None}
    unscored = [result for result in results if result.reward is None]
    if not values and unscored:
        first = next(iter(v for v in unscored[0].verdicts.values() if v.status is not Status.SCORED), None)
        found.faults.append(
            f"reward: no row of a sample of {len(asked)} can be scored"
            + (f": {first.detail or first.reason}" if first is not None else "")
        )
    elif len(values) == 1 and not any(v.scope == "group" for v in reward.components.values()):
        found.faults.append(
            f"reward: {reward.text!r} gives {next(iter(values)):g} to every one of {len(probes)} different answers; "
            "a constant reward teaches nothing"
        )


def check(config: RunConfig, reward: Reward, train: Questions, *, golds: int | None = None) -> Findings:
    """All of the above. `golds` limits how many golds are tried (None: every distinct one)."""
    found = Findings()
    check_sizes(config, train, found)
    if len(train):
        check_needs(reward, train, found)
        check_tasks(reward, train, found)
        check_lengths(config, reward, found)
        check_gold_column(reward, train, found)
        if not found.faults:
            check_golds(reward, train, found, golds)
        if not found.faults and "tests" not in reward.needs:
            check_constant(reward, train, found)
    return found


def lines(findings: Sequence[str]) -> str:
    """As a list for people."""
    return "\n".join(f"  - {line}" for line in findings)
