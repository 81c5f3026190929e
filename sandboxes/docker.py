"""`docker`: programs in hardened containers of a real engine, kept warm, with the same zygote inside.

*Stops*: everything that the container's walls stop (no network, read-only root, all capabilities dropped, no new
privileges, an unprivileged user of its own, memory and pids limits, tmpfs, Docker's default seccomp profile), and on
top of it what the zygote's walls inside stop: Landlock where the kernel has it, our seccomp list (Docker's default
profile lets ptrace and io_uring through), rlimits, one program at a time, every process killed and the scratch space
wiped after each. A container is thrown away after any breach of a limit and after `recycle_after` programs.

*Does not stop*: a hole in the kernel, which is shared, unless `runtime="runsc"` (gVisor) is installed and asked for;
who controls the Docker socket is root on the machine: programs never see it, but the trainer holds it.

Two-box judging takes two containers, so a solution and its tests never share one.
"""

from __future__ import annotations

import functools
import hashlib
import io
import json
import os
import py_compile
import random
import shutil
import socket
import struct
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from sandboxes.contract import MIB, Execution, Exit, Limits, SandboxError, Wall
from sandboxes.pooled import PooledSandbox
from sandboxes.zygote import client
from sandboxes.zygote.client import BOOT, CLEAN_ENVIRONMENT, MARK, START_SECONDS, Pool, Zygote, mark

REPOSITORY: Final = "grpo-rewards-sandbox"
LABEL: Final = "grpo-rewards.sandbox"
"""On every container: the process that owns it. On every image: how its zygote is started."""
SOCKET_FOLDER: Final = "/sandbox-socket"
SHELL_TOOLS: Final = ("sh", "bash", "cat", "echo", "env", "false", "ls", "sleep", "sort", "true")
_LEFT_OUT: Final = ("site-packages", "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3")
_PACKAGE: Final = Path(__file__).resolve().parent
_IMAGE_ROOT: Final = "/opt/sandbox"

DOCKERFILE: Final = """\
ARG BASE=python:3.12-slim
FROM ${BASE}
RUN python3 -m pip install --no-cache-dir pytest
"""
"""What `build_image(base=...)` builds, for machines with a registry. A Dockerfile of your own needs a `python3` of 3.11
or later; tool chains for other languages go there. The zygote's code and the label are added to either."""


def _sdk() -> Any:
    try:
        import docker
    except ImportError:
        raise SandboxError("the docker backend needs the docker SDK: pip install 'grpo-rewards[docker]'") from None
    return docker


def connect(base_url: str | None = None) -> Any:
    """A client of the engine.

    Raises:
        SandboxError: no SDK, no engine, no right to talk to it.
    """
    docker = _sdk()
    try:
        found = docker.DockerClient(base_url=base_url) if base_url else docker.from_env()
        found.ping()
    except (docker.errors.DockerException, OSError) as error:
        raise SandboxError(
            f"no Docker engine answers ({str(error)[:200]}). Remedy: start dockerd, set DOCKER_HOST, or add this user"
            " to the docker group; without Docker use the local backend"
        ) from None
    return found


# --- the image --------------------------------------------------------------------------------------------------------


