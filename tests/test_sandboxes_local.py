"""The local sandbox: walls that stand or are refused aloud, workers that die and are replaced, nothing left behind."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from sandboxes import Call, CallStatus, Exit, Limits, Program, SandboxError, TestStatus, plain_data
from sandboxes.conformance import ASSERTS_CALL, processes_left
from sandboxes.local import LocalSandbox
from sandboxes.zygote import client, kernel

linux = pytest.mark.skipif(sys.platform != "linux", reason="walls need Linux")
pytestmark = linux

RIGHT = Program.python("def solve(x): return 3 * x + 1")
CALLS = [Call("solve", (x,)) for x in (2, 10, -5)]
QUICK = Limits(cpu_seconds=2, wall_seconds=4)


@pytest.fixture(scope="module")
def box() -> Iterator[LocalSandbox]:
    """The strongest tier of this machine, one worker."""
    with LocalSandbox(workers=1) as sandbox:
        try:
            sandbox.tier()
        except SandboxError as error:
            pytest.skip(f"no wall stands on this machine: {error}")
        yield sandbox


def _python(source: str, **more: Any) -> Program:
    return Program.python(source, **more)


# --- walls ------------------------------------------------------------------------------------------------------------


def test_resource_limits_alone_are_never_taken_silently() -> None:
    """`rlimits` stops no hostile program, so asking for it takes allow_weak."""
    with pytest.raises(SandboxError, match="allow_weak=True"):
        LocalSandbox(tier="rlimits")


def test_refused_walls_are_an_error_that_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where neither namespaces nor Landlock stand, nothing runs until weak limits are asked for."""

    def refuse(tier: str, **_: Any) -> client.Zygote:
        raise client.WallsRefused(f"unshare: not permitted ({tier})")

    monkeypatch.setattr(client.Zygote, "start", staticmethod(refuse))
    with pytest.raises(SandboxError, match="user namespaces") as caught:
        LocalSandbox().run(RIGHT)
    assert "allow_weak" in str(caught.value)
    assert "landlock: unshare: not permitted" in str(caught.value)


def test_weak_limits_run_when_asked_for() -> None:
    """allow_weak with the tier named: the execution says which tier it was."""
    with LocalSandbox(workers=1, tier="rlimits", allow_weak=True) as sandbox:
        execution = sandbox.run(_python("print(1)"))
    assert (execution.exit, execution.stdout, execution.tier) == (Exit.OK, b"1\n", "rlimits")


def test_without_namespaces_landlock_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second tier is a wall too, and says so."""
    if not kernel.landlock_version():
        pytest.skip("this kernel has no Landlock")
    start = client.Zygote.start

    def refuse(tier: str, **more: Any) -> client.Zygote:
        if tier == "namespaces":
            raise client.WallsRefused("unshare: not permitted")
        return start(tier, **more)

    monkeypatch.setattr(client.Zygote, "start", staticmethod(refuse))
    with LocalSandbox(workers=1) as sandbox:
        assert sandbox.tier() == "landlock"
        execution = sandbox.run(
            _python("import os\ntry: os.listdir('/etc'); print('read')\nexcept OSError: print('no')")
        )
        assert (execution.stdout, execution.tier) == (b"no\n", "landlock")


def test_landlock_keeps_files_and_processes_apart() -> None:
    """No other file, no new process, no signal, no metadata of host files."""
    if not kernel.landlock_version():
        pytest.skip("this kernel has no Landlock")
    host = Path(os.environ.get("TMPDIR", "/tmp")) / f"landlock-{os.getpid()}"
    host.write_text("secret")
    source = f"""
import os, signal
for name, attempt in {{
    "read": lambda: open({str(host)!r}).read(),
    "write": lambda: open({str(host)!r}, "w"),
    "unlink": lambda: os.unlink({str(host)!r}),
    "fork": os.fork,
    "kill": lambda: os.kill(os.getppid(), signal.SIGTERM),
}}.items():
    try:
        attempt()
        print(name, "worked")
    except OSError:
        pass
os.chmod({str(host)!r}, 0o777)
"""
    try:
        with LocalSandbox(workers=1, tier="landlock") as sandbox:
            execution = sandbox.run(_python(source))
            assert execution.stdout == b"", execution.stdout
            assert execution.exit is Exit.OK, execution.stderr
            assert host.stat().st_mode & 0o777 != 0o777
            assert host.read_text() == "secret"
            assert sandbox.run(_python("print(1)")).stdout == b"1\n"
    finally:
        host.unlink()


def test_no_datagram_leaves_a_box(tmp_path: Path) -> None:
    """A datagram socket of a pair can be pointed at any address: a socket file of the host, a name in its namespace."""
    import socket

    source = (
        "import socket\n"
        "for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):\n"
        "    try:\n"
        "        one, two = socket.socketpair(socket.AF_UNIX, kind)\n"
        "    except OSError:\n"
        "        continue\n"
        "    for address in ADDRESSES:\n"
        "        for send in (lambda: one.sendto(b'out', address), lambda: two.connect(address) or two.send(b'out')):\n"
        "            try:\n"
        "                send()\n"
        "            except OSError:\n"
        "                pass\n"
        "print('done')\n"
    )
    addresses = [str(tmp_path / "listener"), f"\0datagram-{os.getpid()}"]
    listeners = [socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in addresses]
    try:
        for listener, address in zip(listeners, addresses, strict=True):
            listener.bind(address)
            listener.setblocking(False)
        for tier in ("namespaces", "landlock"):
            with LocalSandbox(workers=1, tier=tier) as sandbox:
                try:
                    execution = sandbox.run(_python(f"ADDRESSES = {addresses!r}\n{source}"), QUICK)
                except SandboxError:
                    continue
            assert execution.stdout == b"done\n"
            for listener in listeners:
                with pytest.raises(BlockingIOError):
                    listener.recv(10)
    finally:
        for listener in listeners:
            listener.close()


def test_landlock_leaves_no_scratch_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders without permissions included."""
    if not kernel.landlock_version():
        pytest.skip("this kernel has no Landlock")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tmp_path.chmod(0o755)
    with LocalSandbox(workers=1, tier="landlock") as sandbox:
        sandbox.run(_python("import os\nos.makedirs('a/b')\nopen('a/b/c', 'w')\nos.mkdir('no', 0)"))
    assert list(tmp_path.glob("box-*")) == []


