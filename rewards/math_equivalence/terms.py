"""Terms: sums, products, powers, functions and brackets, by recursive descent; each docstring is its grammar line.

What stands between terms (lists, relations, conditions) is in `clauses`, which a bracket may hold again.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from rewards.math_equivalence import tree
from rewards.math_equivalence.dotted import closed, indexed
from rewards.math_equivalence.expressions import FUNCTION_LETTERS
from rewards.math_equivalence.numerals import Numerals
from rewards.math_equivalence.prose import phrase
from rewards.math_equivalence.tokens import END, GREEK_WORDS, PLAIN_CONSTS, Token, is_word
from rewards.math_equivalence.tree import INFTY, MAX_ELEMENTS, TWO, Node, Problem, exact_of
from rewards.math_equivalence.unit_grammar import UnitGrammar, price, quantity, unit_like
from rewards.math_equivalence.units import read_unit
from rewards.math_equivalence.vocabulary import (
    AND_WORDS,
    FUNCTION_NAMES,
    FUNCTIONS,
    OR_WORDS,
    QUALIFIERS,
    SCALES,
    STOP_WORDS,
)

MAX_LETTERS: Final = 64
"""Longest run of letters that is read as a product."""
MAX_NESTING: Final = 32
"""Most arguments inside arguments that one parser follows; brackets are read in parts before that."""
MAX_DOTTED: Final = 3
"""Most sums and products with dots whose rule is looked for in one text."""
OPENERS: Final = {"(": ")", "[": "]", "{": "}", "\\{": "\\}", "⟨": "⟩", "⌊": "⌋", "⌈": "⌉", "|(": "|)"}
NO_TERMS: Final = frozenset({"rel", "where", "text", "list", "choice", "cong", "label", "time", "build"})
_NO_FACTORS: Final = frozenset(
    {"rel", "where", "text", "list", "choice", "cong", "label", "tuple", "bracket", "set", "interval", "build", "time"}
)
SETLIKE: Final = frozenset({"set", "interval", "union", "inter", "minus", "build", "numset"})
_ACCENTS: Final = {"overrightarrow": "vec", "widehat": "hat", "overline": "bar", "widetilde": "tilde"}
_ALIGNMENTS: Final = frozenset(
    ("equation", "align", "aligned", "alignedat", "gather", "gathered", "split", "math", "displaymath", "multline")
)
_SHORT_UNITS: Final = frozenset("sq ft lb oz yd mi cm mm km kg mg ml pm am".split())
_UPRIGHT_FUNCTIONS: Final = FUNCTIONS - frozenset("min max sec arg th ch sh lcd det abs".split())
"""Functions that are no words or units behind a number: `2\\operatorname{arctg} x`."""
COMPARING: Final = frozenset(("less", "greater", "more", "smaller", "larger", "at", "no", "not", "strictly"))
_PLACES: Final = frozenset(("floor", "ceil"))
"""Functions that are words where nothing follows them."""
_BUILDERS: Final = frozenset(("diag", "span"))
"""Words that are functions only before a bracket."""
_VECTORS: Final = frozenset(("tuple", "matrix", "bracket"))
_PRODUCTS: Final = frozenset("at by my an as he do go me so us we am pm sq ft lb oz yd mi cm mm km kg mg ml".split())
"""Short words and units that are products of letters in a formula: `v_0 + at`, `mg\\sin\\theta`."""
_UNIT_LETTERS: Final = frozenset("msghLlNJWVAKCFTH")
_MATRICES: Final = {
    "matrix": "", "pmatrix": "(", "bmatrix": "(", "Bmatrix": "{", "vmatrix": "|", "Vmatrix": "‖", "smallmatrix": "",
    "psmallmatrix": "(", "bsmallmatrix": "(", "array": "", "column": "(",
}  # fmt: skip
_INFINITE: Final = frozenset({INFTY, tree.MINUS_INFTY})
_INVERSES: Final = {
    "sin": "arcsin", "cos": "arccos", "tan": "arctan", "cot": "arccot", "sec": "arcsec", "csc": "arccsc",
    "sinh": "arcsinh", "cosh": "arccosh", "tanh": "arctanh",
}  # fmt: skip


class Prose(Exception):
    """The text is a sentence, not a formula."""


class Terms(Numerals, UnitGrammar):
    """Sums, products, powers, functions, brackets and what stands in them."""

    __slots__ = ()

    def items(self, closers: tuple[str, ...], *, top: bool = False) -> Node:
        """What separators stand between, up to a closing bracket; `Clauses` reads it."""
        raise NotImplementedError

    def chain(self) -> Node:
        """Sums with relations between them; `Clauses` reads it."""
        raise NotImplementedError

    def document(self) -> Node:
        """The whole text; `Clauses` reads it."""
        raise NotImplementedError

    def apart(self, toks: list[Token]) -> Node | None:
        """A stretch of tokens read on its own, or None."""
        if not toks:
            return None
        try:
            return type(self)(list(toks), self.comma).document()
        except (Problem, Prose):
            return None

    def product_of_two(self, token: Token) -> bool:
        """`at`, `mg`, `by` outside \\text, with no word beside it and mathematics on one side: a product"""
        if token.kind != "w" or len(token.text) != 2 or token.text.lower() not in _PRODUCTS:
            return False
        before, after = self.toks[self.i - 1] if self.i else END, self.toks[self.i + 1]
        if before.kind in ("w", "W") and len(before.text) > 1:
            return False
        if token.text in _SHORT_UNITS and (before.kind in ("n", "k", "N") or before.text in ("}", ")")):
            return False  # 5 cm^2, 8\\pi cm^2
        beside = [t for t in (before, after) if t.kind]
        return after.kind not in ("w", "W", "n") and any(
            t.kind in ("r", "f", "s", "c", "k") or (t.kind == "o" and t.text in "+-*/^_{}()") for t in beside
        )

    def words(self) -> list[str]:
        """words := word+ ; a single letter, a function name or a Greek name does not begin one"""
        words: list[str] = []
        while True:
            token = self.toks[self.i]
            if token.kind == "W" or (token.kind == "w" and (is_word(token.text) or words)):
                low = token.text.lower()
                if not words and self.product_of_two(token):
                    break
                if low in AND_WORDS or low in OR_WORDS:
                    following = self.toks[self.i + 1]
                    if not words or following.kind not in ("W", "w") or not is_word(following.text):
                        break
                elif (
                    (token.kind == "W" and not words and (len(low) == 1 or low in FUNCTIONS) and token.text.isascii())
                    or (not words and low in _BUILDERS and self.toks[self.i + 1].text in ("(", "\\{", "{"))
                    or (token.kind == "w" and words and len(low) == 1 and low != "a")
                    or (low in ("mod", "modulo") and words)
                ):
                    break
                words.append(low)
                self.i += 1
                if self.is_op("'") and self.toks[self.i + 1].kind in ("w", "W"):
                    words[-1] += "'" + self.toks[self.i + 1].text.lower()
                    self.i += 2
                elif self.is_op("-") and words and self.toks[self.i].space == 0:
                    following = self.toks[self.i + 1]
                    if following.kind in ("w", "W") and following.space == 0 and is_word(following.text):
                        self.i += 1
            else:
                break
        return words

    def at_value(self) -> bool:
        """Whether "at x = 2" stands here: where a value is taken"""
        token, letter, sign = self.toks[self.i : self.i + 3]
        return token.text == "at" and letter.kind in ("w", "s") and sign.kind == "r" and sign.text == "="

    def mod_ahead(self) -> bool:
        following = self.toks[self.i + 1]
        return (following.kind in ("w", "W") and following.text.lower() in ("mod", "modulo")) or (
            following.kind == "c" and following.text in ("bmod", "mod")
        )

    def setexpr(self) -> Node:
        """setexpr := sum (("∪"|"∩"|"\\") sum)*"""
        left = self.sum()
        while True:
            token = self.toks[self.i]
            if token.kind != "o" or token.text not in ("∪", "∩", "∖", "oplus", "otimes"):
                return left
            self.i += 1
            right = self.sum()
            op = {"∪": "union", "∩": "inter", "∖": "minus"}.get(token.text)
            if op is None:
                left = Node("opaque", (left, right), token.text)
            elif left.op == op and op != "minus":
                left = Node(op, (*left.args, right))
            else:
                left = Node(op, (left, right))

    def sum(self) -> Node:
        """sum := ("+"|"-"|"±")* term (("+"|"-"|"±"|"∓") term)*"""
        sign = self.signs()
        first = self.term()
        terms = [_signed(sign, first)]
        while True:
            token = self.toks[self.i]
            if token.kind != "o" or token.text not in ("+", "-", "±", "∓"):
                break
            following = self.toks[self.i + 1]
            if token.text == "+" and self.open and following.text in (")", "]", "}") and first.op == "numset":
                break
            sign = self.signs()
            terms.append(_signed(sign, self.term()))
        if len(terms) == 1:
            return terms[0]
        if len(terms) == 2 and terms[0].op in SETLIKE and terms[1].op == "neg" and terms[1].args[0].op in SETLIKE:
            return Node("minus", (terms[0], terms[1].args[0]))
        if len({_is_vector(n) for n in terms}) > 1:
            terms = [_scaled_vector(n) for n in terms]
            if len({_is_vector(n) for n in terms}) > 1:
                self.fail("a term that is none")
        if any(n.op in NO_TERMS for n in terms):
            self.fail("a term that is none")
        return (self.without_dots(terms, "sum") if self.dots else None) or tree.add(terms)

    def without_dots(self, terms: list[Node], kind: str) -> Node | None:
        """`1 + 2 + \\cdots + n` as the sum that its dots stand for; at most a few are looked at in one text"""
        return closed(terms, kind) if self.dots <= MAX_DOTTED else None

    def signs(self) -> str:
        """signs := ("+"|"-"|"±"|"∓")*, read in one go: 500 minus signs are one sign"""
        sign = "+"
        while True:
            token = self.toks[self.i]
            if token.kind != "o":
                return sign
            if token.text == "-":
                sign = {"+": "-", "-": "+", "±": "∓", "∓": "±"}[sign]
            elif token.text in ("±", "∓"):
                if sign in "±∓":
                    self.fail("two plus-minus signs in a row")
                sign = token.text if sign == "+" else {"±": "∓", "∓": "±"}[token.text]
            elif token.text != "+":
                return sign
            self.i += 1

    def term(self) -> Node:
        """term := factor (("*"|"/"|nothing) factor)*"""
        left = self.factor()
        pending: list[Node] = [left]
        while True:
            token = self.toks[self.i]
            kind, text = token.kind, token.text
            if kind == "o" and (text == "*" or text == "/"):
                following = self.toks[self.i + 1]
                if text == "/" and following.kind in ("w", "W") and unit_like(following) and _is_quantity(pending):
                    unit = self.unit()
                    if unit is not None:
                        pending = [quantity(tree.mul(pending), unit)]
                        continue
                self.i += 1
                sign = self.signs()
                right = _signed(sign, self.factor())
                if text == "*":
                    pending.append(right)
                else:
                    while self.binds_tighter(right):
                        right = tree.mul([right, self.factor()])
                    pending = [tree.div(tree.mul(pending), right)]
                continue
            if kind == "m" and _is_quantity(pending) and self.toks[self.i + 1].kind not in ("n", "w", "c"):
                self.i += 1
                pending = [price(tree.mul(pending), text)]
                continue
            if kind == "c" and text in ("bmod", "mod"):
                self.i += 1
                pending = [Node("mod", (tree.mul(pending), self.factor()))]
                continue
            if not self.starts_factor(token):
                break
            if kind == "s" and self.symbol_unit(token):
                unit = self.unit()
                if unit is not None:
                    pending = [quantity(tree.mul(pending), unit)]
                    continue
            if kind == "c" and text == "frac" and self.toks[self.i + 2].kind == "W" and _is_quantity(pending):
                unit = self.unit()
                if unit is not None:
                    pending = [quantity(tree.mul(pending), unit)]
                    continue
            if (
                kind == "W"
                and len(text) == 1
                and text.isascii()
                and (text not in _UNIT_LETTERS or not self.after_number())
                and not (text in "kM" and self.toks[self.i + 1].text == "Omega")
                and not (text in "apAP" and self.toks[self.i + 1].text == ".")
            ):
                pending.append(self.factor())
                continue
            if kind == "w" and self.product_of_two(token):
                pending.append(self.factor())
                continue
            place = text in _PLACES and self.toks[self.i + 1].kind in ("", ",")  # the 8th floor
            if kind in ("w", "W") and (
                kind == "W"
                or is_word(text)
                or unit_like(token)
                or self.speed_ahead()
                or self.unit_letter(token)
                or place
            ):
                if token.text.lower() in STOP_WORDS and not (text == "in" and self.inches_ahead()):
                    break
                if self.at_value():
                    break
                if text.lower() in COMPARING and self.toks[self.i + 1].text.lower() in ("than", "least", "most"):
                    break
                if text in _UPRIGHT_FUNCTIONS and not place:
                    pending.append(self.factor())
                    continue
                if _is_quantity(pending):
                    unit = self.unit()
                    if unit is not None:
                        pending = [quantity(tree.mul(pending), unit)]
                        continue
                if kind == "W" and len(text) > 1 and text.lower() not in FUNCTIONS and not _splits(text):
                    break
                if kind == "w" and is_word(text) and not self.product_of_two(token):
                    break
            if kind == "n" and len(pending) == 1 and pending[0].op == "qty":
                more = self.term()
                both = compound_quantity(pending[0], more)
                if both is None:
                    self.fail("two quantities side by side")
                pending = [both]
                break
            if kind == "n" and pending[-1].op in ("num", "dec", "calc") and self.toks[self.i - 1].kind == "n":
                mixed = self.mixed_plain(pending)
                if mixed is None:
                    self.fail("two numbers side by side")
                pending[-1] = mixed
                continue
            if kind == "c" and text == "frac" and pending[-1].op == "num" and self.toks[self.i - 1].kind == "n":
                whole = pending[-1].value
                part = self.factor()
                if isinstance(whole, int) and part.op == "num" and 0 < part.value < 1 and len(pending) == 1:
                    pending[-1] = Node("num", (), whole + part.value if whole >= 0 else whole - part.value)
                elif (
                    isinstance(whole, int)
                    and part.op == "deg"
                    and part.args[0].op == "num"
                    and 0 < part.args[0].value < 1
                ):
                    pending[-1] = Node("deg", (Node("num", (), whole + part.args[0].value),))
                elif (
                    isinstance(whole, int)
                    and part.op == "pct"
                    and part.args[0].op == "num"
                    and 0 < part.args[0].value < 1
                ):
                    pending[-1] = Node("pct", (Node("num", (), whole + part.args[0].value),))
                else:
                    pending.append(part)
                continue
            pending.append(self.factor())
        if len(pending) > 1:
            if pending[-1].op == "tuple" and pending[0].op == "numset" and len(pending) == 2:
                return Node("call", pending[1].args, pending[0].value)  # \\mathcal{N}(5, 4), a distribution
            # 2(1,2) is a multiple of a vector; nothing else in brackets with commas is a factor
            scaled = pending[:-1] if pending[-1].op in ("tuple", "bracket") else pending
            if any(n.op in _NO_FACTORS for n in scaled) or (scaled is not pending and pending[-2].op == "const"):
                self.fail("a factor that is none")
            if self.dots and (product := self.without_dots(_factors(pending), "prod")) is not None:
                return product
        return _dms(tree.mul(pending) if not _has_dms(pending) else _sum_dms(pending))

    def binds_tighter(self, right: Node) -> bool:
        """`1/xy` is 1/(xy), but `1/2x` is x/2."""
        token = self.toks[self.i]
        if token.space or exact_of(right) is not None or right.op not in ("sym", "pow", "mul", "const"):
            return False
        return token.kind in ("w", "s") and len(token.text) == 1

    def mixed_plain(self, pending: list[Node]) -> Node | None:
        """mixed := NUM space NUM "/" NUM, as in `2 1/2`"""
        token = self.toks[self.i]
        slash, bottom = self.toks[self.i + 1], self.toks[self.i + 2]
        whole = pending[-1]
        if (
            whole.op == "num"
            and isinstance(whole.value, int)
            and slash.kind == "o"
            and slash.text == "/"
            and bottom.kind == "n"
            and token.text.isdigit()
            and bottom.text.isdigit()
            and len(token.text) + len(bottom.text) < 40
            and int(bottom.text)
        ):
            self.i += 3
            part = Fraction(int(token.text), int(bottom.text))
            return Node("num", (), whole.value + part if whole.value >= 0 else whole.value - part)
        return None

    def starts_factor(self, token: Token) -> bool:
        kind = token.kind
        if kind in ("n", "w", "W", "s", "k", "f", "b", "N", "B", "m", "D"):
            return True
        if kind == "c":
            return token.text not in ("over", "choose", "atop", "pmod", "pod", "end", "bmod", "mod")
        if kind == "o":
            text = token.text
            if text == "(" and (self.relation_ahead() or self.words_only_ahead()):
                return False  # kπ (k ∈ Z), 1/x (x > 0), 15 (approximately)
            if text in ("(", "{", "\\{", "⟨", "⌊", "⌈", "|(", "angle", "triangle", "neg", "measuredangle", "square"):
                return text != "(" or not self.mod_ahead()
            if text == "[":
                return not self.closes_half_open()
            if text == "|" or text == "‖":
                return self.bars == 0
        return False

    def closes_half_open(self) -> bool:
        """`[1,+∞[`: a "[" after which nothing can start, inside an open bracket, closes it"""
        if not self.open or self.open[-1] not in ("[", "]"):
            return False
        following = self.toks[self.i + 1]
        return following.kind in ("", ",", "q") or (
            following.kind == "o" and following.text in ("∪", "∩", ")", ".", "}")
        )

    def relation_ahead(self) -> bool:
        """A remark in brackets that holds a relation: a condition, not a factor"""
        depth = 0
        for token in self.toks[self.i : self.i + 16]:
            if token.kind == "o":
                if token.text in OPENERS:
                    depth += 1
                elif token.text in (")", "]", "}", "\\}"):
                    depth -= 1
                    if depth == 0:
                        return False
            elif token.kind == "r" and depth == 1:
                return True
        return False

    def factor(self) -> Node:
        """factor := atom postfix*"""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise Problem("over_limit", "nested too deep")
        node = self.postfix(self.atom())
        self.depth -= 1
        return node

    def postfix(self, node: Node) -> Node:
        """postfix := "^" argument | "_" argument | "!" | "%" | "°" | "'" """
        while True:
            token = self.toks[self.i]
            kind, text = token.kind, token.text
            if kind == "o":
                if text == "^":
                    self.i += 1
                    node = self.superscript(node)
                elif text == "_":
                    self.i += 1
                    node = self.subscript(node)
                elif text == "!":
                    if self.is_unequal() or (node.op in ("text", "tuple") and self.toks[self.i + 1].kind == ""):
                        return node
                    self.i += 1
                    if self.is_op("!") and self.toks[self.i].space == 0:
                        self.i += 1
                        node = Node("dfact", (node,))
                    else:
                        node = tree.factorial(node)
                elif text == "°":
                    self.i += 1
                    if node.op == "sym" and self.toks[self.i].kind == "w" and self.toks[self.i - 2].text != "^":
                        return self.composed(node)
                    node = self.degrees(node)
                elif text == "'":
                    self.i += 1
                    node = _primed(node)
                else:
                    return node
            elif kind == "%":
                self.i += 1
                node = Node("pct", (node,))
            else:
                return node

    def composed(self, outer: Node) -> Node:
        """composed := letter "∘" letter ; `f ∘ g(x)` and `(f ∘ g)(x)` are f(g(x))"""
        inner = self.factor()
        if inner.op == "call" and len(inner.args) == 1:
            return Node("call", (inner,), outer.value)
        return Node("opaque", (outer, inner), "compose")

    def superscript(self, node: Node) -> Node:
        token = self.toks[self.i]
        if token.kind == "o" and token.text in ("°", "'"):
            return node
        if token.kind == "o" and token.text == "*" and node.op == "numset":
            self.i += 1
            return Node("numset", (), node.value + "*")
        if token.kind == "o" and token.text in ("+", "-") and node.op == "numset":
            self.i += 1
            return Node("numset", (), node.value + token.text)
        if token.kind == "o" and token.text == "{":
            inner, after = self.toks[self.i + 1], self.toks[self.i + 2]
            if inner.kind == "o" and inner.text in ("°", "'", "*", "+", "-") and after.text in ("}", "'", "°"):
                if inner.text == "°" and after.text == "}":
                    self.i += 3
                    return self.degrees(node)
                if inner.text == "'":
                    self.i += 1
                    while self.take_op("'"):
                        node = _primed(node)
                    self.expect("}")
                    return node
                if node.op == "numset" and inner.text in ("*", "+", "-"):
                    self.i += 3
                    return Node("numset", (), node.value + inner.text)
            if inner.kind in ("w", "W") and after.text == "}" and inner.text.lower() in ("th", "st", "nd", "rd"):
                self.i += 3
                return node
            if inner.kind == "W" and inner.text == "o" and after.text == "}" and exact_of(node) is not None:
                self.i += 3
                return self.degrees(node)  # 60^{\\text{o}}
            if inner.kind == "o" and inner.text == "}":
                self.fail("an empty exponent")
            if inner.text in ("T", "t", "top") and after.text == "}" and node.op in ("matrix", "tuple", "bracket"):
                self.i += 3
                return _transpose(node)
        elif token.text == "T" and node.op == "call" and len(node.args) > 1:
            self.i += 1
            return Node("mul", (Node("sym", (), node.value), _transpose(Node("tuple", node.args))))  # k(1,1,0)^T
        elif token.kind in ("w", "W") and token.text in ("T", "t") and node.op in ("matrix", "tuple", "bracket"):
            self.i += 1
            return _transpose(node)
        elif token.kind == "W" and token.text.lower() in ("th", "st", "nd", "rd"):
            self.i += 1
            return node
        exponent = self.argument(script=True)
        if (
            exact_of(exponent) == -1
            and node.op == "sym"
            and node.value in ("f", "g", "h", "F", "G")
            and self.is_op("(")
        ):
            return self.named(node.value + "^-1")
        if node.op == "sym" and node.value in ("C", "A", "P") and self.is_op("_"):
            self.i += 1
            lower = self.argument(script=True)
            return tree.binomial(lower, exponent) if node.value == "C" else Node("perm", (lower, exponent))
        if node.op == "sym" and "_" in node.value and node.value[0] in "CAP" and node.value[1] == "_" and node.args:
            return (
                tree.binomial(node.args[0], exponent)
                if node.value[0] == "C"
                else Node("perm", (node.args[0], exponent))
            )
        node = Node("sym", (), node.value) if node.op == "sym" and node.args else node
        tower = [exponent]
        while self.is_op("^") and self.toks[self.i + 1].text not in ("°", "'"):
            self.i += 1
            tower.append(self.argument(script=True))
            if len(tower) > MAX_NESTING:
                raise Problem("over_limit", "a tower of powers")
        while len(tower) > 1:
            top = tower.pop()
            tower[-1] = tree.power(tower[-1], top)  # 2^3^2 is 2^9
        return tree.power(node, tower[0])

    def degrees(self, node: Node) -> Node:
        """`20°`, and `20°C` as a temperature"""
        token = self.toks[self.i]
        following = self.toks[self.i + 1]
        if token.kind in ("W", "w") and token.text in ("C", "F", "K") and following.kind in ("", ",", "q", "W"):
            self.i += 1
            unit = read_unit(["deg" + token.text])
            if unit is not None:
                return quantity(node, unit)
        return Node("deg", (node,))

    def subscript(self, node: Node) -> Node:
        token = self.toks[self.i]
        start = self.i
        if node.op in ("num", "calc") and isinstance(node.value, int) and node.value >= 0:
            base = self.base_of()
            if base is None:
                self.fail("a subscript on a number that is no base")
            return Node("base", (), (str(node.value), base))
        if node.op == "fn" and not node.args:
            self.fail("a subscript on a function")
        if node.op == "numset":
            sign = self.domain_sign()
            return Node("numset", (), node.value + sign)
        name = self.script_text()
        if node.op == "sym":
            lower = self.apart(self.toks[start : self.i]) if node.value in ("C", "A", "P") else None
            return Node("sym", (lower,) if lower is not None and self.is_op("^") else (), f"{node.value}_{name}")
        if node.op == "const" and node.value == "e":
            return Node("sym", (), f"e_{name}")
        if node.op == "const" and node.value == "pi":
            return Node("sym", (), f"pi_{name}")
        if token.kind and node.op in ("call", "opaque", "fn", "matrix", "text"):
            return Node("opaque", (node,), f"_{name}")
        self.fail("a subscript here")

    def domain_sign(self) -> str:
        text = self.script_text().replace(" ", "")
        return {"+": "+", ">0": "+", "-": "-", "<0": "-", ">=0": "0+", "<=0": "0-", "0": "0", "!=0": "*"}.get(text, "?")

    def argument(self, *, script: bool = False) -> Node:
        """argument := "{" sum "}" | one digit or letter | command with its own arguments"""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise Problem("over_limit", "nested too deep")
        node = self.bare_argument(script)
        self.depth -= 1
        return node

    def bare_argument(self, script: bool) -> Node:
        token = self.toks[self.i]
        kind, text = token.kind, token.text
        if kind == "o" and text == "{":
            inner, after = self.toks[self.i + 1], self.toks[self.i + 2]
            if after.kind == "o" and after.text == "}":  # most groups hold one number or letter
                if inner.kind == "n" and len(inner.text) < 19 and inner.text.isdigit():
                    self.i += 3
                    return Node("num", (), int(inner.text))
                if inner.kind == "w" and len(inner.text) == 1 and inner.text != "e":
                    self.i += 3
                    return Node("sym", (), inner.text)
            return self.group()
        if kind == "n":
            if script or len(text) == 1:
                # 2^10 without braces means 2^{10} to a person
                return self.number()
            if text.isdigit():
                self.toks[self.i] = Token("n", text[0], token.space)
                self.toks.insert(self.i + 1, Token("n", text[1:], 0))
                self.i += 1
                return Node("num", (), int(text[0]))
            return self.number()
        if kind == "w" and len(text) > 1 and text.lower() not in FUNCTIONS and text not in PLAIN_CONSTS:
            self.split_word(token, self.i, 1)
            return self.atom()
        if (script and kind in ("w", "s") and len(text) == 1) or (script and kind == "s"):
            self.i += 1
            return Node("const", (), "e") if text == "e" else Node("sym", (), text)  # e^x(x-1): the power ends at x
        if kind == "o" and text in ("-", "+", "±", "∓"):
            sign = self.signs()
            return _signed(sign, self.argument(script=script))
        if kind == "o" and text == "(" and not script:
            return self.atom()
        if kind == "" or (kind == "o" and text in ("}", ")", "]")):
            self.fail("an argument is missing")
        if kind == "o" and text == "*":
            self.i += 1
            return Node("sym", (), "*")
        if script:
            node = self.atom()
            return node
        return self.atom()

    def group(self) -> Node:
        """group := "{" items "}" ; `{a \\over b}` and `{n \\choose k}` inside"""
        self.i += 1
        self.open.append("{")
        bars, self.bars = self.bars, 0
        node = self.group_body()
        self.bars = bars
        self.open.pop()
        self.expect("}")
        return node

    def group_body(self) -> Node:
        node = self.items(("}", ")", "]", "\\}") if not self.open or self.open[-1] == "{" else ("}",))
        if node.op == "list" and not node.args:
            self.fail("an empty group")
        return node

    def atom(self) -> Node:
        """atom := number | letters | symbol | constant | function | command | bracket | bars | currency"""
        token = self.toks[self.i]
        kind, text = token.kind, token.text
        if kind == "n":
            return self.number()
        if kind == "w":
            return self.letters(token)
        if kind == "N":
            self.i += 1
            assert token.node is not None
            return token.node
        if kind == "c":
            return self.command(token)
        if kind == "o":
            return self.bracket(token)
        if kind == "s":
            self.i += 1
            return self.named(text)
        if kind == "k":
            self.i += 1
            if text.startswith("numset:"):
                return Node("numset", (), text[7:])
            return Node("const", (), text)
        if kind == "f":
            self.i += 1
            return self.function(text)
        if kind == "W":
            return self.upright(token)
        if kind == "b":
            self.i += 1
            if len(text) == 1 and text in "rFuvxfGHABabT" and self.is_op("("):
                return self.named("bold:" + text)  # a function of t with values in space
            return (
                Node("sym", (), "bold:" + text)
                if len(text) == 1 or not is_word(text)
                else Node("text", (), text.lower())
            )
        if kind == "m":
            return self.money(token)
        if kind == "B":
            return self.environment(token)
        if kind == "D":
            self.i += 1
            self.dots += 1
            return Node("const", (), "dots")
        self.fail("cannot read")

    def upright(self, token: Token) -> Node:
        """An upright letter is its symbol; `\\text{sin}` is the function; longer words are text."""
        text = token.text
        if text[0] in "ABCDEF" and self.letters_of_a_base():
            return self.based("")
        self.i += 1
        low = text.lower()
        if low in FUNCTIONS and text == low:
            return self.function(text)
        if text in PLAIN_CONSTS:
            return Node("const", (), PLAIN_CONSTS[text])
        if len(text) == 1 and text.isascii():
            return self.named(text)
        if low in _BUILDERS:
            return self.built(low)
        if self.toks[self.i].kind == "r" and self.toks[self.i].text == "=" and text.isupper():
            return Node("text", (), low)  # \\text{LCM} = 12
        if self.at_clause_end():
            special = phrase([low])
            return special if special is not None else Node("text", (), low)
        raise Prose

    def built(self, name: str) -> Node:
        """built := ("diag" | "span") bracket"""
        inner = self.bracket(self.toks[self.i])
        parts = inner.args if inner.op in ("tuple", "list", "set") else (inner,)
        if name == "span":
            # span{(1,2)} and span(v, w); of one vector in round brackets the bracket is its own
            return Node("span", (inner,) if inner.op == "tuple" and not any(n.op in _VECTORS for n in parts) else parts)
        size = len(parts)
        if size * size > MAX_ELEMENTS:
            self.fail("a matrix of too many cells")
        cells = tuple(parts[r] if r == c else tree.ZERO for r in range(size) for c in range(size))
        return Node("matrix", cells, (size, size, "("))

    def money(self, token: Token) -> Node:
        """money := sign number"""
        self.i += 1
        following = self.toks[self.i]
        if following.kind == "" and self.i == 1:
            self.fail("a currency sign alone")
        if following.kind == "o" and following.text in ("-", "+"):
            sign = self.signs()
            return Node("money", (_signed(sign, self.factor()),), token.text)
        amount = self.factor()
        scale = self.toks[self.i]
        if scale.kind in ("w", "W") and scale.text.lower() in ("thousand", "million", "billion", "trillion"):
            self.i += 1
            amount = tree.mul([amount, Node("num", (), SCALES[scale.text.lower()])])
        return price(amount, token.text)

    def letters(self, token: Token) -> Node:
        """letters := function name | constant | word | product of single letters, left to right"""
        text = token.text
        size = len(text)
        if text[0] in "ABCDEF" and self.letters_of_a_base():
            return self.based("")
        if size == 1:
            self.i += 1
            return self.named(text)
        low = text.lower()
        if low == "sqrt":
            self.i += 1
            return self.root()
        if low in FUNCTIONS:
            self.i += 1
            return self.function(low)
        if text in PLAIN_CONSTS:
            self.i += 1
            return Node("const", (), PLAIN_CONSTS[text])
        if text in GREEK_WORDS:
            self.i += 1
            return self.named(text)
        if is_word(text) and not self.product_of_two(token):
            if low in ("nan", "none", "null"):
                self.fail("no answer")
            start = self.i
            words = self.words()
            special = phrase(words)
            if special is not None and self.at_clause_end():
                return special
            self.i = start
            raise Prose
        if size > MAX_LETTERS:
            self.fail("a long run of letters")
        parts: list[Token] = []
        j = 0
        while j < size:
            # names inside a run: xsin, 2pi, xlog
            length = next((n for n in range(min(size - j, 6), 1, -1) if low[j : j + n] in FUNCTIONS), 1)
            if length == 1 and text.startswith(("pi", "theta", "alpha"), j):
                length = 2 if text[j] == "p" else 5
            parts.append(Token("w", text[j : j + length], 0 if j else token.space))
            j += length
        self.toks[self.i : self.i + 1] = parts
        return self.letters(parts[0])

    def named(self, name: str) -> Node:
        """A letter, or a letter applied to brackets: `f(x)`, `P(1,2)`, `x(y-z)`."""
        if name == "e":
            return Node("const", (), "e")
        token = self.toks[self.i]
        opens = token.kind == "o" and token.text == "("
        remark = opens and (self.relation_ahead() or self.words_only_ahead() or self.mod_ahead())
        if opens and not remark:
            inner = self.bracket(token)
            if inner.op == "tuple" and inner.args:
                return Node("call", inner.args, name)
            if inner.op in ("interval", "list", "rel", "text"):
                self.fail("brackets that cannot follow a letter")
            if inner.op == "matrix":
                return Node("mul", (Node("sym", (), name), inner))
            if (self.is_op("^") or self.is_op("!")) and name.islower() and name not in ("f", "g", "h"):
                # k(d-k)! is k times a factorial, x(y-z)^2 is x times a square
                return tree.mul([Node("sym", (), name), self.postfix(inner)])
            return Node("call", (inner,), name)
        if token.kind == "o" and token.text == "'":
            primes = ""
            while self.take_op("'"):
                primes += "'"
            return self.named(name + primes)
        return Node("sym", (), name)

    def root(self) -> Node:
        """root := "sqrt" ("[" index "]")? argument ; `\\sqrt 13` means the root of 13 to whoever writes it"""
        index: Node = TWO
        if self.is_op("[") and not self.closes_half_open():
            self.i += 1
            self.open.append("root")
            index = self.sum()
            self.open.pop()
            self.expect("]")
        radicand = self.number() if self.toks[self.i].kind == "n" else self.argument()
        return Node("root", (radicand, index))

    def command(self, token: Token) -> Node:
        """command := \\frac argument argument | \\sqrt ... | \\binom ... | \\sum ... | accents | ..."""
        name = token.text
        self.i += 1
        if name == "frac":
            top = self.argument()
            if self.is_op("/"):
                self.i += 1
            return tree.div(top, self.argument())
        if name == "sqrt":
            return self.root()
        if name == "binom":
            top = self.argument()
            return tree.binomial(top, self.argument())
        if name in ("sum", "prod"):
            return self.big(name)
        if name in ("int", "iint", "iiint", "oint", "lim", "limsup", "liminf", "bigcup", "bigcap"):
            return self.opaque(name)
        if name in ("overline", "bar", "underline", "vec", "hat", "widehat", "tilde", "widetilde", "dot", "ddot") or (
            name in ("overrightarrow", "overleftrightarrow", "wideparen", "overparen")
        ):
            inner = self.argument()
            if inner.op == "sym":
                letter = inner.value.rpartition(":")[2]
                letter = {"imath": "i", "jmath": "j"}.get(letter, letter)
                return self.named(f"{_ACCENTS.get(name, name)}:{letter}")
            if name == "underline" or (name == "bar" and exact_of(inner) is not None):
                return inner
            if name == "overline" and exact_of(inner) is None:
                return Node("fn", (inner,), "overline")
            if name in ("vec", "overrightarrow") and inner.op == "mul" and all(n.op == "sym" for n in inner.args):
                return Node("sym", (), "vec:" + "".join(n.value for n in inner.args))  # one vector from A to B
            return Node("opaque", (inner,), _ACCENTS.get(name, name))
        if name in ("overset", "underset", "stackrel"):
            self.argument()
            return self.argument()
        if name in ("pmod", "bmod", "mod"):
            self.i -= 1
        self.fail("a command out of place")

    def limits(self) -> tuple[Node | None, Node | None]:
        lower = upper = None
        while True:
            if self.take_op("_"):
                lower = self.script_node()
            elif self.take_op("^"):
                upper = self.script_node()
            else:
                return lower, upper

    def script_node(self) -> Node:
        token = self.toks[self.i]
        if token.kind == "o" and token.text == "{":
            self.i += 1
            self.open.append("{")
            node = self.items(("}",))
            self.open.pop()
            self.expect("}")
            return node
        return self.argument(script=True)

    def big(self, name: str) -> Node:
        """big := ("\\sum"|"\\prod") "_{" letter "=" low "}" "^{" high "}" term"""
        lower, upper = self.limits()
        body = self.term()
        if lower is not None and upper is not None and lower.op == "rel" and lower.value == ("=",):
            index, low = lower.args
            if index.op == "sym":
                return Node("big", (indexed(body, index.value), low, upper), (name, index.value))
            if index.op == "const" and index.value == "i":
                return Node("big", (body, low, upper), (name, "i"))
        return Node("opaque", tuple(n for n in (body, lower, upper) if n is not None), name)

    def opaque(self, name: str) -> Node:
        """opaque := ("\\int"|"\\lim"|...) limits term ; an integral takes the whole sum up to its differential"""
        lower, upper = self.limits()
        if name in ("bigcup", "bigcap", "lim", "limsup", "liminf"):
            body = self.term()
        else:
            self.integrals += 1
            body = self.sum()
            self.integrals -= 1
        return Node("opaque", tuple(n for n in (body, lower, upper) if n is not None), name)

    def function(self, name: str) -> Node:
        """function := name ("_" base)? ("^" power)? argument"""
        name = FUNCTION_NAMES.get(name, name)
        base: Node | None = None
        exponent: Node | None = None
        primes = 0
        while True:
            if self.take_op("_"):
                base = self.argument(script=True)
            elif self.is_op("^") and self.toks[self.i + 1].text not in ("°",):
                self.i += 1
                exponent = self.argument(script=True)
            elif self.is_op("'"):
                self.i += 1
                primes += 1
            else:
                break
        if primes:
            self.fail("a primed function")
        token = self.toks[self.i]
        if name in ("max", "min", "gcd", "lcm") and token.kind == "r" and base is None and exponent is None:
            return Node("sym", (), name)  # \\max = 12
        args: tuple[Node, ...]
        if (token.kind == "o" and token.text in ("(", "|(", "[")) or (token.kind == "o" and token.text == "{"):
            if token.text == "{":
                inner = self.group()
            else:
                inner = self.bracket(token)
            if inner.op in ("tuple", "list", "bracket") and inner.args:
                args = inner.args
            elif inner.op in ("interval",):
                self.fail("a function of an interval")
            else:
                args = (inner,)
            if name in ("max", "min", "gcd", "lcm") and len(args) == 1 and args[0].op in ("set", "list"):
                args = args[0].args
            if len(args) == 1 and name not in ("max", "min", "gcd", "lcm") and self.is_op("!"):
                args = (self.postfix(args[0]),)
        else:
            args = (self.function_argument(name),)
            if name in ("max", "min", "gcd", "lcm") and args[0].op == "set":
                args = args[0].args
        if name in ("max", "min", "gcd", "lcm") and len(args) < 2:
            self.fail(f"{name} of one value")
        if name in ("max", "min", "gcd", "lcm") and base is not None:
            return Node("opaque", (*args, base), name)
        return _apply(name, args, base, exponent, self.fail)

    def function_argument(self, name: str) -> Node:
        """argument without brackets := sign? factor factor* up to an operator, a bracket or another function"""
        sign = self.signs()
        token = self.toks[self.i]
        if not self.starts_factor(token):
            self.fail(f"nothing to apply {name} to")
        factors = [self.factor()]
        while True:
            token = self.toks[self.i]
            kind = token.kind
            if self.integrals and kind in ("w", "W") and token.text[0] == "d" and len(token.text) < 3:
                break  # the dx of an integral is no factor of an argument
            if kind in ("n", "s", "k", "N") or (kind == "c" and token.text in ("frac", "sqrt", "binom")):
                if kind == "n" and self.toks[self.i - 1].kind == "n":
                    break
                factors.append(self.factor())
            elif (
                kind == "w"
                and not is_word(token.text)
                and token.text.lower() not in FUNCTIONS
                and not _has_function(token.text)
            ):
                factors.append(self.factor())
            elif kind == "o" and token.text == "/" and len(factors) == 1 and token.space == 0:
                # sin x/2 is read as sin(x/2) only when written tight: \sin\pi/6
                following = self.toks[self.i + 1]
                if following.kind != "n" or (exact_of(factors[0]) is not None and factors[0].op != "const"):
                    break
                if factors[0].op not in ("const", "mul"):
                    break
                self.i += 1
                factors = [tree.div(factors[0], self.factor())]
            else:
                break
        return _signed(sign, tree.mul(factors))

    def bracket(self, token: Token) -> Node:
        """bracket := "(" items ")" | "[" items "]" | half-open mixtures | "\\{" set "\\}" | bars | floor | ceiling"""
        text = token.text
        if text == "{":
            return self.braces()
        if text in ("(", "[", "]", "⟨"):
            return self.round_or_square(text)
        if text == "\\{":
            return self.set_braces()
        if text in ("|", "|(", "‖"):
            return self.absolute(text)
        if text in ("⌊", "⌈"):
            self.i += 1
            self.open.append(text)
            bars, self.bars = self.bars, 0
            inner = self.sum()
            self.bars = bars
            self.open.pop()
            self.expect(OPENERS[text])
            return tree.rounded("floor" if text == "⌊" else "ceil", inner)
        if text == "^":
            return self.leading_script()
        if text == "_":
            return self.leading_script()
        if text in ("angle", "triangle", "measuredangle", "vartriangle", "square"):
            self.i += 1
            return self.factor()
        if text in ("neg", "lnot"):
            self.i += 1
            return Node("opaque", (self.factor(),), "neg")
        if text in ("-", "+", "±", "∓"):
            sign = self.signs()
            return _signed(sign, self.factor())
        self.fail("cannot read")

    def braces(self) -> Node:
        """braces := "{" items "}" ; with nothing inside, the base of a script as in `{}^{10}C_3`"""
        following = self.toks[self.i + 1]
        if following.kind == "o" and following.text == "}":
            self.i += 2
            if self.is_op("^") or self.is_op("_"):
                return self.leading_script()
            if self.starts_factor(self.toks[self.i]):
                return self.atom()
            self.fail("an empty group")
        if self.toks[self.i + 2].text == "|" and following.kind == "w" and len(following.text) == 1:
            return self.set_braces("}")  # {x|x>2} from plain text
        return self.group()

    def leading_script(self) -> Node:
        """leading script := ("^"|"_") n letter ("_" k)? , as in `^{10}C_3` and `_{10}C_3`"""
        upper = self.toks[self.i].text == "^"
        self.i += 1
        token = self.toks[self.i]
        if upper and token.kind == "o" and token.text == "°":
            self.fail("a degree sign alone")
        if token.kind == "n" and token.text.isdigit() and len(token.text) < 19:
            self.i += 1
            top = Node("num", (), int(token.text))
        else:
            top = self.argument(script=True)
        if self.is_op("{") and self.toks[self.i + 1].text == "}":
            self.i += 2
        token = self.toks[self.i]
        if token.kind in ("w", "W") and token.text[0] in "CP":
            if len(token.text) > 1:
                self.split_word(token, self.i, 1)
                token = self.toks[self.i]
            self.i += 1
            if self.take_op("_"):
                bottom = self.argument(script=True)
                return tree.binomial(top, bottom) if token.text == "C" else Node("perm", (top, bottom))
        self.fail("a script with nothing before it")

    def absolute(self, opener: str) -> Node:
        """absolute := "|" sum "|" """
        self.i += 1
        closer = {"|": "|", "|(": "|)", "‖": "‖"}[opener]
        bars, self.bars = self.bars, 0 if opener == "|(" else 1
        self.open.append(opener)
        inner = self.setexpr()
        if inner.op == "sym" and self.toks[self.i].kind == "w":
            self.fail("bars")
        self.open.pop()
        self.bars = bars
        token = self.toks[self.i]
        if token.kind == "o" and token.text in ("|", "|)", closer):
            self.i += 1
        else:
            self.fail("bars that do not close")
        return Node("abs", (inner,))

    def round_or_square(self, opener: str) -> Node:
        """round or square := opener items closer ; two items and unlike or half-open brackets make an interval"""
        alone = self.i == 0 or self.toks[self.i - 1].kind in (",", "q", "r")
        self.i += 1
        self.open.append(opener)
        bars, self.bars = self.bars, 0
        closers = {"(": (")", "]"), "[": ("]", ")", "["), "]": ("[", "]", ")"), "⟨": ("⟩",)}[opener]
        node = self.bracket_items(closers)
        self.bars = bars
        self.open.pop()
        token = self.toks[self.i]
        if token.kind == "o" and token.text in closers:
            self.i += 1
            closer = token.text
        elif token.kind == "":
            closer = closers[0]  # forgotten at the very end
            self.forgiven += 1
            if self.forgiven > 1:
                self.fail("brackets that do not close")
            if exact_of(node) is not None and alone:
                self.fail("a bracket that does not close")  # `((5` is a slip of something, not of 5
        else:
            self.fail("a bracket that does not close")
        if node.op == "list" and not node.args:
            self.fail("empty brackets")
        if node.op == "opaque" and node.value == "compose" and self.is_op("(") and node.args[1].op == "sym":
            outer, inner = node.args
            return Node("call", (Node("call", (self.bracket(self.toks[self.i]),), inner.value),), outer.value)
        if opener == "[" and closer == "]" and self.is_op("_") and exact_of(node) is not None:
            self.i += 1
            return Node("residue", (node, self.argument(script=True)))  # [10]_{11}, a class and no number
        if node.op == "list":
            elements = node.args
            if len(elements) == 2 and node.value != "or":
                low, high = elements
                left = opener == "["
                right = closer == "]"
                if opener == "]" or (opener in "([" and closer == "[") or left != right:
                    return Node("interval", (low, high), (left, right))
                if opener == "(" and closer == ")" and _is_end(low, high):
                    return Node("interval", (low, high), (False, False))
                if opener == "[" and closer == "]" and _is_end(low, high):
                    return Node("interval", (low, high), (True, True))
            if opener == "[" and closer == "]":
                return Node("bracket", elements)
            if opener == "]" or closer == "[" or (opener == "(" and closer == "]") or (opener == "[" and closer == ")"):
                self.fail("unlike brackets")
            return Node("tuple", elements)
        if (opener == "(" and closer == "]") or (opener == "[" and closer == ")"):
            self.fail("unlike brackets")
        if opener == "⟨":
            return Node("tuple", (node,))
        if opener == "[" and node.op != "matrix":
            return (
                Node("bracket", (node,))
                if alone and not self.open and self.toks[self.i].kind in ("", ",", "q")
                else node
            )
        return node

    def bracket_items(self, closers: tuple[str, ...]) -> Node:
        """Items inside brackets; `(1,000, 2)` uses both a tight and a spaced comma, so the tight one is thousands."""
        if self.comma == "auto":
            mode = self.comma_mode(closers)
            if mode != "auto":
                self.comma = mode
                node = self.items(closers)
                self.comma = "auto"
                return node
        return self.items(closers)

    def comma_mode(self, closers: tuple[str, ...]) -> str:
        depth = 0
        tight = spaced = False
        j = self.i
        while True:
            token = self.toks[j]
            if token.kind == "":
                break
            if token.kind == "o":
                if token.text in OPENERS:
                    depth += 1
                elif token.text in (")", "]", "}", "\\}", "⟩"):
                    if depth == 0:
                        break
                    depth -= 1
            elif depth == 0 and token.kind == ",":
                if token.text == ";" or self.toks[j + 1].space == 2:
                    spaced = True
                else:
                    tight = True
            j += 1
        return "thousands" if tight and spaced else "list"

    def set_braces(self, closer: str = "\\}") -> Node:
        """set := "\\{" items "\\}" | "\\{" item ("|"|":") conditions "\\}" """
        self.i += 1
        self.open.append("\\{")
        bars, self.bars = self.bars, 1
        comma, self.comma = self.comma, "list" if self.comma == "auto" else self.comma
        first = self.items((closer, "|", ":"))
        token = self.toks[self.i]
        if token.kind == "o" and token.text in ("|", ":"):
            self.i += 1
            self.bars = 0
            condition = self.items((closer,))
            node = Node("build", (first, condition))
        elif first.op == "list" and token.kind == "" and all(n.op == "rel" for n in first.args) and first.args:
            node = first  # the brace of a system stays open
        elif first.op == "cases" and token.kind == "":
            node = first
        elif first.op == "list" and not (first.value == "or" and any(a.op == "rel" for a in first.args)):
            node = Node("set", first.args)
        else:
            node = Node("set", (first,))
        self.comma = comma
        self.bars = bars
        self.open.pop()
        if not node.args and not self.is_op(closer):
            self.fail("a set that does not close")
        self.expect(closer)
        if not node.args:
            return Node("const", (), "empty")
        return node

    def is_unequal(self) -> bool:
        """Whether the "!" here begins `!=`; `5! = 120` has a space and is a factorial."""
        following = self.toks[self.i + 1]
        return following.text == "=" and following.space == 0

    def environment(self, token: Token) -> Node:
        """environment := "\\begin{...}" rows "\\end{...}" """
        name = token.text
        self.i += 1
        if name in ("cases", "rcases", "dcases") or (name == "array" and self.opens_cases()):
            return self.case_rows(name)
        if name in _ALIGNMENTS:
            return self.aligned_rows(name)
        if name not in _MATRICES:
            self.fail("an unknown environment")
        rows: list[list[Node]] = [[]]
        self.open.append(name)
        bars, self.bars = self.bars, 0
        while True:
            token = self.toks[self.i]
            if token.kind == "E":
                self.i += 1
                break
            if token.kind == "" and rows[-1] and not self.forgiven:
                self.forgiven += 1  # \\end is forgotten at the very end
                break
            if token.kind == "":
                self.fail("an environment that does not end")
            if token.kind == "o" and token.text == "\\\\":
                self.i += 1
                rows.append([])
            elif token.kind == "o" and token.text == "&":
                self.i += 1
            else:
                rows[-1].append(self.chain())
                if sum(map(len, rows)) > MAX_ELEMENTS:
                    raise Problem("over_limit", f"more than {MAX_ELEMENTS} cells")
        self.bars = bars
        self.open.pop()
        rows = [row for row in rows if row]
        if not rows or any(len(row) != len(rows[0]) for row in rows):
            self.fail("rows of unlike length")
        cells = tuple(cell for row in rows for cell in row)
        if len(rows[0]) == 1 and all(n.op == "rel" for n in cells):
            return Node("list", cells, ",")  # a system of equations
        return Node("matrix", cells, (len(rows), len(rows[0]), _MATRICES[name]))

    def opens_cases(self) -> bool:
        """`\\left\\{\\begin{array}{ll} 1, & n = 1 \\\\ 2n, & n \\ge 2 \\end{array}`: cases without their name"""
        if self.open[-1:] != ["\\{"] or self.toks[self.i - 2].text != "\\{":
            return False
        j = self.i
        while (token := self.toks[j]).kind not in ("E", ""):
            if token.text == "&":
                return self.toks[j + 1].kind != "r" and self.toks[j - 1].kind in (",", "q")
            j += 1
        return False

    def aligned_rows(self, name: str) -> Node:
        """alignment := row ("\\\\" row)* ; `&` only says where rows meet, and a row that starts with "=" goes on"""
        rows: list[list[Token]] = [[]]
        while (token := self.toks[self.i]).kind and not (token.kind == "E" and token.text == name):
            self.i += 1
            if token.kind == "o" and token.text == "\\\\":
                rows.append([])
            elif token.kind != "o" or token.text != "&":
                rows[-1].append(token)
        self.i += 1
        merged: list[list[Token]] = []
        for row in rows:
            if merged and row and row[0].kind == "r":
                merged[-1].extend(row)
            elif row:
                merged.append(row)
        parts = [self.apart(row) for row in merged]
        known = [part for part in parts if part is not None]
        if not known or len(known) != len(parts):
            self.fail("a row that cannot be read")
        return known[0] if len(known) == 1 else Node("list", tuple(known), ",")

    def case_rows(self, name: str) -> Node:
        """cases := (value "&"? ("if"|",")? condition "\\\\")*"""
        cells: list[Node] = []
        bare = True
        self.open.append(name)
        while True:
            while self.take_op("\\\\"):
                pass
            token = self.toks[self.i]
            if token.kind in ("E", ""):
                self.i += token.kind == "E"
                break
            start = self.i
            depth = 0
            while self.toks[self.i].kind not in ("E", "") and not (
                depth == 0 and self.toks[self.i].text in ("\\\\", "&")
            ):
                depth += self.toks[self.i].text in OPENERS
                depth -= self.toks[self.i].text in (")", "]", "}", "\\}")
                self.i += 1
            value = self.toks[start : self.i]
            condition: list[Token] = []
            if self.take_op("&"):
                start = self.i
                while self.toks[self.i].kind not in ("E", "") and self.toks[self.i].text != "\\\\":
                    self.i += 1
                condition = self.toks[start : self.i]
            while condition and condition[0].kind in ("w", "W") and condition[0].text.lower() in QUALIFIERS:
                condition = condition[1:]
            while value and value[-1].kind in (",", "q"):
                value = value[:-1]
            cells.append(self.apart(value) or Node("text", (), " ".join(t.text for t in value)))
            cells.append(self.apart(condition) or Node("text", (), " ".join(t.text for t in condition)))
            bare = bare and not condition
        self.open.pop()
        if not cells:
            self.fail("empty cases")
        if bare and all(n.op == "rel" for n in cells[::2]):
            return Node("list", tuple(cells[::2]), ",")  # a system of equations
        return Node("cases", tuple(cells))


def _is_vector(node: Node) -> bool:
    """A bracketed list, possibly under a sign or a factor."""
    while node.op in ("neg", "pm", "mp") or (node.op == "mul" and node.args[-1].op in ("tuple", "bracket")):
        node = node.args[-1]
    return node.op in ("tuple", "bracket")


def _scaled_vector(node: Node) -> Node:
    """`t(2,3,-1)` beside a vector: a multiple of one, no function of three numbers."""
    if node.op == "neg":
        return Node("neg", (_scaled_vector(node.args[0]),))
    if node.op == "call" and len(node.args) > 1:
        return Node("mul", (Node("sym", (), node.value), Node("tuple", node.args)))
    return node


def _signed(sign: str, node: Node) -> Node:
    if sign == "+":
        return node
    if sign == "-":
        return tree.neg(node)
    return Node("pm" if sign == "±" else "mp", (node,))


def _factors(pending: list[Node]) -> list[Node]:
    """The factors of a product as written: `n(n-1)` is two, `f(x)` one."""
    return [
        part
        for n in pending
        for part in (
            (Node("sym", (), n.value), n.args[0])
            if n.op == "call" and len(n.args) == 1 and n.value not in FUNCTION_LETTERS
            else (n,)
        )
    ]


def compound_quantity(first: Node, second: Node) -> Node | None:
    """`1 hour 30 minutes`, `5 ft 6 in`: a larger and a smaller unit of one dimension add up."""
    if first.op == second.op == "money" and (first.value, second.value) == ("$", "¢"):
        cents = tree.mul([Node("calc", (), Fraction(1, 100)), second.args[0]])
        return Node("money", (tree.add([first.args[0], cents]),), "$")
    if first.op != "qty" or second.op != "qty":
        return None
    one, two = first.value, second.value
    if one.kind != "unit" or one.dimension != two.dimension or one.factor <= two.factor:
        return None
    total = tree.add(
        [
            tree.mul([Node("calc", (), one.factor), first.args[0]]),
            tree.mul([Node("calc", (), two.factor), second.args[0]]),
        ]
    )
    whole = tree.div(total, Node("calc", (), two.factor))
    return Node("qty", (whole,), two._replace(text=f"{one.text} + {two.text}"))


def _primed(node: Node) -> Node:
    if node.op == "sym":
        return Node("sym", (), node.value + "'")
    if node.op == "call":
        return Node("call", node.args, node.value + "'")
    if node.op == "deg" or exact_of(node) is not None:
        return Node("deg", (tree.div(node.args[0] if node.op == "deg" else node, Node("num", (), 60)),), "'")
    return Node("opaque", (node,), "'")


def _has_dms(parts: list[Node]) -> bool:
    return len(parts) > 1 and all(p.op == "deg" for p in parts)


def _sum_dms(parts: list[Node]) -> Node:
    """`22° 30'` is one angle."""
    return Node("deg", (tree.add([p.args[0] for p in parts]),))


def _dms(node: Node) -> Node:
    return Node("deg", node.args) if node.op == "deg" and node.value else node


def _is_quantity(pending: list[Node]) -> bool:
    """Whether a unit may follow: after a number, or an expression of numbers and constants."""
    last = pending[-1]
    return last.op not in ("text", "qty", "tuple", "set", "interval", "matrix", "const") or (
        last.op == "const" and last.value in ("pi", "e")
    )


def _splits(text: str) -> bool:
    """An upright run that is no unit but a product, as \\mathrm{ABC}."""
    return text.isupper() and len(text) <= 4


def _has_function(text: str) -> bool:
    low = text.lower()
    return any(
        low[i:].startswith(("sin", "cos", "tan", "log", "ln", "sqrt", "exp", "cot", "sec", "csc"))
        for i in range(len(low))
    )


def _is_end(low: Node, high: Node) -> bool:
    """Whether infinity is an end: then two items in brackets are an interval and no point."""
    return low in _INFINITE or high in _INFINITE


def _transpose(node: Node) -> Node:
    if node.op != "matrix":
        return Node("matrix", node.args, (len(node.args), 1, "("))
    rows, columns, fence = node.value
    return Node(
        "matrix", tuple(node.args[r * columns + c] for c in range(columns) for r in range(rows)), (columns, rows, fence)
    )


def _apply(name: str, args: tuple[Node, ...], base: Node | None, exponent: Node | None, fail: object) -> Node:
    """A function with its base and its power: `\\sin^2 x` is a square, `\\sin^{-1} x` the inverse."""
    if name == "log" and base is not None:
        node = Node("fn", (*args, base), "log")
    elif name == "lg":
        node = Node("fn", (*args, Node("num", (), 10)), "log")
    elif base is not None:
        node = Node("opaque", (*args, base), name)
    elif name == "cis" and len(args) == 1:
        node = tree.add([Node("fn", args, "cos"), tree.mul([Node("sym", (), "i"), Node("fn", args, "sin")])])
    elif name == "exp" and len(args) == 1:
        node = tree.power(Node("const", (), "e"), args[0])
    elif name == "sqrt" and len(args) == 1:
        node = Node("root", (args[0], TWO))
    elif name == "cbrt" and len(args) == 1:
        node = Node("root", (args[0], Node("num", (), 3)))
    elif name == "abs" and len(args) == 1:
        node = Node(name, args)
    elif name in ("floor", "ceil") and len(args) == 1:
        node = tree.rounded(name, args[0])
    elif name in ("gcd", "lcm"):
        node = tree.divisors(name, args)
    elif name == "det" and len(args) == 1 and args[0].op == "matrix":
        node = Node("matrix", args[0].args, (*args[0].value[:2], "|"))
    else:
        node = Node("fn", args, name)
    if exponent is None:
        return node
    if exact_of(exponent) == -1 and name in _INVERSES:
        return Node("fn", args, _INVERSES[name])
    return tree.power(node, exponent)
