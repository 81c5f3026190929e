"""How much of a completion is written in the language that was asked for.

Words are compared by script first, which is certain and cheap: Chinese characters in an English answer are foreign
whatever an identifier thinks. Words in a script that the language shares with others go to py3langid, in stretches
of about 60 letters, since shorter ones cannot be told apart: on English solutions of maths problems it names another
language for 1.1% of 40-letter stretches and 0.3% of 60-letter ones (tests/benchmarks/format_and_length.py).
py3langid was chosen by measurement: it ships its model, is deterministic and takes 0.03 ms for a stretch and 0.1 GB,
where lingua takes 0.9 ms and 1.2 GB for the same accuracy there (and 0.2 ms at a far lower one).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from pydantic import Field, model_validator

from rewards.format_checks import answer_start, fences
from rewards.registry import Params, Verifier, nearest, register
from rewards.verdict import Sample, Verdict

STRETCH_LETTERS: Final = 60
"""A stretch is identified once it has this many letters."""
SHORTEST_STRETCH: Final = 20
"""A remainder below this is taken for what its script allows."""
LONGEST_STRETCH: Final = 200
LONGEST_WORD: Final = 60
MARGIN: Final = 5.0
"""Another language must beat the target by this much (natural log units) before a stretch counts as foreign."""
MAX_FORMULA_CHARS: Final = 2000

_LATIN: Final = (
    "A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff\ua720-\ua7ff\uff21-\uff3a\uff41-\uff5a"
)
_RANGES: Final = {
    "latin": _LATIN,
    "han": "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    "kana": "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f",
    "hangul": "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af",
    "cyrillic": "\u0400-\u052f\u1c80-\u1c8f\u2de0-\u2dff",
    "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "arabic": "\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufeff",
    "hebrew": "\u0590-\u05ff",
    "devanagari": "\u0900-\u097f",
    "bengali": "\u0980-\u09ff",
    "gurmukhi": "\u0a00-\u0a7f",
    "gujarati": "\u0a80-\u0aff",
    "oriya": "\u0b00-\u0b7f",
    "tamil": "\u0b80-\u0bff",
    "telugu": "\u0c00-\u0c7f",
    "kannada": "\u0c80-\u0cff",
    "malayalam": "\u0d00-\u0d7f",
    "sinhala": "\u0d80-\u0dff",
    "thai": "\u0e00-\u0e7f",
    "lao": "\u0e80-\u0eff",
    "tibetan": "\u0f00-\u0fff",
    "burmese": "\u1000-\u109f",
    "georgian": "\u10a0-\u10ff",
    "ethiopic": "\u1200-\u139f",
    "khmer": "\u1780-\u17ff",
    "armenian": "\u0530-\u058f",
}
_UNSPACED: Final = frozenset({"han", "kana", "thai", "lao", "tibetan", "burmese", "khmer"})
_RUN: Final = re.compile("|".join(f"(?P<{name}>[{span}]+)" for name, span in _RANGES.items()))

# Languages that are not written in Latin letters.
_SCRIPTS: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(scripts.split("+"))
    for scripts, languages in {
        "han": "zh yue wuu",
        "han+kana": "ja",
        "hangul+han": "ko",
        "cyrillic": "ru uk be bg mk mn kk ky tg tt ba",
        "cyrillic+latin": "sr",
        "greek": "el grc",
        "arabic": "ar ary arz fa ps ur ug sdh",
        "hebrew": "he hbo",
        "devanagari": "hi mr ne sa",
        "bengali": "bn as",
        "gurmukhi": "pa",
        "gujarati": "gu",
        "oriya": "or",
        "tamil": "ta",
        "telugu": "te",
        "kannada": "kn",
        "malayalam": "ml",
        "sinhala": "si",
        "thai": "th",
        "lao": "lo",
        "tibetan": "dz",
        "burmese": "my",
        "georgian": "ka",
        "ethiopic": "am",
        "khmer": "km",
        "armenian": "hy",
    }.items()
    for language in languages.split()
}
_LATIN_ONLY: Final = frozenset({"latin"})
# Scripts of which one language alone (of those the model knows) makes use: the script decides.
_DECISIVE: Final = frozenset(
    script
    for script in _RANGES
    if sum(script in scripts for scripts in _SCRIPTS.values()) == 1 and script not in ("latin", "kana", "hebrew")
)
# What an identifier cannot part, and a reader does not mind.
_SAME: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(group)
    for group in (
        {"no", "nn"}, {"hr", "bs", "sr"}, {"id", "ms"}, {"zh", "yue", "wuu"}, {"ar", "ary", "arz"}, {"he", "hbo"},
        {"el", "grc"}, {"hi", "mr", "ne", "sa"}, {"gl", "pt"}, {"en", "pcm"},
    )
    for language in group
}  # fmt: skip


# ---------------------------------------------------------------- prose: what is left without code and formulas

_NOT_PROSE: Final = re.compile(
    r"`[^`\n]{1,400}`"  # inline code
    r"|https?://[^\s<>]{1,2000}|www\.[^\s<>]{1,2000}"
    r"|</?[A-Za-z_][\w.-]{0,40}>|<\|[A-Za-z_]{1,40}\|>"  # tags, special tokens
    r"|\\[A-Za-z]{1,40}"  # LaTeX commands
    r"|(?<!\w)\w*[\d_]\w*"  # identifiers and numbers; from the start of a word only, or a long one costs its square
)
_FORMULAS: Final = (("$$", "$$"), ("\\(", "\\)"), ("\\[", "\\]"), ("$", "$"))
_TEXT_IN_FORMULA: Final = re.compile(r"\\(?:text|mbox|textbf|textrm|textit)\s?\{([^{}]{0,2000})\}")
_OPENING: Final = re.compile(r"\$\$|\$|\\\(|\\\[")
_SENTENCE_END: Final = re.compile(r"[\n.!?;:。！？；：।]+")


def prose(text: str) -> str:
    """`text` without code blocks, inline code, formulas, links, tags, identifiers and numbers.

    Words in a formula's `\\text{...}` stay: else foreign prose could hide there.
    """
    out: list[str] = []
    at = 0
    for fence in fences(text):
        out.append(text[at : fence.start])
        at = fence.end
    out.append(text[at:])
    return _NOT_PROSE.sub(" ", "".join(_without_formulas("".join(out))))


def _without_formulas(text: str) -> Iterator[str]:
    closers: dict[str, int] = {}  # where the next closer of each kind stands: every closer is looked for once
    at = 0
    for opening in _OPENING.finditer(text):
        start = opening.start()
        if start < at:
            continue
        closer = {"\\(": "\\)", "\\[": "\\]"}.get(opening.group(), opening.group())
        inside = opening.end()
        found = closers.get(closer, -1)
        if found != len(text) and found < inside:
            found = text.find(closer, inside)
            closers[closer] = found = len(text) if found < 0 else found
        if found == len(text) or found - inside > MAX_FORMULA_CHARS:
            continue
        formula = text[inside:found]
        if opening.group() == "$" and "\n\n" in formula:
            continue  # two amounts of money in two paragraphs
        yield text[at:start]
        yield " " + " ".join(_TEXT_IN_FORMULA.findall(formula)) + " "
        at = found + len(closer)
    yield text[at:]


# ---------------------------------------------------------------- words and their language


@functools.lru_cache(maxsize=1)
def _identifier() -> Any:
    """py3langid's identifier of our own: the one in its module can be narrowed by anybody.

    Raises:
        ImportError: py3langid is not installed; says what to type.
    """
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ImportError:
        raise ImportError("the language verifier needs py3langid. Type: pip install 'grpo-rewards[language]'") from None
    if not hasattr(LanguageIdentifier, "from_model_file"):
        raise ImportError(
            "the language verifier needs py3langid 0.4 or later (its model decides the verdicts); an older one is "
            "installed. Type: pip install 'grpo-rewards[language]'"
        )
    return LanguageIdentifier.from_model_file(MODEL_FILE)


@dataclass(slots=True)
class Count:
    """Words of the target language and of others."""

    target: float = 0.0
    foreign: float = 0.0

    @property
    def total(self) -> float:
        return self.target + self.foreign


class _Counter:
    """Counts the words of a text, stretch by stretch."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.same = _SAME.get(language, frozenset({language}))
        self.scripts = _SCRIPTS.get(language, _LATIN_ONLY)
        self.count = Count()
        self.stretch: dict[str, None] = {}
        self.letters = 0
        self.words = 0.0
        self.last_is_target = True

    def text(self, text: str) -> Count:
        for sentence in _SENTENCE_END.split(text):
            for run in _RUN.finditer(sentence):
                script, word = str(run.lastgroup), run.group()
                if script in _UNSPACED:
                    for at in range(0, len(word), STRETCH_LETTERS):
                        self.run(script, word[at : at + STRETCH_LETTERS])
                elif len(word) <= LONGEST_WORD:  # a longer run is no word of any language
                    self.run(script, word)
                if self.letters >= LONGEST_STRETCH:
                    self.flush()
            if self.letters >= STRETCH_LETTERS:
                self.flush()
        self.flush()
        return self.count

    def run(self, script: str, word: str) -> None:
        # A run of n characters in a script without spaces is about n / 2 words.
        weight = (len(word) + 1) // 2 if script in _UNSPACED else 1
        if script not in self.scripts:
            # Variables, and among foreign letters names and terms ("Python", "API"), are not words.
            if (len(word) > 1 or script in _UNSPACED) and (script != "latin" or word.islower()):
                self.count.foreign += weight
        elif script in _DECISIVE:
            self.count.target += weight
        elif len(word) > 1 or script in _UNSPACED:
            self.words += weight
            # A word says no more by standing there again: "Answer: False." fifty times over is no evidence.
            if word not in self.stretch:
                self.stretch[word] = None
                # One character of an unspaced script says as much as three letters.
                self.letters += len(word) * (3 if script in _UNSPACED else 1)

    def flush(self) -> None:
        if not self.stretch:
            return
        if self.letters >= SHORTEST_STRETCH:
            self.last_is_target = self.is_target(" ".join(self.stretch))
        if self.last_is_target:
            self.count.target += self.words
        else:
            self.count.foreign += self.words
        self.stretch, self.letters, self.words = {}, 0, 0.0

    def is_target(self, stretch: str) -> bool:
        ranking = _identifier().rank(stretch)
        best = ranking[0][1]
        return any(best - score <= MARGIN for language, score in ranking if language in self.same)