def test_the_box_is_not_root_of_the_host(box: LocalSandbox) -> None:
    """Uid 0 of the host would be exempt from the process limit and may write /proc/sys."""
    if box.tier() != "namespaces":
        pytest.skip("namespaces only")
    execution = box.run(_python("import os, time\nprint(os.getuid())\nopen('up', 'w')\ntime.sleep(1.2)"))
    assert execution.stdout.strip() != b"0"


def test_the_host_keeps_its_name(box: LocalSandbox) -> None:
    """A program is told another one, where there are namespaces."""
    told = box.run(_python("import os, socket\nprint(os.uname().nodename, socket.gethostname())")).stdout
    assert told == b"sandbox sandbox\n" or box.tier() != "namespaces"


def test_walls_are_told(box: LocalSandbox) -> None:
    """Strongest first, each with what it is or why it is absent."""
    walls = box.walls()
    assert [wall.name for wall in walls] == ["namespaces", "landlock", "rlimits"]
    assert all(wall.detail for wall in walls)
    assert any(wall.stands and wall.name == box.tier() for wall in walls)


# --- limits -----------------------------------------------------------------------------------------------------------


def test_a_hang_in_three_tests_costs_one_limit(box: LocalSandbox) -> None:
    """Limits are for all calls together."""
    started = time.monotonic()
    outcome = box.call(_python("import time\ndef solve(x): time.sleep(60)"), CALLS, Limits(wall_seconds=1))
    taken = time.monotonic() - started
    assert [result.status for result in outcome.results] == [CallStatus.LIMIT, CallStatus.NOT_RUN, CallStatus.NOT_RUN]
    assert outcome.execution.exit is Exit.WALL_LIMIT
    assert taken < 1.2 + max(0.0, os.getloadavg()[0] / (os.cpu_count() or 1)), f"took {taken:.2f} s"


def test_one_call_may_have_its_own_limit(box: LocalSandbox) -> None:
    """call_wall_seconds ends the program at the slow call."""
    source = "import time\ndef f(x):\n    time.sleep(x)\n    return x"
    calls = [Call("f", (0,)), Call("f", (9,)), Call("f", (0,))]
    outcome = box.call(_python(source), calls, Limits(wall_seconds=8), call_wall_seconds=0.5)
    assert [result.status for result in outcome.results] == [CallStatus.RETURNED, CallStatus.LIMIT, CallStatus.NOT_RUN]
    assert outcome.execution.limit_hit == "call_wall_seconds"


def test_cpu_of_all_processes_counts_together(box: LocalSandbox) -> None:
    """Four children at half the limit each are over it."""
    if box.tier() != "namespaces":
        pytest.skip("this tier lets no program start a process")
    source = (
        "import os, time\n"
        "for _ in range(4):\n"
        "    if os.fork() == 0:\n"
        "        while True: pass\n"
        "for _ in range(4): os.wait()\n"
    )
    execution = box.run(_python(source), Limits(cpu_seconds=1, wall_seconds=60))
    assert execution.exit is Exit.CPU_LIMIT
    assert execution.cpu_seconds < 2


def test_memory_of_all_processes_counts_together(box: LocalSandbox) -> None:
    """Each child is below the limit, the sum is not."""
    if box.tier() != "namespaces":
        pytest.skip("this tier lets no program start a process")
    source = (
        "import os, time\n"
        "for _ in range(4):\n"
        "    if os.fork() == 0:\n"
        "        block = bytearray(60 << 20)\n"
        "        for i in range(0, len(block), 4096): block[i] = 1\n"
        "        time.sleep(60)\n"
        "time.sleep(60)\n"
    )
    execution = box.run(_python(source), Limits(memory_bytes=128 << 20, wall_seconds=20, cpu_seconds=20))
    assert execution.exit is Exit.MEMORY_LIMIT


def test_the_process_limit_holds(box: LocalSandbox) -> None:
    """A fork past the limit fails in the program; the limit is its own, not shared with other boxes."""
    if box.tier() != "namespaces":
        pytest.skip("this tier lets no program start a process")
    source = (
        "import os, time\n"
        "made = 0\n"
        "while made < 100:\n"
        "    try: pid = os.fork()\n"
        "    except OSError: break\n"
        "    if pid == 0: time.sleep(60)\n"
        "    made += 1\n"
        "print(made)\n"
    )
    execution = box.run(_python(source), Limits(processes=10))
    assert 5 <= int(execution.stdout) <= 10


def test_a_busy_machine_does_not_fail_honest_programs() -> None:
    """Four hogs on the CPUs; programs within half their CPU limit all end by themselves."""
    hogs = [
        subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))
    ]
    source = "import time\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass\nprint('done')"
    try:
        with LocalSandbox(workers=2) as sandbox:
            runs = sandbox.run_many([_python(source)] * 4, Limits(cpu_seconds=1, wall_seconds=1))
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    assert [run.exit for run in runs] == [Exit.OK] * 4, [(run.exit, run.cpu_seconds, run.wall_seconds) for run in runs]


