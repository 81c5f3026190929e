"""Tokens of an answer: LaTeX, plain text and unicode spelt one way.

One regular expression cuts the text into pieces; sizes, styles, spaces and math delimiters are gone afterwards. What
the pieces mean together is the grammar's business (`latex`).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from rewards.math_equivalence.tree import MAX_TOKENS, Node, Problem
from rewards.math_equivalence.vocabulary import (
    AND_WORDS,
    COMMANDS,
    FUNCTIONS,
    OR_WORDS,
    SHORT_WORDS,
    SUBSCRIPTS,
    SUPERSCRIPTS,
    UNICODE,
)

_TOKEN: Final = re.compile(
    r"(?P<space>\s+)|(?P<num>\d+(?:\.\d+)*(?:[eE][+-]?\d+(?!\d|\.\d))?|\.\d+(?:[eE][+-]?\d+)?)|(?P<word>[A-Za-z]+)"
    r"|(?P<cmd>\\[A-Za-z]+\*?)|(?P<esc>\\[^A-Za-z])|(?P<dots>\.\.\.+)|(?P<rel><=|>=|=<|!=|==|->|=>|\*\*|[=<>])|(?P<one>.)",
    re.DOTALL | re.ASCII,
)
_VOWELS: Final = frozenset("aeiouyAEIOUY")
GREEK_WORDS: Final = frozenset(n for n, (k, _) in COMMANDS.items() if k == "s" and len(n) > 1 and n.isalpha())
PLAIN_CONSTS: Final = {"pi": "pi", "infty": "infty", "infinity": "infty", "oo": "infty", "inf": "infty"}
_CURRENCY: Final = {"$": "$", "£": "£", "€": "€", "¥": "¥", "₹": "₹", "₽": "₽", "₩": "₩", "¢": "¢"}
_SUPER: Final = re.compile("[" + "".join(map(chr, SUPERSCRIPTS)) + "]+")
_SUB: Final = re.compile("[" + "".join(map(chr, SUBSCRIPTS)) + "]+")


class Token:
    """One token.

    Kinds: `n` number · `w` letters · `W` letters of `\\text` · `b` bold letters · `s` Greek or unknown symbol ·
    `k` constant · `f` function name · `c` structural command · `o` operator or bracket · `r` relation · `,` separator ·
    `q` wide space · `D` dots · `m` currency sign · `%` · `N` a part already read · `B`/`E` begin/end · empty: the end.
    `space` says what stood before it: 0 nothing, 1 a LaTeX thin space, 2 white space.
    """

    __slots__ = ("kind", "node", "space", "text")

    def __init__(self, kind: str, text: str, space: int = 0, node: Node | None = None) -> None:
        self.kind = kind
        self.text = text
        self.space = space
        self.node = node

    def __repr__(self) -> str:
        return f"{self.kind}{self.text!r}"


END: Final = Token("", "", 2)
ENDS: Final = (END,) * 6


def is_word(run: str) -> bool:
    """Whether a run of letters is a word rather than a product: `cat` is, `xyz` and `abc` are not."""
    low = run.lower()
    if low in SHORT_WORDS or low in AND_WORDS or low in OR_WORDS:
        return len(run) > 2 or not run.isupper()  # NO and IS are lengths in a figure
    size = len(run)
    if size < 3 or size > 40 or low in PLAIN_CONSTS or low in FUNCTIONS or low in GREEK_WORDS:
        return False
    if size in (4, 5) and low[:3] in FUNCTIONS and low[3:] in ("x", "y", "xy", "a", "b", "2x", "ax", "nx"):
        return False  # sinx, tanx
    if size == 3:
        return low[1] in "aeiou" and low[0] not in "aeiouxyz" and low[2] not in "xyz" and run[1:].islower()
    return any(c in _VOWELS for c in run) and len(set(low)) > 2 and not set(low) <= set("abcdxyzwn")


_CONTROL: Final = re.compile(
    "\x0c(?=rac|box)|\t(?=ext|frac|imes|heta|riangle|ilde|herefore)|\x08(?=oxed|eta|inom|egin|ar|igcup|mod)"
    "|\r(?=ight|ho|angle|ceil|floor|brace)|\x0b(?=ec|ert|ee|arnothing)|\x07(?=lpha|ngle|pprox)|\n(?=eq(?![a-z]))"
)
_ESCAPES: Final = {"\x0c": "\\f", "\t": "\\t", "\x08": "\\b", "\r": "\\r", "\x0b": "\\v", "\x07": "\\a", "\n": "\\n"}


def restore_commands(text: str) -> str:
    """`\\frac` whose first two characters became a form feed in a string that was not raw, and its like."""
    if text.isprintable():
        return text
    return _CONTROL.sub(lambda m: _ESCAPES[m.group()], text)


def fold_unicode(text: str) -> str:
    """The text with unicode mathematics spelt in LaTeX and foreign digits as 0-9. Linear."""
    if text.isascii():
        return text
    if _SUPER.search(text):
        text = _SUPER.sub(lambda m: "^{" + m.group().translate(SUPERSCRIPTS) + "}", text)
    if _SUB.search(text):
        text = _SUB.sub(lambda m: "_{" + m.group().translate(SUBSCRIPTS) + "}", text)
    text = text.translate(UNICODE)
    if text.isascii():
        return text
    out = []
    for c in text:
        if c < "\x80":
            out.append(c)
            continue
        digit = unicodedata.decimal(c, None)
        if digit is not None:
            out.append(str(digit))
            continue
        plain = unicodedata.normalize("NFKC", c)
        out.append(plain if plain.isascii() or len(plain) == 1 else c)
    return "".join(out)


def tokens(text: str) -> list[Token]:
    """Tokens of the text. Sizes, styles and math delimiters are gone; `\\text{...}` turns its letters into `W`."""
    out: list[Token] = []
    space = 0
    fonts: list[str] = []  # one entry per open brace: "t" when it belongs to \text, "b" bold, "drop", "" plain
    font = ""  # of the command just read, waiting for its argument
    style = ""  # in force
    dropping = 0
    math_signs = text.count("$") - text.count("\\$")
    money = math_signs % 2 == 1
    in_env = "\\begin" in text
    glued = False  # a negative thin space, as in 1,\!000: white space after it does not part a number
    doubled = in_env and _all_doubled(text)
    relations: tuple[int, int] | None = None
    position, size = 0, len(text)
    match_at = _TOKEN.match
    while position < size:
        m = match_at(text, position)
        assert m is not None
        kind = m.lastgroup
        t = m.group()
        start = position
        position = m.end()
        if kind == "space":
            if not glued:
                space = 2
            continue
        if dropping and t not in ("{", "}"):
            continue
        if kind == "num":
            if font:
                # \frac12 takes one digit; a font command takes one character too: \mathbf12 is not written
                font = ""
            out.append(Token("n", t, space))
        elif kind == "word":
            if t in ("frac", "dfrac", "tfrac") and text.startswith("{", position):
                out.append(Token("c", "frac", space))  # a lost backslash
            elif style == "t" or font == "t":
                out.append(Token("W", t, space))
            elif style == "b" or font == "b":
                out.append(Token("b", t, space))
            elif style == "bb" or font == "bb":
                out.append(_blackboard(t, space))
            else:
                out.append(Token("w", t, space))
            font = ""
        elif kind == "cmd":
            name = t[1:].rstrip("*")
            entry = COMMANDS.get(name)
            if entry is None:
                entry, position = _unknown_command(name, start, position)
            ckind, ctext = entry
            if ckind == "":
                if ctext == "size":
                    position = _skip_null_delimiter(text, position)
                    if name in ("left", "right") and position < size and text[position] == "|":
                        out.append(Token("o", "|(" if name == "left" else "|)", space))
                        position += 1
                        space = 0
                continue
            if ckind == "sp":
                if ctext == "quad":
                    out.append(Token("q", "quad", 2))
                    space = 2
                else:
                    space = max(space, 1)
                continue
            if ckind == "drop1":
                position = _after_argument(text, position)
                continue
            if ckind in ("t", "b", "bb"):
                font = ckind
                space = max(space, 1) if ckind == "t" and out and out[-1].kind == "n" else space
                continue
            if ctext in ("begin", "end"):
                name, position = _environment_name(text, position)
                out.append(Token("B" if ctext == "begin" else "E", name, space))
                if ctext == "begin" and name == "array":
                    position = _after_argument(text, position)
            elif ckind == "k" and ctext.startswith("numset"):
                out.append(Token("k", ctext, space))
            else:
                out.append(Token(ckind, ctext, space))
            font = ""
        elif kind == "esc":
            c = t[1]
            if c == "\\":
                if doubled or not in_env:
                    # a doubled backslash of JSON escaping: \\frac, \\{ ; a row break inside an environment,
                    # and between two equations
                    between = not in_env and text[position : position + 1].isspace()
                    if between and relations is None:
                        relations = _statements(text)
                    if between and relations is not None and relations[0] < start and relations[1] > position:
                        out.append(Token(",", ";", 2))
                        space = 2
                        continue
                    if position < size and (text[position].isalpha() or text[position] in "{}%$,!;: ()[]|#&_\\"):
                        position -= 1
                        if text[position + 1] == "\\":
                            position += 1
                    continue
                out.append(Token("o", "\\\\", space))
            elif in_env and c in "0123456789-":
                out.append(Token("o", "\\\\", space))  # \\6 that lost a backslash: a new row
                position -= 1
            elif c in "{}":
                out.append(Token("o", t, space))
                font = ""
            elif c in ",;:!> /\n\t":
                space = 1 if c == "!" else max(space, 2 if c in " ;:\n\t" else 1)
                glued = c == "!"
                continue
            elif c == "$":
                out.append(Token("m", "$", space))
            elif c == "%":
                out.append(Token("%", "%", space))
            elif c == "|":
                out.append(Token("o", "‖", space))
            elif c in "()[]":
                space = 2
                continue
            elif c in "&#_":
                out.append(Token("o", c, space))
            else:
                out.append(Token("o", t, space))
        elif kind == "dots":
            out.append(Token("D", "...", space))
        elif kind == "rel":
            if t == "**":
                out.append(Token("o", "^", space))
            else:
                out.append(Token("r", {"=<": "<="}.get(t, t), space))
        else:
            if t == "{":
                fonts.append("drop" if dropping else (font or style))
                if dropping:
                    dropping += 1
                    continue
                if font in ("t", "b", "bb"):
                    fonts[-1] = "+" + style
                    style = font
                    font = ""
                    space = max(space, 1)
                    continue
                fonts[-1] = "{" + style
                out.append(Token("o", "{", space))
            elif t == "}":
                if dropping:
                    dropping -= 1
                    continue
                if fonts:
                    mark = fonts.pop()
                    style = mark[1:]
                    if mark[0] == "+":
                        space = max(space, 1)
                        continue
                out.append(Token("o", "}", space))
            elif t == "$":
                if money and position < size and text[position].isdigit():
                    out.append(Token("m", "$", space))
                    money = False
                elif money and text.startswith("{", position):
                    raise Problem("unreadable", "${ begins a template, no mathematics")
                else:
                    space = 2
                    continue
            elif t == "~":
                space = max(space, 1)
                continue
            elif t in ",;":
                out.append(Token(",", t, space))
            elif t == "%":
                out.append(Token("%", "%", space))
            elif t in _CURRENCY:
                out.append(Token("m", t, space))
            elif t == "@" or t in "\x00\x01\x02":
                raise Problem("unreadable", f"character {t!r} is no mathematics")
            elif t == "`" or t == '"':
                continue
            elif t.isalpha():
                end = position
                while end < size and text[end].isalpha() and text[end] > "\x7f":
                    end += 1
                run = text[start:end]
                position = end
                out.append(Token("W", run, space))
            else:
                out.append(Token("o", t, space))
            font = ""
        space = 0
        glued = False
        if len(out) > MAX_TOKENS:
            raise Problem("over_limit", f"more than {MAX_TOKENS} tokens")
    if len(fonts) > 2 and not in_env:
        raise Problem("unreadable" if len(fonts) < 20 else "over_limit", "braces that do not close")
    return out


_RELATING: Final = ("=", "<", ">", "\\in ", "\\in\\", "\\le", "\\ge", "\\ne")


def _statements(text: str) -> tuple[int, int]:
    """Where the first and the last relation of a text stand; none stands before its end."""
    found = [at for sign in _RELATING if (at := text.find(sign)) >= 0]
    return (min(found), max(text.rfind(sign) for sign in _RELATING)) if found else (len(text), -1)


def _all_doubled(text: str) -> bool:
    """Whether every run of backslashes has even length, as after escaping for JSON twice."""
    i, size = text.find("\\"), len(text)
    if i < 0:
        return False
    while i >= 0:
        j = i
        while j < size and text[j] == "\\":
            j += 1
        if (j - i) % 2:
            return False
        i = text.find("\\", j)
    return True


def _unknown_command(name: str, start: int, position: int) -> tuple[tuple[str, str], int]:
    """`\\cotx` is `\\cot x`; a name with no known beginning is a symbol of its own."""
    for size in range(min(len(name) - 1, 18), 1, -1):
        entry = COMMANDS.get(name[:size])
        if entry is not None:
            return entry, start + 1 + size
    return ("s", "\\" + name), position


def _skip_null_delimiter(text: str, position: int) -> int:
    """After `\\left` or `\\right`: a lone `.` stands for no bracket."""
    while position < len(text) and text[position] == " ":
        position += 1
    if position < len(text) and text[position] == "." and not text[position + 1 : position + 2].isdigit():
        return position + 1
    return position


def _after_argument(text: str, position: int) -> int:
    """The position after a `{...}` argument, or where it was."""
    at = position
    while at < len(text) and text[at].isspace():
        at += 1
    if at >= len(text) or text[at] != "{":
        return position
    end = text.find("}", at)
    return len(text) if end < 0 else end + 1


def _environment_name(text: str, position: int) -> tuple[str, int]:
    end = _after_argument(text, position)
    return text[position:end].strip().strip("{}").rstrip("*"), end


def _blackboard(letters: str, space: int) -> Token:
    if letters in ("R", "Z", "N", "Q", "C"):
        return Token("k", "numset:" + letters, space)
    return Token("s", letters, space)