@functools.cache
def package_digest() -> str:
    """A digest of the code that runs inside, so that an image and its client always match."""
    digest = hashlib.sha256()
    for path in sorted([_PACKAGE / "plain_data.py", _PACKAGE / "contract.py", *(_PACKAGE / "zygote").glob("*.py")]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


DEFAULT_PACKAGES: Final = ("pytest",)


def image_name(packages: Sequence[str] = DEFAULT_PACKAGES) -> str:
    """The name of the image that `build_image(packages=packages)` makes from this machine's Python.

    It says which code, which Python and which packages are inside, so that two users of one engine with different
    settings have two images.
    """
    import importlib.metadata

    inside = [sys.version, sys.base_prefix, sysconfig.get_path("purelib")]
    for name in sorted(set(packages)):
        try:
            inside.append(f"{name}=={importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            inside.append(name)  # `build_image` says that it is missing
    digest = hashlib.sha256("\0".join(inside).encode()).hexdigest()[:8]
    return f"{REPOSITORY}:py{sys.version_info[0]}.{sys.version_info[1]}-{package_digest()}-{digest}"


def build_image(
    tag: str | None = None,
    *,
    packages: Sequence[str] = DEFAULT_PACKAGES,
    base: str | None = None,
    dockerfile: str | Path | None = None,
    base_url: str | None = None,
) -> str:
    """Makes the image that the docker backend runs, and returns its name.

    Without `base` and `dockerfile` it is made from the running machine's Python alone (`FROM scratch`, no registry, no
    network): the interpreter, its standard library, the shared libraries they load, a shell, and `packages` that are
    installed here.
    With `base` it is built by Docker from `DOCKERFILE` on that image, with `dockerfile` from that file.

    Raises:
        SandboxError: no engine, a package that is not installed, a Dockerfile that cannot be read, a failed build.
    """
    engine = connect(base_url)
    tag = tag or image_name(packages)
    if base is not None or dockerfile is not None:
        return _build_from_dockerfile(engine, tag, base, dockerfile)
    from sandboxes.zygote.client import interpreter_paths

    executable, _, _ = interpreter_paths(packages=False)
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        site = _fill_image(tar, executable, packages)
    settings = {"python": executable, "root": _IMAGE_ROOT, "import_path": [site] if packages else []}
    changes = [f"LABEL {LABEL}={json.dumps(json.dumps(settings))}"]
    repository, _, version = tag.partition(":")
    docker = _sdk()
    try:
        answer = engine.api.import_image_from_data(
            archive.getvalue(), repository=repository, tag=version or "latest", changes=changes
        )
    except docker.errors.DockerException as error:
        raise SandboxError(f"docker import refused the image: {str(error)[-300:]}") from None
    if "error" in str(answer).lower():
        raise SandboxError(f"docker import refused the image: {str(answer)[:300]}")
    return tag


def _build_from_dockerfile(engine: Any, tag: str, base: str | None, dockerfile: str | Path | None) -> str:
    docker = _sdk()
    text = DOCKERFILE
    if dockerfile is not None:
        try:
            text = Path(dockerfile).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise SandboxError(f"cannot read the Dockerfile {str(dockerfile)!r}: {error}") from None
    settings = {"python": "python3", "root": _IMAGE_ROOT, "import_path": [], "site": True}
    text = (
        f"{text.rstrip()}\nCOPY sandboxes {_IMAGE_ROOT}/sandboxes\nLABEL {LABEL}={json.dumps(json.dumps(settings))}\n"
    )
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as tar:
        _add_bytes(tar, "Dockerfile", text.encode())
        _add_package(tar, "sandboxes")
    context.seek(0)
    arguments = {} if base is None else {"BASE": base}
    try:
        engine.images.build(fileobj=context, custom_context=True, tag=tag, buildargs=arguments, rm=True)
    except (docker.errors.DockerException, TypeError) as error:
        raise SandboxError(f"docker build of {tag} failed: {str(error)[:300]}") from None
    return tag


def _add_bytes(tar: tarfile.TarFile, name: str, content: bytes, mode: int = 0o644) -> None:
    entry = tarfile.TarInfo(name.lstrip("/"))
    entry.size, entry.mode = len(content), mode
    tar.addfile(entry, io.BytesIO(content))


def _add_folder(tar: tarfile.TarFile, name: str, mode: int = 0o755) -> None:
    entry = tarfile.TarInfo(name.strip("/"))
    entry.type, entry.mode = tarfile.DIRTYPE, mode
    tar.addfile(entry)


def _add_package(tar: tarfile.TarFile, where: str) -> None:
    # The hostile catalogue is data, and some of it no Python at all.
    sources = sorted(path for path in _PACKAGE.rglob("*.py") if "hostile" not in path.relative_to(_PACKAGE).parts)
    folders = sorted({path.parent for path in sources})
    for folder in folders:
        _add_folder(tar, f"{where}/{folder.relative_to(_PACKAGE)}".removesuffix("/."))
    for path in sources:
        _add_bytes(tar, f"{where}/{path.relative_to(_PACKAGE)}", path.read_bytes())
    for folder in folders:
        _add_folder(tar, f"{where}/{folder.relative_to(_PACKAGE)}/__pycache__".replace("/./", "/"))
    with tempfile.TemporaryDirectory() as made:
        # the image is read-only, so what is not compiled now is compiled at every start
        for number, path in enumerate(sources):
            compiled = py_compile.compile(
                str(path),
                f"{made}/{number}",
                dfile=f"{where}/{path.relative_to(_PACKAGE)}",
                doraise=True,
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )
            place = (
                path.parent.relative_to(_PACKAGE) / "__pycache__" / f"{path.stem}.{sys.implementation.cache_tag}.pyc"
            )
            _add_bytes(tar, f"{where}/{place}", Path(str(compiled)).read_bytes())


class _Image:
    """Collects files for an image, each once, with the folders above them."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self.tar = tar
        self.have: set[str] = set()

    def folders(self, path: str) -> None:
        """Adds the folders above `path`; one that is a link here is a link there, and what it leads to is added."""
        parts = path.strip("/").split("/")[:-1]
        for end in range(1, len(parts) + 1):
            folder = "/" + "/".join(parts[:end])
            if os.path.islink(folder):
                if folder not in self.have:
                    self.have.add(folder)
                    self.link(folder, os.readlink(folder))
                self.folders("/".join([os.path.realpath(folder), *parts[end:], "x"]))
                return
            if folder not in self.have:
                self.have.add(folder)
                _add_folder(self.tar, folder)

    def link(self, path: str, target: str) -> None:
        entry = tarfile.TarInfo(path.lstrip("/"))
        entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, target, 0o777
        self.tar.addfile(entry)

    def file(self, path: str) -> None:
        """Adds a file of this machine at its own path, through any links on the way."""
        path = os.path.normpath(path)
        self.folders(path)
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        if path in self.have:
            return
        self.have.add(path)
        self.folders(path)
        if os.path.islink(path):
            target = os.readlink(path)
            self.link(path, target)
            self.file(os.path.normpath(os.path.join(os.path.dirname(path), target)))
            return
        entry = self.tar.gettarinfo(path, arcname=path.lstrip("/"))
        entry.mode |= 0o444
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        if entry.islnk():  # a hard link to a file that came before: carry the content
            entry.type, entry.size = tarfile.REGTYPE, os.path.getsize(path)
        with open(path, "rb") as content:
            self.tar.addfile(entry, content)

    def tree(self, root: str, left_out: Iterable[str] = ()) -> list[str]:
        """Adds a folder. Returns the shared libraries in it."""
        found = []
        omitted = set(left_out)
        for folder, names, files in os.walk(root):
            names[:] = sorted(name for name in names if name not in omitted)
            for name in sorted(files):
                path = os.path.join(folder, name)
                if not os.path.exists(path) or name.endswith((".a", ".exe")):
                    continue
                self.file(path)
                if ".so" in name:
                    found.append(path)
        return found


def shared_libraries(paths: Sequence[str]) -> list[str]:
    """Every shared library that these binaries load, as the dynamic linker of this machine finds it."""
    found: set[str] = set()
    for start in range(0, len(paths), 50):
        answer = subprocess.run(["ldd", *paths[start : start + 50]], capture_output=True, text=True, check=False)
        for line in answer.stdout.splitlines():
            for word in line.split():
                if word.startswith("/") and os.path.exists(word.rstrip(":")) and not line.endswith(":"):
                    found.add(word)
    return sorted(found)


def _fill_image(tar: tarfile.TarFile, executable: str, packages: Sequence[str]) -> str:
    image = _Image(tar)
    for folder in ("/dev", "/proc", "/sys", "/etc", "/dev/shm", SOCKET_FOLDER):
        image.folders(folder + "/x")
    _add_folder(tar, "/tmp", 0o1777)  # the runtime gives the tmpfs there the mode of the image's folder
    image.have.add("/tmp")
    _add_bytes(tar, "/etc/passwd", b"root:x:0:0::/tmp:/bin/sh\nnobody:x:65534:65534::/tmp:/bin/sh\n")
    _add_bytes(tar, "/etc/group", b"root:x:0:\nnogroup:x:65534:\n")
    binaries = [executable]
    image.file(executable)
    for key in ("stdlib", "platstdlib"):
        binaries += image.tree(sysconfig.get_path(key), _LEFT_OUT)
    for tool in SHELL_TOOLS:
        path = shutil.which(tool, path="/usr/bin:/bin")
        if path is not None:
            image.file(path)
            binaries.append(os.path.realpath(path))
            if path.startswith("/usr/bin/") and not os.path.islink("/bin"):
                continue
            image.folders("/bin/x")
    site = sysconfig.get_path("purelib")
    for path in _package_files(packages):
        image.file(path)
        if ".so" in os.path.basename(path):
            binaries.append(path)
    for library in shared_libraries(binaries):
        image.file(library)
    _add_folder(tar, _IMAGE_ROOT)
    _add_package(tar, f"{_IMAGE_ROOT}/sandboxes")
    return site


def _package_files(packages: Sequence[str]) -> list[str]:
    """Files of installed distributions and of what they require."""
    import importlib.metadata
    import re

    todo, seen, files = list(packages), set[str](), []
    while todo:
        name = re.split(r"[\s;<>=!~\[(]", todo.pop(), maxsplit=1)[0]
        key = name.lower().replace("_", "-")
        if key in seen:
            continue
        seen.add(key)
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            if name in packages:
                raise SandboxError(f"package {name!r} is not installed here: pip install {name}") from None
            continue
        todo += [text for text in distribution.requires or () if "extra ==" not in text]
        for path in distribution.files or ():
            located = str(path.locate())
            if "__pycache__" not in located and os.path.isfile(located) and ".." not in path.parts:
                files.append(os.path.normpath(located))
    return files


# --- containers -------------------------------------------------------------------------------------------------------


def _owner() -> str:
    """This process as a container's label: machine boot, process id, its start time (ids are used again)."""
    boot = ""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}:{os.getpid()}:{_start_time(os.getpid())}"


def _start_time(pid: int) -> str:
    with suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19].decode()
    return "?"


