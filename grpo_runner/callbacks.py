"""What a run leaves behind, written while it runs, so that a killed run has lost nothing but its last step.

    metrics.jsonl                   one row per optimiser step
    completions/step-000012.parquet every completion of the step with its verdicts, one file per step
    evaluations.jsonl               held-out accuracy: before, in between, after
    answers-before.jsonl, -after    the greedy held-out answers with their verdicts
    alerts.jsonl                    what the watch found, and at which step
    reward.png                      reward, components and held-out accuracy over the steps

All files are written by the main process alone; Parquet and PNG files appear whole or not at all.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from grpo_runner.evaluate import Accuracy, Evaluator
from grpo_runner.run_files import read_jsonl, write_jsonl, write_line, write_parquet
from grpo_runner.trainer import CAUSES, SignalTrainer
from grpo_runner.watch import Alert, Watch

_RENAMED: Final[Mapping[str, str]] = {
    "reward": "reward",
    "reward_std": "reward_std",
    "frac_reward_zero_std": "flat_groups",
    "completions/mean_length": "length",
    "completions/clipped_ratio": "truncated",
    "completions_generated": "completions_generated",
    "resampled_groups": "resampled_groups",
    "groups_with_spread": "groups_with_spread",
    "unscored": "unscored",
    "kl": "kl",
    "entropy": "entropy",
    "grad_norm": "grad_norm",
    "learning_rate": "learning_rate",
    "loss": "loss",
    "clip_ratio/region_mean": "clipped",
    "num_tokens": "tokens",
}
"""TRL's metric to the key of a row of metrics.jsonl."""


class Recorder(TrainerCallback):  # type: ignore[misc]
    """The live line, metrics.jsonl, the completions.

    Args:
        out: the run's folder.
        components: keys of the reward's components, in order.
        steps: optimiser steps of the whole run.
        completions_every: write the completions every so many steps; 0 means never.
        say: takes each live line.
        watch: sees every step; None looks away.
        alarm: called with an alert that ends the run.
    """

    def __init__(
        self,
        out: Path,
        components: Sequence[str],
        steps: int,
        completions_every: int,
        say: Callable[[str], None],
        watch: Watch | None = None,
        alarm: Callable[[Alert], None] | None = None,
    ) -> None:
        self.out = out
        self.components = list(components)
        self.steps = steps
        self.completions_every = completions_every
        self.say = say
        self.watch = watch
        self.alarm = alarm
        self.trainer: SignalTrainer | None = None
        self.rows: list[dict[str, Any]] = []
        self.evaluation_seconds = 0.0
        self._began = 0.0
        self._before: dict[str, float] = {}
        self._seconds: dict[str, float] = {}
        self._written: Any = None

    def start(self, trainer: SignalTrainer, from_step: int) -> None:
        """Tie the recorder to its trainer; rows after `from_step` (0 for a fresh run) are dropped from the files."""
        self.trainer = trainer
        if not trainer.accelerator.is_main_process:
            return
        path = self.out / "metrics.jsonl"
        kept = [row for row in read_jsonl(path) if row["step"] <= from_step] if from_step else []
        write_jsonl(path, kept)
        self.rows = kept
        alerts = self.out / "alerts.jsonl"
        write_jsonl(alerts, [row for row in read_jsonl(alerts) if row["step"] <= from_step] if from_step else [])
        folder = self.out / "completions"
        folder.mkdir(exist_ok=True)
        for old in folder.glob("step-*.parquet*"):
            if old.suffix != ".parquet" or int(old.stem.removeprefix("step-")) > from_step:
                old.unlink()

    def on_step_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        assert self.trainer is not None
        self._began = time.perf_counter()
        self._before = dict(self.trainer.seconds)

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        assert self.trainer is not None
        whole = time.perf_counter() - self._began
        parts = {name: spent - self._before[name] for name, spent in self.trainer.seconds.items()}
        self._seconds = {**parts, "optimisation": whole - sum(parts.values()), "step": whole}

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        if logs is None or "grad_norm" not in logs:
            return  # the summary at the end of training is no step
        row: dict[str, Any] = {"step": state.global_step}
        row.update({ours: logs[theirs] for theirs, ours in _RENAMED.items() if logs.get(theirs) is not None})
        row.update({f"{key}/score": logs[f"{key}/score"] for key in self.components if f"{key}/score" in logs})
        row.update({f"flat/{cause}": logs[name] for cause in CAUSES if (name := f"flat_groups/{cause}") in logs})
        row.update({f"seconds/{name}": round(spent, 4) for name, spent in self._seconds.items()})
        self.rows.append(row)
        self._look(row, state.is_world_process_zero)
        if not state.is_world_process_zero:
            return
        write_line(self.out / "metrics.jsonl", row)
        self._completions(state.global_step)
        self.say(live_line(row, self.components, self.steps))

    def _look(self, row: Mapping[str, Any], is_main: bool) -> None:
        """Every process looks at the same gathered numbers, so all come to the same end."""
        if self.watch is None or self.trainer is None:
            return
        for alert in self.watch.observe(row, self.trainer.batch.columns):
            if is_main:
                write_line(self.out / "alerts.jsonl", {"step": row["step"], **asdict(alert)})
                self.say(f"{'STOP' if alert.severity == 'stop' and self.alarm else 'WARNING'}: {alert.message}")
            if alert.severity == "stop" and self.alarm is not None:
                self.alarm(alert)

    def _completions(self, step: int) -> None:
        assert self.trainer is not None
        batch = self.trainer.batch
        if not self.completions_every or step % self.completions_every or batch is self._written:
            return
        self._written = batch  # several optimiser steps may share one generated batch
        columns = {"step": [step] * batch.generated, **batch.columns}
        write_parquet(self.out / "completions" / f"step-{step:06d}.parquet", columns)


