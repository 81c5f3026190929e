"""When two wordings say the same: articles, a subject in front, a noun behind, a yes or no that is explained.

Words prove little, so the rules are few, and each is about what may be left out. A negation that stands on one side
only always tells the two apart.
"""

from __future__ import annotations

from typing import Final

MAX_WORDS: Final = 24
"""Longest wording that is looked at beyond word-for-word equality."""

_DROPPED: Final = frozenset(
    (
        "th st nd rd the a an of is are that it its in on to be s must angled there monotonically strictly segment we"
    ).split()
)
_SAME: Final = {
    "yes": "true", "no": "false", "correct": "true", "incorrect": "false", "diverges": "divergent",
    "diverge": "divergent", "converges": "convergent", "converge": "convergent", "centre": "center", "grey": "gray",
    "mon": "monday", "tue": "tuesday", "tues": "tuesday", "wed": "wednesday", "thu": "thursday", "thurs": "thursday",
    "fri": "friday", "sat": "saturday", "sun": "sunday", "can't": "cannot", "max": "maximum", "min": "minimum",
}  # fmt: skip
_SPELT: Final = (
    ("not possible", "impossible"), ("can not", "cannot"), ("right - angled", "right"),
    ("the null hypothesis", "h_0"), ("null hypothesis", "h_0"), ("h _ 0", "h_0"),
    ("if and only if", "iff"), ("does not converge", "diverges"), ("do not converge", "diverge"),
    ("does not diverge", "converges"), ("goes up", "increases"), ("goes down", "decreases"),
    ("is unchanged", "unchanged"), ("stays the same", "unchanged"), ("remains the same", "unchanged"),
    ("does not change", "unchanged"), ("meet in one point", "concurrent"), ("meet at one point", "concurrent"),
    ("meet in a point", "concurrent"), ("meet at a point", "concurrent"), ("pass through one point", "concurrent"),
    ("pass through a common point", "concurrent"), ("has a winning strategy", "wins"), ("can always win", "wins"),
    ("wins with optimal play", "wins"), ("can force a win", "wins"), ("always wins", "wins"),
    ("north - ", "north"), ("south - ", "south"),
)  # fmt: skip
"""What is spelt in two words or more, and the one word for it."""
_COPULAS: Final = frozenset(("is", "are", "was", "were"))
_KINDS: Final = frozenset(
    "function functions triangle number numbers sequence series integral limit line lines curve graph equation "
    "quadrilateral polygon statement shape figure conic condition player".split()
)
"""What an adjective may be said of, or not: "odd function", "isosceles triangle"."""
_PROPERTIES: Final = _KINDS | frozenset(
    "isosceles right equilateral scalene acute obtuse convergent divergent absolutely conditionally uniformly linearly "
    "independent dependent continuous differentiable increasing decreasing odd even periodic bounded monotonic "
    "monotone positive negative definite symmetric injective surjective bijective regular prime composite".split()
)
"""Words of which several may be said in any order."""
_QUANTIFIERS: Final = frozenset(("all", "every", "any", "each"))
_DEMANDED: Final = frozenset(
    ("will", "wins", "win", "won", "receives", "gets", "loses", "starts", "has", "can", "should")
)
"""Verbs behind a name that was asked for: "Petya will receive the last token" answers "who"."""
_DOUBTS: Final = frozenset("unless possibly perhaps else wrong might could probably sometimes otherwise".split())
_WINS: Final = frozenset(("wins", "win", "won"))
_NEGATIONS: Final = frozenset(
    "not no never none neither nor cannot can't without except but isn't aren't doesn't don't won't non un".split()
)
_MONTHS: Final = frozenset(
    "january february march april may june july august september october november december".split()
)
_CODE: Final = frozenset(
    "select drop table insert delete update print printf echo return eval exec import def lambda class function script "
    "sudo rm system assert raise while typeof null none nan undefined".split()
)


_TAKEN_BACK: Final = frozenset(
    "but isn aren wasn doesn didn don won ain hardly wrong incorrect false other anything different besides instead "
    "rather unlike".split()
)


def no_statement(words: list[str]) -> bool:
    """Whether the words beside a number take it back ("anything but 5") or command a machine (`SELECT 5`)."""
    return any(word in _CODE or word in _TAKEN_BACK for word in words)


