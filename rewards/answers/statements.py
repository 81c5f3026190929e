"""Statements of the answer in words: "the answer is ..." and its like in seven languages, and `#### ...` lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

from rewards.answers.denials import (
    CJK_NOT,
    IS_DENIED,
    JAPANESE_NOT,
    after_contrast,
    alternative,
    denied_before,
    gives_up,
    retraction,
)
from rewards.answers.letters import chosen_letters
from rewards.answers.spans import (
    MAX_STATEMENT_CHARS,
    MAX_WORDS_CHARS,
    NO_ANSWER,
    STARTS_MATH,
    TRUNCATED,
    Answer,
    Span,
    answer_like,
    is_letter,
    skip,
    trim,
    trim_end,
)
from rewards.answers.values import (
    item_list,
    labelled_parts,
    leading_value,
    narrow,
    split_or,
    starts_symbol,
    statement_end,
)

MAX_AFTER_HASHES: Final = 200
"""Most characters that may follow a `####` line that begins with a letter; before more it is a heading."""
_FUNCTIONS: Final = frozenset("sin cos tan cot sec csc log ln exp sqrt pi arcsin arccos arctan".split())
MAX_STATEMENTS: Final = 200
"""How many statements about an answer ("this answer is correct.") are passed over on the way back to one."""
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
    ("opción", ("es", ":", "")),
    ("вариант", (":", "")),
    ("故选", ("：", ":", "择", "")),
    ("应选", ("：", ":", "")),
    ("选项", ("是", "为", "：", ":", "")),
    ("选择", ("：", ":", "")),
    ("pick", ("",)),
    ("choose", ("",)),
)
ROOTS: Final[tuple[_Root, ...]] = tuple((root, after, root.isascii()) for root, after in _WORDS)
_CHOICE_ROOTS: Final[tuple[_Root, ...]] = ROOTS + tuple((root, after, root.isascii()) for root, after in _CHOICE_WORDS)
_QUALIFIERS: Final = ("to ", "for ", "of ", "in ", "as ", "(", "rounded", "choice", "option", "key")
_JUDGEMENTS: Final = frozenset(
    {
        "correct", "wrong", "right", "incorrect", "verified", "unique", "reasonable", "consistent", "not", "clear",
        "obvious",
    }
)  # fmt: skip
"""What is said of an answer, not as one: "This answer is correct."."""
_SAID_OF_IT: Final = ("not ", "n't", "correct.", "correct\n", "wrong.", "wrong\n", "right.", "incorrect")


def _after_root(text: str, low: str, at: int, end: int, connectors: tuple[str, ...]) -> int:
    """Where the statement begins that follows a root word ending at `at`; -1 when none follows."""
    at = skip(low, at, end, 's*_ \t)）】]"')
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
            if connector and connector[-1].isascii() and connector[-1].isalpha() and is_letter(low, after):
                continue
            at = skip(text, after, end, " \t:：*_`=")
            at += text.startswith("> ", at) and text[at - 1] in "=-"  # "Answer => 5"
            if at < end and text[at] == "\n":
                at = skip(text, at, end, " \t\n*_`")
            return at if at < end else -1
    if at < end and text[at] == "\n":
        # A heading: "**Final Answer**\n\n$5$"
        after = skip(text, at, end, " \t\n*_`-")
        return after if after < end and (text[after] in STARTS_MATH or after + 80 > end) else -1
    if low[max(0, at - 4) : at].rstrip()[-1:] in ("]", "】") and answer_like(text, at, end):
        return at  # "[Answer] 18"
    # "the answer $5$", "answer \boxed..."; words that follow directly are a sentence about the answer
    return at if at < end and text[at] in "$\\" and connectors is _ENGLISH else -1


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


def hash_line(text: str, start: int, end: int, *, choice: bool = False) -> tuple[int, int] | None:
    """The last `#### 42` line. `#### Step 3:` is a Markdown heading, `#### 3. Add` is one too."""
    line_end = written = trim_end(text, start, end)
    while True:
        at = text.rfind("####", start, line_end)
        if at < 0:
            return None
        newline = text.rfind("\n", at, line_end)
        if newline >= 0:  # not the last line of what is left: cut it to the mark's own line
            line_end = text.find("\n", at, line_end)
        first = skip(text, at + 4, line_end, "#: \t*`")
        if text.startswith(("Answer", "Final Answer", "ANSWER", "answer", "答案", "Réponse", "Respuesta"), first):
            label = min(line_end, first + 20)
            colon = max(text.find(":", first, label), text.find("：", first, label))
            first = first if colon < 0 else skip(text, colon, line_end, ":： \t*`")
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
                or (content[0] in STARTS_MATH and not heading)
                or (last >= written - 3 and len(content.split()) <= 4 and content.lower() not in _HEADINGS)
                or (written - last <= MAX_AFTER_HASHES and _formula_line(content))
            ):
                return first, last
        line_end = max(text.rfind("\n", start, at), start)


def _says_of_others(text: str, low: str, at: int, found: int, end: int) -> bool:
    """True for "Options B, C and D all violate the constraint": of several letters only "are correct" answers."""
    if not low.startswith("s", at):
        return False
    named = chosen_letters(text, found, statement_end(text, found, end))
    if named is None:
        return False
    return not low.startswith(("correct", "right", "true", "both correct"), low.find("are ", named[1]) + 4)


_OR_THE: Final = ("or the ", "or maybe the ", "or perhaps the ", "or my ")
_OR_MORE: Final = (" or more", " or less", " or fewer", " or greater", " or higher", " or above")
_NOT_THE_ANSWER: Final = (
    "if the ", "whose ", "wrong ", "incorrect ", "previous ", "false ", "ppose the ", "ssume the ",
)  # fmt: skip
_IS_THE: Final = (" is the ", " is our ", " is the final ", " is our final ", " is the correct ", " is my ")


def _sentence_start(text: str, start: int, at: int) -> int:
    """Where the sentence or line begins that `at` stands in; at most a statement's length before it."""
    limit = max(start, at - MAX_STATEMENT_CHARS)
    ends = (text.rfind(mark, limit, at) for mark in ("\n", ". ", ": "))
    return max((found + 1 for found in ends if found >= 0), default=limit)


