"""What runs inside a test box: trusted tests, stubs for the solution, and the verdict channel.

Descriptors: 4 the solution's answers, 5 our requests, 6 the verdict channel. The solution's process holds none of ours.

What the stubs give a hostile solution to work with, and why it does not pay:

- A value of exact builtin type arrives as data; `==` on it is the builtin's own.
- Any other object is a `Remote`. It is never equal to plain data, has no arithmetic or order with plain data, and
  `x in it` walks its elements here, so no expected value is ever shown to it. (`abs(f(2) - 7) < 1e-6` with an object
  whose `__sub__` answers 0 is how such tests are passed elsewhere.) Two of its own objects are compared by it.
- Its exceptions arrive as builtin exceptions or as classes made here from their names; SystemExit and the like, which
  would end the tests early, arrive as plain exceptions.
- When it ends, the tests end, unfinished: a test's own `except:` does not get to see that.
- Of the tests' objects it can use what the tests hand to it: call functions, walk iterators, read and set public
  attributes of instances of classes that the tests define. Nothing leads from there to frames, globals or modules.
"""

from __future__ import annotations

import _ast
import builtins
import functools
import marshal
import os
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NoReturn

from sandboxes import plain_data
from sandboxes.plain_data import DataTooBig, Handle
from sandboxes.zygote.peer import Peer, PeerLost, exception_text, new_token

ANSWERS, REQUESTS, VERDICT = 4, 5, 6
_SITES: Final = "__declared_tests__"
WHOLE_SCRIPT: Final = "script"
"""Name of the one test of a script without an assert."""
_MOST_NAMES: Final = 20_000
_CALLABLES: Final = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial)


class SolutionError(Exception):
    """The solution raised something that has no builtin exception as its base, or that is not an Exception."""


# --- the verdict channel ----------------------------------------------------------------------------------------------


