"""The 58 out-of-distribution instruction types of IFBench (Pyatkin et al. 2025, arXiv:2507.02833).

As in `ifeval_types`: `official` gives what the published code gives (allenai/IFBench, state of summer 2026), in linear
time; `fixed` asks whether the instruction was followed. A fixed check is not satisfied by a response in which what is
asked for never had a chance to occur: one sentence does not make each longer than the one before.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import islice, pairwise
from typing import Final

from rewards.instructions.catalogue import (
    COUNT,
    FOLLOWED,
    PERCENTAGE,
    PLACE,
    TEXT,
    Args,
    Given,
    RowFault,
    at_least,
    check,
    declare,
    said,
)
from rewards.instructions.english import (
    AFRICAN_COUNTRIES,
    CONJUNCTIONS,
    NORTHERN_CAPITALS,
    PERSON_NAMES,
    PRONOUNS,
    STOP_WORDS,
    is_verb,
)
from rewards.instructions.ifeval_types import is_bullet
from rewards.instructions.response import (
    LETTER_OR_DIGIT,
    PUNCTUATION,
    DependencyMissing,
    OfficialResponse,
    Response,
    bare,
    counted,
    has_emoji,
    is_emoji,
    shown,
    syllables,
    treebank_words,
    whole_word,
    without_punctuation,
)

_EDGES: Final = PUNCTUATION + " "
_VOWELS: Final = frozenset("aeiou")
_CONSONANTS: Final = frozenset("bcdfghjklmnpqrstvwxyz")
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"
_JAPANESE: Final = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")
_CLOSERS: Final = " \t\r\n\"'\u201c\u201d\u2018\u2019)]}*_`"

# ---------------------------------------------------------------- count


def _range_ordered(given: Given, args: Args) -> None:
    if args["min_words"] > args["max_words"]:
        raise RowFault(f"min_words is {args['min_words']}, above max_words {args['max_words']}")


declare("count:word_count_range", _range_ordered, min_words=COUNT, max_words=COUNT)
declare("count:unique_word_count", N=COUNT)
declare("count:conjunctions", small_n=COUNT)
declare("count:person_names", N=COUNT)
declare("count:numbers", N=COUNT)
declare("count:pronouns", N=COUNT)
declare("count:punctuation")
declare("count:words_japanese", N=PLACE)
declare("count:keywords_multiple", keyword1=TEXT, keyword2=TEXT, keyword3=TEXT, keyword4=TEXT, keyword5=TEXT)


@check("count:word_count_range")
def _word_range(response: Response, args: Args) -> str:
    number, low, high = response.number_of_words, args["min_words"], args["max_words"]
    return said(low <= number <= high, f"{counted(number, 'word')}; asked for {low} to {high}")


@check("count:unique_word_count", "official")
def _unique_official(response: OfficialResponse, args: Args) -> str:
    return at_least(len({word.strip(_EDGES) for word in response.lowered.split()}), args["N"], "different words")


# Official: a lone dash is a word.
@check("count:unique_word_count", "fixed")
def _unique_fixed(response: Response, args: Args) -> str:
    return at_least(len({word.lower() for word in response.words}), args["N"], "different words")


@check("count:conjunctions", "official")
def _conjunctions_official(response: OfficialResponse, args: Args) -> str:
    # Counted as they stand: `and`, `And` and `and,` are three.
    found = {word for word in response.text.split() if word.strip(_EDGES).lower() in CONJUNCTIONS}
    return at_least(len(found), args["small_n"], "different conjunctions")


@check("count:conjunctions", "fixed")
def _conjunctions_fixed(response: Response, args: Args) -> str:
    found = {word.lower() for word in response.words} & CONJUNCTIONS
    return at_least(len(found), args["small_n"], "different conjunctions")


@check("count:person_names")
def _person_names(response: Response, args: Args) -> str:
    # Whole words: `Mia` is not in `Miami` (modelscope/evalscope#1755).
    found = set(re.findall(r"\w+", response.text)) & PERSON_NAMES
    return at_least(len(found), args["N"], "different names of the list")


@check("count:numbers", "official")
def _numbers_official(response: OfficialResponse, args: Args) -> str:
    number = sum(1 for _ in re.finditer(r"\d+", without_punctuation(response.text)))
    return said(number == args["N"], f"{counted(number, 'number')}; asked for {args['N']}")


# Official: `1,2,3` is one number (without its commas), and so is `10:30`.
@check("count:numbers", "fixed")
def _numbers_fixed(response: Response, args: Args) -> str:
    number = sum(1 for _ in re.finditer(r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?", response.text))
    return said(number == args["N"], f"{counted(number, 'number')}; asked for {args['N']}")


@check("count:pronouns", "official")
def _pronouns_official(response: OfficialResponse, args: Args) -> str:
    tokens = OfficialResponse(response.text.replace("/", " ").lower()).tokens
    return at_least(sum(1 for token in tokens if token in PRONOUNS), args["N"], "pronouns")


@check("count:pronouns", "fixed")
def _pronouns_fixed(response: Response, args: Args) -> str:
    heads = (re.split("['\u2019]", word.lower(), maxsplit=1)[0] for word in response.words)
    return at_least(sum(1 for head in heads if head in PRONOUNS), args["N"], "pronouns")


@check("count:punctuation")
def _punctuation(response: Response, args: Args) -> str:
    text = response.text
    if not any(mark in text for mark in ("!?", "?!", "\u203d")):
        return "no interrobang"
    rest = text.replace("?!", "", 1)
    if len(rest) == len(text):
        rest = text.replace("!?", "", 1)
    missing = [mark for mark in ".,!?;:" if mark not in rest]
    return said(not missing, f"missing: {' '.join(missing)}")


def _each_nth_japanese(pieces: Sequence[str], every: int) -> str:
    for place in range(every, len(pieces) + 1, every):
        word = pieces[place - 1].strip(_EDGES)
        if word and not word.isdigit() and not _JAPANESE.search(word):
            return f"word {place} is {word!r}, not Japanese"
    return FOLLOWED


@check("count:words_japanese", "official")
def _japanese_official(response: OfficialResponse, args: Args) -> str:
    return _each_nth_japanese(response.text.split(), args["N"])


# Official: a response of fewer than N words, or one whose N-th words are digits, is full of Japanese.
@check("count:words_japanese", "fixed")
def _japanese_fixed(response: Response, args: Args) -> str:
    pieces = [piece for piece in response.text.split() if bare(piece)]
    if len(pieces) < args["N"]:
        return f"{counted(len(pieces), 'word')}: no word at place {args['N']}"
    fault = _each_nth_japanese(pieces, args["N"])
    return fault or said(bool(_JAPANESE.search(response.text)), "no Japanese word")


@check("count:keywords_multiple")
def _keywords_multiple(response: Response, args: Args) -> str:
    for place, asked in enumerate((1, 2, 3, 5, 7), start=1):
        keyword = args[f"keyword{place}"]
        number = sum(1 for _ in whole_word(keyword).finditer(response.text))
        if number != asked:
            return f"{keyword!r} stands {number} times; asked for {asked}"
    return FOLLOWED


# ---------------------------------------------------------------- ratio

declare("ratio:stop_words", percentage=PERCENTAGE)
declare("ratio:sentence_type")
declare("ratio:sentence_balance")
declare("ratio:sentence_words")
declare("ratio:overlap", reference_text=TEXT, percentage=PERCENTAGE)


@check("ratio:stop_words")
def _stop_words(response: Response, args: Args) -> str:
    words = re.findall(r"\w+", response.lowered)
    if not words:
        return "no words"
    share = 100 * sum(1 for word in words if word in STOP_WORDS) / len(words)
    return said(share <= args["percentage"], f"{share:.1f} % stop words; asked for at most {args['percentage']:g} %")


def _ends(sentences: Iterable[str]) -> Counter[str]:
    return Counter(sentence[-1:] for sentence in sentences)


def _kinds(response: Response) -> tuple[int, int, int]:
    """Declarative, interrogative, exclamatory sentences; quotation marks after the mark do not hide it."""
    ends = _ends(sentence.rstrip(_CLOSERS) for sentence in response.sentences)
    return ends["."] + ends["\u3002"], ends["?"] + ends["\uff1f"], ends["!"] + ends["\uff01"]


@check("ratio:sentence_type", "official")
def _sentence_type_official(response: OfficialResponse, args: Args) -> str:
    ends = _ends(response.sentences)
    return said(ends["."] == 2 * ends["?"], f"{ends['.']} declarative to {ends['?']} interrogative; asked for 2 to 1")


# Official: no sentence at all is a ratio of 2 to 1 (scitix/sieval#105).
@check("ratio:sentence_type", "fixed")
def _sentence_type_fixed(response: Response, args: Args) -> str:
    telling, asking, _ = _kinds(response)
    return said(telling == 2 * asking > 0, f"{telling} declarative to {asking} interrogative; asked for 2 to 1")


@check("ratio:sentence_balance", "official")
def _balance_official(response: OfficialResponse, args: Args) -> str:
    ends = _ends(response.sentences)
    return said(ends["."] == ends["?"] == ends["!"], f"{ends['.']} / {ends['?']} / {ends['!']} sentences; not balanced")


@check("ratio:sentence_balance", "fixed")
def _balance_fixed(response: Response, args: Args) -> str:
    telling, asking, calling = _kinds(response)
    return said(telling == asking == calling > 0, f"{telling} / {asking} / {calling} sentences; not balanced")


def _split_words(text: str) -> list[str]:
    return without_punctuation(text.lower()).split()


@check("ratio:sentence_words")
def _sentence_words(response: Response, args: Args) -> str:
    sentences = [sentence.strip() for sentence in response.sentences]
    if len(sentences) != 3:
        return f"{counted(len(sentences), 'sentence')}; asked for 3"
    if len({len(sentence) for sentence in sentences}) != 1:
        return f"{', '.join(str(len(s)) for s in sentences)} characters; asked for the same"
    words = _split_words(" ".join(sentences))
    return said(len(words) == len(set(words)), "a word is used twice")


def _trigrams(tokens: Sequence[str]) -> set[tuple[str, str, str]]:
    return set(zip(tokens, tokens[1:], tokens[2:], strict=False))


def _overlap(ours: Sequence[str], theirs: Sequence[str], asked: float) -> str:
    mine = _trigrams(ours)
    if not mine:
        return "fewer than three words"
    share = 100 * len(mine & _trigrams(theirs)) / len(mine)
    return said(asked - 2 <= share <= asked + 2, f"{share:.1f} % of trigrams shared; asked for {asked:g} +- 2 %")


@check("ratio:overlap", "official")
def _overlap_official(response: OfficialResponse, args: Args) -> str:
    return _overlap(response.tokens, OfficialResponse(args["reference_text"]).tokens, args["percentage"])


@check("ratio:overlap", "fixed")
def _overlap_fixed(response: Response, args: Args) -> str:
    theirs = [word.lower() for word in Response(args["reference_text"]).words]
    return _overlap([word.lower() for word in response.words], theirs, args["percentage"])


# ---------------------------------------------------------------- words

declare("words:alphabet")
declare("words:vowel")
declare("words:consonants")
declare("words:palindrome")
declare("words:prime_lengths")
declare("words:start_verb")
declare("words:repeats", small_n=COUNT)
declare("words:odd_even_syllables")
declare("words:last_first")
declare("words:paragraph_last_first")
declare("words:no_consecutive")
declare("words:keywords_specific_position", keyword=TEXT, n=PLACE, m=PLACE)
declare("words:words_position", keyword=TEXT)


def _alphabet_loop(words: Sequence[str]) -> str:
    expected = words[0][0].lower() if words else ""
    if expected not in _ALPHABET or not expected:
        return "does not start with a letter" if words else "no words"
    for word in words[1:]:
        expected = _ALPHABET[(_ALPHABET.index(expected) + 1) % 26]
        if word[0].lower() != expected:
            return f"{word[:30]!r} where a word with {expected!r} is due"
    return FOLLOWED


@check("words:alphabet", "official")
def _alphabet_official(response: OfficialResponse, args: Args) -> str:
    return _alphabet_loop(without_punctuation(response.text).split())


# Official: one word loops through the alphabet.
@check("words:alphabet", "fixed")
def _alphabet_fixed(response: Response, args: Args) -> str:
    return _alphabet_loop(response.words) or at_least(len(response.words), 2, "words")


@check("words:vowel", "official")
def _vowel_official(response: OfficialResponse, args: Args) -> str:
    text = response.text.strip()
    if "\n" in text:
        return "more than one line"
    used = sorted(_VOWELS & set(text.lower()))
    return said(len(used) <= 3, f"uses the vowels {' '.join(used)}")


# Official: `...` is a paragraph of words with three vowels; a wrapped line is a second paragraph.
@check("words:vowel", "fixed")
def _vowel_fixed(response: Response, args: Args) -> str:
    if len(response.paragraphs) != 1:
        return f"{counted(len(response.paragraphs), 'paragraph')}; asked for one"
    plain = unicodedata.normalize("NFD", response.lowered)
    used = sorted(_VOWELS & set(plain))
    return said(1 <= len(used) <= 3, f"uses the vowels {' '.join(used)}")


def _without_cluster(pieces: Iterable[str]) -> str:
    for piece in pieces:
        if not any(a in _CONSONANTS and b in _CONSONANTS for a, b in pairwise(piece)):
            return f"{piece[:30]!r} has no two consonants together"
    return FOLLOWED


@check("words:consonants", "official")
def _consonants_official(response: OfficialResponse, args: Args) -> str:
    return _without_cluster(response.lowered.split())


# Official: a lone dash is a word without a cluster.
@check("words:consonants", "fixed")
def _consonants_fixed(response: Response, args: Args) -> str:
    words = [word.lower() for word in response.words if any(c.isalpha() for c in word)]
    return _without_cluster(words) if words else "no words"


def _is_palindrome(word: str) -> bool:
    return len(word) >= 5 and word == word[::-1]


@check("words:palindrome", "official")
def _palindrome_official(response: OfficialResponse, args: Args) -> str:
    return at_least(sum(map(_is_palindrome, _split_words(response.text))), 10, "palindromes")


# Official: ten times `level`, or `11111`, will do.
@check("words:palindrome", "fixed")
def _palindrome_fixed(response: Response, args: Args) -> str:
    found = {word for word in map(str.lower, response.words) if word.isalpha() and _is_palindrome(word)}
    return at_least(len({w for w in found if len(set(w)) > 1}), 10, "different palindromes")


_PRIMES: Final = frozenset(n for n in range(2, 100) if all(n % d for d in range(2, n)))


def _not_prime(words: Iterable[str]) -> str:
    odd = [word for word in words if len(word) not in _PRIMES]
    return said(not odd, f"no prime length: {shown(odd)}")


@check("words:prime_lengths", "official")
def _prime_official(response: OfficialResponse, args: Args) -> str:
    return _not_prime(without_punctuation(response.text).split())


@check("words:prime_lengths", "fixed")
def _prime_fixed(response: Response, args: Args) -> str:
    words = ["".join(c for c in word if c.isalnum()) for word in response.words]
    return _not_prime(words) if words else "no words"


@check("words:start_verb", "official")
def _start_verb_official(response: OfficialResponse, args: Args) -> str:
    return said("VB" in _first_tag(response), "does not start with a verb, by NLTK's tagger")


def _first_tag(response: OfficialResponse) -> str:
    """The Penn tag of the first word; the tagger looks two words ahead."""
    tokens = treebank_words(response.text[:4000])[:8]
    if not tokens:
        return ""
    try:
        from nltk import pos_tag

        return str(pos_tag(tokens)[0][1])
    except ImportError:
        raise DependencyMissing(
            "words:start_verb in official mode needs nltk; pip install 'grpo-rewards[ifeval]'"
        ) from None
    except LookupError:
        raise DependencyMissing(
            "words:start_verb in official mode needs NLTK's tagger data: "
            "python -m nltk.downloader averaged_perceptron_tagger_eng (or mode='fixed', which needs none)"
        ) from None


# Official: a statistical tagger over the whole text decides, data to be downloaded. Ours is a list of verbs.
@check("words:start_verb", "fixed")
def _start_verb_fixed(response: Response, args: Args) -> str:
    first = response.words[0] if response.words else ""
    return said(is_verb(first), f"{first!r} is no verb that we know")


@check("words:repeats")
def _repeats(response: Response, args: Args) -> str:
    counts = Counter(_split_words(response.text))
    often = [word for word, number in counts.items() if number > args["small_n"]]
    return said(not often, f"more than {args['small_n']} times: {shown(often)}")


@check("words:odd_even_syllables", "official")
def _syllables_official(response: OfficialResponse, args: Args) -> str:
    return _alternating(_split_words(response.text))


def _alternating(words: Sequence[str]) -> str:
    odd = [syllables(word) % 2 for word in words]
    for place, (a, b) in enumerate(pairwise(odd)):
        if a == b:
            return f"{words[place][:30]!r} and {words[place + 1][:30]!r} both have an {'odd' if a else 'even'} number"
    return FOLLOWED


# Official: a single word alternates.
@check("words:odd_even_syllables", "fixed")
def _syllables_fixed(response: Response, args: Args) -> str:
    words = [word.lower() for word in response.words]
    return _alternating(words) or at_least(len(words), 2, "words")


@check("words:last_first", "official")
def _last_first_official(response: OfficialResponse, args: Args) -> str:
    for one, two in pairwise(response.sentences):
        last, first = one.rstrip(_EDGES).split(), two.lstrip(_EDGES).split()
        if not last or not first:
            return "a sentence without words"
        if last[-1].lower() != first[0].lower():
            return f"{first[0][:30]!r} follows {last[-1][:30]!r}"
    return FOLLOWED


# Official: `sky. Sky,` is no repetition, since only the first is stripped on the right; one sentence will do.
@check("words:last_first", "fixed")
def _last_first_fixed(response: Response, args: Args) -> str:
    if len(response.sentences) < 2:
        return f"{counted(len(response.sentences), 'sentence')}; asked for several"
    for one, two in pairwise(Response(sentence).words for sentence in response.sentences):
        if one[-1].lower() != two[0].lower():
            return f"{two[0][:30]!r} follows {one[-1][:30]!r}"
    return FOLLOWED


def _first_is_last(paragraphs: Iterable[Sequence[str]]) -> str:
    for number, words in enumerate(paragraphs, start=1):
        # A paragraph of punctuation alone has no word to compare (allenai/IFBench#11).
        if words and words[0].lower() != words[-1].lower():
            return f"paragraph {number} starts with {words[0][:30]!r} and ends with {words[-1][:30]!r}"
    return FOLLOWED


@check("words:paragraph_last_first", "official")
def _paragraph_official(response: OfficialResponse, args: Args) -> str:
    return _first_is_last(line.strip().lower().strip(_EDGES).split() for line in response.lines)


# Official: a paragraph of one word ends with the word it starts with.
@check("words:paragraph_last_first", "fixed")
def _paragraph_fixed(response: Response, args: Args) -> str:
    paragraphs = [Response(line).words for line in response.filled_lines]
    if not any(len(words) >= 2 for words in paragraphs):
        return "no paragraph of two words or more"
    return _first_is_last(paragraphs)


def _same_initial(words: Iterable[str]) -> str:
    for a, b in pairwise(words):
        if a[0].lower() == b[0].lower():
            return f"{a[:30]!r}, {b[:30]!r}"
    return FOLLOWED


@check("words:no_consecutive", "official")
def _no_consecutive_official(response: OfficialResponse, args: Args) -> str:
    return _same_initial(_split_words(response.text))


# Official: the last word of a heading and the first of the paragraph below are consecutive (LiveBench#468).
@check("words:no_consecutive", "fixed")
def _no_consecutive_fixed(response: Response, args: Args) -> str:
    for line in response.filled_lines:
        fault = _same_initial(Response(line).words)
        if fault:
            return fault
    return said(len(response.words) >= 2, "fewer than two words")


def _word_at(response: Response, args: Args, words: Sequence[str]) -> str:
    if len(words) < args["m"]:
        return f"sentence {args['n']} has {counted(len(words), 'word')}; asked for {args['keyword']!r} at {args['m']}"
    got = words[args["m"] - 1]
    same = got.lower() == args["keyword"].strip().lower()
    return said(same, f"word {args['m']} of sentence {args['n']} is {got[:30]!r}; asked for {args['keyword']!r}")


@check("words:keywords_specific_position", "official")
def _position_official(response: OfficialResponse, args: Args) -> str:
    sentences = response.sentences
    if len(sentences) < args["n"]:
        return f"{counted(len(sentences), 'sentence')}; asked for one in number {args['n']}"
    tokens = treebank_words(sentences[args["n"] - 1])
    return _word_at(response, args, [token for token in tokens if any(c.isalnum() for c in token)])


# Official: `don't` is two words.
@check("words:keywords_specific_position", "fixed")
def _position_fixed(response: Response, args: Args) -> str:
    sentences = response.sentences
    if len(sentences) < args["n"]:
        return f"{counted(len(sentences), 'sentence')}; asked for one in number {args['n']}"
    return _word_at(response, args, Response(sentences[args["n"] - 1]).words)


@check("words:words_position")
def _words_position(response: Response, args: Args) -> str:
    words = [token for token in response.tokens if any(c.isalnum() for c in token)]
    if len(words) < 2:
        return "fewer than two words"
    second, before_last = words[1].lower(), words[-2].lower()
    same = second == before_last == args["keyword"].strip().lower()
    return said(same, f"{second[:30]!r} and {before_last[:30]!r}; asked for {args['keyword']!r} in both places")


# ---------------------------------------------------------------- sentence

declare("sentence:alliteration_increment")
declare("sentence:increment", small_n=COUNT)
declare("sentence:keyword", word=TEXT, N=PLACE)


def _alliterative_total(sentence: str) -> int:
    """Words that share their first letter with a neighbour, over the whole sentence, as the published code adds up."""
    words = [clean for word in sentence.lower().split() if (clean := word.lstrip(_EDGES))]
    total, before = 0, False
    for a, b in pairwise(words):
        same = a[0] == b[0]
        total += (1 if before else 2) if same else 0
        before = same
    return total


@check("sentence:alliteration_increment", "official")
def _alliteration_official(response: OfficialResponse, args: Args) -> str:
    return _growing(map(_alliterative_total, response.sentences))


def _growing(lengths: Iterable[int]) -> str:
    for number, (a, b) in enumerate(pairwise(lengths), start=2):
        if b <= a:
            return f"sentence {number} has {b} alliterative words, the one before {a}"
    return FOLLOWED


def _longest_alliteration(sentence: str) -> int:
    longest = run = 0
    before = ""
    for word in Response(sentence).words:
        initial = word[0].lower()
        run = run + 1 if initial == before else 1
        before = initial
        longest = max(longest, run)
    return longest if longest > 1 else 0


# Official: adds up the pairs of a sentence instead of measuring its longest sequence; one sentence will do.
@check("sentence:alliteration_increment", "fixed")
def _alliteration_fixed(response: Response, args: Args) -> str:
    lengths = map(_longest_alliteration, response.sentences)
    return _growing(lengths) or at_least(len(response.sentences), 2, "sentences")


def _stepping(lengths: Iterable[int], step: int) -> str:
    for number, (a, b) in enumerate(pairwise(lengths), start=2):
        if b != a + step:
            return f"sentence {number} has {counted(b, 'word')}, the one before {a}; asked for {step} more"
    return FOLLOWED


@check("sentence:increment", "official")
def _increment_official(response: OfficialResponse, args: Args) -> str:
    lengths = [len(without_punctuation(sentence).split()) for sentence in response.sentences]
    return _stepping(lengths, args["small_n"]) if lengths else "no sentences"


@check("sentence:increment", "fixed")
def _increment_fixed(response: Response, args: Args) -> str:
    lengths = (len(Response(sentence).words) for sentence in response.sentences)
    return _stepping(lengths, args["small_n"]) or at_least(len(response.sentences), 2, "sentences")


@check("sentence:keyword")
def _sentence_keyword(response: Response, args: Args) -> str:
    sentences = response.sentences
    if len(sentences) < args["N"]:
        return f"{counted(len(sentences), 'sentence')}; asked for {args['word']!r} in number {args['N']}"
    return said(
        whole_word(args["word"]).search(sentences[args["N"] - 1]) is not None,
        f"sentence {args['N']} has no {args['word']!r}",
    )


# ---------------------------------------------------------------- format

declare("format:parentheses")
declare("format:quotes")
declare("format:options", options=TEXT)
declare("format:newline")
declare("format:emoji")
declare("format:line_indent")
declare("format:quote_unquote")
declare("format:list", sep=TEXT)
declare("format:thesis")
declare("format:sub-bullets")
declare("format:no_bullets_bullets")
declare("format:title_case")
declare("format:output_template")
declare("format:no_whitespace")

_PAIRS: Final = {")": "(", "]": "[", "}": "{"}
_DEPTH: Final = 5


@check("format:parentheses", "official")
def _parentheses_official(response: OfficialResponse, args: Args) -> str:
    opened: list[str] = []
    deepest = 0
    for mark in re.findall(r"[()\[\]{}]", response.text):
        if mark in "([{":
            opened.append(mark)
            deepest = max(deepest, len(opened))
        elif opened and opened[-1] == _PAIRS[mark]:
            opened.pop()
            if deepest >= _DEPTH:
                return FOLLOWED
        else:
            opened, deepest = [], 0
    return f"brackets {deepest} deep; asked for {_DEPTH}"


# Official: five opened and the innermost closed will do.
@check("format:parentheses", "fixed")
def _parentheses_fixed(response: Response, args: Args) -> str:
    opened: list[str] = []
    heights: list[int] = [0]  # per open bracket (and for the text around them), the deepest closed pair inside
    deepest = 0
    for mark in re.findall(r"[()\[\]{}]", response.text):
        if mark in "([{":
            opened.append(mark)
            heights.append(0)
        elif opened and opened[-1] == _PAIRS[mark]:
            opened.pop()
            height = heights.pop() + 1
            heights[-1] = max(heights[-1], height)
            deepest = max(deepest, height)
        else:
            opened, heights = [], [0]
    return said(deepest >= _DEPTH, f"closed brackets {deepest} deep; asked for {_DEPTH}")


@check("format:quotes", "official")
def _quotes_official(response: OfficialResponse, args: Args) -> str:
    opened: list[str] = []
    reached = 0
    for mark in re.findall("[\"']", response.text):
        if opened and mark == opened[-1]:
            opened.pop()
            if reached - len(opened) >= 3:
                return FOLLOWED
        else:
            opened.append(mark)
            reached = max(reached, len(opened))
    return "quotes not nested three deep"


# Official: the apostrophes of `it's` and `don't` open and close quotes; typographic marks do not exist.
@check("format:quotes", "fixed")
def _quotes_fixed(response: Response, args: Args) -> str:
    text = re.sub(r"(?<=\w)['\u2019](?=\w)", "", response.text)
    text = text.translate(str.maketrans("\u201c\u201d\u2018\u2019", "\"\"''"))
    opened: list[str] = []
    heights: list[int] = [0]
    deepest = 0
    for mark in re.findall("[\"']", text):
        if opened and mark == opened[-1]:
            opened.pop()
            height = heights.pop() + 1
            heights[-1] = max(heights[-1], height)
            deepest = max(deepest, height)
        else:
            opened.append(mark)
            heights.append(0)
    return said(deepest >= 3, f"quotes nested {deepest} deep; asked for 3")


_LETTER_OPTIONS: Final = re.compile(r"\W{0,20}[aA]\W{0,20}[bB]\W{0,20}[cC]")


@check("format:options", "official")
def _options_official(response: OfficialResponse, args: Args) -> str:
    options = args["options"]
    separator = "/" if "/" in options else "or" if "or" in options else ","
    return _one_of(response.text, [option.strip() for option in options.split(separator)], options)


# Official: `for, against` is split at the `or` of `for`.
@check("format:options", "fixed")
def _options_fixed(response: Response, args: Args) -> str:
    options = args["options"]
    if "/" in options:
        parts = options.split("/")
    elif re.search(r"\bor\b", options):
        parts = re.split(r",|\bor\b", options)
    else:
        parts = options.split(",")
    return _one_of(response.text.strip(), [part.strip() for part in parts if part.strip()], options)


def _one_of(text: str, options: Sequence[str], described: str) -> str:
    if _LETTER_OPTIONS.match(described):
        return said(text in options, f"not exactly one of {described!r}")
    plain = text.strip(_EDGES).lower()
    return said(any(option.strip(_EDGES).lower() == plain for option in options), f"not one of {described!r}")


@check("format:newline", "official")
def _newline_official(response: OfficialResponse, args: Args) -> str:
    text = without_punctuation(response.text).strip()
    lines, words = sum(1 for line in text.split("\n") if line), len(text.split())
    return said(lines == words, f"{counted(words, 'word')} on {counted(lines, 'line')}")


# Official: three words on one line and two lines of blanks are three words on three lines.
@check("format:newline", "fixed")
def _newline_fixed(response: Response, args: Args) -> str:
    crowded = [line for line in response.filled_lines if len(line.split()) > 1]
    return said(not crowded, f"more than one word on a line: {shown(crowded)}")


@check("format:emoji", "official")
def _emoji_official(response: OfficialResponse, args: Args) -> str:
    sentences = [without_punctuation(sentence).strip() for sentence in response.sentences]
    for place, sentence in enumerate(sentences):
        # A sentence without anything but punctuation has no emoji at its end (allenai/IFBench#11).
        if not sentence:
            return f"sentence {place + 1} is blank"
        if is_emoji(sentence[-1]) or is_emoji(sentence[-2:][0]):
            continue
        following = sentences[place + 1] if place + 1 < len(sentences) else ""
        if not following or not is_emoji(following[0]):
            return f"no emoji after sentence {place + 1}"
    return FOLLOWED


# Official: flags, keycaps and joined emoji are none, since only single characters are looked up.
@check("format:emoji", "fixed")
def _emoji_fixed(response: Response, args: Args) -> str:
    text = response.text
    if not response.words:
        return "no sentences"
    position = 0
    for number, sentence in enumerate(response.sentences, start=1):
        start = text.find(sentence, position)
        position = start + len(sentence)
        last = position
        while last > start and not text[last - 1].isalnum():
            last -= 1
        following = LETTER_OR_DIGIT.search(text, position)
        tail = text[last : following.start() if following else len(text)]
        if not has_emoji(tail):
            return f"no emoji after sentence {number}"
    return FOLLOWED


def _official_stairs(lines: list[str]) -> list[str]:
    """The lines that are left when blank ones are removed from the list while walking through it.

    The published check does that: behind each blank line it meets it skips one, so some blank lines stay, and it
    removes the first line equal to the one met. Here in one pass, with the places of each blank line's equals.
    """
    places: dict[str, deque[int]] = {}
    for place, line in enumerate(lines):
        if not line.strip():
            places.setdefault(line, deque()).append(place)
    gone: set[int] = set()
    place = 0
    while place < len(lines):
        if lines[place].strip():
            place += 1
        else:
            gone.add(places[lines[place]].popleft())
            place += 2
    return [line for place, line in enumerate(lines) if place not in gone]


def _stairs(lines: Sequence[str]) -> str:
    indents = [len(line) - len(line.lstrip(" ")) for line in lines]
    for number, (a, b) in enumerate(pairwise(indents), start=2):
        if b <= a:
            return f"line {number} is indented by {b}, the one before by {a}"
    return FOLLOWED


@check("format:line_indent", "official")
def _line_indent_official(response: OfficialResponse, args: Args) -> str:
    return _stairs(_official_stairs(response.lines))


# Official: blank lines are removed while walking, so some stay (scitix/sieval#105); one line is a staircase.
@check("format:line_indent", "fixed")
def _line_indent_fixed(response: Response, args: Args) -> str:
    return _stairs(response.filled_lines) or at_least(len(response.filled_lines), 2, "lines")


@check("format:quote_unquote", "official")
def _quote_unquote_official(response: OfficialResponse, args: Args) -> str:
    text = "".join(response.text.replace("'\"'", "").split())
    if '""' in text:
        return "two quotes without an explanation between them"
    end = text.strip("0123456789" + PUNCTUATION.replace('"', ""))
    return said(not end.endswith('"'), "ends with a quote")


# Official: text without any quote explains every quote; typographic quotation marks do not exist.
@check("format:quote_unquote", "fixed")
def _quote_unquote_fixed(response: Response, args: Args) -> str:
    text = response.text.replace("'\"'", "").translate(str.maketrans("\u201c\u201d", '""'))
    pieces = text.split('"')
    if len(pieces) < 3:
        return "no quoted phrase"
    unquoted = pieces[2::2]
    return said(all(bare(piece) for piece in unquoted), "a quote without an explanation behind it")


@check("format:list", "official")
def _list_official(response: OfficialResponse, args: Args) -> str:
    return at_least(response.text.count(args["sep"]), 2, f"times {args['sep']!r}")


# Official: the mark may stand anywhere; `-` is in `well-known`.
@check("format:list", "fixed")
def _list_fixed(response: Response, args: Args) -> str:
    mark = args["sep"].strip()
    items = [line.lstrip() for line in response.lines]
    number = sum(1 for item in items if item.startswith(mark) and bare(item[len(mark) :]))
    return at_least(number, 2, f"lines that start with {mark!r}")


@check("format:thesis", "official")
def _thesis_official(response: OfficialResponse, args: Args) -> str:
    text = response.text
    start = text.find("<i>")
    start = text.find("<em>") if start < 0 else start
    if start < 0:
        return "no italics in HTML"
    text = text[start:]
    end = text.find("</i>")
    end = text.find("</em>") if end < 0 else end
    if end < 0:
        return "italics are never closed"
    if not text[3:end].strip():
        return "empty italics"
    return said(bool(text[end + 4 :].strip()), "nothing follows the thesis")


_ITALICS: Final = re.compile(r"<(i|em)>", re.IGNORECASE)


# Official: `<em></em> x` has a thesis (the bracket of `<em>`); one in the middle of a line will do.
@check("format:thesis", "fixed")
def _thesis_fixed(response: Response, args: Args) -> str:
    text = response.text
    for line_start in _line_starts(text):
        opened = _ITALICS.match(text, line_start)
        if not opened:
            continue
        closing = f"</{opened[1].lower()}>"
        end = response.lowered.find(closing, opened.end())
        if end < 0:
            break
        if bare(text[opened.end() : end]):
            return said(bool(bare(text[end + len(closing) :])), "nothing follows the thesis")
    return "no line starts with a thesis in <i> or <em>"


def _line_starts(text: str) -> Iterator[int]:
    """Where each line's first character stands that is neither blank nor Markdown."""
    for match in re.finditer(r"^[ \t#>]*", text, re.MULTILINE):
        yield match.end()


