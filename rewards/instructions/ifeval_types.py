"""The 25 instruction types of IFEval (Zhou et al. 2023, arXiv:2311.07911).

`official` gives what the published code gives, its faults included, rewritten so that each takes linear time.
`fixed` asks whether the instruction was followed; above each fixed check stands what the official one gets wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from rewards.instructions.catalogue import (
    COUNT,
    FOLLOWED,
    LANGUAGE,
    LETTER,
    PLACE,
    RELATION,
    TEXT,
    TEXTS,
    Args,
    Given,
    RowFault,
    as_pattern,
    at_least,
    check,
    compare,
    declare,
    said,
)
from rewards.instructions.response import OfficialResponse, Response, bare, counted, folded, shown, whole_word

_NON_SPACE: Final = re.compile(r"\S")
MAX_JSON_DEPTH: Final = 200
_MARKUP: Final = " \t*_#>`~"

# ---------------------------------------------------------------- keywords


def _keywords_are_patterns(given: Given, args: Args) -> None:
    if given.mode != "official":
        return
    for name in ("keywords", "forbidden_words", "keyword"):
        value = args.get(name, ())
        for keyword in (value,) if isinstance(value, str) else value:
            as_pattern(keyword, name)


declare("keywords:existence", _keywords_are_patterns, keywords=TEXTS)
declare("keywords:frequency", _keywords_are_patterns, keyword=TEXT, frequency=COUNT, relation=RELATION)
declare("keywords:forbidden_words", _keywords_are_patterns, forbidden_words=TEXTS)
declare("keywords:letter_frequency", letter=LETTER, let_frequency=COUNT, let_relation=RELATION)


@check("keywords:existence", "official")
def _existence_official(response: OfficialResponse, args: Args) -> str:
    missing = [k for k in args["keywords"] if not as_pattern(k, "keywords").search(response.text)]
    return said(not missing, f"missing: {shown(missing)}")


# Official: `art` is found in `start`; a keyword is a regular expression; `don’t` is not `don't`, a forbidden word
# with an unseen character inside is not that word.
@check("keywords:existence", "fixed")
def _existence_fixed(response: Response, args: Args) -> str:
    missing = [k for k in args["keywords"] if not whole_word(folded(k)).search(response.folded)]
    return said(not missing, f"missing: {shown(missing)}")


@check("keywords:frequency", "official")
def _frequency_official(response: OfficialResponse, args: Args) -> str:
    pattern = as_pattern(args["keyword"].strip(), "keyword")
    number = sum(1 for _ in pattern.finditer(response.text))
    return compare(number, args["relation"], args["frequency"], f"times {args['keyword']!r}")


@check("keywords:frequency", "fixed")
def _frequency_fixed(response: Response, args: Args) -> str:
    number = sum(1 for _ in whole_word(folded(args["keyword"])).finditer(response.folded))
    return compare(number, args["relation"], args["frequency"], f"times {args['keyword']!r}")


@check("keywords:forbidden_words", "official")
def _forbidden_official(response: OfficialResponse, args: Args) -> str:
    used = [w for w in args["forbidden_words"] if as_pattern(rf"\b{w}\b", "forbidden_words").search(response.text)]
    return said(not used, f"used: {shown(used)}")


@check("keywords:forbidden_words", "fixed")
def _forbidden_fixed(response: Response, args: Args) -> str:
    used = [w for w in args["forbidden_words"] if whole_word(folded(w)).search(response.folded)]
    return said(not used, f"used: {shown(used)}")


# Older ports draw a random letter where it is not a to z (allenai/olmo-eval#320); today's official code does not.
@check("keywords:letter_frequency")
def _letter_frequency(response: Response, args: Args) -> str:
    number = response.lowered.count(args["letter"].lower())
    return compare(number, args["let_relation"], args["let_frequency"], f"times {args['letter']!r}")


# ---------------------------------------------------------------- language and letter case

declare("language:response_language", language=LANGUAGE)
declare("change_case:english_capital")
declare("change_case:english_lowercase")
declare("change_case:capital_word_frequency", capital_frequency=COUNT, capital_relation=RELATION)

_SURE: Final = 0.9


@check("language:response_language", "official")
def _language_official(response: OfficialResponse, args: Args) -> str:
    # A text without a letter to judge by counts as followed there.
    found = response.language
    return said(found in (None, args["language"]), f"reads as {found!r}; asked for {args['language']!r}")


# Official: digits alone are "in Kannada"; `zh` never matches, since the identifier says zh-cn or zh-tw.
@check("language:response_language", "fixed")
def _language_fixed(response: Response, args: Args) -> str:
    found, wanted = response.language, args["language"]
    if found is None:
        return "no words to tell a language by"
    same = found == wanted or (wanted == "zh" and found.startswith("zh"))
    return said(same, f"reads as {found!r}; asked for {wanted!r}")


def _english_official(response: OfficialResponse) -> str:
    found = response.language
    return said(found in (None, "en"), f"reads as {found!r}, not English")


def _english_fixed(response: Response) -> str:
    # Identification of a few words is a guess: only a sure verdict for another language counts against them.
    shares = response.language_shares
    found = next(iter(shares), None)
    if found is None:
        return "no words to tell a language by"
    sure = shares[found] >= _SURE and len(response.words) >= 10
    return said(found == "en" or not sure, f"reads as {found!r}, not English")


@check("change_case:english_capital", "official")
def _capital_official(response: OfficialResponse, args: Args) -> str:
    return _english_official(response) if response.text.isupper() else "not all in capital letters"


# Official: capitals go to the identifier as they are, which takes English capitals for other languages.
@check("change_case:english_capital", "fixed")
def _capital_fixed(response: Response, args: Args) -> str:
    return _english_fixed(response) if response.text.isupper() else "not all in capital letters"


@check("change_case:english_lowercase", "official")
def _lowercase_official(response: OfficialResponse, args: Args) -> str:
    return _english_official(response) if response.text.islower() else "not all in lower case"


@check("change_case:english_lowercase", "fixed")
def _lowercase_fixed(response: Response, args: Args) -> str:
    return _english_fixed(response) if response.text.islower() else "not all in lower case"


@check("change_case:capital_word_frequency", "official")
def _capital_words_official(response: OfficialResponse, args: Args) -> str:
    number = sum(1 for token in response.tokens if token.isupper())
    return compare(number, args["capital_relation"], args["capital_frequency"], "words in capitals")


@check("change_case:capital_word_frequency", "fixed")
def _capital_words_fixed(response: Response, args: Args) -> str:
    number = sum(1 for word in response.words if word.isupper())
    return compare(number, args["capital_relation"], args["capital_frequency"], "words in capitals")


# ---------------------------------------------------------------- length


_NUMBER_OF_WORDS: Final = re.compile(
    r"(?<![\w.,])\d[\d,]{0,8}\s{0,3}\+?\s?-?\s{0,3}(?:or (?:more|less|fewer) )?words?\b"
)


def _prompt_states_number(given: Given, args: Args) -> None:
    """A prompt that asks for 400 words beside an argument of 336 (google-research#3361, key 337)."""
    if given.mode == "official":
        return
    stated = {int(n.replace(",", "")) for n in re.findall(r"(?<![\w.,])(\d[\d,]{0,8})(?![\w.])", given.prompt)}
    in_words = _NUMBER_OF_WORDS.search(given.prompt)
    number = args["num_words"]
    if in_words and not {number - 1, number, number + 1} & stated:
        raise RowFault(f"the prompt says {in_words.group()!r}, but num_words is {number}")


def _paragraph_exists(given: Given, args: Args) -> None:
    if re.search(r"\bNone(?:-th|th|st|nd|rd)?\b.{0,12}paragraph|[Pp]aragraph None\b", given.prompt):
        raise RowFault("the prompt asks for the 'None-th' paragraph: its argument was null when it was written")
    if args["nth_paragraph"] > args["num_paragraphs"]:
        raise RowFault(f"nth_paragraph is {args['nth_paragraph']}, of num_paragraphs {args['num_paragraphs']}")


declare("length_constraints:number_sentences", num_sentences=COUNT, relation=RELATION)
declare("length_constraints:number_words", _prompt_states_number, num_words=COUNT, relation=RELATION)
declare("length_constraints:number_paragraphs", num_paragraphs=COUNT)
declare(
    "length_constraints:nth_paragraph_first_word",
    _paragraph_exists,
    num_paragraphs=PLACE,
    nth_paragraph=PLACE,
    first_word=TEXT,
)


# Official: `Wow!!!` is three sentences, `1. Milk` two. The splitting differs by mode, the check does not.
@check("length_constraints:number_sentences")
def _sentences(response: Response, args: Args) -> str:
    return compare(len(response.sentences), args["relation"], args["num_sentences"], "sentences")


# Official: `don't` is two words, `well-known` too.
@check("length_constraints:number_words")
def _words(response: Response, args: Args) -> str:
    return compare(response.number_of_words, args["relation"], args["num_words"], "words")


@check("length_constraints:number_paragraphs", "official")
def _paragraphs_official(response: OfficialResponse, args: Args) -> str:
    pieces = re.split(r"\s?\*\*\*\s?", response.text)
    number = len(pieces)
    for index, piece in enumerate(pieces):
        if not piece.strip():
            if index not in (0, len(pieces) - 1):
                return "an empty paragraph between two dividers"
            number -= 1
    return said(number == args["num_paragraphs"], f"{counted(number, 'paragraph')}; asked for {args['num_paragraphs']}")


# Official: `***bold***` inside a sentence divides paragraphs.
@check("length_constraints:number_paragraphs", "fixed")
def _paragraphs_fixed(response: Response, args: Args) -> str:
    pieces = [piece.strip() for piece in re.split(r"(?<!\S)\*\*\*(?!\S)", response.text)]
    if any(not piece for piece in pieces[1:-1]):
        return "an empty paragraph between two dividers"
    number = sum(1 for piece in pieces if piece)
    return said(number == args["num_paragraphs"], f"{counted(number, 'paragraph')}; asked for {args['num_paragraphs']}")


@check("length_constraints:nth_paragraph_first_word", "official")
def _first_word_official(response: OfficialResponse, args: Args) -> str:
    chunks = response.text.split("\n\n")
    number = sum(1 for chunk in chunks if chunk.strip())
    nth = args["nth_paragraph"]
    if nth > number:
        return f"{counted(number, 'paragraph')}; asked for the word in number {nth}"
    # The count leaves blank chunks out, the index does not: a leading blank chunk shifts it (scitix/sieval#104).
    chunk = chunks[nth - 1].strip()
    if not chunk:
        return "the paragraph is blank"
    first = re.split(r"[.,?!'\"]", chunk.split(maxsplit=1)[0].lstrip("'").lstrip('"'), maxsplit=1)[0].lower()
    if first != args["first_word"].lower():
        return f"paragraph {nth} starts with {first!r}; asked for {args['first_word']!r}"
    return said(number == args["num_paragraphs"], f"{counted(number, 'paragraph')}; asked for {args['num_paragraphs']}")


@check("length_constraints:nth_paragraph_first_word", "fixed")
def _first_word_fixed(response: Response, args: Args) -> str:
    number, nth = len(response.paragraphs), args["nth_paragraph"]
    if number != args["num_paragraphs"]:
        return f"{counted(number, 'paragraph')}; asked for {args['num_paragraphs']}"
    wanted = [bare(word).lower() for word in args["first_word"].split()]
    head = (bare(word).lower() for word in response.paragraphs[nth - 1].split())
    got: list[str] = []
    while len(got) < len(wanted) and (word := next(head, None)) is not None:
        got += [word] if word else []
    return said(got == wanted, f"paragraph {nth} starts with {' '.join(got)!r}; asked for {args['first_word']!r}")


# ---------------------------------------------------------------- content

declare("detectable_content:number_placeholders", num_placeholders=COUNT)
declare("detectable_content:postscript", postscript_marker=TEXT)


def _bracketed(response: Response) -> Iterator[tuple[str, str]]:
    """What stands in each `[...]` on one line, and the character after it."""
    for line in response.lines:
        start = line.find("[")
        while start >= 0:
            end = line.find("]", start + 1)
            if end < 0:
                break
            yield line[start + 1 : end], line[end + 1 : end + 2]
            start = line.find("[", end + 1)


@check("detectable_content:number_placeholders", "official")
def _placeholders_official(response: OfficialResponse, args: Args) -> str:
    return at_least(sum(1 for _ in _bracketed(response)), args["num_placeholders"], "placeholders")


# Official: `[]`, a check box `[ ]` and a Markdown link are placeholders.
@check("detectable_content:number_placeholders", "fixed")
def _placeholders_fixed(response: Response, args: Args) -> str:
    number = sum(1 for inner, after in _bracketed(response) if bare(inner) and after != "(")
    return at_least(number, args["num_placeholders"], "placeholders")


@check("detectable_content:postscript", "official")
def _postscript_official(response: OfficialResponse, args: Args) -> str:
    marker = args["postscript_marker"].strip()
    known = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}
    pattern = re.compile(known[marker]) if marker in known else as_pattern(marker.lower(), "postscript_marker")
    return said(pattern.search(response.lowered) is not None, f"no {marker!r}")


