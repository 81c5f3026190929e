r"""Where the final answer stands in a completion: one scan, positions kept, nothing evaluated.

    >>> find_answer(r"So $x = \boxed{\frac12}$.").text
    '\\frac12'

What counts, from the strongest statement to the weakest:

1. the last complete `\boxed{...}` or `\fbox{...}`, the last `<answer>...</answer>`, the last `#### ...` line, or
   "final answer: ..." followed at once by mathematics: whichever of them comes last;
2. "the answer is ..." and its like in English, Chinese, Japanese, Spanish, French, German, Russian, ...;
3. the closing sentence: what stands behind its last "is" or "=", else its last number.

`where="boxed"` stops after boxes and tags, `where="stated"` after 2, `where="anywhere"` (the default) takes all three.

What never counts: text inside a think block, open or closed, and text before a bare `</think>`; an earlier box when
the last one is unfinished (`truncated`: a model that is cut off must not be paid for its draft); the echo of the
prompt's template (`\boxed{answer}`, `\boxed{...}`, or a box that the prompt itself shows); anything behind an
end-of-turn token; what is denied ("not `\boxed{6}`", "Is it `\boxed{5}`? No."), taken back ("that is wrong") or only
supposed; a check, a reason, an aside in brackets, a question or an offer of help behind the answer. Boxes that stand
together as one statement (`\boxed{-2}` and `\boxed{1}`) are one answer of several parts, so hedging between boxes is
compared as the list that it is.

Cost: every search moves in one direction and looks at a bounded stretch around each hit, so twice the text takes
about twice the time. The only regular expressions are tokenizers over single characters; none can backtrack.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import islice
from numbers import Rational, Real
from typing import Any, Final, Literal, NamedTuple

from rewards.verdict import Reason

Where = Literal["boxed", "stated", "anywhere"]

MAX_GAP_CHARS: Final = 80
"""Longest text between two boxes that may still be one statement."""
MAX_DOUBLED_CHARS: Final = 1_000
"""Longest box content that is looked at for doubled braces."""
MAX_PARTS: Final = 64
"""Most boxes that are joined to one answer; of more, the last ones count."""
MAX_STATEMENT_CHARS: Final = 400
"""Longest stretch that is read after "the answer is" or as a closing sentence."""
MAX_ECHO_CHARS: Final = 60
"""Longest box content that is looked up among the template words."""


MAX_AFTER_HASHES: Final = 200
"""Most characters that may follow a `####` line that begins with a letter; before more it is a heading."""
_FUNCTIONS: Final = frozenset("sin cos tan cot sec csc log ln exp sqrt pi arcsin arccos arctan".split())


class Span(NamedTuple):
    """A stretch of a text: `text == whole[start:end]`."""

    text: str
    start: int
    end: int


class Answer(NamedTuple):
    """The final answer of a completion, or why there is none.

    Attributes:
        spans: one per box of a multi-part answer, otherwise one; empty when there is no answer.
        mark: how it was found: "boxed", "tag", "hashes", "stated", "closing"; empty when there is no answer.
        problem: empty, or `no_answer`, `truncated`, `echo`.
        joiner: what stood between several spans: ", " or " or ".
    """

    spans: tuple[Span, ...]
    mark: str
    problem: str = ""
    joiner: str = ", "

    @property
    def text(self) -> str:
        """The answer as one string; several boxes are joined."""
        spans = self.spans
        if len(spans) == 1:
            return spans[0].text
        return self.joiner.join(span.text for span in spans)


MAX_STATEMENTS: Final = 200
"""How many statements about an answer ("this answer is correct.") are passed over on the way back to one."""
MAX_WORDS_CHARS: Final = 32
"""Longest answer in words alone ("infinitely many") that counts far from the end of the text."""
_NONE: Final = Answer((), "", Reason.NO_ANSWER.value)
_TRUNCATED: Final = Answer((), "", Reason.TRUNCATED.value)
_ECHO: Final = Answer((), "", "echo")


# ---------------------------------------------------------------- the part of the text that may hold the answer

_THINKING: Final = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<seed:think>", "</seed:think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|channel|>analysis", "<|channel|>final"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
)
_THINKING_HINTS: Final = (
    "think", "thought|", "<thought", "</thought", "reasoning>", "scratchpad>", "<|channel|>", "THINK]",
)  # fmt: skip
_END_OF_TURN: Final = (
    "<|im_end|>", "<|im_start|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<|end_of_text|>", "<|end|>",
    "<|return|>", "<|eos|>", "<|user|>",
)  # fmt: skip


def _region(text: str) -> tuple[int, int, bool]:
    """Start and end of the text that may hold the answer, and whether a think block was never closed."""
    start, end = 0, len(text)
    for hint in _THINKING_HINTS:
        if hint in text:
            unclosed = False
            for opener, closer in _THINKING:
                closed = text.rfind(closer)
                opened = text.rfind(opener)
                if closed >= 0:
                    start = max(start, closed + len(closer))
                unclosed = unclosed or opened > closed
            if unclosed:
                return start, end, True
            break
    if "<|" in text:
        at = text.find("<|", start)
        while at >= 0:
            # A template's own opening (`<|im_start|>assistant`) precedes the turn; it does not end it.
            if text.startswith(_END_OF_TURN, at) and not text[start:at].isspace() and at > start:
                end = at
                break
            if text.startswith(_END_OF_TURN, at):
                start = text.find("|>", at) + 2
            at = text.find("<|", at + 2)
    for token in ("</s>", "<end_of_turn>"):
        at = text.find(token, start, end)
        if at > start:
            end = at
    return start, end, False


# ---------------------------------------------------------------- boxes

# Braces with braces inside them at most; each alternative begins with a character of its own, so one pass decides.
_SHALLOW = re.compile(r"\{[^{}\\]*(?:(?:\\[^{}]|\{[^{}\\]*(?:\\[^{}][^{}\\]*)*\})[^{}\\]*)*\}", re.DOTALL)
_BRACE_CHUNK: Final = 4_096
"""Characters whose braces are counted at once where they cannot close the box."""
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_BOX_OR_BRACE = re.compile(r"\\boxed|\\fbox|\\.|[{}]", re.DOTALL)
_TEMPLATE_WORDS: Final = frozenset(
    {
        "", "answer", "your answer", "your final answer", "final answer", "the answer", "the final answer", "ans",
        "answer here", "your answer here", "final answer here", "insert answer here", "insert your answer here",
        "put your answer here", "put answer here", "your_answer", "final_answer", "youranswer", "finalanswer",
        "your solution", "the result", "result", "your result", "final result", "value", "number", "your number",
        "the number", "letter", "option", "choice", "correct option", "...", "..", "…", "?", "??", "???", "\\ldots",
        "\\dots", "\\cdots", "\\cdot", "___", "__", "_", "[answer]", "<answer>", "{answer}", "xxx", "xx", "placeholder",
        "答案", "你的答案", "最终答案", "answer value", "numeric answer", "numerical answer",
    }
)  # fmt: skip


def _matching_brace(text: str, opening: int, end: int) -> int:
    """Position of the `}` that closes the `{` at `opening`, or -1. Escaped braces are text."""
    closing = text.find("}", opening, end)
    if closing < 0:
        return -1
    # Most boxes hold no inner brace: then the first `}` is the one, unless it is escaped (\}).
    if text.find("{", opening + 1, closing) < 0 and text[closing - 1] != "\\":
        return closing
    shallow = _SHALLOW.match(text, opening, min(end, opening + MAX_STATEMENT_CHARS))
    if shallow is not None:
        return shallow.end() - 1
    depth = 0
    at = opening
    while at < end:
        stop = min(at + _BRACE_CHUNK, end)
        if text[stop - 1] == "\\":
            backslashes = stop - at - len(text[at:stop].rstrip("\\"))
            stop = min(stop + backslashes % 2, end)  # an escaped character stays whole
        closes = text.count("}", at, stop)
        if closes < depth and text.find("\\\\", at, stop) < 0:
            # Not enough braces to close the box: what is escaped here counts on neither side.
            depth += text.count("{", at, stop) - text.count("\\{", at, stop) - closes + text.count("\\}", at, stop)
            at = stop
            continue
        for token in _BRACE.finditer(text, at, stop):
            mark = token[0]
            if mark == "{":
                depth += 1
            elif mark == "}":
                depth -= 1
                if depth == 0:
                    return token.start()
        at = stop
    return -1


def _escaped_close(text: str, opening: int, end: int) -> int:
    """Position of a `\\}` that closes the box by mistake (`\\boxed{185\\}`): no `\\{` is open there. Else -1."""
    depth = 0
    for token in _BRACE.finditer(text, opening, end):
        mark = token[0]
        if mark == "{":
            depth += 1
        elif mark == "}":
            depth -= 1
        elif mark == "\\{":
            return -1
        elif mark == "\\}" and depth == 1:
            return token.start()
    return -1


class _Box(NamedTuple):
    start: int  # of the command
    first: int  # of the content
    last: int  # one past the content
    end: int  # one past the box
    complete: bool


def _box_at(text: str, at: int, end: int) -> _Box | None:
    """The box whose command's letters begin at `at`; None where the word is only mentioned."""
    name = 5 if text.startswith("boxed", at) else 4 if text.startswith("fbox", at) else 8
    # JSON turns "\boxed" into a backspace and "oxed" when a writer forgot to escape it; "boxed{" alone reads the same.
    commanded = at > 0 and text[at - 1] == "\\"
    start = at - 1 if commanded else at
    after = at + name
    while after < end and text[after] in " \t\n":
        after += 1
    if after >= end:
        return _Box(start, after, after, end, False) if commanded else None
    if text[after] == "{":
        closing = _matching_brace(text, after, end)
        if closing < 0:
            closing = _escaped_close(text, after, end)
        if closing < 0:
            return _Box(start, after + 1, end, end, False)
        return _Box(start, after + 1, closing, closing + 1 + (text[closing] == "\\"), True)
    if not commanded:
        return None
    # `\boxed 5` and `\boxed\frac12`: TeX takes one token, a reader takes the word.
    stop = after
    while stop < end and not text[stop].isspace() and text[stop] not in "$,;，。；":
        if text.startswith(("\\)", "\\]"), stop):
            break
        if text[stop] == "{":
            closing = _matching_brace(text, stop, end)
            if closing < 0:
                return _Box(start, after, end, end, False)
            stop = closing
        stop += 1
    last = stop
    while last > after and text[last - 1] in ".:!?*`\"'）)":
        last -= 1
    word = text[after:last]
    if (len(word) > 1 and word.isalpha()) or not word or word[0] in "`'\"”*":
        return None
    return _Box(start, after, last, last, True)


def _all_boxes(text: str, start: int, end: int) -> tuple[list[_Box], bool]:
    """Every complete box by one scan with a stack, and whether some box is never closed. For nested boxes only."""
    stack: list[int] = []  # per open brace: the start of its box command, or -1
    found: list[_Box] = []
    command = -1
    command_end = -1
    for token in _BOX_OR_BRACE.finditer(text, start, end):
        mark = token[0]
        if mark == "{":
            blank = command >= 0 and not text[command_end : token.start()].strip()
            stack.append(command if blank else -1)
            if blank:
                first = token.end()
                found.append(_Box(command, first, -1, -1, False))
                stack[-1] = len(found) - 1
            command = -1
        elif mark == "}":
            if stack:
                box = stack.pop()
                if box >= 0:
                    found[box] = found[box]._replace(last=token.start(), end=token.end(), complete=True)
            command = -1
        elif mark == "\\boxed" or mark == "\\fbox":
            command, command_end = token.start(), token.end()
        else:
            command = -1
    unfinished = any(not box.complete for box in found)
    return [box for box in found if box.complete], unfinished


_NO_TEMPLATE: Final = (*"0123456789-+(", "\\frac", "\\dfrac", "\\sqrt", "\\left", "\\$")
"""How most answers begin, and no template."""


def _is_template(text: str, box: _Box) -> bool:
    """`\\boxed{answer}`, `\\boxed{...}`, `\\boxed{\\text{your final answer}}`, `\\boxed{}`."""
    if box.last - box.first > MAX_ECHO_CHARS:
        return False
    inner = text[box.first : box.last]
    if inner.startswith(_NO_TEMPLATE):
        return False
    if "reward" in inner or "gold" in inner:
        return True  # what is told to the grader
    inner = inner.replace("\\,", " ").replace("\\ ", " ").replace("\\;", " ").replace("\\!", " ").replace("~", " ")
    inner = inner.strip().strip("$").strip()
    for command in ("\\text", "\\textbf", "\\mathrm", "\\textit", "\\mathbf", "\\mbox", "\\textrm"):
        if inner.startswith(command) and inner.endswith("}"):
            inner = inner[len(command) :]
    return inner.strip(" {}[]<>().,:!*`'\"_").lower() in _TEMPLATE_WORDS or inner.strip() in _TEMPLATE_WORDS