@check("format:sub-bullets", "official")
def _sub_bullets_official(response: OfficialResponse, args: Args) -> str:
    pieces = response.text.split("*")[1:]
    return said(all("-" in piece for piece in pieces), "a star without a dash before the next")


# Official: no star at all will do; `**bold**` never does, and the hyphen of `early-morning` does (LiveBench#468).
@check("format:sub-bullets", "fixed")
def _sub_bullets_fixed(response: Response, args: Args) -> str:
    below: list[int] = []
    for line in response.lines:
        item = line.strip()
        if item.startswith("*") and is_bullet(item):
            below.append(0)
        elif below and re.match(r"-\s+\S", item):
            below[-1] += 1
    if not below:
        return "no bullet that starts with *"
    return said(all(below), "a bullet without a sub-bullet that starts with -")


@check("format:no_bullets_bullets", "official")
def _bullets_after_sentences_official(response: OfficialResponse, args: Args) -> str:
    sentences = bullets = 0
    before = True
    for line in response.lines:
        item = line.strip()
        if item.startswith("*"):
            before = False
            if sentences < 2:
                return f"{counted(sentences, 'sentence')} before the first bullet; asked for 2"
            bullets += 1
        elif before:
            # A line without a sentence (a blank one) ends the part where sentences may stand.
            found = len(OfficialResponse(item).sentences)
            sentences += found
            before = found > 0
        else:
            return "text after the bullets began"
    return at_least(bullets, 2, "bullets")