# Official: the marker may stand inside a word, with nothing behind it; `P.P.S.` holds a `P.S.`.
@check("detectable_content:postscript", "fixed")
def _postscript_fixed(response: Response, args: Args) -> str:
    marker = args["postscript_marker"].strip()
    loose = r"\s?".join(re.escape(letter) for letter in marker.rstrip(".").lower() if not letter.isspace())
    last = -1
    for found in re.finditer(rf"(?<![\w.]){loose}(?!\w)", response.lowered):
        last = found.end()
    if last < 0:
        return f"no {marker!r}"
    return said(bool(bare(response.lowered[last:])), f"nothing follows {marker!r}")


# ---------------------------------------------------------------- format


def _splitter_is_pattern(given: Given, args: Args) -> None:
    if given.mode == "official":
        as_pattern(args["section_spliter"].strip(), "section_spliter")


declare("detectable_format:constrained_response")
declare("detectable_format:json_format")
declare("detectable_format:multiple_sections", _splitter_is_pattern, section_spliter=TEXT, num_sections=COUNT)
declare("detectable_format:number_bullet_lists", num_bullets=COUNT)
declare("detectable_format:number_highlighted_sections", num_highlights=COUNT)
declare("detectable_format:title")

_OPTIONS: Final = ("My answer is yes.", "My answer is no.", "My answer is maybe.")


