"""Assert scripts read as data: which of them need no second box, and what the rest need.

A test script belongs to the task and is trusted, but it is never executed in this process: it is parsed. Where every
assert is a statement about plain data (`assert candidate([1, 2]) == 3`, `assert abs(f(2) - 1.4) < 1e-6`, `is None`,
loops over literals), the calls go to the candidate's box one by one, and the rest of the expression is worked out
here, on the plain values that came back, by a small evaluator with a budget. What is more than that goes to the
two-box judge as it is.

The unit of counting is the assert statement: one in a loop is one test, passed when all its rounds are.
"""

from __future__ import annotations

import ast
import builtins
import decimal
import fractions
import functools
import math
import operator
import symtable
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from sandboxes.contract import Call
from sandboxes.plain_data import Opaque

MAX_SCRIPT_CHARS: Final = 8_000_000
MAX_STEPS: Final = 500_000
"""Expression nodes worked out for one script, or for one assert on what came back."""
MAX_CALLS: Final = 20_000
"""Calls of one script; a script with more goes to the judge."""
MAX_BITS: Final = 100_000
MAX_ITEMS: Final = 1_000_000
MAX_SAME_HASH: Final = 64


CHANGED_NAME: Final = "_arguments_after"
CHANGED_SOURCE: Final = f"""

def {CHANGED_NAME}(name, args):
    found = globals()[name.partition(".")[0]]
    if "." in name:
        found = getattr(found(), name.partition(".")[2])
    found(*args)
    return args
"""
"""Stands after the candidate's program where a script calls a function for what it does to its arguments. It runs in
the candidate's box and sends data like anything there."""


class BrokenScript(ValueError):
    """A test script that does not parse."""


class NotPlain(Exception):
    """The script is more than statements about plain data."""


class NeedsObject(Exception):
    """An assert looks into a returned object that is not plain data (a generator, a match object)."""


class _Hole:
    """Where the result of call number `index` of a round goes."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


@dataclass(frozen=True, slots=True)
class _Later:
    """A name that the script binds to an expression on results: worked out when they are there."""

    expression: ast.expr
    names: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Round:
    """One execution of one assert.

    Attributes:
        test: which assert, an index into `CallPlan.tests`.
        needs: indices of the calls whose results the expression reads.
        after: number of calls that the script makes up to this assert.
    """

    test: int
    needs: frozenset[int]
    after: int
    expression: ast.expr
    names: Mapping[str, Any]

    def holds(self, values: Mapping[int, Any]) -> bool:
        """Whether the assert holds, given the values that the calls in `needs` returned.

        Raises:
            NeedsObject: it asks something of a value that is not plain data.
            NotPlain: it takes more than the evaluator's budget.
            Exception: what Python itself would raise (a TypeError of `len(3)`): the assert does not hold.
        """
        return _truth(_Evaluator(self.names, values).of(self.expression))


@dataclass(frozen=True, slots=True)
class CallPlan:
    """A script that is calls and statements about their results. `tests` are the names of its asserts, in order."""

    tests: tuple[str, ...]
    calls: tuple[Call, ...]
    rounds: tuple[Round, ...]

    @property
    def suffix(self) -> str:
        """What the candidate's program needs at its end."""
        return CHANGED_SOURCE if any(call.entry_point == CHANGED_NAME for call in self.calls) else ""


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """A script for the two-box judge.

    Attributes:
        script: the source, its tests called at the end where nothing called them.
        names: what the script expects from the candidate: name in the script -> name in the candidate.
        runner: "script" or "pytest" (unittest classes).
        why: what kept it from being a `CallPlan`.
        asserts: number of assert statements.
        uses: names that the script reads, and modules that it imports.
    """

    script: str
    names: Mapping[str, str]
    runner: str
    why: str
    asserts: int
    uses: frozenset[str]


@lru_cache(maxsize=512)
def plan(script: str, entry_point: str) -> tuple[CallPlan | None, JudgePlan]:
    """How `script` can be judged: as calls where possible, and in any case by the judge.

    Raises:
        BrokenScript: the script does not parse.
    """
    if len(script) > MAX_SCRIPT_CHARS:
        raise BrokenScript(f"the test script has {len(script)} characters; allowed: {MAX_SCRIPT_CHARS}")
    try:
        tree = ast.parse(script)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise BrokenScript(f"the test script does not parse: {type(error).__name__}: {error}") from None
    called = _with_calls(script, tree, entry_point)
    nodes = _nodes(tree)
    names = _expected_names(called, nodes, entry_point)
    asserts = sum(isinstance(node, ast.Assert) for node in nodes)
    unit_tests = any(
        isinstance(node, ast.ClassDef) and any("TestCase" in ast.unparse(base) for base in node.bases)
        for node in tree.body
    )
    why = ""
    calls: CallPlan | None = None
    if unit_tests:
        why = "unittest classes"
        called = _without_main(called, tree)
    else:
        try:
            calls = _Reader(tree, nodes, entry_point, names).read()
        except NotPlain as reason:
            why = str(reason)
        except RecursionError:
            why = "an expression nested too deep"
    runner = "pytest" if unit_tests else "script"
    return calls, JudgePlan(called, names, runner, why, asserts, _used(nodes))


