"""Every adapter: the verdict of the offline path, in the shape the framework asks for, and never a 0 for `error`.

Each is called as its framework calls it. Where the framework is installed (inspect_ai, skyrl_gym, verifiers, lighteval)
its own classes are used; else stand-ins with the fields of the documented call, named in the test.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import math
import pickle
import subprocess
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rewards.expression import Reward
from rewards.integrations import areal, ms_swift, nemo_gym, openrlhf, skyrl, slime, unscored, verifiers, verl
from rewards.integrations import inspect_ai as inspect_adapter
from rewards.integrations import lighteval as lighteval_adapter
from rewards.integrations.unscored import Unscored
from rewards.registry import Params, Verifier, register
from rewards.verdict import Reason, Sample, Verdict
from tests.conftest import ROOT

EXPRESSION = "outcome_of_text + 0.25*format"
RIGHT = "<think>2+2</think><answer>4</answer>"
WRONG = "<think>2+2</think><answer>5</answer>"
BARE = "4"
ANSWERS = [RIGHT, WRONG, BARE]

FRAMEWORK_FILES = (
    "verl", "openrlhf", "slime", "areal", "verifiers", "inspect_ai", "lighteval", "nemo_gym", "skyrl", "ms_swift",
)  # fmt: skip


@register("outcome_of_text")
class OutcomeOfText(Verifier[Params]):
    """Scores by a word in the answer, so that each status can be asked for: BROKEN, FLAKY, UNUSABLE, or equality."""

    needs = ("gold",)
    flaky_calls = 0

    def verify(self, sample: Sample) -> Verdict:
        text = sample.text
        if "BROKEN" in text:
            return Verdict.error(Reason.WORKER_LOST, "the worker died")
        if "FLAKY" in text:
            OutcomeOfText.flaky_calls += 1
            if OutcomeOfText.flaky_calls < 3:
                return Verdict.error(Reason.DEADLINE, "too slow this time")
        if "UNUSABLE" in text:
            return Verdict.invalid(Reason.GOLD_UNREADABLE, "no gold to compare with")
        found = text.removesuffix("</answer>").rpartition("<answer>")[2]
        right = found == str(sample.gold)
        return Verdict.scored(float(right), Reason.OK if right else Reason.NO_ANSWER, extracted=found)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    OutcomeOfText.flaky_calls = 0
    return


def offline(answers: Sequence[str], gold: Any = "4") -> list[float | None]:
    """What `rewards score` gives for the same rows."""
    samples = [Sample(id=str(i), group="g", completion=text, gold=gold) for i, text in enumerate(answers)]
    return [result.reward for result in Reward.parse(EXPRESSION).score(samples)]


def test_offline_rewards_are_what_the_tests_think() -> None:
    """1.25 right and well formed, 0.25 wrong, 1.0 right without the tags."""
    assert offline(ANSWERS) == [1.25, 0.25, 1.0]
    assert offline(["BROKEN"]) == [None]


@pytest.mark.parametrize("name", FRAMEWORK_FILES)
def test_adapter_is_one_short_file_that_imports_without_its_framework(name: str) -> None:
    """At most 60 lines; importing it brings in no framework and no torch."""
    path = ROOT / "rewards" / "integrations" / f"{name}.py"
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    assert "Unscored:" in text, "the docstring says what the framework gets for an unscored row"
    code = (
        f"import sys, rewards.integrations.{name}; "
        "print([m for m in ('torch', 'verl', 'openrlhf', 'slime', 'areal', 'verifiers', 'inspect_ai', 'lighteval', "
        "'nemo_gym', 'skyrl_gym', 'swift', 'sympy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


# ---------------------------------------------------------------- what they share


def test_a_failure_that_passes_is_scored_on_a_later_try() -> None:
    """Two deadlines, then an answer: one reward, no exception."""
    sample = Sample(id="7", completion="FLAKY", gold="4")
    (result,) = unscored.score(Reward.parse("outcome_of_text"), [sample])
    assert result.reward == 0.0
    assert OutcomeOfText.flaky_calls == 3


def test_a_failure_that_stays_names_the_row_and_the_reason() -> None:
    """The message is enough to find the row and the cause."""
    sample = Sample(id="row-9", completion="BROKEN", gold="4")
    (result,) = unscored.score(Reward.parse("outcome_of_text"), [sample])
    with pytest.raises(Unscored, match=r"row row-9 is error: outcome_of_text: worker_lost \(the worker died\)"):
        unscored.number(result, sample)


def test_an_unusable_row_is_not_tried_again() -> None:
    """`invalid` is the data set's fault and stays."""
    calls = []

    class Counting(Reward):
        def score(self, samples: Sequence[Sample]) -> Any:
            calls.append(len(samples))
            return super().score(samples)

    parsed = Reward.parse("outcome_of_text")
    counting = Counting(parsed.text, parsed.tree, parsed.components, parsed.reads)
    unscored.score(counting, [Sample(id="1", completion="UNUSABLE", gold="4")])
    assert calls == [1]


