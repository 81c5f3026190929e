"""The contract's types refuse what makes no sense, and plain data crosses as exact builtin types or not at all."""

from __future__ import annotations

import base64
import collections
import datetime
import decimal
import enum
import fractions
import itertools
import json
import math
import time
import zlib
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sandboxes
from sandboxes import plain_data
from sandboxes.contract import (
    Execution,
    Exit,
    JudgeExecution,
    Limits,
    Program,
    SandboxError,
    TestOutcome,
    TestStatus,
)
from sandboxes.plain_data import DataTooBig, Opaque, decode, encode


@pytest.mark.parametrize(
    ("files", "entry", "language"),
    [
        ({"a.py": b""}, "b.py", "python"),
        ({"a.py": b""}, "a.py", "pyhton"),
        ({"/etc/x": b""}, "/etc/x", "python"),
        ({"../x": b""}, "../x", "python"),
        ({"a//b": b""}, "a//b", "python"),
        ({"": b""}, "", "python"),
        ({"a\0b": b""}, "a\0b", "python"),
    ],
)
def test_a_program_that_makes_no_sense_is_refused(files: dict[str, bytes], entry: str, language: str) -> None:
    """A file outside the working directory, an entry that is not there, an unknown language."""
    with pytest.raises(ValueError, match=r"allowed|relative|not among"):
        Program(files, entry, language)


def test_text_where_bytes_belong_is_refused() -> None:
    """Files are bytes: text has no encoding yet."""
    with pytest.raises(TypeError, match="allowed: bytes"):
        Program({"a.py": "x"}, "a.py")  # type: ignore[dict-item]


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "3", None])
@pytest.mark.parametrize("name", ["cpu_seconds", "memory_bytes", "processes", "output_bytes"])
def test_a_limit_is_a_finite_number_above_zero(name: str, value: Any) -> None:
    """No limit can be switched off by a value that compares oddly."""
    with pytest.raises((ValueError, TypeError), match=f"Limits.{name}"):
        Limits(**{name: value})


def test_a_lone_surrogate_does_not_raise() -> None:
    """A model can emit one; as a file it would be refused, so it becomes a question mark."""
    assert Program.python("x = '\ud800'").files["main.py"] == b"x = '?'"


def test_an_unknown_backend_gets_the_nearest_name() -> None:
    """The error says what is allowed."""
    with pytest.raises(SandboxError, match="did you mean 'docker'"):
        sandboxes.get("doker")


def _judged(statuses: str, **more: Any) -> JudgeExecution:
    kinds = {"p": TestStatus.PASSED, "f": TestStatus.FAILED, "n": TestStatus.NOT_RUN, "s": TestStatus.SKIPPED}
    rows = tuple(TestOutcome(name=str(i), status=kinds[letter]) for i, letter in enumerate(statuses))
    fine = Execution(exit=Exit.OK)
    return JudgeExecution(tests=fine, solution=fine, outcomes=rows, **more)


@pytest.mark.parametrize(
    ("statuses", "more", "passed", "total", "whole", "why"),
    [
        ("ppp", {"finished": True}, 3, 3, True, "all passed, script ended"),
        ("ppp", {"finished": False}, 3, 3, False, "the script did not reach its end: os._exit after the last assert"),
        ("ppn", {"finished": True}, 2, 2, True, "an assert in a branch that was not taken"),
        ("ppn", {"finished": False}, 2, 3, False, "not run because the program ended early"),
        ("nnn", {"finished": True}, 0, 0, False, "no test was run: an empty loop passes nothing"),
        ("", {"finished": True}, 0, 0, False, "no test declared"),
        ("ppf", {"finished": True}, 2, 3, False, "one failed"),
        ("sp", {"finished": True}, 1, 1, True, "a skipped test does not count"),
        ("s", {"finished": True}, 0, 0, False, "only skipped tests"),
        ("pp", {"finished": True, "test_fault": "x"}, 2, 2, False, "the test script is broken"),
    ],
)
def test_what_counts_as_passed(
    statuses: str, more: dict[str, Any], passed: int, total: int, whole: bool, why: str
) -> None:
    """A finished script, at least one test run, and every one of them passed."""
    judged = _judged(statuses, **more)
    assert (judged.passed, judged.total, judged.all_passed) == (passed, total, whole), why


# --- plain data -------------------------------------------------------------------------------------------------------

_leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(),
    st.binary(),
    st.complex_numbers(allow_nan=False),
    st.fractions(),
    st.decimals(allow_nan=False),
    st.datetimes(),
    st.dates(),
    st.timedeltas(),
)
_hashable = st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.binary(), st.tuples(st.integers()))
_values = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(_hashable, inner, max_size=4),
        st.sets(_hashable, max_size=4),
        st.frozensets(_hashable, max_size=4),
        st.lists(inner, max_size=4).map(collections.deque),
    ),
    max_leaves=20,
)


def _same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple | collections.deque):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(_same(a[key], b[key]) for key in a)
    return bool(a == b)


@settings(max_examples=150, deadline=None)
@given(_values)
def test_plain_data_comes_back_as_it_was(value: Any) -> None:
    """Value and exact type, through JSON text."""
    assert _same(decode(plain_data.loads(plain_data.dumps(encode(value)))), value)


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(list("siflStzdrFDThuQ")),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=20,
)


@settings(max_examples=300, deadline=None)
@given(_json)
def test_no_frame_of_a_hostile_box_breaks_the_reader(encoded: Any) -> None:
    """Anything that is JSON is a value or a ValueError, never another exception."""
    try:
        decode(encoded)
    except ValueError:
        return


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "-0.0", "1e-323"])
def test_every_float_keeps_its_bits(text: str) -> None:
    """Hexadecimal, so nan, infinities, minus zero and denormals are what they were."""
    value = float(text)
    back = decode(encode(value))
    assert (math.isnan(back) and math.isnan(value)) or math.copysign(1, back) == math.copysign(1, value)
    assert math.isnan(value) or back == value


class _Point(NamedTuple):
    x: int
    y: int


class _Colour(enum.IntEnum):
    RED = 3


