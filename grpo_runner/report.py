"""One HTML page about a run: curves as inline SVG, held-out accuracy, answers before and after with their verdicts.

The page stands alone: no script, no font, no image from elsewhere, and a content security policy that would refuse
them. Whatever a model wrote is escaped, its control characters made visible and its writing direction isolated.

Reads what a run wrote (`metrics.jsonl`, `evaluations.jsonl`, `answers-*.jsonl`, `completions/*.parquet`, `config.json`,
`summary.json`); what is absent, in a run that was killed or has not ended, is left out.
"""

from __future__ import annotations

import html
import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rewards.verdict import message_text

MAX_TEXT_SHOWN: Final = 6000
"""Characters of one completion on the page; the files keep the rest."""
MAX_ANSWERS_SHOWN: Final = 16
MAX_GROUPS_SHOWN: Final = 3
MAX_POINTS: Final = 500
"""Points of one line."""

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 560, 250, 52, 14, 12, 30
_COLOURS: Final = ("c1", "c2", "c3", "c4", "c5", "c6")
_CAUSES: Final = ("right", "wrong", "unscored", "truncated", "equal")


class ReportError(ValueError):
    """There is no run in the folder; the message says what was looked for."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What a run's folder holds.

    Attributes:
        metrics: one row per optimiser step, as `callbacks.Recorder` writes them.
        evaluations: held-out accuracy by step.
        before, after: the greedy held-out answers with their verdicts.
        first, last: the completions of the earliest and the latest recorded step.
    """

    folder: Path
    metrics: list[dict[str, Any]]
    evaluations: list[dict[str, Any]] = field(default_factory=list)
    before: list[dict[str, Any]] = field(default_factory=list)
    after: list[dict[str, Any]] = field(default_factory=list)
    first: list[dict[str, Any]] = field(default_factory=list)
    last: list[dict[str, Any]] = field(default_factory=list)
    config: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)


def read(folder: Path) -> RunRecord:
    """The record of a run.

    Raises:
        ReportError: the folder holds no metrics.jsonl with a row.
    """
    if not folder.is_dir():
        raise ReportError(f"{folder}: no such folder; give the folder that a run was written to (--out)")
    metrics = _rows(folder / "metrics.jsonl")
    if not metrics:
        raise ReportError(f"{folder}: no metrics.jsonl with a step in it; is this the folder of a run?")
    files = sorted((folder / "completions").glob("step-*.parquet"))
    return RunRecord(
        folder=folder,
        metrics=metrics,
        evaluations=_rows(folder / "evaluations.jsonl"),
        before=_rows(folder / "answers-before.jsonl"),
        after=_rows(folder / "answers-after.jsonl"),
        first=_parquet(files[0]) if files else [],
        last=_parquet(files[-1]) if len(files) > 1 else [],
        config=_object(folder / "config.json"),
        summary=_object(folder / "summary.json"),
    )


def write(folder: Path, out: Path | None = None) -> Path:
    """Write the page (default: `report.html` in the run's folder), whole or not at all, and give its path.

    Raises:
        ReportError: there is no run in `folder`, or `out` cannot be written.
    """
    page = render(read(folder))
    target = out if out is not None else folder / "report.html"
    part = target.with_name(target.name + ".part")
    try:
        # Models emit lone surrogates; a page with a question mark beats no page.
        part.write_text(page, encoding="utf-8", errors="replace")
        os.replace(part, target)
    except OSError as error:
        raise ReportError(f"{target}: cannot be written: {error.strerror}") from None
    return target


def _rows(path: Path) -> list[dict[str, Any]]:
    """Whole rows; a last line that a kill cut short is left out."""
    out: list[dict[str, Any]] = []
    if path.is_file():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                break
            if isinstance(row, dict):
                out.append(row)
    return out


def _object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _parquet(path: Path) -> list[dict[str, Any]]:
    try:
        import pyarrow.parquet
    except ImportError:
        return []
    rows: list[dict[str, Any]] = pyarrow.parquet.read_table(path).to_pylist()
    return rows


# ---------------------------------------------------------------- text


