"""`remote`: a client of the SandboxFusion HTTP protocol (`POST /run_code`), standard library only.

*Stops*: whatever the server's own isolation stops; from here it cannot be seen. What a program prints or returns is
data here as everywhere, so a forged frame, exit code or marker pays nothing. *Does not stop*: SandboxFusion's default
configuration runs programs with no isolation at all inside its container: network, other runs' files and processes
are within reach there. CPU time and memory are not reported, so limits are of elapsed time and load on the server
shortens them; output from about 196 kB on is reported as a time-out by the server (bytedance/SandboxFusion#53).

`run` and `call` are supported. In a call the arguments go there and the encoded values come back on stdout, each in a
frame with a nonce: the nonce keeps a program's own prints apart, what makes a forged frame worthless is that it can
only carry a guess. `judge` needs two programs that talk while they run, which the protocol has no way to do: it raises
`SandboxError`.

An outage (refused, timed out, 5xx, 429, a body that is no answer) is retried with growing pauses; then it is
`SANDBOX_ERROR`, never a fact about the program. After several in a row a breaker opens and programs fail at once, until
one probe gets through.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import random
import secrets
import textwrap
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from sandboxes import plain_data
from sandboxes.contract import (
    DEFAULT_LIMITS,
    LIGHT_BYTES,
    MIB,
    Call,
    CallResult,
    CallsExecution,
    CallStatus,
    Execution,
    Exit,
    JudgeExecution,
    Limits,
    Program,
    Sandbox,
    SandboxError,
    Wall,
)

URL_VARIABLE: Final = "SANDBOX_FUSION_URL"
"""Environment variable that names the server where no `url` is given."""

_LANGUAGES: Final = {"python": "python", "c++": "cpp", "javascript": "nodejs", "bash": "bash"}
_OVERHEAD_SECONDS: Final = 15.0
"""What a request may take beyond its programs' own time: queueing on the server, the network."""


class _Outage(Exception):
    """The server did not answer, or not with an answer; worth another try."""


class _Refused(Exception):
    """The server does not take this request; another try would not help."""


class _Breaker:
    """Counts outages in a row; open, it lets one probe through every `pause` seconds."""

    def __init__(self, failures: int, pause: float) -> None:
        self.failures, self.pause = failures, pause
        self._lock = threading.Lock()
        self._in_a_row = 0
        self._next_probe = 0.0

    def admits(self) -> bool:
        with self._lock:
            if self._in_a_row < self.failures:
                return True
            now = time.monotonic()
            if now < self._next_probe:
                return False
            self._next_probe = now + self.pause
            return True

    def report(self, answered: bool) -> None:
        with self._lock:
            self._in_a_row = 0 if answered else self._in_a_row + 1
            if not answered:
                self._next_probe = time.monotonic() + self.pause

    @property
    def is_open(self) -> bool:
        with self._lock:
            return self._in_a_row >= self.failures