@check("detectable_format:constrained_response", "official")
def _constrained_official(response: OfficialResponse, args: Args) -> str:
    return said(any(option in response.text for option in _OPTIONS), "none of the three allowed answers")


# Official: naming all three is an answer.
@check("detectable_format:constrained_response", "fixed")
def _constrained_fixed(response: Response, args: Args) -> str:
    found = [option for option in _OPTIONS if option in response.text]
    return said(len(found) == 1, f"{len(found)} of the three allowed answers; asked for one")


def _json_body(text: str) -> str:
    body = text.strip()
    for fence in ("```json", "```Json", "```JSON", "```"):
        body = body.removeprefix(fence)
    return body.removesuffix("```").strip()


def _json_depth(text: str) -> int:
    """Deepest nesting of brackets outside strings."""
    depth = deepest = 0
    quoted = False
    for piece in re.finditer(r'\\.|["\[\]{}]', text, re.DOTALL):
        mark = piece.group()
        if mark == '"':
            quoted = not quoted
        elif not quoted and mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif not quoted and mark in "]}":
            depth -= 1
    return deepest


def _parsed(text: str, **options: Any) -> tuple[Any, str]:
    body = _json_body(text)
    if _json_depth(body) > MAX_JSON_DEPTH:
        return None, f"JSON nested deeper than {MAX_JSON_DEPTH}"
    try:
        return json.loads(body, **options), FOLLOWED
    except ValueError as error:
        return None, f"not JSON: {str(error)[:80]}"


