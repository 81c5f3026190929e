"""Is the completion laid out as the prompt asked: tags, boxes, an answer line, JSON, a pattern, fences, tool calls.

Every check here is one left-to-right scan, so hostile text costs time in proportion to its length. What a
regular expression with lazy quantifiers gets wrong, in public toolkits, and these scans get right:
a second block (`(.*?)` stretches over it), text after the last block (a multi-line `$`), empty blocks,
a close tag that never comes, and a prefilled `<think>` that the completion itself does not contain.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import BeforeValidator, field_validator

from rewards.registry import Params, Verifier, register
from rewards.verdict import Reason, Sample, Verdict

REASONING_TAGS: Final = frozenset(
    {"think", "thinking", "thought", "thoughts", "reasoning", "reason", "scratchpad", "analysis", "reflection"}
)
"""Tag names whose block holds the way to the answer and never the answer itself."""

MAX_TAGS: Final = 16
_TAG_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_BOX: Final = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])")
_BRACE: Final = re.compile(r"\\.|[{}]", re.DOTALL)


def names_from(value: Any) -> Any:
    """`"think,answer"` (what a reward expression can say) as `("think", "answer")`; a list stays a list."""
    if isinstance(value, str):
        return tuple(part for part in re.split(r"[,\s]+", value) if part)
    return value


def tokens_from(value: Any) -> Any:
    """One token as a string, several as a list or as one string with blanks between them."""
    return tuple(value.split()) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(names_from)]
Tokens = Annotated[tuple[str, ...], BeforeValidator(tokens_from)]


def position(text: str, offset: int) -> str:
    """`line 3, column 8`, both from 1: where in the text something stands."""
    line_start = text.rfind("\n", 0, offset) + 1
    return f"line {text.count(chr(10), 0, offset) + 1}, column {offset - line_start + 1}"


def without_end_tokens(text: str, tokens: tuple[str, ...]) -> str:
    """`text` without the listed special tokens at its two ends, and without the blanks around those.

    Only the ends: the same characters in the middle are something that the model wrote.
    """
    if not tokens:
        return text
    start, end = 0, len(text)
    moved = True
    while moved:
        moved = False
        while end > start and text[end - 1].isspace():
            end -= 1
        while start < end and text[start].isspace():
            start += 1
        for token in tokens:
            if text.endswith(token, start, end):
                end -= len(token)
                moved = True
            elif text.startswith(token, start, end):
                start += len(token)
                moved = True
    return text[start:end]


class TagParams(Params):
    """What every tag check needs to know of the layout."""

    tags: Names = ("think", "answer")
    """Block names in order, without angle brackets: `"think,answer"` or a list."""
    strip_tokens: Tokens = ()
    """Special tokens that may stand at the ends, such as `<|im_end|>`; removed before the check."""

    @field_validator("tags")
    @classmethod
    def _tags(cls, tags: tuple[str, ...]) -> tuple[str, ...]:
        if not 1 <= len(tags) <= MAX_TAGS:
            raise ValueError(f"{len(tags)} tags; give 1 to {MAX_TAGS} names, such as 'think,answer'")
        for tag in tags:
            if not _TAG_NAME.fullmatch(tag):
                raise ValueError(f"{tag!r} is not a tag name; write it without angle brackets, such as 'think,answer'")
        if len(set(tags)) != len(tags):
            raise ValueError("a tag is named twice; each block of a layout has its own name")
        return tags

    @field_validator("strip_tokens")
    @classmethod
    def _strip_tokens(cls, tokens: tuple[str, ...]) -> tuple[str, ...]:
        if any(not token.strip() for token in tokens):
            raise ValueError("an empty token; list special tokens as they appear in the text, such as '<|im_end|>'")
        return tokens


Mode = Literal["auto", "strict", "think_then_text", "loose"]


class LayoutParams(TagParams):
    """Parameters of `format`."""

    mode: Mode = "auto"
    """What may stand outside the blocks. `strict`: white space only. `think_then_text`: nothing before or
    between, and the answer, not empty, after the last block. `loose`: anything. `auto`: `think_then_text` when
    the last tag holds reasoning (`tags="think"`), else `strict`."""
    boxed: bool = False
    """Ask for exactly one `\\boxed{...}`, not empty, in the part that holds the answer."""

    @property
    def resolved_mode(self) -> Literal["strict", "think_then_text", "loose"]:
        """`mode` with `auto` decided by the last tag."""
        if self.mode == "auto":
            return "think_then_text" if self.tags[-1] in REASONING_TAGS else "strict"
        return self.mode


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a text does not have the form asked for."""

    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Tag:
    """One tag in a text: `<think>` or `</think>`, from `start` to `end`."""

    text: str
    start: int
    end: int


