"""Which program a completion hands in: one scan over its lines, the text is never parsed or run here.

What is read, in this order: the reasoning is set aside (`<think>...</think>`, also where the chat template opened
it); of what is left the last `<answer>` counts where there is one; in it the last fenced block of the language that
defines the entry point (a short demo after the solution must not win: NVIDIA-NeMo/Gym#820); without any fence the
bare text, as a whole program or as the continuation of a code prompt (HumanEval style).

Fences are read as models write them, not only as CommonMark has them: an opening fence behind prose on its line, a
closing one behind the last statement, CRLF, no closing fence (the completion was cut), a fence that the prefill or
the prompt opened.
"""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from rewards.verdict import Message, Sample, chat_text, message_text

MAX_PROMPT_CHARS: Final = 400_000
"""Longest prompt that is looked at for code to put before the completion; longer ones are prose to us."""

_LANGUAGE_OF: Final = {
    name: language
    for language, names in {
        "python": "python py python3 py3 python2 py2 ipython ipython3 pypy pypy3 cpython python-repl",
        "c++": "c++ cpp cxx cc c++11 c++14 c++17 c++20 c++23 cpp17 cpp20 gcc g++",
        "c": "c c11 c99 c17",
        "bash": "bash sh shell zsh",
        "javascript": "javascript js node nodejs mjs ecmascript",
        "": "code solution program answer txt text plaintext plain",
    }.items()
    for name in names.split()
}
_SUFFIXES: Final = {".py": "python", ".cpp": "c++", ".cc": "c++", ".c": "c", ".sh": "bash", ".js": "javascript"}

_FENCE_LINE: Final = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*(.*)", re.DOTALL)
_FENCE_AT_END: Final = re.compile(r"(`{3,})[ \t]*([A-Za-z][\w+#.-]{0,20})?[ \t]*\Z")
_TAG: Final = re.compile(r"</?(?:think|thinking|answer)>", re.IGNORECASE)
_INFO_WORD: Final = re.compile(r"\{?\.?([\w+#.-]+)\}?")
_TRIPLE: Final = re.compile(r"\"{3}|'{3}")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_TOP_LEVEL_NAMES: Final = re.compile(
    r"^(?:(?:async[ \t]+)?def|class)[ \t]+([A-Za-z_]\w*)|^(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+([^\n#;(]+)"
    r"|^([A-Z][A-Z0-9_]*)[ \t]*(?::[^=\n]*)?=(?!=)",
    re.MULTILINE,
)
_READS_STDIN: Final = re.compile(r"\binput[ \t]*\(|\bstdin\b|\bopen[ \t]*\([ \t]*0\b|\bos\.read\b|\bfileinput\b")
_FUTURE: Final = re.compile(r"^from[ \t]+__future__[ \t]+import[^\n]*\n?", re.MULTILINE)
_CODE_LINE: Final = re.compile(
    r"(?:def|class|async|import|from|if|elif|else|for|while|try|except|finally|with|return|print|assert|raise|global"
    r"|nonlocal|del|pass|break|continue|yield|lambda|match|case)\b(?!\s+(?:the|a|an|this|that|you|your|it|we)\b)"
    r"|[@#)\]}\"']|[A-Za-z_][\w.]*(?:\[[^\]]*\])?[ \t]*(?:[-+*/%&|^]|//|\*\*|<<|>>)?=|[A-Za-z_][\w.]*\("
    r"|[A-Za-z_]\w*[ \t]*:[ \t]*[A-Za-z_][\w\[\], .]*="
    r"|[A-Za-z_]\w*(?:[ \t]*,[ \t]*[A-Za-z_]\w*)+[ \t]*="
)
_CODE_START: Final = re.compile(
    r"(?:def|class|async[ \t]+def)[ \t]+[A-Za-z_]\w*[ \t]*[(:]|import[ \t]+\w|from[ \t]+[\w.]+[ \t]+import\b|@\w"
)
_BEGIN_DONE: Final = (("[BEGIN]", "[DONE]"), ("[PYTHON]", "[/PYTHON]"))


@dataclass(frozen=True, slots=True)
class Extraction:
    """The program found.

    Attributes:
        code: the model's own part; empty when there is none.
        program: `code` with what has to stand before it (the prompt of a continuation, the prompt's imports).
        how: "fence", "answer", "bare", "continuation" or "none".
        cut: the completion ended inside its reasoning or inside the block that was taken.
    """

    code: str
    program: str
    how: str
    cut: bool = False


