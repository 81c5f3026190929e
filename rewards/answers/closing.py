"""The closing sentence, where nothing announces the answer; checks, reasons, offers of help behind it do not count."""

from __future__ import annotations

from typing import Final

from rewards.answers.boxes import matching_brace
from rewards.answers.denials import IS_DENIED, after_contrast, denied_before, denied_behind, gives_up
from rewards.answers.letters import chosen_letter, letters_before
from rewards.answers.spans import (
    COPULAS,
    MAX_STATEMENT_CHARS,
    STARTS_MATH,
    TRAILING,
    Answer,
    Span,
    is_letter,
    skip,
    trim,
    trim_end,
)
from rewards.answers.values import NUMBER_WORDS, bold_list, is_aside, item_list, narrow, pair_of, statement_end

_BOILERPLATE: Final = (
    "i hope", "hope this", "hope that", "let me know", "feel free", "please let", "if you have", "qed", "q.e.d",
    "thank", "this completes", "i can show", "i can explain", "i can also", "i can provide", "i'd be happy",
    "consistent",
)  # fmt: skip
_INTRODUCES: Final = ("solutions are:", "answers are:", "roots are:", "values are:", "are:", "solutions:", "answers:")


def _closing_items(text: str, low: str, start: int, end: int) -> list[Span]:
    """The items of a list that ends the text and that a line introduces: "The solutions are:\\n\\n1. $x = 2$\\n..."."""
    colon = low.rfind(":\n", max(start, end - MAX_STATEMENT_CHARS), end)
    if colon < 0 or not low.endswith(_INTRODUCES, start, colon + 1):
        return []
    items = item_list(text, colon + 2, end)
    return items if items and not text[items[-1].end : end].strip(TRAILING + "$") else []


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


_WORD_VERDICTS: Final = (
    "no solutions", "no solution", "no real solutions", "no real solution", "infinitely many solutions",
    "does not exist", "no such number exists", "undefined", "impossible",
    "keine lösung", "keine reelle lösung", "aucune solution", "pas de solution", "no tiene solución",
    "no hay solución", "нет решений", "решений нет", "не имеет решений", "解なし", "解は存在しない", "无解", "没有解",
)  # fmt: skip


_NONE_EXIST: Final = ("there are no ", "there is no ", "there exist no ", "there exists no ", "there are therefore no ")
_KINDS: Final = frozenset(
    "integer integers number numbers solution solutions value values pair pairs triple triples root roots".split()
)
_QUALITIES: Final = frozenset("real positive natural prime rational integer such ordered".split())


def _none_exists(low: str, start: int, end: int) -> tuple[int, int] | None:
    """`no integers` of "there are no integers $x, y$ that satisfy the equation"; None with an exception to it."""
    at = max(low.rfind(words, start, end) + len(words) * (low.rfind(words, start, end) >= 0) for words in _NONE_EXIST)
    if at <= start or any(word in low[at:end] for word in ("other", "except", "besides", "apart from", "but ")):
        return None
    stop = at
    for word in low[at:end].split(" ", 4)[:4]:
        stop += len(word) + 1
        if word == "such" and low.startswith("$", stop) and 0 < low.find("$", stop + 1, end) - stop < 8:
            return at - 3, low.find("$", stop + 1, end) + 1  # no such $n$
        if word.strip(".,") in _KINDS and not low.startswith(tuple(f"{kind}" for kind in _KINDS), stop):
            return at - 3, stop - 1
        if word not in _QUALITIES:
            return None
    return None


_REALS: Final = ("all real numbers", "any real number", "every real number", "all real values", "all reals")