class Verdicts:
    """Writes outcomes. A passed test is said to be so only once the next one has begun, because an assert in a loop
    may still fail in a later round."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.names: list[str] = []
        self.status: dict[int, str] = {}
        self.unsaid: set[int] = set()
        self.last = -1
        self.reached = -1

    def declare(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.peer.write(["declared", self.names[:_MOST_NAMES]])

    def begin(self, site: int) -> None:
        self.reached = site
        if site != self.last:
            self._flush()
            self.last = site

    def passed(self, site: int) -> None:
        if site not in self.status:
            self.status[site] = "passed"
            self.unsaid.add(site)
        self.reached = -1

    def failed(self, site: int, detail: str = "") -> None:
        self.reached = -1
        if self.status.get(site) == "failed":
            return
        self.status[site] = "failed"
        self.unsaid.discard(site)
        self.peer.write(["outcome", self.names[site], "failed", detail])

    def outcome(self, name: str, status: str, detail: str = "") -> None:
        self.peer.write(["outcome", name, status, detail[:400]])

    def _flush(self) -> None:
        for site in sorted(self.unsaid):
            self.peer.write(["outcome", self.names[site], "passed", ""])
        self.unsaid.clear()

    def detail(self, text: str) -> None:
        self.peer.write(["detail", text[:400]])

    def fault(self, text: str) -> None:
        self.peer.write(["fault", text[:400]])

    def unfinished(self, why: str) -> None:
        """Ends the record at the point reached: the test under way has failed, the rest is not run."""
        if 0 <= self.reached < len(self.names):
            self.failed(self.reached, why)
        self._flush()
        self.detail(why)

    def done(self) -> None:
        self._flush()
        self.peer.write(["done"])


# --- the solution, from here ------------------------------------------------------------------------------------------


class Session:
    """Asks the solution's box, and serves what it asks back."""

    def __init__(self, peer: Peer, verdicts: Verdicts) -> None:
        self.peer, self.verdicts = peer, verdicts
        self.given: dict[int, Any] = {}
        self.numbers: dict[int, int] = {}
        self.exceptions: dict[str, type[Exception]] = {}
        self.remotes: dict[int, Remote] = {}
        self.own_modules: set[str] = {"__main__"}
        self.missing: list[str] = []

    def wait_until_loaded(self, names: Sequence[str]) -> dict[str, Any]:
        """What the solution's names stand for; one that it has not is left out."""
        frame = self._read()
        try:
            if names:
                _, found = frame
                pairs = zip(names, found, strict=True)
                return {name: plain_data.decode(*each, resolve=self._resolve) for name, each in pairs if each}
            if frame == ["loaded"]:
                return {}
        except (ValueError, IndexError, TypeError, KeyError):
            pass
        self._lost("the solution wrote on the answer channel")

    def _lost(self, why: str) -> NoReturn:
        try:
            self.verdicts.unfinished(why)
        finally:
            os._exit(0)

    def _read(self) -> Any:
        digits = sys.get_int_max_str_digits()
        sys.set_int_max_str_digits(4300)  # long numbers come as hex; reading millions of decimal digits takes minutes
        try:
            frame = self.peer.read()
        except PeerLost:
            self._lost("the solution's process has ended")
        except (ValueError, RecursionError) as error:
            self._lost(f"the solution's answer is not plain data: {str(error)[:100]}")
        finally:
            sys.set_int_max_str_digits(digits)
        if type(frame) is not list or not frame or type(frame[0]) is not str:
            self._lost("the solution wrote on the answer channel")
        return frame

    def ask(self, *frame: Any) -> Any:
        """One request and its answer. Raises what the solution raised."""
        token = new_token()
        try:
            self.peer.write([*frame, token])
        except PeerLost:
            self._lost("the solution's process has ended")
        while True:
            answer = self._read()
            kind = answer[0]
            if kind != "back" and answer.pop() != token:
                self._lost("the solution wrote on the answer channel")
            try:
                if kind == "ok":
                    room = plain_data.Room(plain_data.MAX_TABLE)
                    return plain_data.decode(answer[1], resolve=self._resolve, room=room)
                if kind == "raised":
                    raise_this = _raised(self.exception(answer[3], answer[1]), answer, frame)
                elif kind == "missing":
                    self.missing.append(str(answer[1])[:100])
                    raise_this = AttributeError(f"the solution has no {str(answer[1])[:100]!r}")
                elif kind == "big":
                    raise_this = SolutionError("the solution's value is too big or too deep")
                elif kind == "back":
                    self._serve(answer)
                    continue
                else:
                    self._lost("the solution wrote on the answer channel")
            except (ValueError, IndexError, TypeError, KeyError) as error:
                self._lost(f"the solution's answer is not plain data: {str(error)[:100]}")
            raise raise_this from None

    def arguments(self, values: Sequence[Any]) -> list[Any]:
        return [plain_data.encode(value, keep=self._keep) for value in values]

    def keywords(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: plain_data.encode(value, keep=self._keep) for name, value in values.items()}

    def exception(self, bases: Any, name: Any) -> type[Exception]:
        """The class that stands here for one of the solution's: `bases` are its names from itself to its root."""
        chain = [str(base)[:60] for base in bases][:20] if type(bases) is list else [str(name)[:60]]
        found: type[Exception] = SolutionError
        for base in reversed(chain):
            builtin = getattr(builtins, base, None)
            if isinstance(builtin, type) and issubclass(builtin, BaseException):
                if issubclass(builtin, Exception):
                    found = builtin
                continue
            if base not in self.exceptions:
                self.exceptions[base] = type(base if base.isidentifier() else "SolutionError", (found,), {})
            found = self.exceptions[base]
        return found

    # -- handles

    def _resolve(self, handle: Handle) -> Any:
        if handle.kind == "back":
            return self.given[handle.number]
        if handle.kind == "exception":
            return self.exception(self.ask("bases", handle.number, "", []), handle.name)
        remote = self.remotes.get(handle.number)
        if remote is None:
            remote = (RemoteClass if handle.kind == "class" else Remote)(self, handle)
            self.remotes[handle.number] = remote
        return remote

    def _keep(self, item: Any) -> list[Any] | None:
        if isinstance(item, Remote):
            return ["h", _number_of(item), "object", ""]
        if not (isinstance(item, (*_CALLABLES, Iterator)) or self._is_own_object(item)):
            return None
        number = self.numbers.get(id(item))
        if number is None:
            number = self.numbers[id(item)] = len(self.given)
            self.given[number] = item
        return ["h", number, "back", ""]

    def _is_own_object(self, item: Any) -> bool:
        """An instance of a class that the tests define."""
        return not isinstance(item, type) and getattr(type(item), "__module__", None) in self.own_modules

    # -- what the solution asks back

    def _serve(self, frame: Any) -> None:
        try:
            answer = ["back-ok", plain_data.encode(self._do_back(frame), keep=self._keep)]
            self.peer.write(answer)
        except PeerLost:
            self._lost("the solution's process has ended")
        except DataTooBig:
            self.peer.write(["back-raised", "ValueError", "too big"])
        except Exception as error:
            self.peer.write(["back-raised", type(error).__name__[:60], exception_text(error)])

    def _do_back(self, frame: Any) -> Any:
        _, op, number, name, arguments, keywords = frame
        target = self.given[number]
        values = [plain_data.decode(value, resolve=self._resolve) for value in arguments]
        named = {str(key): plain_data.decode(value, resolve=self._resolve) for key, value in keywords.items()}
        own = self._is_own_object(target)
        if op == "invoke" and (own or isinstance(target, _CALLABLES)):
            return target(*values, **named)
        if type(name) is not str:
            raise ValueError("a name that is not text")
        if op in ("get", "set"):
            if not own or name.startswith("_"):
                raise AttributeError(name)
            if op == "get":
                return getattr(target, name)
            setattr(target, name, *values)
            return None
        if op == "operator" and (own or (isinstance(target, Iterator) and name in ("iter", "next"))):
            return _BACK_OPERATORS[name](target, *values)
        raise TypeError(f"the tests' {type(target).__name__} does not allow {op} {name}")