@dataclass(slots=True, eq=False)
class _Block:
    language: str | None  # None: a label of another language, "": no label
    indent: int
    at: int
    lines: list[str] = field(default_factory=list)
    closed: bool = False

    @property
    def code(self) -> str:
        """Its lines, moved left by the fence's own indent where all of them have it (a block in a list item).

        A first line that is only the language's name is a label that slipped (three backticks, then `python`).
        """
        margins = (len(line) - len(line.lstrip(" \t")) for line in self.lines if line.strip())
        cut = min(self.indent, min(margins, default=0)) if self.indent else 0
        slipped = not self.language and self.lines[:1] and self.lines[0].strip().lower() in ("python", "python3", "py")
        return "\n".join(line[cut:] for line in self.lines[1 if slipped else 0 :])


class _Scan:
    """The completion in pieces: fenced blocks, lines outside, spans of `<answer>`. Positions count pieces."""

    def __init__(self, text: str, in_think: bool) -> None:
        self.in_think = in_think
        self.blocks: list[_Block] = []
        self.outside: list[tuple[int, str]] = []
        self.answers: list[tuple[int, int | None]] = []
        self._at = 0
        self._block: _Block | None = None
        self._fence = ""
        for line in text.split("\n"):
            self._line(line)

    def _line(self, line: str) -> None:
        if self._block is None:
            self._outside(line)
            return
        block = self._block
        after = _after_block(line, self._fence, block)
        if after is None:
            block.lines.append(line)
            return
        block.closed = True
        self._block = None
        if after:
            self._outside(after)

    def _outside(self, line: str) -> None:
        """A line outside any fence: its tags act, what stands between them is a piece each."""
        at = 0
        for tag in _TAG.finditer(line) if "<" in line else ():
            self._piece(line[at : tag.start()], partial=True)
            at = tag.end()
            if self._block is not None:  # a fence was opened before the tag: the tag is code
                self._line(line[tag.start() :])
                return
            self._tag(tag.group().lower())
        self._piece(line[at:], partial=at > 0)

    def _tag(self, tag: str) -> None:
        if tag.startswith("</think"):  # what was written so far was reasoning, also where no tag opened it
            self.in_think = False
            self.blocks, self.outside, self.answers = [], [], []
        elif tag.startswith("<think"):
            self.in_think = True
        elif self.in_think:
            return
        elif tag == "<answer>":
            self.answers.append((self._at, None))
        elif self.answers and self.answers[-1][1] is None:
            self.answers[-1] = (self.answers[-1][0], self._at)

    def _piece(self, text: str, *, partial: bool) -> None:
        if self.in_think or (partial and not text.strip()):
            return
        before, block, fence = _open(text, self._at)
        if block is None or before:
            self.outside.append((self._at, before if block is not None else text))
        if block is not None:
            self.blocks.append(block)
            if not block.closed:
                self._block, self._fence = block, fence
        self._at += 1

    def last_answer(self) -> tuple[int, int] | None:
        """The last `<answer>` with something in it, as a span of positions."""
        filled = sorted([b.at for b in self.blocks] + [at for at, line in self.outside if line.strip()])
        for start, end in reversed(self.answers):
            stop = self._at if end is None else end
            found = bisect.bisect_left(filled, start)
            if found < len(filled) and filled[found] < stop:
                return start, stop
        return None


def extract(sample: Sample, *, language: str = "python", entry_point: str | None = None) -> Extraction:
    """The program that `sample` hands in, for a function task (`entry_point` given) or a whole program."""
    prompt = _task_text(sample.prompt)
    text = sample.text
    inside_think = False
    opened = ""
    if not sample.prefill:
        tail = prompt[-80:].rstrip()
        inside_think = tail.endswith(("<think>", "<thinking>"))
        last = tail.rpartition("\n")[2].strip()
        if not isinstance(sample.prompt, str):
            last = ""  # in a chat the user's message ends its own turn: what it leaves open is not the assistant's
        if len(last) > 3 and last[:3] in ("```", "~~~") and _language(last[3:]) == language:
            opened = last + "\n"
    return extract_text(opened + text, language=language, entry_point=entry_point, prompt=prompt, in_think=inside_think)