def escape(value: Any, limit: int = MAX_TEXT_SHOWN) -> str:
    """Text for the page: escaped, control characters as their pictures, cut at `limit` with the count of the rest."""
    text = value if isinstance(value, str) else "" if value is None else str(value)
    rest = len(text) - limit
    if rest > 0:
        text = text[:limit]
    shown = "".join(
        chr(0x2400 + ord(c)) if ord(c) < 32 and c not in "\n\t" else "\u2421" if c == "\x7f" else c for c in text
    )
    return html.escape(shown) + (f"<i>… {rest:,} more characters</i>" if rest > 0 else "")


def _prompt(value: Any) -> str:
    """A prompt as text: messages (also as JSON text, as Parquet holds them) by their contents."""
    if isinstance(value, str) and value.startswith("[{"):
        try:
            value = json.loads(value)
        except ValueError:
            return str(value)
    if isinstance(value, list):
        texts: list[str] = [message_text(m.get("content")) for m in value if isinstance(m, Mapping)]
        return "\n".join(texts)
    return str(value)


def _finite(value: Any) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and math.isfinite(value) else None


def _number(value: float) -> str:
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


# ---------------------------------------------------------------- curves


@dataclass(frozen=True, slots=True)
class Series:
    """One line: (step, value) points in order; None breaks the line. `dots` marks the points, `band` adds whiskers."""

    name: str
    points: Sequence[tuple[float, float | None]]
    dots: bool = False
    band: Sequence[tuple[float, float] | None] = ()


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round values that cover low..high in steps of 1, 2 or 5 times a power of ten."""
    if high <= low:
        pad = abs(low) * 0.1 or 1.0
        low, high = low - pad, high + pad
    raw = (high - low) / count
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(m * magnitude for m in (1, 2, 5, 10) if m * magnitude >= raw * 0.999)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _thinned(points: Sequence[tuple[float, float | None]]) -> list[tuple[float, float | None]]:
    """At most `MAX_POINTS` points: a long run's neighbours become their mean, since no screen shows them apart."""
    size = -(-len(points) // MAX_POINTS)
    if size <= 1:
        return list(points)
    out: list[tuple[float, float | None]] = []
    for start in range(0, len(points), size):
        bucket = points[start : start + size]
        known = [y for _, y in bucket if y is not None]
        out.append((bucket[-1][0], sum(known) / len(known) if known else None))
    return out


def _smoothed(points: Sequence[tuple[float, float | None]], window: int) -> list[tuple[float, float | None]]:
    out: list[tuple[float, float | None]] = []
    for i, (x, _) in enumerate(points):
        near = [y for _, y in points[max(0, i - window) : i + window + 1] if y is not None]
        out.append((x, sum(near) / len(near) if near else None))
    return out


def chart(title: str, series: Sequence[Series], *, stacked: bool = False, share: bool = False, note: str = "") -> str:
    """A line chart, or stacked areas, as a <figure>; empty where no series has a value.

    Args:
        share: values are shares of one: the axis runs from 0 to 1 in percent.
    """
    series = [s for s in series if any(y is not None for _, y in s.points)]
    if not series:
        return ""
    tops: list[list[tuple[float, float | None]]] = []
    if stacked:
        below: dict[float, float] = {}
        for one in series:
            line: list[tuple[float, float | None]] = []
            for x, y in one.points:
                below[x] = below.get(x, 0.0) + (y or 0.0)
                line.append((x, below[x]))
            tops.append(line)
    else:
        tops = [list(one.points) for one in series]
    xs = [x for line in tops for x, _ in line]
    ys = [y for line in tops for _, y in line if y is not None]
    ys += [edge for one in series for pair in one.band if pair is not None for edge in pair]
    x_low, x_high = min(xs), max(xs)
    if share:
        marks = [0.0, 0.25, 0.5, 0.75, 1.0]
        if max(ys) <= 0.25:
            marks = ticks(0.0, max(max(ys), 0.01), 4)
    else:
        # From zero where that does not flatten the line: 0.2..0.6 yes, 1.2..1.8 no.
        from_zero = stacked or 0 <= min(ys) <= max(ys) - min(ys)
        marks = ticks(0.0 if from_zero else min(ys), max(ys))
    y_low, y_high = marks[0], marks[-1]

    def px(x: float) -> float:
        span = x_high - x_low
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * ((x - x_low) / span if span else 0.5)

    def py(y: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - (y - y_low) / (y_high - y_low))

    parts = []
    for mark in marks:
        label = f"{_number(mark * 100)}%" if share else _number(mark)
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{py(mark):.1f}" y2="{py(mark):.1f}"/>'
            f'<text class="axis" x="{_LEFT - 6}" y="{py(mark) + 4:.1f}" text-anchor="end">{label}</text>'
        )
    steps = [m for m in ticks(x_low, x_high, 6) if x_low <= m <= x_high and m == int(m)] or [x_low]
    for mark in steps:
        parts.append(
            f'<text class="axis" x="{px(mark):.1f}" y="{_HEIGHT - 10}" text-anchor="middle">{_number(mark)}</text>'
        )
    floor: list[tuple[float, float | None]] = [(x, 0.0) for x, _ in tops[0]]
    for i, (one, line) in enumerate(zip(series, tops, strict=True)):
        colour = _COLOURS[i % len(_COLOURS)]
        if stacked:
            edge = [*line, *reversed(floor)]
            path = " ".join(f"{px(x):.1f},{py(y or 0.0):.1f}" for x, y in edge)
            parts.append(
                f'<polygon class="area {colour}" points="{path}"><title>{html.escape(one.name)}</title></polygon>'
            )
            floor = line
            continue
        many = len(line) >= 40 and not one.dots
        parts.append(f'<path class="line {colour}{" thin" if many else ""}" d="{_path(line, px, py)}"/>')
        if many:
            parts.append(f'<path class="line {colour}" d="{_path(_smoothed(line, len(line) // 25 + 1), px, py)}"/>')
        for pair, (x, y) in zip(one.band, line, strict=False):
            if pair is not None and y is not None:
                parts.append(
                    f'<line class="whisker {colour}" x1="{px(x):.1f}" x2="{px(x):.1f}" '
                    f'y1="{py(pair[0]):.1f}" y2="{py(pair[1]):.1f}"/>'
                )
        for x, y in line if one.dots or len(line) < 2 else ():
            if y is not None:
                label = f"{html.escape(one.name)}, step {_number(x)}: {y:.4g}"
                place = f'cx="{px(x):.1f}" cy="{py(y):.1f}" r="4"'
                parts.append(f'<circle class="dot {colour}" {place}><title>{label}</title></circle>')
    legend = "".join(
        f'<span class="key"><span class="swatch {_COLOURS[i % len(_COLOURS)]}"></span>{html.escape(s.name)}'
        f"{_last(s, share)}</span>"
        for i, s in enumerate(series)
    )
    described = html.escape(f"{title}, by optimiser step")
    return (
        f'<figure class="chart"><figcaption>{html.escape(title)}</figcaption>'
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{described}">{"".join(parts)}</svg>'
        f'<div class="legend">{legend}</div>{f"<p class=note>{note}</p>" if note else ""}</figure>'
    )


