"""Reads an answer's text - LaTeX, plain text or unicode - into a `Node`: tokens first, then a grammar.

`parse(text)` either consumes everything or raises `Problem`; an unread tail is never dropped, because a grader that
stops early pays the first term of a sum for the whole (huggingface/Math-Verify#60, Qwen2.5-Math's parser).

Here is what is done to a text before and around the grammar, which is in `terms` (sums down to brackets) and `clauses`
(lists, labels, relations, conditions). What a number may look like is in `numerals`, units are in `unit_grammar`, texts
without a formula in `prose`, sets of numbers in words in `domains`. One regular expression cuts tokens; structure is
never read by one.
Brackets nested deeper than `_CHUNK_DEPTH` are read innermost first, so the Python stack stays shallow for any input.
"""

from __future__ import annotations

from typing import Final

from rewards.math_equivalence import tree
from rewards.math_equivalence.clauses import SIGN_WORDS, Clauses
from rewards.math_equivalence.domains import domain_of
from rewards.math_equivalence.numerals import han_number
from rewards.math_equivalence.prose import all_words, is_date, phrase, sentence, worded
from rewards.math_equivalence.terms import OPENERS, Prose
from rewards.math_equivalence.tokens import END, Token, fold_unicode, is_word, restore_commands, tokens
from rewards.math_equivalence.tree import MAX_CHARS, MAX_DEPTH, TWO, Node, Problem
from rewards.math_equivalence.vocabulary import AND_WORDS, NOT_ELSEWHERE, OR_WORDS, SAID_ELSEWHERE

_CHUNK_DEPTH: Final = 16


def _flatten_brackets(toks: list[Token], comma: str) -> list[Token]:
    """Drops brackets that only wrap brackets, and reads what lies deeper than `_CHUNK_DEPTH` first.

    One stack, one pass: `((((5))))` becomes `(5)`; a bracket that opens at a multiple of the chunk depth is read when
    it closes, and stands from then on as one token `N`.
    """
    out: list[Token] = []
    stack: list[tuple[int, int]] = []  # where each open bracket stands, and how high what it holds is nested
    for token in toks:
        if token.kind == "o":
            text = token.text
            if text in ("(", "{", "\\{", "["):
                stack.append((len(out), 0))
            elif text in (")", "}", "\\}", "]") and stack:
                start, height = stack.pop()
                opener = out[start].text
                same = OPENERS.get(opener) == text
                wrapped = False
                if same and text in ")}" and start + 1 < len(out):
                    inner = out[start + 1]
                    # the inner pair spans everything between
                    if inner.kind == "o" and inner.text == opener and inner.node is _WRAPS and out[-1].text == text:
                        del out[start]
                        out[start].node = _WRAPS
                        wrapped = True
                if not wrapped:
                    height += 1
                    if same and height >= _CHUNK_DEPTH:
                        out.append(token)
                        node = _read_part(out[start:], comma)
                        first = out[start]
                        del out[start:]
                        out.append(Token("N", "", first.space, node))
                        height = 0
                        wrapped = True
                    elif same and text in ")}":
                        # remember that this pair wraps its whole content: the opener carries the mark
                        out[start] = Token("o", opener, out[start].space, _WRAPS)
                if stack and stack[-1][1] < height:
                    stack[-1] = (stack[-1][0], height)
                if wrapped:
                    continue
        out.append(token)
    if len(stack) > _CHUNK_DEPTH:
        raise Problem("over_limit", "brackets left open too deep")
    for t in out:
        if t.node is _WRAPS:
            t.node = None
    return out


def _read_part(part: list[Token], comma: str) -> Node:
    """One bracket with all it holds."""
    for t in part:
        if t.node is _WRAPS:
            t.node = None
    parser = Clauses(part, comma)
    node = parser.atom()
    if parser.toks[parser.i].kind:
        raise Problem("unreadable", "a bracket that cannot be read")
    if _too_deep(node):
        raise Problem("over_limit", f"deeper than {MAX_DEPTH}")
    return node


_WRAPS: Final = Node("wraps")


def _too_deep(node: Node) -> bool:
    level = [node]
    for _ in range(MAX_DEPTH):
        level = [child for n in level for child in n.args]
        if not level:
            return False
    return True