def extract_text(
    text: str, *, language: str = "python", entry_point: str | None = None, prompt: str = "", in_think: bool = False
) -> Extraction:
    """`extract` on plain strings.

    Args:
        text: the assistant's turn, prefill included.
        language: which fences count.
        entry_point: `solve` or `Solution.solve`; None for a program that reads standard input.
        prompt: the task's text; code in it that defines `entry_point` is put before the completion.
        in_think: the prompt has opened a `<think>` that the text has to close.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    stub = _stub(prompt, entry_point) if entry_point and language == "python" else None
    scan = _Scan(text, in_think)
    if language == "python" and scan.blocks and not in_think and _fence_in_string(text):
        return _finish(_bare(text, stub, language), "bare", stub, entry_point, False)
    answer = scan.last_answer()
    if answer is not None:
        start, end = answer
        block = _choose([b for b in scan.blocks if start <= b.at < end], language, entry_point)
        if block is not None:
            code = _with_needed(scan.blocks, block, language, entry_point)
            return _finish(code, "answer", stub, entry_point, not block.closed)
        bare = "\n".join(line for at, line in scan.outside if start <= at < end)
        if not scan.blocks or defines(bare, entry_point, language):
            return _finish(_bare(bare, stub, language), "answer", stub, entry_point, False)
    block = _choose(scan.blocks, language, entry_point)
    outside = "\n".join(line for _, line in scan.outside)
    unfenced = entry_point and defines(outside, entry_point, language)
    if block is not None and (not unfenced or defines(block.code, entry_point, language)):
        code = _with_needed(scan.blocks, block, language, entry_point)
        return _finish(code, "fence", stub, entry_point, not block.closed)
    return _finish(_bare(outside, stub, language), "bare", stub, entry_point, scan.in_think)


def _fence_in_string(text: str) -> bool:
    """Whether bare code has its first fence inside a triple-quoted string: a docstring with an example in it."""
    before, fence, _ = text.partition("```")
    first = next((line for line in before.split("\n") if line.strip()), "")
    if not fence or _TAG.search(before) or not _CODE_LINE.match(first):
        return False
    opened = ""
    for quotes in _TRIPLE.findall(before):
        if not opened:
            opened = quotes
        elif quotes == opened:
            opened = ""
    return bool(opened)


def _open(line: str, at: int) -> tuple[str, _Block | None, str]:
    """(what stands before the fence, the block that `line` opens if any, the fence that closes it)."""
    match = _FENCE_LINE.fullmatch(line)
    if match is not None:
        indent, fence, info = match.groups()
        word = _INFO_WORD.match(info)
        language = _language(word.group(1)) if word else ""
        if fence[0] == "`" and "`" in info:
            body = info.rstrip()
            if not body.endswith(fence):
                return "", None, ""  # ```x``` inside a sentence
            body = body[: -len(fence)].strip()
            if word and language:
                body = body[word.end() :].lstrip()
            return "", _Block(language or "", 0, at, [body], closed=True), ""
        return "", _Block(language, len(indent.expandtabs(4)), at), fence
    at_end = _FENCE_AT_END.search(line[-60:]) if line.count("```") == 1 else None
    if at_end is None:
        return "", None, ""
    before = line[: line.rindex(at_end.group(1))]
    return before, _Block(_language(at_end.group(2) or ""), 0, at), at_end.group(1)


def _after_block(line: str, fence: str, block: _Block) -> str | None:
    """None while the block goes on; else what of `line` stands after it (a fence that opens the next one included)."""
    body = line.strip()
    if body.startswith(("</think", "</answer>")):  # no program has such a line: the fence was never closed
        return body
    if body.startswith(fence):
        if len(line) - len(line.lstrip(" \t")) > block.indent + 3:
            return None  # a fence inside a docstring
        rest = body.lstrip(fence[0]).strip()
        # A label behind it: the next block opens although this one was never closed.
        return body if rest and rest.lower() in _LANGUAGE_OF else rest
    if fence[0] == "`" and body.endswith(fence) and body.count(fence) == 1:
        block.lines.append(line.rstrip()[: -len(fence)])
        return ""
    return None


def _language(word: str) -> str | None:
    """Our name of a fence's label: "" for none, None for another language."""
    word = word.strip().strip("{}.").lower()
    if not word:
        return ""
    if word in _LANGUAGE_OF:
        return _LANGUAGE_OF[word]
    return next((language for suffix, language in _SUFFIXES.items() if word.endswith(suffix)), None)


