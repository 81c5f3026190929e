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
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple

from pydantic import BeforeValidator, Field, field_validator, model_validator

from rewards.registry import Params, Verifier, register
from rewards.verdict import Reason, Sample, Verdict
from rewards.words import first_ink

REASONING_TAGS: Final = frozenset(
    {"think", "thinking", "thought", "thoughts", "reasoning", "reason", "scratchpad", "analysis", "reflection"}
)
"""Tag names whose block holds the way to the answer and never the answer itself."""

MAX_TAGS: Final = 16
_TAG_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_BOX: Final = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])")
# What prints nothing by itself: spacing, empty groups, text and style commands. `\boxed{\,}` is an empty box.
_BLANK_IN_BOX: Final = re.compile(
    r"[{}~$]|\\(?:[,;:!> ]|(?:quad|qquad|enspace|thinspace|hfill|displaystyle|textstyle|left\.|right\."
    r"|text(?:rm|bf|it|sf|tt)?|math(?:rm|bf|it|sf|tt)|mbox|h?phantom|relax|null)(?![A-Za-z]))"
)
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
    stop_at_last_tag: bool = False
    """The last closing tag is the sampler's stop string and was left out of the text: it counts as written where its
    block was opened and the completion is not truncated."""

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


class ModeParams(TagParams):
    """A layout, and what may stand around its blocks."""

    mode: Mode = "auto"
    """What may stand outside the blocks. `strict`: white space only. `think_then_text`: nothing before or
    between, and the answer, not empty, after the last block. `loose`: anything. `auto`: `think_then_text` when
    the last tag holds reasoning (`tags="think"`), else `strict`."""

    @property
    def resolved_mode(self) -> Literal["strict", "think_then_text", "loose"]:
        """`mode` with `auto` decided by the last tag."""
        if self.mode == "auto":
            return "think_then_text" if self.tags[-1] in REASONING_TAGS else "strict"
        return self.mode