def test_half_a_second_of_cpu_is_within_a_limit_of_half_a_second_and_a_bit(box: LocalSandbox) -> None:
    """Fractions of a second are kept, not rounded to whole ones."""
    execution = box.run(_python("while True: pass"), Limits(cpu_seconds=0.3, wall_seconds=20))
    assert execution.exit is Exit.CPU_LIMIT
    assert execution.cpu_seconds < 0.9


# --- workers ----------------------------------------------------------------------------------------------------------


def _zygotes(sandbox: LocalSandbox) -> list[client.Zygote]:
    assert sandbox._pool is not None
    return [zygote for slot in list(sandbox._pool._slots.queue) for zygote in slot if zygote is not None]


def test_a_zygote_killed_in_mid_batch_loses_no_row() -> None:
    """SIGKILL of the zygote: its row is run again on a new one, the rest are unharmed, the pool is whole."""
    with LocalSandbox(workers=2) as sandbox:
        programs = [_python(f"import time; time.sleep(0.02); print({index})") for index in range(60)]
        sandbox.run_many(programs[:2])
        killed = threading.Event()

        def kill() -> None:
            time.sleep(0.15)
            children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(os.getpid())], capture_output=True, text=True)
            for pid in map(int, children.stdout.split()):
                try:
                    word = Path(f"/proc/{pid}/cmdline").read_bytes()
                except OSError:
                    continue
                if b"sandboxes.zygote.server" in word:
                    os.kill(pid, signal.SIGKILL)
                    killed.set()
                    return

        thread = threading.Thread(target=kill)
        thread.start()
        runs = sandbox.run_many(programs)
        thread.join()
        assert killed.is_set()
        assert [run.stdout for run in runs] == [b"%d\n" % index for index in range(60)]
        assert all(run.exit is Exit.OK for run in sandbox.run_many(programs[:4]))


def test_a_zygote_that_always_dies_is_a_sandbox_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lost twice: the row says so and scores nothing; it is not the program's fault."""
    with LocalSandbox(workers=1) as sandbox:
        assert sandbox.run(RIGHT).exit is Exit.OK
        starts = []
        real = client.Zygote.begin

        def die(self: client.Zygote, *arguments: Any, **more: Any) -> int:
            assert self.process is not None
            starts.append(self.process.pid)
            self.process.kill()
            self.process.wait()
            return real(self, *arguments, **more)

        with monkeypatch.context() as patch:
            patch.setattr(client.Zygote, "begin", die)
            execution = sandbox.run(RIGHT)
            rows = sandbox.call(RIGHT, CALLS)
        assert execution.exit is Exit.SANDBOX_ERROR
        assert "lost twice" in execution.detail
        assert rows.execution.exit is Exit.SANDBOX_ERROR
        assert [row.status for row in rows.results] == [CallStatus.NOT_RUN] * 3
        assert len(set(starts)) == 4
        assert sandbox.run(RIGHT).exit is Exit.OK


def _family(process: int) -> list[int]:
    """The descendants of a process."""
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True).stdout
    children = [int(pid) for pid in listed.split()]
    return children + [pid for child in children for pid in _family(child)]


@pytest.mark.parametrize("tier", ["namespaces", "landlock"])
@pytest.mark.parametrize("victim", ["trainer", "zygote"])
def test_a_dead_trainer_or_zygote_leaves_nothing(tier: str, victim: str, tmp_path: Path) -> None:
    """SIGKILL of the trainer, or of its zygotes: the box that hangs ends too, and its folder goes. (Without a pid
    namespace a program that slept was nobody's child for ever.)"""
    if tier == "landlock" and not kernel.landlock_version():
        pytest.skip("this kernel has no Landlock")
    tmp_path.chmod(0o755)
    source = (
        "import sys, threading, time\n"
        "from sandboxes import Limits, Program\n"
        "from sandboxes.local import LocalSandbox\n"
        f"box = LocalSandbox(workers=1, tier={tier!r})\n"
        "box.run(Program.python('print(1)'))\n"
        "sleeper = Program.python('import ctypes, time; ctypes.CDLL(None).prctl(1, 0, 0, 0, 0); time.sleep(50)')\n"
        "limits = Limits(cpu_seconds=1, wall_seconds=2)\n"
        "threading.Thread(target=box.run, args=(sleeper, limits), daemon=True).start()\n"
        "time.sleep(0.5)\n"
        "print(box._pool is not None, flush=True)\n"
        "sys.stdin.read()\n"
        "box.close()\n"
        "time.sleep(60)\n"
    )
    root = Path(__file__).resolve().parents[1]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", source]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=root, env=environment) as trainer:
        assert trainer.stdout is not None
        assert trainer.stdin is not None
        trainer.stdout.readline()
        family = _family(trainer.pid)
        assert len(family) >= 2  # a zygote and a box
        if victim == "trainer":
            trainer.kill()
        else:
            trainer.stdin.close()  # the pool is closed and starts no other zygote
            for pid in _family(trainer.pid)[:1]:
                os.kill(pid, signal.SIGKILL)
        end = time.monotonic() + 10
        while time.monotonic() < end and (_living(family) or any(tmp_path.glob("box-*"))):
            time.sleep(0.1)
        processes, folders = _living(family), [path.name for path in tmp_path.glob("box-*")]
        trainer.kill()
    assert processes == []
    assert folders == []


def _living(pids: Sequence[int]) -> list[int]:
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


