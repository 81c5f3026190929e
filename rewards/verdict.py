"""What goes into a verifier and what comes out: `Sample`, `Verdict`, `Status`, `Reason`.

This module imports nothing of ours, so every other one may import it. `Sample` and `Verdict` are
frozen slotted dataclasses rather than pydantic models: a training step builds tens of thousands of
them, and validation at the edge (`rewards.records`) is where bad input is met.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

Message = Mapping[str, Any]
"""One chat message: `{"role": "assistant", "content": "..."}`."""

_EMPTY: Final[Mapping[str, Any]] = MappingProxyType({})


class Status(StrEnum):
    """Whose fact a verdict states. Only `SCORED` carries a number."""

    SCORED = "scored"
    """A fact about the completion; 0 included."""
    SKIPPED = "skipped"
    """This verifier does not apply to this row (the same for the whole group)."""
    INVALID = "invalid"
    """The data set's fault: gold unreadable, tests missing, a needed field absent."""
    ERROR = "error"
    """Our fault: worker lost, sandbox down, a bug, a wall-clock kill of our own code."""


class Reason(StrEnum):
    """Reason codes every verifier may use. A verifier documents its own in `Verifier.reasons`."""

    OK = "ok"
    """The property holds."""
    NO_ANSWER = "no_answer"
    """No final answer stands in the completion."""
    TRUNCATED = "truncated"
    """The completion was cut off before what is asked for was finished."""
    OVER_LIMIT = "over_limit"
    """A deterministic budget (characters, nodes, digits, depth) was crossed."""
    MISSING_FIELD = "missing_field"
    """The row lacks a field that the verifier needs."""
    GOLD_UNREADABLE = "gold_unreadable"
    """The gold cannot be read as what the verifier compares with."""
    NOT_APPLICABLE = "not_applicable"
    """The verifier does not apply to this row."""
    DEPENDS_UNSCORED = "depends_unscored"
    """The component that this one reads has no score for the row."""
    NOT_REACHED = "not_reached"
    """A gate kept this component from running on this row."""
    UNROUTED_TASK = "unrouted_task"
    """No branch of `route(...)` names the row's task, and there is no `default`."""
    EXCEPTION = "exception"
    """The verifier raised; the detail names the exception."""
    DEADLINE = "deadline"
    """Our own worker ran past its wall-clock deadline and was killed."""
    WORKER_LOST = "worker_lost"
    """A worker process died before it answered."""
    BAD_VERDICT = "bad_verdict"
    """The verifier broke its own contract (range, count, reason code)."""


def message_text(content: Any) -> str:
    """The text of one message's `content`: a string, a list of text parts, or nothing."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, Sequence):
        return "".join(
            part if isinstance(part, str) else str(part.get("text") or "")
            for part in content
            if isinstance(part, str | Mapping)
        )
    raise TypeError(f"message content is a {type(content).__name__}; allowed: a string, a list of text parts, or null")


def chat_text(value: str | Sequence[Message]) -> str:
    """A completion as text: a string as it is; of a message list, the last assistant message.

    With tool calls a completion holds several messages; what the user reads as the answer is the last
    one that the assistant wrote. Taking `len()` or `in` of the list itself is how string rewards stay
    silently 0 on chat data (huggingface/open-r1#567).
    """
    if isinstance(value, str):
        return value
    last = ""
    for message in value:
        if not isinstance(message, Mapping):
            raise TypeError(
                f"a chat message is a {type(message).__name__}; allowed: a mapping with 'role' and 'content'"
            )
        if message.get("role", "assistant") == "assistant":
            last = message_text(message.get("content"))
    return last


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One completion and what judges it. JSON-plain.

    Attributes:
        id: unique within one scoring run.
        group: samples with the same value answer the same prompt; empty means a group of its own.
        prompt: string, or chat messages.
        prefill: what the chat template already wrote of the answer (such as `<think>\\n`).
        completion: string, or chat messages (the last assistant message counts).
        gold: the reference answer, or a list of acceptable ones.
        tests: one of the four shapes described in `rewards.code_tests`.
        task: name of the task, used by `route(...)`.
        num_tokens: length of the completion in tokens.
        truncated: True when generation stopped without an end-of-sequence token.
        meta: anything else of the row.
    """

    id: str = ""
    group: str = ""
    prompt: str | Sequence[Message] = ""
    prefill: str = ""
    completion: str | Sequence[Message] = ""
    gold: Any = None
    tests: Any = None
    task: str | None = None
    num_tokens: int | None = None
    truncated: bool | None = None
    meta: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)

    @property
    def text(self) -> str:
        """Prefill and completion together: what a reader sees of the assistant's turn."""
        completion = self.completion
        if type(completion) is str:
            return self.prefill + completion if self.prefill else completion
        return self.prefill + chat_text(completion)

    @property
    def prompt_text(self) -> str:
        """The prompt as one string: of messages, all contents joined by newlines."""
        if isinstance(self.prompt, str):
            return self.prompt
        return "\n".join(message_text(m.get("content")) for m in self.prompt)

    def __getstate__(self) -> tuple[Any, ...]:
        # MappingProxyType does not pickle; a plain dict does, and frozen slots need their own protocol.
        return (
            self.id, self.group, self.prompt, self.prefill, self.completion, self.gold, self.tests,
            self.task, self.num_tokens, self.truncated, dict(self.meta),
        )  # fmt: skip

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        for name, value in zip(_SAMPLE_FIELDS, state, strict=True):
            object.__setattr__(self, name, value)