@functools.lru_cache(maxsize=256)
def _tag_scanner(tags: tuple[str, ...]) -> tuple[tuple[str, ...], re.Pattern[str]]:
    expected = tuple(part for tag in tags for part in (f"<{tag}>", f"</{tag}>"))
    return expected, re.compile("</?(?:" + "|".join(map(re.escape, tags)) + ")>")


def layout_text(sample: Sample, params: TagParams) -> str:
    """The text whose layout is judged: prefill and completion, end tokens removed.

    Where tags are special tokens of the tokenizer they are gone from the decoded text (huggingface/trl#2897):
    a row that carries `meta["completion_tokens"]`, the token strings with special ones included, is judged on those.
    """
    tokens = sample.meta.get("completion_tokens") if sample.meta else None
    text = sample.prefill + "".join(map(str, tokens)) if isinstance(tokens, list | tuple) else sample.text
    return without_end_tokens(text, params.strip_tokens) if params.strip_tokens else text


def blocks(text: str, tags: tuple[str, ...], truncated: bool | None = None) -> list[Tag] | Fault:
    """The layout's tags, each once, opening and closing in order; or what is wrong with them.

    Stops at the first tag seen twice: at most two tags per name plus one are ever looked at.
    """
    expected, scanner = _tag_scanner(tags)
    seen: dict[str, Tag] = {}
    for hit in scanner.finditer(text):
        name = hit.group()
        if name in seen:
            return Fault(
                "duplicate_tag",
                f"{name} stands at {position(text, seen[name].start)} and again at {position(text, hit.start())}",
            )
        seen[name] = Tag(name, hit.start(), hit.end())
    if not seen:
        return Fault("no_tags", f"none of {' '.join(expected)} stands in the text")
    missing = [name for name in expected if name not in seen]
    if missing:
        if truncated:
            return Fault(Reason.TRUNCATED, f"generation was cut off before {' '.join(missing)}")
        return Fault("missing_tag", f"{' '.join(missing)} is missing")
    in_order = [seen[name] for name in expected]
    for before, after in itertools.pairwise(in_order):
        if after.start < before.end:
            return Fault("tag_order", f"{after.text} at {position(text, after.start)} stands before {before.text}")
    return in_order


def one_box(text: str, start: int, end: int, truncated: bool | None = None) -> str | Fault:
    """The content of the only `\\boxed{...}` between two offsets; or why there is not exactly one."""
    hits = _BOX.finditer(text, start, end)
    first = next(hits, None)
    if first is None:
        return Fault("missing_box", "no \\boxed{...} in the answer")
    second = next(hits, None)
    if second is not None:
        return Fault(
            "duplicate_box",
            f"\\boxed stands at {position(text, first.start())} and again at {position(text, second.start())}",
        )
    opened = first.end()
    while opened < end and text[opened].isspace():
        opened += 1
    where = position(text, first.start())
    if opened >= end or text[opened] != "{":
        if opened >= end and truncated:
            return Fault(Reason.TRUNCATED, f"generation was cut off inside \\boxed at {where}")
        return Fault("missing_box", f"\\boxed at {where} has no braces")
    depth = 0
    for brace in _BRACE.finditer(text, opened, end):
        if brace.group() == "{":
            depth += 1
        elif brace.group() == "}":
            depth -= 1
            if depth == 0:
                content = text[opened + 1 : brace.start()]
                if not content.strip(" \t\r\n{}~"):
                    return Fault("empty_box", f"\\boxed at {where} is empty")
                return content.strip()
    if truncated:
        return Fault(Reason.TRUNCATED, f"generation was cut off inside \\boxed at {where}")
    return Fault("unclosed_box", f"\\boxed at {where} is never closed")