@pytest.mark.parametrize(
    ("text", "tokens", "left"),
    [
        ("a<|im_end|>", ["<|im_end|>"], "a"),
        ("a<|im_end|>\n<|endoftext|>", ["<|im_end|>", "<|endoftext|>"], "a"),
        ("<|im_end|>a", ["<|im_end|>"], "<|im_end|>a"),
        ("a", ["<|im_end|>"], "a"),
        ("a ", [], "a "),
        ("<|x|>" * 1000, ["<|x|>"], ""),
        ("a", [""], "a"),
    ],
)
def test_only_trailing_special_tokens_are_taken_off(text: str, tokens: list[str], left: str) -> None:
    """What stands inside the answer is the model's own."""
    assert unscored.without_trailing(text, tokens) == left


# ---------------------------------------------------------------- verl


def test_verl_gives_the_same_keys_for_every_row_and_the_offline_reward() -> None:
    """verl makes a column of each key: a key that comes and goes loses the column (verl#2320)."""
    rows = [
        verl.compute_score("gsm8k", text, "4", {"index": i}, reward=EXPRESSION, reward_router_address="x")
        for i, text in enumerate(ANSWERS)
    ]
    assert [row["score"] for row in rows] == offline(ANSWERS)
    assert {tuple(row) for row in rows} == {("score", "outcome_of_text/score", "format/score")}


def test_verl_raises_for_a_row_without_a_reward_and_never_gives_zero() -> None:
    """verl#5635: a swallowed failure became 0 for every problem."""
    for text in ("BROKEN", "UNUSABLE"):
        with pytest.raises(Unscored):
            verl.compute_score("gsm8k", text, "4", reward=EXPRESSION)


def test_verl_is_loaded_by_path_as_verl_does() -> None:
    """verl imports the file by its path under a made-up module name."""
    path = Path(verl.__file__)
    spec = importlib.util.spec_from_file_location("custom_module_1", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (
        module.compute_score("gsm8k", "4<|im_end|>", "4", None, reward=EXPRESSION, strip_tokens=["<|im_end|>"])["score"]
        == 1.0
    )


def test_verl_refuses_a_group_relative_reward() -> None:
    """One completion at a time has no group to compare with."""
    with pytest.raises(ValueError, match="group"):
        verl.compute_score("d", "4", "4", reward="kimi_length(of=outcome_of_text)")


# ---------------------------------------------------------------- OpenRLHF


def test_openrlhf_takes_the_answer_after_the_prompt_and_scales_scores() -> None:
    """`rewards` as they are, `scores` in 0..1 for dynamic filtering, one log column per component."""
    prompt = "<|im_start|>user\n2+2?<|im_end|>\n<|im_start|>assistant\n"
    reward_func = openrlhf.reward_function(EXPRESSION, as_tensors=False)
    out = reward_func([prompt + text + "<|im_end|>\n" for text in ANSWERS], [prompt] * 3, ["4"] * 3, extra=1)
    assert out["rewards"] == offline(ANSWERS)
    assert out["scores"] == [1.0, 0.2, 0.8]
    assert out["extra_logs"]["outcome_of_text/score"] == [1.0, 0.0, 1.0]


def test_openrlhf_tensors_by_default() -> None:
    """The documented form holds tensors."""
    torch = pytest.importorskip("torch")
    out = openrlhf.reward_function(EXPRESSION)(["q4"], ["q"], ["4"])
    assert torch.equal(out["rewards"], torch.tensor([1.0]))


def test_openrlhf_raises_for_unscored_rows_and_for_queries_of_another_prompt() -> None:
    """Neither becomes a number."""
    reward_func = openrlhf.reward_function(EXPRESSION, as_tensors=False)
    with pytest.raises(Unscored):
        reward_func(["qBROKEN"], ["q"], ["4"])
    with pytest.raises(ValueError, match="does not start with its prompt"):
        reward_func(["other"], ["q"], ["4"])


# ---------------------------------------------------------------- slime


@dataclass
class SlimeSample:
    """The fields of slime/utils/types.py's Sample that a reward model reads."""

    response: str
    label: str | None = "4"
    index: int | None = None
    group_index: int | None = 0
    prompt: str = "2+2?"
    response_length: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)
    status: Any = "completed"
    remove_sample: bool = False