def _in_fork(sandbox: LocalSandbox, answers: Any) -> None:
    answers.put(sandbox.run(_python("print('forked')")).stdout)
    sandbox.close()


def test_a_forked_child_starts_its_own(box: LocalSandbox) -> None:
    """Frameworks fork after the reward is made: parent and child must not read each other's answers."""
    assert box.run(_python("print(1)")).stdout == b"1\n"
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_in_fork, args=(box, answers))
    child.start()
    assert answers.get(timeout=60) == b"forked\n"
    child.join(20)
    assert box.run(_python("print(2)")).stdout == b"2\n"


def test_it_pickles_by_configuration() -> None:
    """No process starts by pickling, and options survive."""
    sandbox = LocalSandbox(workers=3, warm=("json",))
    copy = pickle.loads(pickle.dumps(sandbox))
    assert (copy.workers, copy._warm, copy._pool) == (3, ("json",), None)


def test_a_closed_sandbox_says_so() -> None:
    """close() is idempotent; use after it is an error of ours."""
    sandbox = LocalSandbox(workers=1)
    sandbox.run(RIGHT)
    sandbox.close()
    sandbox.close()
    with pytest.raises(SandboxError, match="closed"):
        sandbox.run(RIGHT)


def test_nothing_is_left_after_many_programs(box: LocalSandbox) -> None:
    """Descriptors, processes, mounts and memory after 300 programs, hostile ones among them."""
    sources = [
        "print(1)",
        "import os\nos._exit(3)",
        "x = [0] * 10 ** 6",
        "import sys\nsys.stdout.write('x' * 10 ** 6)",
        "import os\ntry:\n    if os.fork() == 0:\n        os.setsid()\n        import time; time.sleep(60)\n"
        "except OSError: pass",
        "open('f', 'wb').write(b'x' * 10 ** 6)",
    ]
    limits = Limits(cpu_seconds=2, wall_seconds=4)

    def round_of(count: int) -> None:
        for index in range(count):
            box.run(_python(sources[index % len(sources)]), limits)
            box.call(RIGHT, CALLS, limits)

    round_of(12)

    def mounts() -> list[str]:  # an engine on this machine mounts for its own containers
        return [line for line in Path("/proc/self/mounts").read_text().splitlines() if "docker" not in line]

    descriptors, before = len(os.listdir("/proc/self/fd")), mounts()
    round_of(150)
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert mounts() == before
    time.sleep(0.3)
    assert processes_left(box) == []


# --- calls ------------------------------------------------------------------------------------------------------------


def test_stop_ends_the_program_early(box: LocalSandbox) -> None:
    """The caller decides after each call; the rest is not run."""
    outcome = box.call(RIGHT, CALLS, stop=lambda index, result: index == 0)
    assert [result.status for result in outcome.results] == [
        CallStatus.RETURNED,
        CallStatus.NOT_RUN,
        CallStatus.NOT_RUN,
    ]
    assert outcome.execution.exit is Exit.OK


def test_large_values_are_not_kept_once_stop_has_seen_them(box: LocalSandbox) -> None:
    """A hundred calls that each return megabytes must not pile up in the trainer; small ones stay."""
    calls = [Call("f", (100_000,)), Call("f", (3,))]
    seen = []
    outcome = box.call(_python("def f(n): return list(range(n))"), calls, stop=lambda _, result: seen.append(result))
    assert [len(result.value) for result in seen] == [100_000, 3]
    assert isinstance(outcome.results[0].value, plain_data.Opaque)
    assert outcome.results[1].value == [0, 1, 2]
    outcome = box.call(_python("def f(n): return list(range(n))"), calls)
    assert [len(result.value) for result in outcome.results] == [100_000, 3]


def test_an_answer_is_to_the_question_that_was_asked(box: LocalSandbox) -> None:
    """The right answers, written on the pipe by the program itself: to come between two questions was luck."""
    source = (
        "import json, os\n"
        "def solve(x):\n"
        "    data = json.dumps(['ok', 3 * x + 1]).encode()\n"
        "    os.write(5, len(data).to_bytes(4, 'little') + data)\n"
        "    return 3 * x + 1\n"
    )
    outcome = box.call(_python(source), CALLS)
    assert [result.status for result in outcome.results] == [CallStatus.LIMIT, CallStatus.NOT_RUN, CallStatus.NOT_RUN]
    tests = Program({"t.py": b"assert f(2) == 7"}, "t.py")
    assert not box.judge(tests, _python(source), {"f": "solve"}).all_passed


FORGED = {
    "true": '["ok",true',
    "passed": '["passed"',
    "outcome": '["outcome","line 1","passed",""',
    "done": '["done"',
    "back handle": '["ok",["h",0,"back",""]',
    "object handle": '["ok",["h",0,"object","x"]',
    "class handle": '["ok",["h",-1,"class","int"]',
    "exception handle": '["ok",["h",1,"exception","AssertionError"]',
    "type": '["ok",["y","object"]',
    "unknown type": '["ok",["y","exec"]',
    "opaque": '["ok",["u","x"]',
    "nan": '["ok",["f","nan"]',
    "nothing": '["ok"',
    "stop": '["raised","StopIteration","",["StopIteration","Exception"],[]',
    "exit": '["raised","SystemExit","0",["SystemExit","BaseException"],[0]',
    "skip": '["raised","Skipped","",["Skipped","OutcomeException"],[]',
    "raised nothing": '["raised"',
    "deep": '["ok",' + '["l",' * 5000 + "1" + "]" * 5000,
}
"""Frames without their end, which is the token."""


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_an_answer_with_its_token_is_only_a_guess(box: LocalSandbox, forged: str) -> None:
    """The program finds the token of the question and sends a frame of its own: data, which is the expected or not."""
    source = (
        "import os, sys\n"
        "def solve(x):\n"
        "    frame = sys._getframe()\n"
        "    while 'token' not in frame.f_locals: frame = frame.f_back\n"
        f"    data = ({forged!r} + ',\"' + frame.f_locals['token'] + '\"]').encode()\n"
        "    os.write(5, len(data).to_bytes(4, 'little') + data)\n"
        "    os._exit(0)\n"
    )
    outcome = box.call(_python(source), CALLS[:1])
    assert outcome.results[0].status is not CallStatus.NOT_RUN
    assert outcome.results[0].status is not CallStatus.RETURNED or outcome.results[0].value != 7
    for script in (b"assert f(2) == 7", b"import unittest\nassert all(f(n) == 7 for n in [2])"):
        judged = box.judge(Program({"t.py": script}, "t.py"), _python(source), {"f": "solve"})
        assert not judged.all_passed


