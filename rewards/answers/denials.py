"""What a text says against an answer: denied, taken back, doubted, left between two, given up."""

from __future__ import annotations

from typing import Final

from rewards.answers.spans import MAX_STATEMENT_CHARS, STARTS_MATH, is_letter, lower_case, skip, trim

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
_SAID_OF_BOX: Final = ("that", "this", "it", "which", " above")
_SLIPS: Final = (
    "wait,", "wait.", "wait!", "wait -", "wait –", "wait —", "wait…", "wait...", "sorry", "mistake", "an error",
    "error above", "my error", "is wrong", "was wrong", "forgot", "slip", "miscalc", "apolog", "incorrect",
    "correction", "等等", "不对", "错", "漏", "抱歉", "すみません", "ミス", "忘れ", "間違", "erreur", "trompé", "oubli",
    "verrechnet",
    "fehler", "falsch", "vergessen", "извините", "ошиб", "неверн", "equivoc", "equivoqu", "olvid",
)  # fmt: skip
"""What a text says when it sees that it went wrong."""
_CORRECTS: Final = (
    "correct answer", "right answer", "correct value", "correct result", "correct total", "answer should",
    "正确答案", "正确的答案", "正しい答え", "正しくは", "bonne réponse", "réponse correcte", "richtige ergebnis",
    "richtige antwort", "richtig ist", "правильный ответ", "верный ответ", "respuesta correcta",
)  # fmt: skip
"""What then announces the answer that holds."""
_ONLY_WHERE: Final = (" for ", " if ", " when ", " unless ", " in general", " where ")
_OF_OTHERS: Final = ("common", "some ", "people", "might", "would", "if ", "option", "choice", "step", "verif")
_SAYS_NO: Final = frozenset("no nope not wrong incorrect nein non нет falso falsch faux いいえ 不 不是 不对 否".split())
_SAYS_YES: Final = ("yes", "indeed", "correct", "是的", "对", "はい", "sí", "oui", "ja", "да")


def _corrected(low: str) -> int:
    """Where "Sorry, I forgot one. The correct answer is 15" announces the answer that holds; -1 where none does."""
    slip = min((at for word in _SLIPS if (at := low.find(word)) >= 0), default=-1)
    if slip < 0 or any(word in low[max(low.rfind(". ", 0, slip), 0) : slip] for word in _OF_OTHERS):
        return -1
    return max(low.rfind(phrase, slip) for phrase in _CORRECTS)


def retraction(text: str, after: int, end: int) -> int:
    """One past where a box ending at `after` is taken back ("Is it \\boxed{5}? No.", "Sorry, that is wrong."), or -1.

    What is said of others is none: "Some answer 12, but that is wrong", "the verification step was incorrect".
    """
    tail = text[after : min(end, after + MAX_STATEMENT_CHARS)]
    rest = tail.strip(" .$)}]\\*\n")
    if len(rest) < 40 and not any(mark in rest for mark in ",.\n?!(，。？吗—"):
        return -1  # "$ scoops of ice cream.": no clause follows the box
    low = lower_case(tail)
    asked = skip(low, 0, len(low), " $*)}\\.")
    if low.startswith(("?", "？", "吗"), asked):
        told = skip(low, asked, len(low), " ?？吗$*)\n")
        stop = told
        while stop < len(low) and low[stop].isalpha():
            stop += 1
        if low[told:stop] in _SAYS_NO:
            return after + stop
        no = max(low.find("so no."), low.find(" no."), low.find(" no,"), low.find("n't work"))
        if no >= 0 and not any(word in low for word in _SAYS_YES):
            return after + no + 4
    corrected = _corrected(low)
    if corrected >= 0:
        return after + corrected
    content = text[text.rfind("{", 0, after) + 1 : after - 1].strip()
    if 0 < len(content) <= 12:
        for phrase in (f"cannot be {content}", f"can't be {content}", f"{content}$ is not a solution"):
            found = tail.find(phrase)
            if found >= 0:
                return after + found + len(phrase)
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
        elif phrase[0].isascii() and is_letter(low, found - 1):
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


