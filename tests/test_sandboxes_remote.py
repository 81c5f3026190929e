"""The SandboxFusion client: an outage is never a fact about a program, and nothing on stdout can be forged into one."""

from __future__ import annotations

import base64
import json
import pickle
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import SHARED, shared
from sandbox_fusion_server import FusionServer, fusion_server

from rewards.code_tests import CodeTests
from rewards.verdict import Sample, Status
from sandboxes import Call, CallStatus, Execution, Exit, Limits, Program, Sandbox, SandboxError, get
from sandboxes.conformance import CATALOGUE
from sandboxes.fake import FakeSandbox
from sandboxes.remote import URL_VARIABLE, RemoteSandbox

FUNCTION = {
    "kind": "calls",
    "entry_point": "solve",
    "cases": [{"args": [2], "expected": 7}, {"args": [10], "expected": 31}, {"args": [-5], "expected": -14}],
}
SQUARES = {
    "kind": "stdio",
    "cases": [{"input": "3\n", "output": "1\n4\n9\n"}, {"input": "5\n", "output": "1\n4\n9\n16\n25\n"}],
}
GOOD = "def solve(x):\n    return 3 * x + 1\n"


@pytest.fixture(scope="module")
def served() -> Iterator[FusionServer]:
    """A server in front of the local sandbox."""
    with get("local", workers=2) as backend:
        try:
            backend.run(Program.python("pass"))
        except SandboxError as error:
            pytest.skip(f"the server of these tests stands on the local sandbox, which cannot start here: {error}")
        with fusion_server(backend) as server:
            yield server


@pytest.fixture
def server(served: FusionServer) -> FusionServer:
    served.faults.clear()
    served.requests.clear()
    return served


def client(server: FusionServer, **options: Any) -> RemoteSandbox:
    return RemoteSandbox(server.url, **{"backoff_seconds": 0.01, "workers": 2, **options})


@pytest.fixture
def canned() -> Iterator[Any]:
    """A server whose programs end as told, whatever they are."""
    made: list[FusionServer] = []

    def make(execution: Execution) -> RemoteSandbox:
        made.append(FusionServer(FakeSandbox(run=lambda *_: execution)))
        return client(made[-1])

    yield make
    for each in made:
        each.close()


# ---------------------------------------------------------------- run


def test_a_program_runs_with_its_input_files_and_arguments(server: FusionServer) -> None:
    """Stdin, a second file beside the program, command-line arguments."""
    sandbox = client(server)
    source = b"import sys, helper\nprint(input(), helper.x, sys.argv[1:], __name__)\nsys.exit(3)\n"
    program = Program({"main.py": source, "helper.py": b"x = 5\n"}, "main.py", stdin=b"hello\n", args=("a", "b c"))
    done = sandbox.run(program)
    assert (done.exit, done.exit_code, done.tier) == (Exit.NONZERO, 3, "remote")
    assert done.stdout == b"hello 5 ['a', 'b c'] __main__\n"


def test_what_is_sent_is_the_protocol(server: FusionServer) -> None:
    """The fields that SandboxFusion's /run_code takes."""
    program = Program({"main.py": b"print(1)", "data.bin": b"\xff"}, "main.py", stdin=b"x")
    client(server).run(program, Limits(wall_seconds=2.5, memory_bytes=64 << 20))
    (sent,) = server.requests
    assert sent == {
        "code": "print(1)",
        "language": "python",
        "stdin": "x",
        "compile_timeout": 30,
        "run_timeout": 2.5,
        "memory_limit_MB": 64,
        "files": {"data.bin": base64.b64encode(b"\xff").decode()},
        "fetch_files": [],
    }


def test_each_end_is_told_apart(server: FusionServer) -> None:
    """Exit codes, signals, time-outs, floods."""
    sandbox = client(server)
    limits = Limits(cpu_seconds=1, wall_seconds=1, output_bytes=10_000)

    def end(source: str) -> Exit:
        return sandbox.run(Program.python(source), limits).exit

    assert end("print(1)") is Exit.OK
    assert end("raise SystemExit(2)") is Exit.NONZERO
    assert end("import ctypes; ctypes.string_at(0)") is Exit.SIGNAL
    assert end("while True: pass") is Exit.WALL_LIMIT
    assert end("print('x' * 20_000)") is Exit.OUTPUT_LIMIT


def test_a_compiler_that_refuses_is_the_program_s_fault() -> None:
    """compile_result comes before run_result, and only for compiled languages."""
    answer = {
        "status": "Failed",
        "compile_result": {"status": "Finished", "return_code": 1, "stderr": "main.cpp:1: error"},
        "run_result": None,
    }
    with answering(answer) as url:
        done = RemoteSandbox(url).run(Program({"main.cpp": b"int"}, "main.cpp", "c++"))
    assert (done.exit, done.stderr) == (Exit.COMPILE_ERROR, b"main.cpp:1: error")