def _option(toks: list[Token], comma: str) -> Node | None:
    """option := "(" LETTER ")" content? | LETTER (")"|"."|":") content? ; content may be words or mathematics"""
    first = toks[0]
    j = 1
    if first.kind == "o" and first.text in ("(", "["):
        if len(toks) < 3 or toks[2].text not in (")", "]"):
            return None
        letter = toks[1]
        j = 3
        bracketed = True
    else:
        letter = first
        bracketed = False
        if len(toks) < 2:
            return None
        if toks[1].text not in (")", ".", ":"):
            return None
        j = 2
        if (
            toks[1].text == ":"
            and letter.kind == "w"
            and not (
                len(toks) > 2
                and (toks[2].kind == "W" or (toks[2].kind == "w" and (len(toks[2].text) > 1 or toks[2].text in "aAI")))
            )
        ):
            return None  # A:B=1 is a ratio
    if letter.kind not in ("w", "W", "b") or len(letter.text) != 1 or letter.text.upper() not in "ABCDEFGH":
        return None
    rest = toks[j:]
    if not rest or all(t.text == "." for t in rest):
        if not bracketed and toks[1].text != ")":
            return None
        return Node("choice", (), letter.text.upper())
    if bracketed and letter.kind == "w":
        # (a)(b+2), (x)^2: a bracketed letter followed by an operator, a bracket or a comma is algebra
        if rest[0].kind in ("r", ",", "c", "%", "k", "s", "f", "N", "B") and not rest[0].space:
            return None
        if (rest[0].kind == "o" and rest[0].text not in ("-", "±")) or rest[0].kind == ",":
            return None
        if rest[0].kind == "o" and rest[0].text == "-" and letter.text.isupper() and not rest[0].space:
            return None
        if rest[0].kind == "w" and len(rest[0].text) == 1 and not rest[0].space:
            return None
        if rest[0].kind == "o" and len(rest) > 1 and rest[1].space:
            return None  # (a) - b
        if rest[0].kind == "n" and not rest[0].space:
            return None
    if bracketed and rest[0].kind == ",":
        return None
    if rest[0].kind in ("w", "W") and (rest[0].text.lower() in AND_WORDS or rest[0].text.lower() in OR_WORDS):
        return None  # (A) and (B)
    if any(
        rest[n].text in "([/" and len(rest[n + 1].text) == 1 and rest[n + 1].text.isupper() and rest[n + 2].text in ")]"
        for n in range(len(rest) - 2)
    ):
        return None  # (A)(B)
    if not bracketed and toks[1].text == ":" and rest[0].kind == "n":
        return None
    try:
        content = _read(list(rest), comma)
    except (Problem, Prose):
        content = sentence(rest)
    return Node("choice", (content,), letter.text.upper())


