"""Accuracy: estimators against their definitions, and training left undisturbed."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="evaluation needs torch; pip install 'grpo-rewards[train]'")
pytest.importorskip("transformers", reason="evaluation needs transformers; pip install 'grpo-rewards[train]'")

from grpo_runner.evaluate import Evaluator, bootstrap, majority_is_right, pass_at_k  # noqa: E402
from rewards.expression import Reward  # noqa: E402
from rewards.scoring import RewardResult  # noqa: E402
from rewards.verdict import Status, Verdict  # noqa: E402


def test_pass_at_k_is_the_share_of_k_subsets_with_a_right_answer() -> None:
    """The closed form against counting, for every n up to 7 (arXiv 2107.03374, equation 1)."""
    for n in range(1, 8):
        for correct, k in itertools.product(range(n + 1), range(1, n + 1)):
            subsets = list(itertools.combinations([True] * correct + [False] * (n - correct), k))
            assert pass_at_k(n, correct, k) == pytest.approx(sum(map(any, subsets)) / len(subsets))


def test_pass_at_k_of_fewer_than_k_answers_is_refused() -> None:
    """Not defined, so not printed as 0."""
    with pytest.raises(ValueError, match="draw at least k"):
        pass_at_k(4, 2, 8)


def result(extracted: str | None, right: bool) -> tuple[RewardResult, bool]:
    verdict = Verdict.scored(float(right), extracted=extracted)
    return RewardResult(float(right), Status.SCORED, {"math": verdict}), right


@pytest.mark.parametrize(
    ("answers", "right"),
    [
        ([("7", True), ("7", True), ("8", False)], True),
        ([("7", True), ("8", False), ("8", False)], False),
        ([("8", False), ("7", True)], False),
        ([(None, False), (None, False), ("7", True)], True),
        ([(None, False)], False),
        ([("7 ", True), ("7", True), ("8", False), ("8", False), (" 7", True)], True),
    ],
)
def test_majority_counts_extracted_answers_and_no_answer_votes_for_nothing(
    answers: list[tuple[str | None, bool]], right: bool
) -> None:
    """Self-consistency (arXiv 2203.11171); a tie goes to the answer given first."""
    assert majority_is_right([result(*answer) for answer in answers]) is right


def test_bootstrap_interval_holds_the_mean_and_narrows_with_more_questions() -> None:
    """Deterministic for a seed; NaN for nothing."""
    few, many = bootstrap([1.0, 0.0] * 10, 0), bootstrap([1.0, 0.0] * 500, 0)
    for estimate in (few, many):
        assert estimate.low <= estimate.value == 0.5 <= estimate.high
    assert many.high - many.low < (few.high - few.low) / 3
    assert bootstrap([1.0, 0.0], 3) == bootstrap([1.0, 0.0], 3)
    assert math.isnan(bootstrap([], 0).value)


@pytest.fixture(scope="module")
def asked() -> tuple[Any, Evaluator]:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from datasets_cards import load
    from grpo_runner.starter import CHECKPOINT

    tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
    questions = [
        replace(s, prompt=[{"role": "user", "content": s.prompt}]) for s in load("arithmetic", "heldout", limit=24)
    ]
    evaluator = Evaluator(
        Reward.parse("math"), questions, tokenizer, prefill="", stop_token_ids=[tokenizer.eos_token_id],
        max_new_tokens=32,
    )  # fmt: skip
    return AutoModelForCausalLM.from_pretrained(CHECKPOINT, dtype=torch.float32), evaluator


def test_an_evaluation_disturbs_neither_random_state_nor_mode(asked: tuple[Any, Evaluator]) -> None:
    """A run that is evaluated in between takes the steps of one that is not."""
    model, evaluator = asked
    model.train()
    state = torch.random.get_rng_state()
    first = evaluator.run(model, draws=4)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert model.training
    torch.manual_seed(99)
    assert evaluator.run(model, draws=4).as_row() == first.as_row()


def test_greedy_answers_do_not_depend_on_how_questions_are_batched(
    asked: tuple[Any, Evaluator], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Left padding and several calls change nothing that is read."""
    model, evaluator = asked
    whole = [row["completion"] for row in evaluator.run(model).rows]
    monkeypatch.setattr("grpo_runner.evaluate.MAX_TOKENS_IN_FLIGHT", 200)
    assert [row["completion"] for row in evaluator.run(model).rows] == whole


def test_the_starter_guesses_when_greedy_and_can_when_it_tries(asked: tuple[Any, Evaluator]) -> None:
    """What the shipped checkpoint must be for GRPO to have something to choose from."""
    model, evaluator = asked
    accuracy = evaluator.run(model, draws=8)
    assert accuracy.greedy.value <= 0.45
    assert accuracy.pass_1 is not None
    assert accuracy.pass_k is not None
    assert 0.2 < accuracy.pass_1.value < 0.6
    assert accuracy.pass_k.value > 0.75