def _used(nodes: Sequence[ast.AST]) -> frozenset[str]:
    used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for node in nodes:
        if isinstance(node, ast.Import):
            used.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            used.add(node.module.partition(".")[0])
    return frozenset(used)


def _nodes(tree: ast.AST) -> list[ast.AST]:
    """Every node but literals: of a script with a megabyte of test data, the few that say something."""
    todo: list[ast.AST] = [tree]
    found: list[ast.AST] = []
    while todo:
        node = todo.pop()
        kind = type(node)
        if kind is ast.Constant:
            continue
        if kind is ast.List or kind is ast.Tuple:
            todo.extend(node.elts)  # type: ignore[attr-defined]
            continue
        found.append(node)
        for name in node._fields:
            value = getattr(node, name, None)
            if type(value) is list:
                todo.extend(item for item in value if isinstance(item, ast.AST))
            elif isinstance(value, ast.AST):
                todo.append(value)
    return found


def _with_calls(script: str, tree: ast.Module, entry_point: str) -> str:
    """Adds the calls that a data set leaves to its harness: `check(entry_point)`, and `test_x()` that nobody calls."""
    defined = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name != entry_point]
    if not any(node.name.startswith(("check", "test")) for node in defined):
        return script
    loaded = {node.id for node in _nodes(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    added = []
    for node in defined:
        required = len(node.args.args) + len(node.args.posonlyargs) - len(node.args.defaults)
        if node.name in loaded:
            continue
        if node.name == "check" and required == 1 and entry_point:
            added.append(f"check({entry_point if '.' not in entry_point else _bound(entry_point)})")
        elif node.name.startswith("test") and required == 0:
            added.append(f"{node.name}()")
    if not added:
        return script
    lines = script.rstrip("\n").count("\n") + 2
    calls = ast.parse("\n".join(added)).body
    tree.body.extend(ast.increment_lineno(node, lines) for node in calls)
    return script.rstrip("\n") + "\n\n" + "\n".join(added) + "\n"


def _without_main(script: str, tree: ast.Module) -> str:
    """Without a `unittest.main()` that no `if __name__ == "__main__"` guards: pytest, which collects the classes by
    importing the script, would be ended by it. The lines keep their numbers."""
    lines = script.encode().split(b"\n")
    for node in tree.body:
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(call, ast.Call) or ast.unparse(call.func) != "unittest.main":
            continue
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        after = lines[last][node.end_col_offset :]
        lines[first : last + 1] = [lines[first][: node.col_offset] + b"pass" + after, *[b""] * (last - first)]
    return b"\n".join(lines).decode()


def _bound(entry_point: str) -> str:
    head, _, method = entry_point.partition(".")
    return f"{head}().{method}"


def _expected_names(script: str, nodes: Sequence[ast.AST], entry_point: str) -> dict[str, str]:
    """Names that the script uses as globals and does not bind: the candidate has to have them."""
    table = symtable.symtable(_without_data(script, nodes), "tests", "exec")
    bound = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace()}
    used = {s.get_name() for s in table.get_symbols() if s.is_referenced()}
    inner = list(table.get_children())
    while inner:
        scope = inner.pop()
        inner.extend(scope.get_children())
        used |= {s.get_name() for s in scope.get_symbols() if s.is_global() and s.is_referenced()}
        bound |= {s.get_name() for s in scope.get_symbols() if s.is_declared_global() and s.is_assigned()}
    free = used - bound
    order = {n.id: n.lineno for n in reversed(nodes) if isinstance(n, ast.Name) and n.id in free}
    head = entry_point.partition(".")[0]
    names = {
        name: name
        for name in sorted(free, key=lambda name: (order.get(name, 0), name))
        if (name == head or not hasattr(builtins, name)) and not name.startswith("__")
    }
    if head and head not in bound:
        names.setdefault(head, head)
    if not names:  # MBPP has functions called `sum`: a test of a builtin would make no sense
        name = _tested_builtin(nodes)
        if name and name not in bound:
            names[name] = name
    if "candidate" in names and entry_point and head != "candidate":
        names["candidate"] = entry_point
    return names


def _without_data(script: str, nodes: Sequence[ast.AST]) -> str:
    """The script with `0` for its big literals, which hold no names: EvalPlus scripts are nearly nothing else."""
    if len(script) < 20_000:
        return script
    lines = script.encode().split(b"\n")
    values = [
        n.value for n in nodes if isinstance(n, ast.Assign) and isinstance(n.value, ast.List | ast.Tuple | ast.Dict)
    ]
    for value in sorted(values, key=lambda v: v.lineno, reverse=True):
        first, last = value.lineno - 1, (value.end_lineno or value.lineno) - 1
        literal = (ast.UnaryOp, ast.USub, ast.Dict, ast.Set, ast.Load)
        if all(isinstance(part, literal) for part in _nodes(value)):
            after = lines[last][value.end_col_offset :]
            lines[first : last + 1] = [lines[first][: value.col_offset] + b"0" + after, *[b""] * (last - first)]
    return b"\n".join(lines).decode()


def _tested_builtin(nodes: Sequence[ast.AST]) -> str:
    """The callee of `assert sum(2, 3) == 5` or of `assertion(sum(*inp), exp, 0)`, in a script that names no other."""
    for node in nodes:
        call: ast.AST | None = None
        if isinstance(node, ast.Assert):
            call = node.test.left if isinstance(node.test, ast.Compare) else node.test
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.value.args:
            call = node.value.args[0]
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and hasattr(builtins, call.func.id):
            return call.func.id
    return ""


# ---------------------------------------------------------------- from a script to rounds of calls


class _Reader:
    """Walks the statements of a script in order, keeping the plain values of its names."""

    def __init__(self, tree: ast.Module, nodes: Sequence[ast.AST], entry_point: str, names: Mapping[str, str]) -> None:
        self.tree = tree
        self.nodes = nodes
        self.entry_point = entry_point
        self.candidate = dict(names)
        self.values: dict[str, Any] = {}
        self.passed_on: set[str] = set()  # mutable values that the candidate has seen and may have changed in its box
        self.calls: list[Call] = []
        self.rounds: list[Round] = []
        self.steps = [MAX_STEPS]
        self.functions = {
            node.name: node
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and not node.decorator_list and node.name != entry_point
        }
        asserts = [node for node in nodes if isinstance(node, ast.Assert)]
        at = sorted({(node.lineno, node.col_offset) for node in asserts if not _says_nothing(node.test)})
        self.tests = {key: i for i, key in enumerate(at)}

    def read(self) -> CallPlan:
        self.refuse_early()
        self.block(self.tree.body)
        if not self.rounds or not self.calls:
            raise NotPlain("no assert that calls the candidate")
        reached = {r.test for r in self.rounds}
        for (line, _), test in self.tests.items():
            if test not in reached:
                raise NotPlain(f"the assert on line {line} is reached some other way")
        lines = [line for line, _ in self.tests]
        names = [f"line {line}" if lines.count(line) == 1 else f"line {line}:{col}" for line, col in self.tests]
        return CallPlan(tuple(names), tuple(self.calls), tuple(self.rounds))

    def refuse_early(self) -> None:
        """Scripts with helper functions around the asserts (EvalPlus), before a megabyte of literals is read."""
        statements = {id(n.value) for n in self.nodes if isinstance(n, ast.Expr)}
        for node in self.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.functions:
                if id(node) not in statements or len(node.args) > 1 or node.keywords:
                    raise NotPlain(f"line {node.lineno}: the helper function {node.func.id}")
            elif isinstance(node, ast.With | ast.Try | ast.While | ast.Lambda | ast.ClassDef | ast.AsyncFunctionDef):
                raise NotPlain(f"line {node.lineno}: {type(node).__name__}")

    def block(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assert():
                self.one_assert(node)
            case ast.FunctionDef() if self.functions.get(node.name) is node:
                pass  # looked at where it is called
            case ast.Pass() | ast.Expr(value=ast.Constant() | ast.Name()):
                pass
            case ast.Expr(value=ast.Call() as call) if self.inlined(call) or self.changing(call):
                pass
            case ast.Import():
                for alias in node.names:
                    self.bind(alias.asname or alias.name, _MODULES.get(alias.name, _UNKNOWN))
            case ast.ImportFrom():
                module = _MODULES.get(node.module or "", {})
                for alias in node.names:
                    name = alias.asname or alias.name
                    if node.module == "solution" and not node.level:
                        self.candidate[name] = alias.name
                    else:
                        self.bind(name, module.get(alias.name, _UNKNOWN))
            case ast.Assign(targets=[ast.Name(id=name)]) if self.asks(node.value):
                expression, names, _ = self.transformed(node.value)
                self.bind(name, _Later(expression, names))
            case ast.Assign(targets=[target]):
                self.assign(target, self.value(node.value))
            case ast.AnnAssign(value=ast.expr() as value):
                self.assign(node.target, self.value(value))
            case ast.For(orelse=[]):
                for item in _bounded(self.value(node.iter)):
                    self.assign(node.target, item)
                    self.block(node.body)
            case _:
                raise NotPlain(f"line {node.lineno}: a statement that is no assert on plain data")

    def inlined(self, call: ast.Call) -> bool:
        """`check(candidate)` and `test_x()`: their bodies are read in place."""
        if not isinstance(call.func, ast.Name) or call.keywords:
            return False
        function = self.functions.get(call.func.id)
        if function is None or len(call.args) > 1:
            return False
        parameters = function.args
        plain = not (parameters.vararg or parameters.kwarg or parameters.kwonlyargs or parameters.defaults)
        if not plain or len(parameters.args) != len(call.args) or parameters.posonlyargs:
            return False
        del self.functions[function.name]  # read once: no recursion, no second call
        if call.args:
            target = self.target(call.args[0])
            if target is None:
                raise NotPlain(f"line {call.lineno}: {function.name} is called with something else than the candidate")
            self.values.pop(parameters.args[0].arg, None)
            self.candidate[parameters.args[0].arg] = target
        self.block(function.body)
        return True

    def changing(self, call: ast.Call) -> bool:
        """`f(xs)` on its own: the call is made for what it does to `xs`, which is asked for in return.

        Only here: an argument of a call inside an assert keeps the script's value, or a candidate could rewrite the
        input that the reference answer is computed from (`assert f(xs) == reference(xs)`).
        """
        target = self.target(call.func)
        if target is None or any(isinstance(arg, ast.Starred) for arg in call.args) or call.keywords:
            return False
        args = [self.value(arg) for arg in call.args]
        if not all(_plain(value) for value in args):
            raise NotPlain(f"line {call.lineno}: an argument that is not plain data")
        hole = ast.Constant(value=_Hole(len(self.calls)))  # type: ignore[arg-type]
        self.calls.append(Call(CHANGED_NAME, (target, args)))
        for i, (node, value) in enumerate(zip(call.args, args, strict=True)):
            if isinstance(node, ast.Name) and isinstance(value, list | dict | set):
                self.bind(node.id, _Later(ast.Subscript(value=hole, slice=ast.Constant(i), ctx=ast.Load()), {}))
        return True

    def bind(self, name: str, value: Any) -> None:
        self.candidate.pop(name, None)
        self.passed_on.discard(name)
        self.values[name] = value

    def assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
        elif isinstance(target, ast.Tuple | ast.List):
            items = list(_bounded(value))
            if len(items) != len(target.elts):
                raise NotPlain(f"line {target.lineno}: an assignment that does not fit")
            for part, item in zip(target.elts, items, strict=True):
                self.assign(part, item)
        else:
            raise NotPlain(f"line {target.lineno}: an assignment to something else than a name")

    def asks(self, node: ast.expr) -> bool:
        """Whether an expression calls the candidate."""
        return any(isinstance(part, ast.Call) and self.target(part.func) is not None for part in ast.walk(node))

    def value(self, node: ast.expr) -> Any:
        """The plain value of an expression that does not touch the candidate."""
        try:
            return _literal(node)
        except (ValueError, TypeError, RecursionError):
            pass
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                mine = part.id in self.candidate or part.id in self.passed_on
                if mine or isinstance(self.values.get(part.id), _Later):
                    raise NotPlain(f"line {node.lineno}: a value that the candidate has a part in")
        try:
            return _Evaluator(self.values, {}, self.steps).of(node)
        except NotPlain:
            raise
        except Exception as error:
            raise NotPlain(f"line {node.lineno}: {type(error).__name__} in the script itself") from None

    def target(self, node: ast.expr) -> str | None:
        """The candidate's name for `f`, `Solution().f` or `candidate`; None for anything else."""
        if isinstance(node, ast.Name):
            return self.candidate.get(node.id)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
            owner = node.value
            if not owner.args and not owner.keywords and isinstance(owner.func, ast.Name):
                head = self.candidate.get(owner.func.id, "")
                # `Solution().add` is a method of a fresh instance; `config().get` is a method of what config returned.
                if head[:1].isupper() or self.entry_point == f"{head}.{node.attr}":
                    return f"{head}.{node.attr}"
        return None

    def transformed(self, node: ast.expr) -> tuple[ast.expr, dict[str, Any], frozenset[int]]:
        """An expression with holes for the candidate's results, the values of its names, the calls it reads."""
        shown: set[str] = set()
        expression = _Holes(self, shown).visit(_copied(node))
        used = {part.id for part in ast.walk(expression) if isinstance(part, ast.Name)}
        needs = _holes(expression)
        kept: dict[str, Any] = {}
        for name in used:
            if name in self.candidate:
                raise NotPlain(f"line {node.lineno}: {name} is used as an object")
            if name in self.passed_on or name in shown:
                raise NotPlain(f"line {node.lineno}: {name} may have been changed by the candidate")
            if name in self.values:
                kept[name] = value = self.values[name]
                if value is _UNKNOWN:
                    raise NotPlain(f"line {node.lineno}: {name} is not plain data")
                if isinstance(value, _Later):
                    needs.update(_needs(value))
        self.passed_on.update(shown)
        _check_supported(expression, self.values)
        if len(self.calls) > MAX_CALLS or len(self.rounds) > MAX_CALLS:
            raise NotPlain(f"more than {MAX_CALLS} calls")
        return expression, kept, frozenset(needs)

    def one_assert(self, node: ast.Assert) -> None:
        if _says_nothing(node.test):
            return
        expression, names, needs = self.transformed(node.test)
        if not needs:
            raise NotPlain(f"line {node.lineno}: an assert that does not ask the candidate")
        test = self.tests[node.lineno, node.col_offset]
        self.rounds.append(Round(test, needs, len(self.calls), expression, names))


def _literal(node: ast.expr) -> Any:
    """`ast.literal_eval`, but a set iterates in the order in which the script itself would have it."""
    if (
        isinstance(node, ast.List | ast.Tuple)
        and len(node.elts) < 1000
        and any(not isinstance(part, ast.Constant) for part in node.elts)
    ):
        parts = [_literal(part) for part in node.elts]
        return parts if isinstance(node, ast.List) else tuple(parts)
    value = ast.literal_eval(node)
    if type(value) is set and len(value) > 2:
        # The compiler makes a frozenset of the constants, and running the script would update an empty set with it.
        constants = compile(ast.Expression(node), "<set>", "eval").co_consts
        frozen = next((item for item in constants if type(item) is frozenset and item == value), None)
        if frozen is not None:
            value = set()
            value.update(frozen)
    return value


def _says_nothing(node: ast.expr) -> bool:
    """`assert True, "..."`: HumanEval has 48 of them; they are no tests."""
    return isinstance(node, ast.Constant) and bool(node.value)


def _holes(expression: ast.expr) -> set[int]:
    values: list[Any] = [part.value for part in ast.walk(expression) if isinstance(part, ast.Constant)]
    return {value.index for value in values if isinstance(value, _Hole)}


def _needs(later: _Later) -> set[int]:
    found = _holes(later.expression)
    for value in later.names.values():
        if isinstance(value, _Later):
            found |= _needs(value)
    return found


class _Holes(ast.NodeTransformer):
    """Takes the candidate's calls out of an expression and leaves holes for their results."""

    def __init__(self, reader: _Reader, shown: set[str]) -> None:
        self.reader, self.shown = reader, shown

    def visit_Call(self, node: ast.Call) -> ast.expr:
        reader = self.reader
        target = reader.target(node.func)
        if target is None:
            visited = self.generic_visit(node)
            assert isinstance(visited, ast.expr)
            return visited
        args: list[Any] = []
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                args.extend(_bounded(reader.value(arg.value)))
            else:
                args.append(reader.value(arg))
        kwargs: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise NotPlain(f"line {node.lineno}: keywords that are not written out")
            kwargs[keyword.arg] = reader.value(keyword.value)
        if not all(_plain(value) for value in (*args, *kwargs.values())):
            raise NotPlain(f"line {node.lineno}: an argument that is not plain data")
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and not isinstance(reader.values.get(part.id), _IMMUTABLE):
                self.shown.add(part.id)
        reader.calls.append(Call(target, tuple(args), kwargs))
        hole = ast.Constant(value=_Hole(len(reader.calls) - 1))  # type: ignore[arg-type]
        return ast.copy_location(hole, node)

    def _scope(self, node: ast.expr) -> ast.expr:
        """Inside a comprehension names mean something else: the candidate may only stand in what it goes over first."""
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            node.generators[0].iter = self.visit(node.generators[0].iter)
        if self.reader.asks(node):
            raise NotPlain(f"line {node.lineno}: the candidate is called in a comprehension")
        return node

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_Lambda = _scope


def _copied(node: ast.expr) -> ast.expr:
    copy = ast.parse(ast.unparse(node), mode="eval").body
    ast.increment_lineno(copy, node.lineno - 1)
    return copy


_PLAIN_KINDS: Final = (int, float, str, bool, bytes, complex, type(None))
_IMMUTABLE: Final = (int, float, str, bytes, complex, type(None))


def _plain(value: Any) -> bool:
    kind = type(value)
    if kind in _PLAIN_KINDS:
        return True
    if kind in (list, tuple, set, frozenset):
        return all(_plain(item) for item in value)
    if kind is dict:
        return all(_plain(key) and _plain(item) for key, item in value.items())
    return kind is range or (kind is type and _TYPES.get(value.__name__) is value)


# ---------------------------------------------------------------- the evaluator


class _Unknown:
    """A name that the script binds to something we do not evaluate (a module, a class)."""


_UNKNOWN: Final = _Unknown()


def _truth(value: Any) -> bool:
    if isinstance(value, Opaque):
        raise NeedsObject("the truth of an object")
    return bool(value)


def _bounded(value: Any) -> Iterator[Any]:
    if isinstance(value, Opaque):
        raise NeedsObject("the items of an object")
    if not isinstance(value, list | tuple | set | frozenset | dict | str | bytes | bytearray | range | deque):
        raise TypeError(f"{type(value).__name__} is not iterable")
    if len(value) > MAX_ITEMS:
        raise NotPlain("too many items")
    return iter(value)


def _distinct(items: Any) -> list[Any]:
    """Different items, refusing what would make a hash table quadratic (multiples of 2**61-1 all hash to 0)."""
    found: dict[int, list[Any]] = {}
    out = []
    for item in _bounded(items):
        same = found.setdefault(hash(item), [])
        if item not in same:
            if len(same) >= MAX_SAME_HASH:
                raise ValueError("too many items share their hash")
            same.append(item)
            out.append(item)
    return out


def _power(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int) and b > 0 and abs(a) > 1 and a.bit_length() * b > MAX_BITS:
        raise NotPlain("a number too long")
    return a**b


def _times(a: Any, b: Any) -> Any:
    for x, y in ((a, b), (b, a)):
        if isinstance(x, str | bytes | list | tuple) and isinstance(y, int) and len(x) * max(y, 0) > MAX_ITEMS:
            raise NotPlain("a sequence too long")
    if isinstance(a, int) and isinstance(b, int) and a.bit_length() + b.bit_length() > MAX_BITS:
        raise NotPlain("a number too long")
    return a * b


def _shift(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int) and a.bit_length() + max(b, 0) > MAX_BITS:
        raise NotPlain("a number too long")
    return a << b


def _divided(divide: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A division whose cost is bounded: that of two long numbers grows with the product of their lengths."""

    def bounded(a: Any, b: Any) -> Any:
        if isinstance(a, int) and isinstance(b, int) and a.bit_length() * b.bit_length() > MAX_BITS**2:
            raise NotPlain("numbers too long")
        return divide(a, b)

    return bounded


def _modulo(a: Any, b: Any) -> Any:
    if isinstance(a, str | bytes):
        raise NotPlain("string formatting")
    return _divided(operator.mod)(a, b)


_EXACT: Final = (fractions.Fraction, decimal.Decimal)


def _no_exact(*values: Any) -> None:
    """Refuses arithmetic on exact numbers, whose cost has no bound: `int(Decimal("1E+999999999"))` never ends."""
    if any(type(value) in _EXACT for value in values):
        raise NotPlain("arithmetic on a Fraction or Decimal")


_BINARY: Final[dict[type, Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: _times, ast.Div: operator.truediv,
    ast.FloorDiv: _divided(operator.floordiv), ast.Mod: _modulo, ast.Pow: _power, ast.LShift: _shift,
    ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip
_UNARY: Final[dict[type, Callable[[Any], Any]]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
}  # fmt: skip
_COMPARE: Final[dict[type, Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
    ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip


def _sum(items: list[Any], start: Any = 0) -> Any:
    if not isinstance(start, int | float | complex):
        raise NotPlain("a sum of sequences")  # quadratic
    _no_exact(*items)
    return sum(items, start)


def _listed(function: Callable[..., Any]) -> Callable[..., Any]:
    """For functions of iterables: our own bounded iteration first."""
    return lambda items, *rest, **options: function(list(_bounded(items)), *rest, **options)


_TYPES: Final[dict[str, type]] = {
    kind.__name__: kind for kind in (int, float, str, bool, bytes, complex, list, tuple, set, frozenset, dict)
}
_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "abs": abs, "len": len, "round": round, "divmod": _divided(divmod), "ord": ord, "chr": chr,
    "isinstance": isinstance, "repr": repr, "bin": bin, "hex": hex, "type": lambda value: type(value), "range": range,
    "int": int, "float": float, "str": str, "bool": _truth, "complex": complex,
    "list": lambda items=(): list(_bounded(items)), "tuple": lambda items=(): tuple(_bounded(items)),
    "set": lambda items=(): set(_distinct(items)), "frozenset": lambda items=(): frozenset(_distinct(items)),
    "dict": lambda **items: dict(**items), "sorted": _listed(sorted), "sum": _listed(_sum), "reversed": _listed(
        lambda items: items[::-1]), "all": _listed(all), "any": _listed(any),
    "enumerate": _listed(lambda items, start=0: list(enumerate(items, start))),
    "zip": lambda *items: list(zip(*[list(_bounded(i)) for i in items], strict=False)),
    "min": lambda *items: min(*items) if len(items) > 1 else min(list(_bounded(*items))),
    "max": lambda *items: max(*items) if len(items) > 1 else max(list(_bounded(*items))),
}  # fmt: skip
_MATH_NAMES: Final = """isclose fabs floor ceil sqrt pi e inf nan isnan isinf isfinite trunc gcd log log2 log10 exp
sin cos tan pow hypot radians degrees"""
_MATH: Final[dict[str, Any]] = {name: getattr(math, name) for name in _MATH_NAMES.split()}
_MATH["gcd"] = lambda *numbers: functools.reduce(_divided(math.gcd), numbers, 0)
_MODULES: Final[dict[str, dict[str, Any]]] = {"math": _MATH}
_READERS: Final[frozenset[Callable[..., Any]]] = frozenset({abs, repr, str, *[_FUNCTIONS[n] for n in ("min", "max")]})
"""Functions that cost no more for a Fraction or a Decimal than reading it does."""
_METHODS: Final = {
    str: "lower upper strip lstrip rstrip split splitlines startswith endswith count find index isdigit isalpha title "
    "isupper islower capitalize swapcase join",
    list: "count index copy", tuple: "count index", dict: "get keys values items copy",
    set: "issubset issuperset isdisjoint", frozenset: "issubset issuperset isdisjoint",
    float: "is_integer", int: "bit_length",
}  # fmt: skip
_METHOD_NAMES: Final = {kind: frozenset(names.split()) for kind, names in _METHODS.items()}
_ALL_METHODS: Final = frozenset().union(*_METHOD_NAMES.values())


def _check_supported(node: ast.expr, values: Mapping[str, Any]) -> None:
    """Refuses while reading the script what the evaluator could not work out later."""
    inner = {
        name.id
        for part in ast.walk(node)
        if isinstance(part, ast.comprehension)
        for name in ast.walk(part.target)
        if isinstance(name, ast.Name)
    }
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and not (
            part.id in values or part.id in inner or part.id in _TYPES or part.id in _FUNCTIONS
        ):
            raise NotPlain(f"line {node.lineno}: the name {part.id}")
        if isinstance(part, ast.Call):
            function = part.func
            if isinstance(function, ast.Name):
                known = function.id in _FUNCTIONS or function.id in _TYPES
                if function.id in values:
                    known = callable(values[function.id])
            elif isinstance(function, ast.Attribute):
                owner = function.value
                if isinstance(owner, ast.Name) and isinstance(values.get(owner.id), dict) and values[owner.id] is _MATH:
                    known = function.attr in _MATH
                else:
                    known = function.attr in _ALL_METHODS
            else:
                known = False
            if not known:
                raise NotPlain(f"line {node.lineno}: {ast.unparse(function)} is not worked out here")
            if any(keyword.arg not in _KEYWORDS for keyword in part.keywords):
                raise NotPlain(f"line {node.lineno}: keywords that are not worked out here")
        elif isinstance(part, ast.Compare):
            for side, op in zip(part.comparators, part.ops, strict=True):
                if isinstance(op, ast.Is | ast.IsNot) and not _singleton(side) and not _singleton(part.left):
                    raise NotPlain(f"line {node.lineno}: identity of an object")
        elif isinstance(part, ast.expr) and not isinstance(part, _EXPRESSIONS):
            raise NotPlain(f"line {node.lineno}: {type(part).__name__} is not worked out here")


_KEYWORDS: Final = frozenset({"rel_tol", "abs_tol", "reverse", "start", "ndigits", "sep"})
_EXPRESSIONS: Final = (
    ast.Constant, ast.Name, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare,
    ast.IfExp, ast.Subscript, ast.Slice, ast.Call, ast.Attribute, ast.ListComp, ast.GeneratorExp, ast.SetComp,
    ast.Starred,
)  # fmt: skip


def _singleton(node: ast.expr) -> bool:
    return (isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))) or (
        isinstance(node, ast.Name) and node.id in _TYPES
    )


class _Evaluator:
    """Works out an expression on plain values, within a budget of steps. No attribute is looked up on a value."""

    def __init__(self, names: Mapping[str, Any], holes: Mapping[int, Any], steps: list[int] | None = None) -> None:
        self.names = dict(names)
        self.holes = holes
        self.steps = steps if steps is not None else [MAX_STEPS]
        self.weight = 0  # what one round of a loop may cost: it may search or compare a whole result

    def of(self, node: ast.expr) -> Any:
        self.steps[0] -= 1
        if self.steps[0] < 0:
            raise NotPlain("too much to work out")
        method = _EVALUATE.get(type(node))
        if method is None:
            raise NotPlain(f"{type(node).__name__} is not worked out here")
        return method(self, node)

    def constant(self, node: ast.Constant) -> Any:
        value: Any = node.value
        return self.holes[value.index] if isinstance(value, _Hole) else value

    def name(self, node: ast.Name) -> Any:
        if node.id in self.names:
            value = self.names[node.id]
        else:
            value = _TYPES.get(node.id) or _FUNCTIONS.get(node.id, _UNKNOWN)
        if value is _UNKNOWN:
            raise NotPlain(f"{node.id} is not plain data")
        if isinstance(value, _Later):
            self.names[node.id] = value = _Evaluator(value.names, self.holes, self.steps).of(value.expression)
        return value

    def sequence(self, node: ast.List | ast.Tuple | ast.Set) -> Any:
        items: list[Any] = []
        for part in node.elts:
            if isinstance(part, ast.Starred):
                items.extend(_bounded(self.of(part.value)))
            else:
                items.append(self.of(part))
        if isinstance(node, ast.Set):
            return set(_distinct(items))
        return items if isinstance(node, ast.List) else tuple(items)

    def mapping(self, node: ast.Dict) -> Any:
        if any(key is None for key in node.keys):
            raise NotPlain("a dict of dicts")
        return {self.of(key): self.of(value) for key, value in zip(node.keys, node.values, strict=True) if key}

    def unary(self, node: ast.UnaryOp) -> Any:
        value = self.of(node.operand)
        if isinstance(node.op, ast.Not):
            return not _truth(value)
        return _UNARY[type(node.op)](_data(value))

    def binary(self, node: ast.BinOp) -> Any:
        left, right = _data(self.of(node.left)), _data(self.of(node.right))
        _no_exact(left, right)
        return _BINARY[type(node.op)](left, right)

    def either(self, node: ast.BoolOp) -> Any:
        value: Any = None
        for part in node.values:
            value = self.of(part)
            if _truth(value) is isinstance(node.op, ast.Or):
                break
        return value

    def compare(self, node: ast.Compare) -> Any:
        left = self.of(node.left)
        for op, side in zip(node.ops, node.comparators, strict=True):
            right = self.of(side)
            if isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
                holds = _COMPARE[type(op)](left, right)
            else:
                holds = _COMPARE[type(op)](_data(left), _data(right))
            if not holds:
                return False
            left = right
        return True

    def choice(self, node: ast.IfExp) -> Any:
        return self.of(node.body if _truth(self.of(node.test)) else node.orelse)

    def subscript(self, node: ast.Subscript) -> Any:
        value = _data(self.of(node.value))
        if isinstance(node.slice, ast.Slice):
            parts = (node.slice.lower, node.slice.upper, node.slice.step)
            return value[slice(*[None if part is None else self.of(part) for part in parts])]
        return value[self.of(node.slice)]

    def attribute(self, node: ast.Attribute) -> Any:
        if isinstance(node.value, ast.Name) and self.names.get(node.value.id) is _MATH and node.attr in _MATH:
            return _MATH[node.attr]
        raise NotPlain(f".{node.attr} is not worked out here")

    def call(self, node: ast.Call) -> Any:
        function: Callable[..., Any]
        if isinstance(node.func, ast.Attribute) and not (
            isinstance(node.func.value, ast.Name) and self.names.get(node.func.value.id) is _MATH
        ):
            owner = _data(self.of(node.func.value))
            if node.func.attr not in _METHOD_NAMES.get(type(owner), ()):
                raise NotPlain(f".{node.func.attr} is not worked out here")
            bound = getattr(owner, node.func.attr)
            views = type(owner) is dict and node.func.attr in ("keys", "values", "items")
            function = (lambda: list(bound())) if views else bound
        elif isinstance(node.func, ast.Name) and node.func.id not in self.names:
            function = _FUNCTIONS.get(node.func.id) or _no_function(node.func.id)
        else:
            function = self.of(node.func)
            if not callable(function):
                raise NotPlain("a call of something that is not a function")
        args: list[Any] = []
        for part in node.args:
            if isinstance(part, ast.Starred):
                args.extend(_bounded(self.of(part.value)))
            else:
                args.append(self.of(part))
        if function is not _FUNCTIONS["isinstance"] and function is not _FUNCTIONS["type"]:
            args = [_data(arg) for arg in args]
            if function not in _READERS:
                _no_exact(*args)
        return function(*args, **{keyword.arg: self.of(keyword.value) for keyword in node.keywords if keyword.arg})

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Any:
        found: list[Any] = []
        outer = self.names

        def loop(depth: int) -> None:
            if depth == len(node.generators):
                found.append(self.of(node.elt))
                return
            generator = node.generators[depth]
            for item in list(_bounded(self.of(generator.iter))):
                self.steps[0] -= 1 + self.weight
                self.assign(generator.target, item)
                if all(_truth(self.of(test)) for test in generator.ifs):
                    loop(depth + 1)

        self.names = dict(outer)
        if not self.weight:
            self.weight = sum(_size(value) for value in self.holes.values()) // 64
        try:
            loop(0)
        finally:
            self.names = outer
        return set(_distinct(found)) if isinstance(node, ast.SetComp) else found

    def assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, ast.Tuple):
            items = list(_bounded(value))
            if len(items) != len(target.elts):
                raise ValueError("unpacking does not fit")
            for part, item in zip(target.elts, items, strict=True):
                self.assign(part, item)
        else:
            raise NotPlain("an assignment to something else than a name")


def _size(value: Any) -> int:
    """Number of elements, nested ones included; a string counts its characters."""
    if isinstance(value, str | bytes | bytearray | range):
        return 1 + len(value)
    if isinstance(value, dict):
        return 1 + sum(_size(key) + _size(item) for key, item in value.items())
    if isinstance(value, list | tuple | set | frozenset | deque):
        return 1 + sum(map(_size, value))
    return 1


def _data(value: Any) -> Any:
    if isinstance(value, Opaque):
        raise NeedsObject(f"what a {value.type_name} holds")
    return value


def _no_function(name: str) -> Callable[..., Any]:
    raise NotPlain(f"{name} is not worked out here")


_EVALUATE: Final[dict[type, Callable[[_Evaluator, Any], Any]]] = {
    ast.Constant: _Evaluator.constant, ast.Name: _Evaluator.name, ast.List: _Evaluator.sequence,
    ast.Tuple: _Evaluator.sequence, ast.Set: _Evaluator.sequence, ast.Dict: _Evaluator.mapping,
    ast.UnaryOp: _Evaluator.unary, ast.BinOp: _Evaluator.binary, ast.BoolOp: _Evaluator.either,
    ast.Compare: _Evaluator.compare, ast.IfExp: _Evaluator.choice, ast.Subscript: _Evaluator.subscript,
    ast.Attribute: _Evaluator.attribute, ast.Call: _Evaluator.call, ast.ListComp: _Evaluator.comprehension,
    ast.GeneratorExp: _Evaluator.comprehension, ast.SetComp: _Evaluator.comprehension,
}  # fmt: skip
