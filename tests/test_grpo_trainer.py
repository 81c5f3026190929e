"""The signal: groups without spread give exactly nothing, are named with their cause, and may be replaced."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="training needs torch; pip install 'grpo-rewards[train]'")
pytest.importorskip("trl", reason="training needs TRL; pip install 'grpo-rewards[train]'")

from scoring_targets import SpinsOnEven  # noqa: E402

from grpo_runner import data  # noqa: E402
from grpo_runner.config import RunConfig  # noqa: E402
from rewards.expression import Reward  # noqa: E402
from rewards.registry import Params, Registry, Verifier  # noqa: E402
from rewards.verdict import Sample, Verdict  # noqa: E402

pytestmark = pytest.mark.slow

TINY = {
    "evaluation.questions": 0,
    "sampling.group_size": 8,
    "sampling.batch_size": 16,
    "sampling.max_new_tokens": 6,
    "optimiser.warmup_steps": 0,
    "record.completions_every": 0,
    "watch.action": "off",
}


class Constant(Verifier[Params]):
    """Always 1."""

    def verify(self, sample: Sample) -> Verdict:
        return Verdict.scored(1.0)


class Nothing(Verifier[Params]):
    """Always 0."""

    def verify(self, sample: Sample) -> Verdict:
        return Verdict.scored(0.0)


class Digits(Verifier[Params]):
    """The share of digits in the completion: spread in nearly every group."""

    def verify(self, sample: Sample) -> Verdict:
        text = sample.text
        return Verdict.scored(sum(c.isdigit() for c in text) / len(text) if text else 0.0)


class EasyOnly(Verifier[Params]):
    """Digits for some questions, constant for the others: a data set that is half too easy."""

    needs = ("gold",)

    def verify(self, sample: Sample) -> Verdict:
        return Digits().verify(sample) if int(sample.gold) % 2 else Verdict.scored(1.0)


def registry() -> Registry:
    own = Registry()
    for name, cls in {
        "one": Constant,
        "zero": Nothing,
        "digits": Digits,
        "half": EasyOnly,
        "spins": SpinsOnEven,
    }.items():
        own.add(name, cls)
    return own


def run(out: Path, expression: str, **overrides: Any) -> tuple[Any, Any, list[dict[str, Any]]]:
    """(weights before, weights after, rows of metrics.jsonl) of a small run on the starter."""
    from grpo_runner import train
    from grpo_runner.run_files import read_jsonl
    from grpo_runner.starter import CHECKPOINT

    dotted = {key.replace("__", "."): value for key, value in overrides.items()}
    config = RunConfig.load(None, {**TINY, "out": out, **dotted})
    reward = Reward.parse(expression, registry=registry())
    questions, held_out = data.load(config)
    train.run(config, reward, reward, questions, held_out, say=lambda line: None)
    return weights(CHECKPOINT), weights(out / "model"), read_jsonl(out / "metrics.jsonl")


def weights(folder: Path) -> Any:
    from safetensors.torch import load_file

    loaded = load_file(str(folder / "model.safetensors"))
    return torch.cat([loaded[name].double().flatten() for name in sorted(loaded)])


@pytest.mark.parametrize(
    ("expression", "beta"), [("zero + 0.2*one", 0.0), ("zero + 0.2*one", 0.04), ("zero - 0.1*one", 0.0)]
)
def test_fifty_steps_of_a_constant_reward_move_no_weight(tmp_path: Path, expression: str, beta: float) -> None:
    """A group whose total is always 0.2 teaches nothing, so nothing may move: not by a rounding error either."""
    before, after, rows = run(tmp_path, expression, optimiser__steps=50, algorithm__beta=beta)
    assert torch.equal(before, after)
    assert len(rows) == 50
    assert {row["flat_groups"] for row in rows} == {1.0}
    assert all(row["grad_norm"] == 0.0 for row in rows)


def test_trl_alone_moves_the_weights_under_the_same_constant_reward(tmp_path: Path) -> None:
    """The fault that is cured above, reproduced: when TRL cures it itself, this test says that the cure can go."""
    from datasets import Dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer, PrinterCallback
    from trl import GRPOConfig, GRPOTrainer

    from grpo_runner.starter import CHECKPOINT

    model = AutoModelForCausalLM.from_pretrained(CHECKPOINT, dtype=torch.float32)
    before = torch.cat([p.detach().flatten().clone() for p in model.parameters()])

    prompts = [[{"role": "user", "content": f"{a}+11=?"}] for a in range(10, 30)]

    def constant(completions: list[Any], **columns: Any) -> list[float]:
        return [0.2] * len(completions)

    trainer = GRPOTrainer(
        model=model,
        reward_funcs=constant,
        args=GRPOConfig(
            output_dir=str(tmp_path), per_device_train_batch_size=16, num_generations=8, max_completion_length=6,
            max_steps=5, learning_rate=2e-4, lr_scheduler_type="constant", logging_steps=1, log_level="error",
            report_to="none", use_cpu=True, bf16=False, gradient_checkpointing=False, save_strategy="no",
            disable_tqdm=True, dataloader_pin_memory=False,
        ),
        train_dataset=Dataset.from_dict({"prompt": prompts}),
        processing_class=AutoTokenizer.from_pretrained(CHECKPOINT),
    )  # fmt: skip
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    moved = float((torch.cat([p.detach().flatten() for p in model.parameters()]) - before).abs().max())
    shares = [row["frac_reward_zero_std"] for row in trainer.state.log_history if "frac_reward_zero_std" in row]
    assert moved > 1e-4, f"TRL moved the weights by {moved}: the drift that SignalTrainer cures is gone"
    assert set(shares) == {0.0}, "TRL counts these groups now; ours may take its number"


def test_a_reward_with_spread_moves_the_weights(tmp_path: Path) -> None:
    """The cure does not cure training."""
    before, after, rows = run(tmp_path, "digits", optimiser__steps=3)
    assert float((before - after).abs().max()) > 1e-5
    assert all(row["flat_groups"] < 1.0 for row in rows)


NAN = float("nan")


@pytest.mark.parametrize(
    ("group", "flat", "why"),
    [
        ([0.2, 0.2, 0.2, 0.2], True, "equal"),
        ([0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2], True, "one reward, two roundings"),
        ([1e6, 1e6 + 0.5, 1e6, 1e6], True, "below what float32 can tell apart at this size"),
        ([0.0, 1e-3, 0.0, 0.0], False, "a small difference is a difference"),
        ([0.0, 0.0, 0.0, 1.0], False, "one in four"),
        ([NAN, NAN, NAN, NAN], True, "nothing was scored"),
        ([NAN, 0.5, NAN, 0.5], True, "the scored ones are equal"),
        ([NAN, 0.5, NAN, 1.0], False, "the scored ones differ"),
        ([-1.0, -1.0, -1.0, -1.0], True, "equal below zero"),
        ([0.0, 0.0, 0.0, 0.0], True, "equal at zero, where no relative bound helps"),
    ],
)
def test_largest_minus_smallest_decides_what_is_flat(group: list[float], flat: bool, why: str) -> None:
    """The standard deviation of equal float32 numbers is not 0; their difference is."""
    from grpo_runner.trainer import flat_groups

    spread = [0.0, 1.0, 0.0, 1.0]
    found = flat_groups(torch.tensor([group, spread], dtype=torch.float32).flatten().unsqueeze(1), 4)
    assert found.tolist() == [flat, False], why


def test_with_components_apart_a_group_is_flat_only_if_every_component_is() -> None:
    """GDPO: +1 -1 and -1 +1 sum to equal totals, and still say which answer was better at what."""
    from grpo_runner.trainer import flat_groups

    rewards = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    assert flat_groups(rewards, 2).tolist() == [False, True]


def test_resampling_replaces_flat_groups_and_counts_what_it_generated(tmp_path: Path) -> None:
    """Half of the questions are constant: with the budget every step trains on groups with spread alone."""
    _, _, rows = run(
        tmp_path, "half", optimiser__steps=6, sampling__batch_size=64, sampling__resample=True,
        sampling__resample_budget=8.0,
    )  # fmt: skip
    assert all(row["groups_with_spread"] == 1.0 for row in rows)
    assert 0.2 < sum(row["flat_groups"] for row in rows) / len(rows) < 0.8
    for row in rows:
        assert row["completions_generated"] == 64 + 8 * row["resampled_groups"]
    assert sum(row["resampled_groups"] for row in rows) > 0


def test_resampling_stops_at_its_budget(tmp_path: Path) -> None:
    """A reward that is constant everywhere must not generate for ever."""
    before, after, rows = run(
        tmp_path, "one", optimiser__steps=3, sampling__resample=True, sampling__resample_budget=2.0
    )
    assert [row["completions_generated"] for row in rows] == [32, 32, 32]
    assert {row["groups_with_spread"] for row in rows} == {0.0}
    assert torch.equal(before, after)


def test_a_verifier_that_never_comes_back_costs_its_rows_their_reward_and_the_run_goes_on(tmp_path: Path) -> None:
    """The batch has one hard limit, and what was judged by then is trained on."""
    _, _, rows = run(tmp_path, "spins", optimiser__steps=2, sampling__batch_size=64, scoring__batch_seconds=2.0)
    assert len(rows) == 2
    assert all(0.0 < row["unscored"] < 1.0 for row in rows)
    assert all(row["flat/unscored"] == row["unscored"] for row in rows)
    assert all(row["seconds/scoring"] < 12.0 for row in rows)


def test_the_cause_of_every_flat_group_is_counted(tmp_path: Path) -> None:
    """All right, all wrong and all cut off want different remedies."""
    _, _, rows = run(tmp_path / "a", "one", optimiser__steps=1)
    assert rows[0]["flat/truncated"] + rows[0]["flat/right"] == 1.0
    assert rows[0]["flat/wrong"] == 0.0
    _, _, rows = run(tmp_path / "b", "zero", optimiser__steps=1, sampling__max_new_tokens=1)
    assert rows[0]["flat/truncated"] == 1.0, "one token is never a whole answer"


def test_tensorboard_gets_the_reward_its_components_and_the_causes(tmp_path: Path) -> None:
    """Through TRL's own report_to."""
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator", reason="needs tensorboard")
    _, _, rows = run(tmp_path, "digits", optimiser__steps=2, record__report_to=["tensorboard"])
    (folder,) = {file.parent for file in tmp_path.rglob("events.out.tfevents.*")}
    written = events.EventAccumulator(str(folder))
    written.Reload()
    assert [event.step for event in written.Scalars("train/reward")] == [1, 2]
    for tag, column in {"train/reward": "reward", "train/digits/score": "digits/score"}.items():
        assert [event.value for event in written.Scalars(tag)] == pytest.approx([row[column] for row in rows])
    assert "train/flat_groups/unscored" in written.Tags()["scalars"]