def statements_of(text: str, low: str, start: int, end: int, roots: Sequence[_Root]) -> Iterator[tuple[int, int]]:
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
        if not (is_ascii and is_letter(low, at - 1)):
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


def last_statement(text: str, low: str, start: int, end: int, choice: bool, truncated: bool) -> Answer | None:
    """The last "the answer is ..." that says one. A statement of words alone counts near the end of the text only."""
    line = text.rfind("\n", start, trim_end(text, start, end)) + 1
    if text.startswith(("A:", "A：", "Ans:", "ANS:"), line) and not choice:
        at = skip(text, line, end, "ANns:： \t")
        if at < end:
            answer = read_statement(text, low, at, end, False, truncated)
            if answer is not None:
                return answer
    statements = statements_of(text, low, start, end, _CHOICE_ROOTS if choice else ROOTS)
    for root, at in islice(statements, MAX_STATEMENTS):
        if low.endswith(_OR_THE, max(start, root - 16), root):
            return NO_ANSWER  # "The answer is 42 or the answer is 43."
        if at < root:  # "$x = 5$ is the answer": it stands before the word
            found = narrow(text, low, at, trim(text, at, root)[1]) if not choice else chosen_letters(text, at, root)
            if found is not None and not denied_before(low, at, found[0]):
                first, last = trim(text, *found)
                if first < last:
                    return Answer((Span(text[first:last], first, last),), "stated")
            continue
        stop = statement_end(text, at, end)
        if end - stop > 8 and not choice and retraction(text, stop, end) >= 0:
            return None  # "The answer is 10. No wait, it is 11."
        direct = answer_like(text, at, end) or starts_symbol(text, at, end)
        if direct or stop - at <= MAX_WORDS_CHARS or end - at <= MAX_STATEMENT_CHARS:
            answer = read_statement(text, low, at, end, choice, truncated)
            if answer is not None:
                return answer if choice else _with_line_above(text, low, start, root, answer)
    return None


