"""Whether two scalar expressions are the same: structure, exact numbers, points of a prime field, balls.

Nothing here is probabilistic in its result: points come from a hash of the two trees, so the same pair gets the same
answer everywhere. A difference is proven (different residues of exact expressions, disjoint balls); agreement is
accepted only at several points and to hundreds of bits.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final, NamedTuple

from rewards.math_equivalence import numeric
from rewards.math_equivalence.exact import PRIME, Modular, Undefined, Unsupported, seed_of
from rewards.math_equivalence.numeric import HIGH_BITS, LOW_BITS, Evaluator, TooLarge
from rewards.math_equivalence.tree import NUMERIC, Node, exact_of

MAX_SIZE_BITS: Final = 20_000
"""Largest constant, in bits, whose equality is decided in balls."""

STEP_TRIES: Final = 64
"""Points at which expressions with floor, ceiling or mod must agree."""

FUNCTION_LETTERS: Final = frozenset({"f", "g", "h", "F", "G", "H", "phi", "psi", "Phi", "Gamma", "zeta"})
"""Letters read as a function before brackets, unless they stand alone somewhere else in the pair."""

SCALAR_OPS: Final = NUMERIC | frozenset(
    (
        "sym",
        "const",
        "add",
        "mul",
        "neg",
        "div",
        "pow",
        "root",
        "abs",
        "fact",
        "dfact",
        "floor",
        "ceil",
        "binom",
        "perm",
        "mod",
        "fn",
        "call",
        "big",
        "opaque",
        "deg",
        "pct",
    )
)
_INTEGER_OPS: Final = frozenset({"fact", "dfact", "binom", "perm", "mod", "floor", "ceil"})
_STEP_OPS: Final = frozenset({"floor", "ceil", "mod"})
WHOLE_LETTERS: Final = frozenset(("n", "m", "k", "i", "j", "p", "q", "r", "d", "a", "b", "N", "M", "K", "l", "s"))
_RATIONAL_OPS: Final = NUMERIC | frozenset({"sym", "add", "mul", "neg", "div", "pow", "call", "binom", "big"})


class Traits(NamedTuple):
    """What one pass over a tree finds."""

    alone: frozenset[str]
    """Symbols that stand by themselves."""
    called: frozenset[str]
    """Names applied to one argument in brackets."""
    integers: frozenset[str]
    """Symbols that only make sense as whole numbers here: under a factorial, in `(-1)^n`."""
    rational: bool
    """Only + - * / and powers."""
    opaque: bool
    """Holds something that is not evaluated here."""
    steps: bool
    """Holds floor, ceiling or mod: agreement at a few whole numbers says little."""
    has_log: bool
    """Holds a `log` without a base."""
    dots: bool


_EMPTY: Final = Traits(frozenset(), frozenset(), frozenset(), True, False, False, False, False)


def traits(node: Node) -> Traits:
    """Free symbols and what kind of expression it is. Not recursive."""
    if node.op in NUMERIC:
        return _EMPTY
    alone: set[str] = set()
    called: set[str] = set()
    integers: set[str] = set()
    rational = True
    opaque = has_log = dots = steps = False
    stack: list[tuple[Node, bool, frozenset[str]]] = [(node, False, frozenset())]
    while stack:
        n, whole, bound = stack.pop()
        op = n.op
        if op not in _RATIONAL_OPS:
            rational = False
        if op in NUMERIC:
            continue
        if op == "sym":
            if n.value not in bound:
                alone.add(n.value)
                if whole:
                    integers.add(n.value)
            continue
        if op == "const":
            if n.value == "dots":
                dots = True
            elif n.value not in ("pi", "e"):
                opaque = True
            continue
        if op == "call":
            if n.value not in bound:
                (called if len(n.args) == 1 else set()).add(n.value)
            if n.value not in FUNCTION_LETTERS and whole:
                integers.add(n.value)
            stack.extend((a, whole, bound) for a in n.args)
            continue
        if op == "opaque":
            opaque = True
        elif op == "fn" and n.value == "log" and len(n.args) == 1:
            has_log = True
        if op == "big":
            body, low, high = n.args
            stack.append((low, True, bound))
            stack.append((high, True, bound))
            stack.append((body, whole, bound | {n.value[1]}))
            continue
        if op == "pow":
            base, exponent = n.args
            stack.append((base, whole, bound))
            negative = base.op == "neg" or ((v := exact_of(base)) is not None and v < 0)
            if exact_of(exponent) is None:
                rational = False
            stack.append((exponent, whole or negative, bound))
            continue
        if op in _STEP_OPS:
            steps = True
            real = {m.value for m in _symbols(n) if m.value not in WHOLE_LETTERS}
            if real:
                # floor(x) of a real x: whole points would make it x
                stack.extend((a, False, bound) for a in n.args)
                continue
        if op in _INTEGER_OPS:
            whole = True
        elif op == "fn" and n.value in ("gcd", "lcm"):
            whole = steps = True
        stack.extend((a, whole, bound) for a in n.args)
    return Traits(frozenset(alone), frozenset(called), frozenset(integers), rational, opaque, steps, has_log, dots)


def _symbols(node: Node) -> list[Node]:
    found: list[Node] = []
    stack = [node]
    while stack:
        n = stack.pop()
        if n.op == "sym":
            found.append(n)
        stack.extend(n.args)
    return found


def fingerprint(node: Node) -> str:
    """A text that equal trees share and different trees do not, in linear time for numbers of any size."""
    parts: list[str] = []
    stack: list[Node] = [node]
    while stack:
        op, args, value = stack.pop()
        if op in NUMERIC:
            exact = value.value if op == "dec" else value
            shown = hex(exact) if isinstance(exact, int) else f"{exact.numerator:x}/{exact.denominator:x}"
            parts.append(shown)
        else:
            parts.append(f"{op}{len(args)}{value if isinstance(value, str) else ''}")
            stack.extend(args)
    return " ".join(parts)


def is_scalar(node: Node) -> bool:
    """Whether the top of the tree is a number or an expression."""
    return node.op in SCALAR_OPS and not (node.op == "const" and node.value not in ("pi", "e", "dots"))


def products(gold: Traits, answer: Traits) -> frozenset[str]:
    """Names for which `x(y-z)` is a product: all but function letters, and those too when they also stand alone."""
    alone = gold.alone | answer.alone
    return frozenset(
        n
        for n in gold.called | answer.called
        if n in alone or (n.rstrip("'") not in FUNCTION_LETTERS and n[-1] != "_")  # a_ of k is a term of a sequence
    )


def same_scalar(gold: Node, answer: Node, *, log_either: bool = True) -> tuple[bool | None, str]:
    """Whether two expressions are equal for all values of their symbols, and by which rule.

    Returns:
        (True, rule), (False, rule), or (None, `undecided` | `over_limit` | `undefined_value`).
    """
    if gold == answer:
        return True, "equal_structure"
    a, b = exact_of(gold), exact_of(answer)
    if a is not None and b is not None:
        return (True, "equal_rational") if a == b else (False, "value_differs")
    tg, ta = traits(gold), traits(answer)
    if tg.opaque or ta.opaque:
        return None, "undecided"
    names = products(tg, ta)
    symbols = sorted((tg.alone | ta.alone | names) - {"i"} | ({"i"} if "i" in _indices(gold, answer) else set()))
    if tg.dots or ta.dots:
        symbols.append("dots")
    seed = seed_of(fingerprint(gold), fingerprint(answer))
    if tg.rational and ta.rational and not (tg.dots or ta.dots) and "i" not in tg.alone | ta.alone:
        verdict = _modular(gold, answer, symbols, names, seed)
        if verdict is False:
            return False, "value_differs"
        if verdict is True and symbols:
            # one more look over the reals: a multiple of the prime itself is zero only in the field
            checked, _ = _numeric(gold, answer, symbols, names, frozenset(), seed, "e", tries=1)
            if checked is not False:
                return True, "equal_identity"
            return False, "value_differs"
        exact_constant = verdict
    else:
        exact_constant = None
    stepping = tg.steps or ta.steps
    result, rule = _numeric(gold, answer, symbols, names, tg.integers | ta.integers, seed, "e", stepping=stepping)
    if result is None and exact_constant is True:
        return True, "equal_identity"
    if result is False and log_either and (tg.has_log or ta.has_log):
        other, other_rule = _numeric(gold, answer, symbols, names, tg.integers | ta.integers, seed, "10")
        if other:
            return other, other_rule
    if result is False and (tg.dots or ta.dots):
        # a sum with dots is only as good as its writing
        return None, "undecided"
    return result, rule


def _indices(*nodes: Node) -> set[str]:
    """`i` where it is an index and no imaginary unit: inside a sum over i."""
    found: set[str] = set()
    stack = list(nodes)
    while stack:
        n = stack.pop()
        if n.op == "big" and n.value[1] == "i":
            found.add("i")
        stack.extend(n.args)
    return found


def _modular(gold: Node, answer: Node, symbols: list[str], names: frozenset[str], seed: bytes) -> bool | None:
    agreed = 0
    for attempt in range(4):
        point = {name: int.from_bytes(seed_of(seed.hex(), name, str(attempt))[:8], "big") % PRIME for name in symbols}
        evaluator = Modular(point)
        try:
            if evaluator.value(gold) != evaluator.value(answer):
                return False
        except Unsupported:
            return None
        except Undefined:
            if not symbols:
                return None
            continue
        agreed += 1
        if agreed == 2 or not symbols:
            return True
    return None


_REGIONS: Final = (0, 1, 2, 3, 4, 0, 0, 2, 0, 1)
"""Where the points lie: (0,1), (-3,3), (1,4), (3,20), (-2,0); (0,1) most often, for inverse functions live there."""


def point_for(
    symbols: list[str], integers: frozenset[str], seed: bytes, attempt: int, *, spread: bool = False
) -> dict[str, Fraction | int]:
    """Values of the symbols at one attempt: (0,1), mixed signs, (1,4), (3,20), negative, then again.

    With `spread` each symbol lies in a region of its own, (-20,-3) among them: |x+2| is x+2 almost everywhere else.
    """
    point: dict[str, Fraction | int] = {}
    whole = 0
    for name in symbols:
        h = int.from_bytes(seed_of(seed.hex(), name, str(attempt))[:8], "big")
        if name in integers:
            # Small and large in turn, for binom(n, 5) is 0 below 5; and every remainder by 4, for (-1)^n and cos(nπ/2).
            low = 4 * (h % (2 + attempt)) if attempt % 2 == 0 else 16 + 4 * (h % 5)
            value = low + ((attempt >> whole) + whole) % 4
            point[name] = value if value > 1 else value + 4
            whole += 1
            continue
        unit = Fraction(1 + h % 9972, 9973)
        kind = (attempt + h // 9973) % 6 if spread else _REGIONS[attempt % len(_REGIONS)]
        if kind == 0:
            point[name] = unit
        elif kind == 1:
            point[name] = 6 * unit - 3
        elif kind == 2:
            point[name] = 1 + 3 * unit
        elif kind == 3:
            point[name] = 3 + 17 * unit
        elif kind == 5:
            point[name] = -3 - 17 * unit
        else:
            point[name] = -2 * unit
    return point


def _numeric(
    gold: Node,
    answer: Node,
    symbols: list[str],
    names: frozenset[str],
    integers: frozenset[str],
    seed: bytes,
    log_base: str,
    tries: int = 10,
    stepping: bool = False,
) -> tuple[bool | None, str]:
    if not symbols:
        return _constants(gold, answer, names, log_base)
    agree = complex_agree = complex_differ = undefined = 0
    large = unsupported = False
    enough = 4
    kinked = bool(symbols) and tries > 1 and (_has_kink(gold) or _has_kink(answer))
    if kinked:
        tries = enough = 14
    if stepping and symbols:
        tries = enough = STEP_TRIES
    for attempt in range(tries):
        point = point_for(symbols, integers, seed, attempt, spread=kinked)
        if stepping and symbols:
            # whole letters run through 1, 2, 3, ...; each further one at another pace
            for j, name in enumerate(s for s in symbols if s in integers):
                point[name] = 1 + (attempt // (7**j)) % 61 if j else 1 + attempt

        def work(point: dict[str, Fraction | int] = point) -> tuple[str, bool]:
            evaluator = Evaluator(point, names, log_base)
            x = evaluator.value(gold)
            y = evaluator.value(answer)
            f = evaluator.f
            real = f.is_real(x) and f.is_real(y) and not evaluator.complex_seen
            return _verdict(f, x, y, 90), real

        try:
            outcome, real = numeric.at_precision(256, work)
        except Undefined:
            undefined += 1
            continue
        except TooLarge:
            large = True
            continue
        except Unsupported:
            unsupported = True
            break
        if outcome == "differs":
            if real or "i" in symbols:
                return False, "value_differs"
            complex_differ += 1
        elif outcome == "agrees":
            if real:
                agree += 1
            else:
                complex_agree += 1
        if agree >= enough or (agree >= 3 and attempt >= 3 and not stepping and not kinked):
            break
    if unsupported:
        return None, "undecided"
    if (
        agree >= 3
        or (agree >= 2 and not complex_differ)
        or (agree >= 1 and (complex_agree or tries == 1) and not complex_differ)
    ):
        return True, "equal_identity"
    if complex_agree >= 3 and not complex_differ:
        return True, "equal_identity"
    if complex_differ >= 2 and not complex_agree and not agree:
        return False, "value_differs"
    if undefined == tries:
        return None, "undefined_value"
    return None, "over_limit" if large and not agree else "undecided"


def _has_kink(node: Node) -> bool:
    """Whether the expression changes its formula somewhere: |x|, max, sgn."""
    stack = [node]
    while stack:
        n = stack.pop()
        if n.op == "abs" or (n.op == "fn" and n.value in ("max", "min", "sgn")):
            return True
        stack.extend(n.args)
    return False


def _constants(gold: Node, answer: Node, names: frozenset[str], log_base: str) -> tuple[bool | None, str]:
    size = 0.0

    def evaluate(bits: int, accuracy: int) -> str:
        def work() -> str:
            nonlocal size
            x = Evaluator({}, names, log_base).value(gold)
            try:
                y = Evaluator({}, names, log_base).value(answer)
            except Undefined:
                return "undefined"
            f = numeric.backend()
            size = f.log2(x)
            return _verdict(f, x, y, accuracy)

        result: str = numeric.at_precision(bits, work)
        return result

    try:
        outcome = evaluate(LOW_BITS, 40)
        if outcome == "differs":
            return False, "value_differs"
        if size > MAX_SIZE_BITS:
            return None, "over_limit"
        # enough bits to see a 1 that was added to a number of this size
        outcome = evaluate(HIGH_BITS + max(int(size), 0), 500)
    except Unsupported:
        return None, "undecided"
    except Undefined:
        return None, "undefined_value"
    except TooLarge:
        return None, "over_limit"
    if outcome == "undefined":
        return None, "undefined_value"
    if outcome == "differs":
        return False, "value_differs"
    if outcome == "agrees":
        return True, "equal_value"
    return None, "undecided"


def _verdict(f: Any, x: Any, y: Any, accuracy: int) -> str:
    """`differs` when the balls are disjoint, `agrees` when they overlap and both are narrow, else `unsure`.

    Narrow means many correct digits, and also an error far below 1: e^{3000} and e^{3000} + 1 share 1300 digits.
    """
    if not f.overlaps(x, y):
        return "differs"
    for v in (x, y):
        if f.rel_bits(v) < accuracy and not f.magnitude_below(v, -2 * accuracy):
            return "unsure"
        if not f.error_below(v, -40):
            return "unsure"
    return "agrees"


def substitute(node: Node, names: dict[str, Node]) -> Node:
    """The tree with symbols replaced."""
    if node.op == "sym":
        return names.get(node.value, node)
    if node.op == "call":
        new = names.get(node.value)
        args = tuple(substitute(a, names) for a in node.args)
        if new is not None and new.op == "sym":
            return Node("call", args, new.value)
        if new is not None and len(args) == 1:
            return Node("mul", (new, args[0]))  # n(n+1) at n = 3
        return Node("call", args, node.value)
    if not node.args:
        return node
    return Node(node.op, tuple(substitute(a, names) for a in node.args), node.value)


def order(a: Node, b: Node) -> int | None:
    """-1, 0 or 1 for two constants; None when they cannot be ordered."""
    x, y = exact_of(a), exact_of(b)
    if x is not None and y is not None:
        return (x > y) - (x < y)
    for node, sign in ((a, 1), (b, -1)):
        if node.op == "const" and node.value == "infty":
            return 0 if a == b else sign
        if node.op == "neg" and node.args[0].op == "const" and node.args[0].value == "infty":
            return 0 if a == b else -sign
    if a == b:
        return 0

    def work() -> int | None:
        f = numeric.backend()
        u, v = Evaluator({}, frozenset()).value(a), Evaluator({}, frozenset()).value(b)
        if not (f.is_real(u) and f.is_real(v)):
            return None
        return int(f.compare(u, v))

    try:
        found: int | None = numeric.at_precision(LOW_BITS, work)
    except (Unsupported, Undefined, TooLarge):
        return None
    if found == 0:
        return 0 if same_scalar(a, b)[0] else None
    return found