_WHOLE_ARGUMENTS: Final[dict[type[Exception], Callable[[str], tuple[Any, ...]]]] = {
    UnicodeDecodeError: lambda text: ("utf-8", b"?", 0, 1, text),
    UnicodeEncodeError: lambda text: ("utf-8", "?", 0, 1, text),
    UnicodeTranslateError: lambda text: ("?", 0, 1, text),
    ExceptionGroup: lambda text: (text, [SolutionError(text)]),
}
"""Exceptions that cannot be made from a message alone."""


def _raised(kind: type[Exception], answer: Sequence[Any], request: tuple[Any, ...]) -> Exception:
    """The exception to raise for the solution's answer to `request`."""
    text = str(answer[2])
    if issubclass(kind, StopIteration) and request[:1] + request[2:3] != ("operator", "next"):
        # it would end a loop of the tests: `all(map(holds, cases))` is True when `holds` raises it at the first case
        return RuntimeError(f"the solution raised StopIteration: {text}")
    try:
        made = kind(*[plain_data.decode(argument) for argument in answer[4]])
        if exception_text(made) == text:
            return made
    except Exception:  # arguments that this class does not take
        pass
    for base, arguments in _WHOLE_ARGUMENTS.items():
        if issubclass(kind, base):
            return kind(*arguments(text))
    return kind(text)


def _set_item(target: Any, key: Any, value: Any) -> None:
    target[key] = value


_BACK_OPERATORS: Final[dict[str, Callable[..., Any]]] = {
    "iter": iter,
    "next": next,
    "len": len,
    "bool": bool,
    "getitem": lambda target, key: target[key],
    "setitem": _set_item,
    "contains": lambda target, key: key in target,
}


def _session_of(remote: Remote) -> Session:
    found: Session = object.__getattribute__(remote, "_session")
    return found