def test_completions_are_written_with_verdicts_and_advantages_of_the_trained_batch(tmp_path: Path) -> None:
    """What the policy saw is what the file says."""
    import pyarrow.parquet

    run(tmp_path, "digits", optimiser__steps=2, record__completions_every=1)
    files = sorted((tmp_path / "completions").glob("*.parquet"))
    assert [f.name for f in files] == ["step-000001.parquet", "step-000002.parquet"]
    rows = pyarrow.parquet.read_table(files[0]).to_pylist()
    assert len(rows) == 16
    for row in rows:
        assert row["reward"] == pytest.approx(row["digits/score"])
        assert row["status"] == "scored"
        assert json.loads(row["prompt"])[0]["role"] == "user"
    for start in (0, 8):
        group = rows[start : start + 8]
        assert len({row["group"] for row in group}) == 1
        assert sum(row["advantage"] for row in group) == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("masked", [True, False])
def test_masked_truncated_completions_leave_the_loss(tmp_path: Path, masked: bool) -> None:
    """Cut at one token nothing is whole, so nothing is learned although the rewards differ."""
    before, after, rows = run(
        tmp_path,
        "digits",
        optimiser__steps=2,
        sampling__max_new_tokens=1,
        sampling__batch_size=64,
        sampling__temperature=2.0,
        algorithm__mask_truncated=masked,
    )
    assert all(row["truncated"] == 1.0 and row["flat_groups"] < 1.0 for row in rows)
    assert torch.equal(before, after) is masked