# Official: a blank line between the sentences and the bullets is a fault; sentences need no period.
@check("format:no_bullets_bullets", "fixed")
def _bullets_after_sentences_fixed(response: Response, args: Args) -> str:
    lines = response.filled_lines
    marked = [place for place, line in enumerate(lines) if line.lstrip().startswith("*") and is_bullet(line)]
    if len(marked) < 2:
        return f"{counted(len(marked), 'bullet')}; asked for at least 2"
    before = Response("\n".join(lines[: marked[0]])).sentences
    ended = sum(1 for sentence in before if sentence.rstrip(_CLOSERS).endswith("."))
    return said(ended >= 2, f"{counted(ended, 'sentence')} with a period before the first bullet; asked for 2")


@check("format:title_case", "official")
def _title_case_official(response: OfficialResponse, args: Args) -> str:
    for token in response.tokens:
        if not token[0].isalpha() or not token[0].islower():
            continue
        if len(token) == 1 or token[1:].isupper() or token[1:].islower():
            return f"{token[:30]!r} is not in title case"
    return FOLLOWED


_MINOR: Final = frozenset(
    "a an the and but or nor for so yet as at by in of off on per to up via with from into onto over vs if than".split()
)


# Official: `of` must be `Of`, though only major words are asked for; the `s` of `It's` as well.
@check("format:title_case", "fixed")
def _title_case_fixed(response: Response, args: Args) -> str:
    words = [word for word in response.words if word[0].isalpha()]
    small = [word for word in words if word[0].islower() and word.lower() not in _MINOR]
    if small:
        return f"not in title case: {shown(small)}"
    return said(any(word[0].isupper() for word in words), "no capitalised word")