def _shown_by_prompt(text: str, box: _Box, prompt: str) -> bool:
    """True when the box stands in the completion as the prompt has it: same line up to the box, same box.

    `The answer is \\boxed{5}` may well be both the prompt's worked example and this completion's own statement; it is
    an echo only when what precedes it on the line (at least two words) is the prompt's as well.
    """
    line = text.rfind("\n", max(0, box.start - MAX_STATEMENT_CHARS), box.start) + 1
    line = max(line, box.start - MAX_STATEMENT_CHARS)
    before = text[line : box.start]
    return len(before.split()) >= 4 and text[line : box.end] in prompt


_CONNECTORS: Final = frozenset(
    {
        "and", "or", "und", "oder", "et", "ou", "y", "e", "o", "и", "или", "and/or", "as", "well", "either", "with",
        "u", "либо", "soit", "和", "或", "与", "及", "以及", "或者", "と", "または", "、",
    }
)  # fmt: skip
_ALTERNATIVES: Final = frozenset(
    {
        "or",
        "oder",
        "ou",
        "o",
        "u",
        "или",
        "либо",
        "soit",
        "或",
        "或者",
        "または",
        "and/or",
        "alternatively",
        "vs.",
        "versus",
    }
)
_MAYBE: Final = ("maybe", "possibly", "perhaps", "even", "alternatively", "potentially", "probably", "else", "also")
_OFFERS: Final = frozenset(
    "option possibility alternative candidate guess choice answer attempt try solution interpretation method approach "
    "scenario".split()
)
"""Words of offers: "Option 1: \\boxed{4}. Option 2: \\boxed{5}.", "My second attempt: \\boxed{6}."."""
_SAYS_ANOTHER: Final = frozenset("second third fourth alternative another other possible".split())
_AROUND_OFFERS: Final = frozenset(
    "the a an answer is it be it's could would might can also value result my solution then if allowed one but "
    "gives yields whereas while".split()
)
_PARTS: Final = frozenset({"part", "case", "question", "teil", "fall", "cas", "caso", "parte", "partie"})
_OF_PARTS: Final = frozenset("gives yields is are we get x y n then".split())
_APPROXIMATE: Final = frozenset({"approximately", "about", "roughly", "≈", "approx", "numerically"})
_AROUND_APPROXIMATE: Final = frozenset({"or", "which", "is", "i.e.", "that", "and"})
_PAIRED: Final = frozenset(
    "minimum maximum min max smallest largest least greatest smaller larger lowest highest other median mean mode "
    "imaginary real sine cosine quotient remainder".split()
)
"""Words for the other half of what was asked: "the minimum is \\boxed{3} and the maximum is \\boxed{11}"."""
_GAP_PUNCTUATION: Final = str.maketrans(dict.fromkeys("$,;&~{}*`/，；、·|-\\", " "))


def _joins(gap: str) -> str:
    """What joins two boxes with `gap` between them as one statement: ", ", " or ", or "" when nothing does."""
    if len(gap) > MAX_GAP_CHARS or "\n\n\n" in gap:
        return ""
    if not gap or gap.isspace():
        return ", "
    if "~~" in gap:
        return ""  # what is struck out does not stand together with what replaces it
    plain = gap
    for command in ("\\qquad", "\\quad", "\\text", "\\mbox", "\\mathrm", "\\textrm"):
        plain = plain.replace(command, " ")
    for delimiter in ("\\(", "\\)", "\\[", "\\]", "\\,", "\\;", "\\ "):
        plain = plain.replace(delimiter, " ")
    words = [word.lower().strip(":：()") or word for word in plain.translate(_GAP_PUNCTUATION).split()]
    if len(words) > 10:
        return ""
    if not _APPROXIMATE.isdisjoint(words) and all(w in _APPROXIMATE or w in _AROUND_APPROXIMATE for w in words):
        return " approx "
    if "otherwise" in words and "if" in words:
        return " or "
    joiner = ""
    sentence = parts = False  # a sentence that ends between them: only an offer, an "or" or a part joins then
    unknown: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        if len(word) > 3 and word[-1] == ".":
            word, sentence = word[:-1], True
        following = words[at + 1] if at + 1 < len(words) else ""
        if word in _ALTERNATIVES or word == "otherwise" or word == "?":
            joiner = " or "
        elif word in _CONNECTORS or word in _MAYBE or word == "for":
            pass
        elif word == ".":
            sentence = True
        elif word in _PARTS:
            parts = True
            at += 0 < len(following) <= 4
        elif word in _OFFERS and ((numbered := _numbers(following)) or (at and words[at - 1] in _SAYS_ANOTHER)):
            joiner = " or "
            at += numbered
        elif word.endswith("=") and 1 < len(word) <= 6:
            pass  # $x=\boxed{3}$ and $y=\boxed{4}$
        elif len(word) <= 5 and following == "=":
            at += 1
        elif word[0] == "=":
            return ""  # a bare "=": `\boxed{2} + \boxed{2} = \boxed{4}`
        elif not (parts and word in _OF_PARTS) and not (len(word) <= 3 and _is_label(word, gap)):
            unknown.append(word)
        at += 1
    if joiner:
        return joiner if all(w in _AROUND_OFFERS or w in _SAYS_ANOTHER for w in unknown) else ""
    if not unknown:
        return ", " if parts or not sentence else ""
    if sentence or len(unknown) > 4:
        return ""
    if (words[0] == "and" and not _PAIRED.isdisjoint(unknown)) or (
        words[0] == "if" and gap.rstrip(" $\\([").endswith(":")
    ):
        return ", "
    bullet = gap[gap.rfind("\n") + 1 :].lstrip()[:2] if "\n" in gap else ""
    return ", " if bullet in ("- ", "* ", "• ") and len(unknown) <= 3 and _TOTALS.isdisjoint(unknown) else ""


_TOTALS: Final = frozenset(
    "total sum answer final result step check verification conclusion solution area volume difference product".split()
)


def _numbers(word: str) -> bool:
    """`2`, `#2`, `b`, `ii`: what numbers an offer."""
    return word.lstrip("#").rstrip(".").isdecimal() or word in _ORDINALS


_ORDINALS: Final = frozenset("a b c d i ii iii one two three".split())


def _is_label(word: str, gap: str) -> bool:
    """`(b)`, `ii)`, `2.`: a label between two boxes, which stood in brackets or began a line."""
    bare = word.rstrip(".)")
    if not (len(bare) == 1 and (bare.isalpha() or bare.isdecimal())) and bare not in ("ii", "iii", "iv", "10", "11"):
        return False
    return "(" + bare + ")" in gap.lower() or (bare != word and "\n" in gap) or bare + ")" in gap.lower()


def _find_boxed(text: str, start: int, end: int, prompt: str) -> tuple[Answer | None, int]:
    """The last box, with those that stand together with it; and one past where it ends."""
    search_end = end
    echoed = False
    # Box commands from the end to the start; no stretch is searched twice.
    boxed = text.rfind("boxed", start, end)
    frame = text.rfind("\\fbox", max(boxed, start), end)
    if frame < 0 and boxed < 0:
        frame = text.rfind("\\framebox", start, end)
    while True:
        if boxed >= search_end or frame >= search_end:
            if boxed >= search_end:
                boxed = text.rfind("boxed", start, search_end)
            frame = text.rfind("\\fbox", max(boxed, start), search_end)
        at = frame + 1 if frame > boxed else boxed
        if at < 0:
            return (_ECHO if echoed else None), start
        box = _box_at(text, at, end)
        if box is None:
            search_end = max(at - 1, 0)  # a negative end would count from the end
            continue
        if not box.complete:
            return _TRUNCATED, end
        if _is_template(text, box) or (prompt and _shown_by_prompt(text, box, prompt)):
            echoed = True
            search_end = max(at - 1, 0)  # a negative end would count from the end
            continue
        if text[max(start, at - 24) : at].rstrip(_AROUND_BOX)[-2:].lower() in _NOT_ENDS and _box_denied(
            text, start, box
        ):
            search_end = max(at - 1, 0)
            continue
        if end - box.end > 30 and _box_tempts(text, start, box):
            search_end = max(at - 1, 0)
            continue
        break

    last_end = box.end
    spans = [_signed(text, start, box) if text[box.start - 1 : box.start] == "-" else _span(text, box)]
    joiner = ", "
    first = box
    while len(spans) < MAX_PARTS:
        if boxed >= first.start:
            boxed = text.rfind("boxed", start, first.start)
        # One that stands together with this box ends near it.
        frame = text.rfind("\\fbox", max(start, boxed, first.start - MAX_STATEMENT_CHARS), first.start)
        at = frame + 1 if frame > boxed else boxed
        if at < 0:
            break
        before = _box_at(text, at, first.start)
        if before is None:
            break
        if not before.complete:
            if text.startswith("boxed", at) and text[at - 1 : at] != "\\":
                break
            return _find_nested(text, start, end)
        how = _joins(text[before.end : first.start])
        if not how and len(spans) == 1 and text[before.end : first.start].strip(" $") in _OPERATORS:
            return Answer((Span(text[before.start : box.end], before.start, box.end),), "boxed"), last_end
        if not how or _is_template(text, before):
            break
        if how == " approx ":
            # "\\boxed{\\frac56}, or approximately \\boxed{0.833}": the decimal restates the exact value.
            if len(spans) == 1 and not _plain_number(text[before.first : before.last]):
                spans, first = [_signed(text, start, before)], before
                continue
            how = " or "
        if how == " or ":
            joiner = how
        spans.append(_span(text, before))
        first = before
    if len(spans) > 1:
        kept: list[Span] = []
        seen: set[str] = set()
        for span in reversed(spans):
            if span.text not in seen:
                seen.add(span.text)
                kept.append(span)
        spans = kept
    return Answer(tuple(spans), "boxed", "", joiner), last_end


_OPERATORS: Final = frozenset({"+", "-", "\\cdot", "\\times", "/", "*"})
"""Between two boxes: `\\boxed{2} + \\boxed{3}` is one expression."""


def _plain_number(content: str) -> bool:
    return all(c.isdecimal() or c in " .,-%" for c in content)


def _signed(text: str, start: int, box: _Box) -> Span:
    """The content of a box; with a minus sign that stands before it (`x = -\\boxed{3}`), sign and box."""
    at = box.start
    if at > start and text[at - 1] == "-" and text[at : at + 1] == "\\":
        before = at - 1
        while before > start and text[before - 1] == " ":
            before -= 1
        if text[max(start, before - 1) : before] in ("$", "=", "(", "[") and text[box.first : box.last].strip():
            return Span(text[at - 1 : box.end], at - 1, box.end)
    return _span(text, box)


_NOT_WORDS: Final = frozenset("not never nicht не be to than of pas es è é".split())
_NOT_THIS: Final = (
    "not", "never", "cannot be", "not be", "n't be", "n’t be", "not equal to", "other than", "rather than",
    "instead of", "nicht", "n'est pas", "n’est pas", "no es", "non è", "не", "não é",
)  # fmt: skip
_NOT_JOINED: Final = ("n't", "n’t", "不是", "并非")
_TEMPTING: Final = (
    "one might think", "you might think", "might guess", "tempting", "a common mistake", "a common error",
    "common wrong answer", "naively", "naive answer", "at first glance", "an incorrect answer", "a wrong answer",
)  # fmt: skip


_AROUND_BOX: Final = ' \t\n(*_`$\\"“{}['
_NOT_ENDS: Final = frozenset("ot er be to an of ht as es è é не n't n’t 't ’t 不是 并非".split()) | {" è", " é"}


def _box_denied(text: str, start: int, box: _Box) -> bool:
    """True for "the answer is not \\boxed{6}". What ends otherwise than `_NOT_ENDS` need not be looked at."""
    before = text[max(start, box.start - 24) : box.start].rstrip(_AROUND_BOX).lower()
    if before.endswith(_NOT_JOINED):
        return True
    if before.endswith("would be") and "had we " in text[max(start, box.start - MAX_GAP_CHARS) : box.start].lower():
        return True  # "had we allowed negatives, it would be \\boxed{-4}"
    return before[before.rfind(" ") + 1 :].lstrip("(") in _NOT_WORDS and before.endswith(_NOT_THIS)


