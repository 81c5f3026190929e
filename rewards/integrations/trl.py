"""TRL: one reward expression as a reward function of `GRPOTrainer` (or `RLOOTrainer`), TRL 1.16.

    from rewards.integrations.trl import TrlReward
    trainer = GRPOTrainer(model, reward_funcs=TrlReward("math+format", columns={"gold": "answer"}), ...)

One callable for the whole expression, because TRL sums columns by itself: one function's None beside another's
number counts as 0 there, and only a row that is None in every column is left out. With one column an unscored row
is always left out. `TrlReward.split()` gives one callable per component where a trainer needs them apart (GDPO).
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from rewards.expression import Reward
from rewards.registry import nearest
from rewards.scoring import RewardResult
from rewards.scoring_process import ScoringProcess
from rewards.verdict import Sample, Status

RESERVED: Final = frozenset(
    {"prompts", "completions", "completion_ids", "prompt", "completion",
     "trainer_state", "log_extra", "log_metric", "environments"}
)  # fmt: skip
"""Names that TRL passes itself; a data set column of that name never reaches a reward function."""

_FIELDS: Final = ("id", "gold", "tests", "task", "meta")
_JSON: Final = "json:"


class TrlReward:
    """A reward expression as TRL calls it. Picklable; `__name__` is what TRL logs it under (`rewards/total/mean`).

    Args:
        reward: the expression, or a parsed `Reward`.
        columns: `Sample` field to data set column: `{"gold": "answer"}`. A column called like a field needs no entry.
            `"json:answer"` says the column holds JSON text (Arrow columns cannot mix shapes).
        prefill: what the chat template already wrote of the answer; `chat_prefill(tokenizer)` finds it.
        stop_token_ids: ids that end a completion (every end-of-sequence id, and the pad id). A completion whose last
            token is none of them was cut off. Empty means: not known, `Sample.truncated` stays None.
        process: a `ScoringProcess` made for this reward: a batch has a hard limit then. None scores in this process.

    Raises:
        ExpressionError: the expression cannot be read.
        ValueError: `columns` names an unknown field or a reserved column.
    """

    def __init__(
        self,
        reward: Reward | str,
        *,
        columns: Mapping[str, str] | None = None,
        prefill: str = "",
        stop_token_ids: Collection[int] = (),
        process: ScoringProcess | None = None,
    ) -> None:
        self.process = process
        self.reward = Reward.parse(reward) if isinstance(reward, str) else reward
        self.columns = dict(columns or {})
        self.prefill = prefill
        self.stop_token_ids = frozenset(stop_token_ids)
        self.__name__ = "total"
        self.seconds = 0.0
        """Wall seconds spent in scoring since construction, on this process."""
        for field, column in self.columns.items():
            if field not in _FIELDS:
                raise ValueError(f"columns: no Sample field {field!r}{nearest(field, _FIELDS)}")
            if column.removeprefix(_JSON) in RESERVED:
                raise ValueError(
                    f"columns: {column!r} is a name TRL uses itself, so the column never arrives; rename it"
                )
        self._grouped = any(verifier.scope == "group" for verifier in self.reward.components.values())
        self._begun: _Begun | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_begun": None}

    def begin(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]] | None = None,
        **columns: Any,
    ) -> None:
        """Start scoring a batch beside what the caller does next; the call with the same `completions` takes it over.

        TRL computes log-probabilities of the old policy and of the reference between generation and rewards; verifiers
        can work meanwhile. Does nothing where several processes must exchange rows, since an exchange has its place
        in the order of all others. An exception is raised by the call, not here.
        """
        if self._grouped and _processes()[0] > 1:
            return
        self._begun = _Begun(self, prompts, completions, completion_ids, columns)

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]] | None = None,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """One number per completion, None where it is unscored.

        Raises:
            ValueError: a mapped column is not in the data set; the message lists those that are.
        """
        begun, self._begun = self._begun, None
        if begun is not None and begun.completions is completions:
            samples, results = begun.take()
        else:
            samples = self.samples(prompts, completions, completion_ids, columns)
            results = self.results(samples)
        if log_extra is not None:
            log_verdicts(samples, results, self.reward, log_extra)
        if log_metric is not None:
            log_summary(results, self.reward, log_metric)
        return [result.reward for result in results]

    def samples(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]] | None,
        columns: Mapping[str, Any],
    ) -> list[Sample]:
        """TRL's batch as Samples: every path that scores builds them the same way.

        Raises:
            ValueError: a mapped column is missing.
        """
        values: dict[str, Sequence[Any]] = {}
        for field in _FIELDS:
            source = self.columns.get(field, field)
            name = source.removeprefix(_JSON)
            if name not in columns:
                if field in self.columns:
                    have = sorted(set(columns) - RESERVED)
                    raise ValueError(f"the data set has no column {name!r} for {field}{nearest(name, have)}")
                continue
            column = columns[name]
            values[field] = [_parsed(v) for v in column] if source.startswith(_JSON) else column
        ids = values.get("id")
        golds = values.get("gold")
        tests = values.get("tests")
        tasks = values.get("task")
        metas = values.get("meta")
        out = []
        rank = _processes()[1]  # every process of TRL holds equally many rows: a row has one number in all of them
        # Completions of one prompt share the prompt object or at least its text; hash each distinct one once.
        keys: dict[int, str] = {}
        for i, (prompt, completion) in enumerate(zip(prompts, completions, strict=True)):
            token_ids = completion_ids[i] if completion_ids is not None else None
            gold = golds[i] if golds is not None else None
            if ids is not None:
                group = str(ids[i])
            else:
                group = keys.setdefault(id(prompt), _prompt_key(prompt)) + _prompt_key(gold)[:8]
            truncated = None
            if token_ids is not None and self.stop_token_ids:
                truncated = not token_ids or token_ids[-1] not in self.stop_token_ids
            out.append(
                Sample(
                    id=f"{group}#{rank * len(completions) + i}",
                    group=group,
                    prompt=prompt,
                    prefill=self.prefill,
                    completion=completion,
                    gold=gold,
                    tests=tests[i] if tests is not None else None,
                    task=tasks[i] if tasks is not None else None,
                    num_tokens=len(token_ids) if token_ids is not None else None,
                    truncated=truncated,
                    meta=metas[i] if metas is not None and metas[i] else {},
                )
            )
        return out

    def results(self, samples: Sequence[Sample]) -> list[RewardResult]:
        """Score, with the groups whole: TRL cuts a batch across processes wherever it likes.

        A group-relative reward judged on a slice would compare with the wrong neighbours. So where the expression
        has one, every process (with no rows too) takes part in one exchange of the samples and one of the results,
        and each whole group is judged by the process that holds its first row.
        """
        began = time.perf_counter()
        try:
            ranks, rank = _processes()
            if not self._grouped or ranks == 1:
                return self._score(samples)
            from accelerate.utils import gather_object

            everyone: list[list[Sample]] = gather_object([list(samples)])
            flat = [(owner, sample) for owner, held in enumerate(everyone) for sample in held]
            first: dict[str, int] = {}
            for owner, sample in flat:
                first.setdefault(sample.group, owner)
            mine = [i for i, (_, sample) in enumerate(flat) if first[sample.group] == rank]
            judged = dict(zip(mine, self._score([flat[i][1] for i in mine]), strict=True))
            together: dict[int, RewardResult] = {}
            for part in gather_object([judged]):
                together.update(part)
            start = sum(len(held) for held in everyone[:rank])
            return [together[start + i] for i in range(len(samples))]
        finally:
            self.seconds += time.perf_counter() - began

    def _score(self, samples: Sequence[Sample]) -> list[RewardResult]:
        return self.reward.score(samples) if self.process is None else self.process.score(samples, self.reward)

    def split(self) -> tuple[list[TrlComponent], list[float]]:
        """One callable per component, and their weights: for trainers that normalise each component apart (GDPO).

        The batch is scored once for all of them, and an unscored row is None in every column.

        Raises:
            ValueError: the expression is no weighted sum of components.
        """
        weights = self.reward.additive()
        if weights is None:
            raise ValueError(
                f"{self.reward.text!r} is no plain weighted sum, so it has no per-component columns; "
                "write it as a*math + b*format, or train on the total"
            )
        shared = _SharedBatch(self)
        return [TrlComponent(shared, key) for key in weights], list(weights.values())

    def __repr__(self) -> str:
        return f"TrlReward({self.reward.text!r})"


class _Begun:
    """A batch that is being scored in a thread of its own, and what came of it."""

    def __init__(
        self,
        whole: TrlReward,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]] | None,
        columns: Mapping[str, Any],
    ) -> None:
        self.completions = completions
        self._found: tuple[list[Sample], list[RewardResult]] | None = None
        self._error: BaseException | None = None

        def work() -> None:
            try:
                samples = whole.samples(prompts, completions, completion_ids, columns)
                self._found = samples, whole.results(samples)
            except BaseException as error:  # carried over to the thread that asks
                self._error = error

        self._thread = threading.Thread(target=work, name="scoring", daemon=True)
        self._thread.start()

    def take(self) -> tuple[list[Sample], list[RewardResult]]:
        self._thread.join()  # verifiers that may not end run in processes that are killed at their deadline
        if self._error is not None:
            raise self._error
        assert self._found is not None
        return self._found


class _SharedBatch:
    """The verdicts of the batch in hand, so that one scoring serves every component's callable."""

    def __init__(self, whole: TrlReward) -> None:
        self.whole = whole
        self._batch: Sequence[Any] | None = None
        self._results: list[RewardResult] = []

    def results(self, completions: Sequence[Any], score: Callable[[], list[RewardResult]]) -> list[RewardResult]:
        # By identity, and the list is held, so that its id cannot be given to another one meanwhile.
        if self._batch is not completions:
            self._results, self._batch = score(), completions
        return self._results

    def __getstate__(self) -> dict[str, Any]:
        return {"whole": self.whole, "_batch": None, "_results": []}