_TEMPLATE: Final = ("My Answer:", "My Conclusion:", "Future Outlook:")


@check("format:output_template", "official")
def _template_official(response: OfficialResponse, args: Args) -> str:
    missing = [part for part in _TEMPLATE if part not in response.text]
    return said(not missing, f"missing: {shown(missing)}")


# Official: the three labels in any order, with nothing behind them.
@check("format:output_template", "fixed")
def _template_fixed(response: Response, args: Args) -> str:
    rest = response.text.replace("*", "")
    if not rest.lstrip("# \n\t").startswith(_TEMPLATE[0]):
        return f"does not start with {_TEMPLATE[0]!r}"
    for label, following in zip(_TEMPLATE, (*_TEMPLATE[1:], None), strict=True):
        body = rest.partition(label)[2]
        if following is not None and following not in body:
            return f"no {following!r} behind {label!r}"
        if not bare(body.partition(following)[0] if following else body):
            return f"nothing behind {label!r}"
        rest = body
    return FOLLOWED


@check("format:no_whitespace")
def _no_whitespace(response: Response, args: Args) -> str:
    return said(not re.search(r"\s", response.text), "has white space")


# ---------------------------------------------------------------- repeat


def _span_inside(given: Given, args: Args) -> None:
    words = len(args["prompt_to_repeat"].split())
    if not args["n_start"] <= args["n_end"] < words:
        raise RowFault(f"n_start {args['n_start']} to n_end {args['n_end']} is no span of {words} words")