def _number_of(remote: Remote) -> int:
    found: int = object.__getattribute__(remote, "_number")
    return found


def _operator(remote: Remote, name: str, *arguments: Any) -> Any:
    session = _session_of(remote)
    return session.ask("operator", _number_of(remote), name, session.arguments(arguments))


def _exactly(kind: type, value: Any, what: str) -> Any:
    if type(value) is not kind:
        raise TypeError(f"the solution's {what} is not a {kind.__name__}")
    return value


class Remote:
    """An object of the solution. Using it asks the solution's box; it is equal to no plain data."""

    __slots__ = ("_kind", "_name", "_number", "_session")

    def __init__(self, session: Session, handle: Handle) -> None:
        object.__setattr__(self, "_session", session)
        object.__setattr__(self, "_number", handle.number)
        object.__setattr__(self, "_kind", handle.kind)
        object.__setattr__(self, "_name", handle.name)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        session = _session_of(self)
        return session.ask("invoke", _number_of(self), "", session.arguments(arguments), session.keywords(keywords))

    def __getattr__(self, name: str) -> Any:
        if name == "__name__":
            return object.__getattribute__(self, "_name")
        if name == "__doc__":
            return None
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return _session_of(self).ask("get", _number_of(self), name, [])

    def __setattr__(self, name: str, value: Any) -> None:
        session = _session_of(self)
        session.ask("set", _number_of(self), name, session.arguments([value]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Remote):
            return False
        return _number_of(self) == _number_of(other) or bool(_exactly(bool, _operator(self, "eq", other), "=="))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(_number_of(self))

    def __bool__(self) -> bool:
        return bool(_exactly(bool, _operator(self, "bool"), "truth value"))

    def __len__(self) -> int:
        return int(_exactly(int, _operator(self, "len"), "length"))

    def __str__(self) -> str:
        return str(_exactly(str, _operator(self, "str"), "str()"))

    def __repr__(self) -> str:
        return str(_exactly(str, _operator(self, "repr"), "repr()"))

    def __iter__(self) -> Any:
        return _operator(self, "iter")

    def __next__(self) -> Any:
        return _operator(self, "next")

    def __getitem__(self, key: Any) -> Any:
        return _operator(self, "getitem", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        _operator(self, "setitem", key, value)

    def __delitem__(self, key: Any) -> None:
        _operator(self, "delitem", key)

    def __contains__(self, wanted: Any) -> bool:
        return any(element is wanted or element == wanted for element in self)

    def __enter__(self) -> Any:
        return _operator(self, "enter")

    def __exit__(self, *_: Any) -> Any:
        return _operator(self, "exit", None, None, None)

    def __neg__(self) -> Any:
        return _operator(self, "neg")


def _between_two(name: str) -> Callable[[Remote, Any], Any]:
    def method(self: Remote, other: Any) -> Any:
        return _operator(self, name, other) if isinstance(other, Remote) else NotImplemented

    return method


for _name in ("lt", "le", "gt", "ge", "add", "sub", "mul", "matmul", "truediv"):
    setattr(Remote, f"__{_name}__", _between_two(_name))


class RemoteClass(Remote):
    """A class of the solution: called, it makes an object there."""

    __slots__ = ()

    def __instancecheck__(self, instance: Any) -> bool:
        if not isinstance(type(instance), type) or not issubclass(type(instance), Remote):
            return False
        session = _session_of(self)
        return bool(session.ask("is", _number_of(self), "", session.arguments([instance])))


class EntryPoint:
    """`Class.method` of the solution: each call takes a fresh instance."""

    def __init__(self, session: Session, name: str) -> None:
        self.session, self.name = session, name
        self.__name__ = name.rpartition(".")[2]

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.session.ask("call", self.name, self.session.arguments(arguments), self.session.keywords(keywords))


class SolutionModule(types.ModuleType):
    """What the tests get when they import the solution."""

    def __init__(self, name: str, session: Session) -> None:
        super().__init__(name)
        self.__dict__["_session"] = session
        self.__file__ = None

    def __getattr__(self, name: str) -> Any:
        session: Session = self.__dict__["_session"]
        if name == "__all__":
            return session.ask("names")
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return session.ask("attribute", name)


def _install_modules(names: Sequence[str], make: Callable[[str], types.ModuleType]) -> None:
    for name in names:
        parts = name.split(".")
        for end in range(1, len(parts)):
            parent = ".".join(parts[:end])
            if parent not in sys.modules:
                package = types.ModuleType(parent)
                package.__path__ = []
                sys.modules[parent] = package
        sys.modules[name] = make(name)
        if len(parts) > 1:
            setattr(sys.modules[".".join(parts[:-1])], parts[-1], sys.modules[name])


# --- asserts as declared tests ----------------------------------------------------------------------------------------


def spread(count: int, most: int | None) -> list[int]:
    """`most` of `count` positions, evenly; all of them where `most` is None."""
    if most is None or most >= count:
        return list(range(count))
    return [index * count // most for index in range(most)]


def compiled_tests(
    source: bytes, entry: str, keep_going: bool, max_tests: int | None
) -> tuple[types.CodeType, list[str]]:
    """`assert condition, message` -> the same, said to `Verdicts` site by site. Returns the code and the sites' names.

    By the C module alone: importing `ast` would cost each test box a millisecond. The trainer does this once for all
    the completions of a task where its Python is that of the box.

    Raises:
        SyntaxError, ValueError, RecursionError: the script does not compile.
    """
    tree: Any = compile(source, entry, "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
    names: list[str] = []

    def replaced(node: Any) -> list[Any]:
        where = {key: getattr(node, key) for key in ("lineno", "col_offset", "end_lineno", "end_col_offset")}
        site = len(names)
        name = f"line {node.lineno}"
        names.append(f"{name}:{node.col_offset}" if name in names else name)

        def read(identifier: str) -> Any:
            return _ast.Name(identifier, _ast.Load(), **where)

        def call(method: str, *arguments: Any) -> Any:
            function = _ast.Attribute(read(_SITES), method, _ast.Load(), **where)
            return _ast.Call(function, list(arguments), [], **where)

        def say(method: str, *arguments: Any) -> Any:
            return _ast.Expr(call(method, _ast.Constant(site, **where), *arguments), **where)

        text = call("text", node.msg if node.msg is not None else _ast.Constant("", **where))
        if keep_going:
            check: Any = _ast.If(node.test, [say("passed")], [say("failed", text)], **where)
            told = say("raised", read("__error__"))
            caught = _ast.ExceptHandler(read("Exception"), "__error__", [told], **where)
            check = _ast.Try([check], [caught], [], [], **where)
        else:
            thrown = _ast.Raise(_ast.Call(read("AssertionError"), [text], [], **where), None, **where)
            check = _ast.If(node.test, [say("passed")], [say("failed"), thrown], **where)
        return [say("begin"), check]

    def blocks(node: Any) -> Iterator[list[Any]]:
        """Every list of statements below `node`, in the order of the source."""
        for field in node._fields:
            value = getattr(node, field, None)
            if not isinstance(value, list) or not value:
                continue
            if isinstance(value[0], _ast.stmt):
                yield value
            elif isinstance(value[0], _ast.excepthandler | _ast.match_case):
                for part in value:
                    yield from blocks(part)

    def walk(node: Any, asserts: list[Any]) -> None:
        for block in blocks(node):
            for statement in block:
                if isinstance(statement, _ast.Assert):
                    asserts.append(statement)
                else:
                    walk(statement, asserts)

    def rewrite(node: Any) -> None:
        for block in blocks(node):
            written: list[Any] = []
            for statement in block:
                if not isinstance(statement, _ast.Assert):
                    rewrite(statement)
                    written.append(statement)
                elif id(statement) in chosen:
                    written += replaced(statement)
            block[:] = written or [_ast.Pass(lineno=block[0].lineno, col_offset=block[0].col_offset)]

    found: list[Any] = []
    walk(tree, found)
    chosen = {id(found[index]) for index in spread(len(found), max_tests)}
    rewrite(tree)
    return compile(tree, entry, "exec", dont_inherit=True, optimize=0), names


class _Recorder:
    """What the rewritten asserts call."""

    def __init__(self, verdicts: Verdicts) -> None:
        self.begin, self.passed, self.failed = verdicts.begin, verdicts.passed, verdicts.failed
        self.verdicts = verdicts

    @staticmethod
    def text(message: Any) -> str:
        try:
            return str(message)[:400]
        except Exception:
            return ""

    def raised(self, site: int, error: Exception) -> None:
        self.verdicts.failed(site, f"{type(error).__name__}: {exception_text(error)}"[:400])


# --- runners ----------------------------------------------------------------------------------------------------------


def run(header: dict[str, Any], files: dict[str, bytes], solution: dict[str, bytes]) -> int:
    """Runs the tests of a job. Returns the exit code of the test box."""
    verdicts = Verdicts(Peer(-1, VERDICT, 1 << 22))
    session = Session(Peer(ANSWERS, REQUESTS, header["value_bytes"]), verdicts)
    runner: Callable[..., int] = _run_pytest if header["runner"] == "pytest" else _run_script
    return runner(header, files, solution, verdicts, session)


def _load_solution(header: dict[str, Any], solution: dict[str, bytes], session: Session) -> dict[str, Any]:
    """Makes the solution importable, and returns what the tests' names stand for."""
    names: dict[str, str] = header["names"]
    if header["together"]:
        entry = header["solution_entry"]
        module = types.ModuleType((header["modules"] or ["solution"])[0])
        module.__file__ = os.path.abspath(entry)
        _install_modules(header["modules"], lambda _: module)
        exec(compile(solution[entry], module.__file__, "exec", dont_inherit=True), module.__dict__)
        found = {}
        for name, target in names.items():
            value: Any = module
            for part in target.split("."):
                value = getattr(value() if isinstance(value, type) else value, part)
            found[name] = value
        return found
    there = session.wait_until_loaded(plain_names(names))
    _install_modules(header["modules"], lambda name: SolutionModule(name, session))
    return {name: _stand_in(session, target, there) for name, target in names.items()}


def plain_names(names: Mapping[str, str]) -> list[str]:
    """The solution's names, out of `{name in the tests: name in the solution}`, that are not methods of a class."""
    return [target for target in dict.fromkeys(names.values()) if "." not in target]


def _stand_in(session: Session, target: str, there: Mapping[str, Any]) -> Any:
    if "." in target:
        return EntryPoint(session, target)
    if target in there:
        return there[target]
    session.missing.append(target[:100])
    return _Absent(f"the solution has no {target[:100]!r}")


class _Absent:
    """An entry point that the solution lacks: the test that uses it fails, the test script is not to blame."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise AttributeError(self.text)


def _run_script(
    header: dict[str, Any], files: dict[str, bytes], solution: dict[str, bytes], verdicts: Verdicts, session: Session
) -> int:
    entry = header["entry"]
    if header["code"]:
        code, sites = marshal.loads(header["code"]), header["sites"]
        whole = not sites
        verdicts.names = sites or [WHOLE_SCRIPT]  # which the trainer knows: it has compiled them
    else:
        try:
            code, sites = compiled_tests(files[entry], entry, header["keep_going"], header["max_tests"])
        except (SyntaxError, ValueError, RecursionError) as error:
            verdicts.fault(f"the test script does not compile: {type(error).__name__}: {error}")
            return 0
        whole = not sites
        verdicts.declare(sites or [WHOLE_SCRIPT])
    module = types.ModuleType("__main__")
    module.__file__ = f"{sys.path[0]}/{entry}"
    sys.modules["__main__"] = module
    module.__dict__[_SITES] = _Recorder(verdicts)
    try:
        module.__dict__.update(_load_solution(header, solution, session))
        if whole:
            verdicts.begin(0)
        exec(code, module.__dict__)
    except SystemExit as error:  # unittest.main(): the tests' own word, a solution cannot raise it here
        if error.code not in (None, 0, False):
            verdicts.unfinished(f"the test script exited with {error.code!r}"[:400])
            return 0
    except ModuleNotFoundError as error:
        if error.name and not session.missing and error.name not in header["modules"]:
            verdicts.fault(f"the test script imports {error.name!r}, which is not there")
            return 0
        verdicts.unfinished(f"{type(error).__name__}: {exception_text(error)}")
        return 0
    except BaseException as error:
        verdicts.unfinished(f"{type(error).__name__}: {exception_text(error)}")
        return 0
    if whole:
        verdicts.passed(0)
    verdicts.done()
    return 0


def _static_tests(files: dict[str, bytes]) -> list[str]:
    """Names of the tests as far as the source tells, for a solution that does not even load."""
    import ast

    names = []
    for path, source in files.items():
        if not path.endswith(".py"):
            continue
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError):
            continue
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
                names.append(f"{path}::{node.name}")
            elif isinstance(node, ast.ClassDef):
                for member in node.body:
                    if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef) and member.name.startswith("test"):
                        names.append(f"{path}::{node.name}::{member.name}")
    return names


def _run_pytest(
    header: dict[str, Any], files: dict[str, bytes], solution: dict[str, bytes], verdicts: Verdicts, session: Session
) -> int:
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        import pytest
    except ImportError:
        verdicts.fault("pytest is not installed where the tests run: pip install pytest")
        return 0
    entry = header["entry"]
    chosen = [path for path in files if os.path.basename(path).startswith("test_") and path.endswith(".py")]
    chosen = [entry, *[path for path in sorted(chosen) if path != entry]]
    static = _static_tests({path: files[path] for path in chosen})
    verdicts.declare([static[index] for index in spread(len(static), header["max_tests"])])
    for path in chosen:
        session.own_modules.add(os.path.splitext(path)[0].replace("/", "."))
        session.own_modules.add(os.path.splitext(os.path.basename(path))[0])
    state: dict[str, Any] = {"collected": False, "faults": []}

    class Plugin:
        """Says each item's outcome on the verdict channel."""

        def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
            kept = {id(items[index]) for index in spread(len(items), header["max_tests"])}
            config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
            items[:] = [item for item in items if id(item) in kept]

        def pytest_collection_finish(self, session: Any) -> None:
            state["collected"] = True
            verdicts.peer.write(["collected", [item.nodeid for item in session.items][:_MOST_NAMES]])

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed:
                state["faults"].append(str(report.longrepr)[-300:].strip().rpartition("\n")[2])

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.when == "call" or (report.when == "setup" and not report.passed):
                status = "skipped" if report.skipped else "passed" if report.passed else "failed"
                detail = "" if report.passed else str(report.longrepr)[-400:].strip().rpartition("\n")[2]
                verdicts.outcome(report.nodeid, status, detail)
            elif report.when == "teardown" and report.failed:
                verdicts.outcome(report.nodeid, "failed", "the test's teardown failed")

    injected = _load_solution(header, solution, session)
    for name, value in injected.items():
        if not hasattr(builtins, name):  # a test file that uses the function without importing it
            setattr(builtins, name, value)
    arguments = ["-q", "-p", "no:cacheprovider", "--capture=sys", "--rootdir=.", "--import-mode=prepend"]
    if not header["keep_going"]:
        arguments.append("-x")
    code = int(pytest.main([*arguments, *chosen], plugins=[Plugin()]))
    if state["faults"]:
        if session.missing:
            verdicts.unfinished(f"the solution has no {session.missing[0]!r}")
        else:
            verdicts.fault(f"the test files cannot be collected: {state['faults'][0]}")
        return 0
    if code in (0, 1, 5):
        verdicts.done()
    else:
        verdicts.fault(f"pytest ended with code {code}")
    return 0
