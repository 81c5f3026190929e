"""Two ends of a pipe that ask each other: frames of plain data, and the service of a solution's functions.

A frame is a 4-byte little-endian length and JSON. Requests are `[op, ..., token]`, answers `["ok", value, token]`,
`["raised", class, message, bases, arguments, token]`, `["missing", name, token]` or `["big", token]`. While a request
waits for its answer the other side may ask back (`["back", ...]`): that is how a test's own function, passed as an
argument, is called.

The token is drawn anew for each request and has to come back. A program that knows the answers of a task and writes
them on the pipe at a venture, ahead or from a thread, is refused at its first frame: without the token it was paid
when its frames happened to fall between the questions, and the same program was not the next time.
"""

from __future__ import annotations

import builtins
import os
import types
from collections.abc import Sequence
from typing import Any, Final

from sandboxes import plain_data
from sandboxes.plain_data import DataTooBig, Handle

MAX_TEXT: Final = 400
"""Characters of an exception's message that cross."""


class PeerLost(BaseException):
    """The other side is gone. Not an Exception: a test's `except Exception` must not take it for an answer."""


def new_token() -> str:
    """What the answer to one request has to end with."""
    return os.urandom(8).hex()


class Peer:
    """One end: `reads` and `writes` are descriptors, `most` the bytes of one frame."""

    def __init__(self, reads: int, writes: int, most: int) -> None:
        self.reads, self.writes, self.most = reads, writes, most
        self.pending = b""

    def read(self) -> Any:
        """The next frame. Raises DataTooBig, ValueError, PeerLost."""
        raw = self.pending
        while len(raw) < 4:
            raw += self._part(1 << 13)
        length = int.from_bytes(raw[:4], "little")
        if length > self.most + 4096:
            raise DataTooBig(f"a frame of {length} bytes")
        end = 4 + length
        if len(raw) < end:
            parts, have = [raw], len(raw)
            while have < end:
                parts.append(self._part(min(end - have, 1 << 20)))
                have += len(parts[-1])
            raw = b"".join(parts)
        self.pending = raw[end:]
        return plain_data.loads(raw[4:end])

    def _part(self, most: int) -> bytes:
        part = os.read(self.reads, most)
        if not part:
            raise PeerLost("the other side has ended")
        return part

    def write(self, frame: Any) -> None:
        """Sends one frame. Raises DataTooBig, PeerLost."""
        data = plain_data.dumps(frame)
        if len(data) > self.most:
            raise DataTooBig(f"a frame of {len(data)} bytes")
        data = len(data).to_bytes(4, "little") + data
        try:
            done = os.write(self.writes, data)
            while done < len(data):
                done += os.write(self.writes, memoryview(data)[done:])
        except BrokenPipeError:
            raise PeerLost("the other side has ended") from None


def exception_text(error: BaseException) -> str:
    """The message of an exception whose `__str__` may itself raise or be endless."""
    try:
        text = str(error)
    except Exception:
        return ""
    return text[:MAX_TEXT] if type(text) is str else ""


def exception_frame(error: BaseException) -> list[Any]:
    """`["raised", class, message, [name of each class from its own to Exception], arguments]`."""
    names = _class_names(type(error))
    return ["raised", str(type(error).__name__)[:60], exception_text(error), names, _arguments(error)]


def _arguments(error: BaseException) -> list[Any]:
    """What the exception was made with, where that is short plain data: `KeyError("k")` says no more than "'k'"."""
    try:
        encoded = [plain_data.encode(argument) for argument in error.args]
        return encoded if len(plain_data.dumps(encoded)) <= 10 * MAX_TEXT else []
    except Exception:
        return []


def _class_names(cls: type) -> list[str]:
    return [str(base.__name__)[:60] for base in cls.__mro__ if base is not object][:20]