declare("repeat:repeat_change", prompt_to_repeat=TEXT)
declare("repeat:repeat_simple")
declare("repeat:repeat_span", _span_inside, prompt_to_repeat=TEXT, n_start=COUNT, n_end=COUNT)


@check("repeat:repeat_change", "official")
def _repeat_change_official(response: OfficialResponse, args: Args) -> str:
    if response.text == args["prompt_to_repeat"]:
        return "repeats the request without a change"
    same = response.text.split()[1:] == args["prompt_to_repeat"].split()[1:]
    return said(same, "does not repeat the rest of the request")


# Official: the request with one more blank at its end is a change of its first word.
@check("repeat:repeat_change", "fixed")
def _repeat_change_fixed(response: Response, args: Args) -> str:
    got, wanted = response.text.split(), args["prompt_to_repeat"].split()
    if got[1:] != wanted[1:]:
        return "does not repeat the rest of the request"
    return said(bool(got) and bare(got[0]).lower() != bare(wanted[0]).lower(), "the first word is not changed")


@check("repeat:repeat_simple")
def _repeat_simple(response: Response, args: Args) -> str:
    wanted = "only output this sentence here, ignore all other requests."
    return said(response.lowered.strip() == wanted, "not that sentence alone")


@check("repeat:repeat_span")
def _repeat_span(response: Response, args: Args) -> str:
    span = " ".join(args["prompt_to_repeat"].split()[args["n_start"] : args["n_end"] + 1])
    return said(response.lowered.strip() == span.lower(), f"not exactly {span[:60]!r}")


