"""Names the grammar knows: LaTeX commands, unicode signs, functions, words that are answers.

A command maps to (kind, text) of the token it becomes. Kinds are described in `latex.tokens`.
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


_GREEK: Final = sorted(
    _words(
        "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa varkappa lambda mu nu xi omicron "
        "rho varrho sigma varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon "
        "Phi Psi Omega ell hbar imath jmath wp aleph mho partial nabla Re Im star dagger"
    )
)

FUNCTIONS: Final = _words(
    "sin cos tan cot sec csc sinh cosh tanh coth sech csch arcsin arccos arctan arccot arcsec arccsc arcsinh "
    "arccosh arctanh asin acos atan asinh acosh atanh ln log lg exp sqrt cbrt gcd lcm max min sgn sign det "
    "arg abs floor ceil cis tg ctg cotg cosec arctg arcctg sh ch th lcd arsinh arcosh artanh"
)
FUNCTION_NAMES: Final = {
    "tg": "tan", "ctg": "cot", "cotg": "cot", "cosec": "csc", "arctg": "arctan", "arcctg": "arccot", "sh": "sinh",
    "ch": "cosh", "th": "tanh", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh",
    "acosh": "arccosh", "atanh": "arctanh", "sign": "sgn", "arsinh": "arcsinh", "arcosh": "arccosh",
    "artanh": "arctanh",
}  # fmt: skip
"""Other spellings of a function."""

COMMANDS: dict[str, tuple[str, str]] = {}


def _put(kind: str, names: str, text: str | None = None) -> None:
    for name in names.split():
        COMMANDS[name] = (kind, name if text is None else text)


for _name in _GREEK:
    COMMANDS[_name] = ("s", _name.replace("var", ""))
_put("f", " ".join(sorted(FUNCTIONS - {"sqrt"})))
_put("k", "pi")
_put("k", "infty infin infinity", "infty")
_put("k", "emptyset varnothing", "empty")
_put("c", "frac dfrac tfrac cfrac nicefrac sfrac", "frac")
_put("c", "sqrt")
_put("s", "complement Pr")
_put("w", "top", "T")
_put("c", "surd", "sqrt")
_put("c", "binom dbinom tbinom", "binom")
_put("c", "over choose atop stackrel overset underset pmod bmod mod pod overline bar underline vec hat widehat")
_put("c", "tilde widetilde dot ddot overrightarrow overleftrightarrow wideparen overparen")
_put("c", "sum prod int iint iiint oint lim limsup liminf bigcup bigcap begin end")
_put("o", "cdot times ast bullet", "*")
_put("o", "div", "/")
_put("o", "pm", "±")
_put("o", "mp", "∓")
_put("o", "cup bigsqcup sqcup cupdot uplus", "∪")
_put("o", "cap", "∩")
_put("o", "setminus backslash smallsetminus", "∖")
_put("o", "mid vert", "|")
_put("o", "Vert parallel lVert rVert", "‖")
_put("o", "lvert", "|(")
_put("o", "rvert", "|)")
_put("o", "lfloor", "⌊")
_put("o", "rfloor", "⌋")
_put("o", "lceil", "⌈")
_put("o", "rceil", "⌉")
_put("o", "langle", "⟨")
_put("o", "rangle", "⟩")
_put("o", "lbrack", "[")
_put("o", "rbrack", "]")
_put("o", "lbrace", "\\{")
_put("o", "rbrace", "\\}")
_put("o", "lparen", "(")
_put("o", "rparen", ")")
_put("o", "colon", ":")
_put("o", "prime", "'")
_put("o", "circ degree textdegree", "°")
_put("o", "forall exists neg lnot land wedge lor vee oplus otimes perp cong triangle angle measuredangle square")
_put("o", "vartriangle therefore because")
_put("D", "ldots cdots dots dotsc dotsb dotsm dotsi dotso vdots ddots hdots", "...")
_put("r", "le leq leqslant leqq leslant", "<=")
_put("r", "ge geq geqslant geqq geslant", ">=")
_put("r", "lt", "<")
_put("r", "gt", ">")
_put("r", "ne neq not=", "!=")
_put("r", "approx simeq approxeq thickapprox doteq fallingdotseq risingdotseq", "≈")
_put("r", "equiv", "≡")
_put("r", "sim", "~")
_put("r", "in isin", "in")
_put("r", "notin", "notin")
_put("r", "subset subseteq subsetneq supset supseteq supsetneq ni", "⊂")
_put("r", "to rightarrow longrightarrow mapsto leftarrow", "->")
_put("r", "Rightarrow implies Longrightarrow Leftrightarrow iff Longleftrightarrow leftrightarrow", "=>")
_put("r", "mathrel", "=")
_put("r", "coloneqq triangleq", "=")
_put("t", "text textrm textnormal textbf textit textsf texttt textsc textup mbox hbox emph mathrm mathsf mathtt")
_put("t", "mathit operatorname mathop bf rm")
_put("b", "mathbf boldsymbol bm pmb")
_put("bb", "mathbb mathcal mathscr mathfrak Bbb")
_put("k", "Z", "numset:Z")
_put("k", "R", "numset:R")
_put("k", "N", "numset:N")
_put("k", "Q", "numset:Q")
_put("", "left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm Bigm", "size")
_put("", "displaystyle textstyle scriptstyle scriptscriptstyle limits nolimits boxed fbox it sf tt large Large LARGE")
_put("", "huge Huge small tiny normalsize nonumber notag hline cline strut mathstrut null relax ensuremath")
_put("", "blacksquare qed qedsymbol checkmark Box noindent centering smallskip medskip bigskip par newline bfseries")
_put("", "mathopen mathclose mathord mathbin mathpunct mathinner protect itshape normalfont rmfamily upshape")
_put("", "underbrace overbrace cancel bcancel xcancel hfill hfil vspace")
_put("drop1", "color textcolor tag label phantom hphantom vphantom hspace vspace")
_put("sp", "quad qquad enspace enskip", "quad")
_put("sp", "thinspace negthinspace medspace thickspace space", "thin")
_put("m", "textdollar", "$")
_put("m", "pounds textsterling", "£")
_put("m", "euro texteuro", "€")
_put("m", "yen textyen", "¥")
_put("%", "percent textpercent", "%")

UNICODE: Final[dict[int, str]] = {
    ord(a): b
    for a, b in {
        "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "﹣": "-", "－": "-", "＋": "+", "×": r"\times ",
        "✕": r"\times ", "⋅": r"\cdot ", "·": r"\cdot ", "∙": r"\cdot ", "•": r"\cdot ", "∗": "*", "＊": "*",
        "÷": r"\div ", "∕": "/", "⁄": "/", "／": "/", "＝": "=", "＜": "<", "＞": ">", "≤": r"\le ", "≥": r"\ge ",
        "⩽": r"\le ", "⩾": r"\ge ", "≦": r"\le ", "≧": r"\ge ", "≠": r"\ne ", "≈": r"\approx ", "≃": r"\approx ",
        "≅": r"\cong ", "≡": r"\equiv ", "∼": r"\sim ", "±": r"\pm ", "∓": r"\mp ", "√": r"\sqrt ", "∛": r"\sqrt[3]",
        "∜": r"\sqrt[4]", "∞": r"\infty ", "∅": r"\emptyset ", "Ø": r"\emptyset ", "∪": r"\cup ", "∩": r"\cap ",
        "∖": r"\setminus ", "∈": r"\in ", "∉": r"\notin ", "⊂": r"\subset ", "⊆": r"\subseteq ", "∀": r"\forall ",
        "∃": r"\exists ", "∧": r"\wedge ", "∨": r"\vee ", "⇒": r"\Rightarrow ", "⇔": r"\iff ", "→": r"\to ",
        "∑": r"\sum ", "∏": r"\prod ", "∫": r"\int ", "∂": r"\partial ", "∇": r"\nabla ", "∠": r"\angle ",
        "△": r"\triangle ", "°": r"^{\circ}", "º": r"^{\circ}", "˚": r"^{\circ}", "′": "'", "’": "'",
        "‘": "'", "ʹ": "'", "″": "''", "“": '"', "”": '"', "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ",
        "⌉": r"\rceil ", "⟨": r"\langle ", "⟩": r"\rangle ", "〈": r"\langle ", "〉": r"\rangle ", "（": "(", "）": ")",
        "［": "[", "］": "]", "【": "[", "】": "]", "｛": "{", "｝": "}", "，": ",", "、": ",", "；": ";", "：": ":",
        "∶": ":", "。": ".", "．": ".", "！": "!", "？": "?", "％": "%", "﹪": "%", "٪": "%", "٫": ".", "٬": ",",
        "＄": r"\$", "～": "~", "…": r"\ldots ", "⋯": r"\cdots ", "｜": "|", "∣": "|", "∥": r"\Vert ",
        "ℝ": r"\mathbb{R}",
        "ℤ": r"\mathbb{Z}", "ℕ": r"\mathbb{N}", "ℚ": r"\mathbb{Q}", "ℂ": r"\mathbb{C}", "ℓ": r"\ell ", "ℏ": r"\hbar ",
        "α": r"\alpha ", "β": r"\beta ", "γ": r"\gamma ", "δ": r"\delta ", "ε": r"\epsilon ", "ϵ": r"\epsilon ",
        "ζ": r"\zeta ", "η": r"\eta ", "θ": r"\theta ", "ϑ": r"\theta ", "ι": r"\iota ", "κ": r"\kappa ",
        "λ": r"\lambda ", "μ": r"\mu ", "µ": r"\mu ", "ν": r"\nu ", "ξ": r"\xi ", "π": r"\pi ", "𝜋": r"\pi ",
        "ρ": r"\rho ", "σ": r"\sigma ", "τ": r"\tau ", "υ": r"\upsilon ", "φ": r"\phi ", "ϕ": r"\phi ", "χ": r"\chi ",
        "ψ": r"\psi ", "ω": r"\omega ", "Γ": r"\Gamma ", "Δ": r"\Delta ", "∆": r"\Delta ", "Θ": r"\Theta ",
        "Λ": r"\Lambda ", "Ξ": r"\Xi ", "Π": r"\Pi ", "Σ": r"\Sigma ", "Φ": r"\Phi ", "Ψ": r"\Psi ", "Ω": r"\Omega ",
        "℃": r"^{\circ}\mathrm{C}", "℉": r"^{\circ}\mathrm{F}", "％ ": "%", "‰": r"\text{permille}",
        "㎝": r"\text{cm}", "㎜": r"\text{mm}", "㎞": r"\text{km}", "㎏": r"\text{kg}", "㎡": r"\text{m}^{2}",
        "㎥": r"\text{m}^{3}", "㎠": r"\text{cm}^{2}", "㎤": r"\text{cm}^{3}",
        "\u00a0": " ", "\u2002": " ", "\u2003": " ", "\u2004": " ", "\u2005": " ", "\u2007": " ", "\u2008": " ",
        "\u2009": " ", "\u200a": " ", "\u202f": " ", "\u205f": " ", "\u3000": " ", "\u200b": "", "\u200c": "",
        "\u200d": "", "\u2060": "", "\u2061": "", "\u2062": "", "\u2063": ",", "\u2064": "+", "\ufeff": "",
        "\u00ad": "", "\u200e": "", "\u200f": "", "\u202a": "", "\u202c": "", "½": r"\frac{1}{2}", "⅓": r"\frac{1}{3}",
        "⅔": r"\frac{2}{3}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}", "⅕": r"\frac{1}{5}", "⅖": r"\frac{2}{5}",
        "⅗": r"\frac{3}{5}", "⅘": r"\frac{4}{5}", "⅙": r"\frac{1}{6}", "⅚": r"\frac{5}{6}", "⅐": r"\frac{1}{7}",
        "⅛": r"\frac{1}{8}", "⅜": r"\frac{3}{8}", "⅝": r"\frac{5}{8}", "⅞": r"\frac{7}{8}", "⅑": r"\frac{1}{9}",
        "⅒": r"\frac{1}{10}", "✓": "", "✔": "", "✅": "", "☑": "", "∎": "", "■": "", "◼": "", "➡": "", "\ufe0f": "",
    }.items()
    if len(a) == 1
}  # fmt: skip
for _i, _c in enumerate("①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"):
    UNICODE[ord(_c)] = f" ({_i + 1}), "

SUPERSCRIPTS: Final = {ord(a): b for a, b in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱˣʸᵏᵐ", "0123456789+-()nixykm", strict=True)}
SUBSCRIPTS: Final = {ord(a): b for a, b in zip("₀₁₂₃₄₅₆₇₈₉₊₋₍₎ₙᵢₖₘₓ", "0123456789+-()nikmx", strict=True)}

AND_WORDS: Final = _words("and y und et и 和 与 と e") - {"y", "e"}
OR_WORDS: Final = _words("or oder ou или 或 或者 または")
QUALIFIERS: Final = _words("for where with when whenever if such given since provided assuming as while wherein")
STOP_WORDS: Final = AND_WORDS | OR_WORDS | QUALIFIERS | {"to", "mod", "modulo", "is", "are", "equals", "in", "out"}
"""Words that end a unit."""
FILLERS: Final = _words(
    "every only approximately about exactly roughly around the a an answer is are be equals equal final value values "
    "result so therefore thus hence solution solutions total of to both we get have all set interval intervals point "
    "points origin vertex coordinates open closed half-open ordered pair triple number pairs triples quadruples "
    "tuples functions"
)
"""Words that may stand before an answer without changing it."""
LABELS: Final = _words(
    "minimum maximum mean median mode variance length width height area perimeter volume radius diameter slope "
    "intercept sum product difference quotient remainder first second third largest smallest range speed distance "
    "time cost price age center centre vertex focus midpoint domain amplitude period base"
)
"""What a value in a list may be called: "minimum 3, maximum 8"."""
_LABEL_SPELLINGS: Final = {"max": "maximum", "min": "minimum", "maximal": "maximum", "minimal": "minimum"}


def label_name(words: list[str]) -> str:
    """The words of a label, spelt one way."""
    return " ".join(_LABEL_SPELLINGS.get(w, w) for w in words if w not in ("the", "value", "of", "is"))


NEGATIONS: Final = _words("not no never isn't neither nor cannot don't doesn't except without than")

HEDGES: Final = _words("or maybe possibly perhaps not wrong alternatively else unless probably could might")
"""Words in a remark that make a second answer of it, or none of the first."""

BOUNDS: Final = _words(
    "all every any some many several powers power multiples multiple factors factor divisors divisor least most "
    "more less fewer greater smaller larger between under over exceeds exceeding beyond minimum maximum up until "
    "within if when unless maybe perhaps possibly either guess times"
)
"""Words that make a number in a sentence a bound, a class or a guess: "at least 5", "powers of 2"."""

EMPTY_PHRASES: Final = frozenset(
    {
        "no solution", "no solutions", "no real solution", "no real solutions", "none", "empty set", "the empty set",
        "no such value", "no such values", "no such number", "no such numbers", "no such integer", "no such integers",
        "there is no solution", "there are no solutions", "there are no real solutions", "has no solution",
        "no real roots", "no roots", "no values", "no such function", "no such functions", "no such x", "无解",
        "there is no such number", "there are no such numbers", "no such function exists", "no such functions exist",
        "no solution exists", "no solutions exist", "no such number exists", "no such integer exists",
        "no such integers exist", "no such numbers exist", "there is no such function", "there are no such functions",
        "there is no such integer", "there are no such integers", "no such n", "no such pairs", "no such n exists",
        "no such pair exists", "there are no such pairs", "no such polynomial exists",
        "no integer", "no real numbers", "no real number", "no pairs", "no triples", "no value", "no such pair",
        "no integers", "no positive integers", "no numbers", "no primes", "there are none", "there is none",
        "none exist", "none exists",
        "no integer solutions", "no integer solution",
    }
)  # fmt: skip
SAID_ELSEWHERE: Final[dict[str, str]] = {
    phrase: meaning
    for meaning, phrases in {
        "yes": "sí|si|oui|ja|да|はい|是的|可以|能|sim|sì|richtig|wahr|vrai|verdadero|верно",
        "no": "nein|non|нет|いいえ|不能|不可以|não|falsch|faux|falso|неверно",
        "no solution": "keine lösung|keine reelle lösung|keine lösungen|keine reellen lösungen|aucune solution|"
        "pas de solution|pas de solution réelle|aucune solution réelle|sin solución|no hay solución|"
        "no tiene solución|no tiene soluciones|no tiene soluciones reales|no existe solución|нет решений|решений нет|"
        "нет корней|корней нет|не имеет решений|нет действительных корней|"
        "解なし|解は存在しない|解はない|実数解なし|无实数解|无实根|没有解|方程无解|原方程无解|nenhuma solução|"
        "nessuna soluzione",
    }.items()
    for phrase in phrases.split("|")
}
"""Whole answers in other languages, lower case, and what they say."""
NOT_ELSEWHERE: Final = _words("не но nicht aber kein keine pas mais non no pero nunca solo não mas ma")
"""Behind "да," these make no plain yes of it."""
UNDEFINED_PHRASES: Final = frozenset(
    {
        "undefined", "dne", "does not exist", "doesn't exist", "not defined", "limit does not exist", "is undefined",
        "the limit does not exist", "do not exist", "not exist", "nonexistent", "不存在",
    }
)  # fmt: skip
INFINITE_PHRASES: Final = frozenset(
    {
        "infinity",
        "infinite",
        "infinitely many",
        "inf",
        "oo",
        "positive infinity",
        "plus infinity",
        "infinitely many solutions",
        "there are infinitely many",
        "there are infinitely many solutions",
        "an infinite number",
        "an infinite number of solutions",
        "infinite solutions",
    }
)
ALL_REAL_PHRASES: Final = frozenset(
    {
        "all real numbers", "all reals", "real numbers", "any real number", "all real number", "all real values",
        "the set of all real numbers", "the real numbers", "every real number", "set of all real numbers",
    }
)  # fmt: skip
NUMBER_SET_PHRASES: Final[dict[str, str]] = {
    "all integers": "Z", "the integers": "Z", "any integer": "Z", "every integer": "Z", "all rational numbers": "Q",
    "the rationals": "Q", "all rationals": "Q", "the rational numbers": "Q", "all complex numbers": "C",
    "all positive integers": "Z+", "the positive integers": "Z+", "any positive integer": "Z+",
    "every positive integer": "Z+", "positive integers": "Z+", "integers": "Z",
}  # fmt: skip
TRUE_WORDS: Final = frozenset({"true", "yes", "是", "对", "正确"})
FALSE_WORDS: Final = frozenset({"false", "no", "否", "不是", "错", "错误"})
SHORT_WORDS: Final = _words(
    "ii iii iv vi vii viii ix "
    "odd even yes no up down two ten one six act ace all and any are ask bad bag bed big box boy bus buy but can "
    "car cat cup cut day did dog dry ear eat egg end eye far few fly for fox fun get god got gun guy had has hat "
    "her him his hit hot how ice its job joy key kid law lay leg let lie lot low mad man map may men met mix mom "
    "net new nor not now off oil old our out own pay pen pet pig pop pot put ran raw red rid row run sad saw say "
    "sea see set she sir sit sky son sum sun tax tea the tie tip toe too top toy try use van via war was way web "
    "wet who why win won yet you zoo it is in on at to of or an as by do go he if me my so us we none sat mon tue "
    "wed thu fri east west dne min max mod arc ray sec hrs hr pct mph kph cm mm km kg mg ml am pm sq ft lb lbs oz "
    "yd mi "
)
"""Two- and three-letter runs that are words, not products of letters."""
PLACEHOLDER_WORDS: Final = _words(
    "proof see above below omitted vary varies various attached figure diagram graph todo tbd unavailable unknown "
    "explanation answers"
)
"""A gold of a few words with one of these points elsewhere; it is not an answer to compare with."""

UNITS_OF_COUNT: Final[dict[str, int]] = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fourty": 40,
    "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
SCALES: Final[dict[str, int]] = {
    "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12,
}  # fmt: skip
FRACTION_WORDS: Final[dict[str, int]] = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourth": 4, "fourths": 4,
    "fifth": 5, "fifths": 5, "sixth": 6, "sixths": 6, "seventh": 7, "sevenths": 7, "eighth": 8, "eighths": 8,
    "ninth": 9, "ninths": 9, "tenth": 10, "tenths": 10, "hundredth": 100, "hundredths": 100,
}  # fmt: skip
BASE_WORDS: Final[dict[str, int]] = {
    **UNITS_OF_COUNT,
    "binary": 2,
    "octal": 8,
    "decimal": 10,
    "hexadecimal": 16,
    "hex": 16,
}


_HAN_DIGITS: Final = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_UNITS: Final = {"十": 10, "百": 100, "千": 1000}
_HAN_CLASSIFIERS: Final = "个名人只本支条张块种次天年元岁米页位件颗棵辆つ個人本枚歳"


def han_number(word: str) -> int | None:
    """`一百二十` -> 120, `三个` -> 3, `五万` -> 50000; None for other words."""
    if len(word) > 1 and word[-1] in _HAN_CLASSIFIERS:
        word = word[:-1]
    if not word or len(word) > 12:
        return None
    total = section = digit = 0
    for c in word:
        if c in _HAN_DIGITS:
            digit = _HAN_DIGITS[c]
        elif c in _HAN_UNITS:
            section += (digit or 1) * _HAN_UNITS[c]
            digit = 0
        elif c == "万":
            total = (section + digit) * 10_000
            section = digit = 0
        else:
            return None
    return total + section + digit


def number_words(words: list[str]) -> tuple[int, int] | None:
    """`["forty", "two"]` -> (42, 1); `["two", "thirds"]` -> (2, 3); None when the words are no number.

    The whole list must be the number: "five hundred apples" is none.
    """
    if not words or len(words) > 12:
        return None
    if words[0][0] > "\u3000":
        value = han_number(words[0]) if len(words) == 1 else None
        return None if value is None else (value, 1)
    if words == ["a", "dozen"]:
        return 12, 1
    if len(words) > 3 and words[-3] == "and" and words[-2] in ("a", "one") and words[-1] in FRACTION_WORDS:
        whole = number_words(words[:-3])  # two and a half
        bottom = FRACTION_WORDS[words[-1]]
        return None if whole is None or whole[1] != 1 else (whole[0] * bottom + 1, bottom)
    if words[-1] in FRACTION_WORDS:
        if len(words) == 1:
            return (1, FRACTION_WORDS[words[0]]) if words[0] in ("half", "quarter") else None
        if len(words) == 2 and words[0] in ("a", "an"):
            return 1, FRACTION_WORDS[words[1]]
        top = number_words(words[:-1])
        return (top[0], FRACTION_WORDS[words[-1]]) if top is not None and top[1] == 1 else None
    total, current, seen = 0, 0, False
    small = False
    for word in words:
        if word == "and" and seen:
            continue
        if word in UNITS_OF_COUNT:
            value = UNITS_OF_COUNT[word]
            if small and not (current % 100 >= 20 and current % 10 == 0 and 0 < value < 10):
                return None
            current += value
            seen = small = True
        elif word in SCALES and seen:
            small = False
            if word in ("hundred", "dozen"):
                current = (current or 1) * SCALES[word]
            else:
                total += (current or 1) * SCALES[word]
                current = 0
        else:
            return None
    return (total + current, 1) if seen else None