def test_slime_alone_and_in_a_group_gives_the_offline_rewards() -> None:
    """`rm(args, sample)` and `rm(args, samples)` are both awaited."""
    rm = slime.reward_model(EXPRESSION)
    assert [asyncio.run(rm(None, SlimeSample(text))) for text in ANSWERS] == offline(ANSWERS)  # type: ignore[arg-type]
    assert asyncio.run(rm(None, [SlimeSample(text) for text in ANSWERS])) == offline(ANSWERS)  # type: ignore[arg-type]


def test_slime_takes_an_unscored_answer_out_of_the_loss_and_leaves_the_baseline() -> None:
    """The removed one stands at the mean of the others, so the group's mean is that of the scored ones."""
    rm = slime.reward_model(EXPRESSION)
    group = [SlimeSample(text) for text in (RIGHT, "BROKEN", WRONG)]
    rewards: Any = asyncio.run(rm(None, group))  # type: ignore[arg-type]
    assert [one.remove_sample for one in group] == [False, True, False]
    assert rewards[1] == sum((rewards[0], rewards[2])) / 2
    assert sum(rewards) / 3 == pytest.approx(sum((rewards[0], rewards[2])) / 2)


def test_slime_raises_where_nothing_is_scored() -> None:
    """Alone, and for a whole group."""
    rm = slime.reward_model(EXPRESSION)
    for given in (SlimeSample("BROKEN"), [SlimeSample("BROKEN"), SlimeSample("UNUSABLE")]):
        with pytest.raises(Unscored):
            asyncio.run(rm(None, given))  # type: ignore[arg-type]


def test_slime_group_form_serves_group_relative_rewards() -> None:
    """The shortest right answer of a group earns most (Kimi k1.5)."""
    rm = slime.reward_model("kimi_length(of=outcome_of_text)")
    group = [SlimeSample("4", response_length=10), SlimeSample("4", response_length=20)]
    assert asyncio.run(rm(None, group)) == [0.5, -0.5]  # type: ignore[arg-type]


# ---------------------------------------------------------------- AReaL


def test_areal_function_pickles_and_gives_the_offline_reward() -> None:
    """AReaL sends the function to a process pool."""
    function = pickle.loads(pickle.dumps(areal.reward_function(EXPRESSION, stop_token_ids=[2])))
    rewards = [function("p", text, [1], [5, 2], answer="4", query_id=i) for i, text in enumerate(ANSWERS)]
    assert rewards == offline(ANSWERS)
    with pytest.raises(Unscored):
        function("p", "BROKEN", [1], [5, 2], answer="4")
    with pytest.raises(ValueError, match="group"):
        areal.reward_function("kimi_length(of=outcome_of_text)")


# ---------------------------------------------------------------- verifiers


def test_verifiers_v1_reward_gives_the_offline_reward_and_raises_for_unscored() -> None:
    """Called as v1 does: `fn(task=..., trace=...)` with the task's data and the trace."""
    right = verifiers.plug(EXPRESSION)

    def trace(text: str) -> SimpleNamespace:
        return SimpleNamespace(last_reply=text, num_output_tokens=3, is_truncated=False)

    task = SimpleNamespace(idx=1, prompt="2+2?", answer="4", name=None, tests=None)
    assert [asyncio.run(right(task=task, trace=trace(text))) for text in ANSWERS] == offline(ANSWERS)  # type: ignore[arg-type]
    with pytest.raises(Unscored):
        asyncio.run(right(task=task, trace=trace("BROKEN")))  # type: ignore[arg-type]