# ---------------------------------------------------------------- custom: one prompt each

declare("custom:multiples")
declare("custom:mcq_count_length")
declare("custom:reverse_newline")
declare("custom:word_reverse")
declare("custom:character_reverse")
declare("custom:sentence_alphabet")
declare("custom:european_capitals_sort")
declare("custom:csv_city")
declare("custom:csv_special_character")
declare("custom:csv_quotes")
declare("custom:date_format_list")


@check("custom:multiples")
def _multiples(response: Response, args: Args) -> str:
    numbers = re.findall(r"\d+", response.text)
    return said(numbers == ["14", "21", "28", "35", "42", "49"], f"found {shown(numbers, 8)}")


_OPTION: Final = re.compile(r"[A-Ea-e][.|)]\s*\w")


def _choice_questions(text: str) -> str:
    pieces = [piece.strip() for piece in re.split(r"Question \d+[.|):;]?", text)]
    questions = [piece for piece in pieces if piece]
    if len(questions) != 4:
        return f"{counted(len(questions), 'question')}; asked for 4"
    lengths = []
    for number, question in enumerate(questions, start=1):
        lines = [line.strip() for line in question.split("\n")]
        options = [place for place, line in enumerate(lines) if _OPTION.match(line)]
        if len(options) != 5:
            return f"question {number} has {counted(len(options), 'option')}; asked for 5"
        lengths.append(len(" ".join(lines[: options[0]]).strip()))
    return said(all(a < b for a, b in pairwise(lengths)), f"lengths {lengths}: not progressively longer")