def _last(series: Series, share: bool) -> str:
    value = next((y for _, y in reversed(series.points) if y is not None), None)
    if value is None:
        return ""
    return f" <b>{value:.1%}</b>" if share else f" <b>{_number(value)}</b>"


def _path(line: Sequence[tuple[float, float | None]], px: Any, py: Any) -> str:
    out: list[str] = []
    pen = "M"
    for x, y in line:
        if y is None:
            pen = "M"
            continue
        out.append(f"{pen}{px(x):.1f} {py(y):.1f}")
        pen = "L"
    return " ".join(out)


def _curves(run: RunRecord) -> str:
    def line(key: str, name: str | None = None) -> Series:
        return Series(name or key, _thinned([(float(row["step"]), _finite(row.get(key))) for row in run.metrics]))

    names = list(dict.fromkeys(key for row in run.metrics for key in row if key.endswith("/score")))
    accuracy = [row for row in run.evaluations if _finite(row.get("greedy")) is not None]
    intervals = [tuple(row["greedy_interval"]) if row.get("greedy_interval") else None for row in accuracy]
    held_out = Series("greedy, held out", [(row["step"], row["greedy"]) for row in accuracy], True, intervals)
    sampled = [row for row in run.evaluations if _finite(row.get("pass_1")) is not None]
    k = max((row.get("samples") or 0 for row in sampled), default=0)
    draws = [
        Series(label, [(row["step"], _finite(row.get(key))) for row in sampled], True)
        for key, label in (("pass_1", "pass@1"), ("pass_k", f"pass@{k}"), ("maj_k", f"maj@{k}"))
        if k > 1 or key == "pass_1"
    ]
    scoring = sum(_finite(row.get("seconds/scoring")) or 0.0 for row in run.metrics)
    whole = sum(_finite(row.get("seconds/step")) or 0.0 for row in run.metrics)
    causes = [line(f"flat/{cause}", f"all {cause}") for cause in _CAUSES]
    charts = [
        chart("Reward, mean of the batch", [line("reward")]),
        chart(
            "Held-out accuracy", [held_out, *draws], share=True,
            note="Whiskers: 95% bootstrap interval over questions." if accuracy else "",
        ),
        chart("Components, mean score", [line(key, key.removesuffix("/score")) for key in names]),
        chart(
            "Groups without spread, by cause", causes, stacked=True, share=True,
            note="A group whose completions all earn the same teaches nothing.",
        ),
        chart("Spread: deviation of the reward within groups", [line("reward_std", "reward_std")]),
        chart("Completion length, tokens", [line("length", "mean")]),
        chart(
            "Cut off and unscored, share of completions", [line("truncated"), line("unscored")], share=True
        ),
        chart("KL to the reference", [line("kl", "kl")]),
        chart("Entropy of the policy, nats per token", [line("entropy", "entropy")]),
        chart("Gradient norm", [line("grad_norm", "before clipping")]),
        chart(
            "Seconds per step",
            [line(f"seconds/{part}", part) for part in ("generation", "scoring", "optimisation")],
            stacked=True,
            note=f"Scoring takes {scoring / whole:.1%} of the step." if whole else "",
        ),
    ]  # fmt: skip
    return f'<section><h2>Curves</h2><div class="charts">{"".join(charts)}</div></section>'