class TrlComponent:
    """One component of a split reward; see `TrlReward.split`."""

    def __init__(self, shared: _SharedBatch, key: str) -> None:
        self.shared = shared
        self.key = key
        self.__name__ = key

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]] | None = None,
        log_extra: Callable[[str, list[Any]], None] | None = None,
        log_metric: Callable[[str, float], None] | None = None,
        **columns: Any,
    ) -> list[float | None]:
        """This component's scores; None for a row whose whole reward is unscored, or that it does not apply to."""

        def score() -> list[RewardResult]:
            whole = self.shared.whole
            samples = whole.samples(prompts, completions, completion_ids, columns)
            results = whole.results(samples)
            if log_extra is not None:
                log_verdicts(samples, results, whole.reward, log_extra)
            if log_metric is not None:
                log_summary(results, whole.reward, log_metric)
            return results

        results = self.shared.results(completions, score)
        return [result.verdicts[self.key].score if result.reward is not None else None for result in results]


def log_verdicts(
    samples: Sequence[Sample], results: Sequence[RewardResult], reward: Reward, log: Callable[[str, list[Any]], None]
) -> None:
    """Every verdict as columns of TRL's completions table, each prefixed by its component.

    Without the prefix two functions that log one column overwrite each other in TRL, silently.
    """
    log("id", [sample.id for sample in samples])
    log("group", [sample.group for sample in samples])
    log("num_tokens", [sample.num_tokens for sample in samples])
    log("truncated", [sample.truncated for sample in samples])
    log("status", [result.status.value for result in results])
    for key in reward.components:
        verdicts = [result.verdicts[key] for result in results]
        log(f"{key}/status", [v.status.value for v in verdicts])
        log(f"{key}/score", [v.score for v in verdicts])
        log(f"{key}/reason", [str(v.reason) for v in verdicts])
        log(f"{key}/detail", [v.detail for v in verdicts])
        log(f"{key}/extracted", [v.extracted for v in verdicts])