def _owner_is_dead(label: str) -> bool:
    boot, pid, started = [*label.split(":"), "", "", ""][:3]
    mine = _owner().split(":")[0]
    if not boot or not mine or not pid.isdigit():
        return False  # cannot be told on this system
    return boot != mine or _start_time(int(pid)) != started


def remove_orphans(base_url: str | None = None) -> int:
    """Removes containers whose trainer is dead. Returns how many."""
    engine = connect(base_url)
    docker = _sdk()
    removed = 0
    for container in engine.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True):
        if _owner_is_dead(container.labels.get(LABEL, "")):
            with suppress(docker.errors.DockerException):
                container.remove(force=True)
                removed += 1
    return removed


class DockerSandbox(PooledSandbox):
    """A pool of warm containers.

    Args:
        workers: containers at once (two-box judging takes a second one per worker).
        image: by default the one that `build_image(packages=packages)` makes.
        packages: what programs may import besides the standard library.
        runtime: container runtime, such as "runsc" for gVisor; None leaves it to the engine.
        memory_bytes: memory of one container; `Limits.memory_bytes` of a program may not be above three quarters of it.
        recycle_after: programs after which a container is replaced.
        warm: modules imported once in each zygote.
        base_url: the engine's address; None takes DOCKER_HOST or the usual socket.

    Raises:
        SandboxError: at first use: no SDK, engine or image, with the remedy.
    """

    name = "docker"
    unit = "container"

    def __init__(
        self,
        *,
        workers: int = 2,
        image: str | None = None,
        packages: Sequence[str] = DEFAULT_PACKAGES,
        runtime: str | None = None,
        memory_bytes: int = 1536 * MIB,
        recycle_after: int = 2000,
        warm: Sequence[str] = (),
        base_url: str | None = None,
    ) -> None:
        if workers < 1 or recycle_after < 1:
            raise SandboxError(f"workers={workers}, recycle_after={recycle_after}; allowed: at least 1")
        self.image, self.runtime, self.memory_bytes = image or image_name(packages), runtime, memory_bytes
        self.recycle_after, self.warm, self.base_url = recycle_after, tuple(warm), base_url
        super().__init__(
            {
                "workers": workers,
                "image": image,
                "packages": tuple(packages),
                "runtime": runtime,
                "memory_bytes": memory_bytes,
                "recycle_after": recycle_after,
                "warm": self.warm,
                "base_url": base_url,
            }
        )

    def _reset(self) -> None:
        super()._reset()
        self._engine: Any = None
        self._start_settings: dict[str, Any] = {}
        self._removals: list[threading.Thread] = []

    # -- starting

    def _prepare(self) -> None:
        docker = _sdk()
        self._engine = connect(self.base_url)
        try:
            labels = self._engine.images.get(self.image).labels
        except docker.errors.ImageNotFound:
            raise SandboxError(
                f"no image {self.image!r} on this engine. Remedy: run `rewards sandbox build-image` (no registry)"
            ) from None
        except docker.errors.DockerException as error:
            raise SandboxError(f"the Docker engine cannot be asked for {self.image!r}: {str(error)[:200]}") from None
        if LABEL not in labels:
            raise SandboxError(f"image {self.image!r} was not made by `rewards sandbox build-image` (no label {LABEL})")
        self._start_settings = json.loads(labels[LABEL])
        remove_orphans(self.base_url)

    def _open(self) -> Pool:
        self._prepare()
        self._tier_found = "docker"
        return Pool(self.workers, self._start, pair=True, recycle_after=self.recycle_after)

    def _start(self) -> Zygote:
        """Starts one container and shakes hands with its zygote."""
        docker = _sdk()
        folder = tempfile.mkdtemp(prefix="sandbox-")
        os.chmod(folder, 0o755)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        container: Any = None
        try:
            path = os.path.join(folder, "control")
            listener.bind(path)
            os.chmod(path, 0o666)
            listener.listen(1)
            # a user id of its own: the kernel counts processes per user, and two containers must not share a count
            uid = random.SystemRandom().randrange(200_000, 2_000_000_000)
            try:
                container = self._create(folder, uid)
                container.start()
            except (docker.errors.DockerException, OSError) as error:
                raise SandboxError(f"a container could not be started: {str(error)[:300]}") from None
            control = self._accept(listener, container, uid)
        except BaseException:
            if container is not None:
                self._remove(container)
            raise
        finally:
            listener.close()
            shutil.rmtree(folder, ignore_errors=True)
        zygote = Zygote(control, "docker")
        zygote.on_close = lambda: self._remove_later(container)
        try:
            zygote.shake_hands()
        except BaseException:
            zygote.close()
            raise
        return zygote

    def _create(self, folder: str, uid: int) -> Any:
        from docker.types import LogConfig

        start = self._start_settings
        options = {
            "walls": "container",
            "read_only": [start["root"], *start["import_path"], os.path.dirname(start["python"]), "/opt", "/root"],
            "import_path": start["import_path"],
            "warm": [*client.WARM_MODULES, *self.warm],
        }
        options["read_only"] = [path for path in options["read_only"] if path]
        flags = ["-s", "-P", "-B"] if start.get("site") else ["-S", "-s", "-P", "-B"]
        command = [start["python"], *flags, "-c", BOOT, f"{SOCKET_FOLDER}/control", json.dumps(options), start["root"]]
        environment = {**CLEAN_ENVIRONMENT, MARK: mark()}
        scratch = "rw,exec,nosuid,nodev,size=256m,nr_inodes=65536,mode=1777"
        return self._engine.containers.create(
            self.image,
            command,
            detach=True,
            auto_remove=True,
            network_mode="none",
            read_only=True,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            pids_limit=256,
            mem_limit=self.memory_bytes,
            memswap_limit=self.memory_bytes,
            user=f"{uid}:{uid}",
            tmpfs={"/tmp": scratch},
            shm_size="64m",
            volumes={folder: {"bind": SOCKET_FOLDER, "mode": "ro"}},
            labels={LABEL: _owner()},
            environment=environment,
            working_dir="/",
            hostname="sandbox",
            log_config=LogConfig(type="none"),
            stdin_open=False,
            runtime=self.runtime,
        )

    def _accept(self, listener: socket.socket, container: Any, uid: int) -> socket.socket:
        listener.settimeout(0.25)
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                control, _ = listener.accept()
            except TimeoutError:
                if time.monotonic() > end or not self._is_running(container):
                    raise SandboxError(
                        f"the zygote in a container of {self.image!r} did not connect within {START_SECONDS:.0f} s:"
                        " the engine has to be on this machine (a unix socket is mounted into the container)"
                    ) from None
                continue
            if sys.platform == "linux":
                # any user of this machine may connect to the socket while it is there: only ours may stay
                credentials = control.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
                if struct.unpack("3i", credentials)[1] != uid:
                    control.close()
                    continue
            control.settimeout(None)
            return control

    @staticmethod
    def _is_running(container: Any) -> bool:
        try:
            container.reload()
        except Exception:  # auto-removed: it has ended
            return False
        return bool(container.status in ("created", "running"))

    @staticmethod
    def _remove(container: Any) -> None:
        docker = _sdk()
        with suppress(docker.errors.DockerException, OSError):
            container.remove(force=True)

    def _remove_later(self, container: Any) -> None:
        """The engine takes its time to remove a container; nobody need wait for it but `close`."""
        thread = threading.Thread(target=self._remove, args=(container,), daemon=True)
        thread.start()
        self._removals = [other for other in self._removals if other.is_alive()] + [thread]

    def _check(self, limits: Limits) -> None:
        most = self.memory_bytes * 3 // 4
        if limits.memory_bytes > most:
            raise SandboxError(
                f"Limits.memory_bytes is {limits.memory_bytes}, a container of {self.memory_bytes} allows {most}:"
                f" use DockerSandbox(memory_bytes={limits.memory_bytes * 3 // 2})"
            )

    def _ended(self, zygote: Zygote, execution: Execution) -> None:
        if execution.exit not in (Exit.OK, Exit.NONZERO, Exit.COMPILE_ERROR):
            zygote.breached = True

    def walls(self) -> list[Wall]:
        try:
            engine = connect(self.base_url)
        except SandboxError as error:
            return [Wall(name="docker", stands=False, detail=str(error))]
        facts = engine.info()
        rows = [
            Wall(
                name="docker",
                stands=True,
                detail=f"engine {facts.get('ServerVersion')}, kernel {facts.get('KernelVersion')}",
            )
        ]
        names = {image_tag for image in engine.images.list(name=REPOSITORY) for image_tag in image.tags}
        there = self.image in names
        remedy = self.image if there else f"{self.image} is missing: run `rewards sandbox build-image`"
        rows.append(Wall(name="image", stands=there, detail=remedy))
        default_seccomp = any("seccomp" in option for option in facts.get("SecurityOptions") or ())
        rows.append(
            Wall(name="seccomp", stands=default_seccomp, detail="the engine's default profile, and ours inside")
        )
        runtimes = facts.get("Runtimes") or {}
        detail = "gVisor: a kernel of its own; ask for it with runtime='runsc'"
        rows.append(Wall(name="runsc", stands="runsc" in runtimes, detail=detail))
        return rows

    def close(self) -> None:
        super().close()
        for thread in self._removals:
            thread.join(30)
        if self._engine is not None:
            self._engine.close()