# ---------------------------------------------------------------- answers


def _is_right(row: Mapping[str, Any]) -> bool | None:
    """True, False, or None where the answer has no verdict."""
    if row.get("reward") is None:
        return None
    if "right" in row:
        return row["right"] if isinstance(row["right"], bool) else None
    return bool(row["reward"] >= 1.0)


def _verdicts(row: Mapping[str, Any]) -> str:
    """The verdicts of one answer, as chips with the reason; takes both shapes in which a run writes them."""
    found: Mapping[str, Any] = row.get("verdicts") or {}
    if not found:
        keys = [key.removesuffix("/status") for key in row if key.endswith("/status")]
        found = {k: {part: row.get(f"{k}/{part}") for part in ("status", "score", "reason", "detail")} for k in keys}
    chips = []
    for key, verdict in found.items():
        score = _finite(verdict.get("score"))
        kind = "none" if score is None else "good" if score > 0 else "bad"
        value = str(verdict.get("status")) if score is None else _number(score)
        detail = escape(verdict.get("detail") or "", 400)
        chips.append(
            f'<span class="chip {kind}" title="{detail}"><b>{escape(key, 60)}</b> {escape(value, 40)} '
            f"<i>{escape(verdict.get('reason'), 60)}</i></span>"
        )
    if row.get("truncated"):
        chips.append('<span class="chip bad">cut off</span>')
    return "".join(chips)


def _answer(row: Mapping[str, Any] | None, title: str) -> str:
    if row is None:
        return f'<div class="answer"><h4>{title}</h4><p class="note">not recorded</p></div>'
    right = _is_right(row)
    word = "unscored" if right is None else "right" if right else "wrong"
    tokens = f", {row['num_tokens']} tokens" if row.get("num_tokens") is not None else ""
    return (
        f'<div class="answer"><h4>{title} <span class="mark {word}">{word}</span><small>{tokens}</small></h4>'
        f"<pre>{escape(row.get('completion') or '')}</pre>{_verdicts(row)}</div>"
    )


