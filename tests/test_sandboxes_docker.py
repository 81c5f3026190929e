"""The docker sandbox on a real engine: hardened, warm, thrown away after a breach, whole again after losses."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandboxes import Call, Exit, Limits, Program, SandboxError
from sandboxes.conformance import processes_left
from sandboxes.docker import LABEL, DockerSandbox, build_image, connect, image_name, remove_orphans

pytestmark = pytest.mark.docker

RIGHT = Program.python("def solve(x): return 3 * x + 1")
ROOT = Path(__file__).resolve().parents[1]


def _engine() -> Any:
    try:
        return connect()
    except SandboxError as error:
        pytest.skip(f"no Docker engine on this machine: {error}")


@pytest.fixture(scope="module")
def engine() -> Iterator[Any]:
    """A client of the engine, with our image on it."""
    found = _engine()
    if not found.images.list(name=image_name()):
        build_image()
    yield found
    found.close()


@pytest.fixture(scope="module")
def box(engine: Any) -> Iterator[DockerSandbox]:
    with DockerSandbox(workers=1) as sandbox:
        yield sandbox


def _ours(engine: Any) -> list[Any]:
    """Containers of this process that run."""
    mine = f":{os.getpid()}:"
    found = engine.containers.list(filters={"label": LABEL}, ignore_removed=True)
    return [container for container in found if mine in container.labels[LABEL]]


def _print(value: object) -> Program:
    return Program.python(f"print({value!r})")


def test_no_engine_is_an_error_that_names_the_remedy(tmp_path: Path) -> None:
    """Not an exception of the SDK, and never a score."""
    pytest.importorskip("docker")
    with pytest.raises(SandboxError, match="start dockerd"):
        DockerSandbox(base_url=f"unix://{tmp_path}/none.sock").run(RIGHT)


def test_an_image_is_named_for_what_is_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two users of one engine with other packages, or another Python, have two images; order does not matter."""
    names = {image_name(), image_name(()), image_name(("pytest", "pydantic"))}
    assert len(names) == 3
    assert image_name(("pydantic", "pytest")) in names
    assert DockerSandbox(packages=("pytest", "pydantic")).image in names
    monkeypatch.setattr(sys, "base_prefix", "/elsewhere")
    assert image_name() not in names


def test_a_missing_sdk_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact pip install to type."""
    monkeypatch.setitem(sys.modules, "docker", None)
    with pytest.raises(SandboxError, match=r"pip install 'grpo-rewards\[docker\]'"):
        DockerSandbox().run(RIGHT)


def test_a_missing_image_names_the_command(engine: Any) -> None:
    """The image is made by one command."""
    with pytest.raises(SandboxError, match="rewards sandbox build-image"):
        DockerSandbox(image="no-such-image:none").run(RIGHT)


def test_a_limit_above_the_container_is_refused(box: DockerSandbox) -> None:
    """A program's memory has to fit into the container, with room for the zygote."""
    with pytest.raises(SandboxError, match="memory_bytes="):
        box.run(RIGHT, Limits(memory_bytes=4 << 30))


def test_the_container_is_hardened(box: DockerSandbox, engine: Any) -> None:
    """What the engine itself says of a running container."""
    assert box.run(_print(1)).stdout == b"1\n"
    (container,) = _ours(engine)
    host, config = container.attrs["HostConfig"], container.attrs["Config"]
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True
    assert host["CapDrop"] == ["ALL"]
    assert not host["CapAdd"]
    assert host["SecurityOpt"] == ["no-new-privileges"]  # and no seccomp=unconfined: the default profile stands
    assert host["Privileged"] is False
    assert 0 < host["PidsLimit"] <= 256
    assert host["Memory"] == host["MemorySwap"] > 0
    assert int(config["User"].split(":")[0]) >= 200_000
    assert list(host["Tmpfs"]) == ["/tmp"]
    assert host["LogConfig"]["Type"] == "none"
    assert all(mount["RW"] is False for mount in container.attrs["Mounts"] if mount["Type"] == "bind")
    assert not any("docker.sock" in mount["Source"] for mount in container.attrs["Mounts"] if "Source" in mount)


def test_two_boxes_are_two_containers(engine: Any) -> None:
    """The solution never shares a container with its tests."""
    with DockerSandbox(workers=1) as sandbox:
        tests = Program.python("assert solve(2) == 7")
        before = len(_ours(engine))
        assert sandbox.judge(tests, RIGHT, ("solve",)).all_passed
        assert len(_ours(engine)) - before == 2