def test_a_language_that_the_server_has_not_is_refused() -> None:
    """The message says what it has."""
    with pytest.raises(SandboxError, match="runs no c; allowed: python"):
        RemoteSandbox("http://127.0.0.1:1").run(Program({"main.c": b""}, "main.c", "c"))


# ---------------------------------------------------------------- outages


@pytest.mark.parametrize("fault", [503, 429, 500, "drop", "garbage", "no_status", "sandbox_error"])
def test_an_outage_that_passes_is_retried(server: FusionServer, fault: int | str) -> None:
    """Two faults, then an answer: the program's own."""
    server.faults.extend([fault, fault])
    done = client(server).run(Program.python("print(1)"))
    assert (done.exit, done.stdout, len(server.requests)) == (Exit.OK, b"1\n", 3)


@pytest.mark.parametrize("fault", [503, "drop", "garbage", "sandbox_error"])
@pytest.mark.parametrize("tests", [FUNCTION, SQUARES], ids=["calls", "stdio"])
def test_an_outage_that_stays_is_an_error_and_never_a_zero(server: FusionServer, fault: int | str, tests: Any) -> None:
    """The row is unscored."""
    server.faults.extend([fault] * 4)
    got = CodeTests(client(server)).verify(Sample(completion=GOOD, tests=tests))
    assert (got.status, got.score, got.reason) == (Status.ERROR, None, "sandbox_failed")
    assert len(server.requests) == 4


def test_a_request_that_the_server_does_not_take_is_not_repeated(server: FusionServer) -> None:
    """4xx: another try would get the same."""
    server.faults.append(422)
    done = client(server).run(Program.python("print(1)"))
    assert (done.exit, len(server.requests)) == (Exit.SANDBOX_ERROR, 1)
    assert "422" in done.detail