def test_verifiers_v1_plugs_into_the_real_package(tmp_path: Path) -> None:
    """The path form of `RewardFunctionConfig` finds the function, and a raised `Unscored` leaves the reward None."""
    pytest.importorskip("verifiers.v1")
    from verifiers.v1.configs.task import RewardFunctionConfig
    from verifiers.v1.utils.decorators import invoke_all, seed
    from verifiers.v1.utils.loaders import load_plugged_fn

    module = tmp_path / "my_rewards.py"
    module.write_text(
        f"from rewards.integrations import verifiers\nright = verifiers.plug({EXPRESSION!r})\n",
        encoding="utf-8",
    )
    plugged = load_plugged_fn("right", RewardFunctionConfig(fn=f"{module}:right", weight=0.5), "reward")
    assert plugged._vf_weight == 0.5  # type: ignore[attr-defined]
    task = SimpleNamespace(idx=1, prompt="2+2?", answer="4", name=None, tests=None)
    trace = SimpleNamespace(last_reply=RIGHT, num_output_tokens=3, is_truncated=False)
    assert asyncio.run(invoke_all([plugged], {"task": task, "trace": trace})) == [1.25]
    scores: dict[str, Any] = {}
    seed(scores, ["right"])
    trace.last_reply = "BROKEN"
    with pytest.raises(Unscored):
        asyncio.run(invoke_all([plugged], {"task": task, "trace": trace}))
    assert scores == {"right": None}


def test_verifiers_legacy_gives_nan_because_the_rubric_turns_exceptions_into_zero() -> None:
    """By names, as the Rubric passes them; chat completions too."""
    right = verifiers.legacy(EXPRESSION)

    def call(text: str) -> float:
        messages = [{"role": "assistant", "content": text}]
        return asyncio.run(right(prompt="q", completion=messages, answer="4", info={}, state={}, parser=None))  # type: ignore[arg-type]

    assert [call(text) for text in ANSWERS] == offline(ANSWERS)
    assert math.isnan(call("BROKEN"))


# ---------------------------------------------------------------- inspect_ai


def inspect_state(text: str, stop_reason: str = "stop") -> Any:
    """The state after a model's answer, with inspect's own types."""
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import TaskState

    output = ModelOutput.from_content("mockllm/model", text, stop_reason=stop_reason)  # type: ignore[arg-type]
    return TaskState(
        model="mockllm/model", sample_id=1, epoch=1, input="2+2?", messages=[], output=output, metadata={}  # type: ignore[arg-type]
    )  # fmt: skip


def test_inspect_scorer_gives_the_offline_reward_and_unscored_for_errors() -> None:
    """Real inspect_ai: a Score with the verdicts, and `Score.unscored` (NaN with the reason) for what has no reward."""
    pytest.importorskip("inspect_ai")
    from inspect_ai.scorer import Target

    scorer = inspect_adapter.reward_scorer(EXPRESSION)
    scores = [asyncio.run(scorer(inspect_state(text), Target("4"))) for text in ANSWERS]
    assert [score.value for score in scores] == offline(ANSWERS)
    assert [score.answer for score in scores] == ["4", "5", "4"]
    assert scores[0].metadata["verdicts"]["format"]["score"] == 1.0
    broken = asyncio.run(scorer(inspect_state("BROKEN"), Target("4")))
    assert math.isnan(broken.value)
    assert broken.reason == "error"
    assert "worker_lost" in broken.explanation