class Midway(TrainerCallback):  # type: ignore[misc]
    """Greedy held-out accuracy every so many steps."""

    def __init__(self, evaluator: Evaluator, every: int, note: Callable[[int, Accuracy], None]) -> None:
        self.evaluator = evaluator
        self.every = every
        self.note = note

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, model: Any = None, **kwargs: Any
    ) -> None:
        if state.global_step % self.every == 0 and state.global_step < state.max_steps:
            self.note(state.global_step, self.evaluator.run(model))


class StopWhenAsked(TrainerCallback):  # type: ignore[misc]
    """Ends the run after the step in hand, with a checkpoint, once `reason` is set (Ctrl-C, or the watch).

    With several processes all stop together as soon as one is asked to: one that stopped alone would leave the others
    waiting for it in the next exchange.
    """

    def __init__(self) -> None:
        self.reason: str | None = None

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any) -> None:
        if args.world_size > 1:
            import torch
            from accelerate.utils import reduce

            asked = torch.tensor([float(self.reason is not None)], device=args.device)
            if float(reduce(asked, reduction="sum")) > 0 and self.reason is None:
                self.reason = "another process was asked to stop"
        if self.reason is not None:
            control.should_training_stop = True


def live_line(row: Mapping[str, Any], components: Sequence[str], steps: int) -> str:
    """One step as one line of text."""

    def number(key: str, form: str = ".3f") -> str:
        return format(row[key], form) if isinstance(row.get(key), int | float) else "-"

    parts = [f"step {row['step']:>{len(str(steps))}}/{steps}", f"reward {number('reward')}"]
    parts += [f"{key} {number(f'{key}/score', '.2f')}" for key in components]
    causes = [f"{cause} {row[f'flat/{cause}']:.0%}" for cause in CAUSES if row.get(f"flat/{cause}")]
    parts.append(f"flat {number('flat_groups', '.0%')}" + (f" ({', '.join(causes)})" if causes else ""))
    parts.append(f"length {number('length', '.1f')}")
    if row.get("truncated"):
        parts.append(f"cut {number('truncated', '.0%')}")
    if row.get("unscored"):
        parts.append(f"unscored {number('unscored', '.0%')}")
    if "kl" in row:
        parts.append(f"kl {number('kl', '.4f')}")
    if row.get("resampled_groups"):
        parts.append(f"resampled {number('resampled_groups', '.0f')}")
    seconds = (("generate", "generation"), ("score", "scoring"), ("optimise", "optimisation"))
    parts.append("  ".join(f"{verb} {number(f'seconds/{name}', '.2f')}s" for verb, name in seconds))
    return "  ".join(parts)


def say_line(text: str) -> None:
    """To standard output, at once, also through a pipe."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