def count_words(text: str, language: str) -> Count:
    """The words of `text`, code and formulas apart, that are of `language` and that are not."""
    return _Counter(language).text(prose(text))


def languages() -> list[str]:
    """The ISO 639-1 (and a few 639-3) codes that can be asked for."""
    return sorted(set(_identifier().nb_classes) - {"zxx"})


class LanguageParams(Params):
    """Parameters of `language`."""

    language: str = "en"
    """ISO 639-1 code such as `en`, `zh`, `de`; or `row`: each row says its own in `meta["language"]`."""
    part: Literal["all", "reasoning", "answer"] = "all"
    """Which part is judged: everything, up to the end of the reasoning, or what follows it."""
    min_words: int = Field(default=8, ge=1)
    """Texts with fewer words are `skipped`: nothing can be said of them."""

    @model_validator(mode="after")
    def _known(self) -> LanguageParams:
        if self.language != "row" and self.language not in languages():
            raise ValueError(f"no language {self.language!r}{nearest(self.language, languages())}")
        return self


@register("language")
class LanguageConsistency(Verifier[LanguageParams]):
    """The share of words that are in the target language, from 0 to 1; `skipped` for texts of a few words.

    Code, formulas, links, digits, identifiers and one-letter variables are not words, and neither are capitalised
    Latin names in a text of another script. Single foreign words in the same script are beyond any identifier: what
    is found is stretches of about a sentence. Norwegian and Nynorsk, Croatian, Bosnian and Serbian, Indonesian and
    Malay count as one.
    """

    reasons: ClassVar[Mapping[str, str]] = {
        "too_short": "too few words to say",
        "mixed": "some words are in another language",
        "bad_language": "the row's language is unknown",
    }
    source = "DeepSeek-R1 (arXiv 2501.12948) section 2.3.2, language consistency: share of target-language words"
    example: ClassVar[Mapping[str, Any]] = {
        "completion": "We add the two numbers first and then take away three, which leaves twelve apples.",
    }

    def verify(self, sample: Sample) -> Verdict:
        p = self.params
        language = p.language
        if language == "row":
            language = sample.meta.get("language", "")
            if language not in languages():
                return Verdict.invalid(
                    "bad_language", f"meta['language'] is {language!r}; allowed: an ISO 639-1 code such as 'en'"
                )
        text = sample.text
        if p.part != "all":
            at = answer_start(text)
            text = text[at:] if p.part == "answer" else text[:at]
        count = count_words(text, language)
        if count.total < p.min_words:
            return Verdict.skipped("too_short", f"{count.total:g} words; at least {p.min_words} are needed")
        share = count.target / count.total
        detail = f"{count.target:g} of {count.total:g} words are {language}"
        return Verdict.scored(share, "ok" if count.foreign == 0 else "mixed", detail)