class RemoteSandbox(Sandbox):
    """Programs on a SandboxFusion server.

    Args:
        url: the server, such as `http://host:8080`; without it the environment variable SANDBOX_FUSION_URL.
        workers: requests at once.
        attempts: tries per program, the first included.
        backoff_seconds: pause before the second try; doubles each time, with up to half of it in jitter.
        breaker_failures: outages in a row that open the breaker.
        breaker_seconds: how long it stays open before a probe.
        headers: sent with each request (an API key).

    Raises:
        SandboxError: no url, or one that is not http(s).
    """

    name = "remote"

    def __init__(
        self,
        url: str | None = None,
        *,
        workers: int = 8,
        attempts: int = 4,
        backoff_seconds: float = 0.5,
        breaker_failures: int = 8,
        breaker_seconds: float = 15.0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        url = url or os.environ.get(URL_VARIABLE, "")
        if not url.startswith(("http://", "https://")):
            raise SandboxError(
                f"the remote sandbox needs url='http://host:port' or the environment variable {URL_VARIABLE} "
                f"(got {url!r}); a server is started by `docker run -p 8080:8080 volcengine/sandbox-fusion`"
            )
        if workers < 1 or attempts < 1:
            raise SandboxError(f"workers is {workers} and attempts is {attempts}; allowed: at least 1")
        self.url = url.rstrip("/")
        self.workers = workers
        self._settings: dict[str, Any] = {
            "url": self.url,
            "workers": workers,
            "attempts": attempts,
            "backoff_seconds": backoff_seconds,
            "breaker_failures": breaker_failures,
            "breaker_seconds": breaker_seconds,
            "headers": dict(headers or {}),
        }
        self._breaker = _Breaker(breaker_failures, breaker_seconds)
        self._slots = threading.BoundedSemaphore(workers)  # back-pressure: threads wait here, not in the server's queue
        self._closed = False

    def __getstate__(self) -> dict[str, Any]:
        return self._settings

    def __setstate__(self, settings: dict[str, Any]) -> None:
        self.__init__(**settings)  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"RemoteSandbox({self.url!r}, workers={self.workers})"

    # -- the contract

    def run(self, program: Program, limits: Limits = DEFAULT_LIMITS) -> Execution:
        if self._closed:
            raise SandboxError("the sandbox is closed; make a new one")
        language = _LANGUAGES.get(program.language)
        if language is None:
            raise SandboxError(f"SandboxFusion runs no {program.language}; allowed: {', '.join(_LANGUAGES)}")
        files = {path: base64.b64encode(content).decode() for path, content in program.files.items()}
        source = program.files[program.entry].decode("utf-8", "replace")
        if program.args:
            if program.language != "python":
                raise SandboxError("the protocol has no command-line arguments; only python programs may have them")
            source = _WITH_ARGUMENTS.format(argv=[program.entry, *program.args])
        else:
            del files[program.entry]
        request = {
            "code": source,
            "language": language,
            "stdin": program.stdin.decode("utf-8", "replace"),
            "compile_timeout": 30,
            "run_timeout": limits.wall_seconds,
            "memory_limit_MB": max(1, limits.memory_bytes // MIB),
            "files": files,
            "fetch_files": [],
        }
        timeout = limits.wall_seconds + 30 + _OVERHEAD_SECONDS
        # JSON may write a character as six; stdout and stderr each come once.
        most = 6 * (limits.output_bytes + limits.value_bytes) + MIB
        try:
            answer = self._ask(request, timeout, most)
        except _Outage as error:
            return _failed(f"{self.url}: {error}")
        except _Refused as error:
            return _failed(f"{self.url} does not take the program: {error}")
        return _execution(answer, limits)

    def call(
        self,
        program: Program,
        calls: Sequence[Call],
        limits: Limits = DEFAULT_LIMITS,
        *,
        call_wall_seconds: float | None = None,
        stop: Any = None,
    ) -> CallsExecution:
        """As the contract says; `stop` is asked when all calls are over, because one request makes them all.

        Raises:
            SandboxError: `call_wall_seconds` is given; the protocol has one time limit for the whole run.
        """
        if call_wall_seconds is not None:
            raise SandboxError("the remote sandbox has no limit per call: leave call_wall_seconds out")
        nonce = secrets.token_hex(16)
        asked = [[c.entry_point, plain_data.encode(list(c.args)), plain_data.encode(dict(c.kwargs))] for c in calls]
        wanted = json.dumps({"nonce": nonce, "entry": program.entry, "most": limits.value_bytes, "calls": asked})
        runner = _RUNNER.replace("@CODEC@", _packed(_codec_source())).replace("@WANTED@", _packed(wanted.encode()))
        name = "runner.py" if "runner.py" not in program.files else f"runner_{nonce}.py"
        whole = Program({**program.files, name: runner.encode()}, name)
        # The frames are on stdout, beside what the program prints there: room for both.
        execution = self.run(whole, _with_room(limits, min(len(calls), 8) * limits.value_bytes))
        if execution.exit is Exit.SANDBOX_ERROR:
            return CallsExecution(execution=execution, results=tuple(_not_run() for _ in calls))
        frames = _frames(execution.stdout, nonce, len(calls))
        results: list[CallResult] = []
        for index in range(len(calls)):
            room = plain_data.Room()
            result = _result(frames.get(index), limits.value_bytes, room, loaded=-1 in frames)
            results.append(result)
            over = result.status in (CallStatus.LIMIT, CallStatus.NOT_RUN)
            if over or (stop is not None and stop(index, result)):
                break
            size = len(frames.pop(index)) + plain_data.MAX_FLAT - room.left
            if stop is not None and result.status is CallStatus.RETURNED and size > LIGHT_BYTES:
                results[-1] = replace(result, value=plain_data.Opaque("value that stop has seen"))
        results += [_not_run() for _ in range(len(calls) - len(results))]
        return CallsExecution(execution=execution, results=tuple(results))

    def judge(
        self,
        tests: Program,
        solution: Program,
        entry_points: Mapping[str, str] | Sequence[str],
        limits: Limits = DEFAULT_LIMITS,
        *,
        modules: Sequence[str] = ("solution",),
        runner: str = "script",
        keep_going: bool = False,
        max_tests: int | None = None,
        together: bool = False,
    ) -> JudgeExecution:
        raise SandboxError(
            "the remote sandbox cannot run a test script beside a program: over one request per program the two cannot "
            "talk, and run together the program could forge the result; use the local or docker sandbox for these tests"
        )

    def walls(self) -> list[Wall]:
        detail = f"decided by the server at {self.url}; SandboxFusion's default isolation is none"
        return [Wall(name="the server's own isolation", stands=False, detail=detail)]

    def close(self) -> None:
        self._closed = True

    # -- the wire

    def _ask(self, request: Mapping[str, Any], timeout: float, most: int) -> dict[str, Any]:
        body = json.dumps(request).encode()
        last = "no try was made"
        for attempt in range(self._settings["attempts"]):
            if attempt:
                pause = self._settings["backoff_seconds"] * 2 ** (attempt - 1)
                time.sleep(pause * (1 + random.random() / 2))
            if not self._breaker.admits():
                raise _Outage(f"not asked, because it failed {self._breaker.failures} times in a row; last: {last}")
            try:
                with self._slots:
                    answer = self._once(body, timeout, most)
            except _Outage as error:
                last = str(error)
                self._breaker.report(answered=False)
                continue
            self._breaker.report(answered=True)
            return answer
        raise _Outage(f"{last} ({self._settings['attempts']} tries)")

    def _once(self, body: bytes, timeout: float, most: int) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "Accept": "application/json", **self._settings["headers"]}
        request = urllib.request.Request(f"{self.url}/run_code", data=body, headers=headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=timeout) as response:
                raw = response.read(most + 1)
        except urllib.error.HTTPError as error:
            said = error.read(300).decode("utf-8", "replace")
            if error.code == 429 or error.code >= 500:
                raise _Outage(f"HTTP {error.code}: {said}") from None
            raise _Refused(f"HTTP {error.code}: {said}") from None
        except (OSError, http.client.HTTPException) as error:  # URLError and timeouts are OSErrors
            raise _Outage(f"{type(error).__name__}: {getattr(error, 'reason', error)}") from None
        if len(raw) > most:
            return {"status": "Failed", "over_limit": True}
        try:
            answer = json.loads(raw)
        except (ValueError, RecursionError):
            raise _Outage("the answer is not JSON") from None
        if not isinstance(answer, dict) or answer.get("status") not in ("Success", "Failed", "SandboxError"):
            raise _Outage("the answer has no status of the protocol")
        if answer["status"] == "SandboxError":
            raise _Outage(f"SandboxError: {str(answer.get('message'))[:300]}")
        return answer


# ---------------------------------------------------------------- answers


def _failed(detail: str) -> Execution:
    return Execution(exit=Exit.SANDBOX_ERROR, detail=detail, tier="remote")


def _not_run() -> CallResult:
    return CallResult(status=CallStatus.NOT_RUN)


def _execution(answer: Mapping[str, Any], limits: Limits) -> Execution:
    """The protocol's answer in the contract's terms."""
    if answer.get("over_limit"):
        return Execution(exit=Exit.OUTPUT_LIMIT, limit_hit="output_bytes", tier="remote")
    compiled = answer.get("compile_result")
    if isinstance(compiled, Mapping) and (compiled.get("status") != "Finished" or compiled.get("return_code") != 0):
        if compiled.get("status") == "Error":
            return _failed(f"the server could not compile: {str(compiled.get('stderr'))[:300]}")
        return Execution(exit=Exit.COMPILE_ERROR, stderr=_bytes(compiled.get("stderr")), tier="remote")
    ran = answer.get("run_result")
    if not isinstance(ran, Mapping):
        return _failed(f"the server ran nothing: {str(answer.get('message'))[:300]}")
    stdout, stderr = _bytes(ran.get("stdout")), _bytes(ran.get("stderr"))
    seconds = ran.get("execution_time")
    wall = float(seconds) if isinstance(seconds, int | float) else 0.0
    status, code = ran.get("status"), ran.get("return_code")
    if status == "TimeLimitExceeded":
        return Execution(
            exit=Exit.WALL_LIMIT,
            limit_hit="wall_seconds",
            stdout=stdout,
            stderr=stderr,
            wall_seconds=wall,
            tier="remote",
        )
    if status != "Finished" or isinstance(code, bool) or not isinstance(code, int):
        return _failed(f"the server's run ended as {status!r}: {stderr[:300].decode('utf-8', 'replace')}")
    if len(stdout) + len(stderr) > limits.output_bytes:
        return Execution(
            exit=Exit.OUTPUT_LIMIT, limit_hit="output_bytes", stdout=stdout[: limits.output_bytes], tier="remote"
        )
    end = Exit.OK if code == 0 else Exit.SIGNAL if code < 0 else Exit.NONZERO
    return Execution(
        exit=end,
        stdout=stdout,
        stderr=stderr,
        exit_code=None if code < 0 else code,
        signal=-code if code < 0 else None,
        wall_seconds=wall,
        tier="remote",
    )


def _bytes(text: Any) -> bytes:
    return text.encode("utf-8", "replace") if isinstance(text, str) else b""


def _with_room(limits: Limits, more: int) -> Limits:
    values = {name: getattr(limits, name) for name in limits.__dataclass_fields__}
    return Limits(**{**values, "output_bytes": limits.output_bytes + more})


def _frames(stdout: bytes, nonce: str, count: int) -> dict[int, bytes]:
    """The JSON of frames by number: `nonce number json`, a line each. The first of each number counts; the rest is
    noise. (Split by the frames' beginnings: sixty million empty lines are noise too, and would be gigabytes as a list.)
    """
    found: dict[int, bytes] = {}
    for part in (b"\n" + stdout).split(f"\n{nonce} ".encode())[1:]:
        number, _, raw = part.partition(b"\n")[0].partition(b" ")
        if number != b"-1" and not (number.isdigit() and len(number) <= 6 and int(number) < count):
            continue  # (`--5` is no number: the program may have read the nonce)
        found.setdefault(int(number), raw)
    return found


def _result(raw: bytes | None, most: int, room: plain_data.Room, *, loaded: bool) -> CallResult:
    if raw is None:
        return CallResult(status=CallStatus.LIMIT) if loaded else _not_run()
    frame: Any = ["big"]
    if len(raw) <= most + 100:
        try:
            frame = plain_data.loads(raw)
        except ValueError:
            frame = None
    kind = frame[0] if isinstance(frame, list) and frame else None
    if kind == "ok" and len(frame) == 2:
        try:
            return CallResult(status=CallStatus.RETURNED, value=plain_data.decode(frame[1], room=room))
        except plain_data.DataTooBig:
            return CallResult(status=CallStatus.TOO_BIG)
        except ValueError:
            return CallResult(status=CallStatus.RETURNED, value=plain_data.Opaque("forged frame"))
    if kind == "raised" and len(frame) == 2:
        return CallResult(status=CallStatus.RAISED, exception=str(frame[1])[:60])
    if kind == "missing":
        return CallResult(status=CallStatus.MISSING)
    if kind == "big":
        return CallResult(status=CallStatus.TOO_BIG)
    return CallResult(status=CallStatus.RETURNED, value=plain_data.Opaque("forged frame"))


# ---------------------------------------------------------------- what runs over there


def _codec_source() -> bytes:
    return Path(plain_data.__file__).read_bytes()


def _packed(data: bytes) -> str:
    return base64.b64encode(data).decode()


_WITH_ARGUMENTS: Final = textwrap.dedent(
    """\
    import runpy, sys
    sys.argv = {argv!r}
    runpy.run_path(sys.argv[0], run_name="__main__")
    """
)

_RUNNER: Final = textwrap.dedent(
    """\
    import base64, json, os, sys, types
    codec = types.ModuleType("codec")
    sys.modules["codec"] = codec
    exec(compile(base64.b64decode("@CODEC@"), "codec.py", "exec"), codec.__dict__)
    wanted = json.loads(base64.b64decode("@WANTED@"))

    def main(wanted, encode, decode, dumps, too_big, write=os.write):
        out = os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)

        def frame(number, message):
            line = ("\\n%s %d " % (wanted["nonce"], number)).encode() + message + b"\\n"
            while line:
                line = line[write(out, line):]

        sys.setrecursionlimit(max(sys.getrecursionlimit(), 2000))
        if hasattr(sys, "set_int_max_str_digits"):
            sys.set_int_max_str_digits(0)
        module = types.ModuleType("solution")
        sys.modules["solution"] = module
        with open(wanted["entry"], "rb") as file:
            source = file.read()
        exec(compile(source, wanted["entry"], "exec"), module.__dict__)
        frame(-1, b"[]")
        for number, (name, args, kwargs) in enumerate(wanted["calls"]):
            owner, _, method = name.partition(".")
            try:
                function = getattr(module, owner)
                if method:
                    function = getattr(function(), method)
            except AttributeError:
                frame(number, dumps(["missing"]))
                continue
            except Exception as error:
                frame(number, dumps(["raised", type(error).__name__[:60]]))
                continue
            try:
                value = function(*decode(args), **decode(kwargs))
            except BaseException as error:
                frame(number, dumps(["raised", type(error).__name__[:60]]))
                continue
            try:
                message = dumps(["ok", encode(value)])
            except (too_big, MemoryError, RecursionError):
                message = dumps(["big"])
            frame(number, message if len(message) <= wanted["most"] else dumps(["big"]))

    try:
        main(wanted, codec.encode, codec.decode, codec.dumps, codec.DataTooBig)
    finally:
        sys.stderr.flush()
    os._exit(0)
    """
)
