"""The reward expression: one small language for the command line, config files and Python.

    sum    := prod (("+" | "-") prod)*                  math + 0.25*format - 0.5*overlong(max_tokens=4096, cache=512)
    prod   := unary ("*" unary)*                        math*brevity
    unary  := "-" unary | weight
    weight := atom [":" ["-"] NUMBER]                   format:0.25  means  0.25*format  (no quoting in a shell)
    atom   := NUMBER | component | call | "(" sum ")"
    component := NAME ["(" [NAME "=" value ("," NAME "=" value)*] ")"]
    call   := "gate" "(" cond "," sum ["," sum] ")"     lazy: what is not chosen never runs
            | ("min" | "max") "(" sum ("," sum)* ")"
            | "clip" "(" sum "," signed "," signed ")"
            | "route" "(" (NAME | STRING) "=" sum ("," ...)* ")"      by the row's task; "default=" takes the rest
    cond   := sum [(">=" | ">") signed]                 default: >= 1
    value  := signed | STRING | NAME | component | "[" [value ("," value)*] "]"

A component used twice with equal parameters runs once. What a row cannot be judged on (`skipped`) drops out of sums,
`min` and `max`; `invalid` or `error` anywhere reached leaves the whole reward unscored. Nothing is given to `eval`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rewards.registry import REGISTRY, AnyVerifier, ParamError, Registry, UnknownVerifier, nearest

if TYPE_CHECKING:
    from rewards.scoring import RewardResult
    from rewards.verdict import Sample

MAX_EXPRESSION_CHARS: Final = 20_000
MAX_EXPRESSION_DEPTH: Final = 50
CALLS: Final = ("gate", "min", "max", "clip", "route")
_CONSTANTS: Final[dict[str, Any]] = {"true": True, "false": False, "none": None}


class ExpressionError(ValueError):
    """A reward expression that cannot be read; the message shows where, with a caret."""

    def __init__(self, message: str, text: str, position: int) -> None:
        start = text.rfind("\n", 0, position) + 1
        end = text.find("\n", position)
        line = text[start : end if end >= 0 else len(text)]
        offset = position - start
        if offset > 60:
            line, offset = "..." + line[offset - 40 :], 43
        super().__init__(f"{message}\n  {line[:120]}\n  {' ' * offset}^")
        self.position = position


# ---------------------------------------------------------------- the tree


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: float


@dataclass(frozen=True, slots=True)
class Component:
    """A verifier, by its key in `Reward.components`."""

    key: str


@dataclass(frozen=True, slots=True)
class Sum:
    """`a + b + ...`"""

    terms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """`a * b * ...`"""

    factors: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Extreme:
    """`min(...)` or `max(...)`."""

    which: str
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Clip:
    """`clip(x, low, high)`"""

    body: Node
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Gate:
    """`gate(condition >= threshold, then, otherwise)`"""

    condition: Node
    strict: bool
    threshold: float
    then: Node
    otherwise: Node


@dataclass(frozen=True, slots=True)
class Route:
    """`route(task=..., default=...)`"""

    branches: tuple[tuple[str, Node], ...]
    default: Node | None


Node = Number | Component | Sum | Product | Extreme | Clip | Gate | Route


# ---------------------------------------------------------------- tokens


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # "number" | "name" | "string" | "op" | "end"
    text: str
    position: int


def _tokens(text: str) -> list[_Token]:
    if len(text) > MAX_EXPRESSION_CHARS:
        raise ExpressionError(f"expression of {len(text)} characters; at most {MAX_EXPRESSION_CHARS}", text[:80], 0)
    out: list[_Token] = []
    i, n = 0, len(text)
    while i < n:
        c = text[i]
        if c.isspace():
            i += 1
        elif c.isascii() and (c.isdigit() or (c == "." and text[i + 1 : i + 2].isdigit())):
            j = i
            while j < n and (text[j].isdigit() or text[j] == "."):
                j += 1
            if j < n and text[j] in "eE":
                k = j + 1 + (text[j + 1 : j + 2] in ("+", "-"))
                if text[k : k + 1].isdigit():
                    j = k
                    while j < n and text[j].isdigit():
                        j += 1
            try:
                number = float(text[i:j])
            except ValueError:
                raise ExpressionError(f"{text[i:j]!r} is not a number", text, i) from None
            if math.isinf(number):
                raise ExpressionError(f"{text[i:j]!r} is too large for a number", text, i)
            out.append(_Token("number", text[i:j], i))
            i = j
        elif c.isidentifier():
            j = i + 1
            while j < n and (text[j].isidentifier() or text[j].isdigit()):
                j += 1
            out.append(_Token("name", text[i:j], i))
            i = j
        elif c in "'\"":
            j = text.find(c, i + 1)
            if j < 0:
                raise ExpressionError(f"this {c} is never closed", text, i)
            out.append(_Token("string", text[i + 1 : j], i))
            i = j + 1
        elif text.startswith(">=", i):
            out.append(_Token("op", ">=", i))
            i += 2
        elif c in "+-*():,=>[]":
            out.append(_Token("op", c, i))
            i += 1
        else:
            hint = "; a weight is a factor, as in 0.5*math" if c == "/" else ""
            allowed = "names, numbers, 'text in quotes' (a path, say), + - * ( ) [ ] : , = > >="
            raise ExpressionError(f"unexpected {c!r}; allowed: {allowed}{hint}", text, i)
    out.append(_Token("end", "", n))
    return out


# ---------------------------------------------------------------- the parser


@dataclass(frozen=True, slots=True)
class _Of:
    """A not yet resolved `of=...`: which component another one reads."""

    name: str
    params: Mapping[str, Any] | None
    position: int


class _Parser:
    def __init__(
        self,
        text: str,
        registry: Registry,
        aliases: Mapping[str, str],
        given: Mapping[str, AnyVerifier],
        components: dict[str, AnyVerifier],
        expanding: tuple[str, ...] = (),
    ) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.at = 0
        self.depth = 0
        self.registry = registry
        self.aliases = aliases
        self.given = given
        self.components = components
        self.expanding = expanding
        self.reads: dict[str, _Of] = {}

    # -- token helpers
    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def take(self) -> _Token:
        token = self.token
        self.at += 1
        return token

    def is_op(self, *ops: str) -> bool:
        return self.token.kind == "op" and self.token.text in ops

    def fail(self, message: str, token: _Token | None = None) -> ExpressionError:
        return ExpressionError(message, self.text, (token or self.token).position)

    def expect(self, op: str) -> _Token:
        if not self.is_op(op):
            raise self.fail(f"expected {op!r}, found {self.found()}")
        return self.take()

    def found(self) -> str:
        return "the end" if self.token.kind == "end" else repr(self.token.text)

    # -- grammar
    def parse(self) -> Node:
        if self.token.kind == "end":
            raise self.fail("empty reward expression; write for example math+format")
        tree = self.sum()
        if self.token.kind != "end":
            raise self.fail(f"unexpected {self.token.text!r}; expected + - * or the end")
        return tree

    def sum(self) -> Node:
        self.depth += 1
        if self.depth > MAX_EXPRESSION_DEPTH:
            raise self.fail(f"nested deeper than {MAX_EXPRESSION_DEPTH}")
        terms = [self.prod()]
        while self.is_op("+", "-"):
            negative = self.take().text == "-"
            term = self.prod()
            terms.append(_times(-1.0, term) if negative else term)
        self.depth -= 1
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))

    def prod(self) -> Node:
        factors = [self.unary()]
        while self.is_op("*"):
            self.take()
            factors.append(self.unary())
        return factors[0] if len(factors) == 1 else Product(tuple(factors))

    def unary(self) -> Node:
        negative = False
        while self.is_op("-"):
            self.take()
            negative = not negative
        node = self.weight()
        return _times(-1.0, node) if negative else node

    def weight(self) -> Node:
        node = self.atom()
        if self.is_op(":"):
            self.take()
            return _times(self.signed(), node)
        return node

    def signed(self) -> float:
        negative = self.is_op("-")
        if negative:
            self.take()
        if self.token.kind != "number":
            raise self.fail(f"expected a number, found {self.found()}")
        value = float(self.take().text)
        return -value if negative else value

    def atom(self) -> Node:
        token = self.take()
        if token.kind == "number":
            return Number(float(token.text))
        if token.kind == "op" and token.text == "(":
            node = self.sum()
            self.expect(")")
            return node
        if token.kind != "name":
            found = "the end" if token.kind == "end" else repr(token.text)
            raise self.fail(f"expected a reward name, a number or '(', found {found}", token)
        if token.text in CALLS and self.is_op("("):
            return self.call(token)
        if token.text in self.aliases:
            return self.alias(token)
        return Component(self.component(token))

    def call(self, name: _Token) -> Node:
        self.expect("(")
        if name.text == "route":
            return self.route(name)
        if name.text == "gate":
            condition = self.sum()
            strict, threshold = False, 1.0
            if self.is_op(">", ">="):
                strict = self.take().text == ">"
                threshold = self.signed()
            args = self.arguments()
            if len(args) not in (1, 2):
                raise self.fail(f"gate takes a condition and one or two values; {len(args)} values given", name)
            return Gate(condition, strict, threshold, args[0], args[1] if len(args) == 2 else Number(0.0))
        if name.text == "clip":
            body = self.sum()
            self.expect(",")
            low = self.signed()
            self.expect(",")
            high_token = self.token
            high = self.signed()
            self.expect(")")
            if low > high:
                raise self.fail(f"clip: low {low:g} is above high {high:g}", high_token)
            return Clip(body, low, high)
        first = self.sum()
        return Extreme(name.text, (first, *self.arguments()))

    def arguments(self) -> list[Node]:
        args = []
        while self.is_op(","):
            self.take()
            args.append(self.sum())
        self.expect(")")
        return args

    def route(self, name: _Token) -> Node:
        branches: dict[str, Node] = {}
        default = None
        while True:
            key = self.take()
            if key.kind not in ("name", "string"):
                raise self.fail("route takes task=reward pairs, such as route(maths=math, default=format)", key)
            self.expect("=")
            node = self.sum()
            if key.text in branches or (key.text == "default" and default is not None):
                raise self.fail(f"task {key.text!r} given twice", key)
            if key.text == "default" and key.kind == "name":
                default = node
            else:
                branches[key.text] = node
            if not self.is_op(","):
                break
            self.take()
        self.expect(")")
        if not branches:
            raise self.fail("route needs at least one task besides default", name)
        return Route(tuple(branches.items()), default)

    def alias(self, token: _Token) -> Node:
        if token.text in self.expanding:
            raise self.fail(f"alias {token.text!r} is defined through itself", token)
        inner = _Parser(
            self.aliases[token.text],
            self.registry,
            self.aliases,
            self.given,
            self.components,
            (*self.expanding, token.text),
        )
        try:
            tree = inner.parse()
        except ExpressionError as error:
            raise self.fail(f"in alias {token.text!r}: {error}", token) from None
        self.reads.update(inner.reads)
        return tree

    def component(self, token: _Token) -> str:
        params: dict[str, Any] = {}
        places: dict[str, int] = {}
        parenthesised = self.is_op("(")
        if parenthesised:
            self.take()
            while not self.is_op(")"):
                key = self.take()
                if key.kind != "name":
                    raise self.fail(f"{token.text} takes name=value parameters", key)
                if key.text in params:
                    raise self.fail(f"{token.text}: {key.text} given twice", key)
                self.expect("=")
                places[key.text] = self.token.position
                params[key.text] = self.value()
                if not self.is_op(")"):
                    self.expect(",")
            self.take()
        return self.add(token.text, params, token, bare=not parenthesised, of_place=places.get("of"))

    def value(self) -> Any:
        if self.token.kind == "number" or self.is_op("-"):
            token = self.token
            number = self.signed()
            plain = self.tokens[self.at - 1].text
            return int(number) if plain.isdigit() and token.kind in ("number", "op") else number
        if self.token.kind == "string":
            return self.take().text
        if self.is_op("["):
            self.take()
            items = []
            while not self.is_op("]"):
                items.append(self.value())
                if not self.is_op("]"):
                    self.expect(",")
            self.take()
            return items
        if self.token.kind != "name":
            raise self.fail("expected a value: a number, a name, a quoted string or [a, b]")
        token = self.take()
        if self.is_op("("):  # of=math(percent="strict")
            self.take()
            inner: dict[str, Any] = {}
            while not self.is_op(")"):
                key = self.take()
                if key.kind != "name":
                    raise self.fail(f"{token.text} takes name=value parameters", key)
                self.expect("=")
                inner[key.text] = self.value()
                if not self.is_op(")"):
                    self.expect(",")
            self.take()
            return _Of(token.text, inner, token.position)
        if token.text in _CONSTANTS:
            return _CONSTANTS[token.text]
        return token.text

    def add(self, name: str, params: dict[str, Any], token: _Token, *, bare: bool, of_place: int | None = None) -> str:
        if name in self.given and bare:
            verifier = self.given[name]
            if not verifier.name:
                raise self.fail(f"component {name!r} was never registered", token)
            self.components.setdefault(name, verifier)
            if verifier.reads_of:
                self.reads[name] = _Of(verifier.params.of, None, token.position)
            return name
        try:
            cls = self.registry.get(name)
        except UnknownVerifier as error:
            if name in CALLS:
                raise self.fail(f"{name} is a function: {name}(...)", token) from None
            known = [*self.registry.names(), *self.aliases, *CALLS]
            message = str(error) if "plug-in" in str(error) else f"no verifier {name!r}{nearest(name, known)}"
            raise self.fail(message, token) from None
        link = None
        if cls.reads_of:
            given = params.get("of", cls.Params.model_fields["of"].default)
            if not isinstance(given, str | _Of):
                raise self.fail(f"{name} reads another component: write {name}(of=math)", token)
            link = (
                given if isinstance(given, _Of) else _Of(given, None, token.position if of_place is None else of_place)
            )
            params["of"] = link.name if link.params is None else _spelled(link)
        for key, item in params.items():
            if isinstance(item, _Of):
                raise self.fail(f"{name}: {key} takes a plain value, not {item.name}(...)", token)
        try:
            verifier = cls(**params)
        except ParamError as error:
            raise self.fail(str(error), token) from None
        key = self.key_for(verifier)
        if link is not None:
            self.reads[key] = link
        return key

    def key_for(self, verifier: AnyVerifier) -> str:
        for key, have in self.components.items():
            if have == verifier:
                return key
        key = verifier.name
        for number in itertools.count(2):
            if key not in self.components:
                break
            key = f"{verifier.name}_{number}"
        self.components[key] = verifier
        return key

    def resolve_reads(self) -> dict[str, str]:
        """Which component each reading component reads; a bare name means the one already there, else a default one."""
        links: dict[str, str] = {}
        waiting = list(self.reads)
        while waiting:
            key = waiting.pop(0)
            link = self.reads[key]
            if link.params is None and link.name in self.components:
                links[key] = link.name
                continue
            before = set(self.reads)
            token = _Token("name", link.name, link.position)
            links[key] = self.add(link.name, dict(link.params or {}), token, bare=link.params is None)
            waiting.extend(set(self.reads) - before)
        for key in links:
            seen, current = {key}, links[key]
            while current in links:
                if current in seen:
                    raise ExpressionError(f"{key} reads itself through {current}", self.text, self.reads[key].position)
                seen.add(current)
                current = links[current]
            if key == current:
                raise ExpressionError(f"{key} reads itself", self.text, self.reads[key].position)
        return links


def _spelled(link: _Of) -> str:
    return f"{link.name}({', '.join(f'{k}={v!r}' for k, v in (link.params or {}).items())})"


def _times(weight: float, node: Node) -> Node:
    if isinstance(node, Number):
        return Number(weight * node.value)
    if isinstance(node, Product) and isinstance(node.factors[0], Number):
        return Product((Number(weight * node.factors[0].value), *node.factors[1:]))
    return Product((Number(weight), node))


# ---------------------------------------------------------------- the reward


class Reward:
    """A parsed reward expression: the tree, and its verifiers by key.

    Attributes:
        text: the expression as given.
        tree: the parsed expression.
        components: key to verifier, in order of appearance; a second `format` with other params is `format_2`.
        reads: key to the key of the component whose verdicts it reads.
    """

    def __init__(self, text: str, tree: Node, components: Mapping[str, AnyVerifier], reads: Mapping[str, str]) -> None:
        self.text = text
        self.tree = tree
        self.components = dict(components)
        self.reads = dict(reads)

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        registry: Registry = REGISTRY,
        aliases: Mapping[str, str] | None = None,
        components: Mapping[str, AnyVerifier] | None = None,
    ) -> Reward:
        """Read an expression such as `math + 0.25*format`.

        Args:
            text: the expression.
            registry: where names are looked up.
            aliases: names for sub-expressions, as a config file's `[aliases]` gives them.
            components: ready verifiers that a bare name stands for, e.g. `{"code": CodeTests(sandbox=mine)}`.

        Raises:
            ExpressionError: with the place marked by a caret; unknown names get the nearest ones.
        """
        found: dict[str, AnyVerifier] = {}
        parser = _Parser(text, registry, aliases or {}, components or {}, found)
        tree = parser.parse()
        reads = parser.resolve_reads()
        for node in _walk(tree):
            if not all(map(math.isfinite, _range(node, found))):
                raise ExpressionError(
                    "some part of this can be infinite; give smaller weights, and verifiers finite ranges", text, 0
                )
        return cls(text, tree, found, reads)

    def score(self, samples: Sequence[Sample]) -> list[RewardResult]:
        """One result per sample, in order. Samples with equal `group` are judged as answers to one prompt."""
        from rewards.scoring import score

        return score(self, samples)

    @property
    def needs(self) -> frozenset[str]:
        """`Sample` fields that some component cannot do without."""
        return frozenset(field for verifier in self.components.values() for field in verifier.needs)

    @property
    def range(self) -> tuple[float, float]:
        """Lowest and highest value the expression can take, by interval arithmetic over the components' ranges."""
        return _range(self.tree, self.components)

    @property
    def fingerprint(self) -> str:
        """Over the tree and its components' fingerprints: equal fingerprints give equal rewards.

        The tree and not the text, which an alias may make to mean anything.
        """
        import hashlib

        parts = [repr(self.tree), repr(sorted(self.reads.items()))]
        parts += [f"{k}={v.fingerprint}" for k, v in self.components.items()]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]

    def weighted_terms(self) -> list[tuple[float, Node]]:
        """The expression as a weighted sum at its top level: `(weight, term)`; one term where it is no sum."""
        terms = self.tree.terms if isinstance(self.tree, Sum) else (self.tree,)
        out: list[tuple[float, Node]] = []
        for term in terms:
            if isinstance(term, Product) and isinstance(term.factors[0], Number):
                rest = term.factors[1:]
                out.append((term.factors[0].value, rest[0] if len(rest) == 1 else Product(rest)))
            else:
                out.append((1.0, term))
        return out

    def additive(self) -> dict[str, float] | None:
        """Component key to weight when the expression is a plain weighted sum of components, else None."""
        weights: dict[str, float] = {}
        for weight, term in self.weighted_terms():
            if not isinstance(term, Component):
                return None
            weights[term.key] = weights.get(term.key, 0.0) + weight
        return weights

    def tasks(self) -> frozenset[str] | None:
        """Tasks that `route(...)` names, or None when the expression does not route or has a default."""
        routes = [node for node in _walk(self.tree) if isinstance(node, Route)]
        if not routes or any(route.default is not None for route in routes):
            return None
        return frozenset(name for route in routes for name, _ in route.branches)

    def close(self) -> None:
        """Close every component's pool or sandbox."""
        for verifier in self.components.values():
            verifier.close()

    def __repr__(self) -> str:
        return f"Reward.parse({self.text!r})"


