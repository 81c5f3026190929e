"""Our step against plain TRL's, side by side: `python tests/benchmarks/step_overhead.py [--steps 120]`.

The same model, data, seed and settings: once through TRL's `GRPOTrainer` with a trivial reward function, once through
`SignalTrainer` with the recorder writing metrics and completions, the watch looking on, and `math+format` as the
reward. Steps of the two are taken in turn in one process, so that the machine's load falls on both alike. The learning
rate is 1e-12: two models that learn from two rewards soon write texts of two lengths, and the difference of those is
no overhead of ours. Scores come from a process of their own, as in a run. Reported are wall seconds per step, which is
what a run waits for on idle cores, CPU seconds of this process, and the share that waiting for scores takes. One run
in four is off by 3% either way: two trainers in one process do not share its caches evenly.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, PrinterCallback, TrainerCallback
from trl import GRPOTrainer

from grpo_runner import data, train
from grpo_runner.callbacks import Recorder
from grpo_runner.config import RunConfig
from grpo_runner.prompts import PromptSource
from grpo_runner.starter import CHECKPOINT
from grpo_runner.trainer import SignalTrainer
from grpo_runner.watch import Facts, Watch
from rewards.expression import Reward
from rewards.integrations.trl import TrlReward
from rewards.scoring_process import ScoringProcess


class Turns:
    """Lets two trainers in two threads take one step each in turn."""

    def __init__(self, names: list[str]) -> None:
        import threading

        self.names = names
        self.condition = threading.Condition()
        self.turn = 0
        self.done: set[str] = set()

    def wait(self, name: str) -> None:
        with self.condition:
            self.condition.wait_for(lambda: self.names[self.turn] == name)

    def give(self, name: str, last: bool = False) -> None:
        with self.condition:
            if last:
                self.done.add(name)
            others = [n for n in self.names if n != name and n not in self.done]
            self.turn = self.names.index(others[0]) if others else self.names.index(name)
            self.condition.notify_all()


class Clock(TrainerCallback):  # type: ignore[misc]
    """CPU and wall seconds of the process per step, logging and callbacks included."""

    def __init__(self, name: str, turns: Turns) -> None:
        self.name, self.turns = name, turns
        self.cpu: list[float] = []
        self.wall: list[float] = []
        self._began: tuple[float, float] | None = None

    def on_step_begin(self, *args: Any, **kwargs: Any) -> None:
        if self._began is not None:
            self.cpu.append(time.process_time() - self._began[0])
            self.wall.append(time.perf_counter() - self._began[1])
            self.turns.give(self.name)
        self.turns.wait(self.name)
        self._began = time.process_time(), time.perf_counter()

    def on_train_end(self, *args: Any, **kwargs: Any) -> None:
        self.turns.give(self.name, last=True)


def trivial(completions: list[Any], **columns: Any) -> list[float]:
    """A reward that costs nothing and has spread."""
    return [float(len(c[0]["content"]) % 2) for c in completions]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--same-reward", action="store_true", help="the trivial reward on both sides")
    given = parser.parse_args()
    torch.set_num_threads(1)
    import threading

    with tempfile.TemporaryDirectory() as folder:
        config = RunConfig.load(
            None,
            {
                "optimiser.steps": given.steps,
                "out": folder,
                "evaluation.questions": 0,
                "optimiser.learning_rate": 1e-12,
            },
        )
        questions, _ = data.load(config)
        tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
        samples = [train.as_conversation(s, tokenizer) for s in questions.samples]
        ticks = [s.prompt for s in samples][: given.steps * config.prompts_per_step]
        turns = Turns(["trl", "ours"])
        clocks = {name: Clock(name, turns) for name in turns.names}
        reward = Reward.parse(config.reward)
        stops = [tokenizer.eos_token_id, tokenizer.pad_token_id]
        function = TrlReward(reward, stop_token_ids=stops, process=ScoringProcess(reward))
        common = {"processing_class": tokenizer, "train_dataset": Dataset.from_dict({"prompt": ticks})}

        def model() -> Any:
            return AutoModelForCausalLM.from_pretrained(CHECKPOINT, dtype=torch.float32)

        plain = GRPOTrainer(
            model=model(),
            reward_funcs=trivial,
            args=train.trl_config(config, "cpu"),
            callbacks=[clocks["trl"]],
            **common,
        )
        facts = Facts("math", 0.0, 1.0, {"format": ("think", "answer")}, "<think> <answer>", 64)
        watch = Watch(facts, config.watch.patience)
        recorder = Recorder(Path(folder), list(reward.components), given.steps, 1, lambda text: None, watch)
        ours = SignalTrainer(
            model=model(),
            reward_funcs=trivial if given.same_reward else function,
            args=train.trl_config(config, "cpu"),
            callbacks=[recorder, clocks["ours"]],
            rows=[{"prompt": s.prompt, "id": s.id, "gold": s.gold} for s in samples],
            source=PromptSource(len(samples), 0),
            primary=("math", (0.0, 1.0)),
            **common,
        )
        for trainer in (plain, ours):
            trainer.remove_callback(PrinterCallback)
        recorder.start(ours, 0)
        threads = [threading.Thread(target=t.train) for t in (plain, ours)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        function.process.close()
        reward.close()
        scoring = sum(row["seconds/scoring"] for row in recorder.rows) / sum(
            row["seconds/step"] for row in recorder.rows
        )
        shown = "trivial reward" if given.same_reward else config.reward
        for kind in ("CPU", "wall"):
            trl, own = (getattr(clocks[name], kind.lower())[3:] for name in turns.names)
            ratios = [b / a for a, b in zip(trl, own, strict=True)]
            print(
                f"{kind} per step: plain TRL, trivial reward {statistics.median(trl) * 1000:.1f} ms; "
                f"ours, {shown} {statistics.median(own) * 1000:.1f} ms; "
                f"ratio of medians {statistics.median(own) / statistics.median(trl):.3f}, "
                f"median of ratios {statistics.median(ratios):.3f}"
            )
        print(f"waiting for scores in our step: {scoring:.1%} of wall time")


if __name__ == "__main__":
    main()