def log_summary(results: Sequence[RewardResult], reward: Reward, log: Callable[[str, float], None]) -> None:
    """Mean score per component, and the share of rows that have no reward."""
    for key in reward.components:
        scores = [s for result in results if (s := result.verdicts[key].score) is not None]
        if scores:
            log(f"{key}/score", sum(scores) / len(scores))
    if results:
        unscored = Counter(result.status for result in results if result.status is not Status.SCORED)
        log("unscored", sum(unscored.values()) / len(results))


def chat_prefill(tokenizer: Any, **template_kwargs: Any) -> str:
    """What the chat template writes of the assistant's turn before the model does, such as `<think>\\n`.

    Format rewards need it: the completion that a trainer hands over starts after it, so a completion judged alone
    lacks its opening tag for ever (huggingface/trl#6966). Found by rendering: the generation prompt, less the header
    that an earlier assistant turn has, too. The turn in the middle is compared, as templates treat the last one
    specially (Qwen3 writes an empty think block there).

    Returns "" for a tokenizer without a chat template.
    """
    if not getattr(tokenizer, "chat_template", None):
        return ""
    mark = "MARK7261"
    user = {"role": "user", "content": "q"}

    def render(messages: list[dict[str, str]], generation: bool) -> str:
        text = tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=generation, **template_kwargs
        )
        return str(text)

    before, opened = render([user], False), render([user], True)
    if not opened.startswith(before):
        return ""
    opening = opened[len(before) :]
    turns = ([user, {"role": "assistant", "content": mark}, user], [user, {"role": "assistant", "content": mark}])
    for messages in turns:
        try:
            text = render(messages, False)
        except Exception:  # a template may refuse a shape with any error of its own
            continue
        if text.startswith(before) and mark in text:
            header = text[len(before) : text.index(mark)]
            if opening.startswith(header):
                return opening[len(header) :]
    return ""


def _parsed(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _prompt_key(value: Any) -> str:
    plain = json.dumps(value, sort_keys=True, default=str)
    return hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _processes() -> tuple[int, int]:
    """(number of processes, own rank), without bringing accelerate into a process that does not use it."""
    if "accelerate" not in sys.modules:
        return 1, 0
    from accelerate.state import PartialState

    if not PartialState._shared_state:
        return 1, 0
    state = PartialState()
    return state.num_processes, state.process_index