@check("detectable_format:json_format", "official")
def _json_official(response: OfficialResponse, args: Args) -> str:
    return _parsed(response.text)[1]


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


# Official: `5` and `NaN` are "wrapped in JSON format".
@check("detectable_format:json_format", "fixed")
def _json_fixed(response: Response, args: Args) -> str:
    value, fault = _parsed(response.text, parse_constant=_no_constant)
    return fault or said(isinstance(value, dict | list), "JSON, but neither an object nor an array")


@check("detectable_format:multiple_sections", "official")
def _multiple_sections_official(response: OfficialResponse, args: Args) -> str:
    pattern = re.compile(args["section_spliter"].strip() + r"\s?\d+")
    return at_least(sum(1 for _ in pattern.finditer(response.text)), args["num_sections"], "sections")


# Official: `as section 1 and Section 1 said` counts headings that are none; `SECTION IV` is no heading.
@check("detectable_format:multiple_sections", "fixed")
def _multiple_sections_fixed(response: Response, args: Args) -> str:
    words = r"\s+".join(map(re.escape, args["section_spliter"].split()))
    pattern = re.compile(rf"{words}\s{{0,3}}(\d{{1,6}}|[IVXLC]{{1,8}}|[A-Z])\b")
    numbers = {m[1] for line in response.lines if (m := pattern.match(line.lstrip(_MARKUP + '"([<')))}
    if not numbers & {"1", "I", "A"}:
        numbers = {number for number in numbers if number.isdigit()}  # `SECTION X` as the prompt writes it is no tenth
    return at_least(len(numbers), args["num_sections"], "sections")


