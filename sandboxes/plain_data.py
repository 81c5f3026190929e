"""Plain data across a pipe: exact builtin values to tagged JSON and back, with caps. Nothing is ever unpickled.

Grammar of an encoded value (JSON):

```
value := null | true | false | INT                       INT: |i| < 2**53
       | ["i", HEX] | ["f", HEX] | ["c", HEX, HEX]       other ints, floats (nan and inf too), complex
       | ["s", TEXT] | ["b", HEX] | ["a", HEX]           str, bytes, bytearray
       | ["l"|"t"|"S"|"z"|"Q", value...]                 list, tuple, set, frozenset, deque
       | ["I", INT...] | ["X", TEXT...]                  list of small ints, list of str
       | ["N"|"M", atom...]                              list, tuple of null, bool, INT, finite FLOAT and TEXT
       | ["P", "l"|"t", WIDTH, [atom...], BASE64]        list of lists or tuples of WIDTH elements out of at most 256
       | ["d"|"o"|"n"|"g", [value, value]...]            dict, OrderedDict, Counter, defaultdict (without its factory)
       | ["r", value, value, value] | ["F", HEX, HEX]    range, Fraction
       | ["D", TEXT] | ["T", KIND, INT...] | ["e"]       Decimal, date/time/datetime/timedelta (naive), Ellipsis
       | ["h", INT, KIND, NAME]                          a handle: an object that stays on the other side
       | ["y", NAME]                                     a builtin type (an argument such as `int`)
       | ["u", NAME]                                     anything else: opaque
```

An instance of a user's subclass of a builtin (a namedtuple, an IntEnum) crosses as its builtin content when it keeps
the builtin's own comparison; one that overrides comparison is opaque, because then `==` was meant to mean something
that data cannot carry. Either way the comparison on this side is made on exact builtin types.
"""

from __future__ import annotations

import collections
import itertools
import json
import math
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any, Final

MAX_DEPTH: Final = 200
"""Nesting of one value."""
MAX_NODES: Final = 1_000_000
"""Elements of one value, those of flat lists of small ints or of text left out."""
MAX_FLAT: Final = 16_000_000
"""Elements of flat lists, which are read at the speed of C (EvalPlus has tasks that return six million)."""
MAX_TABLE: Final = 200_000_000
"""Elements of tables: equal rows of few distinct elements, one byte each on the wire, then compressed. EvalPlus has
a task (MBPP 255) that returns 1.7 million tuples of 77 strings; only a box has the memory for one of these.

A row counts as `_ROW_ELEMENTS` more, and an element as one more for every eight characters of the longest text: some
kilobytes unpack to sixteen million lists of one element (1.6 GB), or to a million times the same 100 kB (100 GB for
whoever writes it out)."""
MAX_COLLISIONS: Final = 256
"""Dict keys or set elements that may share their hash: 2**61-1 and its multiples all hash to 0, and a dict of 100,000
of them would cost the reader minutes."""

_SMALL: Final = 1 << 53
_TYPES: Final[dict[str, type]] = {
    builtin.__name__: builtin
    for builtin in (bool, int, float, complex, str, bytes, bytearray, list, tuple, set, frozenset, dict, range, object)
}


class DataTooBig(ValueError):
    """A value over the byte, node or depth cap."""