_SAYS_FALSE: Final = ("wrong", "Wrong", "incorrect", "Incorrect", "false", "False", "No\n", "❌", "✗", "✘")
_DENIALS: Final = (
    "is not", "isn't", "is wrong", "is incorrect", "is false", "are wrong", "are not", "are incorrect", "cannot be",
    "can't be", "ではない", "ではありません", "不是", "不对", "不正确", "是错", "错误", "n'est pas", "ist nicht",
    "no es", "не ", "is ruled out", "is eliminated", "does not", "doesn't", "fails", "fail",
)  # fmt: skip


def denied_behind(text: str, at: int, end: int) -> bool:
    """`A is wrong`, `Aではない`: the letter that ends at `at` is denied. `B不是 A` denies the other letter."""
    after = skip(text, at, min(end, at + 4), " )*.:」』】")
    if text.startswith(_SAYS_FALSE, after):
        return True
    for denial in _DENIALS:
        if text.startswith(denial, after):
            after = skip(text, after + len(denial), end, " (*")
            return not (after < end and "A" <= text[after] <= "J" and not is_letter(text, after + 1))
    return False


CJK_NOT: Final = ("，不是", "，而不是", "，而非")
JAPANESE_NOT: Final = ("ではない", "ではありません", "じゃない", "でない")
IS_DENIED: Final = (
    "(wrong", "(incorrect", "is wrong", "is incorrect", "is not correct", "is not right", "is not the", "is the wrong",
    "is the incorrect", "is a wrong", "is an incorrect", "was wrong",
)  # fmt: skip
_DOUBT: Final = frozenset(
    "or oder ou u или либо soit maybe possibly perhaps alternatively might could may vielleicht quizás".split()
    + "或 或者 也可能 または".split()
)
_AROUND_DOUBT: Final = frozenset({"but", "though", "although", "it", "also", "be", "equally", "even", "well", "as"})


def alternative(text: str, low: str, at: int, end: int, choice: bool) -> tuple[int, int] | None:
    """The second answer of "5 (or 6)", "5 / 6", "5, though it might be 6": where it stands; None without one.

    "or about 0.667" gives the first one's decimal, and words that follow are no answer.
    """
    doubted = False
    at += choice and text.startswith("$", at)  # a letter was found inside its formula
    for _ in range(6):
        at = skip(text, at, end, " ,;*")
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
    lettered = choice and "A" <= text[bare : bare + 1] <= "J" and not is_letter(text, bare + 1)
    if not (lettered or text[at] in STARTS_MATH):
        return None
    first, last = trim(text, at, end)
    if text[last - 1] == ")" and "(" not in text[first:last]:
        first, last = trim(text, first, last - 1)
    return (first, last) if first < last else None


_ABOUT_WORDS: Final = ("approximately", "about", "roughly", "\\approx", "$\\approx", "≈", "equivalently")
_CONTRASTS: Final = ("ではなく", "而是", " sino ", " sondern ")


def after_contrast(low: str, start: int, end: int) -> int:
    """Behind the last "but" of "not 6 but 8" in a language where the negation does not open the statement; or -1."""
    for word in _CONTRASTS:
        at = low.rfind(word, start, end)
        if at >= 0:
            return at + len(word)
    return -1


_NEGATIONS: Final = (
    "not", "never", "cannot be", "not be", "n't be", "n’t be", "nicht", "pas", "no es", "non è", "не", "não é",
    "不是", "并非", "不等于",
)  # fmt: skip
_UNEQUAL: Final = ("\\ne", "\\neq", "≠", "!=", "\\not=", "\\not =", "=/=", "<>")


def denied_before(low: str, start: int, at: int) -> bool:
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


def gives_up(low: str, start: int, first: int, last: int, end: int) -> bool:
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