def _reals_in_words(low: str, start: int, end: int) -> tuple[int, int] | None:
    """The domain that ends a sentence: "$x$ can be any real number except $-2$ and $2$"."""
    for words in _REALS:
        at = low.rfind(words, start, end)
        if at > start and low.endswith((" of ", " be ", " is ", " are ", "includes ", ": "), start, at):
            return at, end
    return None


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
_PURPOSES: Final = (
    ", and indeed ", " in order to ", " so that ", " to fill ", " to finish ", " to complete ", ", since an ",
)  # fmt: skip
_REASONS: Final = (
    *_PURPOSES,
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
        if at > found and text[trim_end(text, floor, at) - 1 : at].strip(" *#_\n")[-1:] in (".", "", "。", "$", "!"):
            found = at
    if found < 0 or not any(c.isdecimal() for c in text[floor:found]):
        return end
    return trim(text, floor, found)[1]


def _before_reason(text: str, low: str, start: int, end: int) -> int:
    """The end of a sentence before its reason: "Die Lösung ist $x = 5$, denn $3 \\cdot 5 = 15$". To infer is none."""
    if text.endswith(")", start, end):
        opening = text.rfind(" (", start, end)
        if opening >= 0 and any(c.isdecimal() for c in low[start:opening]) and is_aside(text, opening + 1, end):
            end = opening  # "n = 7 (we discard n = -7)"
    at = min((at for word in _REASONS if (at := low.find(word, start, end)) >= 0), default=-1)
    if at < 0 or low.startswith(("since", "because", "as ", "if ", "when"), start):
        return end
    said = low[start:at]
    if not any(c.isdecimal() for c in said) or any(word in low[at:end] for word in _INFERS):
        return end
    told = any(copula in said for copula in COPULAS) or " to " in said
    return at if told or low.startswith(_PURPOSES, at) else end


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
            if at > start and "A" <= text[at - 1] <= "J" and not is_letter(text, at - 2):
                found.append(at)
            at = low.find(words, at + 1, end)
    return (found[0] - 1, found[0]) if len(found) == 1 else None


def _affirmed(text: str, low: str, start: int, end: int) -> tuple[int, int] | None:
    """The letter of "C is correct because A and B are too small"."""
    for words in _SAYS_CORRECT:
        at = low.find(words, start, end)
        while at > start and text[at - 1] in " )*.$}":
            at -= 1
        if at > start and "A" <= text[at - 1] <= "J" and not is_letter(text, at - 2):
            return at - 1, at
    return None


_EXPLAINS: Final = ("explanation", "reason", "justification", "because", "解析", "【解析", "explication", "erklärung")


def _answer_first(text: str, low: str, start: int, end: int) -> tuple[int, int] | None:
    """The value alone on the first line, when an explanation follows: "**15**\n\nExplanation: ..."."""
    stop = text.find("\n", start, min(end, start + MAX_STATEMENT_CHARS))
    if stop < 0:
        return None
    first, last = trim(text, start, stop)
    if not (first < last and last - first <= 60 and text[first] in STARTS_MATH):
        return None
    if not low.startswith(_EXPLAINS, skip(text, stop, end, " \t\n*_#")):
        return None
    return first, last


_WHOLE_WORDS: Final = (NUMBER_WORDS - {"and"}) | {"yes", "no", "true", "false"}


def closing_answer(text: str, low: str, start: int, end: int, choice: bool) -> Answer | None:
    """What the last sentence gives; boilerplate ("I hope it is correct.") apart."""
    last = trim_end(text, start, end)
    if text.endswith("```", start, last):
        return None  # the text ends in a program or its output: that is no statement
    if text.endswith(("\\]", "$$"), start, last) and not choice:
        opener = "\\[" if text[last - 1] == "]" else "$$"
        opening = text.rfind(opener, max(start, last - MAX_STATEMENT_CHARS), last - 2)
        if opening >= 0 and "\n" in text[opening:last] and "boxed" not in text[opening:last]:
            first, stop = trim(text, opening + 2, last - 2)
            if first < stop:
                return Answer((Span(text[first:stop], first, stop),), "closing")
    if not choice:
        if (told := _answer_first(text, low, start, last)) is not None:
            return Answer((Span(text[told[0] : told[1]], *told),), "closing")
        last = _before_check(text, low, start, last)
    if text.endswith("=", start, last) and not text.endswith(("==", "-=", "*="), start, last):
        return None  # cut off in the middle of a calculation
    for _ in range(4):
        while last > start:
            if text[last - 1] in TRAILING + "-#✅=~>|∎":
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
            stop = statement_end(text, at, last)
            if stop >= last:
                break
            following = skip(text, stop + 1, last, " \t*")
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
        if not choice and (word := low[at:last].strip(TRAILING)) and word in _WHOLE_WORDS:
            begin, stop = trim(text, at, last)
            return Answer((Span(text[begin:stop], begin, stop),), "closing")
        begin = skip(text, at, last, "*_ ")
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
                or chosen_letter(text, at, last, last=True)
                or chosen_letter(text, first, last, last=True)
            )
            if found is not None:
                found = letters_before(text, first, found[0]), found[1]
        elif _bare_expression(text, start, last):
            found = start, last
        else:
            listed = _closing_items(text, low, start, end) or bold_list(
                text, at, last + 2 * text.startswith("**", last)
            )
            if len(listed) > 1:
                return Answer(tuple(listed), "closing")
            while (tag := text.rfind("</", at, last)) > at and text.find(" ", tag, last) < 0:
                last = tag  # "<p>Therefore, <b>x = 8</b></p>"
            if text.startswith("</", last) and text.rfind(">", at, last) > at:
                at = text.rfind(">", at, last) + 1
            contrast = after_contrast(low, at, last)
            at = contrast if contrast >= 0 else at
            found = _none_exists(low, at, last) or _reals_in_words(low, at, last) or narrow(text, low, at, last)
            if found is not None and (denied_before(low, at, found[0]) or denied_behind(text, found[1], whole)):
                return None
            if found is not None and gives_up(low, at, found[0], found[1], whole):
                return None
            if found is not None and low.startswith(IS_DENIED, skip(low, found[1], whole, " *$)")):
                return None
            if found is not None and (pair := pair_of(text, low, at, found)):
                return Answer(tuple(pair), "closing")
        if found is None and not choice:
            found = _verdict_in_words(low, at, last)
        if found is None:
            return None
        begin, stop = trim(text, *found)
        if begin >= stop or "boxed" in text[begin:stop]:
            return None
        box = text.rfind("boxed{", max(start, begin - MAX_STATEMENT_CHARS), begin)
        if box >= 0 and matching_brace(text, box + 5, min(end, begin + MAX_STATEMENT_CHARS)) >= begin:
            return None  # inside the echo of a template
        return Answer((Span(text[begin:stop], begin, stop),), "closing")
    return None
