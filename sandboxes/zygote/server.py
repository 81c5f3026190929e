"""The zygote: builds the walls once, forks one box per program, enforces the limits.

It is started by `client.Zygote` with a control socket and options in JSON. A message is one line of JSON and up to a
few descriptors: `{"op": "start", "id", "mode", "limits", ...}` with stdin, stdout, stderr, the job, and the mode's own
pipes, or `{"op": "kill", "id", "why"}`. For every box that ends one report goes back. Programs, tests and secrets never
enter this process's memory: they are in the descriptors, which only the box reads.

Walls, by option `walls`:

- `namespaces`: own user, pid, mount, network, ipc and uts namespace; the root is a read-only view of Python and the
  system's libraries; per box a fresh pid namespace, mount namespace with a private tmpfs and /proc, user namespace.
- `landlock`: no namespaces. One scratch directory per box, Landlock, seccomp that forbids new processes.
- `container`: PID 1 of a container. One box at a time; afterwards every process but this one is killed and the
  scratch space wiped. Landlock where the kernel has it.
- `rlimits`: resource limits only.
"""

from __future__ import annotations

import _socket
import errno
import fcntl
import gc
import json
import math
import os
import resource
import select
import signal
import stat
import struct
import sys
import time
from typing import Any, Final

from sandboxes.zygote import box, kernel

TICK_SECONDS: Final = 0.05
"""How often a box that is still running has its memory, CPU and scratch space summed."""
PAGE: Final = resource.getpagesize()
CLOCK_TICKS: Final = os.sysconf("SC_CLK_TCK")
STACK_BYTES: Final = 120 << 20
"""Main stack of a box: deep recursion of honest programs. Below the 128 MiB gap that the kernel keeps for it."""
ADDRESS_SLACK_BYTES: Final = 1 << 30
"""Address space above the memory limit: thread stacks and allocator arenas reserve without using. What is used is
summed every tick and checked again at the end."""
REAL_TIME_FACTOR: Final = 20
"""Wall limits leave out the time a program was ready but the machine was busy, up to this factor."""
MOUNTABLE: Final = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin")
ETC_FILES: Final = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/mime.types")
DEVICES: Final = ("null", "zero", "full", "random", "urandom")
PRIVATE_FOLDERS: Final = ("/tmp/", "/var/tmp/", "/dev/", "/proc/")
MOVED: Final = "/moved"
UNPRIVILEGED: Final = 65534
_NANOSECONDS: Final = 1_000_000_000


class Refused(OSError):
    """A wall that cannot be built here."""


def _refused(what: str, error: OSError) -> Refused:
    return Refused(error.errno, f"{what}: {error.strerror or error}")


# --- the root of the namespaces tier ----------------------------------------------------------------------------------


def _bind(new: str, path: str) -> None:
    target = new + path
    if os.path.isdir(path):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w"):
            pass
    kernel.mount(path, target, None, kernel.MS_BIND | kernel.MS_REC)