def test_a_method_gets_a_fresh_instance_each_call(box: LocalSandbox) -> None:
    """LeetCode's `Solution().solve(x)`."""
    source = (
        "class Solution:\n    def __init__(self): self.n = 0\n"
        "    def solve(self, x):\n        self.n += 1\n        return self.n"
    )
    outcome = box.call(_python(source), [Call("Solution.solve", (1,))] * 3)
    assert [result.value for result in outcome.results] == [1, 1, 1]


def test_what_a_program_prints_while_called_is_kept_apart(box: LocalSandbox) -> None:
    """Prints go to stdout and never into the answers."""
    outcome = box.call(_python("def solve(x):\n    print('debug', x)\n    return x"), [Call("solve", (5,))])
    assert (outcome.results[0].value, outcome.execution.stdout) == (5, b"debug 5\n")


def test_a_program_that_does_not_load_answers_nothing(box: LocalSandbox) -> None:
    """Its error is in stderr, its calls are not run."""
    outcome = box.call(_python("def solve(x:\n    return x"), CALLS)
    assert [result.status for result in outcome.results] == [CallStatus.NOT_RUN] * 3
    assert b"SyntaxError" in outcome.execution.stderr
    assert outcome.execution.exit is Exit.NONZERO


def test_arguments_over_the_cap_are_told(box: LocalSandbox) -> None:
    """The row says which cap; the next call still runs."""
    outcome = box.call(
        _python("def f(x): return len(x)"),
        [Call("f", ("x" * 100_000,)), Call("f", ("ab",))],
        Limits(value_bytes=10_000),
    )
    assert [result.status for result in outcome.results] == [CallStatus.TOO_BIG, CallStatus.RETURNED]


# --- two boxes --------------------------------------------------------------------------------------------------------


def _judge(box: LocalSandbox, tests: str, solution: str, names: Any = ("f",), **more: Any) -> Any:
    return box.judge(_python(tests), _python(solution), names, QUICK, **more)


STACK = """
class Stack:
    def __init__(self, items=()): self.items = list(items)
    def push(self, x): self.items.append(x); return self
    def pop(self): return self.items.pop()
    def __len__(self): return len(self.items)
    def __iter__(self): return iter(self.items)
    def __getitem__(self, i): return self.items[i]
    def __eq__(self, other): return isinstance(other, Stack) and self.items == other.items
    def __repr__(self): return f"Stack({self.items})"
class Empty(LookupError): pass
class VeryEmpty(Empty): pass
LIMIT = 10
def fail(): raise VeryEmpty("nothing")
def gen(n): yield from range(n)
def apply(f, xs): return [f(x) for x in xs]
def reverse(node):
    last = None
    while node: node.next, last, node = last, node, node.next
    return last
"""


@pytest.mark.parametrize(
    "tests",
    [
        "from solution import *\nassert len(Stack().push(1).push(2)) == 2\nassert Stack([1, 2]).pop() == 2",
        "import solution as s\nx = s.Stack([3])\nassert list(x) == [3] and x[0] == 3 and x and 3 in x",
        "from solution import Stack\nassert Stack([1]) == Stack([1]) and Stack([1]) != Stack([2])\n"
        "assert str(Stack([1])) == 'Stack([1])'",
        "from solution import Stack\nassert isinstance(Stack(), Stack)\nx = Stack()\nassert x is x and x.items == []",
        "from solution import fail, Empty\ntry:\n    fail()\n    assert False\n"
        "except Empty as error:\n    assert str(error) == 'nothing'",
        "from solution import fail\ntry: fail()\nexcept LookupError: assert True\nelse: assert False",
        "from solution import gen, LIMIT\nassert list(gen(3)) == [0, 1, 2] and next(gen(1)) == 0 and LIMIT == 10",
        "from solution import apply\nassert apply(lambda x: x * 2, (1, 2)) == [2, 4]\nassert apply(str, [1]) == ['1']",
        "from solution import reverse\nclass Node:\n"
        "    def __init__(self, value, next=None): self.value, self.next = value, next\n"
        "node = reverse(Node(1, Node(2)))\nassert node.value == 2 and node.next.value == 1 and node.next.next is None",
        "import unittest, solution\nclass T(unittest.TestCase):\n"
        "    def test_a(self):\n        self.assertEqual(solution.LIMIT, 10)\n"
        "    def test_b(self):\n        with self.assertRaises(solution.Empty): solution.fail()\nunittest.main()",
    ],
)
def test_tests_that_use_objects_pass_through_proxies(box: LocalSandbox, tests: str) -> None:
    """Classes, exceptions, generators, callbacks and the tests' own objects."""
    judged = _judge(box, tests, STACK, ())
    assert judged.all_passed, (judged.outcomes, judged.detail, judged.tests.stderr[-500:], judged.test_fault)