def _box_tempts(text: str, start: int, box: _Box) -> bool:
    """True for "one might think that it is \\boxed{6}, but ..."."""
    before = text[max(start, box.start - MAX_GAP_CHARS) : box.start].lower()
    before = before[max(before.rfind(". "), before.rfind("\n")) + 1 :]
    return len(before) > 12 and any(phrase in before for phrase in _TEMPTING)


_RETRACTS: Final = (
    *(
        f"{copula}{judgement}"
        for copula in ("'s ", " is ", "’s ")
        for judgement in ("incorrect", "wrong", "not correct", "not right", "not the answer")
    ),
    " isn't right", " isn't correct", "oops", "no wait", "on second thought", "need to redo", "(wrong", "(incorrect",
    "error above", "mistake above", "there is an error", "there must be an error", "scratch that", "i made a mistake",
    "i made an error", "i made an arithmetic", "i made a calculation", "i miscalculated", "wait, no", "no, wait",
    "actually, no", "actually no", ", but that ignores", "is not the correct answer", "is not the right answer",
    "不对", "算错了", "是错的", "間違", "es incorrecto", "me equivoqué", "c'est faux", "me suis trompé",
    "das ist falsch", "это неверно", "это неправильно",
)  # fmt: skip
_SAID_OF_BOX: Final = ("that", "this", "it", "which")
_ONLY_WHERE: Final = (" for ", " if ", " when ", " unless ", " in general", " where ")
_OF_OTHERS: Final = ("common", "some ", "people", "might", "would", "if ", "option", "choice", "step", "verif")
_SAYS_NO: Final = frozenset("no nope not wrong incorrect nein non нет falso falsch faux いいえ 不 不是 不对 否".split())
_SAYS_YES: Final = ("yes", "indeed", "correct", "是的", "对", "はい", "sí", "oui", "ja", "да")


def _retraction(text: str, after: int, end: int) -> int:
    """One past where a box ending at `after` is taken back ("Is it \\boxed{5}? No.", "Sorry, that is wrong."), or -1.

    What is said of others is none: "Some answer 12, but that is wrong", "the verification step was incorrect".
    """
    tail = text[after : min(end, after + MAX_STATEMENT_CHARS)]
    rest = tail.strip(" .$)}]\\*\n")
    if len(rest) < 40 and not any(mark in rest for mark in ",.\n?!(，。？吗—"):
        return -1  # "$ scoops of ice cream.": no clause follows the box
    low = _lowered(tail)
    asked = _skip(low, 0, len(low), " $*)}\\.")
    if low.startswith(("?", "？", "吗"), asked):
        told = _skip(low, asked, len(low), " ?？吗$*)\n")
        stop = told
        while stop < len(low) and low[stop].isalpha():
            stop += 1
        if low[told:stop] in _SAYS_NO:
            return after + stop
        no = max(low.find("so no."), low.find(" no."), low.find(" no,"), low.find("n't work"))
        if no >= 0 and not any(word in low for word in _SAYS_YES):
            return after + no + 4
    for phrase in _RETRACTS:
        found = low.find(phrase)
        if found < 0:
            continue
        if phrase[0] in " '’":
            if not low.endswith(_SAID_OF_BOX, 0, found):
                continue
            clause = max(low.rfind(". ", 0, found), low.rfind("\n", 0, found), 0)
            if any(c.isdecimal() for c in low[clause:found]):
                continue  # "Many answer 10, which is wrong": another value is meant
        elif phrase[0].isascii() and _is_letter(low, found - 1):
            continue  # "3 scoops"
        stop = found + len(phrase)
        if phrase.endswith(" no") and low[stop : stop + 2].strip(" ").isalpha():
            continue  # "Wait, no further checks are needed"
        if phrase[0] in " '’" and low.startswith(_ONLY_WHERE, stop):
            continue  # "this is not correct for negative n"
        sentence = max(low.rfind(". ", 0, found), low.rfind("\n", 0, found), 0)
        if not any(word in low[sentence:found] for word in _OF_OTHERS):
            return after + stop
    return -1


def _find_nested(text: str, start: int, end: int) -> tuple[Answer | None, int]:
    """The box that ends last, when boxes stand inside boxes."""
    boxes, unfinished = _all_boxes(text, start, end)
    if unfinished or not boxes:
        return _TRUNCATED, end
    last = max(boxes, key=lambda box: box.end)
    # Where the outer box holds nothing but the inner one, the inner one is the answer.
    inner = [box for box in boxes if box.start >= last.first and box.end <= last.last]
    for box in sorted(inner, key=lambda box: box.start):
        if not text[last.first : box.start].strip(" $") and not text[box.end : last.last].strip(" $."):
            last = box
    return Answer((_span(text, last),), "boxed"), last.end


def _span(text: str, box: _Box) -> Span:
    first, last = box.first, box.last
    content = text[first:last]
    if len(content) <= 8 and "{" not in content and " " not in content and "\n" not in content:
        return Span(content, first, last)
    for _ in range(4):
        while first < last and text[first].isspace():
            first += 1
        while last > first and text[last - 1].isspace():
            last -= 1
        # `\boxed{{42}}`, a format string's doubled braces
        if text.startswith("{{", first) and "*" in text[first:last]:
            break  # `{{7*7}}` is a template that someone hopes is run
        if (
            2 < last - first < MAX_DOUBLED_CHARS
            and text[first] == "{"
            and _matching_brace(text, first, last) == last - 1
        ):
            first, last = first + 1, last - 1
            continue
        break
    if last - first > 8 and (text.find("nswer", first, last) >= 0 or text.find("NSWER", first, last) >= 0):
        first = _after_label(text, first, last)
    return Span(text[first:last], first, last)


def _after_label(text: str, first: int, last: int) -> int:
    """Past `\\textbf{Answer: }` or `\\text{The answer is }` at the start of a box."""
    head = text[first : min(last, first + 40)]
    lowered = head.lower()
    at = lowered.find("answer")
    if at < 0:
        return first
    inside = head[:at].strip(" \\{")
    if inside and not inside.lower().startswith(("text", "mathrm", "mathbf", "mbox", "the", "final")):
        return first
    stop = at + 6
    rest = head[stop:]
    trimmed = rest.lstrip()
    for connector in ("is:", "is", ":", "="):
        if trimmed.startswith(connector):
            stop += len(rest) - len(trimmed) + len(connector)
            break
    else:
        return first
    at = first + stop
    while at < last and text[at] in " }:$*~":
        at += 1
    # `\text{The answer is 5}`: the brace that closes behind the answer stays; a reader of LaTeX skips it.
    return at if at < last else first


# ---------------------------------------------------------------- statements in words

_ENGLISH: Final = (
    "is", "are", "=", ":", "：", "equals", "will be", "would be", "should be", "must be", "remains", "→", "->", "-",
)  # fmt: skip
_Root = tuple[str, tuple[str, ...], bool]
_WORDS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("answer", _ENGLISH),
    ("答案", ("应该是", "可能是", "应为", "等于", "就是", "为", "是", "：", ":", "=")),
    ("答え", ("は", "：", ":", "=")),
    ("解答", ("は", "：", ":", "为", "是")),
    ("答：", ("",)),
    ("答:", ("",)),
    (
        "respuesta",
        ("puede ser", "podría ser", "correcta es", "final es", "es", "sería", "será", ":", "=", "final:", "correcta:"),
    ),
    ("réponse", ("correcte est", "finale est", "est donc", "est", ":", "=", "finale:", "finale :", "finale est donc")),
    ("reponse", ("correcte est", "finale est", "est", ":", "=", "finale:", "finale :")),
    ("antwort", ("lautet", "ist", "wäre", ":", "=")),
    ("ergebnis", ("lautet", "ist", ":", "=")),
    ("ответ", (":", "—", "–", "-", "равен", "будет", "это", "=")),
    ("resposta", ("é", "correta é", "final é", ":", "=", "final:")),
    ("risposta", ("è", "corretta è", "finale è", ":", "=", "finale:")),
    ("정답", ("은", "는", ":", "：")),
    ("답은", ("",)),
    ("الإجابة", ("هي", "هو", ":", "=")),
    ("الجواب", ("هو", "هي", ":", "=")),
    ("đáp án", ("là", ":", "=")),
    ("jawaban", ("adalah", ":", "=")),
)
_CHOICE_WORDS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("option", ("is", ":", "")),
    ("choice", ("is", ":", "")),
    ("故选", ("：", ":", "择", "")),
    ("应选", ("：", ":", "")),
    ("选项", ("是", "为", "：", ":", "")),
    ("选择", ("：", ":", "")),
    ("pick", ("",)),
    ("choose", ("",)),
)
_ROOTS: Final[tuple[_Root, ...]] = tuple((root, after, root.isascii()) for root, after in _WORDS)
_CHOICE_ROOTS: Final[tuple[_Root, ...]] = _ROOTS + tuple((root, after, root.isascii()) for root, after in _CHOICE_WORDS)
_QUALIFIERS: Final = ("to ", "for ", "of ", "in ", "as ", "(", "rounded", "choice", "option", "key")
_FILLERS: Final = (
    "approximately", "about", "roughly", "exactly", "simply", "just", "therefore", "thus", "hence", "then", "now",
    "indeed", "equal to", "given by", "the interval", "the set", "the point", "the number", "the value", "the fraction",
    "option", "choice", "(option)", "only", "correct", "also", "still", "the ordered pair", "donc", "约", "约为",
    "therefore:", "the integer", "at least", "at most", "either", "both", "between", "probably", "entweder", "soit",
    "o bien", "либо",
)  # fmt: skip
_STOP_WORDS: Final = frozenset(
    {
        "since", "because", "as", "so", "which", "when", "where", "for", "if", "with", "while", "but", "that", "on",
        "of", "by", "from", "after", "is", "are", "was", "the", "we", "i", "this", "therefore", "thus", "hence", "due",
        "given", "it", "there", "these", "they", "he", "she", "can", "will", "have", "has", "not", "than", "then",
        "distinct", "different", "possible", "total", "reasoning", "left", "more", "to", "his", "her", "their", "its",
        "my", "your", "our", "at", "into", "during", "such", "under", "так", "denn", "weil", "car", "puisque", "porque",
        "pues", "потому", "поскольку", "perché", "а", "non", "pas", "nicht",
    }
)  # fmt: skip
_COPULAS: Final = (
    " is:", " is", " are:", " are", "=", " equals", " be", "为", "是", "：", ":", " est", " es", " ist", " beträgt",
    "等于", "共有", " 有", "هو", "は", " é", "≈", "\\approx", "i.e.", " yields", " gives", " get", " has", " have", "∈",
    "≡",
    "=>", "⇒", "→",
)  # fmt: skip
_ABOUT: Final = (
    "or approximately", "or about", "or roughly", "approximately", "about", "roughly", "\\approx", "≈", "or ≈",
    "which is about", "which is approximately", "i.e. about",
)  # fmt: skip
"""What stands before an exact value's decimal: "$\\frac{2}{3}$, or approximately 0.667"."""
_BOILERPLATE: Final = (
    "i hope", "hope this", "hope that", "let me know", "feel free", "please let", "if you have", "qed", "q.e.d",
    "thank", "this completes", "i can show", "i can explain", "i can also", "i can provide", "i'd be happy",
    "consistent",
)  # fmt: skip
_JUDGEMENTS: Final = frozenset(
    {
        "correct", "wrong", "right", "incorrect", "verified", "unique", "reasonable", "consistent", "not", "clear",
        "obvious",
    }
)  # fmt: skip
"""What is said of an answer, not as one: "This answer is correct."."""
_SAID_OF_IT: Final = ("not ", "n't", "correct.", "correct\n", "wrong.", "wrong\n", "right.", "incorrect")
_STARTS_MATH: Final = frozenset("0123456789+-−–±∓([{<>≤≥|\\$€£¥₹√π∞∅.°½⅓⅔¼¾⅕⅛＋－０１２３４５６７８９①②③④⑤")
_TRAILING: Final = " \t\r\n.,;:!?。，；：！？*`_\"'”“’"


def _lowered(text: str) -> str:
    """`text.lower()` of the same length: 'İ', the one letter that grows, would shift every position behind it."""
    low = text.lower()
    return low if len(low) == len(text) else text.replace("İ", "I").lower()


def _skip(text: str, at: int, end: int, characters: str) -> int:
    while at < end and text[at] in characters:
        at += 1
    return at


