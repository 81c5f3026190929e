"""Reads an answer's text - LaTeX, plain text or unicode - into a `Node`: tokens first, then a grammar.

`parse(text)` either consumes everything or raises `Problem`; an unread tail is never dropped, because a grader that
stops early pays the first term of a sum for the whole (huggingface/Math-Verify#60, Qwen2.5-Math's parser).

Each method's docstring is its grammar line. One regular expression cuts tokens; structure is never read by one.
What a number may look like is in `numerals`, units are in `unit_grammar`, texts without a formula in `prose`, sets of
numbers in words in `domains`.
Brackets nested deeper than `_CHUNK_DEPTH` are read innermost first, so the Python stack stays shallow for any input.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import factorial
from typing import Final

from rewards.math_equivalence import tree
from rewards.math_equivalence.domains import Domain, between, bounded, domain_of, relation_of
from rewards.math_equivalence.dotted import closed, indexed
from rewards.math_equivalence.expressions import FUNCTION_LETTERS
from rewards.math_equivalence.numerals import Numerals, han_number
from rewards.math_equivalence.prose import all_words, is_date, phrase, sentence, worded
from rewards.math_equivalence.tokens import (
    END,
    ENDS,
    GREEK_WORDS,
    PLAIN_CONSTS,
    Token,
    fold_unicode,
    is_word,
    restore_commands,
    tokens,
)
from rewards.math_equivalence.tree import (
    INFTY,
    MAX_CHARS,
    MAX_DEPTH,
    MAX_ELEMENTS,
    TWO,
    Node,
    Problem,
    exact_of,
)
from rewards.math_equivalence.unit_grammar import UnitGrammar, quantity, unit_like
from rewards.math_equivalence.units import read_unit
from rewards.math_equivalence.vocabulary import (
    AND_WORDS,
    FILLERS,
    FUNCTION_NAMES,
    FUNCTIONS,
    LABELS,
    NEGATIONS,
    NOT_ELSEWHERE,
    OR_WORDS,
    QUALIFIERS,
    SAID_ELSEWHERE,
    SCALES,
    STOP_WORDS,
    label_name,
)

MAX_LETTERS: Final = 64
"""Longest run of letters that is read as a product."""
MAX_NESTING: Final = 32
"""Most arguments inside arguments that one parser follows; brackets are read in parts before that."""
MAX_PERMUTED: Final = 6
"""Longest tuple whose permutations may be written out, and most tuples at once."""
MAX_PERMUTATIONS: Final = 150
MAX_DOTTED: Final = 3
"""Most sums and products with dots whose rule is looked for in one text."""
_CHUNK_DEPTH: Final = 16
_OPENERS: Final = {"(": ")", "[": "]", "{": "}", "\\{": "\\}", "⟨": "⟩", "⌊": "⌋", "⌈": "⌉", "|(": "|)"}


class _Parser(Numerals, UnitGrammar):
    """Recursive descent with implicit products. `comma` says what `1,234` is: `thousands`, `list` or `decimal`."""

    __slots__ = ()

    # ---- lists

    def document(self) -> Node:
        """document := items END"""
        node = self.items(("",), top=True)
        if self.toks[self.i].kind:
            self.fail("cannot read on")
        return node

    def items(self, closers: tuple[str, ...], *, top: bool = False) -> Node:
        """items := clause ((","|";"|"and"|"or"|wide space|row break) clause)*, as `list` when there are two or more"""
        items: list[Node] = []
        seps: list[str] = []
        last_sep = ""
        while True:
            while (sep := self.separator(top)) is not None:
                last_sep = sep if last_sep in ("", "quad") or sep in ("or", "and", ";") else last_sep
            token = self.toks[self.i]
            if token.kind == "" or (
                token.kind == "o" and token.text in closers and (token.text != "[" or self.closes_half_open())
            ):
                break
            if token.kind == "o" and top and token.text in (")", "}", "\\}", "]") and self.only_closers_left():
                self.i = len(self.toks) - len(ENDS)
                break
            if items:
                if not last_sep and token.text.lower() == "up" and (orders := self.permutations_ahead()) is not None:
                    return _permuted(items, orders)
                if not last_sep:
                    self.fail("cannot read on")
                qualified = token.kind in ("w", "W") and token.text.lower() in QUALIFIERS
                if not qualified and token.text == "forall":
                    qualified = items[-1].op == "rel"  # f(x) = 2x, ∀x ∈ R
                if qualified and last_sep in (",", "quad"):
                    items[-1] = self.condition(items[-1])  # x = 2πn, where n is an integer
                    last_sep = ""
                    continue
                if token.kind in ("w", "W") and (orders := self.permutations_ahead()) is not None:
                    return _permuted(items, orders)
                seps.append(last_sep)
            last_sep = ""
            item = self.clause()
            token = self.toks[self.i]
            if token.kind == "c" and token.text in ("over", "choose", "atop"):
                self.i += 1
                right = self.clause()
                item = tree.binomial(item, right) if token.text == "choose" else tree.div(item, right)
            items.append(item)
            if len(items) > MAX_ELEMENTS:
                raise Problem("over_limit", f"more than {MAX_ELEMENTS} elements")
        if not items:
            return Node("list")
        if len(items) == 1:
            return items[0]
        return _gather(items, seps)

    def permutations_ahead(self) -> bool | None:
        """Passes over "(all) its (cyclic) permutations": whether only cyclic ones; None for other words"""
        start = self.i
        words = self.words()
        if self.at_clause_end() and set(words) <= _PERMUTING and {"permutations", "permutation", "order"} & set(words):
            return "cyclic" in words
        self.i = start
        return None

    def only_closers_left(self) -> bool:
        j = self.i
        while (t := self.toks[j]).kind == "o" and t.text in (")", "}", "\\}", "]", "."):
            j += 1
        return not t.kind and sum(t.text in (")", "]") for t in self.toks[self.i : j]) < 2

    def separator(self, top: bool) -> str | None:
        """separator := "," | ";" | "and" | "or" | wide space | row break | trailing punctuation"""
        token = self.toks[self.i]
        kind, text = token.kind, token.text
        if kind == ",":
            self.i += 1
            return text
        if kind == "q":
            self.i += 1
            return "quad"
        if kind in ("W", "w"):
            low = text.lower()
            if low in AND_WORDS:
                self.i += 1
                return "and"
            if low in OR_WORDS:
                self.i += 1
                return "or"
            return None
        if kind == "o":
            top_or_set = top or (bool(self.open) and self.open[-1] == "\\{")
            if text in ("wedge", "land") and top_or_set:
                self.i += 1
                return "and"
            if text in ("vee", "lor") and top_or_set:
                self.i += 1
                return "or"
            if text == "\\\\" and not self.open:
                self.i += 1
                return ","
            if text == "." and (
                self.toks[self.i + 1].kind in ("", ",") or self.toks[self.i + 1].text in ("]", ")", "}", "\\}")
            ):
                self.i += 1
                return "."
            if text in ("!", "?") and top and self.toks[self.i + 1].kind == "":
                self.i += 1
                return "."
        return None

    # ---- clauses

    def clause(self) -> Node:
        """clause := label? chain (mod | condition)*"""
        token = self.toks[self.i]
        if token.text in _MEASURES and (named := self.named_quantity()) is not None:
            return named
        if token.kind == "o" and token.text in ("forall", "exists", "therefore", "because", "angle", "triangle"):
            if token.text in ("forall", "exists"):
                return self.quantified()
            self.i += 1
        if token.kind in ("W", "w") and not (token.text[0] in "ABCDEF" and self.letters_of_a_base()):
            start = self.i
            words = self.words()
            after = self.toks[self.i]
            if words and words[0] == "not":
                raise _Prose
            if words:
                if after.kind == "o" and after.text == ":" and self.toks[self.i + 1].kind:
                    self.i += 1
                    return Node("label", (self.clause(),), label_name(words))
                if (
                    after.kind == "r"
                    and after.text == "="
                    and len(words) >= 1
                    and (len(words) > 1 or len(words[0]) > 2)
                ):
                    self.i += 1
                    return Node("label", (self.clause(),), label_name(words))
                special = phrase(words)
                if special is not None and self.at_clause_end():
                    return special
                if (bound := relation_of(words)) in ("<=", ">=") and self.toks[self.i].kind in ("n", "c", "o"):
                    return Node("rel", (Node("sym", (), "_"), self.sum()), (bound,))  # at most 5
                bare = words[1:] if words[0] in ("all", "any", "every", "the") else words
                if bare in _MULTIPLES and self.toks[self.i].kind == "n":
                    return Node("cong", (tree.ZERO, self.sum()))
                domain = domain_of(words)
                if domain is not None and (special := self.bounded_domain(domain)) is not None:
                    return special
                if all(w in FILLERS for w in words) and not self.at_clause_end():
                    return self.clause()
                core = [w for w in words if w not in ("value", "values", "of", "is")]
                number = self.toks[self.i + 1] if after.kind == "o" and after.text == "-" else after
                if words[-2:] == ["permutations", "of"] and set(words) <= _PERMUTING:
                    return _permuted([self.chain()], cyclic="cyclic" in words)
                point = after.text == "(" and core[-1:] in (["center"], ["vertex"], ["focus"], ["midpoint"], ["centre"])
                if core and core[-1] in LABELS and len(words) < 5 and (point or number.kind in ("n", "m", "c", "s")):
                    return Node("label", (self.clause(),), label_name(words))
                raise _Prose
            self.i = start
        if (named := self.named_quantity()) is not None:
            return named
        node = self.chain()
        while True:
            token = self.toks[self.i]
            if token.kind == "c" and token.text in ("pmod", "mod", "pod"):
                self.i += 1
                modulus = self.number() if self.toks[self.i].kind == "n" else self.argument()
                node = _congruence(node, modulus)
            elif token.kind == "o" and token.text == "(" and self.mod_ahead():
                self.i += 2
                modulus = self.sum()
                self.expect(")")
                node = _congruence(node, modulus)
            elif token.kind in ("w", "W") and token.text.lower() in ("mod", "modulo"):
                self.i += 1
                modulus = self.sum()
                node = _congruence(node, modulus) if node.op in ("rel", "cong") else Node("mod", (node, modulus))
            elif token.kind == "o" and token.text == "(" and self.words_only_ahead() and self.word_group():
                continue
            elif token.text == "(" and self.toks[self.i + 1].text in ("≈", "=") and node.op not in _SETLIKE:
                self.i += 1
                sign = self.toks[self.i].text
                self.i += 1
                sides, signs = (node.args, node.value) if node.op == "rel" else ((node,), ())
                node = Node("rel", (*sides, self.sum()), (*signs, sign))  # 12π (≈ 37.7)
                self.expect(")")
            elif (
                (node.op in _SETLIKE or node.op == "tuple")
                and token.kind in ("w", "W")
                and token.text.lower() in ("except", "excluding")
            ):
                self.i += 1
                if self.toks[self.i].text.lower() == "for":
                    self.i += 1
                if self.toks[self.i + 1].kind == "r":
                    self.i += 2
                node = Node("minus", (node, Node("set", (self.sum(),))))
            elif (token.kind == "o" and token.text == "(" and self.relation_ahead()) or (
                (token.kind in ("w", "W") and (token.text.lower() in QUALIFIERS or self.at_value()))
                or (
                    token.kind == "o"
                    and (token.text == "forall" or (token.text == ":" and "\\{" not in self.open))
                    and node.op in ("rel", "tuple", "list")
                )
            ):
                node = self.condition(node)
            else:
                return node

    def bounded_domain(self, domain: Domain) -> Node | None:
        """domain := words letter? (bound values)? , as in "all real numbers x except 0 and 1"; None for prose"""
        base, relation, bare = domain
        if not relation and self.toks[self.i].kind in ("w", "W") and len(self.toks[self.i].text) == 1:
            self.i += 1
            bare = False
            more = relation_of(self.words())
            if more is None:
                return None
            relation = more
        if not relation and self.toks[self.i].kind == "r":
            relation = "such"
            self.i -= 1
        if not relation:
            return base if self.at_clause_end() and not bare else None
        if relation == "such":
            condition = self.chain()
            letter = condition.args[0] if condition.op == "rel" else base
            return Node("build", (Node("rel", (letter, base), ("in",)), condition)) if letter.op == "sym" else None
        if self.toks[self.i + 1].kind == "r":
            self.i += 2  # except x = 0
        if relation == "between":
            low = self.sum()
            if self.separator(False) != "and":
                return None
            high = self.sum()
            closing = self.words()
            return between(base, low, high, closing == ["inclusive"]) if closing in ([], ["inclusive"]) else None
        values = [self.sum()]
        if relation != "except":
            return bounded(base, relation, values[0])
        while self.separator(False) is not None:
            values.append(self.sum())
        return Node("minus", (base, Node("set", tuple(values))))

    def named_quantity(self) -> Node | None:
        """label := ("P"|"E"|"Var") bracket "=" clause | "\\max" ... "=" clause | letter ":" equation

        `P(X = 2) = 1/3`, `E[X] = 2`, `\\max f(x) = 12`, `l: 2x - y = 0`: what stands in front is no part of the value.
        """
        start = self.toks[self.i]
        j = self.i + 1
        if start.kind not in ("w", "W", "s", "f", "b") and start.text not in _MEASURES:
            return None
        if start.text in ("max", "min", "Max", "Min", "MAX", "MIN", "sup", "inf"):
            pass
        elif start.text in _MEASURES and self.toks[j].kind == "o" and self.toks[j].text in ("(", "[", "\\{", "|("):
            if self.toks[j + 2].text == ")" and len(self.toks[j + 1].text) == 1 and self.toks[j + 1].text.islower():
                return None  # P(x) = x^2 is a polynomial
            j = self.closing(j)
            if j < 0 or not (self.toks[j].kind == "r" and self.toks[j].text in ("=", "≈")):
                return None
        elif start.kind in ("w", "W") and self.labels_value(j):
            self.i += 2
            return Node("label", (self.clause(),), start.text if len(start.text) == 1 else start.text.lower())
        elif start.text in ("l", "L", "C", "E", "ell", "S", "D") and self.toks[j].text == ":" and self.is_curve(j + 1):
            self.i = j + 1
            return self.clause()
        else:
            return None
        if self.toks[j].text == ":" or self.toks[j].kind == "n":
            j += self.toks[j].text == ":"  # Max: 8, min 3
            if start.text[0] not in "mM" or start.kind == "f" or self.toks[j].kind not in ("n", "m", "c", "s"):
                return None
            self.i = j
            return Node("label", (self.clause(),), label_name([start.text.lower()]))
        while not (self.toks[j].kind == "r" and self.toks[j].text in ("=", "≈")):
            token = self.toks[j]
            if token.kind in ("", ",", "q"):
                return None
            j = self.closing(j) if token.kind == "o" and token.text in _OPENERS else j + 1
            if j < 0:
                return None
        words = [t.text.lower() for t in self.toks[self.i : j]]
        words[0] = {"d": "var", "pr": "p", "prob": "p"}.get(words[0], words[0])
        name = label_name(words)
        self.i = j + 1
        return Node("label", (self.clause(),), name)

    def labels_value(self, j: int) -> bool:
        """`A: 15, B: 20` and `Ali: 15, Ben: 20`: a capital or a name, a colon and a number, in a list of such"""
        colon, number, after = self.toks[j : j + 3]
        listed = after.kind == "," or (self.i > 1 and self.toks[self.i - 1].kind == ",")
        name = self.toks[self.i].text
        return (
            colon.text == ":"
            and (name.isupper() if len(name) == 1 else name.istitle())
            and number.kind == "n"
            and listed
            and after.kind in ("", ",", "W", "w")
        )

    def closing(self, j: int) -> int:
        """One past the bracket that closes the one at `j`; -1 when none does within a few tokens."""
        depth = 0
        for at in range(j, min(j + 40, len(self.toks))):
            token = self.toks[at]
            if token.kind == "o":
                if token.text in ("(", "[", "{", "\\{", "|("):
                    depth += 1
                elif token.text in (")", "]", "}", "\\}", "|)"):
                    depth -= 1
                    if depth == 0:
                        return at + 1
        return -1

    def is_curve(self, j: int) -> bool:
        """Whether an equation in x or y follows, with no ratio in it: `l: 2x-3y+5=0`, but not `a:b=3:2`"""
        lettered = equal = False
        while (token := self.toks[j]).kind and token.kind not in (",", "q"):
            if token.text == ":":
                return False
            lettered = lettered or (token.kind == "w" and ("x" in token.text or "y" in token.text))
            equal = equal or (token.kind == "r" and token.text == "=")
            j += 1
        return lettered and equal

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

    def quantified(self) -> Node:
        """quantified := ("∀"|"∃") chain ("," | ":") clause"""
        sign = self.toks[self.i].text
        self.i += 1
        scope = self.chain()
        if self.toks[self.i].kind == "," or self.is_op(":") or self.is_op("|"):
            self.i += 1
            return Node("opaque", (scope, self.clause()), sign)
        return Node("opaque", (scope,), sign)

    def at_value(self) -> bool:
        """Whether "at x = 2" stands here: where a value is taken"""
        token, letter, sign = self.toks[self.i : self.i + 3]
        return token.text == "at" and letter.kind in ("w", "s") and sign.kind == "r" and sign.text == "="

    def mod_ahead(self) -> bool:
        following = self.toks[self.i + 1]
        return (following.kind in ("w", "W") and following.text.lower() in ("mod", "modulo")) or (
            following.kind == "c" and following.text in ("bmod", "mod")
        )

    def condition(self, node: Node) -> Node:
        """condition := ("for"|"where"|"if"|...) anything up to the next separator; kept as words"""
        if self.open and self.open[-1] == "[" and self.toks[self.i].kind == "w":
            self.fail("a program's list")  # [5 for x in y]
        words: list[str] = []
        depth = 0
        while True:
            token = self.toks[self.i]
            if token.kind == "":
                break
            if token.kind == "o" and token.text in _OPENERS:
                depth += 1
            elif token.kind == "o" and token.text in (")", "}", "\\}", "]"):
                if depth == 0:
                    break
                depth -= 1
            elif (
                depth == 0
                and (
                    token.kind in (",", "q")
                    or (token.kind in ("w", "W") and token.text.lower() in (AND_WORDS | OR_WORDS))
                )
                and not self.condition_goes_on()
            ):
                break
            words.append(token.text)
            self.i += 1
        if any(w.lower() in _REJECTED for w in words):
            return node  # x = 3 (x = -1 rejected)
        return Node("where", (node,), " ".join(words))

    def condition_goes_on(self) -> bool:
        """After a comma: "x, y ∈ Z" and "where c is prime, and d an integer" belong to the condition."""
        j = self.i
        while self.toks[j].kind in (",", "q") or self.toks[j].text.lower() in AND_WORDS:
            j += 1
        token, after = self.toks[j], self.toks[j + 1]
        if token.kind in ("w", "W", "s") and (
            after.kind == "r" and after.text in ("in", "!=", "<", ">", "<=", ">=", "⊂")
        ):
            return True
        before = self.toks[self.i - 1]
        if token.kind == "w" and len(token.text) == 1 and after.kind == "" and before.kind == "w":
            return len(before.text) == 1  # for some real a, b
        return token.kind in ("w", "W") and after.kind in ("w", "W") and after.text.lower() in ("is", "are", "an", "a")

    # ---- relations

    def chain(self) -> Node:
        """chain := setexpr (relation setexpr)* ; a leading relation as in "≤ 5" or "= 5" is read too"""
        token = self.toks[self.i]
        if token.kind == "r":
            self.i += 1
            right = self.chain()
            if token.text in ("=", "==", "->", "=>", "≈", "~"):
                return right
            if right.op == "rel":
                self.fail("two relations in a row")
            return Node("rel", (Node("sym", (), "_"), right), (token.text,))
        left = self.ratio()
        sides = [left]
        signs: list[str] = []
        while True:
            token = self.toks[self.i]
            if token.kind == "r":
                sign = token.text
                self.i += 1
                count = exact_of(sides[-1])
                if sign == "==":
                    if sides[-1].op != "sym":
                        self.fail("a test, which is true or false")
                    sign = "="
                if sign == "!=" and token.space == 0 and isinstance(count, int) and self.toks[self.i].kind == "n":
                    sides[-1] = tree.factorial(sides[-1])  # 5!=120 written tight
                    sign = "="
                following = self.toks[self.i]
                if following.kind == "r" and following.text == "=" and sign in ("<", ">", "=", "~"):
                    sign = sign + "=" if sign in "<>" else "≈"
                    self.i += 1
                if sign == "in" and following.kind in ("w", "W", "b") and following.text in ("Z", "N", "R", "Q", "C"):
                    self.toks[self.i] = Token("k", "numset:" + following.text, following.space)
                if sign == "=>":
                    # the conclusion of a derivation is the statement
                    return self.chain()
            elif token.kind == "o" and token.text == "!" and self.is_unequal():
                self.i += 2
                sign = "!="
            elif token.kind in ("w", "W") and token.text.lower() in ("is", "equals", "are", "in"):
                if token.text.lower() == "is" and self.said_of_it():
                    continue
                if token.text.lower() in ("is", "are") and (multiple := self.worded_multiple(left)) is not None:
                    return multiple
                if token.text.lower() in ("is", "are") and (within := self.worded_between(left)) is not None:
                    return within
                if token.text.lower() in ("is", "are") and (worded := self.worded_sign()):
                    sides.append(self.ratio())
                    signs.append(worded)
                    continue
                if token.text.lower() in ("is", "are") and (named := self.worded_domain()) is not None:
                    sides.append(named)
                    signs.append("in")
                    continue
                self.i += 1
                sign = "in" if token.text.lower() == "in" else "="
            elif token.kind in ("w", "W") and token.text.lower() in _COMPARING and (worded := self.worded_sign()):
                sides.append(self.ratio())
                signs.append(worded)
                continue
            else:
                break
            if sign == "=" and self.at_clause_end() and self.toks[self.i].kind == "":
                self.fail("nothing after the relation")
            if self.toks[self.i].kind in ("w", "W"):
                start = self.i
                words = self.words()
                if words:
                    special = phrase(words)
                    if special is not None and self.at_clause_end():
                        sides.append(special)
                        signs.append(sign)
                        continue
                    if not all(w in FILLERS for w in words):
                        if self.at_clause_end():
                            sides.append(Node("text", (), " ".join(words)))
                            signs.append(sign)
                            continue
                        raise _Prose
                else:
                    self.i = start
            sides.append(self.ratio())
            signs.append(sign)
        if not signs:
            return left
        if signs == ["≡"] and sides[1].op == "mod":
            return Node("cong", (left, *sides[1].args))
        return Node("rel", tuple(sides), tuple(signs))

    def said_of_it(self) -> bool:
        """Passes over "is the smallest such number" behind a value: that says of it what the question asked for."""
        start = self.i
        self.i += 1
        words = self.words()
        if self.at_clause_end() and any(w in _SUPERLATIVES for w in words) and not any(w in NEGATIONS for w in words):
            return True
        self.i = start
        return False

    def worded_sign(self) -> str:
        """`x is at most 5`, `k is greater than 2`: the sign that the words behind "is" spell; "" for others"""
        start = self.i
        self.i += self.toks[start].text.lower() in ("is", "are")
        sign = relation_of(self.words())
        if sign in ("<", ">", "<=", ">="):
            return sign
        self.i = start
        return ""

    def worded_multiple(self, left: Node) -> Node | None:
        """`n is a multiple of 3`, `n is divisible by 3` as n ≡ 0 (mod 3)"""
        start = self.i
        self.i += self.toks[start].text.lower() in ("is", "are")
        self.i += self.toks[self.i].text == "a"
        if left.op == "sym" and self.words() in _MULTIPLES and self.toks[self.i].kind == "n":
            modulus = self.sum()
            if exact_of(modulus) is not None and self.at_clause_end():
                return Node("cong", (left, tree.ZERO, modulus))
        self.i = start
        return None

    def worded_between(self, left: Node) -> Node | None:
        """`a is between 3 and 7`; the ends belong to it only when that is said"""
        start = self.i
        self.i += 1
        if relation_of(self.words()) == "between":
            low = self.sum()
            if self.separator(False) == "and":
                high = self.sum()
                closed = high.op == "qty" and high.value.text == "inclusive"
                high = high.args[0] if closed else high
                sign = "<=" if closed or self.words() == ["inclusive"] else "<"
                if self.at_clause_end():
                    return Node("rel", (low, left, high), (sign, sign))
        self.i = start
        return None

    def worded_domain(self) -> Node | None:
        """`a is positive`, `x is any real number`: the set that the words behind "is" name"""
        start = self.i
        self.i += 1
        words = self.words()
        if self.at_clause_end() and words:
            domain = domain_of([*words, "numbers"]) if words[-1] in _SIGNED else domain_of(words)
            if domain is not None and not domain.relation:
                return domain.base
        self.i = start
        return None

    def ratio(self) -> Node:
        """ratio := setexpr (":" setexpr)* | clock time"""
        left = self.setexpr()
        token = self.toks[self.i]
        if token.text == "out" and self.toks[self.i + 1].text == "of" and exact_of(left) is not None:
            self.i += 2
            return tree.div(left, self.setexpr())  # 4 out of 9
        if not (token.kind == "o" and token.text == ":") and not (
            token.kind in ("w", "W") and token.text.lower() == "to" and exact_of(left) is not None
        ):
            return left
        if self.open and self.open[-1] == "\\{":
            return left  # {x : x > 3}
        clock = self.clock(left) if token.text == ":" else None
        if clock is not None:
            return clock
        terms = [left]
        while True:
            token = self.toks[self.i]
            if (token.kind == "o" and token.text == ":") or (token.kind in ("w", "W") and token.text.lower() == "to"):
                following = self.toks[self.i + 1]
                if following.kind in ("", ",") or (following.kind == "r"):
                    break
                self.i += 1
                terms.append(self.setexpr())
            else:
                break
        return left if len(terms) == 1 else Node("ratio", tuple(terms))

    def clock(self, left: Node) -> Node | None:
        """clock := hours ":" minutes ("am" | "pm")? ; hours 0-24, two-digit minutes below 60, nothing else after"""
        first, third = self.toks[self.i - 1], self.toks[self.i + 1]
        if left.op != "num" or str(left.value) != first.text.lstrip("0").rjust(1, "0"):
            return None
        if first.kind != "n" or third.kind != "n" or len(third.text) != 2 or not (first.text + third.text).isdigit():
            return None
        hours = int(first.text) if len(first.text) <= 2 else 99
        minutes = int(third.text)
        if hours > 24 or minutes > 59 or (self.i > 1 and self.toks[self.i - 2].kind == "o"):
            return None
        start = self.i
        self.i += 2
        half = ""
        if self.toks[self.i].kind in ("w", "W"):
            half, self.i = self.half_day()
        if not self.at_clause_end():
            self.i = start
            return None
        total = hours
        if half == "pm" and hours < 12:
            total += 12
        elif half == "am" and hours == 12:
            total = 0
        return Node("time", (), (60 * total + minutes, half in ("am", "pm"), hours, minutes))

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

    # ---- arithmetic

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
        if len(terms) == 2 and terms[0].op in _SETLIKE and terms[1].op == "neg" and terms[1].args[0].op in _SETLIKE:
            return Node("minus", (terms[0], terms[1].args[0]))
        if len({_is_vector(n) for n in terms}) > 1:
            terms = [_scaled_vector(n) for n in terms]
            if len({_is_vector(n) for n in terms}) > 1:
                self.fail("a term that is none")
        if any(n.op in _NO_TERMS for n in terms):
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
                pending = [Node("money", (tree.mul(pending),), text)]
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
                if text.lower() in _COMPARING and self.toks[self.i + 1].text.lower() in ("than", "least", "most"):
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
                both = _compound(pending[0], more)
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
                if token.text in _OPENERS:
                    depth += 1
                elif token.text in (")", "]", "}", "\\}"):
                    depth -= 1
                    if depth == 0:
                        return False
            elif token.kind == "r" and depth == 1:
                return True
        return False

    # ---- factors

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
            lower = _reparse(self.toks[start : self.i], self.comma) if node.value in ("C", "A", "P") else None
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

    # ---- atoms

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
        raise _Prose

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
        return Node("money", (amount,), token.text)

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
            raise _Prose
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
            self.expect(_OPENERS[text])
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
                if token.text in _OPENERS:
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
        if name in ("cases", "rcases", "dcases"):
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
        parts = [_reparse(row, self.comma) for row in merged]
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
                depth += self.toks[self.i].text in _OPENERS
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
            cells.append(_reparse(value, self.comma) or Node("text", (), " ".join(t.text for t in value)))
            cells.append(_reparse(condition, self.comma) or Node("text", (), " ".join(t.text for t in condition)))
            bare = bare and not condition
        self.open.pop()
        if not cells:
            self.fail("empty cases")
        if bare and all(n.op == "rel" for n in cells[::2]):
            return Node("list", tuple(cells[::2]), ",")  # a system of equations
        return Node("cases", tuple(cells))


class _Prose(Exception):
    """The text is a sentence, not a formula."""


_NO_TERMS: Final = frozenset({"rel", "where", "text", "list", "choice", "cong", "label", "time", "build"})
_NO_FACTORS: Final = frozenset(
    {"rel", "where", "text", "list", "choice", "cong", "label", "tuple", "bracket", "set", "interval", "build", "time"}
)
_SETLIKE: Final = frozenset({"set", "interval", "union", "inter", "minus", "build", "numset"})
_ACCENTS: Final = {"overrightarrow": "vec", "widehat": "hat", "overline": "bar", "widetilde": "tilde"}
_ALIGNMENTS: Final = frozenset(
    ("equation", "align", "aligned", "alignedat", "gather", "gathered", "split", "math", "displaymath", "multline")
)
_SHORT_UNITS: Final = frozenset("sq ft lb oz yd mi cm mm km kg mg ml pm am".split())
_UPRIGHT_FUNCTIONS: Final = FUNCTIONS - frozenset("min max sec arg th ch sh lcd det abs".split())
"""Functions that are no words or units behind a number: `2\\operatorname{arctg} x`."""
_COMPARING: Final = frozenset(("less", "greater", "more", "smaller", "larger", "at", "no", "not", "strictly"))
_SIGNED: Final = frozenset(("positive", "negative", "nonnegative", "non-negative", "nonzero", "non-zero"))
_PLACES: Final = frozenset(("floor", "ceil"))
"""Functions that are words where nothing follows them."""
_BUILDERS: Final = frozenset(("diag", "span"))
"""Words that are functions only before a bracket."""
_VECTORS: Final = frozenset(("tuple", "matrix", "bracket"))
_MULTIPLES: Final = tuple(
    text.split() for text in ("multiple of", "a multiple of", "multiples of", "divisible by", "numbers divisible by",
    "integers divisible by", "integer multiples of", "an integer multiple of")
)  # fmt: skip
_PERMUTING: Final = frozenset(
    "up to order all the any its their of and or every cyclic permutations permutation thereof these them it".split()
)
_REJECTED: Final = frozenset(("rejected", "reject", "extraneous", "discarded", "discard", "舍去", "舍"))
_PRODUCTS: Final = frozenset("at by my an as he do go me so us we am pm sq ft lb oz yd mi cm mm km kg mg ml".split())
"""Short words and units that are products of letters in a formula: `v_0 + at`, `mg\\sin\\theta`."""
_MEASURES: Final = frozenset(
    ("P", "Pr", "E", "Var", "D", "Cov", "prob", "Prob", "rank", "tr", "nullity", "dim", "Re", "Im", "deg", "ord")
)
"""What is taken of events and random variables."""
_SUPERLATIVES: Final = frozenset(
    ("smallest", "largest", "least", "greatest", "minimum", "maximum", "only", "answer", "minimal", "maximal", "best",
     "optimal", "unique", "solution", "required", "desired")
)  # fmt: skip
_UNIT_LETTERS: Final = frozenset("msghLlNJWVAKCFTH")
_MATRICES: Final = {
    "matrix": "", "pmatrix": "(", "bmatrix": "(", "Bmatrix": "{", "vmatrix": "|", "Vmatrix": "‖", "smallmatrix": "",
    "psmallmatrix": "(", "bsmallmatrix": "(", "array": "", "column": "(",
}  # fmt: skip


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


def _compound(first: Node, second: Node) -> Node | None:
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


def _gather(items: list[Node], seps: list[str]) -> Node:
    """One node for several clauses. Relations joined by "or" are `any`, by "and" or a comma `list` keeps them."""
    if seps == ["and"] and (both := _compound(items[0], items[1])) is not None:
        return both
    if items[0].op == "rel" and items[0].value == ("!=",) and all(n.op not in _NO_TERMS for n in items[1:]):
        items = [items[0], *(Node("rel", (items[0].args[0], n), ("!=",)) for n in items[1:])]  # x ≠ 1, 2
        seps = [","]
    kind = "or" if "or" in seps else "and" if "and" in seps else ";" if ";" in seps else ","
    return Node("list", tuple(items), kind)


def _permuted(items: list[Node], cyclic: bool) -> Node:
    """The tuples in all their orders, or turned around in a circle."""
    points = [n.args[1] if n.op == "rel" and n.value == ("=",) and n.args[0].op == "tuple" else n for n in items]
    points = [p for n in points for p in (n.args if n.op in ("list", "set") else (n,))]
    if any(p.op != "tuple" or len(p.args) > MAX_PERMUTED for p in points) or len(points) > MAX_PERMUTED:
        raise _Prose
    if sum(1 if cyclic else factorial(len(p.args)) for p in points) > MAX_PERMUTATIONS:
        raise Problem("over_limit", f"more than {MAX_PERMUTATIONS} permutations")
    found: dict[Node, None] = {}
    for p in points:
        size = len(p.args)
        orders = (p.args[n:] + p.args[:n] for n in range(size)) if cyclic else permutations(p.args)
        found.update((Node("tuple", tuple(order)), None) for order in orders)
    return Node("list", tuple(found), ",")


def _congruence(node: Node, modulus: Node) -> Node:
    if node.op == "rel" and node.value[-1] in ("≡", "=") and len(node.args) == 2:
        return Node("cong", (node.args[0], node.args[1], modulus))
    if node.op == "rel":
        return Node("cong", (node.args[0], node.args[-1], modulus))
    return Node("cong", (node, modulus))


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


_INFINITE: Final = frozenset({INFTY, tree.MINUS_INFTY})


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


_INVERSES: Final = {
    "sin": "arcsin", "cos": "arccos", "tan": "arctan", "cot": "arccot", "sec": "arcsec", "csc": "arccsc",
    "sinh": "arcsinh", "cosh": "arccosh", "tanh": "arctanh",
}  # fmt: skip


# --------------------------------------------------------------------------------------------------------------------


def _reparse(toks: list[Token], comma: str) -> Node | None:
    """A stretch of tokens read on its own, or None."""
    if not toks:
        return None
    try:
        parser = _Parser(list(toks), comma)
        return parser.document()
    except (Problem, _Prose):
        return None


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
                same = _OPENERS.get(opener) == text
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
    parser = _Parser(part, comma)
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
    except (Problem, _Prose):
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
            named = domain_of([*words[2:], "numbers"]) if words[-1] in _SIGNED else domain_of(words[2:])
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
        return _Parser(toks, comma, unit_letters).document()
    except _Prose:
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
        value = _reparse([Token("n", token.text)], "list")
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
    size = len(toks)
    outer = _outer_braces(toks)
    if outer:
        toks = _trimmed(toks[outer:-outer])
    if len(toks) > 4 and toks[0].kind == "w" and len(toks[0].text) == 1 and toks[1].text == "|":
        toks = [Token("o", "\\{"), *toks, Token("o", "\\}")]  # x|x>2, a set whose braces the box took
    if len(toks) > 5 and ")" in (toks[1].text, toks[2].text) and (toks[0].text == "(") == (toks[2].text == ")"):
        toks = _without_numbering(toks)
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
    if size > MAX_DEPTH and _too_deep(node):
        raise Problem("over_limit", f"deeper than {MAX_DEPTH}")
    if node.op == "list" and not node.args:
        raise Problem("empty", "nothing is written")
    return node
