"""Clauses: lists, labels, relations and conditions, in words or signs; each docstring is its grammar line."""

from __future__ import annotations

from itertools import permutations
from math import factorial
from typing import Final

from rewards.math_equivalence import tree
from rewards.math_equivalence.domains import Domain, between, bounded, domain_of, relation_of
from rewards.math_equivalence.prose import phrase
from rewards.math_equivalence.terms import COMPARING, NO_TERMS, OPENERS, SETLIKE, Prose, Terms, compound_quantity
from rewards.math_equivalence.tokens import ENDS, Token
from rewards.math_equivalence.tree import MAX_ELEMENTS, Node, Problem, exact_of
from rewards.math_equivalence.vocabulary import AND_WORDS, FILLERS, LABELS, NEGATIONS, OR_WORDS, QUALIFIERS, label_name

MAX_PERMUTED: Final = 6
"""Longest tuple whose permutations may be written out, and most tuples at once."""
MAX_PERMUTATIONS: Final = 150
SIGN_WORDS: Final = frozenset(("positive", "negative", "nonnegative", "non-negative", "nonzero", "non-zero"))
_MULTIPLES: Final = tuple(
    text.split() for text in ("multiple of", "a multiple of", "multiples of", "divisible by", "numbers divisible by",
    "integers divisible by", "integer multiples of", "an integer multiple of")
)  # fmt: skip
_PERMUTING: Final = frozenset(
    "up to order all the any its their of and or every cyclic permutations permutation thereof these them it".split()
)
_REJECTED: Final = frozenset(("rejected", "reject", "extraneous", "discarded", "discard", "舍去", "舍"))
_MEASURES: Final = frozenset(
    ("P", "Pr", "E", "Var", "D", "Cov", "prob", "Prob", "rank", "tr", "nullity", "dim", "Re", "Im", "deg", "ord")
)
"""What is taken of events and random variables."""
_SUPERLATIVES: Final = frozenset(
    ("smallest", "largest", "least", "greatest", "minimum", "maximum", "only", "answer", "minimal", "maximal", "best",
     "optimal", "unique", "solution", "required", "desired")
)  # fmt: skip


class Clauses(Terms):
    """Recursive descent with implicit products. `comma` says what `1,234` is: `thousands`, `list` or `decimal`."""

    __slots__ = ()

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
                raise Prose
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
                raise Prose
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
            elif token.text == "(" and self.toks[self.i + 1].text in ("≈", "=") and node.op not in SETLIKE:
                self.i += 1
                sign = self.toks[self.i].text
                self.i += 1
                sides, signs = (node.args, node.value) if node.op == "rel" else ((node,), ())
                node = Node("rel", (*sides, self.sum()), (*signs, sign))  # 12π (≈ 37.7)
                self.expect(")")
            elif (
                (node.op in SETLIKE or node.op == "tuple")
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
            j = self.closing(j) if token.kind == "o" and token.text in OPENERS else j + 1
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

    def quantified(self) -> Node:
        """quantified := ("∀"|"∃") chain ("," | ":") clause"""
        sign = self.toks[self.i].text
        self.i += 1
        scope = self.chain()
        if self.toks[self.i].kind == "," or self.is_op(":") or self.is_op("|"):
            self.i += 1
            return Node("opaque", (scope, self.clause()), sign)
        return Node("opaque", (scope,), sign)

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
            if token.kind == "o" and token.text in OPENERS:
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
            elif token.kind in ("w", "W") and token.text.lower() in COMPARING and (worded := self.worded_sign()):
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
                        raise Prose
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
            domain = domain_of([*words, "numbers"]) if words[-1] in SIGN_WORDS else domain_of(words)
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


def _gather(items: list[Node], seps: list[str]) -> Node:
    """One node for several clauses. Relations joined by "or" are `any`, by "and" or a comma `list` keeps them."""
    if seps == ["and"] and (both := compound_quantity(items[0], items[1])) is not None:
        return both
    if items[0].op == "rel" and items[0].value == ("!=",) and all(n.op not in NO_TERMS for n in items[1:]):
        items = [items[0], *(Node("rel", (items[0].args[0], n), ("!=",)) for n in items[1:])]  # x ≠ 1, 2
        seps = [","]
    kind = "or" if "or" in seps else "and" if "and" in seps else ";" if ";" in seps else ","
    return Node("list", tuple(items), kind)


def _permuted(items: list[Node], cyclic: bool) -> Node:
    """The tuples in all their orders, or turned around in a circle."""
    points = [n.args[1] if n.op == "rel" and n.value == ("=",) and n.args[0].op == "tuple" else n for n in items]
    points = [p for n in points for p in (n.args if n.op in ("list", "set") else (n,))]
    if any(p.op != "tuple" or len(p.args) > MAX_PERMUTED for p in points) or len(points) > MAX_PERMUTED:
        raise Prose
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