def test_inspect_runs_a_whole_evaluation_with_the_scorer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through `inspect_ai.eval` with its mock model: the mean leaves the unscored sample out."""
    pytest.importorskip("inspect_ai")
    # inspect estimates token counts with a table that it would download.
    counter = SimpleNamespace(encode=lambda text, **_: text.split())
    monkeypatch.setattr("tiktoken.get_encoding", lambda name: counter)
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset
    from inspect_ai.dataset import Sample as InspectSample
    from inspect_ai.model import ModelOutput, get_model

    answers = [RIGHT, WRONG, "BROKEN"]
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in answers]
    task = Task(
        dataset=MemoryDataset([InspectSample(input="2+2?", target="4") for _ in answers]),
        scorer=inspect_adapter.reward_scorer(EXPRESSION),
    )
    (log,) = evaluate(
        task, model=get_model("mockllm/model", custom_outputs=outputs), log_dir=str(tmp_path), display="none",
        max_samples=1, max_connections=1,
    )  # fmt: skip
    assert log.status == "success"
    assert log.results is not None
    metrics = log.results.scores[0].metrics
    assert metrics["mean"].value == pytest.approx((1.25 + 0.25) / 2)


# ---------------------------------------------------------------- lighteval


def test_lighteval_means_leave_unscored_samples_out_and_count_them() -> None:
    """One NaN would make lighteval's own mean NaN for the whole task."""
    values = [1.0, math.nan, 0.0]
    assert lighteval_adapter.scored_mean(values) == 0.5
    assert lighteval_adapter.unscored_share(values) == pytest.approx(1 / 3)
    assert math.isnan(lighteval_adapter.scored_mean([math.nan]))


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **attributes: Any) -> types.ModuleType:
    """A module of that dotted name with the given attributes, and its parents."""
    parts = name.split(".")
    for i in range(1, len(parts) + 1):
        dotted = ".".join(parts[:i])
        if dotted not in sys.modules:
            module = types.ModuleType(dotted)
            module.__path__ = []
            monkeypatch.setitem(sys.modules, dotted, module)
    module = sys.modules[name]
    for key, value in attributes.items():
        monkeypatch.setattr(module, key, value, raising=False)
    return module


def lighteval_is_there() -> bool:
    try:
        importlib.import_module("lighteval.metrics.utils.metric_utils")
    except ImportError:
        return False
    return True


def test_lighteval_metric_in_the_documented_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    """With lighteval where it is installed, else with stand-ins of its three classes (0.13)."""
    if not lighteval_is_there():

        @dataclass
        class Grouping:
            metric_name: list[str]
            higher_is_better: dict[str, bool]
            category: Any
            sample_level_fn: Any
            corpus_level_fn: dict[str, Any]

        stand_in(monkeypatch, "lighteval.metrics.metrics_sample", SampleLevelComputation=object)
        stand_in(monkeypatch, "lighteval.metrics.utils.metric_utils", SampleLevelMetricGrouping=Grouping)
        stand_in(monkeypatch, "lighteval.tasks.requests", SamplingMethod=SimpleNamespace(GENERATIVE="g"))
    metric = lighteval_adapter.reward_metric(EXPRESSION)
    doc = SimpleNamespace(query="2+2?", id="d1", get_golds=lambda: ["4"])
    out = metric.sample_level_fn.compute(doc=doc, model_response=SimpleNamespace(text=[RIGHT, "BROKEN"]), model="x")
    assert out == {"reward": 1.25, "reward_unscored": 0.5}
    assert set(metric.corpus_level_fn) == set(metric.metric_name) == {"reward", "reward_unscored"}


# ---------------------------------------------------------------- NeMo Gym


def nemo_stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    """NeMo Gym is not installed here: pydantic models with the documented fields, and FastAPI's exception."""
    from pydantic import BaseModel

    class HTTPException(Exception):
        def __init__(self, status_code: int, detail: str) -> None:
            super().__init__(detail)
            self.status_code = status_code

    class BaseVerifyRequest(BaseModel):
        responses_create_params: Any = None
        response: Any

    class BaseVerifyResponse(BaseVerifyRequest):
        reward: float

    if importlib.util.find_spec("fastapi") is None:
        stand_in(monkeypatch, "fastapi", HTTPException=HTTPException)
    stand_in(
        monkeypatch, "nemo_gym.base_resources_server", BaseVerifyRequest=BaseVerifyRequest,
        BaseVerifyResponse=BaseVerifyResponse, SimpleResourcesServer=object, BaseResourcesServerConfig=BaseModel,
        ReverifyMode=SimpleNamespace(STATELESS="stateless"),
    )  # fmt: skip


def nemo_response(text: str) -> Any:
    part = SimpleNamespace(type="output_text", text=text)
    reasoning = SimpleNamespace(type="reasoning", content=[])
    return SimpleNamespace(output=[reasoning, SimpleNamespace(type="message", role="assistant", content=[part])])