class LayoutParams(ModeParams):
    """Parameters of `format`."""

    boxed: bool = False
    """Ask for exactly one `\\boxed{...}`, not empty, in the part that holds the answer."""

    @model_validator(mode="after")
    def _can_pass(self) -> LayoutParams:
        if self.boxed and self.mode == "strict" and self.tags[-1] in REASONING_TAGS:
            raise ValueError(
                f"mode=strict allows nothing behind </{self.tags[-1]}>, where boxed=true asks for the box: "
                "no completion can pass; use mode=think_then_text"
            )
        return self


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a text does not have the form asked for."""

    reason: str
    detail: str


class Tag(NamedTuple):
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
    if params.strip_tokens:
        text = without_end_tokens(text, params.strip_tokens)
    if params.stop_at_last_tag and not sample.truncated:
        last = params.tags[-1]
        if f"<{last}>" in text and f"</{last}>" not in text:
            text += f"</{last}>"
    return text


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
                if first_ink(_BLANK_IN_BOX.sub(" ", content)) is None:
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
        ink = first_ink(text, at, before.start)
        if ink is not None:
            return Fault("text_outside", f"text before {before.text} at {position(text, ink)}")
    ink = first_ink(text, found[-1].end)
    if mode == "strict" and ink is not None:
        return Fault("text_outside", f"text after {found[-1].text} at {position(text, ink)}")
    if mode == "think_then_text" and ink is None:
        return Fault("no_text_after", f"nothing follows {found[-1].text}; the answer belongs there")
    return None


def _empty_fault(text: str, found: list[Tag]) -> Fault | None:
    for opening, closing in zip(found[0::2], found[1::2], strict=True):
        if first_ink(text, opening.end, closing.start) is None:
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


class ShareParams(ModeParams):
    """Parameters of `format_share`."""

    trailing_penalty_per_char: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """Taken off for each character, white space at the ends left out, after the last closing tag."""


@register("format_share")
class TagShare(Verifier[ShareParams]):
    """The soft variant of `format`: the share of the layout that is right, for models that are still far from it.

    A tag is right when it stands exactly once, in its place in the order, and the side of the block that it bounds
    is not empty; text outside the blocks is one more item that only a layout with every tag right can earn. So
    plain text, tags alone and the empty completion get 0, a full layout gets 1, and the length of the reasoning
    never matters. (Counting tags with `text.count` pays 0.2 for plain text in some toolkits, and taking off for
    "text after the tag" by splitting at a tag that is not there takes off for the whole text: ZHZisZZ/dllm#118.)
    """

    reasons: ClassVar[Mapping[str, str]] = _TAG_REASONS | {"partly": "some of the layout's tags are right"}
    source = "tag counting after the GRPO tutorials' xmlcount reward, with its faults removed"
    example: ClassVar[Mapping[str, Any]] = {"completion": "<think>7+8=15</think>\n<answer>15</answer>"}

    def verify(self, sample: Sample) -> Verdict:
        params = self.params
        text = layout_text(sample, params)
        expected, scanner = _tag_scanner(params.tags)
        hits = [Tag(hit.group(), hit.start(), hit.end()) for hit in scanner.finditer(text)]
        if not hits:
            return Verdict.scored(0.0, "no_tags", f"none of {' '.join(expected)} stands in the text")
        right = _right_tags(text, hits, expected)
        wrong = [name for name in expected if name not in right]
        share = len(right) / (len(expected) + 1)
        fault: Fault | None = None
        if not wrong:
            mode = params.resolved_mode
            fault = None if mode == "loose" else _outside_fault(text, [right[name] for name in expected], mode)
            share = 1.0 if fault is None else share
        last = right.get(expected[-1])
        trailing = len(text[last.end :].strip()) if last is not None else 0
        penalty = trailing * params.trailing_penalty_per_char
        parts = {"right": [name for name in expected if name in right], "trailing_penalty": penalty}
        score = max(0.0, share - penalty)
        if fault is not None:
            return Verdict.scored(score, fault.reason, fault.detail, parts=parts)
        if wrong:
            return Verdict.scored(score, "partly", f"not right: {' '.join(wrong)}", parts=parts)
        return Verdict.scored(score, parts=parts)


def _right_tags(text: str, hits: list[Tag], expected: tuple[str, ...]) -> dict[str, Tag]:
    """The tags that stand once, in order, and bound something."""
    counts: dict[str, int] = {}
    for hit in hits:
        counts[hit.text] = counts.get(hit.text, 0) + 1
    once: list[tuple[int, Tag]] = []
    for i, hit in enumerate(hits):
        if counts[hit.text] > 1:
            continue
        if hit.text.startswith("</"):
            ink = first_ink(text, hits[i - 1].end if i else 0, hit.start)
        else:
            ink = first_ink(text, hit.end, hits[i + 1].start if i + 1 < len(hits) else len(text))
        if ink is not None:
            once.append((expected.index(hit.text), hit))
    # The longest chain in order: one stray tag costs itself, not every tag behind it. At most 2 * MAX_TAGS items.
    best: list[list[tuple[int, Tag]]] = []
    for rank, hit in once:
        before = max((chain for chain in best if chain[-1][0] < rank), key=len, default=[])
        best.append([*before, (rank, hit)])
    return {hit.text: hit for _, hit in max(best, key=len, default=[])}


# What chat templates write around the reasoning beside such tags: gpt-oss, Magistral, Kimi, Seed, Sky-T1.
_REASONING_MARKS: Final = {
    "<|channel|>final<|message|>": "<|channel|>analysis",
    "[/THINK]": "[THINK]",
    "\u25c1/think\u25b7": "\u25c1think\u25b7",
    "</seed:think>": "<seed:think>",
    "<|end_of_thought|>": "<|begin_of_thought|>",
}
_REASONING_TAG: Final = re.compile("<(?P<closing>/?)(?P<name>" + "|".join(sorted(REASONING_TAGS)) + ")>")
_REASONING: Final = re.compile(
    "|".join([_REASONING_TAG.pattern, *map(re.escape, [*_REASONING_MARKS, *_REASONING_MARKS.values()])])
)


def answer_start(text: str) -> int:
    """Where the answer begins: after the last closing mark of reasoning; at the end when the reasoning never closes.

    A closing tag counts when its opening stands before it. A bare `</think>` counts too, since templates write the
    opening into the prompt, and so do the marks that only templates write (`[/THINK]`); a bare `</analysis>` may be
    part of an answer.
    """
    start = 0
    opened: set[str] = set()
    first: int | None = None
    rare = "<|" in text or "THINK]" in text or "\u25b7" in text or "seed:think>" in text
    # Tags alone have a first character in common, and are found in half the time.
    for mark in (_REASONING if rare else _REASONING_TAG).finditer(text):
        name = mark["name"]
        closing = mark["closing"] if name is not None else mark.group() in _REASONING_MARKS
        if not closing:
            opened.add(name or mark.group())
            first = mark.start() if first is None else first
        elif name in opened or name in (None, "think"):
            start = mark.end()
    if start == 0 and first is not None and first_ink(text, 0, first) is None:
        return len(text)
    return start


class EndTokens(Params):
    """Parameters of checks that read the answer part of a completion."""

    strip_tokens: Tokens = ()
    """Special tokens that may stand at the ends, such as `<|im_end|>`; removed before the check."""


def _answer_text(sample: Sample, strip_tokens: tuple[str, ...]) -> str:
    text = without_end_tokens(sample.text, strip_tokens)
    return text[answer_start(text) :]


@register("boxed")
class OneBox(Verifier[EndTokens]):
    """1 when the answer part holds exactly one `\\boxed{...}`, closed and not empty; boxes in the reasoning are free.

    `\\fbox` counts as a box. Nested boxes are two. The answer part is what follows the last closing reasoning tag
    (`</think>` and the like), or everything.
    """

    reasons = _BOX_REASONS
    source = "the \\boxed{} convention of MATH (arXiv 2103.03874)"
    example: ClassVar[Mapping[str, Any]] = {"completion": "7+8=15, so \\boxed{15}."}

    def verify(self, sample: Sample) -> Verdict:
        text = without_end_tokens(sample.text, self.params.strip_tokens)
        box = one_box(text, answer_start(text), len(text), sample.truncated)
        if isinstance(box, Fault):
            return Verdict.scored(0.0, box.reason, box.detail)
        return Verdict.scored(1.0, extracted=box)


class AnswerLineParams(EndTokens):
    """Parameters of `answer_line`."""

    prefix: str = "Answer:"
    """What the line starts with; case and markdown emphasis around it do not matter."""

    @field_validator("prefix")
    @classmethod
    def _prefix(cls, prefix: str) -> str:
        if not prefix.strip() or "\n" in prefix:
            raise ValueError("must be the visible start of one line, such as 'Answer:'")
        return prefix.strip()


_MARKS: Final = " \t\r*_#>`~-"


@register("answer_line")
class AnswerLine(Verifier[AnswerLineParams]):
    """1 when the last line of the completion is `Answer: ...`, not empty, and the only such line of the answer part.

    `**Answer:** 4` is one too: emphasis, quote and heading marks around the prefix do not count.
    """

    reasons: ClassVar[Mapping[str, str]] = {
        "missing_line": "no line starts with the prefix",
        "duplicate_line": "more than one line starts with the prefix",
        "empty_line": "nothing follows the prefix",
        "text_after": "the answer line is not the last one",
    }
    source = "the `ANSWER: x` last-line convention of inspect_ai and simple-evals"
    example: ClassVar[Mapping[str, Any]] = {"completion": "7+8=15\nAnswer: 15"}

    def verify(self, sample: Sample) -> Verdict:
        prefix = self.params.prefix
        # A prefix such as "####" consists of marks itself: then the line keeps its own.
        marks = " \t\r" if prefix[0] in _MARKS else _MARKS
        lines = [line for line in _answer_text(sample, self.params.strip_tokens).split("\n") if line.strip()]
        bare = [line.lstrip(marks) for line in lines]
        at = [
            i for i, line in enumerate(bare)
            if line[: len(prefix)].casefold() == prefix.casefold()
            # "##### x" is no "#### x".
            and not (prefix[-1] in _MARKS and line[len(prefix) : len(prefix) + 1] == prefix[-1])
        ]  # fmt: skip
        if not at:
            reason = Reason.TRUNCATED if sample.truncated else "missing_line"
            return Verdict.scored(0.0, reason, f"no line starts with {prefix!r}")
        if len(at) > 1:
            return Verdict.scored(0.0, "duplicate_line", f"{len(at)} lines start with {prefix!r}")
        answer = bare[at[0]][len(prefix) :].strip(_MARKS)
        if first_ink(answer) is None:
            return Verdict.scored(0.0, "empty_line", f"nothing follows {prefix!r}")
        if at[0] != len(lines) - 1:
            return Verdict.scored(0.0, "text_after", f"{len(lines) - 1 - at[0]} lines follow the answer line")
        return Verdict.scored(1.0, extracted=answer)


def _re2() -> Any:
    try:
        import re2
    except ImportError:
        raise ImportError(
            "patterns are matched with RE2, which cannot be made to run away; it is missing here. "
            "Type: pip install 'grpo-rewards[structure]', or pip install google-re2"
        ) from None
    return re2


@functools.lru_cache(maxsize=64)
def safe_pattern(pattern: str, ignore_case: bool = False, dot_all: bool = False) -> Any:
    """`pattern` compiled by RE2, whose time grows in proportion to the text whatever the pattern.

    Raises:
        ImportError: google-re2 is not installed; says what to type.
        ValueError: RE2 cannot compile it (look-around and back-references are not regular).
    """
    re2 = _re2()
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    options.dot_nl = dot_all
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeError) as error:
        said = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else error
        raise ValueError(f"RE2 cannot compile it: {said}; look-around and back-references are not available") from None


def encodable(text: str) -> str:
    """`text` with lone surrogates replaced: RE2 reads UTF-8, which has none."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


class RegexParams(EndTokens):
    """Parameters of `regex`."""

    pattern: str
    """RE2 syntax. Look-around and back-references do not exist there."""
    match: Literal["full", "search"] = "full"
    """`full`: the whole text, white space at its ends left out. `search`: somewhere in it."""
    part: Literal["all", "answer"] = "all"
    """`answer`: only what follows the reasoning."""
    ignore_case: bool = False
    """Capital and small letters are the same."""
    dot_all: bool = True
    """`.` matches line breaks too."""

    @model_validator(mode="after")
    def _compiles(self) -> RegexParams:
        safe_pattern(self.pattern, self.ignore_case, self.dot_all)
        return self


@register("regex")
class RegexMatch(Verifier[RegexParams]):
    """1 when the completion matches a regular expression, in time proportional to its length.

    Python's `re` takes minutes on some patterns and texts that a model can write; RE2 does not. Needs google-re2.
    The empty completion gets 0 whatever the pattern.
    """

    reasons: ClassVar[Mapping[str, str]] = {
        "no_match": "the pattern does not match",
        "empty": "the completion is empty",
    }
    source = "RE2, https://github.com/google/re2/wiki/Syntax"
    example: ClassVar[Mapping[str, Any]] = {"params": {"pattern": r"\d{4}-\d\d-\d\d"}, "completion": "2026-11-30"}

    def verify(self, sample: Sample) -> Verdict:
        p = self.params
        text = without_end_tokens(sample.text, p.strip_tokens)
        text = encodable((text[answer_start(text) :] if p.part == "answer" else text).strip())
        if first_ink(text) is None:
            return Verdict.scored(0.0, "empty", "nothing to match")
        compiled = safe_pattern(p.pattern, p.ignore_case, p.dot_all)
        hit = compiled.fullmatch(text) if p.match == "full" else compiled.search(text)
        if hit is None:
            return Verdict.scored(0.0, "no_match", f"{p.pattern!r} does not match")
        return Verdict.scored(1.0, extracted=hit.group())


# ---------------------------------------------------------------- fenced code


class Fence(NamedTuple):
    """One fenced block: its language in lower case (empty when none is named), its content, whether it was closed."""

    language: str
    content: str
    start: int
    end: int
    closed: bool


_FENCE_LINE: Final = re.compile(r"^([ \t]*)(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_LIST_ITEM: Final = re.compile(r"^ {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]", re.MULTILINE)
_LANGUAGES: Final = {
    alias: name
    for name, aliases in {
        "python": "py python3 py3 python2 ipython pycon",
        "cpp": "c++ cc cxx hpp",
        "csharp": "c# cs",
        "javascript": "js node mjs",
        "typescript": "ts",
        "bash": "sh shell zsh console",
        "go": "golang",
        "rust": "rs",
        "ruby": "rb",
        "json": "json5 jsonc",
        "yaml": "yml",
        "markdown": "md",
        "latex": "tex",
        "kotlin": "kt",
        "haskell": "hs",
        "text": "txt plain plaintext",
    }.items()
    for alias in aliases.split()
}


def language_name(word: str) -> str:
    """`py` and `Python3` as `python`, `c++` as `cpp`; an unknown word as it is, in lower case."""
    word = word.strip().lower()
    return _LANGUAGES.get(word, word)


def fences(text: str) -> list[Fence]:
    """Every fenced block, by CommonMark's rules, in one pass: a fence closes at a bare run of the same mark at least
    as long, indented by at most three more. Behind a list mark a fence may stand at any depth; elsewhere four blanks
    make it indented text. Line ends may be CR LF."""
    out: list[Fence] = []
    if "```" not in text and "~~~" not in text:
        return out
    mark, language, opened, content_from, depth = "", "", 0, 0, 0
    first_item: int | None = None
    for line in _FENCE_LINE.finditer(text):
        run, info = line.group(2), line.group(3).strip()
        indent = len(line.group(1).expandtabs(4))
        if not mark:
            if run[0] == "`" and "`" in info:
                continue  # inline code, not a fence
            if indent > 3:
                if first_item is None:
                    item = _LIST_ITEM.search(text)
                    first_item = len(text) if item is None else item.start()
                if first_item > line.start():
                    continue
            word = info.split(maxsplit=1)[0] if info else ""
            mark, language, depth = run, language_name(word.strip("{.}")), indent
            opened, content_from = line.start(), line.end() + 1
        elif run[0] == mark[0] and len(run) >= len(mark) and not info and indent <= depth + 3:
            out.append(Fence(language, text[content_from : line.start()], opened, line.end(), True))
            mark = ""
    if mark:
        out.append(Fence(language, text[content_from:], opened, len(text), False))
    return out


class FencedCodeParams(EndTokens):
    """Parameters of `fenced_code`."""

    language: str = "python"
    """The language named behind the opening fence; `py` and `python3` are `python`, `c++` is `cpp`."""
    blocks: Literal["one", "some"] = "one"
    """`one`: exactly one block of that language in the answer part. `some`: at least one."""

    @field_validator("language")
    @classmethod
    def _language(cls, language: str) -> str:
        if not language.strip() or len(language.split()) != 1:
            raise ValueError("must be one word, such as 'python'")
        return language_name(language)


@register("fenced_code")
class FencedCode(Verifier[FencedCodeParams]):
    """1 when the answer part holds a closed, non-empty code fence in the named language (exactly one by default)."""

    reasons: ClassVar[Mapping[str, str]] = {
        "no_fence": "no code fence in the answer",
        "wrong_language": "no fence names the language",
        "duplicate_fence": "more than one fence in the language",
        "unclosed_fence": "the fence is never closed",
        "empty_fence": "the fence is empty",
    }
    source = "CommonMark 0.31 section 4.5"
    example: ClassVar[Mapping[str, Any]] = {"completion": "Here:\n```python\nprint(4)\n```"}

    def verify(self, sample: Sample) -> Verdict:
        p = self.params
        found = fences(_answer_text(sample, p.strip_tokens))
        if not found:
            return Verdict.scored(0.0, "no_fence", "no code fence in the answer")
        mine = [fence for fence in found if fence.language == p.language]
        if not mine:
            named = ", ".join(sorted({fence.language or "none" for fence in found})[:5])
            return Verdict.scored(0.0, "wrong_language", f"fences name {named}; {p.language} is asked for")
        if p.blocks == "one" and len(mine) > 1:
            return Verdict.scored(0.0, "duplicate_fence", f"{len(mine)} fences in {p.language}")
        last = mine[-1]
        if not last.closed:
            reason = Reason.TRUNCATED if sample.truncated else "unclosed_fence"
            return Verdict.scored(0.0, reason, "the last fence is never closed")
        if first_ink(last.content) is None:
            return Verdict.scored(0.0, "empty_fence", "the fence is empty")
        return Verdict.scored(1.0, extracted=last.content)