def _read(toks: list[Token], comma: str, unit_letters: str = "") -> Node:
    if len(toks) < 12 and is_date(toks):
        return Node("text", (), " ".join(t.text.lower() for t in toks if t.kind in ("w", "W", "n")))
    if all_words(toks):
        words = [t.text.lower() for t in toks if t.kind in ("w", "W")]
        if any(t.text == "-" for t in toks):
            words = " ".join(words).replace("non ", "non-").split()  # non-negative
        if any(t.text == "'" for t in toks):
            words = " ".join(words).replace("doesn t", "doesn't").split()
        special = phrase(words)
        if special is None and words[:1] == ["there"] and _none_exists(words):
            return Node("const", (), "empty")
        if toks[0].kind == "o" and toks[0].text == "-":
            if toks[1].space < 2 and special is None:
                raise Problem("unreadable", "a minus sign before words")
            special = tree.neg(special) if special is not None and special.op in ("num", "const") else None
        if special is not None:
            return special
        copula = next((c for c in (["is"], ["must", "be"]) if words[1 : 1 + len(c)] == c), [])
        told = [words[0], *words[1 + len(copula) :]] if copula else words  # n is odd
        if sorted(told[-2:]) in (["n", "odd"], ["even", "n"]) and told[:-2] in ([], ["all"], ["any"], ["every"]):
            residue = tree.ONE if "odd" in words else tree.ZERO
            return Node("cong", (residue, TWO))
        domain = domain_of(words)
        if len(words) > 2 and words[1] == "is" and len(words[0]) == 1:
            named = domain_of([*words[2:], "numbers"]) if words[-1] in SIGN_WORDS else domain_of(words[2:])
            if named is not None and not named.relation:
                return Node("rel", (Node("sym", (), toks[0].text), named.base), ("in",))  # a is positive
        if domain is None and len(words) > 2 and len(words[-1]) == 1:
            domain = domain_of(words[:-1])  # all real x
            domain = domain._replace(bare=False) if domain is not None else None
        if domain is not None and not domain.relation and not domain.bare:
            return domain.base
        return Node("text", (), " ".join(words))
    if len(toks) == 3 and toks[1].text == "in" and toks[0].kind == toks[2].kind == "n":
        toks[1] = Token("o", "/", 1)  # a chance of 1 in 6
    spaced = _spaced_numbers(toks)
    if spaced is not None:
        return spaced
    try:
        return Clauses(toks, comma, unit_letters).document()
    except Prose:
        while toks and toks[-1] is END:
            toks.pop()
        return sentence(toks)
    except Problem as problem:
        while toks and toks[-1] is END:
            toks.pop()
        if problem.code == "over_limit" or not worded(toks):
            raise
        said = sentence(toks)
        if toks[0].text in ("A", "a", "An", "an") and is_word(toks[1].text):
            return said  # "A bag costs 35 yuan": an article, no letter of a formula
        return Node("text", (), said.value)  # words around formulas: equal to the same words only


_SOUGHT: Final = frozenset(
    "integer integers number numbers solution solutions value values pair pairs triple triples root roots such".split()
)
_EXCEPTIONS: Final = frozenset("other than except but besides apart only more".split())


def _none_exists(words: list[str]) -> bool:
    """ "There are no positive integers n with this property.", without an exception to it."""
    told = words[1:3] in (["are", "no"], ["is", "no"], ["exist", "no"], ["exists", "no"])
    return told and not _SOUGHT.isdisjoint(words[3:6]) and _EXCEPTIONS.isdisjoint(words)


def _spaced_numbers(toks: list[Token]) -> Node | None:
    """`6 4 0`: numbers with nothing but white space between, which is an ordered list; `9 500` is one number."""
    if len(toks) < 2 or any(t.kind != "n" and not (t.kind == "o" and t.text == "-") for t in toks):
        return None
    numbers: list[Node] = []
    minus = False
    groups = True
    for j, token in enumerate(toks):
        if token.kind == "o":
            if minus or (j and not token.space) or j + 1 == len(toks) or toks[j + 1].space:
                return None
            minus = True
            continue
        if j and not minus and token.space < 2:
            return None
        if numbers and (len(token.text.partition(".")[0]) != 3 or minus):
            groups = False
        value = Clauses([], "list").apart([Token("n", token.text)])
        if value is None:
            return None
        numbers.append(tree.neg(value) if minus else value)
        minus = False
    if (
        len(numbers) < 2
        or (groups and len(toks[0].text) <= 3 and toks[0].text != "0")
        or (len(numbers) == 2 and len(toks) == 3)
    ):
        return None
    return Node("seq", tuple(numbers))


_CURRENCY_CODES: Final = {
    "USD": "$", "US": "$", "Rs": "₹", "INR": "₹", "EUR": "€", "GBP": "£", "RMB": "元", "CNY": "元",
}  # fmt: skip


def _money_first(toks: list[Token]) -> None:
    """`USD 50`, `US\\$50`, `Rs. 50`: the code of a currency in front of an amount as its sign."""
    after = 1
    while after < len(toks) and (toks[after].kind == "m" or toks[after].text == "."):
        after += 1
    if after < len(toks) and toks[after].kind == "n":
        toks[:after] = [Token("m", _CURRENCY_CODES[toks[0].text], toks[0].space)]


