"""TRL's `GRPOTrainer` with its signal watched: flat groups give exactly nothing, and may be replaced.

Three things are laid over TRL, each through a method that it calls itself:

- A group whose rewards are all equal gives an advantage of exactly 0. TRL 1.16 divides what float32 leaves of
  `reward - mean` by `std + 1e-4`: with a constant reward of 0.2 that is 1e-4 instead of 0, which AdamW scales up to
  steps the size of the learning rate, and its own metric then reads 0% of groups without spread. Here the largest
  minus the smallest reward decides.
- Questions come from a `PromptSource`, so that they can be drawn again (`resample`), ordered by difficulty, and
  resumed exactly; the data loader that TRL builds only keeps time.
- Scoring starts as soon as there are completions, beside the log-probabilities that TRL computes next. Seconds for
  generation and seconds spent waiting for scores are measured apart.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import os
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from accelerate.utils import gather_object
from datasets import Dataset
from transformers import LogitsProcessor, LogitsProcessorList
from transformers.generation.logits_process import (
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR
from trl import GRPOTrainer
from trl.trainer.utils import pad

from grpo_runner.prompts import PromptSource
from rewards.integrations.trl import TrlReward

SPREAD_NOISE: Final = 2.0**-20
"""Largest minus smallest reward, relative to the larger in size, up to which a group counts as flat: eight units in
the last place of float32, which is what TRL keeps rewards in. 0.1 + 0.2 and 0.3 are one reward."""

SOURCE_FILE: Final = "prompt_source.json"
"""Written last into a checkpoint, so its presence says that the checkpoint is whole."""

CAUSES: Final = ("right", "wrong", "unscored", "truncated", "equal")


@dataclass(slots=True)
class Batch:
    """The latest generated batch, gathered over all processes: what was asked, answered and found.

    Kept as columns (name to one value per completion, all of one length), as TRL logs them and Parquet stores them:
    a dict per completion made and taken apart again cost more than everything else that is noted of a step.
    """

    columns: dict[str, list[Any]] = field(default_factory=dict)
    flat_groups: int = 0
    groups: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    generated: int = 0
    truncated: float = 0.0


def flat_groups(rewards: torch.Tensor, group_size: int) -> torch.Tensor:
    """Which groups have no spread: (rows, columns) of rewards, NaN where unscored, to (groups,) of bool.

    A group is flat when in every column its scored rewards are equal up to `SPREAD_NOISE`, or there are none.
    """
    grouped = rewards.double().view(-1, group_size, rewards.shape[1])
    unscored = torch.isnan(grouped)
    high = grouped.masked_fill(unscored, -torch.inf).amax(dim=1)
    low = grouped.masked_fill(unscored, torch.inf).amin(dim=1)
    allowed = SPREAD_NOISE * torch.maximum(high.abs(), low.abs())
    nothing = unscored.all(dim=1)
    return (nothing | (high - low <= allowed)).all(dim=1)


class SeededRows(LogitsProcessor):  # type: ignore[misc]
    """Samples each row from a random generator of its own, so that its text does not depend on its neighbours.

    The Gumbel-max trick: the largest of logit + Gumbel noise is a draw from the softmax. What is left for the sampler
    is one token. The price is one small random draw per row and token in Python; the gain is that a run on two
    processes writes the same completions as on one.
    """

    def __init__(self, seeds: Sequence[str], temperature: float, top_k: int, top_p: float, min_p: float | None) -> None:
        self.generators = [torch.Generator().manual_seed(_number_of(seed)) for seed in seeds]
        self.warpers = [TemperatureLogitsWarper(temperature)]
        if top_k:
            self.warpers.append(TopKLogitsWarper(top_k))
        if top_p < 1.0:
            self.warpers.append(TopPLogitsWarper(top_p))
        if min_p is not None:
            self.warpers.append(MinPLogitsWarper(min_p))

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        for warper in self.warpers:
            scores = warper(input_ids, scores)
        width = scores.shape[-1]
        noise = torch.stack([torch.empty(width).exponential_(generator=g) for g in self.generators])
        chosen = (scores.float() - noise.log().to(scores.device)).argmax(dim=-1, keepdim=True)
        return torch.full_like(scores, -torch.inf).scatter_(-1, chosen, 0.0)


def _number_of(seed: str) -> int:
    return int.from_bytes(hashlib.blake2b(seed.encode(), digest_size=7).digest(), "big")


class SignalTrainer(GRPOTrainer):  # type: ignore[misc]  # TRL ships no types
    """See the module's docstring.

    Args:
        rows: one dict per question, with `prompt` and the columns that the reward function takes.
        source: gives the indices of the next questions.
        questions_asked: how many questions the whole run asks, replacements apart.
        primary: key of the component that says what is right, and its (lowest, highest) score; names the cause of a
            flat group and feeds the pass rates of `source`.
        resample_budget: None trains on what comes. A number replaces flat groups by fresh questions, generating at
            most this many times the batch per step (DAPO's dynamic sampling, arXiv 2503.14476, section 3.2).
        row_seeds: draw every completion from a generator of its own; see `SeededRows`.
    """

    def __init__(
        self,
        *args: Any,
        rows: Sequence[dict[str, Any]],
        source: PromptSource,
        primary: tuple[str, tuple[float, float]],
        questions_asked: int,
        resample_budget: float | None = None,
        row_seeds: bool = False,
        **kwargs: Any,
    ) -> None:
        self.rows = rows
        self.source = source
        self.primary, (self._lowest, self._highest) = primary
        self.resample_budget = resample_budget
        self.row_seeds = row_seeds
        self._first_row = 0
        self._rounds = 0
        self._asked: list[dict[str, Any]] = []
        self.batch = Batch()
        self.seconds = {"generation": 0.0, "scoring": 0.0}
        self._rewards_now: torch.Tensor | None = None
        super().__init__(*args, train_dataset=Dataset.from_dict({"prompt": [""] * questions_asked}), **kwargs)

    # ------------------------------------------------------------ time

    def _generate(self, prompts: list[Any]) -> Any:
        began = time.perf_counter()
        try:
            generated = super()._generate(prompts)
        finally:
            self.seconds["generation"] += time.perf_counter() - began
        if self.model.training and self._asked:
            _, completion_ids, _, completions, *_ = generated
            columns = {key: [row[key] for row in self._asked] for key in self._asked[0] if key != "prompt"}
            for function in self.reward_funcs:
                if isinstance(function, TrlReward):
                    function.begin(prompts, completions, completion_ids, **columns)
        return generated

    def _calculate_rewards(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        began = time.perf_counter()
        rewards: torch.Tensor = super()._calculate_rewards(*args, **kwargs)
        self._rewards_now = rewards
        self.seconds["scoring"] += time.perf_counter() - began
        return rewards

    # ------------------------------------------------------------ generation

    def _tokenize_prompts(self, prompts: list[Any]) -> Any:
        """Each question once: TRL renders and tokenises it again for every completion of its group."""
        distinct = {id(prompt): prompt for prompt in prompts}  # TRL's deep copy keeps the copies of one prompt one
        if len(distinct) == len(prompts) or self.environment_factories is not None:
            return super()._tokenize_prompts(prompts)
        ids, images, multimodal_fields = super()._tokenize_prompts(list(distinct.values()))
        if images is not None or multimodal_fields:  # laid out by the whole batch, not by its rows
            return super()._tokenize_prompts(prompts)
        of = dict(zip(distinct, ids, strict=True))
        return [list(of[id(prompt)]) for prompt in prompts], None, {}

    def _generate_single_turn(self, prompt_ids: list[list[int]], *args: Any, **kwargs: Any) -> Any:
        if not (self.row_seeds and self.model.training):
            return super()._generate_single_turn(prompt_ids, *args, **kwargs)
        moment = f"{self.args.seed}/{self.state.global_step}/{self._rounds}"
        seeds = [f"{moment}/{self._first_row + i}" for i in range(len(prompt_ids))]
        processor = SeededRows(seeds, self.temperature, self.top_k, self.top_p, self.min_p)
        model = self.accelerator.unwrap_model(self.model)
        generate = model.generate
        # TRL gives no way in for a logits processor, so it is bound to the model's own method for this call.
        model.generate = functools.partial(generate, logits_processor=LogitsProcessorList([processor]))
        try:
            return super()._generate_single_turn(prompt_ids, *args, **kwargs)
        finally:
            del model.generate

    # ------------------------------------------------------------ the batch

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        if not self.model.training:
            return super()._generate_and_score_completions(inputs)  # type: ignore[no-any-return]
        needed = len(inputs) * self.accelerator.num_processes // self.num_generations
        asked = self.source.take(needed)
        self.batch = Batch(groups=needed)
        self._rounds = 0
        output, flat = self._round(asked)
        self.batch.flat_groups = int(flat.sum())
        causes = dict(self.batch.causes)  # of the questions as they come; later rounds add theirs
        if self.resample_budget is not None:
            output = self._refill(output, flat, asked, needed)
        metrics = self._metrics["train"]
        metrics["frac_reward_zero_std"][-1] = self.batch.flat_groups / max(1, needed)
        for cause in CAUSES:
            metrics[f"flat_groups/{cause}"].append(causes.get(cause, 0) / max(1, needed))
        metrics["completions_generated"].append(float(self.batch.generated))
        return output

    def _round(self, asked: Sequence[int]) -> tuple[dict[str, Any], torch.Tensor]:
        """One generation over all processes; flat groups get advantage 0. The output holds this process's share."""
        size = self.num_generations
        everyone = [index for index in asked for _ in range(size)]
        share = len(everyone) // self.accelerator.num_processes
        start = share * self.accelerator.process_index
        mine = [dict(self.rows[index]) for index in everyone[start : start + share]]
        self._first_row = start
        self._asked = mine
        output: dict[str, Any] = super()._generate_and_score_completions(mine)
        assert self._rewards_now is not None
        rewards = self._rewards_now.detach().cpu()
        columns = rewards
        if self.multi_objective_aggregation == "sum_then_normalize":
            columns = (rewards.double() * self.reward_weights.double()).nansum(dim=1, keepdim=True)
            columns[torch.isnan(rewards).all(dim=1)] = torch.nan
        flat = flat_groups(columns, size)
        flat_rows = flat.repeat_interleave(size)[start : start + share]
        output["advantages"] = output["advantages"].masked_fill(flat_rows.to(output["advantages"].device), 0.0)
        self._rounds += 1
        self._note(everyone, flat)
        return output, flat

    def _note(self, everyone: Sequence[int], flat: torch.Tensor) -> None:
        """Keep the gathered rows, name the cause of every flat group, and update the pass rates."""
        size, count = self.num_generations, len(everyone)
        extra = {name: list(values)[-count:] for name, values in self._logs["extra"].items()}
        completions = list(self._logs["completion"])[-count:]
        advantages = list(self._logs["advantages"])[-count:]
        scores = extra.get(f"{self.primary}/score", [None] * count)
        truncated = extra.get("truncated", [None] * count)
        statuses = extra.get("status", [None] * count)
        weights = self.reward_weights.tolist()
        rewards = [list(self._logs["rewards"][name])[-count:] for name in self.reward_func_names]
        for name, values in extra.items():
            # TRL averages the processes' means, which is another number where they scored unequally many rows.
            scored = [value for value in values if value is not None] if name.endswith("/score") else []
            if scored:
                self._metrics["train"][name][-1:] = [sum(scored) / len(scored)]
        for g, is_flat in enumerate(flat.tolist()):
            span = slice(g * size, (g + 1) * size)
            known = [score for score in scores[span] if score is not None]
            self.source.record(everyone[g * size], sum(s >= self._highest for s in known), len(known), bool(is_flat))
            if is_flat:
                self.batch.causes[self._cause(scores[span], truncated[span], statuses[span])] += 1
        totals: list[float | None] = []
        for given in zip(*rewards, strict=True):
            known = [(w, r) for w, r in zip(weights, given, strict=True) if r == r]  # NaN is not itself
            totals.append(sum(w * r for w, r in known) if known else None)
        flat_rows = flat.repeat_interleave(size).tolist()
        asked = [self.rows[index] for index in everyone]
        self._add(
            {
                "prompt": [row["prompt"] for row in asked],
                "completion": completions,
                "gold": [row.get("gold") for row in asked],
                "reward": totals,
                "advantage": [0.0 if f else a for f, a in zip(flat_rows, advantages, strict=True)],
                **extra,
            },
            count,
        )
        self.batch.generated += count
        cut = [bool(t) for t in truncated if t is not None]
        self.batch.truncated = sum(cut) / len(cut) if cut else 0.0

    def _add(self, columns: dict[str, list[Any]], count: int) -> None:
        """Append `count` rows; a column that only some rounds of a step have is None in the others."""
        held = self.batch.columns
        before = self.batch.generated
        for name in held.keys() - columns.keys():
            held[name] += [None] * count
        for name, values in columns.items():
            held.setdefault(name, [None] * before).extend(values)

    def _cause(self, scores: Sequence[float | None], truncated: Sequence[Any], statuses: Sequence[Any]) -> str:
        if all(status is not None and status != "scored" for status in statuses):
            return "unscored"
        if all(truncated):
            return "truncated"
        known = [score for score in scores if score is not None]
        if known and all(score >= self._highest for score in known):
            return "right"
        if known and all(score <= self._lowest for score in known):
            return "wrong"
        return "equal"

    # ------------------------------------------------------------ resampling

    def _refill(self, output: dict[str, Any], flat: torch.Tensor, asked: list[int], needed: int) -> dict[str, Any]:
        """Replace flat groups by fresh questions until none is left or the budget is spent.

        Groups lie across processes wherever the batch was cut, so every process gathers the rounds whole, chooses as
        all others do, and goes on with its own share.
        """
        assert self.resample_budget is not None
        processes = self.accelerator.num_processes
        # Fresh questions come in numbers whose completions divide among the processes.
        step = processes // math.gcd(self.num_generations, processes)
        device = self.accelerator.device
        output = self._whole(output)
        metrics = self._metrics["train"]
        lengths = {name: len(values) for name, values in metrics.items()}
        size = self.num_generations
        kept = [_rows_of(output, ~flat, size)] if not bool(flat.all()) else []
        spare = _rows_of(output, flat, size)
        have = int((~flat).sum())
        used = set(asked)
        budget = int(self.resample_budget * needed)
        generated = needed
        while have < needed:
            fresh = -(-(needed - have) // step) * step
            fresh = min(fresh, budget - generated, self.source.count - len(used)) // step * step
            if fresh < 1:
                break
            asked = self.source.take(fresh, used)
            used.update(asked)
            generated += fresh
            more, more_flat = self._round(asked)
            more = self._whole(more)
            if not bool(more_flat.all()):
                kept.append(_rows_of(more, ~more_flat, size))
                have += int((~more_flat).sum())
        if have < needed:
            rows = (needed - have) * size
            kept.append({k: v[:rows] if _is_batch(v) else v for k, v in spare.items()})
        # The metrics of the step are those of its first round: of questions as they come, not as they were chosen.
        for name in list(metrics):
            del metrics[name][lengths.get(name, 0) or 0 :]
            if not metrics[name]:
                del metrics[name]
        metrics["resampled_groups"].append(float(generated - needed))
        metrics["groups_with_spread"].append(min(have, needed) / needed)
        joined = self._joined(kept)
        share = needed * size // processes
        start = share * self.accelerator.process_index
        return {k: v[start : start + share].to(device) if _is_batch(v) else v for k, v in joined.items()}

    def _whole(self, output: dict[str, Any]) -> dict[str, Any]:
        """The rows of all processes, in order."""
        if self.accelerator.num_processes == 1:
            return output
        return self._joined(gather_object([{k: v.cpu() if _is_batch(v) else v for k, v in output.items()}]))

    def _joined(self, parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        fill = self._tokenizer.pad_token_id
        for key, first in parts[0].items():
            if not _is_batch(first):
                out[key] = first
                continue
            tensors = [row for part in parts for row in part[key]]
            if first.dim() == 1:
                out[key] = torch.stack(tensors)
                continue
            side = "left" if key.startswith("prompt") else "right"
            out[key] = pad(tensors, padding_value=fill if key.endswith("_ids") else 0, padding_side=side)
        out["num_items_in_batch"] = out["completion_mask"].sum().to(self.accelerator.device)
        return out

    # ------------------------------------------------------------ checkpoints

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        super()._save_checkpoint(model, trial)
        if self.args.should_save:
            folder = f"{PREFIX_CHECKPOINT_DIR}-{self.state.global_step}"
            path = os.path.join(self._get_output_dir(trial=trial), folder, SOURCE_FILE)
            with open(path + ".part", "w", encoding="utf-8") as file:
                json.dump(self.source.state(), file)
            os.replace(path + ".part", path)

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        super()._load_from_checkpoint(resume_from_checkpoint, model)
        with open(os.path.join(resume_from_checkpoint, SOURCE_FILE), encoding="utf-8") as file:
            self.source.restore(json.load(file))


def _is_batch(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dim() > 0


def _rows_of(output: dict[str, Any], groups: torch.Tensor, size: int) -> dict[str, Any]:
    rows = groups.repeat_interleave(size)
    return {k: v[rows.to(v.device)] if _is_batch(v) else v for k, v in output.items()}
