"""Counts over many verdicts: means, statuses, reasons, pass@k, and what looks wrong."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rewards import __version__
from rewards.expression import Reward
from rewards.scoring import RewardResult
from rewards.verdict import Sample, Status

PASS_AT: Final = (1, 2, 4, 5, 8, 10, 16, 32, 64, 100)
SUSPICIOUS_SHARE: Final = 0.5
"""From this share of rows on, one reason for a zero is worth a warning."""


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Unbiased estimate that at least one of k samples passes: `1 - C(n-c, k) / C(n, k)`.

    Chen et al. 2021, arXiv:2107.03374, equation 1.

    Args:
        n: samples drawn.
        c: of these, how many pass.
        k: samples one may try.

    Returns:
        A probability, or None where it is not defined (k > n): with 2 failed samples pass@5 is unknown, not 1.

    Raises:
        ValueError: counts that cannot be.
    """
    if n < 0 or not 0 <= c <= n or k < 1:
        raise ValueError(f"pass@k needs 0 <= c <= n and k >= 1; got n={n}, c={c}, k={k}")
    if k > n:
        return None
    if n - c < k:
        return 1.0
    return 1.0 - math.prod((n - c - i) / (n - i) for i in range(k))


class Summary:
    """Takes results as they come and tells what there was. Order of the rows changes nothing but float rounding."""

    def __init__(self, reward: Reward) -> None:
        self.reward = reward
        self.rows = 0
        self.bad_lines = 0
        self.statuses: Counter[str] = Counter()
        self.reward_sum = 0.0
        self.component_sums: dict[str, float] = dict.fromkeys(reward.components, 0.0)
        self.component_statuses: dict[str, Counter[str]] = {key: Counter() for key in reward.components}
        self.reasons: dict[str, Counter[str]] = {key: Counter() for key in reward.components}
        self.wall_seconds = 0.0
        self.passing = next(
            (k for k, v in reward.components.items() if v.range[1] == 1.0 and {"gold", "tests"} & set(v.needs)), None
        )
        self._groups: dict[str, list[int]] = {}
        self._unscored_in_groups = 0
        self.unanswered = 0
        """Rows without a completion."""
        self.repeated_ids = 0
        self._first_repeated = ""
        self._ids: set[str] = set()
        self.wanted_ids: frozenset[str] | None = None
        """Ids of the rows that should be there, where the caller knows them: what is missing is then said."""

    def add(self, sample: Sample, result: RewardResult) -> None:
        """Count one row."""
        self.rows += 1
        # Several answers to one prompt share its group and may share its id; rows without a group are each their own.
        if sample.id in self._ids and not sample.group:
            self.repeated_ids += 1
            self._first_repeated = self._first_repeated or sample.id
        self._ids.add(sample.id)
        self.statuses[result.status.value] += 1
        if result.reward is not None:
            self.reward_sum += result.reward
        for key, verdict in result.verdicts.items():
            if key not in self.component_sums:
                continue
            self.component_statuses[key][verdict.status.value] += 1
            self.reasons[key][str(verdict.reason)] += 1
            if verdict.score is not None:
                self.component_sums[key] += verdict.score
        if result.status is Status.INVALID and not result.verdicts:
            self.unanswered += 1
        if self.passing is not None and sample.group:
            passing = result.verdicts.get(self.passing)
            if passing is None or passing.score is None:
                self._unscored_in_groups += 1
            else:
                counts = self._groups.setdefault(sample.group, [0, 0])
                counts[0] += 1
                counts[1] += passing.score >= 1.0

    def add_bad_line(self) -> None:
        """Count a line that was no row."""
        self.bad_lines += 1

    @property
    def error_rate(self) -> float:
        """Share of rows whose reward is unscored for a fault of ours."""
        return self.statuses[Status.ERROR.value] / self.rows if self.rows else 0.0

    @property
    def mean_reward(self) -> float | None:
        """Over scored rows; None where there are none."""
        scored = self.statuses[Status.SCORED.value]
        return self.reward_sum / scored if scored else None

    @property
    def mean_reward_all(self) -> float | None:
        """Over all rows, those without a reward counted as 0; None where there are no rows.

        Beside `mean_reward`: leaving out what could not be judged raises a mean (UKGovernmentBEIS/inspect_ai#3781).
        """
        return self.reward_sum / self.rows if self.rows else None

    @property
    def covered(self) -> tuple[int, int] | None:
        """How many of the wanted ids have a row, and how many are wanted; None where nobody said."""
        if self.wanted_ids is None:
            return None
        return len(self.wanted_ids & self._ids), len(self.wanted_ids)

    def pass_at(self) -> dict[str, float]:
        """pass@k for each k that every group allows; empty when all groups have one sample."""
        sizes = [n for n, _ in self._groups.values()]
        if not sizes or max(sizes) < 2:
            return {}
        out = {}
        for k in PASS_AT:
            values = [pass_at_k(n, c, k) for n, c in self._groups.values()]
            known = [v for v in values if v is not None]
            if len(known) == len(values):
                out[f"pass@{k}"] = sum(known) / len(known)
        return out

    def as_json(self) -> dict[str, Any]:
        """The machine form of the summary."""
        weights = self.reward.additive()
        components: dict[str, Any] = {}
        for key, verifier in self.reward.components.items():
            scored = self.component_statuses[key][Status.SCORED.value]
            mean = self.component_sums[key] / scored if scored else None
            components[key] = {
                "mean": mean,
                "weight": None if weights is None else weights.get(key),
                "weighted_mean": None if weights is None or mean is None else weights.get(key, 0.0) * mean,
                "range": list(verifier.range),
                "fingerprint": verifier.fingerprint,
                "version": verifier.version,
                "settings": verifier.params.model_dump(mode="json"),
                "statuses": dict(self.component_statuses[key]),
                "reasons": dict(self.reasons[key].most_common()),
            }
        return {
            "reward": self.reward.text,
            "fingerprint": self.reward.fingerprint,
            "version": __version__,
            "n": self.rows,
            "bad_lines": self.bad_lines,
            "unanswered": self.unanswered,
            "repeated_ids": self.repeated_ids,
            "covered": self.covered,
            "mean_reward": self.mean_reward,
            "mean_reward_all": self.mean_reward_all,
            "statuses": dict(self.statuses),
            "components": components,
            "groups": len(self._groups),
            "pass_at_k": self.pass_at(),
            "passing_component": self.passing,
            "unscored_in_groups": self._unscored_in_groups,
            "wall_seconds": round(self.wall_seconds, 3),
            "rows_per_second": round(self.rows / self.wall_seconds, 1) if self.wall_seconds else None,
            "warnings": self.warnings(),
        }

    def warnings(self) -> list[str]:
        """What a person should look at before training on this."""
        out = []
        if self.bad_lines:
            out.append(f"{self.bad_lines} line(s) could not be read; each is named above and in the output")
        if self.unanswered:
            out.append(
                f"{self.unanswered} row(s) have no completion (null, or no text in it: `problem` in the output says "
                "which): unscored, not wrong"
            )
        if self.repeated_ids:
            out.append(
                f"{self.repeated_ids} row(s) have an id that another row has, such as {self._first_repeated!r}: a join "
                "on it mixes them up"
            )
        if not self.rows:
            return out
        scored = self.statuses[Status.SCORED.value]
        if not scored:
            out.append("no row is scored; the reasons below say why")
        for key in self.reward.components:
            statuses, reasons = self.component_statuses[key], self.reasons[key]
            if statuses[Status.INVALID.value]:
                out.append(
                    f"{key}: {statuses[Status.INVALID.value]} row(s) unusable: the data's fault, not the model's"
                )
            if statuses[Status.ERROR.value]:
                out.append(f"{key}: {statuses[Status.ERROR.value]} row(s) not judged through a failure of ours")
            seen = statuses[Status.SCORED.value]
            for reason in ("no_answer", "truncated", "missing_tag", "no_tags", "no_code"):
                if seen and reasons[reason] / seen >= SUSPICIOUS_SHARE:
                    out.append(f"{key}: {reasons[reason] / seen:.0%} of the scored rows are {reason}")
            if seen and self.rows >= 8 and self.component_sums[key] == 0.0 and self.reward.components[key].range[1] > 0:
                out.append(f"{key} is 0 on every row; run `rewards explain` on one of them")
        return out

    def table(self) -> str:
        """The form for people, plain text."""
        lines = [f"{self.rows:,} rows in {self.wall_seconds:.1f} s"]
        if self.wall_seconds:
            lines[0] += f" ({self.rows / self.wall_seconds:,.0f} rows per second)"
        mean = self.mean_reward
        shown = "none scored" if mean is None else f"{mean:.4f}"
        lines.append(f"mean reward  {shown}   [{self.reward.text}]")
        unscored = self.rows - self.statuses[Status.SCORED.value]
        if mean is not None and unscored:
            lines.append(f"             {self.mean_reward_all:.4f} with the {unscored} unscored rows counted as 0")
        if self.covered is not None:
            lines.append(f"covered      {self.covered[0]:,} of {self.covered[1]:,} ids have a row")
        lines.append("status       " + _counts(self.statuses))
        rows: list[tuple[str, ...]] = [("component", "mean", "weight", "share", "scored", "reasons")]
        weights = self.reward.additive()
        for key in self.reward.components:
            scored = self.component_statuses[key][Status.SCORED.value]
            average = self.component_sums[key] / scored if scored else None
            weight = None if weights is None else weights.get(key)
            rows.append(
                (
                    key,
                    "-" if average is None else f"{average:.4f}",
                    "-" if weight is None else f"{weight:g}",
                    "-" if weight is None or average is None else f"{weight * average:.4f}",
                    str(scored),
                    _counts(self.reasons[key], most=6),
                )
            )
        lines.append("")
        lines.extend(_aligned(rows))
        passed = self.pass_at()
        if passed:
            lines.append("")
            lines.append(
                f"{self.passing} over {len(self._groups)} groups: "
                + "  ".join(f"{k} {v:.4f}" for k, v in passed.items())
            )
            if self._unscored_in_groups:
                lines.append(f"  ({self._unscored_in_groups} unscored rows left out of their groups)")
        for warning in self.warnings():
            lines.append(f"warning: {warning}")
        return "\n".join(lines)


def _counts(counter: Mapping[str, int], most: int = 10) -> str:
    items = sorted(counter.items(), key=lambda kv: (-kv[1], kv[0]))
    text = ", ".join(f"{name} {count}" for name, count in items[:most])
    return text + (f", {len(items) - most} more" if len(items) > most else "")


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