def _choose(blocks: Sequence[_Block], language: str, entry_point: str | None) -> _Block | None:
    """The block that is the solution; None when there is no block that could be."""
    filled = [b for b in blocks if any(line.strip() for line in b.lines)]
    labelled = [b for b in filled if b.language == language]
    plain = [b for b in filled if b.language == ""]
    ours = [b for b in filled if b.language in (language, "")]
    if entry_point:
        for pool in (ours, filled):
            for top_level in (True, False):
                found = [b for b in pool if defines(b.code, entry_point, language, top_level=top_level)]
                if found:  # one that was cut off wins over none only
                    return next((b for b in reversed(found) if b.closed), found[-1])
    elif language == "python":
        # A demo or a sample of the output may follow the program; only the program reads its input.
        for pool in (labelled, plain):
            for block in reversed(pool):
                if _READS_STDIN.search(block.code):
                    return block
        if not labelled:
            plain = [b for b in plain if any(_CODE_LINE.match(line) for line in b.lines)] or plain
    elif language in ("c", "c++"):
        for block in reversed(ours):
            if re.search(r"\bmain[ \t]*\(", block.code):
                return block
    return labelled[-1] if labelled else plain[-1] if plain else None


def defines(code: str, entry_point: str | None, language: str, *, top_level: bool = False) -> bool:
    """Whether `code` has a line that defines `entry_point` (its class and its method, for `Solution.solve`)."""
    if not entry_point or not code:
        return False
    head, _, method = entry_point.partition(".")
    if language != "python":
        return re.search(rf"\b{re.escape(head)}\b", code) is not None
    return _definition(head, top_level).search(code) is not None and (
        not method or re.search(rf"\bdef[ \t]+{re.escape(method)}\b", code) is not None
    )


@lru_cache(maxsize=4096)
def _definition(name: str, top_level: bool) -> re.Pattern[str]:
    margin = "" if top_level else r"[ \t]*"
    word = re.escape(name)
    return re.compile(
        rf"^{margin}(?:(?:async[ \t]+)?def|class)[ \t]+{word}\b|^{margin}{word}[ \t]*(?::[^=\n]*)?=(?!=)"
        rf"|^{margin}from[ \t]+[\w.]+[ \t]+import[ \t][^\n#]*\b{word}\b",
        re.MULTILINE,
    )


def _top_level_names(code: str) -> set[str]:
    """Functions, classes, imports and constants; a lower-case variable at the margin is a demo's, as a rule."""
    found: set[str] = set()
    for match in _TOP_LEVEL_NAMES.finditer(code):
        name, imports, assigned = match.groups()
        if imports:
            for part in imports.split(","):
                words = part.split()
                if words:
                    found.add(words[-1].partition(".")[0])
        else:
            found.add(name or assigned)
    return found


def _with_needed(blocks: Sequence[_Block], chosen: _Block, language: str, entry_point: str | None) -> str:
    """`chosen`, after the earlier blocks that define names it uses and does not define (helpers, imports)."""
    code = _dedented(chosen.code, entry_point, language)
    if language != "python":
        return code
    missing = set(_WORD.findall(code))
    missing -= _top_level_names(code)
    before: list[str] = []
    for block in reversed(blocks[: blocks.index(chosen)]):
        if block.language not in (language, "") or defines(block.code, entry_point, language):
            continue
        if not entry_point and _READS_STDIN.search(block.code):
            continue
        defined = _top_level_names(block.code)
        if not missing.isdisjoint(defined):
            before.append(block.code)
            missing.update(_WORD.findall(block.code))
            missing -= defined
    return "\n\n".join([*reversed(before), code])


def _dedented(code: str, entry_point: str | None, language: str) -> str:
    """A block that is indented as a whole (inside a list item) moved to the margin, unless it is a bare body."""
    if language != "python" or (entry_point and not defines(code, entry_point, language)):
        return code
    return _at_margin(code)


@dataclass(frozen=True, slots=True)
class _Stub:
    """Code in the prompt that defines the entry point: the whole of it, and without the entry point's own stub."""

    source: str
    helpers: str
    whole_prompt: bool