def _build_root(read_only: list[str]) -> dict[str, str]:
    """A tmpfs with bind mounts of what programs may read becomes /, read-only, and the old root is gone.

    Returns where a tree stands now that lay in a folder which boxes have to themselves (a virtual environment in /tmp).
    """
    kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    new = "/tmp"
    moved = {path: f"{MOVED}/{number}" for number, path in enumerate(read_only) if path.startswith(PRIVATE_FOLDERS)}
    # below /tmp it would vanish under the new root: hold it by descriptor
    held = {path: os.open(path, os.O_PATH) for path in moved if os.path.isdir(path)}
    kernel.mount("tmpfs", new, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "size=4m,mode=755")
    for folder in ("etc", "proc", "dev", "tmp", "var", "root"):
        os.mkdir(f"{new}/{folder}", 0o755)
    for path in MOUNTABLE:
        if os.path.islink(path):
            os.symlink(os.readlink(path), new + path)
        elif os.path.isdir(path):
            _bind(new, path)
    for path in ETC_FILES:
        if os.path.exists(path):
            _bind(new, path)
    for path in read_only:
        if path not in moved and not os.path.lexists(new + path) and os.path.exists(path):
            _bind(new, path)
    for path, handle in held.items():
        os.makedirs(new + moved[path], exist_ok=True)
        kernel.mount(f"/proc/self/fd/{handle}", new + moved[path], None, kernel.MS_BIND | kernel.MS_REC)
        os.close(handle)
    for name in DEVICES:
        _bind(new, f"/dev/{name}")
    links = {"dev/shm": "/tmp", "var/tmp": "/tmp", "dev/fd": "/proc/self/fd"}
    links |= {f"dev/{name}": f"/proc/self/fd/{number}" for number, name in enumerate(("stdin", "stdout", "stderr"))}
    for name, target in links.items():
        os.symlink(target, f"{new}/{name}")
    with open(f"{new}/etc/passwd", "w") as file:
        file.write(f"root:x:0:0::/tmp:/bin/sh\nnobody:x:{UNPRIVILEGED}:{UNPRIVILEGED}::/tmp:/bin/sh\n")
    with open(f"{new}/etc/group", "w") as file:
        file.write(f"root:x:0:\nnogroup:x:{UNPRIVILEGED}:\n")
    with open(f"{new}/etc/hosts", "w") as file:
        file.write("127.0.0.1 localhost\n")
    kernel.make_read_only(new)
    # a later /proc of our own is only granted where a whole one is already in view (fs/namespace.c)
    kernel.mount("/proc", f"{new}/proc", None, kernel.MS_BIND | kernel.MS_REC)
    os.chdir(new)
    kernel.pivot_root(".", ".")  # the old root lies over the new one, at the same place, until it is taken off
    kernel.unmount(".")
    os.chdir("/")
    return moved


def _follow(moved: dict[str, str], path: str) -> str:
    """`path` where it stands now."""
    for old in sorted(moved, key=len, reverse=True):
        if path == old or path.startswith(old + "/"):
            return moved[old] + path[len(old) :]
    return path


def _map_to_root(process: int, uid: int, gid: int) -> None:
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        handle = os.open(name, os.O_WRONLY, dir_fd=process)
        os.write(handle, text.encode())
        os.close(handle)


def _enter_namespaces(options: dict[str, Any]) -> bool:
    """Puts this process (in fact a child of it, as PID 1) behind the walls. Returns whether /proc is our own.

    As root the walls are built first and then root is given up for good: a box must not run as uid 0 of the host, whose
    process limit the kernel does not enforce and whose files under /proc/sys it may write.
    """
    process = os.open("/proc/self", os.O_RDONLY | os.O_DIRECTORY)
    private = kernel.NEWNS | kernel.NEWNET | kernel.NEWIPC | kernel.NEWUTS
    uid, gid = os.getuid(), os.getgid()
    try:
        if uid == 0:
            kernel.unshare(private)
            moved = _build_root(options["read_only"])
            uid = gid = UNPRIVILEGED
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
            kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
            kernel.unshare(kernel.NEWUSER)
            _map_to_root(process, uid, gid)
        else:
            kernel.unshare(kernel.NEWUSER)
            _map_to_root(process, uid, gid)
            kernel.unshare(private)
            moved = _build_root(options["read_only"])
        kernel.unshare(kernel.NEWNS | kernel.NEWPID)
    except OSError as error:
        raise _refused("namespaces", error) from None
    os.close(process)
    options["import_path"] = [_follow(moved, path) for path in options["import_path"]]
    sys.path[:] = [_follow(moved, path) for path in sys.path]
    sys.executable = _follow(moved, sys.executable)
    sys.path_importer_cache.clear()
    child = os.fork()
    if child:
        kernel.close_from(3)
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
        kernel.mount("proc", "/proc", "proc", flags)
    except OSError:
        return False  # masked paths of a container: then the enclosing /proc is read, and boxes get none
    return True


# --- one box ----------------------------------------------------------------------------------------------------------


class Box:
    """What the zygote knows of a running box."""

    __slots__ = (
        "cpu",
        "deadline",
        "id",
        "killed",
        "last_start",
        "limits",
        "namespace",
        "pid",
        "pidfd",
        "report",
        "scratch",
        "started",
    )

    def __init__(self, number: int, pid: int, report: int, limits: dict[str, Any], scratch: str) -> None:
        self.id, self.pid, self.report, self.limits, self.scratch = number, pid, report, limits, scratch
        self.pidfd = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else -1
        self.started = time.monotonic()
        self.last_start = self.started + REAL_TIME_FACTOR * limits["wall_seconds"]
        self.deadline = self.started + limits["wall_seconds"]
        self.killed = ""
        self.cpu = 0.0
        self.namespace = ""