HOSTILE_OBJECT = """
class Any:
    __eq__ = __ge__ = __le__ = __lt__ = __gt__ = __contains__ = lambda s, o: True
    __ne__ = lambda s, o: False
    __hash__ = lambda s: 0
    __sub__ = __rsub__ = __add__ = __radd__ = __mul__ = __mod__ = lambda s, o: 0
    __abs__ = __neg__ = lambda s: 0
    __float__ = lambda s: 7.0
    __int__ = __index__ = lambda s: 7
    __len__ = lambda s: 3
    __iter__ = lambda s: iter([s, s, s])
    __getitem__ = lambda s, i: s
    __round__ = lambda s, n=None: 7
    __getattr__ = lambda s, n: (lambda *a, **k: True)
def f(x): return Any()
"""


@pytest.mark.parametrize(
    "tests",
    [
        "assert f(2) == 7",
        "assert 7 == f(2)",
        "assert not f(2) != 7",
        "assert abs(f(2) - 7) < 1e-6",
        "assert f(2) in (7,)",
        "assert 7 in f(2)",
        "assert f(2) >= 7",
        "assert 6 < f(2) < 8",
        "assert sorted(f(2)) == [7, 8, 9]",
        "assert set(f(2)) == {7}",
        "assert {7: 1}[f(2)] == 1",
        "assert isinstance(f(2), int)",
        "assert f(2) is True",
        "import math\nassert math.isclose(f(2), 7)",
        "assert round(f(2)) == 7",
        "assert int(f(2)) == 7",
        "assert [f(2)] == [7]",
        "assert all(a == b for a, b in zip(f(2), [7, 8, 9]))",
        "import unittest\nunittest.TestCase().assertEqual(f(2), 7)",
        "import unittest\nunittest.TestCase().assertAlmostEqual(f(2), 7)",
        "assert f(2) % 2 == 1",
        "assert tuple(f(2)) == (7, 8, 9)",
    ],
)
def test_an_object_that_agrees_with_everything_passes_nothing(box: LocalSandbox, tests: str) -> None:
    """No operation with plain data is ever answered by the solution's object."""
    judged = _judge(box, tests, HOSTILE_OBJECT)
    assert not judged.all_passed
    assert judged.test_fault == ""


@pytest.mark.parametrize(
    "solution",
    [
        "def f(x): raise SystemExit(0)",
        "import os\ndef f(x): os._exit(0)",
        "def f(x): raise KeyboardInterrupt",
        "class Q(BaseException): pass\ndef f(x): raise Q",
        "import os\nfor fd in range(3, 9):\n    os.write(fd, b'\\x08\\0\\0\\0[\"done\"]')\ndef f(x): return 7",
        "raise SystemExit",
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\nos._exit(0)",
    ],
)
@pytest.mark.parametrize("shape", ["try:\n    f(2)\nexcept BaseException:\n    pass\n{}", "{}"])
def test_a_solution_that_ends_early_finishes_nothing(box: LocalSandbox, solution: str, shape: str) -> None:
    """Not even in a test that swallows every exception."""
    assert not _judge(box, shape.format("assert f(2) == 7"), solution).all_passed


def test_callbacks_lead_nowhere_else(box: LocalSandbox) -> None:
    """A function handed to the solution can be called, and nothing behind it can be read."""
    solution = """
found = []
def f(g):
    for name in ("__globals__", "__code__", "__self__", "__closure__", "gi_frame", "func"):
        try: found.append(getattr(g, name))
        except Exception: pass
    return (len(found), g(3))
"""
    judged = _judge(box, "secret = 99\nassert f(lambda x: x + 1) == (0, 4)", solution)
    assert judged.all_passed, judged.detail


def test_a_share_counts_every_declared_assert(box: LocalSandbox) -> None:
    """keep_going goes on after a failure; without it the first one ends the script."""
    tests = "assert f(1) == 1\nassert f(2) == 3\nassert f(0) == 1\nassert f(4) == 4"
    solution = "def f(x):\n    return x // (x and 1)"
    going = _judge(box, tests, solution, keep_going=True)
    assert [outcome.status for outcome in going.outcomes] == [
        TestStatus.PASSED,
        TestStatus.FAILED,
        TestStatus.FAILED,
        TestStatus.PASSED,
    ]
    assert (going.passed, going.total) == (2, 4)
    stopped = _judge(box, tests, solution)
    assert [outcome.status for outcome in stopped.outcomes] == [TestStatus.PASSED, TestStatus.FAILED] + [
        TestStatus.NOT_RUN
    ] * 2
    assert (stopped.passed, stopped.total) == (1, 4)


def test_at_most_so_many_tests_are_run_spread_over_all(box: LocalSandbox) -> None:
    """Of a script's asserts and of pytest's items; the others are left out, and a block of them alone is no error."""
    tests = "if True:\n    assert f(1) == 9\nassert f(1) == 1\nassert f(2) == 2\nassert f(3) == 9\nassert f(4) == 4\n"
    judged = _judge(box, tests + "if True:\n    assert f(5) == 5\n", "def f(x): return x", max_tests=2)
    assert [(outcome.name, outcome.status) for outcome in judged.outcomes] == [
        ("line 2", TestStatus.FAILED),
        ("line 5", TestStatus.NOT_RUN),
    ]
    judged = _judge(
        box, "assert f(1) == 1\n" * 3 + "if True:\n    assert f(5) == 9\n", "def f(x): return x", max_tests=2
    )
    assert (judged.passed, judged.total, judged.all_passed) == (2, 2, True)
    items = Program(
        {
            "test_f.py": b"from solution import f\n"
            + b"".join(b"def test_%d(): assert f(%d) == %d\n" % (n, n, n) for n in range(6))
        },
        "test_f.py",
    )
    limits = Limits(cpu_seconds=10, wall_seconds=20)
    judged = box.judge(items, _python("def f(x): return x"), (), limits, runner="pytest", max_tests=3)
    assert [outcome.name[-1] for outcome in judged.outcomes] == ["0", "2", "4"]
    assert judged.all_passed