def _with_line_above(text: str, low: str, start: int, root: int, answer: Answer) -> Answer:
    """`answer`, together with that of an "Answer: 4" on the line right above its own "Answer: 6"."""
    line = low.rfind("\n", start, root) + 1
    above_end = trim_end(text, start, line)
    if line <= start or above_end <= start or len(answer.spans) != 1:
        return answer
    above = max(start, low.rfind("\n", start, above_end) + 1)
    at = low.find("answer:", above, min(above_end, above + 16))
    if at < 0 or low.find("answer:", line, root + 7) < 0:
        return answer
    other = read_statement(text, low, skip(text, at + 7, above_end, " *:"), above_end, False, False)
    if other is None or len(other.spans) != 1 or other.text == answer.text:
        return answer
    return Answer((*other.spans, *answer.spans), answer.mark, "", " or ")


def read_statement(text: str, low: str, at: int, end: int, choice: bool, truncated: bool) -> Answer | None:
    if text.startswith("<", at):
        at = _past_tags(text, at, end)
    if text.startswith("~~", at) and (struck := text.find("~~", at + 2, end)) >= 0:
        at = skip(text, struck + 2, end, " \t")  # "~~$\\frac38$~~ $\\frac58$"
    if (
        not choice
        and text[at + 1 : at + 3] in (": ", ") ", ". ")
        and text[at] in "ABCDE"
        and answer_like(text, at + 3, end)
    ):
        at += 3  # "The answer is C: 12"
    stop = statement_end(text, at, end)
    if truncated and stop >= trim_end(text, 0, len(text)):
        return TRUNCATED
    if not low.isascii():
        stop = min((cut for word in CJK_NOT if (cut := text.find(word, at + 1, stop)) >= 0), default=stop)
        if not choice and any(text.find(word, at, stop) >= 0 for word in JAPANESE_NOT):
            return None  # "答えは14ではない"
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
            listed = item_list(text, line, end)
            if len(listed) > 1:
                return Answer(tuple(listed), "stated")
        contrast = after_contrast(low, at, stop)
        if contrast >= 0:
            at = skip(text, contrast, stop, " ,、，*")
    if choice:
        found = chosen_letters(text, at, stop)
        if found is None:
            return None
    elif parts := labelled_parts(text, at, stop):
        return Answer((Span(text[parts[0] : parts[1]], *parts),), "stated")
    else:
        found = leading_value(text, low, at, stop) or narrow(text, low, at, stop)
    if found is None or found[0] >= found[1]:
        found = trim(text, at, stop)
        if found[0] >= found[1] or found[1] - found[0] > 120:
            return None
    first, last = trim(text, *found)
    if not choice:
        if denied_before(low, at, first) or gives_up(low, at, first, last, stop):
            return None
        if low.startswith(IS_DENIED, skip(low, last, stop, " *$)")):
            return None  # "5 (wrong)"
        if low.startswith(_OR_MORE, last):
            last = min(stop, last + 8)  # a bound, not the value
        split = split_or(text, first, last)
        if split:
            return Answer(tuple(split), "stated", "", " or ")
    other = alternative(text, low, last, stop, choice)
    if other is not None and first < last:
        spans = Span(text[first:last], first, last), Span(text[other[0] : other[1]], *other)
        return Answer(spans, "stated", "", " or ")
    if first >= last or low[first:last] in _JUDGEMENTS or "boxed" in low[first:last]:
        return None  # a box that reaches here is the template's echo
    return Answer((Span(text[first:last], first, last),), "stated")


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