def _task_text(prompt: str | Sequence[Message]) -> str:
    """The text that states the task: the prompt, or the last user message of a chat."""
    if isinstance(prompt, str):
        return prompt
    for message in reversed(prompt):
        if message.get("role") == "user":
            return message_text(message.get("content"))
    return chat_text(prompt)


def _stub(prompt: str, entry_point: str) -> _Stub | None:
    """The prompt belongs to the task, not to the model, so it may be parsed (and still not run)."""
    if not prompt or len(prompt) > MAX_PROMPT_CHARS or not defines(prompt, entry_point, "python"):
        return None
    return _parsed_stub(prompt.replace("\r\n", "\n"), entry_point)


@lru_cache(maxsize=256)
def _parsed_stub(prompt: str, entry_point: str) -> _Stub | None:
    sources = [(prompt, True)]
    if "```" in prompt:
        block = _choose(_Scan(prompt, False).blocks, "python", entry_point)
        if block is not None:
            sources.append((_dedented(block.code, entry_point, "python"), False))
    else:
        lines = prompt.split("\n")
        start = next((i for i, line in enumerate(lines) if _CODE_START.match(line)), 0)
        if start:  # an instruction, and the stub below it
            sources.append(("\n".join(lines[start:]), False))
    head = entry_point.partition(".")[0]
    for source, whole in sources:
        for ending in ("", "\n    pass\n"):
            try:
                tree = ast.parse(source + ending)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
            if not any(getattr(node, "name", None) == head for node in tree.body):
                continue
            kept = [n for n in tree.body if isinstance(n, kinds) and getattr(n, "name", None) != head]
            return _Stub(source, "\n".join(ast.unparse(node) for node in kept), whole)
    return None


def _bare(text: str, stub: _Stub | None, language: str) -> str:
    """Code in text without fences: as it is where it starts as code, else from its first line of code on."""
    for begin, done in _BEGIN_DONE:
        at = text.rfind(begin)
        if at >= 0:
            return text[at + len(begin) :].partition(done)[0].strip("\n")
    if language != "python":
        return text
    if stub is not None and stub.whole_prompt:
        return text  # a base model continuing code: what it wrote is the program, to its last character
    lines = text.split("\n")
    first = next((i for i, line in enumerate(lines) if line.strip()), None)
    if first is None:
        return ""
    start = first
    if not lines[first][:1].isspace() and not _CODE_LINE.match(lines[first]) and _prose(lines[first]):
        found = next((i for i, line in enumerate(lines) if _CODE_START.match(line)), None)
        if found is None:
            return ""
        start = found
    return _at_margin("\n".join(lines[start:]))


def _at_margin(code: str) -> str:
    """Code whose first line is indented, moved to the margin: all of it, or that line alone (` def f():` of a chat)."""
    if not code[:1].isspace():
        return code
    lines = code.strip("\n").split("\n")
    cut = min((len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()), default=0)
    return "\n".join(line[cut:] for line in lines) if cut else "\n".join([lines[0].lstrip(), *lines[1:]])


def _prose(line: str) -> bool:
    """A sentence: several words and none of what only code has."""
    return len(line.split()) >= 3 and re.search(r"[A-Za-z]{2,} [A-Za-z]{2,}", line[:200]) is not None


def _finish(code: str, how: str, stub: _Stub | None, entry_point: str | None, cut: bool) -> Extraction:
    """Puts the prompt's code before the model's, where the one needs the other."""
    if not code.strip():
        return Extraction("", "", "none", cut)
    if stub is None:
        return Extraction(code, code, how, cut)
    first = next(line for line in code.split("\n") if line.strip())
    if first[:1].isspace() or not defines(code, entry_point, "python"):
        if not first[:1].isspace() and not stub.whole_prompt:
            return Extraction(code, code, how, cut)
        joint = "" if stub.source.endswith("\n") or (how == "bare" and code[:1] in " \n") else "\n"
        return Extraction(code, stub.source + joint + code, "continuation", cut)
    if not stub.helpers:
        return Extraction(code, code, how, cut)
    return Extraction(code, put_before(stub.helpers + "\n\n", code), how, cut)


def put_before(helpers: str, code: str) -> str:
    """`helpers` and then `code`, but for its `from __future__` imports, which have to stay first."""
    future = "".join(line if line.endswith("\n") else line + "\n" for line in _FUTURE.findall(code))
    return future + helpers + (_FUTURE.sub("", code) if future else code)