class Server:
    """Serves one control socket until its other end is closed."""

    def __init__(self, control: _socket.socket, options: dict[str, Any]) -> None:
        self.control = control
        self.walls: str = options["walls"]
        self.own_proc = False
        self.boxes: dict[int, Box] = {}
        self.options = options
        self.poll = select.poll()
        self.filters: dict[tuple[bool, int | None], bytes] = {}
        self.ruleset: int | None = None
        self.removers: set[int] = set()
        self.scratch_root = options.get("scratch_root", "/tmp")

    def prepare(self) -> None:
        """Builds the walls and imports what is kept warm."""
        options = self.options
        if self.walls == "namespaces":
            self.own_proc = _enter_namespaces(options)
        elif self.walls in ("landlock", "container"):
            kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # no ptrace, no /proc/<zygote>/mem for the boxes' user
            if kernel.landlock_version() > 0 and self.walls == "container":
                self.ruleset = self._rules("/tmp")  # the same for every box: made once
            if not kernel.landlock_version() and self.walls == "landlock":
                raise Refused(38, "Landlock: the kernel has none (it needs Linux 5.13 with CONFIG_SECURITY_LANDLOCK)")
            self.own_proc = self.walls == "container"
        if self.walls != "rlimits":
            try:
                self.filters = {(allowed, None): self._filter(allowed, None) for allowed in (True, False)}
            except OSError as error:
                raise _refused("seccomp", error) from None
        self.self_pidfd = os.pidfd_open(os.getpid()) if self.walls == "namespaces" else -1
        sys.path += [path for path in options["import_path"] if path not in sys.path]
        for name in options["warm"]:
            try:
                __import__(name)
            except ImportError:
                continue
        self.user_tasks = _tasks_of_this_user() if self.walls == "rlimits" else 0
        box.prepare()
        # listed here, once: going through sys.modules in each box would copy a page for every name it touches
        self.own_modules = [name for name in sys.modules if name == "sandboxes" or name.startswith("sandboxes.")]
        gc.collect()
        gc.freeze()
        self.address_base, self.resident_base = self._own_memory()

    def _own_memory(self) -> tuple[int, int]:
        try:
            with open("/proc/self/statm") as file:
                pages = file.read().split()
            return int(pages[0]) * PAGE, int(pages[1]) * PAGE
        except (OSError, IndexError, ValueError):
            resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            return 256 << 20, resident * (1 if sys.platform == "darwin" else 1024)

    # -- starting

    def start(self, message: dict[str, Any], descriptors: list[int]) -> None:
        """Forks a box. Any failure to do so is that box's report, never the end of the zygote."""
        number, limits = message["id"], message["limits"]
        report_read, report_write = os.pipe()
        scratch = ""
        try:
            if self.walls in ("landlock", "rlimits"):
                scratch = f"{self.scratch_root}/box-{os.getpid()}-{number}-{os.urandom(6).hex()}"
                os.mkdir(scratch, 0o700)
            elif self.walls == "container":
                scratch = "/tmp"
            if self.walls == "namespaces":
                kernel.enter_pid_namespace_of(self.self_pidfd)  # children of this process belong to our namespace ...
                kernel.unshare(kernel.NEWPID)  # ... and the next fork opens a fresh one below it
            pid = os.fork()
        except OSError as error:
            for descriptor in (*descriptors, report_read, report_write):
                os.close(descriptor)
            if scratch and self.walls != "container":
                os.rmdir(scratch)
            self._send({"id": number, "setup": f"a box could not be started: {error}", "status": 0})
            return
        if pid == 0:
            self._become_box(message, [*descriptors, report_write], scratch)
        for descriptor in (*descriptors, report_write):
            os.close(descriptor)
        running = Box(number, pid, report_read, limits, scratch)
        self.boxes[running.pidfd if running.pidfd >= 0 else -pid] = running
        if running.pidfd >= 0:
            self.poll.register(running.pidfd, select.POLLIN)

    def _become_box(self, message: dict[str, Any], descriptors: list[int], scratch: str) -> None:
        """Runs in the child: walls, then the program. Never returns."""
        try:
            namespace = self._wall_in(message, scratch, descriptors)
            for name in self.own_modules:
                del sys.modules[name]
            os.write(descriptors[-1], b"R" + namespace.encode())
            os.close(descriptors[-1])
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
            os.write(descriptors[-1], text.encode()[:2000])
            os._exit(125)
        box.main(message["mode"])
        os._exit(0)

    def _wall_in(self, message: dict[str, Any], scratch: str, descriptors: list[int]) -> str:
        """Every wall around this process, strongest last. Returns the name of its pid namespace."""
        limits = message["limits"]
        namespace = ""
        allow_fork = True
        if self.walls == "namespaces":
            namespace = os.readlink("/proc/self/ns/pid")
            kernel.unshare(kernel.NEWNS)
            inodes = max(64, limits["disk_bytes"] // 4096)
            options = f"size={limits['disk_bytes']},nr_inodes={inodes},mode=1777"
            kernel.mount("tmpfs", "/tmp", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)
            flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
            if self.own_proc:
                kernel.mount("proc", "/proc", "proc", flags, "subset=pid")
            else:
                kernel.mount("tmpfs", "/proc", "tmpfs", flags | kernel.MS_RDONLY, "size=4k,mode=555")
            os.chdir("/tmp")
        elif scratch:
            os.chdir(scratch)
            os.environ["HOME"] = os.environ["TMPDIR"] = scratch
        if self.ruleset is not None:
            kernel.landlock_enter(self.ruleset)
        # to high numbers first, so that no target overwrites a source
        high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 64) for descriptor in descriptors]
        for target, source in enumerate(high):
            os.dup2(source, target, inheritable=target < 3)
        # the report's old number is about to be closed; from here on it is the last target
        descriptors[-1] = len(descriptors) - 1
        kernel.close_from(len(descriptors))
        os.setsid()
        self._set_limits(message)
        if self.walls == "namespaces":
            kernel.unshare(kernel.NEWUSER)  # a process count of its own, no rights over the zygote's namespaces
        if self.walls != "rlimits":
            kernel.drop_capabilities()
        if self.walls == "landlock":
            kernel.landlock_enter(self._rules(scratch))
        count = limits["processes"]
        if self.walls in ("namespaces", "container"):
            resource.setrlimit(resource.RLIMIT_NPROC, self._lower(resource.RLIMIT_NPROC, count))
        elif self.walls == "rlimits" and self.user_tasks:
            # the kernel counts all that the user runs on this machine, the trainer's threads included
            resource.setrlimit(resource.RLIMIT_NPROC, self._lower(resource.RLIMIT_NPROC, self.user_tasks + count))
        if self.walls == "rlimits":
            return namespace
        own_pid = None
        if self.walls == "landlock":
            allow_fork = message["mode"] == "compile"
            own_pid = None if allow_fork else os.getpid()
        key = (allow_fork and count > 1, own_pid)
        code = self.filters.get(key)
        if code is None:
            code = self._filter(*key)
        kernel.install_seccomp(code)
        return namespace

    def _rules(self, scratch: str) -> int:
        """Landlock's rules for a box with this scratch directory."""
        readable = [*MOUNTABLE, *ETC_FILES, *self.options["read_only"], "/dev/zero", "/dev/urandom", "/dev/random"]
        writable = [scratch]
        if self.walls == "container":
            readable += ["/etc", "/proc"]
            writable.append("/dev/shm")
        return kernel.landlock_ruleset(readable, writable, ["/dev/null"])

    def _filter(self, allow_fork: bool, own_pid: int | None) -> bytes:
        return kernel.seccomp_filter(
            allow_fork=allow_fork,
            own_pid=own_pid,
            spare_others=self.walls == "container",
            allow_unix_sockets=self.walls != "landlock",
            keep_metadata=self.walls != "landlock",
        )

    @staticmethod
    def _lower(kind: int, value: int) -> tuple[int, int]:
        """A limit that is never above the one already in force."""
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        return value, value

    def _set_limits(self, message: dict[str, Any]) -> None:
        limits = message["limits"]
        # the watcher counts exactly and all processes together; the kernel counts by ticks and comes a second later
        seconds = math.ceil(limits["cpu_seconds"]) + (1 if self.walls != "rlimits" else 0)
        values = {
            resource.RLIMIT_CPU: seconds,
            resource.RLIMIT_FSIZE: limits["disk_bytes"],
            resource.RLIMIT_NOFILE: limits["open_files"],
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_STACK: STACK_BYTES,
        }
        if message.get("address_space", True):
            values[resource.RLIMIT_AS] = self.address_base + limits["memory_bytes"] + ADDRESS_SLACK_BYTES
        for kind, value in values.items():
            try:
                resource.setrlimit(kind, self._lower(kind, value))
            except (ValueError, OSError):
                if sys.platform != "darwin":
                    raise
        if hasattr(resource, "RLIMIT_MSGQUEUE"):
            resource.setrlimit(resource.RLIMIT_MSGQUEUE, (0, 0))

    # -- watching

    def _processes(self, running: Box) -> list[int]:
        """Process ids of a box, as this process's /proc numbers them."""
        if self.walls in ("landlock", "rlimits"):
            return [running.pid]
        found = []
        me = os.getpid()
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) == me:
                continue
            if self.walls == "namespaces":
                try:
                    if os.readlink(f"/proc/{name}/ns/pid") != running.namespace:
                        continue
                except OSError:
                    continue
            found.append(int(name))
        return found

    def _watch(self, running: Box, now: float) -> None:
        """Sums CPU, memory and scratch space of a box; kills it over a limit."""
        limits = running.limits
        if not running.namespace and self.walls == "namespaces":
            try:
                ready, _, _ = select.select([running.report], [], [], 0)
                if ready:
                    text = os.read(running.report, 4096)
                    running.namespace = text[1:].decode(errors="replace") if text[:1] == b"R" else ""
                    if not running.namespace:
                        self._remember_setup(running, text)
            except OSError:
                return
        cpu, resident, waiting = 0.0, 0, 0.0
        for pid in self._processes(running):
            try:
                with open(f"/proc/{pid}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
                # utime, stime and those of waited-for children; rss in pages (proc(5), fields 14-17 and 24)
                cpu += sum(int(field) for field in fields[11:15]) / CLOCK_TICKS
                resident += max(0, int(fields[21]) * PAGE - self.resident_base)
            except (OSError, ValueError, IndexError):
                continue
        running.cpu = max(running.cpu, cpu)
        if cpu >= limits["cpu_seconds"]:
            self.kill(running, "cpu_seconds")
        elif resident > limits["memory_bytes"]:
            self.kill(running, "memory_bytes")
        elif running.scratch and self._scratch_bytes(running.scratch) > limits["disk_bytes"]:
            self.kill(running, "disk_bytes")
        elif now >= running.deadline:
            waiting = self._waited(running)
            for other in self.boxes.values():  # the other half of a judgement: one waits while the other works
                if other is not running:
                    waiting += other.cpu + self._waited(other)
            elapsed = now - running.started
            left = min(limits["wall_seconds"] - (elapsed - waiting), running.last_start - now)
            if left > 0.001:
                running.deadline = now + left
            else:
                self.kill(running, "wall_seconds")

    def _scratch_bytes(self, scratch: str) -> int:
        return _tree_bytes(scratch) + (_tree_bytes("/dev/shm") if self.walls == "container" else 0)

    def _waited(self, running: Box) -> float:
        """Seconds in which the box was ready to run but something else had the CPU.

        Of its processes the one that waited most, less what the box itself ran meanwhile: sixteen processes on one
        CPU, each waiting for the others, must not buy themselves a longer wall limit.
        """
        most = 0.0
        for pid in self._processes(running):
            try:
                with open(f"/proc/{pid}/schedstat", "rb") as file:
                    ran, waited, _ = (int(field) / _NANOSECONDS for field in file.read().split())
                most = max(most, waited - max(0.0, running.cpu - ran))
            except (OSError, ValueError):
                continue
        return most

    def kill(self, running: Box, why: str) -> None:
        """SIGKILL of the box's first process, which takes its pid namespace along."""
        if running.killed:
            return
        running.killed = why
        try:
            os.kill(running.pid, signal.SIGKILL)
            if self.walls == "rlimits":
                os.killpg(running.pid, signal.SIGKILL)
            elif self.walls == "container":
                os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def _remember_setup(self, running: Box, text: bytes) -> None:
        running.killed = running.killed or "setup: " + text.decode(errors="replace")

    # -- ending

    def finish(self, key: int) -> None:
        """A box's first process has ended: reap, sweep what is left, report."""
        running = self.boxes.pop(key)
        if running.pidfd >= 0:
            self.poll.unregister(running.pidfd)
            os.close(running.pidfd)
        _, status, usage = os.wait4(running.pid, 0)
        wall = time.monotonic() - running.started
        setup = ""
        if running.killed.startswith("setup: "):
            setup, running.killed = running.killed[7:], ""
        elif not running.namespace:
            text = os.read(running.report, 4096) if select.select([running.report], [], [], 0)[0] else b""
            if text[:1] != b"R":
                setup = text.decode(errors="replace") or "the box ended before its walls stood"
        os.close(running.report)
        if self.walls == "container":
            _sweep(wipe=not running.killed)  # after a breach the whole container is thrown away
        elif self.walls == "rlimits":
            try:
                os.killpg(running.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        if running.scratch and self.walls != "container":
            self.removers.add(_remove_tree(running.scratch))
        scale = 1 if sys.platform == "darwin" else 1024
        self._send(
            {
                "id": running.id,
                "setup": "" if running.killed else setup,
                "killed": running.killed,
                "status": os.waitstatus_to_exitcode(status),
                "cpu": max(usage.ru_utime + usage.ru_stime, running.cpu),
                "peak": usage.ru_maxrss * scale,
                "base": self.resident_base,
                "wall": wall,
            }
        )

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self.control.send(json.dumps(message).encode() + b"\n")
        except OSError:
            os._exit(0)

    def serve(self) -> None:
        """The loop. Returns when the client has closed its end."""
        control = self.control.fileno()
        self.poll.register(control, select.POLLIN)
        next_watch = 0.0
        pending = b""
        while True:
            timeout: float | None = None
            if self.boxes:
                now = time.monotonic()
                timeout = max(0.0, next_watch - now) * 1000 + 1
                if any(running.pidfd < 0 for running in self.boxes.values()):
                    timeout = 2
            events = self.poll.poll(timeout)
            for descriptor, _ in events:
                if descriptor == control:
                    raw, descriptors = _receive(self.control)
                    if not raw:
                        return
                    lines = (pending + raw).split(b"\n")  # a stream socket (macOS) may join or split messages
                    pending = lines.pop()
                    for line in lines:
                        message = json.loads(line)
                        if message["op"] == "start":
                            self.start(message, descriptors)
                        elif message["op"] == "kill":
                            for running in self.boxes.values():
                                if running.id == message["id"]:
                                    self.kill(running, message["why"])
                elif descriptor in self.boxes:
                    self.finish(descriptor)
            for key in [key for key in self.boxes if key < 0]:  # no pidfd on this system: ask
                if os.waitid(os.P_PID, -key, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                    self.finish(key)
            now = time.monotonic()
            if self.boxes and now >= next_watch:
                next_watch = now + TICK_SECONDS
                for running in list(self.boxes.values()):
                    if not running.killed and now - running.started >= TICK_SECONDS:
                        self._watch(running, now)
            self._reap_strays()

    def _reap_strays(self) -> None:
        """As PID 1 this process inherits orphans; boxes themselves are waited for in `finish` only."""
        for pid in [pid for pid in self.removers if pid]:
            if os.waitpid(pid, os.WNOHANG)[0]:
                self.removers.discard(pid)
        if self.boxes or os.getpid() != 1:
            return
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass


_ENDLESS: Final = 1 << 62
_MOST_ENTRIES: Final = 4096
_MOST_DEPTH: Final = 128


def _tree_bytes(root: str) -> int:
    """Bytes below `root`, without following links; a tree of too many entries or too deep counts as endless."""
    total, entries, todo = 0, 0, [(root, 0)]
    while todo:
        folder, depth = todo.pop()
        if depth > _MOST_DEPTH:
            return _ENDLESS
        try:
            with os.scandir(folder) as listing:
                for entry in listing:
                    entries += 1
                    if entries > _MOST_ENTRIES:
                        return _ENDLESS
                    if entry.is_dir(follow_symlinks=False):
                        todo.append((entry.path, depth + 1))
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                return _ENDLESS
            continue
    return total


def _empty_tree(root: str, most_steps: int) -> bool:
    """Deletes everything below `root`, folders without permissions and folders nested without end included.

    Returns False when it took more than `most_steps` and is not done.

    Never recursive and never with a long path: what lies in a folder is moved up beside it, then the folder is empty.
    The programs that made it are dead by now.
    """
    top = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    moved = steps = 0
    try:
        while names := os.listdir(top):
            before = moved
            removed = 0
            for name in names:
                steps += 1
                if steps > most_steps:
                    return False
                try:
                    os.unlink(name, dir_fd=top)
                    removed += 1
                    continue
                except IsADirectoryError:
                    pass
                except OSError as error:
                    if error.errno != errno.EPERM:  # what unlink says of a folder on some systems
                        continue
                try:
                    os.chmod(name, 0o700, dir_fd=top)
                    inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
                except OSError:
                    continue
                try:
                    for child in os.listdir(inner):
                        moved += 1
                        steps += 1
                        try:
                            if stat.S_ISDIR(os.stat(child, dir_fd=inner, follow_symlinks=False).st_mode):
                                os.chmod(child, 0o700, dir_fd=inner)  # moving a folder writes to it
                                os.rename(child, f".moved-{moved}", src_dir_fd=inner, dst_dir_fd=top)
                            else:
                                os.unlink(child, dir_fd=inner)
                        except OSError:
                            continue
                    os.rmdir(name, dir_fd=top)
                    removed += 1
                except OSError:
                    continue
                finally:
                    os.close(inner)
            if not removed and moved == before:
                break  # what is left cannot be removed
        return True
    finally:
        os.close(top)


def _remove_tree(root: str) -> int:
    """Deletes a scratch directory and all in it: at once when it is small, else by a child whose id is returned."""
    try:
        os.chmod(root, 0o700)
        if not _empty_tree(root, 500):
            pid = os.fork()
            if pid:
                return pid
            try:
                kernel.close_from(3)
                os.setsid()  # it goes on when the zygote ends
                os.nice(10)
                _empty_tree(root, _ENDLESS)
                os.rmdir(root)
            finally:
                os._exit(0)
        os.rmdir(root)
    except OSError:
        pass
    return 0


def _sweep(wipe: bool) -> None:
    """PID 1 of a container: ends every other process and wipes the scratch space."""
    try:
        while True:
            os.kill(-1, signal.SIGKILL)
            os.waitpid(-1, 0)
    except (ProcessLookupError, ChildProcessError):
        pass
    for folder in ("/tmp", "/dev/shm") if wipe else ():
        try:
            _empty_tree(folder, _ENDLESS)
        except OSError:
            continue


def _tasks_of_this_user() -> int:
    """Processes and threads of this user on the machine; 0 where that cannot be told."""
    count, me = 0, os.getuid()
    try:
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    if os.stat(f"/proc/{name}").st_uid == me:
                        count += len(os.listdir(f"/proc/{name}/task"))
                except OSError:
                    continue
    except OSError:
        return 0
    return count


def _receive(control: _socket.socket) -> tuple[bytes, list[int]]:
    """One message and its descriptors. (`socket.recv_fds`, without the module's third of a megabyte.)"""
    raw, ancillary, _, _ = control.recvmsg(65536, _socket.CMSG_LEN(16 * 4))
    descriptors: list[int] = []
    for level, kind, data in ancillary:
        if level == _socket.SOL_SOCKET and kind == _socket.SCM_RIGHTS:
            descriptors += struct.unpack(f"{len(data) // 4}i", data[: len(data) // 4 * 4])
    return raw, descriptors


def _connect(where: str) -> _socket.socket:
    """The control socket: an inherited descriptor, or a path to connect to (inside a container)."""
    if where.isdigit():
        return _socket.socket(fileno=int(where))
    control = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    end = time.monotonic() + 30
    while True:
        try:
            control.connect(where)
            return control
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def main(arguments: list[str]) -> None:
    """Entry of the zygote process: `server <descriptor or socket path> <options JSON>`."""
    control = _connect(arguments[0])
    options = json.loads(arguments[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the trainer's Ctrl-C is the trainer's to handle
    server = Server(control, options)
    try:
        server.prepare()
    except OSError as error:
        control.send(json.dumps({"refused": str(error)}).encode())
        os._exit(1)
    walls = {"landlock": kernel.landlock_version(), "own_proc": server.own_proc, "pid": os.getpid()}
    control.send(json.dumps({"ready": True, "walls": walls, "base": server.resident_base}).encode())
    server.serve()
    os._exit(0)