def _is_letter(text: str, at: int) -> bool:
    return 0 <= at < len(text) and (text[at].isalnum() or text[at] == "_")


def _after_root(text: str, low: str, at: int, end: int, connectors: tuple[str, ...]) -> int:
    """Where the statement begins that follows a root word ending at `at`; -1 when none follows."""
    at = _skip(low, at, end, "s*_ \t)）】]")
    # "The answer in simplest form is ..."
    if low.startswith(_QUALIFIERS, at) and text[at + 2 : at + 3] != ")":
        limit = min(end, at + 120)
        for stop in (".\n", ". ", "\n", "$", "?"):
            found = low.find(stop, at, limit)
            if found >= 0:
                limit = found
        colon = low.find(":", at, limit + 1)
        copula = low.find(" is ", at, limit + 4)
        if copula < 0:
            copula = low.find(" is:", at, limit + 4)
        if copula >= 0:
            at = copula + 1
        elif colon >= 0:
            at = colon
        else:
            return -1
    for connector in connectors if low.startswith(connectors, at) else ():
        if low.startswith(connector, at):
            after = at + len(connector)
            if connector and connector[-1].isascii() and connector[-1].isalpha() and _is_letter(low, after):
                continue
            at = _skip(text, after, end, " \t:：*_`=")
            at += text.startswith("> ", at) and text[at - 1] in "=-"  # "Answer => 5"
            if at < end and text[at] == "\n":
                at = _skip(text, at, end, " \t\n*_`")
            return at if at < end else -1
    if at < end and text[at] == "\n":
        # A heading: "**Final Answer**\n\n$5$"
        after = _skip(text, at, end, " \t\n*_`-")
        return after if after < end and (text[after] in _STARTS_MATH or after + 80 > end) else -1
    if low[max(0, at - 4) : at].rstrip()[-1:] == "]" and _answer_like(text, at, end):
        return at  # "[Answer] 18"
    # "the answer $5$", "answer \boxed..."; words that follow directly are a sentence about the answer
    return at if at < end and text[at] in "$\\" and connectors is _ENGLISH else -1