def _answers(run: RunRecord) -> str:
    """Held-out answers side by side, the changed ones first; a table of what became of them."""
    if not run.before and not run.after:
        return ""
    before = {row["id"]: row for row in run.before}
    after = {row["id"]: row for row in run.after}
    ids = list(dict.fromkeys([*before, *after]))
    moves: Counter[tuple[str, str]] = Counter()
    kinds: dict[str, list[str]] = {}

    def word(row: Mapping[str, Any] | None) -> str:
        right = None if row is None else _is_right(row)
        return "unscored" if right is None else "right" if right else "wrong"

    for name in ids:
        move = (word(before.get(name)), word(after.get(name)))
        moves[move] += 1
        kinds.setdefault(" to ".join(move), []).append(name)
    table = ""
    if before and after:
        words = [w for w in ("right", "wrong", "unscored") if any(w in move for move in moves)]
        head = "".join(f"<th>{w} after</th>" for w in words)
        body = "".join(
            f"<tr><th>{a} before</th>" + "".join(f"<td>{moves[(a, b)]:,}</td>" for b in words) + "</tr>" for a in words
        )
        table = f"<table><tr><th></th>{head}</tr>{body}</table>"
    # What changed says most; then what stayed wrong; then what was right all along. Take turns among the kinds.
    order = ["wrong to right", "right to wrong", "wrong to wrong", "unscored to right", "right to right"]
    lists = [kinds[k] for k in [*order, *(k for k in kinds if k not in order)] if k in kinds]
    chosen: list[str] = []
    while len(chosen) < min(MAX_ANSWERS_SHOWN, len(ids)):
        for names in lists:
            if names and len(chosen) < MAX_ANSWERS_SHOWN:
                chosen.append(names.pop(0))
    cards = []
    for name in chosen:
        row = after.get(name) or before[name]
        cards.append(
            f'<article><p class="prompt">{escape(_prompt(row.get("prompt", "")), 2000)}</p>'
            f'<p class="gold">gold <code>{escape(row.get("gold"), 300)}</code> <small>{escape(name, 80)}</small></p>'
            f'<div class="pair">{_answer(before.get(name), "before")}{_answer(after.get(name), "after")}</div>'
            "</article>"
        )
    return (
        f"<section><h2>Held-out answers, before and after</h2>{table}{_reasons(run)}"
        f'<p class="note">{len(chosen)} of {len(ids)}, greedy decoding; those that changed come first.</p>'
        f"{''.join(cards)}</section>"
    )


def _reasons(run: RunRecord) -> str:
    """How often each reason was given, before and after."""
    counts: list[Counter[tuple[str, str]]] = []
    for rows in (run.before, run.after):
        counts.append(
            Counter((key, str(v.get("reason"))) for row in rows for key, v in (row.get("verdicts") or {}).items())
        )
    keys = sorted({*counts[0], *counts[1]}, key=lambda k: (k[0], -(counts[0][k] + counts[1][k])))
    if not keys:
        return ""
    body = "".join(
        f"<tr><th>{escape(name, 60)}: {escape(reason, 60)}</th><td>{counts[0][(name, reason)]:,}</td>"
        f"<td>{counts[1][(name, reason)]:,}</td></tr>"
        for name, reason in keys[:20]
    )
    return f"<table><tr><th>reason</th><th>before</th><th>after</th></tr>{body}</table>"


def _training(run: RunRecord) -> str:
    """Whole groups of the first and the last recorded step, with rewards and advantages."""
    out = []
    for rows in (run.first, run.last):
        if not rows:
            continue
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            groups.setdefault(str(row.get("group")), []).append(row)
        # A group with spread shows what the step learned from.
        spread = sorted(groups.values(), key=lambda g: -len({r.get("reward") for r in g}))
        cards = []
        for group in spread[:MAX_GROUPS_SHOWN]:
            group.sort(key=lambda r: -math.inf if (value := _finite(r.get("reward"))) is None else value, reverse=True)
            items = "".join(
                f'<li><span class="mark">{_reward(r)}</span>'
                f"<small>advantage {_number(_finite(r.get('advantage')) or 0.0)}</small>"
                f"<pre>{escape(r.get('completion') or '', 1500)}</pre>{_verdicts(r)}</li>"
                for r in group
            )
            gold = escape(group[0].get("gold"), 300)
            cards.append(
                f"<details><summary>{escape(_prompt(group[0].get('prompt', '')), 300)}</summary>"
                f'<p class="gold">gold <code>{gold}</code></p><ol class="group">{items}</ol>'
                "</details>"
            )
        out.append(f"<h3>Step {escape(rows[0].get('step'), 20)}</h3>{''.join(cards)}")
    return f"<section><h2>Completions in training</h2>{''.join(out)}</section>" if out else ""