class Opaque:
    """Stands for a value that is not plain data. Equal to nothing, itself included; has no truth value."""

    __slots__ = ("type_name",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return True

    def __bool__(self) -> bool:
        raise TypeError(f"a {self.type_name} object from the sandbox is not plain data and has no truth value")

    def __repr__(self) -> str:
        return f"<Opaque {self.type_name}>"


class Handle:
    """Names an object that stays on the other side of the pipe. Used by the two boxes of `Sandbox.judge` only."""

    __slots__ = ("kind", "name", "number")

    def __init__(self, number: int, kind: str, name: str) -> None:
        self.number, self.kind, self.name = number, kind, name


Keep = Callable[[Any], "list[Any] | None"]
"""Given an object that is not plain data: its encoded handle, or None to send it as opaque."""

_COMPARISONS: Final = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
_BASES: Final[tuple[type, ...]] = (int, float, str, bytes, list, tuple, set, frozenset, dict)


def _builtin_content(value: Any) -> Any:
    """The builtin content of a subclass instance that keeps its builtin's comparison, else `value` itself."""
    cls = type(value)
    for base in _BASES:
        if base in cls.__mro__:
            for name in _COMPARISONS:
                if getattr(cls, name, None) is not getattr(base, name, None):
                    return value
            if base is str:
                return str.__str__(value)
            if base is int:
                return int.__index__(value)
            if base is float:
                return float.__float__(value)
            if base is dict:
                return dict(dict.items(value))
            return base(base.__iter__(value))  # type: ignore[attr-defined]
    return value


def encode(value: Any, *, keep: Keep | None = None) -> Any:
    """The JSON-plain form of `value`.

    Args:
        keep: turns an object that is not plain data into a handle; without it such an object is opaque.

    Raises:
        DataTooBig: deeper than MAX_DEPTH or more than MAX_NODES elements (a cyclic list is endlessly deep).
    """
    if value is None or value is True or value is False or (type(value) is int and -_SMALL < value < _SMALL):
        return value
    if keep is not None and type(value) is types.FunctionType:  # the solution itself: no question for the long list
        handle = keep(value)
        if handle is not None:
            return handle
    budget = [MAX_NODES, MAX_FLAT, MAX_TABLE]

    def spend_flat(count: int) -> None:
        budget[1] -= count
        if budget[1] < 0:
            raise DataTooBig(f"flat lists of more than {MAX_FLAT} elements")

    def walk(item: Any, depth: int) -> Any:
        budget[0] -= 1
        if depth > MAX_DEPTH or budget[0] < 0:
            raise DataTooBig(f"a value deeper than {MAX_DEPTH} or of more than {MAX_NODES} elements")
        kind = type(item)
        if item is None or kind is bool:
            return item
        if kind is int:
            return item if -_SMALL < item < _SMALL else ["i", hex(item)]
        if kind is str:
            return ["s", item]
        if kind is float:
            return ["f", item.hex()]
        below = depth + 1
        tag = _SEQUENCES.get(kind)
        if tag in ("l", "t") and len(item) > 8:
            kinds = set(map(type, item))
            flat = ""
            if kinds == {str}:
                flat = "X" if tag == "l" else "M"
            elif kinds == {int}:
                if min(item) > -_SMALL and max(item) < _SMALL:
                    flat = "I" if tag == "l" else "M"
            elif kinds <= _ATOMS and all(map(_is_atom, item)):
                flat = "N" if tag == "l" else "M"
            if flat:
                spend_flat(len(item))
                return [flat, *item]
        if tag == "l" and len(item) >= _TABLE_ROWS:
            table = _table(item, budget[2])
            if table is not None:
                budget[2] -= _table_cost(len(item), table[2], table[3])
                return table
        if tag is not None:
            if len(item) > budget[0]:  # before the list of children is built
                raise DataTooBig(f"a value of more than {MAX_NODES} elements")
            return [tag, *[walk(child, below) for child in item]]
        tag = _MAPPINGS.get(kind)
        if tag is not None:
            return [tag, *[[walk(key, below), walk(child, below)] for key, child in item.items()]]
        if kind is complex:
            return ["c", item.real.hex(), item.imag.hex()]
        if kind is bytes:
            return ["b", item.hex()]
        if kind is bytearray:
            return ["a", item.hex()]
        if kind is range:
            return ["r", walk(item.start, below), walk(item.stop, below), walk(item.step, below)]
        if item is Ellipsis:
            return ["e"]
        if kind is type and item in _TYPES.values():
            return ["y", str(item.__name__)]
        known = _encode_library_value(item, kind)
        if known is not None:
            return known
        if getattr(kind, "__module__", None) == "numpy" and "numpy" in sys.modules:
            numpy = sys.modules["numpy"]
            if isinstance(item, numpy.generic | numpy.ndarray):
                plain = item.tolist()
                if type(plain) is not kind:
                    return walk(plain, below)
        content = _builtin_content(item)
        if content is not item:
            return walk(content, below)
        if keep is not None:
            handle = keep(item)
            if handle is not None:
                return handle
        return ["u", str(kind.__name__)[:60]]

    return walk(value, 0)


_TABLE_ROWS: Final = 1024
"""Rows from which on a table is tried for."""
_ROW_ELEMENTS: Final = 16
"""What a list or tuple costs beside its elements, in elements: 64 bytes, and as much again for the time it takes."""


def _table_cost(rows: int, width: int, atoms: Iterable[Any]) -> int:
    """What a table takes of `MAX_TABLE`."""
    longest = max((len(atom) for atom in atoms if type(atom) is str), default=0)
    return rows * (width * (1 + longest // 8) + _ROW_ELEMENTS)


def _table(rows: list[Any], most: int) -> list[Any] | None:
    """A list of rows of one kind and width, all of str or all of int, few of them distinct: see the grammar. None for
    any other. Each look at the elements runs at the speed of C, the short ones first."""
    flatten = itertools.chain.from_iterable
    kind, width = type(rows[0]), len(rows[0]) if type(rows[0]) in (list, tuple) else 0
    if not width or _table_cost(len(rows), width, ()) > most:
        return None
    if set(map(type, rows)) != {kind} or set(map(len, rows)) != {width}:
        return None
    some = set(itertools.islice(flatten(rows), 4096))
    if len(some) > 256 or set(map(type, some)) not in ({str}, {int}):
        return None
    kinds = set(map(type, flatten(rows)))
    if len(kinds) != 1:  # True beside 1 is one element of a set, and no int
        return None
    distinct = list(set(flatten(rows)))
    if len(distinct) > 256 or (kinds == {int} and not all(map(_is_atom, distinct))):
        return None
    if _table_cost(len(rows), width, distinct) > most:
        return None
    import base64
    import zlib

    code = {element: number for number, element in enumerate(distinct)}
    packed = zlib.compress(bytes(map(code.__getitem__, flatten(rows))), 1)
    return ["P", _SEQUENCES[kind], width, distinct, base64.b64encode(packed).decode("ascii")]


def _rows_of_table(table: list[Any], most: int) -> list[Any]:
    import base64
    import zlib

    kind, width, atoms, packed = table
    if kind not in ("l", "t") or type(width) is not int or width < 1 or type(atoms) is not list:
        raise ValueError("not a table")
    if set(map(type, atoms)) not in ({str}, {int}) or not all(map(_is_atom, atoms)):
        raise ValueError("a table of something else")
    fit = max(0, most) // _table_cost(1, width, atoms) * width
    unpack = zlib.decompressobj()
    try:
        codes = unpack.decompress(base64.b64decode(_text(packed)), fit + 1)
    except zlib.error:
        raise ValueError("a table that does not unpack") from None
    if len(codes) > fit:
        raise DataTooBig(f"tables of more than {most} elements")
    if not codes or len(codes) % width or max(codes) >= len(atoms):
        raise ValueError("a table that does not fit its width or its elements")
    element = atoms.__getitem__
    starts = range(0, len(codes), width)
    if kind == "l":
        return [list(map(element, codes[at : at + width])) for at in starts]
    return [tuple(map(element, codes[at : at + width])) for at in starts]


_ATOMS: Final = frozenset({int, float, str, bool, type(None)})


def _is_atom(item: Any) -> bool:
    """Whether JSON itself keeps an item of one of the types in `_ATOMS`."""
    kind = type(item)
    return -_SMALL < item < _SMALL if kind is int else kind is not float or math.isfinite(item)


_SEQUENCES: Final[dict[type, str]] = {
    list: "l",
    tuple: "t",
    set: "S",
    frozenset: "z",
    collections.deque: "Q",
}
_MAPPINGS: Final[dict[type, str]] = {
    dict: "d",
    collections.OrderedDict: "o",
    collections.Counter: "n",
    collections.defaultdict: "g",
}


def _of(module: str, kind: type, *names: str) -> bool:
    """Whether `kind` is one of these classes of a standard module. The module is not imported for the question: every
    box is a copy of a process that holds this one, and each megabyte there costs each box time."""
    found = sys.modules.get(module)
    return found is not None and any(kind is getattr(found, name, None) for name in names)


def _encode_library_value(item: Any, kind: type) -> Any:
    if _of("fractions", kind, "Fraction"):
        return ["F", hex(item.numerator), hex(item.denominator)]
    if _of("decimal", kind, "Decimal"):
        return ["D", str(item)]
    if not _of("datetime", kind, "timedelta", "date", "datetime", "time"):
        return None
    name = kind.__name__
    if name == "timedelta":
        return ["T", name, (item.days * 86400 + item.seconds) * 1_000_000 + item.microseconds]
    if name == "date":
        return ["T", name, item.year, item.month, item.day]
    if item.tzinfo is not None:
        return None
    parts = [item.hour, item.minute, item.second, item.microsecond]
    return ["T", name, *([item.year, item.month, item.day] if name == "datetime" else []), *parts]


def _hashable(items: Iterable[Any]) -> list[Any]:
    """The items, after a check that hashing them is possible and cheap.

    Raises:
        TypeError: an item has no hash. DataTooBig: too many share one.
    """
    todo = list(items)
    hashes = {hash(item) for item in todo}
    if len(todo) - len(hashes) > MAX_COLLISIONS:
        raise DataTooBig(f"more than {MAX_COLLISIONS} keys share their hash")
    return todo


def _in_order(kind: type[set[Any]] | type[frozenset[Any]], elements: list[Any]) -> Any:
    """A set that iterates as the one that was sent where its table can be got by one of the two ways there are.

    `{12, 13, 14, 15, 16}` written in a script iterates 16 first, `set([12, 13, 14, 15, 16])` 12 first: both are right,
    and data sets have tests that a program passes by one and fails by the other (`tuple(s)`, MBPP 341).
    """
    made = kind(elements)
    if 1 < len(elements) < 10_000 and list(made) != elements:
        other = kind(set(frozenset(elements)))
        if list(other) == elements:
            return other
    return made


class Room:
    """How many elements of tables may still be unpacked; they take 8 bytes each."""

    __slots__ = ("left",)

    def __init__(self, elements: int = MAX_FLAT) -> None:
        self.left = elements


def decode(encoded: Any, *, resolve: Callable[[Handle], Any] | None = None, room: Room | None = None) -> Any:
    """The value of an encoded form that comes from an untrusted box.

    Args:
        resolve: turns a handle into what stands for it here; without it a handle is opaque.
        room: for tables; None: a `Room` of its own.

    Raises:
        ValueError: not in the grammar. DataTooBig (a ValueError): over a cap.
    """
    if encoded is None or type(encoded) is int or type(encoded) is bool:
        return encoded
    budget = [MAX_NODES, MAX_FLAT]
    room = room or Room()

    def spend_flat(count: int) -> None:
        budget[1] -= count
        if budget[1] < 0:
            raise DataTooBig(f"flat lists of more than {MAX_FLAT} elements")

    def walk(item: Any, depth: int) -> Any:
        budget[0] -= 1
        if depth > MAX_DEPTH or budget[0] < 0:
            raise DataTooBig(f"a value deeper than {MAX_DEPTH} or of more than {MAX_NODES} elements")
        kind = type(item)
        if item is None or kind is bool or kind is int:
            return item
        if kind is not list or not item or type(item[0]) is not str:
            raise ValueError("not encoded plain data")
        tag = item[0]
        below = depth + 1
        if tag == "s":
            return _text(item[1])
        if tag == "f":
            return float.fromhex(_text(item[1]))
        if tag == "i":
            return int(_text(item[1]), 16)
        if tag == "l":
            return [walk(child, below) for child in item[1:]]
        if tag in ("I", "X"):
            same: list[Any] = item[1:]
            if not set(map(type, same)) <= {int if tag == "I" else str}:
                raise ValueError("a flat list of something else")
            spend_flat(len(same))
            return same
        if tag in ("N", "M"):
            atoms: list[Any] = item[1:]
            if not set(map(type, atoms)) <= _ATOMS:
                raise ValueError("a flat list of something else")
            spend_flat(len(atoms))
            return atoms if tag == "N" else tuple(atoms)
        if tag == "t":
            return tuple([walk(child, below) for child in item[1:]])
        if tag in ("S", "z"):
            elements = [walk(child, below) for child in item[1:]]
            try:
                return _in_order(set if tag == "S" else frozenset, _hashable(elements))
            except TypeError:
                return Opaque("set")
        if tag in ("d", "o", "n", "g"):
            pairs = [(walk(key, below), walk(child, below)) for key, child in item[1:]]
            try:
                _hashable(key for key, _ in pairs)
                if tag == "d":
                    return dict(pairs)
                if tag == "o":
                    return collections.OrderedDict(pairs)
                if tag == "n":
                    return collections.Counter(dict(pairs))
                return collections.defaultdict(None, pairs)
            except TypeError:
                return Opaque("dict")
        if tag == "P":
            rows = _rows_of_table(item[1:], room.left)
            room.left -= _table_cost(len(rows), item[2], item[3])
            return rows
        if tag == "c":
            return complex(float.fromhex(_text(item[1])), float.fromhex(_text(item[2])))
        if tag == "b":
            return bytes.fromhex(_text(item[1]))
        if tag == "a":
            return bytearray.fromhex(_text(item[1]))
        if tag == "Q":
            return collections.deque(walk(child, below) for child in item[1:])
        if tag == "r":
            start, stop, step = (walk(child, below) for child in item[1:])
            return range(start, stop, step)
        if tag == "F":
            return _fraction(int(_text(item[1]), 16), int(_text(item[2]), 16))
        if tag == "D":
            return _decimal(_text(item[1]))
        if tag == "T":
            return _decode_moment(_text(item[1]), item[2:])
        if tag == "e":
            return Ellipsis
        if tag == "h":
            number, what, name = item[1:]
            if type(number) is not int:
                raise ValueError("a handle's number is not an int")
            handle = Handle(number, _text(what)[:20], _text(name)[:60])
            return Opaque(handle.name) if resolve is None else resolve(handle)
        if tag == "y":
            return _TYPES[_text(item[1])]
        if tag == "u":
            return Opaque(_text(item[1])[:60])
        raise ValueError(f"unknown tag {tag[:20]!r}")

    try:
        return walk(encoded, 0)
    except (TypeError, LookupError, OverflowError, RecursionError) as error:
        raise ValueError(f"not encoded plain data: {type(error).__name__}") from None


def _decimal(text: str) -> Any:
    import decimal

    try:
        return decimal.Decimal(text)
    except decimal.InvalidOperation:
        raise ValueError("not a decimal") from None


def _fraction(numerator: int, denominator: int) -> Any:
    import fractions

    if denominator == 0 or max(numerator.bit_length(), denominator.bit_length()) > 100_000:
        raise ValueError("a fraction without a sensible denominator")  # gcd of huge numbers is quadratic
    return fractions.Fraction(numerator, denominator)


def _text(item: Any) -> str:
    if type(item) is not str:
        raise ValueError(f"a {type(item).__name__} where text belongs")
    return item


def _decode_moment(kind: str, parts: list[Any]) -> Any:
    if not all(type(part) is int for part in parts):
        raise ValueError("a date of something other than ints")

    import datetime

    if kind == "timedelta":
        return datetime.timedelta(microseconds=parts[0])
    if kind == "date":
        return datetime.date(*parts)
    if kind == "datetime":
        return datetime.datetime(*parts)
    if kind == "time":
        return datetime.time(*parts)
    raise ValueError(f"unknown moment {kind[:20]!r}")


# made once: `json.dumps` and `json.loads` make theirs anew for every message
_to_text: Final = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
_from_text: Final[Callable[[str, int], tuple[Any, int]]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


def dumps(message: Any) -> bytes:
    """One message as bytes of JSON."""
    return _to_text(message).encode("ascii")


def loads(raw: bytes) -> Any:
    """A message from an untrusted box.

    Raises:
        DataTooBig: more elements than MAX_FLAT: refused before parsing, because `[[],[],...]` grows 20-fold in
            memory. ValueError: not JSON.
    """
    if raw.count(b"[") > 2 * MAX_NODES or raw.count(b",") > 2 * MAX_FLAT:
        raise DataTooBig(f"a message of more than {MAX_NODES} lists or {MAX_FLAT} elements")
    text = raw.decode("utf-8")
    try:
        message, end = _from_text(text, 0)
    except StopIteration:
        raise ValueError("a message that is not JSON") from None
    except RecursionError:
        raise DataTooBig("a message nested too deep") from None
    if end != len(text):
        raise ValueError("a message with something after its end")
    return message