def test_a_row_seeded_completion_does_not_depend_on_its_neighbours() -> None:
    """And its draws are draws from the softmax: the frequencies of four tokens are theirs."""
    from grpo_runner.trainer import SeededRows

    logits = torch.log(torch.tensor([0.1, 0.2, 0.3, 0.4]))
    count = 4000
    together = SeededRows([f"s{i}" for i in range(count)], 1.0, 0, 1.0, None)
    ids = torch.zeros(count, 1, dtype=torch.long)
    drawn = together(ids, logits.repeat(count, 1)).argmax(dim=-1)
    shares = torch.bincount(drawn, minlength=4) / count
    assert shares.tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=0.03)
    alone = SeededRows(["s17"], 1.0, 0, 1.0, None)
    assert alone(ids[:1], logits.unsqueeze(0)).argmax(dim=-1)[0] == drawn[17]
    greedy = SeededRows([f"s{i}" for i in range(50)], 1.0, 1, 1.0, None)
    assert set(greedy(ids[:50], logits.repeat(50, 1)).argmax(dim=-1).tolist()) == {3}


def test_a_question_is_tokenised_once_for_its_whole_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what every completion of the group gets is what TRL would have given it."""
    from trl import GRPOTrainer

    from grpo_runner.trainer import SignalTrainer

    theirs, ours = GRPOTrainer._tokenize_prompts, SignalTrainer._tokenize_prompts
    asked: list[int] = []
    compared: list[bool] = []

    def counted(self: Any, prompts: list[Any]) -> Any:
        asked.append(len(prompts))
        return theirs(self, prompts)

    def both(self: Any, prompts: list[Any]) -> Any:
        given = ours(self, prompts)
        compared.append(given == theirs(self, prompts))
        return given

    monkeypatch.setattr(GRPOTrainer, "_tokenize_prompts", counted)
    monkeypatch.setattr(SignalTrainer, "_tokenize_prompts", both)
    run(tmp_path, "digits", optimiser__steps=2)
    assert asked == [2, 2], "16 completions of 2 questions a step"
    assert compared == [True, True]


@pytest.mark.skipif(sys.platform != "linux", reason="mallopt is glibc's")
def test_a_step_on_a_cpu_keeps_the_memory_of_the_one_before() -> None:
    """Ten blocks of 64 MB, one after the other: without it each faults its 16,384 pages in anew."""
    code = (
        "import resource, sys, torch\n"
        "from grpo_runner import train\n"
        "if sys.argv[1] == 'kept': train._keep_freed_memory()\n"
        "for _ in range(4): torch.ones(1 << 24)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "for _ in range(10): torch.ones(1 << 24)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)"
    )
    faults = {
        way: int(subprocess.run([sys.executable, "-c", code, way], capture_output=True, text=True, check=True).stdout)
        for way in ("default", "kept")
    }
    assert faults["kept"] * 10 < faults["default"], faults