def _bullets_official(text: str, mark: str) -> int:
    """Lines whose first character is the mark, as `^\\s*\\*[^\\*].*$` and `^\\s*-.*$` find them, in one pass.

    For `*` the next character must exist and be no star; where it is the line break, the following line is
    swallowed.
    """
    number, position = 0, 0
    while found := _NON_SPACE.search(text, position):
        start = found.start()
        after = start + 1
        if text[start] == mark:
            if mark == "-":
                number += 1
            elif after < len(text) and text[after] != "*":
                number += 1
                after += 1
        end = text.find("\n", after)
        if end < 0:
            break
        position = end + 1
    return number


@check("detectable_format:number_bullet_lists", "official")
def _bullet_lists_official(response: OfficialResponse, args: Args) -> str:
    number = _bullets_official(response.text, "*") + _bullets_official(response.text, "-")
    return said(number == args["num_bullets"], f"{counted(number, 'bullet')}; asked for {args['num_bullets']}")


_BULLET: Final = re.compile(r"[ \t]*[*+\-\u2022][ \t]+(?=\S)")
_TIGHT_BULLET: Final = re.compile(r"[ \t]*[*\u2022][^\s*]")
_RULE: Final = re.compile(r"[ \t]*(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,})$")


def is_bullet(line: str) -> bool:
    """A list mark with text behind it. Without a space between, a star is one where no other closes an emphasis."""
    if _BULLET.match(line):
        return not _RULE.match(line)
    return bool(_TIGHT_BULLET.match(line)) and line.count("*") <= 1


# Official: a divider `---` and a line `-5 degrees` are bullets; `+` and the bullet character are none.
@check("detectable_format:number_bullet_lists", "fixed")
def _bullet_lists_fixed(response: Response, args: Args) -> str:
    number = sum(map(is_bullet, response.lines))
    return said(number == args["num_bullets"], f"{counted(number, 'bullet')}; asked for {args['num_bullets']}")


@check("detectable_format:number_highlighted_sections", "official")
def _highlights_official(response: OfficialResponse, args: Args) -> str:
    number = sum(1 for h in re.findall(r"\*[^\n*]*\*", response.text) if h.strip("*").strip())
    number += sum(
        1 for h in re.findall(r"\*\*[^\n*]*\*\*", response.text) if h.removeprefix("**").removesuffix("**").strip()
    )
    return at_least(number, args["num_highlights"], "highlighted sections")


def _highlights(line: str) -> int:
    """Emphasised spans of one line: `*a*`, `**a b**`, `***a***`; a bullet star opens none."""
    bullet = _BULLET.match(line)
    text = line[bullet.end() :] if bullet else line
    number = 0
    opened = -1
    for run in re.finditer(r"\*+", text):
        start, end = run.span()
        closes = start > 0 and not text[start - 1].isspace()
        opens = end < len(text) and not text[end].isspace()
        if opened >= 0 and closes:
            number += bool(text[opened:start].strip())
            opened = -1
        elif opens:
            opened = end
    return number


# Official: `* a bullet with *emphasis` is a highlight (from the bullet's star on); `2 * 3 * 4` is one.
@check("detectable_format:number_highlighted_sections", "fixed")
def _highlights_fixed(response: Response, args: Args) -> str:
    number = sum(_highlights(line) for line in response.lines if "*" in line)
    return at_least(number, args["num_highlights"], "highlighted sections")


def _titles(response: Response) -> Iterator[str]:
    """Per line, what stands from the first `<<` to the last `>>`."""
    for line in response.lines:
        start, end = line.find("<<"), line.rfind(">>")
        if start >= 0 and end >= start + 3:
            yield line[start + 2 : end]


@check("detectable_format:title", "official")
def _title_official(response: OfficialResponse, args: Args) -> str:
    return said(any(t.lstrip("<").rstrip(">").strip() for t in _titles(response)), "no title in <<double brackets>>")