_TAG_REASONS: Final = {
    "no_tags": "none of the layout's tags stands in the text",
    "missing_tag": "a tag is missing",
    "duplicate_tag": "a tag stands more than once",
    "tag_order": "the tags stand in the wrong order",
    "empty_block": "a block holds nothing but white space",
    "text_outside": "text stands where the layout allows only white space",
    "no_text_after": "nothing follows the reasoning block",
}
_BOX_REASONS: Final = {
    "missing_box": "no \\boxed{...} in the answer",
    "duplicate_box": "more than one \\boxed{...} in the answer",
    "empty_box": "the box is empty",
    "unclosed_box": "the box is never closed",
}


def _outside_fault(text: str, found: list[Tag], mode: str) -> Fault | None:
    """White space alone before and between the blocks, and after them unless the answer belongs there."""
    edges = [0, *(tag.end for tag in found[1::2])]
    for at, before in zip(edges, found[0::2], strict=False):
        if text[at : before.start].strip():
            return Fault("text_outside", f"text before {before.text} at {_first_ink(text, at)}")
    tail = text[found[-1].end :].strip()
    if mode == "strict" and tail:
        return Fault("text_outside", f"text after {found[-1].text} at {_first_ink(text, found[-1].end)}")
    if mode == "think_then_text" and not tail:
        return Fault("no_text_after", f"nothing follows {found[-1].text}; the answer belongs there")
    return None


def _first_ink(text: str, offset: int) -> str:
    while offset < len(text) and text[offset].isspace():
        offset += 1
    return position(text, offset)


def _empty_fault(text: str, found: list[Tag]) -> Fault | None:
    for opening, closing in zip(found[0::2], found[1::2], strict=True):
        if not text[opening.end : closing.start].strip():
            return Fault("empty_block", f"{opening.text} at {position(text, opening.start)} holds nothing")
    return None


@register("format")
class TagLayout(Verifier[LayoutParams]):
    """1 when the completion has the tag layout that the prompt asked for, else 0 with the tag and the place.

    Each tag of `tags` stands exactly once, opening and closing in order, no block is empty, and nothing but
    white space stands outside (see `mode`). Tags match literally: `<thinking>` is not `<think>`.

        format                                  <think>..</think><answer>..</answer>
        format(tags="think", boxed=true)        <think>..</think> text with exactly one \\boxed{..}
        format(tags="reasoning,answer")         other names
        format(mode="loose")                    text before, between and after is fine

    With a prefilled `<think>` the row says so in `Sample.prefill`; a bare `</think>` without it is `missing_tag`.
    """

    version = 1
    reasons = _TAG_REASONS | _BOX_REASONS
    source = "DeepSeek-R1 (arXiv 2501.12948) section 2.2.2, format reward"
    example: ClassVar[Mapping[str, Any]] = {
        "completion": "<think>7+8=15</think>\n<answer>15</answer>",
    }

    def verify(self, sample: Sample) -> Verdict:
        params = self.params
        text = layout_text(sample, params)
        found = blocks(text, params.tags, sample.truncated)
        if isinstance(found, Fault):
            return Verdict.scored(0.0, found.reason, found.detail)
        mode = params.resolved_mode
        fault = _empty_fault(text, found) or (None if mode == "loose" else _outside_fault(text, found, mode))
        if fault is not None:
            return Verdict.scored(0.0, fault.reason, fault.detail)
        if not params.boxed:
            return Verdict.scored(1.0)
        box = one_box(text, *_answer_part(text, found), sample.truncated)
        if isinstance(box, Fault):
            return Verdict.scored(0.0, box.reason, box.detail)
        return Verdict.scored(1.0, extracted=box)


def _answer_part(text: str, found: list[Tag]) -> tuple[int, int]:
    """Where the answer stands: in the last block, or after it when that block holds reasoning."""
    opening, closing = found[-2:]
    if opening.text[1:-1] in REASONING_TAGS:
        return closing.end, len(text)
    return opening.end, closing.start