def children(node: Node) -> tuple[Node, ...]:
    """The sub-expressions of a node, in order of evaluation."""
    match node:
        case Sum(terms):
            return terms
        case Product(factors):
            return factors
        case Extreme(_, args):
            return args
        case Clip(body):
            return (body,)
        case Gate(condition, _, _, then, otherwise):
            return (condition, then, otherwise)
        case Route(branches, default):
            return (*(b for _, b in branches), *((default,) if default is not None else ()))
        case _:
            return ()


def _walk(node: Node) -> list[Node]:
    return [node, *(inner for child in children(node) for inner in _walk(child))]


def _range(node: Node, components: Mapping[str, AnyVerifier]) -> tuple[float, float]:
    match node:
        case Number(value):
            return (value, value)
        case Component(key):
            return components[key].range
        case Sum(terms):
            spans = [_range(t, components) for t in terms]
            return (sum(low for low, _ in spans), sum(high for _, high in spans))
        case Product(factors):
            low, high = 1.0, 1.0
            for factor in factors:
                a, b = _range(factor, components)
                ends = (low * a, low * b, high * a, high * b)
                low, high = min(ends), max(ends)
            return (low, high)
        case Extreme(which, args):
            pick = min if which == "min" else max
            spans = [_range(a, components) for a in args]
            return (pick(low for low, _ in spans), pick(high for _, high in spans))
        case Clip(body, floor, ceiling):
            low, high = _range(body, components)
            return (max(floor, min(ceiling, low)), max(floor, min(ceiling, high)))
        case Gate(_, _, _, then, otherwise):
            (a, b), (c, d) = _range(then, components), _range(otherwise, components)
            return (min(a, c), max(b, d))
        case Route():
            spans = [_range(c, components) for c in children(node)]
            return (min(low for low, _ in spans), max(high for _, high in spans))