# Official: `<<!>>` is a title.
@check("detectable_format:title", "fixed")
def _title_fixed(response: Response, args: Args) -> str:
    return said(any(bare(title) for title in _titles(response)), "no title in <<double brackets>>")


# ---------------------------------------------------------------- combination, start and end, punctuation

declare("combination:repeat_prompt", prompt_to_repeat=TEXT)
declare("combination:two_responses")
declare("startend:end_checker", end_phrase=TEXT)
declare("startend:quotation")
declare("punctuation:no_comma")


@check("combination:repeat_prompt", "official")
def _repeat_prompt_official(response: OfficialResponse, args: Args) -> str:
    prompt = args["prompt_to_repeat"].strip().lower()
    return said(response.text.strip().lower().startswith(prompt), "does not open with the request")


# Official: the request alone is enough, though an answer is asked for. White space may differ here.
@check("combination:repeat_prompt", "fixed")
def _repeat_prompt_fixed(response: Response, args: Args) -> str:
    wanted = args["prompt_to_repeat"].lower().split()
    got = response.lowered.split(None, len(wanted))
    if got[: len(wanted)] != wanted:
        # The last word may run on into other characters, as in `request."` for `request.`
        head = " ".join(response.lowered.split(None, len(wanted) + 1)[: len(wanted)])
        if not head.startswith(" ".join(wanted)):
            return "does not open with the request"
    return said(len(got) > len(wanted) and bool(bare(got[-1])), "repeats the request without an answer")


@check("combination:two_responses", "official")
def _two_responses_official(response: OfficialResponse, args: Args) -> str:
    pieces = response.text.split("******")
    if any(not piece.strip() for piece in pieces[1:-1]):
        return "an empty response between two dividers"
    filled = [piece.strip() for piece in pieces if piece.strip()]
    return said(len(filled) == 2 and filled[0] != filled[1], f"{counted(len(filled), 'response')}, or twice the same")


# Official: a line of twelve stars is two dividers; `a ****** b ****** ` with marks only is a response.
@check("combination:two_responses", "fixed")
def _two_responses_fixed(response: Response, args: Args) -> str:
    pieces = [" ".join(piece.split()).lower() for piece in re.split(r"(?<!\*)\*{6}(?!\*)", response.text)]
    filled = [inner for piece in pieces if (inner := bare(piece))]
    if any(not bare(piece) for piece in pieces[1:-1]):
        return "an empty response between two dividers"
    return said(len(filled) == 2 and filled[0] != filled[1], f"{counted(len(filled), 'response')}, or twice the same")


@check("startend:end_checker", "official")
def _end_official(response: OfficialResponse, args: Args) -> str:
    end = args["end_phrase"].strip().lower()
    return said(response.text.strip().strip('"').lower().endswith(end), f"does not end with {args['end_phrase']!r}")


# Official: a phrase that itself ends with a quotation mark can never be met; white space must be the same.
@check("startend:end_checker", "fixed")
def _end_fixed(response: Response, args: Args) -> str:
    trim = " \t\r\n\"'\u201c\u201d\u2019*_`"
    end = " ".join(args["end_phrase"].lower().split()).strip(trim)
    tail = " ".join(response.lowered.rstrip().split()).rstrip(trim)
    whole = tail.endswith(end) and not tail[: len(tail) - len(end)][-1:].isalnum()
    return said(whole, f"does not end with {args['end_phrase']!r}")


@check("startend:quotation", "official")
def _quotation_official(response: OfficialResponse, args: Args) -> str:
    text = response.text.strip()
    return said(len(text) > 1 and text[0] == text[-1] == '"', "not wrapped in double quotation marks")


# Official: `""` is a wrapped response; typographic marks are none.
@check("startend:quotation", "fixed")
def _quotation_fixed(response: Response, args: Args) -> str:
    text = response.text.strip()
    wrapped = len(text) > 1 and text[0] in '"\u201c\u201e' and text[-1] in '"\u201d\u201c'
    return said(wrapped and bool(bare(text)), "not wrapped in double quotation marks")


@check("punctuation:no_comma", "official")
def _no_comma_official(response: OfficialResponse, args: Args) -> str:
    return said("," not in response.text, "has a comma")


# Official: the commas of Chinese, Japanese and Arabic are none.
@check("punctuation:no_comma", "fixed")
def _no_comma_fixed(response: Response, args: Args) -> str:
    return said(not re.search("[,\uff0c\u3001\u060c\ufe50]", response.text), "has a comma")