def same_words(gold: str, answer: str) -> bool:
    """Whether two wordings, lower case and without marks, say the same."""
    if gold == answer or gold.replace(" ", "") == answer.replace(" ", ""):
        return True
    if gold[-1:] > "\u3000" and gold.removesuffix("条件") == answer.removesuffix("条件"):
        return True
    g, a = _plain(gold), _plain(answer)
    if _core(g) == _core(a) != []:
        return True
    if len(g) > MAX_WORDS or len(a) > MAX_WORDS or not g or not a:
        return False
    for whole, part in ((g, a), (a, g)):
        if len(part) == 1 and part[0] in ("yes", "no", "true", "false"):
            return answers_yes_or_no(whole) == _SAME.get(part[0], part[0])
    if _quadrant(g) is not None and _quadrant(g) == _quadrant(a):
        return True
    for whole, part in ((g, a), (a, g)):
        if whole[0] in ("yes", "no") and len(whole) > 1 and part[0] not in ("yes", "no"):
            rest = whole[2:] if whole[1] == "it" else whole[1:]
            if rest and same_words(" ".join(rest), " ".join(part)):
                return True  # "yes, it converges"
        if part == ["neither"] and whole[0] == "neither" and not any(w == "or" or w.isdigit() for w in whole):
            return True
    if _negated(g) != _negated(a):
        return False
    if _MONTHS & set(g) and sorted(_core(g)) == sorted(_core(a)):
        return True  # 4 July
    x, y = _bare(g), _bare(a)
    if x and x == y:
        return True
    if sorted(x) == sorted(y) and all(w in _PROPERTIES or w + "s" in _PROPERTIES for w in x):
        return True  # right isosceles triangle, converges absolutely
    for whole, part in ((g, a), (a, g)):
        said = _complement(whole)
        if said and _complement(part) is None and said == _bare(part):
            return True
    if a[: len(g)] == g and len(g) == 1 and (" ".join(a[1:]) in _WINS or _compares(a[1:])):
        return True  # "Alice wins" to the question who wins
    subject = _core(a)
    return 0 < len(subject) <= 3 and any(
        _core(g[:n]) == subject and (_acts(g[n]) or _compares(g[n:]))
        for n in range(len(subject), min(len(g), len(subject) + 4))
    )


def _plain(text: str) -> list[str]:
    """The words, with what is spelt in two words put into one."""
    for spelt, one in _SPELT:
        text = text.replace(spelt, one)
    return text.split()


def answers_yes_or_no(words: list[str]) -> str | None:
    """What "yes, it is possible" (true) and "no, there is none" (false) say; None for other wordings and for both."""
    if not words or words[0] not in ("yes", "no") or "or" in words or "maybe" in words:
        return None
    if len(words) > 1 and not words[1][0].isalnum():
        return None
    if any(word in _DOUBTS or (word in _CODE and word != "none") for word in words):
        return None
    if ("no" if words[0] == "yes" else "yes") in words[1:3]:
        return None
    return _SAME[words[0]]


def told_of(words: list[str]) -> str | None:
    """What a sentence says of its subject, as it stands: "undefined" of "the expression is undefined"."""
    for at, word in enumerate(words[:6]):
        if word in _COPULAS and at and 0 < len(words) - at - 1 <= 4 and not _negated(words):
            return " ".join(words[at + 1 :])
    return None


_ORDINALS: Final = {
    word: n
    for n, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), 1
    )
}


def possible(text: str) -> str | None:
    """What "it is not possible" answers to a question for yes or no; None for other words."""
    bare = text.removeprefix("it is ").removeprefix("it's ").removeprefix("this is ")
    if bare in ("not possible", "impossible", "cannot be done", "cannot", "it cannot", "no it cannot"):
        return "false"
    return "true" if bare in ("possible", "it can", "can", "it exists", "exists") else None


def ordinal(word: str) -> int | None:
    """3 of "third"; None for other words."""
    return _ORDINALS.get(word)


def _quadrant(words: list[str]) -> int | None:
    """The number of "second quadrant" and "Quadrant II"; None for other words."""
    rest = [w for w in words if w not in ("quadrant", "the", "in", "is", "nd", "st", "rd", "th")]
    if len(rest) != 1 or ("quadrant" not in words and (words != rest or rest[0] not in ("i", "ii", "iii", "iv"))):
        return None
    (word,) = rest  # "III" alone too
    known = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "1": 1, "2": 2, "3": 3, "4": 4, "one": 1, "two": 2, "three": 3}
    return known.get(word, _ORDINALS.get(word))


def _core(words: list[str]) -> list[str]:
    # "Box A" ends in a name, no article
    return [_SAME.get(w, w) for w in words if w not in _DROPPED] + (["a"] if words[-1:] == ["a"] else [])


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _bare(words: list[str]) -> list[str]:
    """The words that carry the meaning: no articles, no "all", no noun that only says what the adjective is said of."""
    core = [_stem(w) for w in _core(words) if w not in _QUANTIFIERS and w != "and"]
    slim = [w for w in core if w not in _KINDS and w + "s" not in _KINDS]
    return slim or core


def _complement(words: list[str]) -> list[str] | None:
    """What "the function is increasing" says of its subject; "the series diverges" too. None without a subject."""
    copulas = [at for at, word in enumerate(words) if word in _COPULAS]
    reach = len(words) if len(copulas) == 1 else 6  # a long subject: "the function f(x+1) - 1 is odd"
    for at, word in enumerate(words[:reach]):
        if (word in _COPULAS or (word == "be" and words[at - 1] == "will")) and at and at + 1 < len(words):
            return _bare(words[at + 1 :])
    if 1 < len(words) <= 4 and words[0] == "the" and words[-1] in _SAME and words[1] in _KINDS:
        return _core(words[-1:])
    return None


def _negated(words: list[str]) -> bool:
    return any(w in _NEGATIONS for w in words)


def _compares(words: list[str]) -> bool:
    """`is taller`, `has more`: what the question "who is taller" asks for."""
    return (
        len(words) > 1
        and words[0] in ("is", "are", "has", "was", "have", "contains", "holds", "needs", "weighs", "costs", "earns")
        and (
            words[1] in ("more", "less", "older", "younger", "better")
            or (len(words[1]) > 4 and words[1].endswith("er"))
        )
    )


def _acts(word: str) -> bool:
    return word in _DEMANDED or (word.endswith("ed") and len(word) > 4)


__all__ = ["answers_yes_or_no", "no_statement", "same_words"]