def test_a_breach_throws_the_container_away(engine: Any) -> None:
    """A program over a limit is the last one of its container; an ordinary failure is not."""
    with DockerSandbox(workers=1) as sandbox:
        start = {container.id for container in _ours(engine)}

        def current() -> str:
            return next(container.id for container in _ours(engine) if container.id not in start)

        sandbox.run(_print(1))
        first = current()
        assert sandbox.run(Program.python("1/0")).exit is Exit.NONZERO
        assert current() == first
        assert sandbox.run(Program.python("while True: pass"), Limits(cpu_seconds=0.3)).exit is Exit.CPU_LIMIT
        start.add(first)
        assert sandbox.run(_print(2)).stdout == b"2\n"
        assert current() != first


def test_a_container_is_replaced_after_n_programs(engine: Any) -> None:
    """recycle_after bounds what one container ever sees."""
    with DockerSandbox(workers=1, recycle_after=3) as sandbox:
        seen = set()
        known = {container.id for container in _ours(engine)}
        for index in range(7):
            assert sandbox.run(_print(index)).stdout == b"%d\n" % index
            seen |= {container.id for container in _ours(engine)} - known
        assert len(seen) == 3


def test_a_container_killed_in_mid_batch_loses_no_row(engine: Any) -> None:
    """`docker kill`: its row is run again in a new container, the rest are unharmed."""
    with DockerSandbox(workers=2) as sandbox:
        known = {container.id for container in _ours(engine)}
        sandbox.run_many([_print(1), _print(2)])
        programs = [Program.python(f"import time; time.sleep(0.05); print({index})") for index in range(40)]

        def kill() -> None:
            time.sleep(0.3)
            next(container for container in _ours(engine) if container.id not in known).kill()

        thread = threading.Thread(target=kill)
        thread.start()
        runs = sandbox.run_many(programs)
        thread.join()
        assert [run.stdout for run in runs] == [b"%d\n" % index for index in range(40)]
        assert sandbox.run(_print("whole")).stdout == b"whole\n"


def test_close_leaves_no_container(engine: Any) -> None:
    """Nor a process of one."""
    known = {container.id for container in _ours(engine)}
    sandbox = DockerSandbox(workers=2)
    sandbox.run_many([_print(index) for index in range(4)])
    sandbox.close()
    end = time.monotonic() + 10
    while time.monotonic() < end and {container.id for container in _ours(engine)} - known:
        time.sleep(0.2)
    assert {container.id for container in _ours(engine)} - known == set()
    with pytest.raises(SandboxError, match="closed"):
        sandbox.run(RIGHT)


def test_a_dead_trainer_leaves_no_container(engine: Any) -> None:
    """Its containers see the control socket close and end; the engine removes them."""
    source = (
        "import os, sys, time\n"
        "from sandboxes import Program\n"
        "from sandboxes.docker import DockerSandbox\n"
        "box = DockerSandbox(workers=1)\n"
        "box.run(Program.python('print(1)'))\n"
        "print(os.getpid(), flush=True)\n"
        "time.sleep(60)\n"
    )
    trainer = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, cwd=ROOT)
    assert trainer.stdout is not None
    mark = f":{int(trainer.stdout.readline())}:"

    def alive() -> bool:
        found = engine.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True)
        return any(mark in container.labels[LABEL] for container in found)

    assert alive()
    trainer.kill()
    trainer.wait()
    trainer.stdout.close()
    end = time.monotonic() + 15
    while time.monotonic() < end and alive():
        time.sleep(0.3)
    assert not alive()


def test_orphans_are_found_by_label(engine: Any) -> None:
    """A container whose owner is dead and that did not end by itself is removed by the next trainer."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    made = engine.containers.create(
        image_name(), ["/bin/sh"], labels={LABEL: f"{boot}:{2**22 - 1}:1"}, network_mode="none"
    )
    try:
        assert remove_orphans() >= 1
        assert not engine.containers.list(all=True, filters={"id": made.id}, ignore_removed=True)
    finally:
        for left in engine.containers.list(all=True, filters={"id": made.id}, ignore_removed=True):
            left.remove(force=True)


def test_a_living_trainers_containers_are_left_alone(box: DockerSandbox, engine: Any) -> None:
    """Two trainings on one machine do not remove each other's."""
    box.run(_print(1))
    before = {container.id for container in _ours(engine)}
    remove_orphans()
    assert {container.id for container in _ours(engine)} == before
    assert box.run(_print(2)).stdout == b"2\n"