def test_scripts_that_the_trainer_compiled_and_others_find_the_same(box: LocalSandbox, monkeypatch: Any) -> None:
    """A zygote of another Python gets the source and compiles it itself."""
    tests = "x = 1\nassert f(x) == 1, 'one'\nfor y in (2, 3):\n    assert f(y) == 2, f'at {y}'\n"
    for script in (tests, "f(1)\n", "assert (\n", "import nowhere\nassert f(1)"):
        compiled = _judge(box, script, "def f(x): return x", keep_going=True)
        with monkeypatch.context() as patched:
            patched.setattr(client, "PYTHON", "another")
            source = _judge(box, script, "def f(x): return x", keep_going=True)
        assert (compiled.outcomes, compiled.test_fault, compiled.detail) == (
            source.outcomes,
            source.test_fault,
            source.detail,
        )


def test_an_assert_in_a_loop_passes_only_with_all_its_rounds(box: LocalSandbox) -> None:
    """One declared test, five rounds, the last one wrong."""
    tests = "for x in range(5):\n    assert f(x) == x"
    assert _judge(box, tests, "def f(x): return x").passed == 1
    assert _judge(box, tests, "def f(x): return min(x, 3)").passed == 0
    assert _judge(box, tests, "import os\ndef f(x): return x if x < 4 else os._exit(0)").passed == 0


@pytest.mark.parametrize(
    ("tests", "fault"),
    [("assert f(1) ==", "does not compile"), ("import no_such_module\nassert f(1) == 1", "no_such_module")],
)
def test_a_broken_test_script_is_not_the_candidates_fault(box: LocalSandbox, tests: str, fault: str) -> None:
    """A fault of the data set is told apart from a wrong solution."""
    judged = _judge(box, tests, "def f(x): return x")
    assert fault in judged.test_fault
    assert not judged.all_passed


def test_a_missing_entry_point_is_the_candidates_fault(box: LocalSandbox) -> None:
    """The tests are declared, none passes, and the script is not to blame."""
    judged = _judge(box, "assert f(1) == 1\nassert f(2) == 2", "def g(x): return x")
    assert (judged.passed, judged.total, judged.test_fault) == (0, 2, "")


PYTEST_FILE = """
import pytest
from solution import f
@pytest.fixture
def two(): return 2
def test_fixture(two): assert f(two) == 2
@pytest.mark.parametrize("x", [3, 4])
def test_many(x): assert f(x) == 3
@pytest.mark.skip
def test_left_out(): assert False
class TestClass:
    def test_raises(self):
        with pytest.raises(ValueError): f(-1)
"""


def test_pytest_items_are_tests(box: LocalSandbox) -> None:
    """Fixtures, parameters, skips and raises; the solution is imported by name."""
    tests = Program({"test_f.py": PYTEST_FILE.encode()}, "test_f.py")
    solution = _python("def f(x):\n    if x < 0: raise ValueError\n    return x")
    limits = Limits(cpu_seconds=10, wall_seconds=20)
    judged = box.judge(tests, solution, (), limits, runner="pytest", keep_going=True)
    found = {outcome.name.partition("::")[2]: outcome.status.value for outcome in judged.outcomes}
    assert found == {
        "test_fixture": "passed",
        "test_many[3]": "passed",
        "test_many[4]": "failed",
        "test_left_out": "skipped",
        "TestClass::test_raises": "passed",
    }, (judged.detail, judged.test_fault, judged.tests.stdout[-800:])
    assert (judged.passed, judged.total, judged.all_passed) == (3, 4, False)


def test_pytest_counts_tests_of_a_solution_that_does_not_load(box: LocalSandbox) -> None:
    """The denominator is what the files declare, not what was reached."""
    tests = Program({"test_f.py": PYTEST_FILE.encode()}, "test_f.py")
    judged = box.judge(tests, _python("raise SystemExit(0)"), (), QUICK, runner="pytest")
    assert (judged.passed, judged.total, judged.test_fault) == (0, 4, "")


def test_together_runs_tests_that_need_the_object_itself(box: LocalSandbox) -> None:
    """Tests that patch the solution's module: in one box, because the caller asked for it."""
    tests = "import solution\nsolution.K = 5\nassert solution.f(2) == 10\nassert f is solution.f"
    judged = _judge(box, tests, "K = 1\ndef f(x): return K * x", together=True)
    assert judged.all_passed, judged.detail


def test_the_same_judgement_on_one_worker_and_two() -> None:
    """Verdicts do not depend on the number of workers."""
    solutions = [
        "def solve(x): return 3 * x + 1",
        "def solve(x): return 7",
        "import os\nos._exit(0)",
        "def solve(x): 1/0",
    ]
    found = []
    for workers in (1, 2):
        with LocalSandbox(workers=workers) as sandbox:
            tests = Program({"t.py": ASSERTS_CALL}, "t.py")
            found.append([sandbox.judge(tests, _python(s), {"candidate": "solve"}, QUICK).passed for s in solutions])
    assert found[0] == found[1] == [3, 1, 0, 0]