def _reward(row: Mapping[str, Any]) -> str:
    value = _finite(row.get("reward"))
    return "unscored" if value is None else _number(value)


# ---------------------------------------------------------------- the page


def _headline(run: RunRecord) -> str:
    def share(row: Mapping[str, Any], key: str) -> str:
        value = _finite(row.get(key))
        if value is None:
            return "–"
        interval = row.get(f"{key}_interval")
        text = f"{value:.1%}"
        return text + (f" <small>[{interval[0]:.1%}, {interval[1]:.1%}]</small>" if interval else "")

    before = next((row for row in run.evaluations if row.get("when") == "before"), None)
    after = next((row for row in reversed(run.evaluations) if row.get("when") == "after"), None)
    tiles = []
    for key, label in (("greedy", "greedy accuracy"), ("pass_1", "pass@1"), ("pass_k", "pass@k"), ("maj_k", "maj@k")):
        if before is None and after is None:
            break
        sample = (after or before or {}).get("samples") or 0
        if all(_finite((row or {}).get(key)) is None for row in (before, after)) or (key.endswith("_k") and sample < 2):
            continue
        name = label.replace("@k", f"@{sample}")
        tiles.append(
            f'<div class="tile"><span>held-out {name}</span>'
            f"<strong>{share(before or {}, key)} → {share(after or {}, key)}</strong></div>"
        )
    first, last = run.metrics[0], run.metrics[-1]
    if (a := _finite(first.get("reward"))) is not None and (b := _finite(last.get("reward"))) is not None:
        tiles.append(f'<div class="tile"><span>training reward</span><strong>{a:.3f} → {b:.3f}</strong></div>')
    generated = sum(_finite(row.get("completions_generated")) or 0 for row in run.metrics)
    seconds = run.summary.get("seconds") or {}
    total = _finite(seconds.get("total")) or sum(_finite(row.get("seconds/step")) or 0 for row in run.metrics)
    tiles.append(
        f'<div class="tile"><span>steps, completions, time</span>'
        f"<strong>{len(run.metrics):,}, {generated:,.0f}, {_time(total)}</strong></div>"
    )
    questions = (after or before or {}).get("questions")
    note = (
        f'<p class="note">Held out: {questions} questions, each judged by the same reward objects.</p>'
        if questions
        else ""
    )
    stopped = run.summary.get("stopped")
    warning = f'<p class="warning">Stopped: {escape(stopped, 500)}</p>' if stopped else ""
    if not run.summary:
        warning = '<p class="warning">The run has not ended, or was killed: there is no summary.json.</p>'
    return f'{warning}<div class="tiles">{"".join(tiles)}</div>{note}'


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _settings(config: Mapping[str, Any]) -> str:
    if not config:
        return ""
    body = []
    for name, value in config.items():
        if isinstance(value, Mapping):
            body += [(f"{name}.{key}", inner) for key, inner in value.items()]
        else:
            body.append((name, value))
    rows = "".join(
        f"<tr><th>{escape(key, 80)}</th><td><code>{escape(json.dumps(value), 500)}</code></td></tr>"
        for key, value in body
        if value not in (None, {}, [])
    )
    return f"<section><details><summary>Settings of the run</summary><table>{rows}</table></details></section>"