class Service:
    """Serves the functions of a module (and, with `objects`, handles to its objects) to the other end."""

    def __init__(self, peer: Peer, *, objects: bool) -> None:
        self.peer = peer
        self.module: types.ModuleType | None = None
        self.kept: dict[int, Any] | None = {} if objects else None
        self.numbers: dict[int, int] = {}

    # -- values

    def _keep(self, item: Any) -> list[Any] | None:
        if self.kept is None:
            return None
        if type(item) is Back:
            return ["h", item.number, "back", ""]
        number = self.numbers.get(id(item))
        if number is None:
            number = len(self.kept)
            self.kept[number] = item  # held for the life of the box, so the id stays its own
            self.numbers[id(item)] = number
        return ["h", number, _kind_of(item), str(getattr(item, "__name__", type(item).__name__))[:60]]

    def _resolve(self, handle: Handle) -> Any:
        if handle.kind == "back":
            return Back(self, handle.number)
        if self.kept is None:
            raise ValueError("a handle where none was given out")
        return self.kept[handle.number]

    def encode(self, value: Any) -> Any:
        return plain_data.encode(value, keep=self._keep)

    def decode(self, value: Any) -> Any:
        return plain_data.decode(value, resolve=self._resolve)

    # -- requests

    def say_loaded(self, names: Sequence[str]) -> None:
        """The first frame: the module is there, and what its `names` are (`[value]`, or `[]` for one it has not)."""
        found = []
        for name in names:
            try:
                found.append([self.encode(self._module_attribute(name))])
            except Exception:
                found.append([])
        self.peer.write(["loaded", found] if names else ["loaded"])

    def serve(self) -> None:
        """Answers until the other end closes."""
        while True:
            try:
                request = self.peer.read()
            except PeerLost:
                return
            self._answer(request)

    def _answer(self, request: Any) -> None:
        token = request.pop()
        try:
            frame = ["ok", self.encode(self._do(request)), token]
            self.peer.write(frame)
        except DataTooBig:
            self.peer.write(["big", token])
        except MissingEntryPoint as error:
            self.peer.write(["missing", str(error)[:200], token])
        except PeerLost:
            os._exit(0)
        except BaseException as error:
            self.peer.write([*exception_frame(error), token])

    def _do(self, request: Any) -> Any:
        op = request[0]
        if op == "call":
            function = self._entry_point(request[1])
            return function(*[self.decode(a) for a in request[2]], **{k: self.decode(v) for k, v in request[3].items()})
        if self.kept is None:
            raise ValueError(f"unknown request {op!r}")
        if op == "attribute":
            return self._module_attribute(request[1])
        if op == "names":
            module = self.module
            default = [name for name in vars(module) if not name.startswith("_")]
            return list(getattr(module, "__all__", default))
        target = self.kept[request[1]]
        arguments = [self.decode(a) for a in request[3]]
        if op == "invoke":
            return target(*arguments, **{k: self.decode(v) for k, v in request[4].items()})
        if op == "method":
            method = getattr(target, request[2])
            return method(*arguments, **{k: self.decode(v) for k, v in request[4].items()})
        if op == "get":
            return getattr(target, request[2])
        if op == "set":
            setattr(target, request[2], *arguments)
            return None
        if op == "operator":
            return _OPERATORS[request[2]](target, *arguments)
        if op == "bases":
            return _class_names(target)
        if op == "is":
            return isinstance(arguments[0], target)
        raise ValueError(f"unknown request {op!r}")

    def _entry_point(self, name: str) -> Any:
        found: Any = self.module
        for part in name.split("."):
            if isinstance(found, type):
                found = found()  # `Solution.solve`: a fresh instance for each call
            try:
                found = getattr(found, part)
            except AttributeError:
                raise MissingEntryPoint(name) from None
        return found

    def _module_attribute(self, name: str) -> Any:
        try:
            return getattr(self.module, name)
        except AttributeError:
            raise MissingEntryPoint(name) from None


class MissingEntryPoint(Exception):
    """The program has no such name."""


_WHOLE: Final = (UnicodeError, ExceptionGroup)
"""Exceptions some of which cannot be made from a message alone."""


class Back:
    """Inside the solution's box: a function or object that lives with the tests; using it asks there."""

    def __init__(self, service: Service, number: int) -> None:
        object.__setattr__(self, "service", service)
        object.__setattr__(self, "number", number)

    def _ask(self, op: str, name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        service: Service = object.__getattribute__(self, "service")
        number: int = object.__getattribute__(self, "number")
        encoded = [service.encode(a) for a in arguments]
        service.peer.write(["back", op, number, name, encoded, {k: service.encode(v) for k, v in keywords.items()}])
        while True:
            frame = service.peer.read()
            if frame[0] == "back-ok":
                return service.decode(frame[1])
            if frame[0] == "back-raised":
                kind = getattr(builtins, frame[1], None)
                if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, _WHOLE):
                    raise kind(frame[2])
                raise RuntimeError(f"{frame[1]}: {frame[2]}")
            service._answer(frame)  # the tests' function used the solution before it returned

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._ask("invoke", "", arguments, keywords)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._ask("get", name, (), {})

    def __setattr__(self, name: str, value: Any) -> None:
        self._ask("set", name, (value,), {})

    def __iter__(self) -> Any:
        return self._ask("operator", "iter", (), {})

    def __next__(self) -> Any:
        return self._ask("operator", "next", (), {})

    def __bool__(self) -> bool:
        return bool(self._ask("operator", "bool", (), {}))

    def __len__(self) -> int:
        return int(self._ask("operator", "len", (), {}))

    def __getitem__(self, key: Any) -> Any:
        return self._ask("operator", "getitem", (key,), {})

    def __setitem__(self, key: Any, value: Any) -> None:
        self._ask("operator", "setitem", (key, value), {})

    def __contains__(self, key: Any) -> bool:
        return bool(self._ask("operator", "contains", (key,), {}))


def _kind_of(item: Any) -> str:
    if isinstance(item, type):
        return "exception" if issubclass(item, BaseException) else "class"
    return "function" if callable(item) and hasattr(item, "__name__") else "object"


def _delete(target: Any, key: Any) -> None:
    del target[key]


def _set(target: Any, key: Any, value: Any) -> None:
    target[key] = value


def _enter(target: Any) -> Any:
    return type(target).__enter__(target)


def _exit(target: Any, *arguments: Any) -> Any:
    return type(target).__exit__(target, *arguments)


_OPERATORS: Final[dict[str, Any]] = {
    "len": len,
    "iter": iter,
    "next": next,
    "getitem": lambda target, key: target[key],
    "setitem": _set,
    "delitem": _delete,
    "contains": lambda target, key: key in target,
    "str": str,
    "repr": repr,
    "bool": bool,
    "hash": hash,
    "enter": _enter,
    "exit": _exit,
    "eq": lambda target, other: target == other,
    "ne": lambda target, other: target != other,
    "lt": lambda target, other: target < other,
    "le": lambda target, other: target <= other,
    "gt": lambda target, other: target > other,
    "ge": lambda target, other: target >= other,
    "add": lambda target, other: target + other,
    "sub": lambda target, other: target - other,
    "mul": lambda target, other: target * other,
    "matmul": lambda target, other: target @ other,
    "truediv": lambda target, other: target / other,
    "neg": lambda target: -target,
}