def test_nemo_gym_verify_answers_with_reward_or_an_http_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """422 for an unusable row, 503 for our failure; the response carries the request and the verdicts."""
    nemo_stand_ins(monkeypatch)
    server_class = nemo_gym.resources_server(EXPRESSION)
    server = object.__new__(server_class)

    class Body(SimpleNamespace):
        def model_dump(self) -> dict[str, Any]:
            return {"response": self.response}

    def verify(text: str) -> Any:
        body = Body(response=nemo_response(text), expected_answer="4", tests=None, task=None)
        return asyncio.run(server.verify(body))

    assert [verify(text).reward for text in ANSWERS] == offline(ANSWERS)
    assert verify(RIGHT).verdicts["outcome_of_text"]["score"] == 1.0
    for text, code in (("BROKEN", 503), ("UNUSABLE", 422)):
        with pytest.raises(Exception, match="row") as caught:
            verify(text)
        assert caught.value.status_code == code  # type: ignore[attr-defined]


# ---------------------------------------------------------------- SkyRL


def test_skyrl_environment_judges_one_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """With skyrl_gym where it is installed (made through its registry), else with its two documented classes."""
    extras = {"reward_spec": {"ground_truth": "4"}, "index": 3}
    if importlib.util.find_spec("skyrl_gym") is not None:
        import skyrl_gym
        from skyrl_gym.envs.registration import deregister
        from skyrl_gym.envs.registration import register as register_env

        register_env(id="rules", entry_point=skyrl.environment(EXPRESSION))
        environments = [skyrl_gym.make("rules", env_config=None, extras=extras) for _ in ANSWERS]
        deregister("rules")
    else:

        class BaseTextEnv:
            def __init__(self) -> None:
                self.turns = 0

        stand_in(monkeypatch, "skyrl_gym.envs.base_text_env", BaseTextEnv=BaseTextEnv, BaseTextEnvStepOutput=dict)
        environments = [skyrl.environment(EXPRESSION)(extras=extras) for _ in ANSWERS]
    steps = [environment.step(text) for environment, text in zip(environments, ANSWERS, strict=True)]
    assert [step["reward"] for step in steps] == offline(ANSWERS)
    assert all(step["done"] and step["observations"] == [] for step in steps)
    with pytest.raises(Unscored):
        environments[0].step("BROKEN")
    with pytest.raises(ValueError, match="ground_truth"):
        skyrl.environment(EXPRESSION)(extras={})


# ---------------------------------------------------------------- ms-swift


def test_ms_swift_orm_takes_columns_and_gives_none_for_unscored(monkeypatch: pytest.MonkeyPatch) -> None:
    """swift.rewards of ms-swift 4.6: a class in `orms`, called with completions and every column as a list."""
    orms: dict[str, Any] = {}

    class ORM:
        def __init__(self, args: Any = None, **kwargs: Any) -> None:
            self.args = args

    stand_in(monkeypatch, "swift.rewards", ORM=ORM, orms=orms)
    ms_swift.register("rules", EXPRESSION)
    answers = [*ANSWERS, "BROKEN"]
    messages = [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "?"}]
    rewards = orms["rules"](args=None)(
        answers, solution=["4"] * 4, messages=[messages] * 4, response_token_ids=[[1, 2]] * 4, trainer_state=None
    )
    assert rewards == offline(answers)
    assert rewards[3] is None


# ---------------------------------------------------------------- all the same


def test_all_adapters_agree_on_the_demo_rows() -> None:
    """The completions of the demo get one and the same reward on every path that needs no framework."""
    path = ROOT / "tests" / "cases" / "adapter_rows.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    expression = "outcome_of_text + 0.25*format"
    samples = [Sample(id=str(i), completion=row["completion"], gold=row["gold"]) for i, row in enumerate(rows)]
    expected = [result.reward for result in Reward.parse(expression).score(samples)]
    assert expected == [row["reward"] for row in rows]
    by_verl = [verl.compute_score("d", row["completion"], row["gold"], reward=expression)["score"] for row in rows]
    rm = slime.reward_model(expression)
    by_slime = [asyncio.run(rm(None, SlimeSample(row["completion"], row["gold"]))) for row in rows]  # type: ignore[arg-type]
    function = areal.reward_function(expression)
    by_areal = [function("", row["completion"], [], [], answer=row["gold"]) for row in rows]
    by_openrlhf = openrlhf.reward_function(expression, as_tensors=False)(
        ["p" + row["completion"] for row in rows], ["p"] * len(rows), [row["gold"] for row in rows]
    )["rewards"]
    assert by_verl == by_slime == by_areal == by_openrlhf == expected