# --- other languages --------------------------------------------------------------------------------------------------

LANGUAGES = {
    "bash": ("bash", "main.sh", "read n\nfor i in $(seq 1 $n); do echo $((i * i)); done"),
    "c": (
        "gcc",
        "main.c",
        '#include <stdio.h>\nint main(){int n;scanf("%d",&n);for(int i=1;i<=n;i++)printf("%d\\n",i*i);}',
    ),
    "c++": (
        "g++",
        "main.cpp",
        "#include <bits/stdc++.h>\nint main(){int n;std::cin>>n;for(int i=1;i<=n;i++)std::cout<<i*i<<'\\n';}",
    ),
    "javascript": (
        "node",
        "main.js",
        "const n=+require('fs').readFileSync(0);for(let i=1;i<=n;i++)console.log(i*i)",
    ),
}


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_other_languages_run_where_their_tool_chain_is(box: LocalSandbox, language: str) -> None:
    """Compiled in a box, run in a box of the same kind."""
    tool, entry, source = LANGUAGES[language]
    if shutil.which(tool, path="/usr/local/bin:/usr/bin:/bin") is None:
        with pytest.raises(SandboxError, match="install"):
            box.run(Program({entry: source.encode()}, entry, language))
        pytest.skip(f"{tool} is not on this machine")
    if box.tier() != "namespaces" and language == "bash":
        pytest.skip("this tier lets no program start a process")
    program = Program({entry: source.encode()}, entry, language, stdin=b"3\n")
    execution = box.run(program, Limits(cpu_seconds=5, wall_seconds=20))
    assert execution.exit is Exit.OK, (execution.exit, execution.stderr[-500:], execution.detail)
    assert execution.stdout == b"1\n4\n9\n"


def test_a_program_that_does_not_compile_is_a_compile_error(box: LocalSandbox) -> None:
    """The compiler's words are in stderr; it read nothing outside its box."""
    if shutil.which("gcc", path="/usr/local/bin:/usr/bin:/bin") is None:
        pytest.skip("gcc is not on this machine")
    execution = box.run(Program({"a.c": b"int main(){ return x; }"}, "a.c", "c"))
    assert execution.exit is Exit.COMPILE_ERROR
    assert b"undeclared" in execution.stderr
    stolen = box.run(Program({"a.c": b'#include "/etc/shadow"\nint main(){}'}, "a.c", "c"))
    assert stolen.exit is Exit.COMPILE_ERROR
    assert b"root:" not in stolen.stderr


def test_a_compiled_program_is_walled_like_any_other(box: LocalSandbox) -> None:
    """No network, no file of the host, its CPU counted."""
    if shutil.which("gcc", path="/usr/local/bin:/usr/bin:/bin") is None:
        pytest.skip("gcc is not on this machine")
    source = (
        b"#include <stdio.h>\n#include <sys/socket.h>\n#include <fcntl.h>\n"
        b'int main(){printf("%d %d", socket(AF_INET, SOCK_STREAM, 0), open("/etc/shadow", O_RDONLY));'
        b"fflush(stdout);for(;;);}"
    )
    execution = box.run(Program({"a.c": source}, "a.c", "c"), Limits(cpu_seconds=1, wall_seconds=20))
    assert execution.stdout == b"-1 -1"
    assert execution.exit is Exit.CPU_LIMIT


def test_calls_need_python(box: LocalSandbox) -> None:
    """The error says what to use instead."""
    with pytest.raises(SandboxError, match="use run with stdin"):
        box.call(Program({"a.sh": b""}, "a.sh", "bash"), CALLS)


def test_warm_imports_are_there_at_once() -> None:
    """numpy is imported once in the zygote; a program that uses it pays nothing for the import."""
    pytest.importorskip("numpy")
    source = "import sys\nwarm = 'numpy' in sys.modules\nimport numpy\nprint(warm, int(numpy.ones(3).sum()))"
    with LocalSandbox(workers=1, warm=("numpy",)) as sandbox:
        execution = sandbox.run(_python(source))
    assert execution.stdout == b"True 3\n", execution.stderr[-300:]


def test_one_box_may_idle_while_the_other_works() -> None:
    """A solution that loads for long, tests that compute for long: neither is idle time of the other."""
    hogs = [
        subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))
    ]
    busy = "import time\nend = time.process_time() + 0.6\nwhile time.process_time() < end: pass\n"
    try:
        with LocalSandbox(workers=1) as sandbox:
            limits = Limits(cpu_seconds=1.5, wall_seconds=1.5)
            judged = sandbox.judge(
                _python(f"{busy}assert f(1) == 1\n"), _python(f"{busy}def f(x): return x"), ("f",), limits
            )
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    assert judged.all_passed, judged


def test_packages_of_an_environment_in_a_private_folder_are_found(tmp_path: Path) -> None:
    """A virtual environment below /tmp, where every box has a scratch space of its own."""
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    where = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = subprocess.run(where, capture_output=True, text=True, check=True).stdout.strip()
    (Path(site) / "only_there.py").write_text("X = 41")
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    source = (
        "from sandboxes import Program\n"
        "from sandboxes.local import LocalSandbox\n"
        "with LocalSandbox(workers=1) as box:\n"
        "    print(box.run(Program.python('import only_there; print(only_there.X)')).stdout)\n"
    )
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run([str(python), "-c", source], capture_output=True, text=True, cwd=root, check=False)
    assert done.stdout.strip() == "b'41\\n'", done.stderr[-500:]