def test_it_pickles_by_configuration(engine: Any) -> None:
    """No container starts by pickling."""
    before = len(_ours(engine))
    copy = pickle.loads(pickle.dumps(DockerSandbox(workers=3, recycle_after=7, runtime=None)))
    assert (copy.workers, copy.recycle_after) == (3, 7)
    assert len(_ours(engine)) == before


def test_nothing_is_left_after_many_programs(box: DockerSandbox) -> None:
    """Descriptors of the trainer, processes and files of the container."""
    calls = [Call("solve", (2,))]
    dirty = Program.python(
        "import os\nopen('/tmp/a', 'w')\nif os.fork() == 0:\n    os.setsid()\n    import time; time.sleep(60)"
    )

    def round_of(count: int) -> None:
        for _ in range(count):
            box.run(dirty)
            box.call(RIGHT, calls)

    round_of(3)
    descriptors = len(os.listdir("/proc/self/fd"))
    round_of(40)
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert processes_left(box) == []
    assert (
        box.run(Program.python("import os\nprint(os.listdir('/tmp'), os.listdir('/dev/shm'))")).stdout
        == b"['main.py'] []\n"
    )


@pytest.mark.slow
def test_an_engine_killed_in_mid_batch_is_an_error_and_the_pool_recovers() -> None:
    """SIGKILL of dockerd (one of our own): running rows end as they would or as sandbox errors, none as a wrong answer;
    with the engine back the same sandbox works."""
    _engine().close()
    if os.geteuid() != 0 or shutil.which("dockerd") is None:
        pytest.skip("starting an engine of our own needs root and dockerd")
    folder = Path(tempfile.mkdtemp(prefix="engine-"))
    address = f"unix://{folder}/d.sock"

    def start() -> subprocess.Popen[bytes]:
        words = ["dockerd", "--iptables=false", "--ip6tables=false", "--bridge=none", "-H", address]
        words += ["--data-root", f"{folder}/root", "--exec-root", f"{folder}/exec", "--pidfile", f"{folder}/pid"]
        end = time.monotonic() + 120
        while time.monotonic() < end:  # as a service manager does: after a crash the first start may give up
            (folder / "pid").unlink(missing_ok=True)
            engine = subprocess.Popen(
                words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
            )
            while engine.poll() is None and time.monotonic() < end:
                try:
                    connect(address).close()
                    return engine
                except SandboxError:
                    time.sleep(0.5)
            engine.kill()
            engine.wait()
        pytest.skip("a second engine does not start on this machine")

    engine = start()
    sandbox = DockerSandbox(workers=2, base_url=address, packages=())
    try:
        build_image(base_url=address, packages=())
        assert sandbox.run(_print(0)).stdout == b"0\n"
        programs = [Program.python(f"import time; time.sleep(0.05); print({index})") for index in range(30)]

        def kill_engine() -> None:
            os.kill(engine.pid, signal.SIGKILL)
            os.kill(int((folder / "exec/containerd/containerd.pid").read_text()), signal.SIGKILL)

        killer = threading.Timer(0.3, kill_engine)
        killer.start()
        runs = sandbox.run_many(programs)
        killer.join()
        engine.wait()
        for index, run in enumerate(runs):
            assert run.exit is Exit.SANDBOX_ERROR or run.stdout == b"%d\n" % index
        lost = sandbox.run_many(programs[:4])
        assert all(run.exit in (Exit.OK, Exit.SANDBOX_ERROR) for run in lost)
        engine = start()
        assert [run.stdout for run in sandbox.run_many(programs[:4])] == [b"0\n", b"1\n", b"2\n", b"3\n"]
    finally:
        sandbox.close()
        engine.terminate()
        engine.wait(60)
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if str(folder).encode() in process.read_bytes():  # shims of the engine that was killed
                    os.kill(int(process.parent.name), signal.SIGKILL)
            except OSError:
                continue
        for mount in sorted(Path("/proc/self/mounts").read_text().split(), reverse=True):
            if mount.startswith(str(folder)):
                subprocess.run(["umount", mount], capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)
