r"""Boxes: `\boxed{...}` and `\fbox{...}`, those that stand together as one answer, and those that are none."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from rewards.answers.spans import (
    ALTERNATIVES,
    CONNECTORS,
    ECHO,
    MAX_GAP_CHARS,
    MAX_PARTS,
    MAX_STATEMENT_CHARS,
    MAYBE,
    PAIRED,
    TRUNCATED,
    Answer,
    Span,
)

MAX_DOUBLED_CHARS: Final = 1_000
"""Longest box content that is looked at for doubled braces."""
MAX_ECHO_CHARS: Final = 60
"""Longest box content that is looked up among the template words."""
# Braces with braces inside them at most; each alternative begins with a character of its own, so one pass decides.
_SHALLOW = re.compile(r"\{[^{}\\]*(?:(?:\\[^{}]|\{[^{}\\]*(?:\\[^{}][^{}\\]*)*\})[^{}\\]*)*\}", re.DOTALL)
_BRACE_CHUNK: Final = 4_096
"""Characters whose braces are counted at once where they cannot close the box."""
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_BOX_OR_BRACE = re.compile(r"\\boxed|\\fbox|\\.|[{}]", re.DOTALL)
TEMPLATE_WORDS: Final = frozenset(
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


def matching_brace(text: str, opening: int, end: int) -> int:
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
        closing = matching_brace(text, after, end)
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
            closing = matching_brace(text, stop, end)
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


def part_boxes(text: str) -> tuple[Span, ...]:
    """The boxes of a text in which each answers a part: "(1) ... \\boxed{2} ... (2) ... \\boxed{5}", "Case 1: ...".

    Every box has to stand behind its own label, the first behind the first; else (): boxes without labels are drafts.
    """
    boxes, unfinished = _all_boxes(text, 0, len(text))
    if unfinished or not 1 < len(boxes) <= len(_PART_LETTERS):
        return ()
    before = 0
    for n, box in enumerate(boxes):
        if box.start < before or _is_template(text, box) or _box_denied(text, before, box):
            return ()
        gap = text[before : box.start].lower()
        labels = (f"({n + 1})", f"（{n + 1}）", f"({_PART_LETTERS[n]})", f"case {n + 1}", f"part {n + 1}")
        if not any(label in gap for label in labels):
            return ()
        before = box.end
    return tuple(_span(text, box) for box in boxes)


_PART_LETTERS: Final = "abcdefgh"
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
    return inner.strip(" {}[]<>().,:!*`'\"_").lower() in TEMPLATE_WORDS or inner.strip() in TEMPLATE_WORDS


def _shown_by_prompt(text: str, box: _Box, prompt: str) -> bool:
    """True when the box stands in the completion as the prompt has it: same line up to the box, same box.

    `The answer is \\boxed{5}` may well be both the prompt's worked example and this completion's own statement; it is
    an echo only when what precedes it on the line (at least two words) is the prompt's as well.
    """
    line = text.rfind("\n", max(0, box.start - MAX_STATEMENT_CHARS), box.start) + 1
    line = max(line, box.start - MAX_STATEMENT_CHARS)
    before = text[line : box.start]
    return len(before.split()) >= 4 and text[line : box.end] in prompt


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
_GAP_PUNCTUATION: Final = str.maketrans(dict.fromkeys("$,;&~{}*`/，；、·|-\\", " "))


def joins(gap: str) -> str:
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
        if word in ALTERNATIVES or word == "otherwise" or word == "?":
            joiner = " or "
        elif word in CONNECTORS or word in MAYBE or word == "for":
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
    if (words[0] == "and" and not PAIRED.isdisjoint(unknown)) or (
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


def find_boxed(text: str, start: int, end: int, prompt: str) -> tuple[Answer | None, int]:
    """The last box, with those that stand together with it; one past where it ends (unfinished: where it begins)."""
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
            return (ECHO if echoed else None), start
        box = _box_at(text, at, end)
        if box is None:
            search_end = max(at - 1, 0)  # a negative end would count from the end
            continue
        if not box.complete:
            return TRUNCATED, box.start
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
        how = joins(text[before.end : first.start])
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


def _find_nested(text: str, start: int, end: int) -> tuple[Answer | None, int]:
    """The box that ends last, when boxes stand inside boxes."""
    boxes, unfinished = _all_boxes(text, start, end)
    if unfinished or not boxes:
        return TRUNCATED, end
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
            and matching_brace(text, first, last) == last - 1
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