_SAMPLE_FIELDS: Final = (
    "id", "group", "prompt", "prefill", "completion", "gold", "tests",
    "task", "num_tokens", "truncated", "meta",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a verifier says of one sample.

    Attributes:
        status: whose fact this is.
        score: present exactly when `status` is `scored`; finite, inside the verifier's range.
        reason: a code from the verifier's documented set.
        detail: one sentence for people.
        extracted: the piece of the completion that was judged, where there is one.
        parts: JSON-plain extras (sub-scores, per-test results, trees).

    Raises:
        ValueError: a score without `scored`, `scored` without a score, or a score that is not finite.
    """

    status: Status
    score: float | None = None
    reason: str = Reason.OK
    detail: str = ""
    extracted: str | None = None
    parts: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if (self.score is not None) is not (self.status is Status.SCORED):
            raise ValueError(
                f"status {self.status!s} with score {self.score!r}: a score exists exactly when status is 'scored'"
            )
        if self.score is not None and not math.isfinite(self.score):
            raise ValueError(f"score {self.score!r} is not finite; use invalid or error for what cannot be scored")

    @classmethod
    def scored(
        cls,
        score: float,
        reason: str = Reason.OK,
        detail: str = "",
        *,
        extracted: str | None = None,
        parts: Mapping[str, Any] | None = None,
    ) -> Verdict:
        """A fact about the completion, as a number."""
        return cls(Status.SCORED, float(score), reason, detail, extracted, parts)

    @classmethod
    def skipped(cls, reason: str = Reason.NOT_APPLICABLE, detail: str = "") -> Verdict:
        """The verifier does not apply to the row."""
        return cls(Status.SKIPPED, None, reason, detail)

    @classmethod
    def invalid(
        cls, reason: str, detail: str = "", *, extracted: str | None = None, parts: Mapping[str, Any] | None = None
    ) -> Verdict:
        """The row is unusable: the data set's fault."""
        return cls(Status.INVALID, None, reason, detail, extracted, parts)

    @classmethod
    def error(
        cls, reason: str, detail: str = "", *, extracted: str | None = None, parts: Mapping[str, Any] | None = None
    ) -> Verdict:
        """We failed; the completion is not to blame and gets no number."""
        return cls(Status.ERROR, None, reason, detail, extracted, parts)

    def as_row(self) -> dict[str, Any]:
        """The JSON form written by `rewards score`."""
        row: dict[str, Any] = {
            "status": self.status.value,
            "score": self.score,
            "reason": str(self.reason),
            "detail": self.detail,
            "extracted": self.extracted,
        }
        if self.parts:
            row["parts"] = dict(self.parts)
        return row
