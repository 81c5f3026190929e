"""The TRL callable: the same verdicts as offline scoring, in the shapes TRL 1.16 passes."""

from __future__ import annotations

import json
import multiprocessing
import pickle
import threading
from pathlib import Path
from typing import Any

import pytest

from rewards.expression import ExpressionError, Reward
from rewards.integrations.trl import TrlReward, chat_prefill
from rewards.verdict import Sample

GOOD = "<think>so</think><answer>\\boxed{7}</answer>"
EOS = 1


class Log:
    """What TRL's `log_extra` and `log_metric` would have collected."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = {}
        self.metrics: dict[str, float] = {}

    def extra(self, name: str, values: list[Any]) -> None:
        assert name not in self.columns, f"column {name!r} logged twice; TRL would keep the second, silently"
        self.columns[name] = values

    def metric(self, name: str, value: float) -> None:
        self.metrics[name] = value


def chat(text: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": text}]


def test_conversational_and_plain_completions_get_the_same_rewards() -> None:
    """`completions` is a list of message lists for chat data; a string check on it is 0 for ever."""
    function = TrlReward("format")
    texts = [GOOD, "7", GOOD + " bye"]
    plain = function(prompts=["q"] * 3, completions=texts, completion_ids=[[5, EOS]] * 3)
    talk = function(
        prompts=[[{"role": "user", "content": "q"}]] * 3,
        completions=[chat(t) for t in texts],
        completion_ids=[[5, EOS]] * 3,
    )
    assert plain == talk == [1.0, 0.0, 0.0]


def test_training_and_offline_scoring_give_the_same_verdicts() -> None:
    """The verdict for a completion is the same on every path."""
    log = Log()
    texts = [GOOD, "<think>so</think>", ""]
    TrlReward("format")(
        prompts=["q"] * 3, completions=texts, completion_ids=[[5, EOS]] * 3, log_extra=log.extra, log_metric=log.metric
    )
    offline = Reward.parse("format").score([Sample(id=str(i), completion=t) for i, t in enumerate(texts)])
    assert log.columns["format/score"] == [r.verdicts["format"].score for r in offline]
    assert log.columns["format/reason"] == [str(r.verdicts["format"].reason) for r in offline]


def test_columns_reach_the_sample_by_name_by_mapping_and_as_json() -> None:
    """`gold` by its own name, from a mapped column, and from JSON text in a column that Arrow could hold."""
    by_name = TrlReward("format").samples(["q"], ["c"], [[EOS]], {"gold": ["7"], "task": ["sum"]})[0]
    assert (by_name.gold, by_name.task) == ("7", "sum")
    mapped = TrlReward("format", columns={"gold": "answer", "tests": "json:cases"})
    sample = mapped.samples(["q"], ["c"], [[EOS]], {"answer": [7], "cases": [json.dumps({"kind": "stdio"})]})[0]
    assert (sample.gold, sample.tests) == (7, {"kind": "stdio"})


def test_a_mapped_column_that_is_missing_is_named_with_the_nearest() -> None:
    """A wrong column name must not become a night of reward 0."""
    function = TrlReward("format", columns={"gold": "anwser"})
    with pytest.raises(ValueError, match=r"no column 'anwser' for gold; did you mean 'answer'"):
        function(prompts=["q"], completions=["c"], completion_ids=[[EOS]], answer=["7"])


@pytest.mark.parametrize("columns", [{"gold": "completions"}, {"gold": "trainer_state"}, {"golden": "answer"}])
def test_reserved_columns_and_unknown_fields_are_refused(columns: dict[str, str]) -> None:
    """TRL passes these names itself, so a column of that name never arrives (huggingface/trl#5233)."""
    with pytest.raises(ValueError, match="columns:"):
        TrlReward("format", columns=columns)


def test_truncated_means_no_end_of_sequence_token_at_any_length() -> None:
    """`len >= max` alone misses a completion stopped early, and damns one that ends exactly at the limit."""
    function = TrlReward("format", stop_token_ids={EOS})
    samples = function.samples(["q"] * 3, ["c"] * 3, [[5, EOS], [5, 6], []], {})
    assert [s.truncated for s in samples] == [False, True, True]
    unknown = TrlReward("format").samples(["q"], ["c"], [[5, 6]], {})
    assert unknown[0].truncated is None
    assert [s.num_tokens for s in samples] == [2, 2, 0]


def test_group_is_the_id_column_or_the_prompt_with_its_gold() -> None:
    """Without ids, completions of one prompt are one group, and the same question with another gold is another."""
    function = TrlReward("format")
    ids = function.samples(["q", "q"], ["a", "b"], None, {"id": ["x", "y"]})
    assert [s.group for s in ids] == ["x", "y"]
    prompts = [[{"role": "user", "content": c}] for c in "qqrq"]
    hashed = function.samples(prompts, list("abcd"), None, {"gold": ["1", "1", "1", "2"]})
    assert hashed[0].group == hashed[1].group
    assert len({s.group for s in hashed}) == 3
    assert len({s.id for s in hashed}) == 4


def test_an_unscored_row_is_none_and_its_neighbours_keep_their_numbers() -> None:
    """A row without gold is the data set's fault; None keeps it out of the baseline, a 0 would punish the model."""
    function = TrlReward("math+format")
    rewards = function(prompts=["q"] * 2, completions=[GOOD] * 2, completion_ids=[[EOS]] * 2, gold=["7", None])
    assert rewards == [2.0, None]


def test_every_log_column_is_prefixed_by_its_component_and_has_one_value_per_row() -> None:
    """Two functions that log one column overwrite each other in TRL; a short column breaks its table."""
    log = Log()
    TrlReward("format + 0.5*format(tags=think)")(
        prompts=["q"] * 3,
        completions=[GOOD] * 3,
        completion_ids=[[EOS]] * 3,
        log_extra=log.extra,
        log_metric=log.metric,
    )
    assert {"format/score", "format_2/score", "format/reason", "format_2/reason"} <= set(log.columns)
    assert {len(values) for values in log.columns.values()} == {3}
    assert log.metrics["format/score"] == 1.0


def test_pickled_it_gives_the_same_rewards_and_keeps_its_name() -> None:
    """Workers of some trainers receive the function by pickle (huggingface/trl#6313)."""
    function = TrlReward("format", columns={"gold": "answer"}, prefill="<think>\n", stop_token_ids={EOS})
    copy = pickle.loads(pickle.dumps(function))
    assert copy.__name__ == function.__name__ == "total"
    arguments: dict[str, Any] = {
        "prompts": ["q"],
        "completions": ["so</think><answer>\\boxed{7}</answer>"],
        "completion_ids": [[EOS]],
        "answer": ["7"],
    }
    assert copy(**arguments) == function(**arguments) == [1.0]


def test_split_scores_once_and_is_none_in_every_column_for_an_unscored_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """TRL takes one function's None beside another's number for 0; only an all-None row is left out."""
    function = TrlReward("math + 0.5*format")
    parts, weights = function.split()
    assert [p.__name__ for p in parts] == ["math", "format"]
    assert weights == [1.0, 0.5]
    calls = []
    score = function.reward.score
    monkeypatch.setattr(function.reward, "score", lambda samples: calls.append(len(samples)) or score(samples))
    batch: dict[str, Any] = {
        "prompts": ["q"] * 2, "completions": [GOOD, GOOD], "completion_ids": [[EOS]] * 2, "gold": ["7", None],
    }  # fmt: skip
    assert [part(**batch) for part in parts] == [[1.0, None], [1.0, None]]
    assert calls == [2]
    monkeypatch.undo()
    assert pickle.loads(pickle.dumps(parts[1]))(**batch) == [1.0, None]


def test_split_refuses_what_is_no_weighted_sum() -> None:
    """`gate(format, math)` has no per-component columns."""
    with pytest.raises(ValueError, match="no plain weighted sum"):
        TrlReward("gate(format, math)").split()


def test_a_bad_expression_is_refused_at_construction() -> None:
    """Not in the first step of a run."""
    with pytest.raises(ExpressionError, match="did you mean 'format'"):
        TrlReward("fromat")


def test_a_batch_begun_beforehand_is_scored_once_in_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verifiers work while log-probabilities are computed; the call takes over what was begun, and only that."""
    function = TrlReward("format")
    score = function.reward.score
    threads: list[str] = []

    def watched(samples: Any) -> Any:
        threads.append(threading.current_thread().name)
        return score(samples)

    monkeypatch.setattr(function.reward, "score", watched)
    batch: dict[str, Any] = {"prompts": ["q"] * 2, "completions": [GOOD, "7"], "completion_ids": [[EOS]] * 2}
    function.begin(**batch)
    assert function(**batch) == [1.0, 0.0]
    assert threads == ["scoring"]
    function.begin(**batch)
    other = {**batch, "completions": ["7", GOOD]}
    assert function(**other) == [0.0, 1.0], "another batch than the one begun is scored by itself"
    assert function(**batch) == [1.0, 0.0]
    assert threads[-1] == "MainThread"


def test_what_goes_wrong_in_a_begun_batch_is_raised_by_the_call() -> None:
    """A missing column is told to the one who asks for the rewards."""
    function = TrlReward("format", columns={"gold": "answer"})
    batch: dict[str, Any] = {"prompts": ["q"], "completions": [GOOD], "completion_ids": [[EOS]]}
    function.begin(**batch)
    with pytest.raises(ValueError, match="no column 'answer'"):
        function(**batch)


# ---------------------------------------------------------------- prefill


class Template:
    """A tokenizer with a chat template, as far as `chat_prefill` uses one."""

    def __init__(self, source: str) -> None:
        import jinja2

        self.chat_template = source
        self._compiled = jinja2.Environment().from_string(source)

    def apply_chat_template(self, messages: Any, *, tokenize: bool, add_generation_prompt: bool, **kwargs: Any) -> str:
        assert not tokenize
        return self._compiled.render(messages=messages, add_generation_prompt=add_generation_prompt, **kwargs)


CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
)
# Qwen3 writes an empty think block before the LAST assistant turn, and after the header when thinking is off.
QWEN3 = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if loop.last and m.role == 'assistant' %}<think>\n\n</think>\n\n{% endif %}"
    "{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)


@pytest.mark.parametrize(
    ("source", "kwargs", "prefill"),
    [
        (CHATML + "{% endif %}", {}, ""),
        (CHATML + "<think>\n{% endif %}", {}, "<think>\n"),
        (QWEN3, {}, ""),
        (QWEN3, {"enable_thinking": False}, "<think>\n\n</think>\n\n"),
    ],
    ids=["no prefill", "opens think", "qwen3 thinking", "qwen3 not thinking"],
)
def test_prefill_is_what_the_template_writes_after_the_assistant_header(
    source: str, kwargs: dict[str, Any], prefill: str
) -> None:
    """Without it the format reward of a template that opens `<think>` is 0 for ever (huggingface/trl#6966)."""
    assert chat_prefill(Template(source), **kwargs) == prefill


def test_a_tokenizer_without_chat_template_has_no_prefill() -> None:
    """Base models."""

    class Bare:
        chat_template = None

    assert chat_prefill(Bare()) == ""


# ---------------------------------------------------------------- several processes


def _rank(rank: int, ranks: int, rendezvous: str, rows: list[tuple[str, str, int]], box: Any) -> None:
    import os

    os.environ.update(
        RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=rendezvous,
        ACCELERATE_USE_CPU="true", OMP_NUM_THREADS="1",
    )  # fmt: skip
    from accelerate.state import PartialState

    PartialState(cpu=True)
    function = TrlReward("kimi_length(of=format)")
    numbers = function(
        prompts=["q"] * len(rows),
        completions=[text for _, text, _ in rows],
        completion_ids=[[5] * n for _, _, n in rows],
        id=[group for group, _, _ in rows],
    )
    box.put((rank, numbers))


def test_a_group_cut_across_processes_is_judged_whole_and_an_empty_process_takes_part(tmp_path: Path) -> None:
    """Group-relative rewards compare with the whole group; a rank that skips the exchange would hang the others."""
    pytest.importorskip("accelerate", reason="the exchange between processes is accelerate's; pip install '[train]'")
    rows = [("a", GOOD, 10), ("a", GOOD, 20), ("a", GOOD, 40), ("b", GOOD, 5), ("b", "no", 9), ("b", GOOD, 7)]
    alone = TrlReward("kimi_length(of=format)")(
        prompts=["q"] * 6,
        completions=[text for _, text, _ in rows],
        completion_ids=[[5] * n for _, _, n in rows],
        id=[group for group, _, _ in rows],
    )
    context = multiprocessing.get_context("spawn")
    box = context.Queue()
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    shares = [rows[:2], [], rows[2:]]
    processes = [context.Process(target=_rank, args=(i, 3, port, share, box)) for i, share in enumerate(shares)]
    for process in processes:
        process.start()
    try:
        found = dict(box.get(timeout=120) for _ in processes)
    finally:
        for process in processes:
            process.join(timeout=20)
            if process.is_alive():
                process.kill()
    assert found[0] + found[1] + found[2] == alone
