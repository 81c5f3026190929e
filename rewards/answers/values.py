"""The value inside a sentence: what stands behind its last "is" or "=", else its last number."""

from __future__ import annotations

from typing import Final

from rewards.answers.spans import (
    ALTERNATIVES,
    CONNECTORS,
    COPULAS,
    MAX_GAP_CHARS,
    MAX_PARTS,
    MAX_STATEMENT_CHARS,
    MAX_WORDS_CHARS,
    MAYBE,
    PAIRED,
    STARTS_MATH,
    TRAILING,
    Span,
    answer_like,
    is_letter,
    skip,
    trim,
)

_FILLERS: Final = (
    "approximately", "about", "roughly", "exactly", "simply", "just", "therefore", "thus", "hence", "then", "now",
    "indeed", "equal to", "given by", "the interval", "the set", "the point", "the number", "the value", "the fraction",
    "option", "choice", "(option)", "only", "correct", "also", "still", "the ordered pair", "donc", "约", "约为",
    "therefore:", "the integer", "at least", "at most", "either", "both", "between", "probably", "entweder", "soit",
    "o bien", "либо", "at the point", "at", "la opción", "opción", "l'option", "вариант",
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
_ABOUT: Final = (
    "or approximately", "or about", "or roughly", "approximately", "about", "roughly", "\\approx", "≈", "or ≈",
    "which is about", "which is approximately", "i.e. about",
)  # fmt: skip
"""What stands before an exact value's decimal: "$\\frac{2}{3}$, or approximately 0.667"."""
_RESTATED: Final = (
    ", or about ",
    ", or approximately ",
    ", or roughly ",
    " or about ",
    " or approximately ",
    ", which is about ",
)


def _formula_end(text: str, start: int, end: int) -> int:
    """One past the formula that a delimiter at `start` opens, or -1. `\\$` is a dollar sign, not a delimiter."""
    for opener, closer in (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")):
        if text.startswith(opener, start):
            at = text.find(closer, start + len(opener), end)
            while closer == "$" and at > 0 and text[at - 1] == "\\":
                at = text.find(closer, at + 1, end)
            return -1 if at <= start + len(opener) else at + len(closer)
    return -1


def statement_end(text: str, start: int, end: int) -> int:
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
            after = skip(text, at + 1, end, " ?" if c == "?" else " ")
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
    return word in ALTERNATIVES or word in MAYBE


def leading_value(text: str, low: str, start: int, end: int) -> tuple[int, int] | None:
    """The answer at the start of a statement: `5 meters since ...` -> `5 meters`; None where words come first."""
    moved = True
    while moved:
        moved = False
        start = skip(text, start, end, ' \t*_`"“:：~')
        if not low.startswith(_FILLERS, start):
            break
        for filler in _FILLERS:
            if low.startswith(filler, start) and not (filler[-1].isascii() and is_letter(low, start + len(filler))):
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
            return trim(text, start, stop)
    if c not in STARTS_MATH and not starts_symbol(text, start, end):
        return None
    stop = start
    words = 0
    while stop < end:
        word_start = skip(text, stop, end, " \t")
        if word_start >= end:
            break
        word_end = word_start
        while word_end < end and text[word_end] not in " \t":
            word_end += 1
        word = low[word_start:word_end].strip(".,;:!?()*`")
        if stop > start and (word in _STOP_WORDS or (word and word[0] >= "\u3000" and word not in CONNECTORS)):
            break
        if stop > start and word == "in" and words and text[word_end : word_end + 2].strip().isalpha():
            break  # "35 flowers in his garden"
        aside = word_start > start and text[word_start] == "(" and low[word_start + 1 : word_start + 2].isalpha()
        aside = aside and not low.startswith(("or ", *MAYBE), word_start + 1)  # "10 (or 11)" hedges
        if aside and (words or (text[stop - 1].isdecimal() and low[word_start + 2 : word_start + 3].isalpha())):
            break  # "10 (ten)"
        if word_start > start and text[word_start] == "(" and is_aside(text, word_start, end):
            break  # "180 dollars (36% of the revenue)"
        if word in ("$", "€", "£", "¥", "₹") and stop > start:
            stop = word_end
            break
        if word.isalpha() and len(word) > 1 and word not in CONNECTORS and stop > start:
            words += 1
            if words > 3:
                break
        if word in CONNECTORS and not text.startswith("=", skip(text, word_end, end, " ")):  # "y = 4" is no "and"
            after = skip(text, word_end, end, " \t")
            for maybe in (*MAYBE, "peut-être", "quizás", "vielleicht"):  # "5 or maybe 6" hedges as "5 or 6" does
                if low.startswith(maybe + " ", after):
                    after = word_end = skip(text, after + len(maybe), end, " \t")
            if after >= end or not (text[after] in STARTS_MATH or starts_symbol(text, after, end)):
                break
        stop = word_end
    return trim(text, start, stop)


def is_aside(text: str, opening: int, end: int) -> bool:
    """True when brackets hold a word of four letters: "(36% of the revenue)", "(we discard n = -7)"; no "(or 6)"."""
    closing = text.find(")", opening, end)
    inner = text[opening + 1 : closing if closing >= 0 else end].lower()
    if not inner[:1].isalnum() or "\\" in inner or inner.startswith(("or ", "mod", *MAYBE)):
        return False
    return any(len(word) > 3 and word.isalpha() for word in inner.split())


def starts_symbol(text: str, start: int, end: int) -> bool:
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
        if word in CONNECTORS:
            after = skip(text, word_end, end, " ")
        elif word and after > at and text[at] == " ":
            # A unit: `$5$ meters`, not a clause
            tail = text[after:end].strip(TRAILING)
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
    return at >= start and (is_letter(text, at) or text[at] in ")}")


def _last_number(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The last number: sign, currency, digits with separators, a fraction bar, a percent sign."""
    stop = _number_end(text, start, end)
    if stop < 0:
        return None
    at = stop - 1
    while at > start and (
        text[at - 1] in "0123456789.,/{}％%０１２３４５６７８９٠١٢٣٤٥٦٧٨٩"
        or (text[at - 1] in "\u202f\u2009\u00a0" and text[at - 2].isdecimal() and text[at : at + 3].isdecimal())
        or (text[at - 1] == ":" and at - 1 > start and text[at - 2].isdecimal() and text[at].isdecimal())
    ):
        at -= 1
    while at < stop and text[at] in ".,/{}":
        at += 1
    compound = _compound(text, start, at, stop, end)
    if compound is not None:
        return compound
    scale = skip(text, stop, end, " ")
    for word in _SCALES if scale < end and text[scale] in _SCALE_INITIALS else ():
        if text.startswith(word, scale) and not (word.isascii() and is_letter(text, scale + len(word))):
            stop = scale + len(word)  # 1.2 million
            break
    sign = at
    while sign > start and text[sign - 1] in "$€£¥\\":
        sign -= 1
    if sign > start and text[sign - 1] in "-−–+" and not _ends_term(text, sign - 2, start):
        sign -= 1
        # "x - 5" is a difference, "is -5" a sign
        if sign > start and text[sign - 1] == " " and text[sign + 1] == " " and _ends_term(text, sign - 2, start):
            sign += 1
    return sign, stop


def _closing_tuple(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The brackets that end a sentence, when they hold a list of values: "the lines meet at the point (2, -3)."."""
    last = trim(text, start, end)[1]
    if last <= start or text[last - 1] not in ")]" or text[last - 2] == "\\":
        return None
    depth = 0
    for at in range(last - 1, max(start, last - MAX_GAP_CHARS) - 1, -1):
        if text[at] in ")]":
            depth += 1
        elif text[at] in "([":
            depth -= 1
            if depth == 0:
                values = text[at + 1 : last - 1].split(",")
                if at > start and text[at - 1] != " ":
                    return None  # f(2, 3)
                plain = all(value.strip(" -+0123456789./°%√πxyzabcnk") == "" != value.strip() for value in values)
                return (at, last) if len(values) > 1 and plain else None
    return None


_SCALES: Final = (
    "thousands", "thousand", "millions", "million", "billion", "trillion", "Millionen", "Million", "Mio",
    "millones", "millón", "тысяч", "тыс", "миллионов", "миллиона", "миллион", "млн", "млрд", "万", "亿", "億",
)  # fmt: skip
_SCALE_INITIALS: Final = frozenset(word[0] for word in _SCALES)
_HAN_NUMBER: Final = "0123456789零一二三四五六七八九十百千两"


def _spoken_fraction(text: str, start: int, end: int) -> tuple[int, int] | None:
    """`四分之三`, `3分の1`: the last fraction in words, when no other number follows."""
    for mark in ("分之", "分の"):
        at = text.rfind(mark, start, end) if not text.isascii() else -1
        if at <= start:
            continue
        first, last = at, at + len(mark)
        while first > start and text[first - 1] in _HAN_NUMBER:
            first -= 1
        while last < end and text[last] in _HAN_NUMBER:
            last += 1
        if first < at and last > at + len(mark) and not any(c.isdecimal() for c in text[last:end]):
            return first, last
    return None


def labelled_parts(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The whole of "(1) 5; (2) 8" and "а) 12; б) 3": the answers to a question's parts, each behind its label."""
    at = skip(text, start, end, " ")
    at += text.startswith(("(", "（"), at)
    for labels in ("12", "ab", "аб", "AB"):
        if text.startswith(labels[0], at) and text[at + 1 : at + 2] in (")", "）"):
            second = max(text.find(labels[1] + closer, at + 2, end) for closer in (")", "）"))
            if second > 0 and text[second - 1] in " (（;；,，" and text[at + 2 : second].strip(" (（;；,，"):
                return trim(text, start, end)
    return None


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
    last = skip(text, stop, end, " ")
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


_INFERENCES: Final = ("thus", "so", "therefore", "hence", "then", "consequently", "we see that", "we conclude that")


def _past_inference(low: str, start: int) -> int:
    """Behind "thus" or "so, we see that" at the start of a sentence."""
    at = start
    for _ in range(2):
        for word in _INFERENCES:
            if low.startswith(word, at) and not is_letter(low, at + len(word)):
                at = skip(low, at + len(word), len(low), " ,")
                break
    return at


def narrow(text: str, low: str, start: int, end: int) -> tuple[int, int] | None:
    """What a sentence gives as its result: bold text, what follows its last copula, its last formula or number."""
    bold = text.rfind("**", start, end)
    if bold > start:
        opening = text.rfind("**", start, bold)
        if opening >= 0 and bold - opening > 2:
            inner = text[opening + 2 : bold]
            if any(c.isdigit() for c in inner) or "$" in inner or "\\" in inner:
                found = leading_value(text, low, opening + 2, bold)
                if found:
                    return found
                if not inner.rstrip().endswith((":", "：")):
                    return narrow(text, low, opening + 2, bold)
    bare = leading_value(text, low, start, end)
    whole = bare is not None and bare[0] == start and trim(text, bare[1], end)[0] >= end
    if whole and not any(sign in text[start:end] for sign in "<*\\"):
        return bare  # the sentence is the answer
    opened = skip(text, _past_inference(low, start), end, " ,")
    subject = leading_value(text, low, opened, end) if opened > start else None
    if (
        subject is not None
        and low.startswith((" is the ", " is our ", " are the "), subject[1])
        and ", and " not in low[subject[1] : end]
        and not low.startswith(("wrong", "incorrect", "only", "first", "false", "number of"), subject[1] + 8)
    ):
        return subject  # "Thus 440 is the sum of the first 20 terms of the sequence 3, 5, 7"
    best = -1
    for copula in COPULAS:
        at = low.rfind(copula, start, end)
        if at < 0:
            continue
        after = at + len(copula)
        if copula[-1].isalpha() and copula[-1].isascii() and is_letter(low, after):
            continue
        if copula == ":" and at > start and text[at - 1].isdecimal() and text[after : after + 1].isdecimal():
            continue  # 4:30
        if after > best:
            best = after
    formula = _closing_formula(text, start, end)
    if best >= 0:
        if formula and formula[0] < best < formula[1]:
            return formula  # the "=" stands inside the formula; the whole of it is the statement
        found = leading_value(text, low, _first_of_list(text, low, start, best), end)
        if found and found[0] < found[1]:
            found = found[0], _bracket_closes(text, *found)
            tail = text[found[1] : end]
            if not any(c.isdigit() for c in tail) or tail.lstrip(" ,($").startswith(_ABOUT):
                return found
            if any(about > 0 and not any(c.isdigit() for c in tail[:about]) for about in map(tail.find, _RESTATED)):
                return found  # "exactly $3\\sqrt{13}$ miles apart, or about 10.82 miles"
            if tail.startswith((" (mod", " mod")) or (tail.startswith(" (") and is_aside(text, found[1] + 1, end)):
                return found
    if formula:
        told = low[best:end].strip(TRAILING + " ") if best >= formula[1] else ""
        if told and all(word in NUMBER_WORDS for word in told.replace("-", " ").split()):
            return trim(text, best, end)  # "the least value of $n$ is thirteen"
        return formula
    number = _closing_tuple(text, start, end) or _spoken_fraction(text, start, end) or _last_number(text, start, end)
    if number is not None and low.endswith(" base ", start, number[0]):
        before = _last_number(text, start, number[0] - 5)
        if before is not None and low[before[1] : number[0]] in (" in base ", " base ", " (base "):
            return before[0], number[1]  # "80 is written as 143 in base 7"
    if number is not None and number[1] <= best:
        told = text[best:end].strip(TRAILING + " ")
        if told.isalpha() and told[0].isupper() and len(told) > 2 and told.isascii():
            return trim(text, best, end)  # "100 days from now it will be Thursday"
    if number is None and best >= 0:
        told = low[best:end].strip(TRAILING + " ")
        if told and all(word in NUMBER_WORDS for word in told.replace("-", " ").split()):
            return trim(text, best, end)
    if (
        number is None
        and low.endswith((" is", " are", " be"), start, max(best, start))
        and len(text[best:end].split()) <= 3
    ):
        return trim(text, best, end)  # "The statement is true."
    return number


def _bracket_closes(text: str, start: int, end: int) -> int:
    """Where a bracket closes that opened before `start`: "so there are (130 + 120 = 250) students"; else `end`."""
    depth = 0
    for at in range(start, end):
        if text[at] in "([":
            depth += 1
        elif text[at] in ")]":
            depth -= 1
            if depth < 0 and at > start and text[at] == ")" and text[at - 1] != "\\":
                return at
    return end


NUMBER_WORDS: Final = frozenset(
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


_FOREIGN_OR: Final = (" o ", " u ", " ou ", " oder ", " или ", "或者", "或", "または")


def split_or(text: str, first: int, last: int) -> list[Span]:
    """The two values of "x = 3 o x = -3", "3 或 -1": "or" in other languages, which no reader of mathematics knows."""
    if last - first < 3:
        return []
    for word in _FOREIGN_OR:
        at = text.find(word, first, last)
        if at <= first:
            continue
        left, right = trim(text, first, at), trim(text, at + len(word), last)
        if left[0] < left[1] and right[0] < right[1]:
            if any(text[side[0]] not in STARTS_MATH and not starts_symbol(text, *side) for side in (left, right)):
                return []
            return [Span(text[side[0] : side[1]], *side) for side in (left, right)]
    return []


def item_list(text: str, at: int, end: int) -> list[Span]:
    """The formulas of list items, each on a line of its own: "- $x = 2$\\n- $x = -5$"; [] when one is prose."""
    spans: list[Span] = []
    while at < end and len(spans) < MAX_PARTS:
        stop = text.find("\n", at, end)
        stop = end if stop < 0 else stop
        first = skip(text, at, stop, " \t")
        if first < stop:
            marked = skip(text, first, stop, "0123456789-*•.)") if text[first] in "0123456789-*•" else first
            if marked == first or not text.startswith(" ", marked) or not text[first:marked].strip("0123456789"):
                break  # no item: the list ends here
            begin, last = trim(text, marked, stop)
            if not (begin < last and text[begin] in "$\\" and _formula_end(text, begin, last) == last):
                return []
            spans.append(Span(text[begin:last], begin, last))
        at = stop + 1
    return spans


def bold_list(text: str, start: int, end: int) -> list[Span]:
    """The bold values that end a sentence as a list: "The numbers are **12** and **18**."."""
    spans: list[Span] = []
    stop = end
    while stop - start >= 5 and text.startswith("**", stop - 2) and len(spans) < MAX_PARTS:
        opening = text.rfind("**", start, stop - 2)
        if opening < 0 or not answer_like(text, opening + 2, stop - 2):
            break
        first, last = trim(text, opening + 2, stop - 2)
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


def pair_of(text: str, low: str, start: int, found: tuple[int, int]) -> list[Span]:
    """Both values of "The smaller number is 8 and the larger number is 12"; [] for any other sentence."""
    joint = low.rfind(" and ", start, found[0])
    if joint < 0 or PAIRED.isdisjoint(low[joint : found[0]].split()) or not low[joint : found[0]].endswith(" is "):
        return []
    left = narrow(text, low, start, joint)
    if left is None or left[1] < joint or low.find(" is ", start, left[0]) < 0:
        return []
    return [Span(text[side[0] : side[1]], *side) for side in (left, found)]