def _without_numbering(toks: list[Token]) -> list[Token]:
    """`(1) 5; (2) 7` and `a) 5; b) 7` as `5; 7`: the numbers of a question's parts, each once and in order."""
    opened = toks[0].text == "("
    marks: list[int] = []
    for j in range(len(toks) - 1 - opened):
        label = str(len(marks) + 1), "abcdefgh"[min(len(marks), 7)]
        if (
            (toks[j].text == "(" or not opened)
            and toks[j + opened].text in label
            and toks[j + 1 + opened].text == ")"
            and (j == 0 or toks[j - 1].kind in (",", "q") or (opened and toks[j].space == 2))
        ):
            marks.append(j)
    if len(marks) < 2 or marks[0]:
        return toks
    out: list[Token] = []
    for start, stop in zip(marks, [*marks[1:], len(toks)], strict=True):
        part = toks[start + 2 + opened : stop]
        if not part or part[0].kind in (",", "r"):
            return toks
        if out and out[-1].kind not in (",", "q"):
            out.append(Token(",", ";", 2))
        out.extend(part)
    return _trimmed(out)


_OPENINGS: Final = tuple(
    text.split()
    for text in ("the final answer is :", "the final answer is", "the answer is :", "the answer is", "final answer :",
    "answer :", "answer is", "so", "thus", "hence", "therefore")
)  # fmt: skip


_OPENING_WORDS: Final = frozenset(words[0] for words in _OPENINGS)


def _without_opening(toks: list[Token]) -> list[Token]:
    """`The answer is a = 3` as `a = 3`."""
    start = len(toks) > 3 and toks[0].text.lower() == "so" and toks[1].text.lower() == "the"
    for words in _OPENINGS:
        end = start + len(words)
        if end < len(toks) and [t.text.lower() for t in toks[start:end]] == words:
            return _trimmed(toks[end:])
    return toks


def _trimmed(toks: list[Token]) -> list[Token]:
    """Without the punctuation around an answer: a full stop, a comma, a stray backslash."""
    start, end = 0, len(toks)
    commas = 0
    while end and (toks[end - 1].kind in (",", "q") or toks[end - 1].text in (".", "\\", "\\\\", "-->")):
        end -= 1
        commas += toks[end].kind == ","
    if commas > 1 and end:
        raise Problem("unreadable", "a list whose elements are missing")
    while start < end and (toks[start].kind in (",", "q") or toks[start].text in (":", ".")):
        start += 1
    if start == end:
        raise Problem("empty", "nothing is written")
    return toks[start:end]


def _outer_braces(toks: list[Token]) -> int:
    """How many pairs of braces wrap the whole text, as `\\boxed` leaves them; one pass."""
    size = len(toks)
    lead = trail = 0
    while lead < size and toks[lead].text == "{" and toks[lead].kind == "o":
        lead += 1
    while trail < size - lead and toks[-1 - trail].text == "}" and toks[-1 - trail].kind == "o":
        trail += 1
    if not lead or not trail:
        return 0
    depth = lowest = lead
    for token in toks[lead : size - trail]:
        if token.kind == "o":
            depth += (token.text == "{") - (token.text == "}")
            lowest = min(lowest, depth)
    return min(lowest, trail)