def _formula_end(text: str, start: int, end: int) -> int:
    """One past the formula that a delimiter at `start` opens, or -1. `\\$` is a dollar sign, not a delimiter."""
    for opener, closer in (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")):
        if text.startswith(opener, start):
            at = text.find(closer, start + len(opener), end)
            while closer == "$" and at > 0 and text[at - 1] == "\\":
                at = text.find(closer, at + 1, end)
            return -1 if at <= start + len(opener) else at + len(closer)
    return -1


def _statement_end(text: str, start: int, end: int) -> int:
    """One past the statement that begins at `start`: its sentence or line; a display formula may span lines."""
    end = min(end, start + MAX_STATEMENT_CHARS)
    if text.startswith(("\\[", "$$"), start):
        stop = _formula_end(text, start, end)
        if stop > 0:
            return stop
    at = start
    while at < end:
        c = text[at]
        if c == "\n" or c in "。！？":
            return at
        if c == "$" or (c == "\\" and text.startswith("\\(", at)):
            stop = _formula_end(text, at, end)
            if stop > 0 and "\n\n" not in text[at:stop] and (c == "\\" or ". " not in text[at:stop]):
                at = stop
                continue
        if c == "\\":
            at += 2
            continue
        if c == "!" and at > start and text[at - 1].isdecimal():
            following = text[at + 1 : at + 3].lstrip()
            if following and following[0] in "=+-*/^)":
                at += 1  # a factorial: "5! = 120"
                continue
        if c in ".!?" and (at + 1 >= end or text[at + 1] in " \n\t*\"'”)"):
            # "i.e. 0.5", "Rs. 5723", "approx. 3" are no ends of sentences
            word = at
            while word > start and (text[word - 1].isalpha() or text[word - 1] == "."):
                word -= 1
            after = _skip(text, at + 1, end, " ?" if c == "?" else " ")
            if c == "?" and (
                _offers_more(text, after) or (text[after : after + 1].isdecimal() and "?" in text[after : after + 6])
            ):
                at += 1  # "10?? or 11??" is one statement that names two
                continue
            if not (
                c == "."
                and 0 < at - word <= 6
                and text[word:at].lower() in ("i.e", "e.g", "rs", "approx", "no", "ca", "vs", "eq", "cf", "resp", "z.b")
                and after < end
                and text[after] != "\n"
            ):
                return at
        at += 1
    return end


def _offers_more(text: str, at: int) -> bool:
    """Whether an alternative follows: "or 11"."""
    word = text[at : at + 14].lower().partition(" ")[0].rstrip(",")
    return word in _ALTERNATIVES or word in _MAYBE


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in " \t\r\n*`_\"'“”’：:，,":
        start += 1
    while end > start and text[end - 1] in _TRAILING:
        end -= 1
    return start, end


def _leading(text: str, low: str, start: int, end: int) -> tuple[int, int] | None:
    """The answer at the start of a statement: `5 meters since ...` -> `5 meters`; None where words come first."""
    moved = True
    while moved:
        moved = False
        start = _skip(text, start, end, ' \t*_`"“:：~')
        if not low.startswith(_FILLERS, start):
            break
        for filler in _FILLERS:
            if low.startswith(filler, start) and not (filler[-1].isascii() and _is_letter(low, start + len(filler))):
                start += len(filler)
                moved = True
    if start >= end:
        return None
    c = text[start]
    if c in "ynYN":
        for word in ("yes", "no"):
            if low.startswith(word, start) and text.startswith((",", ".", ";", " -", " –", " —"), start + len(word)):
                return start, start + len(word)  # "No, it is not possible."
    if c in "$\\":
        stop = _math_run(text, start, end)
        if stop > start:
            return _trim(text, start, stop)
    if c not in _STARTS_MATH and not _starts_symbol(text, start, end):
        return None
    stop = start
    words = 0
    while stop < end:
        word_start = _skip(text, stop, end, " \t")
        if word_start >= end:
            break
        word_end = word_start
        while word_end < end and text[word_end] not in " \t":
            word_end += 1
        word = low[word_start:word_end].strip(".,;:!?()*`")
        if stop > start and (word in _STOP_WORDS or (word and word[0] >= "\u3000" and word not in _CONNECTORS)):
            break
        if stop > start and word == "in" and words and text[word_end : word_end + 2].strip().isalpha():
            break  # "35 flowers in his garden"
        aside = word_start > start and text[word_start] == "(" and low[word_start + 1 : word_start + 2].isalpha()
        aside = aside and not low.startswith(("or ", *_MAYBE), word_start + 1)  # "10 (or 11)" hedges
        if aside and (words or (text[stop - 1].isdecimal() and low[word_start + 2 : word_start + 3].isalpha())):
            break  # "10 (ten)"
        if word_start > start and text[word_start] == "(" and _is_aside(text, word_start, end):
            break  # "180 dollars (36% of the revenue)"
        if word in ("$", "€", "£", "¥", "₹") and stop > start:
            stop = word_end
            break
        if word.isalpha() and len(word) > 1 and word not in _CONNECTORS and stop > start:
            words += 1
            if words > 3:
                break
        if word in _CONNECTORS and not text.startswith("=", _skip(text, word_end, end, " ")):  # "y = 4" is no "and"
            after = _skip(text, word_end, end, " \t")
            for maybe in (*_MAYBE, "peut-être", "quizás", "vielleicht"):  # "5 or maybe 6" hedges as "5 or 6" does
                if low.startswith(maybe + " ", after):
                    after = word_end = _skip(text, after + len(maybe), end, " \t")
            if after >= end or not (text[after] in _STARTS_MATH or _starts_symbol(text, after, end)):
                break
        stop = word_end
    return _trim(text, start, stop)


def _is_aside(text: str, opening: int, end: int) -> bool:
    """True when brackets hold a word of four letters: "(36% of the revenue)", "(we discard n = -7)"; no "(or 6)"."""
    closing = text.find(")", opening, end)
    inner = text[opening + 1 : closing if closing >= 0 else end].lower()
    if not inner[:1].isalnum() or "\\" in inner or inner.startswith(("or ", "mod", *_MAYBE)):
        return False
    return any(len(word) > 3 and word.isalpha() for word in inner.split())


def _starts_symbol(text: str, start: int, end: int) -> bool:
    """A one-letter variable, a function name, or a letter choice: `x = 5`, `sin(x)`, `A`."""
    if not text[start].isalpha():
        return False
    after = start + 1
    while after < end and text[after].isalnum():
        after += 1
    word = text[start:after]
    if len(word) == 1 and word.isascii():
        return word not in ("I", "a") or after >= end or text[after] in "=+-*/^.,"
    return word in ("sqrt", "sin", "cos", "tan", "log", "ln", "pi", "exp", "arctan", "inf", "infinity")


def _math_run(text: str, start: int, end: int) -> int:
    """One past a run of formulas `$..$`, `\\(..\\)`, `\\[..\\]` joined by commas, "and", "or" and short units."""
    at = start
    stop = -1
    while at < end:
        at = _formula_end(text, at, end)
        if at < 0:
            return stop
        stop = at
        after = at
        while after < end and text[after] in " ,;\t":
            after += 1
        word_end = after
        while word_end < end and text[word_end].isalpha():
            word_end += 1
        word = text[after:word_end].lower()
        if word in _CONNECTORS:
            after = _skip(text, word_end, end, " ")
        elif word and after > at and text[at] == " ":
            # A unit: `$5$ meters`, not a clause
            tail = text[after:end].strip(_TRAILING)
            return after + len(tail) if len(tail.split()) <= 2 and tail.replace(" ", "").isalpha() else stop
        elif word:
            return stop
        if after == at and not (after < end and text[after] in "$\\"):
            return stop
        at = after
    return stop


def _number_end(text: str, start: int, end: int) -> int:
    """One past the last digit (or percent, degree sign) before `end`; -1 without a digit."""
    at = end - 1
    while at >= start and not text[at].isdecimal():
        at -= 1
    if at < start:
        return -1
    stop = at + 1
    while stop < end and text[stop] in "%％°!":
        stop += 1
    if text.startswith("\\%", stop) and stop + 2 <= end:
        stop += 2
    return stop


def _ends_term(text: str, at: int, start: int) -> bool:
    return at >= start and (_is_letter(text, at) or text[at] in ")}")


def _last_number(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The last number: sign, currency, digits with separators, a fraction bar, a percent sign."""
    stop = _number_end(text, start, end)
    if stop < 0:
        return None
    at = stop - 1
    while at > start and (
        text[at - 1] in "0123456789.,/{}％%０１２３４５６７８９٠١٢٣٤٥٦٧٨٩"
        or (text[at - 1] == ":" and at - 1 > start and text[at - 2].isdecimal() and text[at].isdecimal())
    ):
        at -= 1
    while at < stop and text[at] in ".,/{}":
        at += 1
    compound = _compound(text, start, at, stop, end)
    if compound is not None:
        return compound
    sign = at
    while sign > start and text[sign - 1] in "$€£¥\\":
        sign -= 1
    if sign > start and text[sign - 1] in "-−–+" and not _ends_term(text, sign - 2, start):
        sign -= 1
        # "x - 5" is a difference, "is -5" a sign
        if sign > start and text[sign - 1] == " " and text[sign + 1] == " " and _ends_term(text, sign - 2, start):
            sign += 1
    return sign, stop


_COMPOUNDS: Final = frozenset(
    "hour hours minute minutes day days week weeks month months year years foot feet yards dollars pounds".split()
)


def _compound(text: str, start: int, at: int, stop: int, end: int) -> tuple[int, int] | None:
    """`2 hours and 24 minutes`: a quantity in two units, whose last number stands at `at`; else None."""
    before = text[max(start, at - MAX_WORDS_CHARS) : at].rstrip(" ,")
    if before.endswith(" and"):
        before = before[:-4].rstrip(" ,")
    head, _, unit = before.rpartition(" ")
    number = head.rpartition(" ")[2]
    if unit not in _COMPOUNDS or not number.isdecimal():
        return None
    last = _skip(text, stop, end, " ")
    while last < end and text[last].isalpha():
        last += 1
    if text[stop:last].strip() not in _COMPOUNDS:
        return None
    return text.rfind(number, start, at), last


def _closing_formula(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The last `$..$` or `\\(..\\)` of a sentence when no number stands behind it."""
    closing = max(text.rfind("\\)", start, end), text.rfind("\\]", start, end))
    dollar = text.rfind("$", start, end)
    if dollar > closing:
        opening = text.rfind("$", start, dollar)
        if opening < 0 or dollar - opening < 2:
            return None
        found = opening, dollar + 1
    elif closing >= 0:
        opener = "\\(" if text[closing + 1] == ")" else "\\["
        opening = text.rfind(opener, start, closing)
        if opening < 0:
            return None
        found = opening, closing + 2
    else:
        return None
    if any(c.isdecimal() for c in text[found[1] : end]):
        return None
    return _formulas_before(text, start, found[0]), found[1]


def _formulas_before(text: str, start: int, at: int) -> int:
    """Back over the formulas that stand with the one at `at` as a list: `$x=1$ and $y=2$`."""
    first = at
    while True:
        gap = first
        while gap > start and text[gap - 1] in " ,":
            gap -= 1
        for word in ("and", "or"):
            if text.endswith(" " + word, start, gap):
                gap -= len(word)
                while gap > start and text[gap - 1] in " ,":
                    gap -= 1
                break
        else:
            if "," not in text[gap:first]:
                return first
        if gap <= start or not text.endswith(("$", "\\)"), start, gap):
            return first
        opener = "$" if text[gap - 1] == "$" else "\\("
        before = text.rfind(opener, start, gap - 1)
        if before < 0 or not (_names_value(text, before, gap) and _names_value(text, at, len(text))):
            return first  # "In $ABC$ and $DEF$, $x$", "so $5x=30$ and $x=6$": only values of names make a list
        first = before


def _names_value(text: str, start: int, end: int) -> bool:
    """True when a formula is `$x = ...`: at most six characters, a letter first, before its "="."""
    name = text[start : min(end, start + 12)].lstrip("$\\( ").partition("=")
    return bool(name[1]) and len(name[0].strip()) <= 6 and name[0][:1].isalpha()


def _narrow(text: str, low: str, start: int, end: int) -> tuple[int, int] | None:
    """What a sentence gives as its result: bold text, what follows its last copula, its last formula or number."""
    bold = text.rfind("**", start, end)
    if bold > start:
        opening = text.rfind("**", start, bold)
        if opening >= 0 and bold - opening > 2:
            inner = text[opening + 2 : bold]
            if any(c.isdigit() for c in inner) or "$" in inner or "\\" in inner:
                found = _leading(text, low, opening + 2, bold)
                if found:
                    return found
                if not inner.rstrip().endswith((":", "：")):
                    return _narrow(text, low, opening + 2, bold)
    bare = _leading(text, low, start, end)
    whole = bare is not None and bare[0] == start and _trim(text, bare[1], end)[0] >= end
    if whole and not any(sign in text[start:end] for sign in "<*\\"):
        return bare  # the sentence is the answer
    best = -1
    for copula in _COPULAS:
        at = low.rfind(copula, start, end)
        if at < 0:
            continue
        after = at + len(copula)
        if copula[-1].isalpha() and copula[-1].isascii() and _is_letter(low, after):
            continue
        if copula == ":" and at > start and text[at - 1].isdecimal() and text[after : after + 1].isdecimal():
            continue  # 4:30
        if after > best:
            best = after
    formula = _closing_formula(text, start, end)
    if best >= 0:
        if formula and formula[0] < best < formula[1]:
            return formula  # the "=" stands inside the formula; the whole of it is the statement
        found = _leading(text, low, _first_of_list(text, low, start, best), end)
        if found and found[0] < found[1]:
            tail = text[found[1] : end]
            if not any(c.isdigit() for c in tail) or tail.lstrip(" ,($").startswith(_ABOUT):
                return found
            if tail.startswith((" (mod", " mod")) or (tail.startswith(" (") and _is_aside(text, found[1] + 1, end)):
                return found
    if formula:
        told = low[best:end].strip(_TRAILING + " ") if best >= formula[1] else ""
        if told and all(word in _NUMBER_WORDS for word in told.replace("-", " ").split()):
            return _trim(text, best, end)  # "the least value of $n$ is thirteen"
        return formula
    number = _last_number(text, start, end)
    if number is not None and number[1] <= best:
        told = text[best:end].strip(_TRAILING + " ")
        if told.isalpha() and told[0].isupper() and len(told) > 2 and told.isascii():
            return _trim(text, best, end)  # "100 days from now it will be Thursday"
    if number is None and best >= 0:
        told = low[best:end].strip(_TRAILING + " ")
        if told and all(word in _NUMBER_WORDS for word in told.replace("-", " ").split()):
            return _trim(text, best, end)
    if (
        number is None
        and low.endswith((" is", " are", " be"), start, max(best, start))
        and len(text[best:end].split()) <= 3
    ):
        return _trim(text, best, end)  # "The statement is true."
    return number


_NUMBER_WORDS: Final = frozenset(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand and".split()
)


def _first_of_list(text: str, low: str, start: int, at: int) -> int:
    """Back over `x = 3 or ` to the start of a list of assignments whose last "=" ends at `at`; else `at`."""
    first = at
    while at > start and text[at - 1] == "=":
        name = at - 1
        while name > start and text[name - 1] == " ":
            name -= 1
        stop = name
        while name > start and (text[name - 1].isalnum() or text[name - 1] == "_") and stop - name < 4:
            name -= 1
        gap = name
        while gap > start and text[gap - 1] in " ,":
            gap -= 1
        for word in ("or", "and"):
            if low.endswith(" " + word, start, gap):
                gap -= len(word)
                break
        else:
            if gap == name or "," not in text[gap:name]:
                break
        earlier = low.rfind("=", start, gap)
        if stop == name or earlier < 0 or gap - earlier > MAX_GAP_CHARS:
            break
        at = earlier + 1
        first = name  # at least `x = -2`; the loop goes on to `x = 3`
        begin = earlier
        while begin > start and text[begin - 1] == " ":
            begin -= 1
        while begin > start and text[begin - 1].isalnum() and earlier - begin < 6:
            begin -= 1
        first = begin
    return first


def _choice(text: str, start: int, end: int, *, last: bool) -> tuple[int, int] | None:
    """A choice letter A-J that stands alone; the first one, or the last one that is not denied ("not A", "不是 A")."""
    order = range(end - 1, start - 1, -1) if last else range(start, end)
    for at in order:
        c = text[at]
        if not ("A" <= c <= "J"):
            continue
        if at > start and ((text[at - 1].isascii() and text[at - 1].isalnum()) or text[at - 1] in "'’"):
            continue
        if at + 1 < end and text[at + 1].isascii() and (text[at + 1].isalnum() or text[at + 1] in "'’"):
            run = _letter_run(text, at, end)
            if run:
                return at, run
            continue
        article = c in "AI" and at + 2 < end and text[at + 1] == " " and text[at + 2].islower()
        if article and not text.startswith(_AFTER_LETTER if last else ("or ", "and "), at + 2):
            continue  # also the pronoun
        if text[max(start, at - 12) : at].rstrip(" (*$\\").endswith(("not", "n't", "不是", "不选", "非", "nor")):
            continue
        if _denied(text, at + 1, end):
            continue
        return at, at + 1
    return None


_AFTER_LETTER: Final = ("or ", "and ", "because", "since", "as ", "seems", "gives", "are ", "than ")


def _letters_before(text: str, start: int, at: int) -> int:
    """Back over the letters that stand with the one at `at`: "either A or B" names both."""
    while True:
        gap = at
        while gap > start and text[gap - 1] in " ,、/()*&":
            gap -= 1
        joined = "," in text[gap:at] or "/" in text[gap:at] or "、" in text[gap:at]
        for word in ("and", "or", "和", "或", "及"):
            if text.endswith(word, start, gap):
                gap -= len(word)
                joined = True
                while gap > start and text[gap - 1] in " ,()*":
                    gap -= 1
        before = gap - 1
        alone = before >= start and "A" <= text[before] <= "J" and not _is_letter(text, before - 1)
        if not joined or not alone:
            return at
        at = before


def _letter_run(text: str, at: int, end: int) -> int:
    """One past `AC`, `BCD`: two to five letters in order that stand alone, as a choice of several; else 0."""
    stop = at
    while stop < end and "A" <= text[stop] <= "H" and (stop == at or text[stop] > text[stop - 1]):
        stop += 1
    alone = stop >= end or not (text[stop].isascii() and text[stop].isalnum())
    return stop if alone and 1 < stop - at <= 5 else 0


_SAYS_FALSE: Final = ("wrong", "Wrong", "incorrect", "Incorrect", "false", "False", "No\n", "❌", "✗", "✘")
_DENIALS: Final = (
    "is not", "isn't", "is wrong", "is incorrect", "is false", "are wrong", "are not", "are incorrect", "cannot be",
    "can't be", "ではない", "ではありません", "不是", "不对", "不正确", "是错", "错误", "n'est pas", "ist nicht",
    "no es", "не ", "is ruled out", "is eliminated", "does not", "doesn't", "fails", "fail",
)  # fmt: skip


def _denied(text: str, at: int, end: int) -> bool:
    """`A is wrong`, `Aではない`: the letter that ends at `at` is denied. `B不是 A` denies the other letter."""
    after = _skip(text, at, min(end, at + 4), " )*.:」』】")
    if text.startswith(_SAYS_FALSE, after):
        return True
    for denial in _DENIALS:
        if text.startswith(denial, after):
            after = _skip(text, after + len(denial), end, " (*")
            return not (after < end and "A" <= text[after] <= "J" and not _is_letter(text, after + 1))
    return False


def _choices(text: str, start: int, end: int) -> tuple[int, int] | None:
    """One letter, or all of a statement that names several (`A, C, D`; hedging stays visible: `A or B`)."""
    first = _choice(text, start, end, last=False)
    if first is None:
        return None
    at = first[1]
    stop = at
    while True:
        after = _skip(text, at, end, " ,、/)(*;&$")
        for word in ("and", "or", "和", "或", "及"):
            if text.startswith(word, after):
                after = _skip(text, after + len(word), end, " (*$")
                break
        else:
            if after == at:
                break
        if after < end and "A" <= text[after] <= "J" and not (after + 1 < end and text[after + 1].isalnum()):
            at = stop = after + 1
            continue
        break
    return first[0], stop


def _answer_like(text: str, at: int, end: int) -> bool:
    """True when mathematics starts at `at`, behind emphasis at most."""
    at = _skip(text, at, end, ' \t\n*_`"“:')
    return at < end and text[at] in _STARTS_MATH


def _formula_line(content: str) -> bool:
    """`x = \\pm 4`, `x^2-2`; neither words nor a bound: `#### x < 0` opens a case."""
    words = re.findall(r"(?<![\\A-Za-z])[A-Za-z]{2,}", content)
    bound = any(mark in content for mark in ("<", ">", "\\le", "\\ge", "≤", "≥"))
    return not bound and any(c in "0123456789=" for c in content) and all(w in _FUNCTIONS for w in words)


_HEADINGS: Final = frozenset("answer solution result conclusion verification check summary explanation".split()) | {
    "final answer",
    "final result",
    "the answer",
    "final solution",
}


def _hashes(text: str, start: int, end: int, *, choice: bool = False) -> tuple[int, int] | None:
    """The last `#### 42` line. `#### Step 3:` is a Markdown heading, `#### 3. Add` is one too."""
    line_end = written = _trim_end(text, start, end)
    while True:
        at = text.rfind("####", start, line_end)
        if at < 0:
            return None
        newline = text.rfind("\n", at, line_end)
        if newline >= 0:  # not the last line of what is left: cut it to the mark's own line
            line_end = text.find("\n", at, line_end)
        first = _skip(text, at + 4, line_end, "#: \t*`")
        if text.startswith(("Answer", "Final Answer", "ANSWER", "answer", "答案", "Réponse", "Respuesta"), first):
            label = min(line_end, first + 20)
            colon = max(text.find(":", first, label), text.find("：", first, label))
            first = first if colon < 0 else _skip(text, colon, line_end, ":： \t*`")
        last = line_end
        while last > first and text[last - 1] in " \t\r*`":
            last -= 1
        aside = text.find(" (", first, last)
        if text[last - 1 : last] == ")" and aside > first and text[aside + 2 : aside + 4].isalpha():
            last = aside  # "#### 72 (that is 24 + 48)"
        if 0 < last - first <= MAX_STATEMENT_CHARS and text[last - 1] not in ":：":
            content = text[first:last]
            numbered = content.lstrip("0123456789")
            heading = numbered != content and numbered[:2] in (". ", ") ")
            lettered = choice and content[0] in "ABCDEFGHIJ" and not content[1:2].isalnum()
            if (
                lettered
                or (content[0] in _STARTS_MATH and not heading)
                or (last >= written - 3 and len(content.split()) <= 4 and content.lower() not in _HEADINGS)
                or (written - last <= MAX_AFTER_HASHES and _formula_line(content))
            ):
                return first, last
        line_end = max(text.rfind("\n", start, at), start)


def _trim_end(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1].isspace():
        end -= 1
    return end


def _says_of_others(text: str, low: str, at: int, found: int, end: int) -> bool:
    """True for "Options B, C and D all violate the constraint": of several letters only "are correct" answers."""
    if not low.startswith("s", at):
        return False
    named = _choices(text, found, _statement_end(text, found, end))
    if named is None:
        return False
    return not low.startswith(("correct", "right", "true", "both correct"), low.find("are ", named[1]) + 4)


_CJK_NOT: Final = ("，不是", "，而不是", "，而非")
_IS_DENIED: Final = ("(wrong", "(incorrect", "is wrong", "is incorrect", "is not correct", "is not right", "is not the")
_OR_THE: Final = ("or the ", "or maybe the ", "or perhaps the ", "or my ")
_OR_MORE: Final = (" or more", " or less", " or fewer", " or greater", " or higher", " or above")
_FOREIGN_OR: Final = (" o ", " u ", " ou ", " oder ", " или ", "或者", "或", "または")


def _split_or(text: str, first: int, last: int) -> list[Span]:
    """The two values of "x = 3 o x = -3", "3 或 -1": "or" in other languages, which no reader of mathematics knows."""
    if last - first < 3:
        return []
    for word in _FOREIGN_OR:
        at = text.find(word, first, last)
        if at <= first:
            continue
        left, right = _trim(text, first, at), _trim(text, at + len(word), last)
        if left[0] < left[1] and right[0] < right[1]:
            if any(text[side[0]] not in _STARTS_MATH and not _starts_symbol(text, *side) for side in (left, right)):
                return []
            return [Span(text[side[0] : side[1]], *side) for side in (left, right)]
    return []


_NOT_THE_ANSWER: Final = (
    "if the ", "whose ", "wrong ", "incorrect ", "previous ", "false ", "ppose the ", "ssume the ",
)  # fmt: skip
_IS_THE: Final = (" is the ", " is our ", " is the final ", " is our final ", " is the correct ", " is my ")


def _sentence_start(text: str, start: int, at: int) -> int:
    """Where the sentence or line begins that `at` stands in; at most a statement's length before it."""
    limit = max(start, at - MAX_STATEMENT_CHARS)
    return max(limit, text.rfind("\n", limit, at) + 1, text.rfind(". ", limit, at) + 2, text.rfind(": ", limit, at) + 2)


def _statements(text: str, low: str, start: int, end: int, roots: Sequence[_Root]) -> Iterator[tuple[int, int]]:
    """Every "the answer is", last one first: where its root word stands and where the statement begins."""
    plain = low.isascii()
    heads: list[list[Any]] = []
    for root, connectors, is_ascii in roots:
        if is_ascii or not plain:
            at = low.rfind(root, start, end)
            if at >= 0:
                heads.append([at, root, connectors, is_ascii])
    while heads:
        head = heads[0] if len(heads) == 1 else max(heads)
        at, root, connectors, is_ascii = head
        if not (is_ascii and _is_letter(low, at - 1)):
            found = _after_root(text, low, at + len(root), end, connectors)
            if (
                found >= 0
                and not (root in ("option", "choice") and _says_of_others(text, low, at + 6, found, end))
                and not low.startswith(_SAID_OF_IT, found)
                and not low.endswith(_NOT_THE_ANSWER, max(start, at - 11), at)
            ):
                yield at, found
            elif found < 0 and root == "answer" and low.endswith(_IS_THE, start, at):
                copula = low.rfind(" is ", start, at)
                yield copula, _sentence_start(text, start, copula)
        head[0] = low.rfind(root, start, at)
        if head[0] < 0:
            heads.remove(head)


def find_answer(
    text: str,
    *,
    prompt: str = "",
    where: Where = "anywhere",
    choice: bool = False,
    truncated: bool = False,
) -> Answer:
    """The final answer of a completion.

    Args:
        text: the assistant's turn, prefill included.
        prompt: what the model was shown; a box that repeats its example is no answer.
        where: which statements count; see the module's head.
        choice: True when the gold is a choice letter; then a letter is looked for in statements in words.
        truncated: True when generation was cut off; then what touches the end of the text is not taken as finished,
            and the closing sentence is not read.
    """
    # A search for one rare character is ten times as fast as one for a word, and most answers hold no tag.
    if ">" not in text and "▷" not in text and ("K" not in text or "THINK]" not in text):
        start, end = 0, len(text)
    else:
        start, end, unclosed = _region(text)
        if unclosed:
            return _TRUNCATED
    boxed, after = _find_boxed(text, start, end, prompt)
    if boxed is not None and boxed.problem == "truncated":
        return boxed
    explicit = boxed if boxed is not None and not boxed.problem else None
    if explicit is not None:
        if end - after <= 4:
            return explicit  # nothing can be said behind the box
        taken_back = _retraction(text, after, end)
        if taken_back >= 0:
            # What is said after that may still be an answer: "The correct answer is 22."
            explicit = boxed = None
            start = taken_back
    tail = after if explicit else start

    # A tag or a #### line behind the box is a later statement than the box.
    if text.find("<", tail, end) >= 0 and text.find("<answer>", tail, end) >= 0:
        tagged = _find_tagged(text, tail, end, where, choice, truncated)
        if tagged is not None:
            return tagged
    if where == "boxed":
        return explicit or (boxed if boxed is not None else _NONE)
    if text.find("#", tail, end) >= 0 and text.find("####", tail, end) >= 0:
        found = _hashes(text, tail, end, choice=choice)
        if found is not None:
            if truncated and found[1] >= _trim_end(text, 0, len(text)):
                return _TRUNCATED
            first, last = _trim(text, *found)
            if first < last:
                explicit, tail = Answer((Span(text[first:last], first, last),), "hashes"), last
    low = _lowered(text) if tail == start else ""
    if explicit is not None:
        # Only "final answer: 5" outranks what was boxed before it; "whose answer was 12" does not.
        if end - tail > 12:
            rest = low or _lowered(text[tail:end])
            shift = 0 if low else tail
            at = rest.rfind("final answer")
            if at + shift >= tail:
                low = low or " " * tail + rest
                stated = next(_statements(text, low, at + shift, end, _ROOTS[:1]), None)
                if stated is not None and _answer_like(text, stated[1], end):
                    return _read_statement(text, low, stated[1], end, choice, truncated) or explicit
        return explicit
    # A letter first, wherever it is stated; only then the text of an option ("The answer is Evelyn.").
    for letter in (True, False) if choice else (False,):
        answer = _last_statement(text, low, start, end, letter, truncated)
        if answer is not None:
            return answer
        if where == "anywhere":
            if truncated:
                return _TRUNCATED
            closing = _closing(text, low, start, end, letter)
            if closing is not None:
                return _ECHO if not choice and _repeats_prompt(text, closing.spans[0], prompt) else closing
    return _ECHO if boxed is not None else _NONE


def _last_statement(text: str, low: str, start: int, end: int, choice: bool, truncated: bool) -> Answer | None:
    """The last "the answer is ..." that says one. A statement of words alone counts near the end of the text only."""
    line = text.rfind("\n", start, _trim_end(text, start, end)) + 1
    if text.startswith(("A:", "A：", "Ans:", "ANS:"), line) and not choice:
        at = _skip(text, line, end, "ANns:： \t")
        if at < end:
            answer = _read_statement(text, low, at, end, False, truncated)
            if answer is not None:
                return answer
    statements = _statements(text, low, start, end, _CHOICE_ROOTS if choice else _ROOTS)
    for root, at in islice(statements, MAX_STATEMENTS):
        if low.endswith(_OR_THE, max(start, root - 16), root):
            return _NONE  # "The answer is 42 or the answer is 43."
        if at < root:  # "$x = 5$ is the answer": it stands before the word
            found = _narrow(text, low, at, _trim(text, at, root)[1]) if not choice else _choices(text, at, root)
            if found is not None and not _denied_before(low, at, found[0]):
                first, last = _trim(text, *found)
                if first < last:
                    return Answer((Span(text[first:last], first, last),), "stated")
            continue
        stop = _statement_end(text, at, end)
        if end - stop > 8 and not choice and _retraction(text, stop, end) >= 0:
            return None  # "The answer is 10. No wait, it is 11."
        direct = _answer_like(text, at, end) or _starts_symbol(text, at, end)
        if direct or stop - at <= MAX_WORDS_CHARS or end - at <= MAX_STATEMENT_CHARS:
            answer = _read_statement(text, low, at, end, choice, truncated)
            if answer is not None:
                return answer if choice else _with_line_above(text, low, start, root, answer)
    return None


def _with_line_above(text: str, low: str, start: int, root: int, answer: Answer) -> Answer:
    """`answer`, together with that of an "Answer: 4" on the line right above its own "Answer: 6"."""
    line = low.rfind("\n", start, root) + 1
    above_end = _trim_end(text, start, line)
    if line <= start or above_end <= start or len(answer.spans) != 1:
        return answer
    above = max(start, low.rfind("\n", start, above_end) + 1)
    at = low.find("answer:", above, min(above_end, above + 16))
    if at < 0 or low.find("answer:", line, root + 7) < 0:
        return answer
    other = _read_statement(text, low, _skip(text, at + 7, above_end, " *:"), above_end, False, False)
    if other is None or len(other.spans) != 1 or other.text == answer.text:
        return answer
    return Answer((*other.spans, *answer.spans), answer.mark, "", " or ")


def _find_tagged(text: str, start: int, end: int, where: Where, choice: bool, truncated: bool) -> Answer | None:
    """The content of the last `<answer>` tag; inside it the same rules hold again."""
    opening = text.rfind("<answer>", start, end)
    while opening >= 0:
        first = opening + len("<answer>")
        last = text.find("</answer>", first, end)
        if last < 0:
            return _TRUNCATED
        content_first, content_last = _trim(text, first, last)
        content = text[content_first:content_last]
        before = text.rfind("<answer>", start, opening)
        closed = text.find("</answer>", before, opening) if before >= 0 else -1
        if closed >= 0 and _joins(text[closed + len("</answer>") : opening]) == " or ":
            begin, stop = _trim(text, before + len("<answer>"), closed)
            spans = Span(text[begin:stop], begin, stop), Span(content, content_first, content_last)
            return Answer(spans, "tag", "", " or ")
        if content.lower() not in _TEMPLATE_WORDS and content.strip("[]{}<>.") != "":
            low = _lowered(text[content_first:content_last])
            if "\n" in content or len(content) > 60 or "answer" in low:
                low = " " * content_first + low
                stated = next(_statements(text, low, content_first, content_last, _ROOTS), None)
                if stated is not None:
                    read = _read_statement(text, low, stated[1], content_last, choice, False)
                    if read is not None:
                        return read._replace(mark="tag")
            if not choice and low.startswith(_OPINES):
                low = low if len(low) == content_last else " " * content_first + low
                found = _narrow(text, low, content_first, content_last)
                if found is not None and not _denied_before(low, content_first, found[0]):
                    return Answer((Span(text[found[0] : found[1]], *found),), "tag")
            return Answer((Span(content, content_first, content_last),), "tag")
        opening = text.rfind("<answer>", start, opening)
    return None


_OPINES: Final = ("i think", "i believe", "i got", "i get", "it's ", "it is ", "that's ", "we get", "so it")
_DOUBT: Final = frozenset(
    "or oder ou u или либо soit maybe possibly perhaps alternatively might could may vielleicht quizás".split()
    + "或 或者 也可能 または".split()
)
_AROUND_DOUBT: Final = frozenset({"but", "though", "although", "it", "also", "be", "equally", "even", "well", "as"})


def _alternative(text: str, low: str, at: int, end: int, choice: bool) -> tuple[int, int] | None:
    """The second answer of "5 (or 6)", "5 / 6", "5, though it might be 6": where it stands; None without one.

    "or about 0.667" gives the first one's decimal, and words that follow are no answer.
    """
    doubted = False
    at += choice and text.startswith("$", at)  # a letter was found inside its formula
    for _ in range(6):
        at = _skip(text, at, end, " ,;*")
        if text.startswith("(", at) and low.startswith(tuple(_DOUBT), at + 1):
            at += 1
        if text.startswith("/", at):
            at, doubted = at + 1, True
            continue
        word = at
        while word < end and text[word].isalpha():
            word += 1
        if low[at:word] in _DOUBT:
            doubted = True
        elif low[at:word] not in _AROUND_DOUBT or word == at:
            break
        at = word
    if not doubted or at >= end or low.startswith(_ABOUT_WORDS, at):
        return None
    bare = at + text.startswith("$", at)
    lettered = choice and "A" <= text[bare : bare + 1] <= "J" and not _is_letter(text, bare + 1)
    if not (lettered or text[at] in _STARTS_MATH):
        return None
    first, last = _trim(text, at, end)
    if text[last - 1] == ")" and "(" not in text[first:last]:
        first, last = _trim(text, first, last - 1)
    return (first, last) if first < last else None


_ABOUT_WORDS: Final = ("approximately", "about", "roughly", "\\approx", "$\\approx", "≈", "equivalently")


def _read_statement(text: str, low: str, at: int, end: int, choice: bool, truncated: bool) -> Answer | None:
    if text.startswith("<", at):
        at = _past_tags(text, at, end)
    if (
        not choice
        and text[at + 1 : at + 3] in (": ", ") ", ". ")
        and text[at] in "ABCDE"
        and _answer_like(text, at + 3, end)
    ):
        at += 3  # "The answer is C: 12"
    stop = _statement_end(text, at, end)
    if truncated and stop >= _trim_end(text, 0, len(text)):
        return _TRUNCATED
    if not low.isascii():
        stop = min((cut for word in _CJK_NOT if (cut := text.find(word, at + 1, stop)) >= 0), default=stop)
    bold = text.find("**", at, stop)
    if bold > at and text.count("**", at, stop) == 1:
        stop = bold  # "**Answer: 7/9** ≈ 0.778"
    if not choice and text.count("?", at, stop) > 1:
        return None  # "5? 6? 7?"
    if text.find("[/", at, stop) > at:
        stop = text.find("[/", at, stop)  # "[ANSWER]17[/ANSWER]"
    tag = text.find("</", at, stop)
    if tag > at and not text.startswith("</answer", tag):
        stop = tag  # "<b>42</b>"
    if not choice:
        line = text.rfind("\n", max(0, at - 4), at) + 1
        if line and text[line : line + 2] in ("- ", "• ", "* ", "1."):
            listed = _item_list(text, line, end)
            if len(listed) > 1:
                return Answer(tuple(listed), "stated")
        contrast = _after_contrast(low, at, stop)
        if contrast >= 0:
            at = _skip(text, contrast, stop, " ,、，*")
    if choice:
        found = _choices(text, at, stop)
        if found is None:
            return None
    else:
        found = _leading(text, low, at, stop) or _narrow(text, low, at, stop)
    if found is None or found[0] >= found[1]:
        found = _trim(text, at, stop)
        if found[0] >= found[1] or found[1] - found[0] > 120:
            return None
    first, last = _trim(text, *found)
    if not choice:
        if _denied_before(low, at, first) or _gives_up(low, at, first, last, stop):
            return None
        if low.startswith(_IS_DENIED, _skip(low, last, stop, " *$)")):
            return None  # "5 (wrong)"
        if low.startswith(_OR_MORE, last):
            last = min(stop, last + 8)  # a bound, not the value
        split = _split_or(text, first, last)
        if split:
            return Answer(tuple(split), "stated", "", " or ")
    other = _alternative(text, low, last, stop, choice)
    if other is not None and first < last:
        spans = Span(text[first:last], first, last), Span(text[other[0] : other[1]], *other)
        return Answer(spans, "stated", "", " or ")
    if first >= last or low[first:last] in _JUDGEMENTS or "boxed" in low[first:last]:
        return None  # a box that reaches here is the template's echo
    return Answer((Span(text[first:last], first, last),), "stated")


_CONTRASTS: Final = ("ではなく", "而是", " sino ", " sondern ")


def _after_contrast(low: str, start: int, end: int) -> int:
    """Behind the last "but" of "not 6 but 8" in a language where the negation does not open the statement; or -1."""
    for word in _CONTRASTS:
        at = low.rfind(word, start, end)
        if at >= 0:
            return at + len(word)
    return -1


def _past_tags(text: str, at: int, end: int) -> int:
    """Past HTML tags that open at `at`: `<span style="color:red">42`."""
    for _ in range(4):
        if not (text.startswith("<", at) and text[at + 1 : at + 2].isalpha()):
            break
        closing = text.find(">", at, min(end, at + MAX_AFTER_HASHES))
        if closing < 0:
            break
        at = closing + 1
    return at


_INTRODUCES: Final = ("solutions are:", "answers are:", "roots are:", "values are:", "are:", "solutions:", "answers:")


def _closing_items(text: str, low: str, start: int, end: int) -> list[Span]:
    """The items of a list that ends the text and that a line introduces: "The solutions are:\\n\\n1. $x = 2$\\n..."."""
    colon = low.rfind(":\n", max(start, end - MAX_STATEMENT_CHARS), end)
    if colon < 0 or not low.endswith(_INTRODUCES, start, colon + 1):
        return []
    items = _item_list(text, colon + 2, end)
    return items if items and not text[items[-1].end : end].strip(_TRAILING + "$") else []


def _item_list(text: str, at: int, end: int) -> list[Span]:
    """The formulas of list items, each on a line of its own: "- $x = 2$\\n- $x = -5$"; [] when one is prose."""
    spans: list[Span] = []
    while at < end and len(spans) < MAX_PARTS:
        stop = text.find("\n", at, end)
        stop = end if stop < 0 else stop
        first = _skip(text, at, stop, " \t")
        if first < stop:
            marked = _skip(text, first, stop, "0123456789-*•.)") if text[first] in "0123456789-*•" else first
            if marked == first or not text.startswith(" ", marked) or not text[first:marked].strip("0123456789"):
                break  # no item: the list ends here
            begin, last = _trim(text, marked, stop)
            if not (begin < last and text[begin] in "$\\" and _formula_end(text, begin, last) == last):
                return []
            spans.append(Span(text[begin:last], begin, last))
        at = stop + 1
    return spans


_NEGATIONS: Final = (
    "not", "never", "cannot be", "not be", "n't be", "n’t be", "nicht", "pas", "no es", "non è", "не", "não é",
    "不是", "并非", "不等于",
)  # fmt: skip
_UNEQUAL: Final = ("\\ne", "\\neq", "≠", "!=", "\\not=", "\\not =", "=/=", "<>")


def _denied_before(low: str, start: int, at: int) -> bool:
    """True when what stands just before `at` denies it: "It is certainly not 5", "not x = 5", `x \\ne 5`."""
    before = low[max(start, at - 24) : at].rstrip(" \t{$")
    if before.endswith(_UNEQUAL):
        return True
    before = before.rstrip(' \t(*_`$\\"“:=')
    if before[-1:].isalpha() and before[-2:-1] in (" ", "$", "(") and low[at - 1 : at] != before[-1:]:
        before = before[:-1].rstrip(' \t(*_`$\\"“')  # the unknown of "not x = 5"
    if before.endswith(("n't", "n’t")):
        return True
    return before.endswith(_NEGATIONS) and any(
        before.endswith(word)
        and not (word[1] != "'" and word[1] != "’" and word.isascii() and before[: -len(word)][-1:].isalpha())
        for word in _NEGATIONS
    )


def _environment_end(text: str, start: int, end: int) -> int:
    """Where an `\\end{aligned}` begins that ends the text at `end`; -1 for anything else, matrices among it."""
    at = text.rfind("\\end{", max(start, end - 16), end)
    return at if at >= 0 and text[at + 5 : end - 1].rstrip("*").startswith(_ALIGNMENTS, 0) else -1


_ALIGNMENTS: Final = ("align", "equation", "gather", "split", "multline", "math", "displaymath", "flalign")
_PROSELESS: Final = frozenset(
    {
        "sqrt", "sin", "cos", "tan", "cot", "sec", "csc", "log", "ln", "lg", "exp", "arcsin", "arccos", "arctan", "pi",
        "inf", "abs",
    }
)  # fmt: skip


def _bare_expression(text: str, start: int, end: int) -> bool:
    """True when the whole text is one line of mathematics without a word or an "=": `(3*sqrt(5))/7`, `x<2`.

    An "=" makes it a calculation whose result is what counts; so do the marks of a calculator (`<<2*3=6>>`).
    """
    if end - start > MAX_STATEMENT_CHARS or any(mark in text[start:end] for mark in ("=", "\n", "<<", "box")):
        return False
    at = start
    operators = False
    while at < end:
        c = text[at]
        if c == "\\":
            at += 1
            while at < end and text[at].isalpha():
                at += 1
            operators = True
            continue
        if c.isalpha():
            word = at
            while at < end and text[at].isalpha():
                at += 1
            if at - word > 1 and text[word:at] not in _PROSELESS:
                return False
            continue
        if c in "?!:;`\"'|#~":
            return False
        operators = operators or c in "+*/^<>(,"
        at += 1
    return operators


def _bold_list(text: str, start: int, end: int) -> list[Span]:
    """The bold values that end a sentence as a list: "The numbers are **12** and **18**."."""
    spans: list[Span] = []
    stop = end
    while stop - start >= 5 and text.startswith("**", stop - 2) and len(spans) < MAX_PARTS:
        opening = text.rfind("**", start, stop - 2)
        if opening < 0 or not _answer_like(text, opening + 2, stop - 2):
            break
        first, last = _trim(text, opening + 2, stop - 2)
        spans.insert(0, Span(text[first:last], first, last))
        gap = opening
        while gap > start and text[gap - 1] in " ,":
            gap -= 1
        if text.endswith(" and", start, gap):
            gap -= 3
            while gap > start and text[gap - 1] in " ,":
                gap -= 1
        elif "," not in text[gap:opening]:
            break
        stop = gap
    return spans


def _repeats_prompt(text: str, span: Span, prompt: str) -> bool:
    """True when the whole line that a value is taken from stands in the prompt: "Write 3/8 as a decimal."

    A line that names an option (`B) 5 apples`) is chosen, not repeated, and so is one of a word or two.
    """
    first = text.rfind("\n", 0, span.start) + 1
    last = text.find("\n", span.end)
    line = text[first : last if last >= 0 else len(text)].strip()
    option = line[:1] == "(" or line[1:2] in (")", ".", ":")
    return not option and len(line.split(None, 3)) > 2 and line in prompt


_WORD_VERDICTS: Final = (
    "no solutions", "no solution", "no real solutions", "no real solution", "infinitely many solutions",
    "does not exist", "no such number exists", "undefined", "impossible",
)  # fmt: skip


def _verdict_in_words(low: str, start: int, end: int) -> tuple[int, int] | None:
    """What a sentence without numbers ends in: "the equation has no solution"."""
    for words in _WORD_VERDICTS:
        at = low.rfind(words, start, end)
        if at >= 0:
            return at, at + len(words)
    for word in ("true", "false"):
        if low.endswith(": " + word, start, end) and low[start : end - len(word) - 2].isalpha():
            return end - len(word), end
    return None


_CHECKS: Final = (
    "check:", "check**", "verification", "verify", "to confirm", "confirm:", "comprobación", "verificación",
    "vérification", "vérifions", "проверка", "probe:", "確認：", "検算", "验证", "検証", "檢驗",
)  # fmt: skip
_CHECK_STEMS: Final = ("check", "verif", "confirm", "probe:")
_FOREIGN_CHECK_STEMS: Final = ("comprobaci", "vérif", "провер", "確認", "検算", "验证", "検証", "檢驗")
_OFFERS_HELP: Final = (
    "would you like",
    "do you want",
    "shall i",
    "do you need",
    "want me to",
    "should i",
    "can i help",
)
_ASKS: Final = ("did ", "do you", "can you", "could you", "what ", "which ", "how ", "who ", "why ", "when ", "where ")
_REASONS: Final = (
    ", which ", ", since ", ", because ", " because ", ", denn ", ", da ", ", weil ", ", car ", ", puisque ",
    ", ya que ", ", porque ", ", так как ", ", потому что ", ", pois ", ", perché ", " as $", " as \\(",
    "，因为", "，此时", "，其中",
)  # fmt: skip
_INFERS: Final = (
    " so ",
    " then",
    "therefore",
    "thus",
    "hence",
    "we get",
    "we have",
    "which is",
    "which gives",
    "which means",
)


def _before_check(text: str, low: str, start: int, end: int) -> int:
    """The end of the text before a check that closes it: "So $x = 7$.\\n\\nCheck: $2(7)+3 = 17$."."""
    floor = max(start, end - MAX_STATEMENT_CHARS)
    stems = _CHECK_STEMS if text.isascii() else _CHECK_STEMS + _FOREIGN_CHECK_STEMS
    if not any(low.find(stem, floor, end) >= 0 for stem in stems):
        return end
    found = -1
    for word in _CHECKS:
        at = low.rfind(word, floor, end)
        if at > found and text[_trim_end(text, floor, at) - 1 : at].strip(" *#_\n")[-1:] in (".", "", "。", "$", "!"):
            found = at
    if found < 0 or not any(c.isdecimal() for c in text[floor:found]):
        return end
    return _trim(text, floor, found)[1]


def _before_reason(text: str, low: str, start: int, end: int) -> int:
    """The end of a sentence before its reason: "Die Lösung ist $x = 5$, denn $3 \\cdot 5 = 15$". To infer is none."""
    if text.endswith(")", start, end):
        opening = text.rfind(" (", start, end)
        if opening >= 0 and any(c.isdecimal() for c in low[start:opening]) and _is_aside(text, opening + 1, end):
            end = opening  # "n = 7 (we discard n = -7)"
    at = min((at for word in _REASONS if (at := low.find(word, start, end)) >= 0), default=-1)
    if at < 0 or low.startswith(("since", "because", "as ", "if ", "when"), start):
        return end
    said = low[start:at]
    if not any(c.isdecimal() for c in said) or any(word in low[at:end] for word in _INFERS):
        return end
    return at if any(copula in said for copula in _COPULAS) or " to " in said else end


_SAYS_CORRECT: Final = (
    "is correct", "is right", "is the correct", "is the right", "is the best", "is better", "is true", "选项正确",
    "正确", "は正しい",
)  # fmt: skip


_YES_LINES: Final = (
    ") yes",
    ": yes",
    ": correct",
    ") correct",
    ": right",
    ": true",
    ") true",
    ": ✓",
    ": ✅",
    ") ✓",
    ") ✅",
)


def _affirmed_line(text: str, low: str, start: int, end: int) -> tuple[int, int] | None:
    """The one letter of "A) No\\nB) No\\nC) Yes\\nD) No"; None where no letter, or more than one, is affirmed."""
    found: list[int] = []
    for words in _YES_LINES:
        at = low.find(words, start, end)
        while at >= 0:
            if at > start and "A" <= text[at - 1] <= "J" and not _is_letter(text, at - 2):
                found.append(at)
            at = low.find(words, at + 1, end)
    return (found[0] - 1, found[0]) if len(found) == 1 else None


def _affirmed(text: str, low: str, start: int, end: int) -> tuple[int, int] | None:
    """The letter of "C is correct because A and B are too small"."""
    for words in _SAYS_CORRECT:
        at = low.find(words, start, end)
        while at > start and text[at - 1] in " )*.$}":
            at -= 1
        if at > start and "A" <= text[at - 1] <= "J" and not _is_letter(text, at - 2):
            return at - 1, at
    return None


def _pair(text: str, low: str, start: int, found: tuple[int, int]) -> list[Span]:
    """Both values of "The smaller number is 8 and the larger number is 12"; [] for any other sentence."""
    joint = low.rfind(" and ", start, found[0])
    if joint < 0 or _PAIRED.isdisjoint(low[joint : found[0]].split()) or not low[joint : found[0]].endswith(" is "):
        return []
    left = _narrow(text, low, start, joint)
    if left is None or left[1] < joint or low.find(" is ", start, left[0]) < 0:
        return []
    return [Span(text[side[0] : side[1]], *side) for side in (left, found)]


_WHOLE_WORDS: Final = (_NUMBER_WORDS - {"and"}) | {"yes", "no", "true", "false"}
_GIVES_UP: Final = (
    "i cannot", "i can't", "unable to", "not determined", "cannot be determined", "not enough information",
    "wrong answer", "incorrect answer", "anything from", "anything between",
)  # fmt: skip
_IN_VAIN: Final = (
    "nothing work",
    "none of",
    "didn't work",
    "did not work",
    "doesn't work",
    "no luck",
    "i cannot",
    "i can't",
    "i disagree",
)
_NUMBERED: Final = (
    "step",
    "page",
    "figure",
    "equation",
    "example",
    "problem",
    "question",
    "section",
    "theorem",
    "method",
    "any of",
)
_OF_REWARD: Final = ("reward", "score", "grade", "system")


def _gives_up(low: str, start: int, first: int, last: int, end: int) -> bool:
    """True for "I tried 4, then 9, but nothing worked", "It is not determined by 4 and 9", and "reward: 1.0"."""
    if end - last > 8 and any(phrase in low[last:end] for phrase in _IN_VAIN):
        return True
    if first - start > 8 and any(phrase in low[start:first] for phrase in _GIVES_UP):
        return True
    if low.find("otherwise", first, end) >= 0:
        return True  # "60 if order matters, and 10 otherwise"
    if low.find("interpretation", start, end) >= 0 and low.find("second", start, end) >= 0:
        return True
    if low.find("between", start, first) >= 0 and low[start:first].rstrip(" $\\(").endswith(" and"):
        return True
    if low.endswith(_NUMBERED, start, first - 1):
        return True  # "Step 3:"
    if (named := low.find("any of ", start, first + 1)) >= 0 and low[named + 7 : named + 8].isdecimal():
        return True
    if low[first:last].strip("()") not in ("1", "1.0", "100", "10"):
        return False
    said = low[start:first].strip(" *:=\"'{[(")
    return said in _OF_REWARD or said.endswith(("correct", "verdict")) or low.endswith("reward>", 0, first)


def _closing(text: str, low: str, start: int, end: int, choice: bool) -> Answer | None:
    """What the last sentence gives; boilerplate ("I hope it is correct.") apart."""
    last = _trim_end(text, start, end)
    if text.endswith("```", start, last):
        return None  # the text ends in a program or its output: that is no statement
    if text.endswith(("\\]", "$$"), start, last) and not choice:
        opener = "\\[" if text[last - 1] == "]" else "$$"
        opening = text.rfind(opener, max(start, last - MAX_STATEMENT_CHARS), last - 2)
        if opening >= 0 and "\n" in text[opening:last] and "boxed" not in text[opening:last]:
            first, stop = _trim(text, opening + 2, last - 2)
            if first < stop:
                return Answer((Span(text[first:stop], first, stop),), "closing")
    if not choice:
        last = _before_check(text, low, start, last)
    if text.endswith("=", start, last) and not text.endswith(("==", "-=", "*="), start, last):
        return None  # cut off in the middle of a calculation
    for _ in range(4):
        while last > start:
            if text[last - 1] in _TRAILING + "-#✅=~>|∎":
                last -= 1
            elif text.endswith(("\\blacksquare$", "\\square$", "\\Box$", "\\qed$"), start, last):
                last = text.rfind("\\", start, last)
                last -= last > start and text[last - 1] == "$"
            elif text[last - 1] == "}" and (closer := _environment_end(text, start, last)) >= 0:
                last = closer
            else:
                break
        if last <= start:
            return None
        first = max(start, last - MAX_STATEMENT_CHARS)
        line = text.rfind("\n", first, last) + 1
        if line > 0:
            first = max(first, line)
        # the last sentence of the line
        at = first
        while True:
            stop = _statement_end(text, at, last)
            if stop >= last:
                break
            following = _skip(text, stop + 1, last, " \t*")
            if following >= last:
                break
            at = following
        if low.startswith(_BOILERPLATE, at) or (text.startswith("?", last) and low.startswith(_OFFERS_HELP, at)):
            last = at
            continue
        if text.startswith("?", last) and (low.startswith(_ASKS, at) or text.find("? ", first, last) >= 0):
            return None  # "Did you mean 5 or 7?", "5? 6? 7?"
        if low.startswith(("or ", "hmm, or ", "or, "), at):
            return None  # an alternative to what was said before
        if not choice and (word := low[at:last].strip(_TRAILING)) and word in _WHOLE_WORDS:
            begin, stop = _trim(text, at, last)
            return Answer((Span(text[begin:stop], begin, stop),), "closing")
        begin = _skip(text, at, last, "*_ ")
        if not choice and low.startswith(("yes,", "no,", "yes**", "no**"), begin):
            stop = begin + 3 if low.startswith("yes", begin) else begin + 2
            return Answer((Span(text[begin:stop], begin, stop),), "closing")
        whole = last
        if not choice:
            last = _before_reason(text, low, at, last)
        if choice and low.startswith(("grade", "score"), at):
            return None
        if choice:
            found = (
                _affirmed(text, low, at, last)
                or _affirmed_line(text, low, max(start, last - MAX_STATEMENT_CHARS), last)
                or _choice(text, at, last, last=True)
                or _choice(text, first, last, last=True)
            )
            if found is not None:
                found = _letters_before(text, first, found[0]), found[1]
        elif _bare_expression(text, start, last):
            found = start, last
        else:
            listed = _closing_items(text, low, start, end) or _bold_list(
                text, at, last + 2 * text.startswith("**", last)
            )
            if len(listed) > 1:
                return Answer(tuple(listed), "closing")
            while (tag := text.rfind("</", at, last)) > at and text.find(" ", tag, last) < 0:
                last = tag  # "<p>Therefore, <b>x = 8</b></p>"
            if text.startswith("</", last) and text.rfind(">", at, last) > at:
                at = text.rfind(">", at, last) + 1
            contrast = _after_contrast(low, at, last)
            at = contrast if contrast >= 0 else at
            found = _narrow(text, low, at, last)
            if found is not None and (_denied_before(low, at, found[0]) or _denied(text, found[1], whole)):
                return None
            if found is not None and _gives_up(low, at, found[0], found[1], whole):
                return None
            if found is not None and low.startswith(_IS_DENIED, _skip(low, found[1], whole, " *$)")):
                return None
            if found is not None and (pair := _pair(text, low, at, found)):
                return Answer(tuple(pair), "closing")
        if found is None and not choice:
            found = _verdict_in_words(low, at, last)
        if found is None:
            return None
        begin, stop = _trim(text, *found)
        if begin >= stop or "boxed" in text[begin:stop]:
            return None
        box = text.rfind("boxed{", max(start, begin - MAX_STATEMENT_CHARS), begin)
        if box >= 0 and _matching_brace(text, box + 5, min(end, begin + MAX_STATEMENT_CHARS)) >= begin:
            return None  # inside the echo of a template
        return Answer((Span(text[begin:stop], begin, stop),), "closing")
    return None


# ---------------------------------------------------------------- golds


class GoldTypeError(TypeError):
    """A gold (or an answer given as an object) of a type that is none."""


def gold_texts(gold: Any) -> tuple[str, ...]:
    r"""The acceptable answers that a gold names, as text: bare, `$...$`, boxed, behind `####`, numbers, or a list.

    Raises:
        GoldTypeError: anything else (`True`, a dict, an object): say it as text or as a number.
    """
    if isinstance(gold, str):
        return (_gold_text(gold),)
    if isinstance(gold, bool):
        return (str(gold),)
    number = number_text(gold)
    if number is not None:
        return (number,)
    if isinstance(gold, Sequence) and not isinstance(gold, bytes | bytearray):
        texts = tuple(text for item in gold for text in gold_texts(item))
        if texts:
            return texts
        raise GoldTypeError("gold is an empty list; allowed: at least one acceptable answer")
    raise GoldTypeError(
        f"gold is a {type(gold).__name__}; allowed: a string, a number, or a list of acceptable answers"
    )


def number_text(value: Any) -> str | None:
    """A Python number as text (`Fraction(1, 3)` -> `1/3`); None when `value` is no finite number."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Rational):
        return f"{int(value.numerator)}/{int(value.denominator)}"
    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else None
    if isinstance(value, Real):
        as_float = float(value)
        return repr(as_float) if math.isfinite(as_float) else None
    return None


def _gold_text(gold: str) -> str:
    text = gold.strip()
    if "boxed" in text or "\\fbox" in text:
        boxed, _ = _find_boxed(text, 0, len(text), "")
        if boxed is not None and boxed.spans:
            return boxed.text
    if "####" in text:
        found = _hashes(text, 0, len(text))
        if found is not None:
            return text[found[0] : found[1]].strip()
    if text.startswith("<answer>") and text.endswith("</answer>"):
        return text[8:-9].strip()
    if text[:40].lower().startswith(("answer:", "final answer:", "the answer is", "the final answer is", "答案")):
        stated = find_answer(text, where="stated")
        if stated.spans:
            return stated.text
    return text