_STYLE: Final = """
:root{--bg:#fbfbfa;--card:#fff;--ink:#1c1e21;--soft:#5f666d;--rule:#e2e4e6;--good:#0a7a53;--bad:#b3261e;--none:#8a6d00;
--c1:#0067b1;--c2:#d55e00;--c3:#009e73;--c4:#b0478d;--c5:#a07700;--c6:#3fa0d8}
@media(prefers-color-scheme:dark){:root{--bg:#15171a;--card:#1d2024;--ink:#e8eaed;--soft:#a3abb3;--rule:#33383d;
--good:#5fd0a2;--bad:#ff8a80;--none:#e3c35a;--c1:#62b5f5;--c2:#ff9d5c;--c3:#4fd1a5;--c4:#e38cc6;--c5:#d9b44a;--c6:#9ad4f5}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1240px;padding:28px 22px 60px;background:var(--bg);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:24px;margin:0 0 2px}h2{font-size:19px;margin:34px 0 12px}h3{font-size:16px;margin:20px 0 8px}
h4{margin:0 0 6px;font-size:14px}small,.note,.sub{color:var(--soft)}.note{font-size:13px;margin:6px 0}
.sub{margin:0 0 18px}code,pre{font:13px/1.45 ui-monospace,"SF Mono",Menlo,Consolas,monospace}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:0 0 8px;padding:8px 10px;background:var(--bg);
border:1px solid var(--rule);border-radius:6px;max-height:320px;overflow:auto;unicode-bidi:isolate}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(250px,1fr));gap:12px}
.tile{background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:12px 14px}
.tile span{display:block;color:var(--soft);font-size:13px}.tile strong{font-size:18px;font-weight:600}
.tile small{font-weight:400;font-size:12px}
.warning{border-left:4px solid var(--bad);padding:8px 12px;background:var(--card)}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,380px),1fr));gap:14px}
.chart{margin:0;background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:10px 12px}
figcaption{font-weight:600;font-size:14px}svg{width:100%;height:auto;display:block}
.grid{stroke:var(--rule);stroke-width:1}.axis{fill:var(--soft);font:14px system-ui,sans-serif}
.line{fill:none;stroke:var(--k);stroke-width:2.2;stroke-linejoin:round}.line.thin{stroke-width:1;opacity:.4}
.area{fill:var(--k);opacity:.85}.dot{fill:var(--k)}.whisker{stroke:var(--k);stroke-width:1.5;opacity:.7}
.swatch{display:inline-block;width:11px;height:11px;border-radius:3px;background:var(--k);margin-right:5px}
.c1{--k:var(--c1)}.c2{--k:var(--c2)}.c3{--k:var(--c3)}.c4{--k:var(--c4)}.c5{--k:var(--c5)}.c6{--k:var(--c6)}
.legend{display:flex;flex-wrap:wrap;gap:4px 14px;font-size:13px;margin-top:4px}
table{border-collapse:collapse;margin:8px 0;font-size:14px;background:var(--card)}
th,td{border:1px solid var(--rule);padding:4px 10px;text-align:left}td{font-variant-numeric:tabular-nums}
article,details{background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:12px 14px;
margin:0 0 12px}
summary{cursor:pointer;white-space:pre-wrap;overflow-wrap:anywhere}.prompt{white-space:pre-wrap;margin:0 0 4px;
font-weight:600;overflow-wrap:anywhere;unicode-bidi:isolate}
.gold{margin:0 0 8px;color:var(--soft)}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(300px,1fr));gap:14px}
.mark{font-weight:600}.mark.right{color:var(--good)}.mark.wrong{color:var(--bad)}.mark.unscored{color:var(--none)}
.chip{display:inline-block;border:1px solid var(--rule);border-radius:999px;padding:1px 9px;font-size:12.5px;
margin:0 6px 4px 0}.chip.good b{color:var(--good)}.chip.bad,.chip.bad b{color:var(--bad)}.chip.none b{color:var(--none)}
.chip i{color:var(--soft);font-style:normal}.group{padding-left:22px}
.group li{margin-bottom:8px}.group small{margin-left:8px}
"""


def render(run: RunRecord) -> str:
    """The page of a run."""
    model = (run.config.get("model") or {}).get("name") or "the bundled starter"
    algorithm = (run.config.get("algorithm") or {}).get("name", "")
    data = (run.config.get("data") or {}).get("dataset") or "generated arithmetic"
    reward = run.config.get("reward", "")
    sub = f"{escape(model, 200)} on {escape(data, 200)}, reward <code>{escape(reward, 400)}</code>"
    sub += f", {escape(algorithm, 40)}" if algorithm else ""
    sections: Iterable[str] = (_headline(run), _curves(run), _answers(run), _training(run), _settings(run.config))
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    name = escape(run.folder.resolve().name, 120)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>GRPO run {name}</title><style>{_STYLE}</style></head><body>"
        f'<h1>GRPO run {name}</h1><p class="sub">{sub}</p>{"".join(sections)}</body></html>\n'
    )