def test_nobody_listening_is_an_outage() -> None:
    """Connection refused."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    done = RemoteSandbox(f"http://127.0.0.1:{port}", attempts=2, backoff_seconds=0.01).run(Program.python("print(1)"))
    assert done.exit is Exit.SANDBOX_ERROR
    assert "2 tries" in done.detail


def test_the_breaker_opens_after_outages_in_a_row_and_a_probe_closes_it(server: FusionServer) -> None:
    """While it is open nobody waits for a dead server; one request in a while looks whether it lives."""
    sandbox = client(server, attempts=1, breaker_failures=3, breaker_seconds=0.3)
    server.faults.extend([503] * 4)
    for _ in range(6):
        assert sandbox.run(Program.python("print(1)")).exit is Exit.SANDBOX_ERROR
    assert len(server.requests) == 3
    time.sleep(0.35)
    assert sandbox.run(Program.python("print(1)")).exit is Exit.SANDBOX_ERROR  # the probe meets the fourth fault
    assert sandbox.run(Program.python("print(1)")).exit is Exit.SANDBOX_ERROR
    assert len(server.requests) == 4
    time.sleep(0.35)
    assert sandbox.run(Program.python("print(1)")).exit is Exit.OK
    assert sandbox.run(Program.python("print(1)")).exit is Exit.OK


def test_no_more_requests_at_once_than_workers(server: FusionServer) -> None:
    """Back-pressure: verl-project/verl#3478 had read time-outs because all of a batch was asked at once."""
    now, most, lock = [0], [0], threading.Lock()
    served = server.served

    def counted(request: dict[str, Any]) -> dict[str, Any]:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        try:
            time.sleep(0.05)
            return served(request)
        finally:
            with lock:
                now[0] -= 1

    server.served = counted  # type: ignore[method-assign]
    try:
        sandbox = client(server, workers=2)
        threads = [threading.Thread(target=sandbox.run, args=(Program.python("print(1)"),)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        server.served = served  # type: ignore[method-assign]
    assert most[0] == 2


# ---------------------------------------------------------------- calls


def test_calls_come_back_as_plain_data(server: FusionServer) -> None:
    """Values of all kinds, exceptions, a missing function, methods of fresh instances."""
    source = (
        "import sys\nprint('noise')\n"
        "class Solution:\n    def add(self, a, b=0):\n        return a + b\n"
        "def same(x):\n    print('more noise', file=sys.stderr)\n    return x\n"
        "def wrong():\n    raise KeyError('k')\n"
        "def leaves():\n    raise SystemExit\n"
        "def makes():\n    return object()\n"
    )
    value = [1, 2.5, "ü\n", None, (True,), {1, 2}, {"a": b"\xff"}, 10**50, float("inf")]
    calls = [
        Call("same", (value,)),
        Call("Solution.add", (1,), {"b": 2}),
        Call("wrong"),
        Call("nothing"),
        Call("leaves"),
        Call("makes"),
        Call("same", ("last",)),
    ]
    done = client(server).call(Program({"solution.py": source.encode()}, "solution.py"), calls)
    assert done.execution.exit is Exit.OK
    assert done.results[0].value == value
    assert done.results[1].value == 3
    assert (done.results[2].status, done.results[2].exception) == (CallStatus.RAISED, "KeyError")
    assert done.results[3].status is CallStatus.MISSING
    assert (done.results[4].status, done.results[4].exception) == (CallStatus.RAISED, "SystemExit")
    assert done.results[5].value != done.results[5].value  # opaque: equal to nothing
    assert done.results[6].value == "last"


def test_a_program_that_ends_itself_leaves_the_rest_unanswered(server: FusionServer) -> None:
    """In the second of three calls."""
    source = "import os\ndef f(x):\n    os._exit(0) if x == 2 else None\n    return x\n"
    calls = [Call("f", (x,)) for x in (1, 2, 3)]
    done = client(server).call(Program({"s.py": source.encode()}, "s.py"), calls)
    assert [r.status for r in done.results] == [CallStatus.RETURNED, CallStatus.LIMIT, CallStatus.NOT_RUN]


def test_a_program_that_does_not_load_runs_no_call(server: FusionServer) -> None:
    """A syntax error is seen in stderr."""
    done = client(server).call(Program({"s.py": b"def f(:"}, "s.py"), [Call("f")])
    assert done.results[0].status is CallStatus.NOT_RUN
    assert b"SyntaxError" in done.execution.stderr


def test_the_nonce_keeps_the_program_s_prints_apart(server: FusionServer) -> None:
    """Frames without the nonce of this call are noise, on whatever descriptor they come."""
    source = (
        "import os\n"
        "for fd in range(1, 20):\n"
        "    try: os.write(fd, b'\\n" + "0" * 32 + ' 0 ["ok",7]\\n' + "')\n"
        "    except OSError: pass\n"
        "def f():\n    return 1\n"
    )
    done = client(server).call(Program({"s.py": source.encode()}, "s.py"), [Call("f")])
    assert done.results[0].value == 1


FORGERS = {
    # Each finds the nonce in the runner's frames and writes its own answers. They are data: only a guess can pay.
    "true": '["ok",true]',
    "verdict": '["ok",["s","passed"]]',
    "passed": '["passed"]',
    "handle": '["ok",["h",0,"object","x"]]',
    "opaque": '["ok",["u","x"]]',
    "deep": "[" * 5000 + "]" * 5000,
    "nan": '["ok",["f","nan"]]',
    "not json": '["ok",',
    "many": "[" + ",".join(["[]"] * 200_000) + "]",
}


@pytest.mark.parametrize("forged", FORGERS.values(), ids=FORGERS)
def test_a_forged_frame_is_only_a_guess(server: FusionServer, forged: str) -> None:
    """The program knows the nonce, answers before it is asked, and leaves: it is paid for nothing."""
    source = (
        "import os, sys\n"
        "frame = sys._getframe()\n"
        "while 'wanted' not in frame.f_locals:\n    frame = frame.f_back\n"
        "nonce, out = frame.f_locals['wanted']['nonce'], frame.f_locals['out']\n"
        f"forged = {forged!r}\n"
        "os.write(out, ('\\n%s --5 []\\n' % nonce).encode())\n"
        "for number in range(-1, 3):\n"
        "    data = ('\\n%s %d %s\\n' % (nonce, number, forged)).encode()\n"
        "    while data:\n        data = data[os.write(out, data):]\n"
        "os._exit(0)\n"
    )
    got = CodeTests(client(server)).verify(Sample(completion=f"```python\n{source}```", tests=FUNCTION))
    assert (got.status, got.score) == (Status.SCORED, 0.0), got
    right = [server.requests[-1][key] for key in ("code", "stdin")] + list(server.requests[-1]["files"].values())
    decoded = " ".join(base64.b64decode(text).decode("utf-8", "replace") for text in right[2:])
    assert "31" not in decoded.replace("0x1f", "")  # the expected values never went there


def test_judging_a_test_script_is_refused_with_the_remedy(server: FusionServer) -> None:
    """Two programs that talk while they run have no place in the protocol."""
    tests = {
        "kind": "asserts",
        "entry_point": "solve",
        "script": "def same(a, b):\n    assert a == b\nsame(solve(2), 7)",
    }
    got = CodeTests(client(server)).verify(Sample(completion=GOOD, tests=tests))
    assert (got.status, got.reason) == (Status.ERROR, "sandbox_failed")
    assert "local or docker" in got.detail


# ---------------------------------------------------------------- the hostile catalogue, for forging


def _hostile() -> list[Any]:
    index = SHARED / "cases" / "hostile" / "index.json"
    rows = json.loads(index.read_text()) if index.exists() else []
    absent = pytest.mark.skip("needs the shared corpora, which are not part of a clone: hostile is absent")
    return [row for row in rows if row["kind"] in FORGING] or [pytest.param({"id": "absent"}, marks=absent)]


FORGING = ("comparator", "comparison", "early-exit", "forge-result", "monkeypatch", "steal-tests", "honest")


@pytest.mark.parametrize("row", _hostile(), ids=lambda row: row["id"])
def test_no_forging_program_is_paid_and_no_honest_one_fails(row: dict[str, Any], server: FusionServer) -> None:
    """Over one HTTP request, with stdout as the only way back."""
    source = shared("cases", "hostile", f"{row['id']}.py").read_text()
    verifier = CodeTests(client(server))
    for tests in {"func": [FUNCTION], "stdio": [SQUARES], "both": [FUNCTION, SQUARES]}[row["mode"]]:
        got = verifier.verify(Sample(completion=source, tests=tests))
        assert got.status is Status.SCORED, got
        assert got.score == (1.0 if row["expect"] == "pass" else 0.0), (tests["kind"], got)


def test_our_own_catalogue_s_forgers_are_not_paid(server: FusionServer) -> None:
    """The same kinds from the catalogue in this repository."""
    samples = []
    for line in (CATALOGUE / "index.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["kind"] not in ("comparator", "comparison", "early-exit", "forge-result") or row["expect"] == "pass":
            continue
        source = (CATALOGUE / f"{row['id']}.py").read_text()
        task = row.get("task") or row["mode"]
        for tests in {"func": [FUNCTION], "stdio": [SQUARES], "both": [FUNCTION, SQUARES]}[task]:
            samples.append(Sample(id=row["id"], completion=source, tests=tests))
    assert len(samples) > 20
    got = CodeTests(client(server), cpu_seconds=1.0, wall_seconds=2.0).verify_many(samples)
    assert [(sample.id, v) for sample, v in zip(samples, got, strict=True) if v.score != 0.0] == []


# ---------------------------------------------------------------- the value itself


def test_it_needs_a_url(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the argument or the environment; the message says both."""
    monkeypatch.delenv(URL_VARIABLE, raising=False)
    with pytest.raises(SandboxError, match=URL_VARIABLE):
        get("remote")
    monkeypatch.setenv(URL_VARIABLE, "http://host:8080/")
    sandbox = get("remote")
    assert isinstance(sandbox, RemoteSandbox)
    assert sandbox.url == "http://host:8080"


def test_it_pickles_by_its_settings_and_stays_closed() -> None:
    """A copy is open; the closed one says so."""
    sandbox: Sandbox = RemoteSandbox("http://host:1", workers=3, headers={"X-Key": "k"})
    copy = pickle.loads(pickle.dumps(sandbox))
    assert (copy.url, copy.workers, copy.__getstate__()) == ("http://host:1", 3, sandbox.__getstate__())
    sandbox.close()
    sandbox.close()
    with pytest.raises(SandboxError, match="closed"):
        sandbox.run(Program.python("print(1)"))


def test_its_walls_are_the_server_s(server: FusionServer) -> None:
    """Nothing is promised that cannot be seen from here."""
    assert [wall.stands for wall in client(server).walls()] == [False]


class answering:
    """A server that gives one answer to everything."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.server = FusionServer(FakeSandbox())
        self.server.served = lambda request: answer  # type: ignore[method-assign]

    def __enter__(self) -> str:
        return self.server.url

    def __exit__(self, *_: object) -> None:
        self.server.close()


@pytest.mark.parametrize(
    "answer",
    [
        {"status": "Success", "run_result": None},
        {"status": "Success", "run_result": {"status": "Error", "stderr": "cgroup"}},
        {"status": "Success", "run_result": {"status": "Finished", "return_code": None}},
        {"status": "Success", "run_result": {"status": "Finished", "return_code": True}},
        {"status": "Success", "run_result": []},
        {"status": "Success", "compile_result": {"status": "Error", "stderr": "no g++"}},
    ],
)
def test_an_answer_without_a_result_says_nothing_about_the_program(answer: dict[str, Any]) -> None:
    """Unscored, not 0."""
    with answering(answer) as url:
        done = RemoteSandbox(url, attempts=1).run(Program.python("print(1)"))
    assert done.exit is Exit.SANDBOX_ERROR


def test_an_answer_larger_than_the_limits_allow_is_cut(canned: Any) -> None:
    """The client reads no more than the limits allow, whatever the server sends."""
    sandbox = canned(Execution(exit=Exit.OK, exit_code=0, stdout=b"\0" * 3_000_000))
    done = sandbox.run(Program.python(""), Limits(output_bytes=1000, value_bytes=1000))
    assert (done.exit, done.limit_hit) == (Exit.OUTPUT_LIMIT, "output_bytes")