def _without_bold(text: str) -> str:
    """`\\boldsymbol{x+1}` as `x+1`: an answer that is bold as a whole."""
    depth = 0
    for at in range(text.index("{"), len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if depth == 0:
            return text[text.index("{") + 1 : -1] if at == len(text) - 1 else text
    return text


def _in_english(text: str) -> str:
    """`Nein`, `解なし`, `四分之三`: what other languages say in words, as `no`, `no solution`, `\\frac{3}{4}`."""
    bare = text.strip(" .!。！$")
    for command in ("\\text{", "\\mathrm{", "\\textbf{"):
        if bare.startswith(command) and bare.endswith("}"):
            bare = bare[len(command) : -1].strip(" .")
    low = bare.lower()
    word, comma, rest = low.partition(",")
    if comma and len(rest.split()) < 4 and rest.replace(" ", "").isalpha() and not NOT_ELSEWHERE & set(rest.split()):
        low = word  # "да, существует"
    if low in SAID_ELSEWHERE:
        return SAID_ELSEWHERE[low]
    for mark in ("分之", "分の"):
        below, found, above = bare.partition(mark)
        if found:
            numbers = han_number(below), han_number(above)
            if None not in numbers and numbers[0]:
                return f"\\frac{{{numbers[1]}}}{{{numbers[0]}}}"
    return text


def parse(text: str, comma: str = "auto", unit_letters: str = "") -> Node:
    """The tree of a text.

    Args:
        text: an answer: LaTeX, plain text or unicode.
        comma: what a comma between digits is: `auto` (thousands before exactly three digits outside brackets, else a
            separator), `thousands`, `list`, or `decimal`.
        unit_letters: whether a lone letter after a number is a unit: `""` never, `spaced` in `3 m`, `tight` in `3m`.

    Raises:
        Problem: `empty`, `unreadable` or `over_limit`.
    """
    if len(text) > MAX_CHARS:
        raise Problem("over_limit", f"longer than {MAX_CHARS} characters")
    while len(text) > 4 and text.startswith("**") and text.endswith("**"):
        text = text[2:-2].strip()  # Markdown's bold
    text = restore_commands(text)
    if text.startswith(("\\boldsymbol{", "\\mathbf{")) and text.endswith("}") and len(text) > text.index("{") + 3:
        text = _without_bold(text)
    if not text.isascii() or len(text) < 24:
        text = _in_english(text)
    if "{:" in text or "{=" in text:
        text = text.replace("{:}", ":").replace("{=}", "=")
    if "+/-" in text:
        text = text.replace("+/-", "\\pm ")
    elif text.startswith("+-"):
        text = "\\pm " + text[2:]
    if "o'clock" in text:
        text = text.replace("o'clock", "oclock")
    if "_" in text and text.replace("_", "").isdigit() and all(len(part) == 3 for part in text.split("_")[1:]):
        text = text.replace("_", "")  # 1_000_000
    if "<sup>" in text or "<sub>" in text:
        for a, b in (("<sup>", "^{"), ("</sup>", "}"), ("<sub>", "_{"), ("</sub>", "}")):
            text = text.replace(a, b)
    if text.startswith("{{") and "*" in text:
        raise Problem("unreadable", "{{ begins a template, no mathematics")
    toks = _trimmed(tokens(fold_unicode(text)))
    if toks[0].kind in ("w", "W") and toks[0].text.lower() in _OPENING_WORDS:
        toks = _without_opening(toks)
    if len(toks) > 2 and toks[0].kind in ("w", "W") and toks[0].text.lower() in ("for", "at"):
        relation = toks[2].kind == "r" and toks[1].kind in ("w", "s")
        if relation or (toks[1].kind == "n" and toks[2].text == ":"):
            toks = toks[1:]  # for n = 4k; at 12:45
    if toks[0].kind in ("w", "W") and toks[0].text in _CURRENCY_CODES:
        _money_first(toks)
    numbered = False
    size = len(toks)
    outer = _outer_braces(toks)
    if outer:
        toks = _trimmed(toks[outer:-outer])
    if len(toks) > 4 and toks[0].kind == "w" and len(toks[0].text) == 1 and toks[1].text == "|":
        toks = [Token("o", "\\{"), *toks, Token("o", "\\}")]  # x|x>2, a set whose braces the box took
    if len(toks) > 5 and ")" in (toks[1].text, toks[2].text) and (toks[0].text == "(") == (toks[2].text == ")"):
        plain = _without_numbering(toks)
        numbered = plain is not toks
        toks = plain
    if [t.text for t in toks].count("|") == 1 and not any(t.text in ("\\{", "(") for t in toks):
        for t in toks:
            if t.text == "|":
                t.kind = "r"  # 5 | n
    brackets = 0
    for token in toks:
        if token.kind == "o" and token.text in ("(", "{", "[", "\\{"):
            brackets += 1
    if brackets > 4:
        toks = _flatten_brackets(toks, comma)
    option = _option(toks, comma)
    if option is not None:
        return option
    node = _read(toks, comma, unit_letters)
    if numbered and node.op == "list":
        node = Node("seq", node.args)  # the parts of a question stand in its order
    if size > MAX_DEPTH and _too_deep(node):
        raise Problem("over_limit", f"deeper than {MAX_DEPTH}")
    if node.op == "list" and not node.args:
        raise Problem("empty", "nothing is written")
    return node