@check("custom:mcq_count_length", "official")
def _choices_official(response: OfficialResponse, args: Args) -> str:
    if not response.text.startswith("Question"):
        return "does not start with 'Question'"
    return _choice_questions(response.text)


@check("custom:mcq_count_length", "fixed")
def _choices_fixed(response: Response, args: Args) -> str:
    text = response.text.replace("*", "").lstrip("# \n\t")
    return _choice_questions(text) if text.startswith("Question") else "does not start with 'Question'"


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


@check("custom:reverse_newline", "official")
def _reverse_newline_official(response: OfficialResponse, args: Args) -> str:
    lines = [stripped for line in response.lines if (stripped := line.strip(_EDGES))]
    start = next((place for place, line in enumerate(lines) if "Zimbabwe" in line), None)
    if start is None:
        return "no line with Zimbabwe"
    names = [_plain(line) for line in lines[start:]]
    if len(names) < 52:
        return f"{counted(len(names), 'line')} from Zimbabwe on; asked for all countries"
    return said(all(a >= b for a, b in pairwise(names)), "not in reverse alphabetical order")


# Official: fifty-two times `Zimbabwe` lists the countries of Africa.
@check("custom:reverse_newline", "fixed")
def _reverse_newline_fixed(response: Response, args: Args) -> str:
    names = [bare(_plain(line).lower()).lstrip("0123456789. )-") for line in response.filled_lines]
    start = next((place for place, name in enumerate(names) if name.startswith("zimbabwe")), None)
    if start is None:
        return "no line with Zimbabwe"
    names = [name for name in names[start:] if name]
    if not all(a > b for a, b in pairwise(names)):
        return "not in reverse alphabetical order"
    found = sum(1 for known in AFRICAN_COUNTRIES if any(name.startswith(known) for name in names))
    return at_least(found, 52, "countries of Africa")


@check("custom:word_reverse", "official")
def _word_reverse_official(response: OfficialResponse, args: Args) -> str:
    words = without_punctuation(response.lowered.strip()).split()
    if "bald eagle" not in (text := " ".join(reversed(words))):
        return "no bald eagle, read from behind"
    return said(OfficialResponse(text).sentences == [text], "no single sentence, read from behind")


# Official: `eagle bald` is a sentence in reverse, and so is any text around those two words.
@check("custom:word_reverse", "fixed")
def _word_reverse_fixed(response: Response, args: Args) -> str:
    words = [word.lower() for word in reversed(response.words)]
    if "bald eagle" not in " ".join(words):
        return "no bald eagle, read from behind"
    if "eagle bald" in " ".join(words):
        return "bald eagle stands in its usual order, too"
    if len(words) < 4 or len(response.sentences) != 1:
        return "not one sentence"
    return said(bool({"is", "was"} & set(words)), "no sentence: it has no verb")


@check("custom:character_reverse", "official")
def _character_reverse_official(response: OfficialResponse, args: Args) -> str:
    return said("elgae dlab" in response.lowered, "no bald eagle, letters reversed")


@check("custom:character_reverse", "fixed")
def _character_reverse_fixed(response: Response, args: Args) -> str:
    if "elgae dlab" not in response.lowered:
        return "no bald eagle, letters reversed"
    return said("bald eagle" not in response.lowered, "bald eagle stands in its usual order, too")


def _alphabet_sentences(sentences: Sequence[str]) -> str:
    if len(sentences) != 26:
        return f"{counted(len(sentences), 'sentence')}; asked for 26"
    for letter, sentence in zip(_ALPHABET, sentences, strict=True):
        if sentence.lstrip(PUNCTUATION + " \t\n\r\x0b\x0c")[:1].lower() != letter:
            return f"the sentence for {letter!r} starts with {sentence[:20]!r}"
    return FOLLOWED


@check("custom:sentence_alphabet", "official")
def _sentence_alphabet_official(response: OfficialResponse, args: Args) -> str:
    return _alphabet_sentences(response.sentences)


