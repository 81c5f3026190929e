"""Our step against plain TRL's, side by side: `python tests/benchmarks/step_overhead.py [--steps 120]`.

The same model, data, seed and settings in two processes: one with TRL's `GRPOTrainer` and a trivial reward function,
one with a whole run of `grpo_runner.train`: `math+format` scored in a process of its own, metrics and completions
written, the watch looking on. Each takes one step while the other waits, ours first in every other pair, so that the
machine's load falls on both alike. The learning rate is 1e-12: two models that learn from two rewards soon write texts
of two lengths, and the difference of those is no overhead of ours. Reported are wall seconds per step, which is what a
run waits for on idle cores, CPU seconds of the trainer's process, and the share that waiting for scores takes. Most of
what makes our step the shorter one is that freed memory is kept; `--same-memory` gives that to plain TRL too, and what
is left is the cost of scoring, noting and writing.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

SIDES: Final = ("plain TRL, trivial reward", "ours, math+format")
WARM_UP: Final = 3
"""Steps of each side that are not counted."""


def trivial(completions: list[Any], **columns: Any) -> list[float]:
    """A reward that costs nothing and has spread."""
    return [float(len(c[0]["content"]) % 2) for c in completions]


def train_side(ours: bool, steps: int, same_memory: bool, folder: str, turn: Connection) -> None:
    """In a process of its own: train, each step when `turn` says so; answers with [CPU seconds, wall seconds]."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import torch
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer, PrinterCallback, TrainerCallback
    from trl import GRPOTrainer

    from grpo_runner import data, train
    from grpo_runner.config import RunConfig
    from grpo_runner.starter import CHECKPOINT
    from grpo_runner.trainer import SignalTrainer
    from rewards.expression import Reward

    class Clock(TrainerCallback):  # type: ignore[misc]
        """From the beginning of a step to that of the next, logging and callbacks included."""

        began: tuple[float, float] | None = None

        def on_step_begin(self, *args: Any, **kwargs: Any) -> None:
            if self.began is not None:
                turn.send([time.process_time() - self.began[0], time.perf_counter() - self.began[1]])
            turn.recv()
            self.began = time.process_time(), time.perf_counter()

    class Clocked(SignalTrainer):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.add_callback(Clock())

    config = RunConfig.load(
        None,
        {
            "optimiser.steps": steps + 1,  # the last one is not counted: the end of training falls into it
            "out": folder,
            "evaluation.questions": 0,
            "optimiser.learning_rate": 1e-12,
        },
    )
    questions, held_out = data.load(config)
    if ours:
        train.SignalTrainer = Clocked
        reward = Reward.parse(config.reward)
        train.run(config, reward, reward, questions, held_out, lambda line: None)
        rows = [json.loads(line) for line in Path(folder, "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
        spent = {name: sum(row[f"seconds/{name}"] for row in rows[:steps]) for name in ("scoring", "step")}
        turn.send(spent["scoring"] / spent["step"])
    else:
        torch.set_num_threads(1)
        if same_memory:
            train._keep_freed_memory()
        tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
        prompts = [train.as_conversation(sample, tokenizer).prompt for sample in questions.samples]
        trainer = GRPOTrainer(
            model=AutoModelForCausalLM.from_pretrained(CHECKPOINT, dtype=torch.float32),
            reward_funcs=trivial,
            train_dataset=Dataset.from_dict({"prompt": prompts[: (steps + 1) * config.prompts_per_step]}),
            processing_class=tokenizer,
            args=train.trl_config(config, "cpu"),
            callbacks=[Clock()],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--same-memory", action="store_true", help="plain TRL keeps freed memory too, as ours does")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the seconds of every step")
    given = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    turns: list[Connection] = []
    spent: tuple[list[list[float]], list[list[float]]] = ([], [])
    with tempfile.TemporaryDirectory() as folder:
        processes = []
        for ours in (False, True):
            here, there = spawn.Pipe()
            given_to = (ours, given.steps, given.same_memory, folder, there)
            processes.append(spawn.Process(target=train_side, args=given_to))
            processes[-1].start()
            there.close()
            turns.append(here)
        for step in range(given.steps):
            for side in (0, 1) if step % 2 else (1, 0):
                turns[side].send("go")
                spent[side].append(turns[side].recv())
        for turn in turns:
            turn.send("finish")
        waiting = turns[1].recv()
        for process in processes:
            process.join()
    for place, kind in enumerate(("CPU", "wall")):
        trl, own = ([step[place] for step in side[WARM_UP:]] for side in spent)
        ratios = [b / a for a, b in zip(trl, own, strict=True)]
        print(
            f"{kind} per step: {SIDES[0]} {statistics.median(trl) * 1000:.1f} ms; "
            f"{SIDES[1]} {statistics.median(own) * 1000:.1f} ms; "
            f"ratio of medians {statistics.median(own) / statistics.median(trl):.3f}, "
            f"median of ratios {statistics.median(ratios):.3f}"
        )
    print(f"waiting for scores in our step: {waiting:.1%} of wall time")
    if given.json:
        given.json.write_text(json.dumps(dict(zip(SIDES, spent, strict=True))), encoding="utf-8")


if __name__ == "__main__":
    main()