class _Equal(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


@pytest.mark.parametrize(
    ("value", "crosses_as"),
    [
        (_Point(1, 2), (1, 2)),
        (_Colour.RED, 3),
        (collections.Counter("aab"), collections.Counter("aab")),
        (collections.OrderedDict(a=1), collections.OrderedDict(a=1)),
        (collections.defaultdict(int, a=1), {"a": 1}),
        (range(3), range(3)),
        (fractions.Fraction(1, 3), fractions.Fraction(1, 3)),
        (decimal.Decimal("1.10"), decimal.Decimal("1.10")),
        (datetime.date(2026, 1, 2), datetime.date(2026, 1, 2)),
        (2**70, 2**70),
    ],
)
def test_what_equals_plain_data_in_python_still_does(value: Any, crosses_as: Any) -> None:
    """A namedtuple equals a tuple, a Counter a dict: honest solutions return them."""
    assert decode(encode(value)) == crosses_as


@pytest.mark.parametrize("value", [_Equal(7), object(), iter([]), len, math, lambda: 7, Exception("x")])
def test_what_is_not_plain_data_equals_nothing(value: Any) -> None:
    """An object, and a builtin's subclass that redefines comparison, come back opaque."""
    back = decode(encode(value))
    assert isinstance(back, Opaque)
    assert back != 7
    assert (back == back) is False
    with pytest.raises(TypeError):
        bool(back)


def test_an_int_subclass_without_tricks_is_its_number() -> None:
    """`class Mod(int): pass` is honest; its content decides."""

    class Mod(int):
        pass

    assert type(decode(encode(Mod(5)))) is int


@pytest.mark.parametrize("kind", ["deep", "cyclic", "wide", "shared"])
def test_what_is_too_big_is_refused_in_time(kind: str) -> None:
    """Depth, endless depth, a million elements, and 2**40 by sharing."""
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    shared: list[Any] = [1]
    for _ in range(40):
        shared = [shared, shared]
    value = {"deep": deep, "cyclic": cyclic, "wide": [()] * 2_100_000, "shared": shared}[kind]
    started = time.process_time()
    with pytest.raises(DataTooBig):
        encode(value)
    assert time.process_time() - started < 10
    while deep:  # freeing 100,000 nested lists by recursion would overflow the stack
        deep = deep.pop()


def test_keys_that_share_a_hash_are_refused() -> None:
    """Multiples of 2**61-1 all hash to 0: a set of 100,000 would hang the trainer that decodes it."""
    encoded = ["S", *[["i", hex(i * (2**61 - 1))] for i in range(3000)]]
    started = time.process_time()
    with pytest.raises(DataTooBig):
        decode(encoded)
    assert time.process_time() - started < 5


def test_small_text_that_is_large_in_memory_is_refused_before_parsing() -> None:
    """`[[],[],...]` grows twentyfold as Python lists."""
    with pytest.raises(DataTooBig):
        plain_data.loads(b"[" + b"[]," * 5_000_000 + b"[]]")


@pytest.mark.parametrize("raw", [b"", b"1 2", b"[1]]", b"{", b"nul", b"\xff", b'"\\ud8', b"[1,]"])
def test_a_frame_is_one_message_of_json_and_nothing_else(raw: bytes) -> None:
    """Whatever the untrusted end writes, the reader says ValueError and no other."""
    with pytest.raises(ValueError, match=r"."):
        plain_data.loads(raw)


def test_a_million_ints_cross_at_once() -> None:
    """`list(range(10**6))` is an honest answer."""
    value = [*range(1_000_000)]
    started = time.process_time()
    assert decode(plain_data.loads(plain_data.dumps(encode(value)))) == value
    assert time.process_time() - started < 5


def test_a_flat_list_that_lies_is_refused() -> None:
    """The tag promises ints; a float among them would be a value that was never checked."""
    with pytest.raises(ValueError, match="flat list"):
        decode(["I", 1, 2.5])


@pytest.mark.parametrize(
    "rows",
    [
        [("Dog", "Cat", "Bird")] * 2000,
        [["a", "b"], ["b", "a"]] * 1000,
        [(i % 7, -(2**52)) for i in range(3000)],
        [*[("a", "b")] * 1500, ["a", "b"]],  # one list among tuples: no table
        [*[("a", "b")] * 1500, ("a",)],  # another width
        [*[(1, 2)] * 1500, (True, 2)],  # True == 1, and is no int here
        [*[(1, 2)] * 1500, (1.0, 2)],
        [(str(i), "x") for i in range(2000)],  # more than 256 distinct elements
        [(2**70, 1)] * 1500,
        [()] * 1500,
    ],
)
def test_rows_of_a_few_elements_come_back_as_they_were(rows: list[Any]) -> None:
    """Many equal rows cross as a table, and nothing crosses as a table that is none."""
    assert _same(decode(plain_data.loads(plain_data.dumps(encode(rows)))), rows)


def test_millions_of_rows_cross_as_a_table() -> None:
    """MBPP+ 255 returns 1.7 million tuples of 77 strings; a twentieth of that here."""
    rows = [*itertools.islice(itertools.combinations_with_replacement("ABCDE", 77), 80_000)]
    message = plain_data.dumps(encode(rows))
    assert len(message) < 1_000_000
    assert decode(plain_data.loads(message)) == rows


_CODES = base64.b64encode(zlib.compress(b"\0\1\1\0")).decode()
_MANY = base64.b64encode(zlib.compress(bytes(2_000_000))).decode()
_BOMB = base64.b64encode(zlib.compress(bytes(50_000_000))).decode()


@pytest.mark.parametrize(
    "lie",
    [
        ["P", "t", 2, ["a"], _CODES],  # a code without an element
        ["P", "t", 3, ["a", "b"], _CODES],
        ["P", "t", 0, ["a", "b"], _CODES],
        ["P", "t", True, ["a", "b"], _CODES],
        ["P", "S", 2, ["a", "b"], _CODES],
        ["P", "t", 2, ["a", 1], _CODES],
        ["P", "t", 2, [["l"], ["l"]], _CODES],
        ["P", "t", 2, ["a", "b"], "AAAA"],
        ["P", "t", 2, ["a", "b"], "é"],
        ["P", "t", 2, ["a", "b"], _CODES, 1],
        ["P", "t", 2, ["a", "b"]],
        ["P", "t", 2, ["a", "b"], _BOMB],  # 50 MB of zeros in 50 kB
        ["P", "l", 1, [7], _MANY],  # few enough elements, but a list around each of them
        ["P", "l", 100, ["x" * 10_000], _MANY],  # few enough elements, but 10 GB for who writes them out
        ["P", "l", 1, [1 << 60], _CODES],
    ],
)
def test_a_table_that_lies_is_refused(lie: list[Any]) -> None:
    """A box writes what it likes."""
    with pytest.raises(ValueError, match=r"."):
        decode(lie)


def test_numpy_values_cross_as_python_values() -> None:
    """np.int64(7) == 7 holds in a plain grader, so it holds here."""
    numpy = pytest.importorskip("numpy")
    assert decode(encode(numpy.int64(7))) == 7
    assert decode(encode([numpy.float64(0.5), numpy.bool_(True)])) == [0.5, True]
    assert decode(encode(numpy.array([[1, 2], [3, 4]]))) == [[1, 2], [3, 4]]


def test_the_encoded_form_is_json() -> None:
    """Nothing is pickled: the wire is text that any reader can check."""
    json.loads(plain_data.dumps(encode({"a": [1, (2, 3.5), {4}], b"k": None})))