@check("custom:sentence_alphabet", "fixed")
def _sentence_alphabet_fixed(response: Response, args: Args) -> str:
    if len(response.sentences) != 26:
        return f"{counted(len(response.sentences), 'sentence')}; asked for 26"
    return _alphabet_sentences([Response(sentence).words[0] for sentence in response.sentences])


@check("custom:european_capitals_sort", "official")
def _capitals_official(response: OfficialResponse, args: Args) -> str:
    names = [name.strip() for name in _plain(response.text).split(",") if name.strip()]
    return said(names == list(NORTHERN_CAPITALS), "not the capitals in the order of latitude")


@check("custom:european_capitals_sort", "fixed")
def _capitals_fixed(response: Response, args: Args) -> str:
    names = [" ".join(name.split()).lower() for name in _plain(response.text).strip(" \n.").split(",") if name.strip()]
    return said(names == [name.lower() for name in NORTHERN_CAPITALS], "not the capitals in the order of latitude")


_MOST_ROWS: Final = 20
"""More rows than any of these prompts asks for; those behind them make no difference."""


def _csv_rows(text: str, delimiter: str = ",") -> list[list[str]] | None:
    try:
        return list(islice(csv.reader(io.StringIO(text), delimiter=delimiter), _MOST_ROWS))
    except csv.Error:  # a field above the reader's limit, or a NUL: no CSV that anyone reads
        return None


def _table(text: str, header: Sequence[str], rows: int, delimiter: str = ",") -> tuple[list[list[str]], str]:
    """The rows below the header, or what is wrong."""
    found = _csv_rows(text, delimiter)
    if found is None:
        return [], "not CSV"
    if len(found) != rows + 1:
        return [], f"{len(found) - 1}{' or more' if len(found) == _MOST_ROWS else ''} rows; asked for {rows}"
    if [name.strip() for name in found[0]] != list(header):
        return [], f"columns {shown(found[0], 5)}; asked for {shown(header, 5)}"
    if any(len(row) != len(header) for row in found):
        return [], f"a row without {len(header)} fields"
    return found[1:], FOLLOWED


_CITY: Final = ("ID", "Country", "City", "Year", "Count")
_PRODUCT: Final = ("ProductID", "Category", "Brand", "Price", "Stock")
_STUDENT: Final = ("StudentID", "Subject", "Grade", "Semester", "Score")


def _fenced(text: str) -> str:
    """The text without a code fence around all of it."""
    lines = text.strip().split("\n")
    if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1])
    return text.strip()


@check("custom:csv_city", "official")
def _csv_city_official(response: OfficialResponse, args: Args) -> str:
    rows = _csv_rows(response.text)
    if rows is None or len(rows) != 8:
        return "not CSV with 7 rows"
    return said(rows[0] == list(_CITY) and all(len(row) == 5 for row in rows[1:]), "other columns")


# Official: a code fence around the table, or an empty line at its end, is a row.
@check("custom:csv_city", "fixed")
def _csv_city_fixed(response: Response, args: Args) -> str:
    return _table(_fenced(response.text), _CITY, 7)[1]


def _header_of(names: Sequence[str], separator: str) -> re.Pattern[str]:
    return re.compile(separator.join(f'(?:{name}|"{name}")' for name in names) + "$")


@check("custom:csv_special_character", "official")
def _csv_special_official(response: OfficialResponse, args: Args) -> str:
    if not _header_of(_PRODUCT, r",[ \t]*").match(response.lines[0].strip()):
        return "other columns"
    rows = _csv_rows(response.text.replace('"', '"""'))
    if rows is None or len(rows) != 15:
        return "not CSV with 14 rows"
    for row in rows[1:]:
        if len(row) != 5:
            return "a row without 5 fields"
        # Whatever rows follow the first such field are not looked at.
        if any(_quoted_special(field) for field in row):
            return FOLLOWED
    return "no special character in double quotes"


def _quoted_special(field: str) -> bool:
    """A quotation mark at the start, another on the same line, and between the two a special character."""
    if not field.startswith('"'):
        return False
    line = field.split("\n", 1)[0]
    return bool(re.search(r"[^\w\s]", line[1 : line.rfind('"')]))


@check("custom:csv_special_character", "fixed")
def _csv_special_fixed(response: Response, args: Args) -> str:
    text = _fenced(response.text)
    fault = _table(text, _PRODUCT, 14)[1]
    if fault:
        return fault
    fields = re.findall(r'(?<![^,\n])[ \t]{0,4}"([^"\n]*)"', text.partition("\n")[2])
    return said(any(re.search(r"[^\w\s]", field) for field in fields), "no special character in double quotes")


@check("custom:csv_quotes", "official")
def _csv_quotes_official(response: OfficialResponse, args: Args) -> str:
    if not _header_of(_STUDENT, r"\t *").match(response.lines[0].strip()):
        return "other columns"
    rows = _csv_rows(response.text.replace('"', '"""'), "\t")
    if rows is None or len(rows) != 4:
        return "not tab-delimited CSV with 3 rows"
    for row in rows:
        if len(row) != 5 or not all(f.strip()[:1] == f.strip()[-1:] == '"' for f in row):
            return "not five fields, each in double quotes"
    return FOLLOWED


@check("custom:csv_quotes", "fixed")
def _csv_quotes_fixed(response: Response, args: Args) -> str:
    text = _fenced(response.text)
    fault = _table(text, _STUDENT, 3, "\t")[1]
    if fault:
        return fault
    quoted = all(
        len(field.strip()) > 1 and field.strip()[0] == field.strip()[-1] == '"'
        for line in text.split("\n")
        for field in line.split("\t")
    )
    return said(quoted, "a field without double quotes")


_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}$")


@check("custom:date_format_list", "official")
def _dates_official(response: OfficialResponse, args: Args) -> str:
    for item in response.text.strip().split(","):
        text = item.strip()
        if not _DATE.match(text):
            return f"{text[:30]!r} is not YYYY-MM-DD"
        year, month, day = map(int, text.split("-"))
        days = 29 if month == 2 else 30 if month in (4, 6, 9, 11) else 31 if month else 99
        if not 1769 <= year <= 1821 or month > 12 or day > days:
            return f"{text} is no date in Napoleon's life"
    return FOLLOWED


# Official: `1800-00-00` is a date.
@check("custom:date_format_list", "fixed")
def _dates_fixed(response: Response, args: Args) -> str:
    for item in response.text.strip().rstrip(".").split(","):
        text = item.strip()
        if not (_DATE.match(text) and text.isascii()):
            return f"{text[:30]!r} is not YYYY-MM-DD"
        try:
            day = date.fromisoformat(text)
        except ValueError:
            return f"{text} is no date"
        if not 1769 <= day.year <= 1821:
            return f"{text} is no date in Napoleon's life"
    return FOLLOWED
