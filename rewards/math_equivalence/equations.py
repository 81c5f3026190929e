"""Equations and assignments: what is a name, what is its value, and when two equations have the same solutions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from rewards.math_equivalence import numeric, tree
from rewards.math_equivalence.exact import Undefined, Unsupported
from rewards.math_equivalence.expressions import (
    is_scalar,
    products,
    same_scalar,
    substitute,
    traits,
)
from rewards.math_equivalence.numeric import Evaluator, TooLarge
from rewards.math_equivalence.tree import NUMERIC, Node, exact_of

Assigned = tuple[Node, Node]
_FACTORS_ASKED: Final = frozenset("abcdmnpqrs")
"""Letters whose product is a value that questions ask for; xy = 6 is a curve."""


def is_number(node: Node) -> bool:
    return node.op in NUMERIC or (
        is_scalar(node) and not traits(node).alone and not traits(node).opaque and node.op != "call"
    )


def close(x: Node, y: Node) -> bool:
    """Whether a stated approximation is one: by one part in fifty, or by one unit of its last digit."""
    unit = Fraction(1, 10 ** min(y.value.digits, 400)) if y.op == "dec" else Fraction(0)

    def work() -> bool:
        e = Evaluator({}, frozenset())
        a, b = e.value(x), e.value(y)
        return bool(abs(a - b) <= abs(a) / 50) or bool(abs(a - b) <= e.f.number(unit))

    try:
        found: bool = numeric.at_precision(96, work)
    except (Unsupported, Undefined, TooLarge, TypeError):
        return True
    return found


def assignment(node: Node) -> Assigned | None:
    """(name, value) of `x = 5`, `f(x) = x^2`, `m+n = 17`, `|AB| = 1`, `x = y = z = 1`, `2+3 = 5`.

    None for an equation whose left side is no name: `x+2 = 7` is a question, not the answer 7.
    """
    if node.op == "label":
        return Node("text", (), node.value), node.args[0]
    if node.op == "rel" and node.value == ("->",) and node.args[0].op == "sym" and is_scalar(node.args[1]):
        return Node("call", (node.args[0],), "f"), node.args[1]  # x ↦ x^2
    if node.op != "rel" or node.value[0] not in ("=", "≈", "≡", "~"):
        return None
    if any(s not in ("=", "≈", "≡", "~", "in") for s in node.value):
        return None
    sides = list(node.args)
    if node.value[-1] == "in":
        return None
    # an approximation after the value does not replace it
    while len(sides) > 1 and node.value[len(sides) - 2] in ("≈", "~") and (len(sides) > 2 or is_number(sides[0])):
        sides.pop()
    if len(sides) == 1:
        return Node("text", (), ""), sides[0]
    first = sides[0]
    if is_name(first):
        return first, sides[-1]
    if all(is_number(s) for s in sides):
        return Node("text", (), ""), sides[-1]
    turned = len(sides) == 2 and sides[1].op == "sym" and is_scalar(first)
    if turned and not traits(first).alone:
        return sides[1], first  # 5 = x
    if first.op == "opaque" or first.op == "big":
        return first, sides[-1]
    return None


def is_name(node: Node) -> bool:
    """What stands on the left of "=" as the name of a value."""
    op = node.op
    if op == "sym" or op == "text":
        return True
    if op == "const":
        return bool(node.value == "e")
    if op in ("inter", "union", "minus"):
        return all(is_name(a) for a in node.args)  # A ∩ B
    if op == "call" and node.value in ("P", "Pr", "n", "N"):
        return True  # P(A ∩ B), P(X = 2)
    if op == "call":
        return all(a.op in ("sym", "num", "mul", "call") or is_scalar(a) for a in node.args) and (
            len(node.args) > 1 or node.args[0].op != "add" or node.value in ("P", "f", "g", "E", "F", "S", "T", "N")
        )
    if op == "tuple":
        return all(is_name(a) for a in node.args)
    if op == "pow":
        base = node.args[0]
        return base.op == "sym" and (bool(base.value[0].isupper()) or base.value in ("sigma", "chi"))  # A^{-1}, σ²
    if op == "abs" and node.args[0].op == "sym" and node.args[0].value in ("x", "y", "t", "n", "k", "m"):
        return False  # |x| = 5 has two solutions; |AB| = 5 and |z| = 5 name a length
    if op in ("abs", "opaque"):
        return op == "opaque" or is_name(node.args[0]) or _letters_product(node.args[0])
    if op == "fn":
        return bool(node.value == "overline") or all(map(is_name, node.args))  # cos θ, gcd(a, b)
    if op == "ratio":
        return all(is_name(a) or _letters_product(a) for a in node.args)
    if op == "div":
        letters = all(a.op == "sym" for a in node.args) and node.args[0] != node.args[1]
        return letters or all(_letters_product(a) for a in node.args) or is_derivative(node)
    if op == "mul":
        first = node.args[0]
        if first.op == "div" and first.args[0] in (Node("sym", (), "d"), Node("sym", (), "partial")):
            return True  # d/dx f(x)
        if first.op == "sym" and first.value.startswith("complement"):
            return all(map(_letters_product, node.args[1:]))  # complement_U A
        if all(a.op == "sym" and a.value.startswith(("vec:", "bold:")) for a in node.args):
            return True  # a scalar product
        if first == Node("sym", (), "nabla"):
            return all(map(is_name, node.args[1:]))
        asked = {a.value for a in node.args if a.op == "sym"}
        return _letters_product(node) or (len(asked) == len(node.args) and asked <= _FACTORS_ASKED)
    if op == "add":
        names = {a.value for a in node.args if a.op == "sym"}
        return len(names) == len(node.args) and not names <= {"x", "y", "z"}
    return False


def asked_of(node: Node) -> bool:
    """`x + y`, `ab`, `x^2 + y^2`, `x + 1/x`: what questions ask the value of, and no curve.

    Letters and their powers without numbers before them; `2x + 3y = 5` is a line, but 100a + b is asked for.
    """
    letters = traits(node).alone
    if len(letters) > 1 and letters.isdisjoint(("x", "y", "z")) and not traits(node).opaque:
        return True
    if node.op == "mod" and node.args[0].op == "sym":
        return True
    if node.op == "add" and len(node.args) == 2 and node.args[1] == tree.div(tree.ONE, node.args[0]):
        return True
    parts = node.args if node.op in ("add", "mul", "div") else ()
    bare = [n.args[0] if n.op == "neg" else n for n in parts]
    bare = [n.args[0] if n.op == "pow" and exact_of(n.args[1]) is not None else n for n in bare]
    return len({n.value for n in bare if n.op == "sym"}) == len(bare) > 1


def length_name(node: Node) -> str:
    """The letters of `AB`, `|AB|`, `\\overline{AB}`, `|\\vec{AB}|`; "" for other names."""
    while (node.op in ("abs", "opaque") or (node.op == "fn" and node.value == "overline")) and len(node.args) == 1:
        node = node.args[0]
    if node.op == "mul" and _letters_product(node):
        return "".join(sorted(str(a.value) for a in node.args))
    letters = node.value.removeprefix("vec:") if node.op == "sym" else ""
    return "".join(sorted(letters)) if len(letters) == 2 and letters.isupper() else ""


def is_derivative(node: Node) -> bool:
    """`f'(x)`, `y'`, `dy/dx`"""
    if node.op in ("sym", "call"):
        return str(node.value).endswith("'") and not str(node.value).endswith("''")
    return node.op == "div" and all(
        a.op == "mul" and a.args[0].op == "sym" and a.args[0].value in ("d", "partial") and len(a.args) == 2
        for a in node.args
    )


def plain_name(name: Node) -> Node:
    """`z_x` for `\\partial z / \\partial x`; other names as they are."""
    if name.op == "div" and is_derivative(name) and name.args[0].args[0] == Node("sym", (), "partial"):
        over, under = name.args[0].args[1], name.args[1].args[1]
        if over.op == under.op == "sym":
            return Node("sym", (), f"{over.value}_{under.value}")
    return name


def holds_derivative(node: Node) -> bool:
    """Whether `dy/dx` stands anywhere: its letters are none that an equation is solved for."""
    return (node.op == "div" and is_derivative(node)) or any(map(holds_derivative, node.args))


def _letters_product(node: Node) -> bool:
    """`AB`, `NO`, `BC`: a product of capital letters names a length."""
    if node.op == "sym":
        return bool(node.value[0].isupper())
    return node.op == "mul" and all(a.op == "sym" and a.value[0].isupper() for a in node.args)


def _differences(left: Node, right: Node, visit: Callable[[Any, Any, Any], bool | None], count: int) -> bool:
    """Runs `visit(f, left value, right value)` at `count` points; False once it says so, or without points."""
    from rewards.math_equivalence.exact import seed_of
    from rewards.math_equivalence.expressions import fingerprint, point_for

    tl, tr = traits(left), traits(right)
    if tl.opaque or tr.opaque or tl.dots or tr.dots:
        return False
    names = products(tl, tr)
    symbols = sorted((tl.alone | tr.alone | names) - {"i"})
    if not symbols:
        return False
    seed = seed_of(fingerprint(left), fingerprint(right))
    done = 0
    for attempt in range(count + 6):
        point = point_for(symbols, tl.integers | tr.integers, seed, attempt)

        def work(point: dict[str, Any] = point) -> bool | None:
            evaluator = Evaluator(point, names)
            return visit(evaluator.f, evaluator.value(left), evaluator.value(right))

        try:
            said: bool | None = numeric.at_precision(256, work)
        except (Undefined, TooLarge):
            continue
        except Unsupported:
            return False
        if said is False:
            return False
        if said is True:
            done += 1
            if done == count:
                return True
    return False


def constant_factor(left: Node, right: Node) -> int | None:
    """The sign of c where left = c·right for a constant c ≠ 0; None when there is no such constant."""
    state: list[Any] = []

    def visit(f: Any, x: Any, y: Any) -> bool | None:
        if not (f.is_real(x) and f.is_real(y)):
            return None
        if f.contains_zero(x) or f.contains_zero(y):
            return None if f.contains_zero(x) and f.contains_zero(y) else False
        ratio = x / y
        if not state:
            state.append(ratio)
            return True
        return bool(f.overlaps(ratio, state[0]) and f.rel_bits(ratio) > 90)

    if not _differences(left, right, visit, 4):
        return None
    return 1 if numeric.backend().positive(state[0]) else -1


def constant_difference(left: Node, right: Node) -> bool:
    """Whether left - right is one number, whatever the letters are: sin^2 x and -cos^2 x."""
    state: list[Any] = []

    def visit(f: Any, x: Any, y: Any) -> bool | None:
        if not (f.is_real(x) and f.is_real(y)):
            return None
        difference = x - y
        if not state:
            state.append(difference)
        return bool(f.overlaps(difference, state[0]) and f.error_below(difference, -90))

    return _differences(left, right, visit, 6)


def solves(equation: Node, value: Node) -> bool:
    """Whether `y = value` is the equation solved for one of its symbols, in which it is linear."""
    left = tree.add([equation.args[0], tree.neg(equation.args[1])])
    inside = traits(left)
    if inside.opaque:
        return False
    own = traits(value).alone
    for name in sorted(inside.alone - own):
        if not own <= inside.alone:
            break
        if _is_root(left, name, value):
            return True
    for name in sorted(inside.called - own):
        # f(x) = ... written unsolved is rare; the name of a function is solved for like a letter
        if len(name) == 1 and name in ("y",):
            return _is_root(left, name, value)
    return False


def _is_root(left: Node, name: str, value: Node) -> bool:
    """Whether left vanishes for name := value, and is linear in name with a slope that is not zero."""
    step = Node("sym", (), "#step")
    zero = substitute(left, {name: value})
    one = substitute(left, {name: tree.add([value, step])})
    two = substitute(left, {name: tree.add([value, step, step])})
    if same_scalar(zero, tree.ZERO)[0] is not True:
        return False
    if same_scalar(two, tree.add([one, one]))[0] is not True:
        return False
    return same_scalar(one, tree.ZERO)[0] is False


def cross_multiplied(g: Node, a: Node) -> tuple[Node, Node] | None:
    """`a/b = 3/2` against `2a = 3b`: both differences without denominators; None where no letter is divided by."""
    if not any(side.op == "div" and traits(side.args[1]).alone for node in (g, a) for side in node.args):
        return None
    differences = []
    for node in (g, a):
        (x, p), (y, q) = (side.args if side.op == "div" else (side, tree.ONE) for side in node.args)
        differences.append(tree.add([tree.mul([x, q]), tree.neg(tree.mul([y, p]))]))
    return differences[0], differences[1]


def _is_inverse(left: Node, name: str, value: Node) -> bool:
    """`ln y = x` against `y = e^x`: y stands once, under functions that take no value twice, and e^x solves it."""
    path = _path_to(left, name)
    if path is None or not all(
        n.op in ("add", "mul", "neg")
        or (n.op == "fn" and n.value in ("ln", "log", "arctan", "sinh"))
        or (n.op == "pow" and not traits(n.args[0]).alone and name in traits(n.args[1]).alone)
        for n in path
    ):
        return False
    return same_scalar(substitute(left, {name: value}), tree.ZERO)[0] is True


def _path_to(node: Node, name: str) -> list[Node] | None:
    """The nodes above the only place of a letter; None when it stands in several."""
    holding = [a for a in node.args if name in traits(a).alone]
    if node.op == "sym":
        return []
    if len(holding) != 1:
        return None
    below = _path_to(holding[0], name)
    return None if below is None else [node, *below]


def solved_alike(g: Node, a: Node) -> bool:
    """`xy = 1` against `y = 1/x`: one side of one equation is a lone letter, and the other equation has it as root."""
    for one, other in ((g, a), (a, g)):
        for lone, value in (one.args, one.args[::-1]):
            if lone.op == "sym" and lone.value not in traits(value).alone and traits(value).alone:
                left = tree.add([other.args[0], tree.neg(other.args[1])])
                if lone.value in traits(left).alone and (
                    _is_root(left, lone.value, value) or _is_inverse(left, lone.value, value)
                ):
                    return True
    return False
