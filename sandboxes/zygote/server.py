"""The zygote: builds the walls once, forks one box per program, enforces the limits.

It is started by `client.Zygote` with a control socket and options in JSON. A message is a length, a marshalled dict and
up to a few descriptors: `{"op": "start", "id", "mode", "limits", "job", ...}` with stdin, stdout, stderr, the job, and
the mode's own pipes, or `{"op": "kill", "id", "why"}`. For every box that ends one line of JSON goes back. Programs,
tests and secrets never enter this process's memory: they are in the descriptors, which only the box reads.

What a box costs is above all the pages it copies: the first write to a page that it shares with the zygote costs some
two microseconds, and touching a Python object writes its reference count. So what is the same for every box is done
here once (streams, modules, most of the seccomp filter, arguments of system calls), and the way from the fork to the
program is short.

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
import contextlib
import errno
import fcntl
import gc
import json
import marshal
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
PENDING_SIGNALS: Final = 1024
"""Queued signals and timers of a box."""
HIDDEN_SECONDS: Final = 0.02
"""CPU that a process may use unseen, between two looks: for each that was started, so much less of the waiting for a
CPU is left out of a wall limit. (Sixty a second that nobody waits for kept the box's first waiting, for six limits.)"""
REAL_TIME_FACTOR: Final = 20
"""Wall limits leave out the time a program was ready but the machine was busy, up to this factor."""
MOUNTABLE: Final = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin")
ETC_FILES: Final = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/mime.types")
MOST_COPIED_BYTES: Final = 1 << 20
DEVICES: Final = ("null", "zero", "full", "random", "urandom")
PRIVATE_FOLDERS: Final = ("/tmp/", "/var/tmp/", "/dev/", "/proc/")
MOVED: Final = "/moved"
UNPRIVILEGED: Final = 65534
HOST_NAME: Final = "sandbox"
"""What programs are told this machine is called."""
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


def _copy(path: str, target: str) -> None:
    """A small file, or a folder of links: copied, because every mount of the root is made anew for every box."""
    if os.path.isdir(path):
        os.mkdir(target, 0o755)
        for name in os.listdir(path):
            if os.path.islink(f"{path}/{name}"):
                os.symlink(os.readlink(f"{path}/{name}"), f"{target}/{name}")
    elif os.path.isfile(path):
        with open(path, "rb") as source, open(target, "wb") as copy:
            copy.write(source.read(MOST_COPIED_BYTES))


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
        with contextlib.suppress(OSError):  # one that this user may not read
            _copy(path, new + path)
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
            kernel.set_host_name(HOST_NAME)
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
            kernel.set_host_name(HOST_NAME)
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


Plan = tuple[list[tuple[int, tuple[int, int]]], list[kernel.Step]]
"""What a box does before its program: resource limits, then system calls."""


class Box:
    """What the zygote knows of a running box."""

    __slots__ = (
        "cpu",
        "deadline",
        "gone",
        "id",
        "killed",
        "last_start",
        "limits",
        "pid",
        "pidfd",
        "scratch",
        "seen",
        "started",
    )

    def __init__(self, number: int, pid: int, limits: dict[str, Any], scratch: str) -> None:
        self.id, self.pid, self.limits, self.scratch = number, pid, limits, scratch
        self.pidfd = _out_of_the_way(os.pidfd_open(pid)) if hasattr(os, "pidfd_open") else -1
        self.started = time.monotonic()
        self.last_start = self.started + REAL_TIME_FACTOR * limits["wall_seconds"]
        self.deadline = self.started + limits["wall_seconds"]
        self.killed = ""
        self.cpu = 0.0
        self.seen: dict[int, float] = {}  # process -> its own CPU seconds when last seen
        self.gone = 0.0  # of processes whose number is another's now


def _die_first(*, hidden: bool) -> None:
    """When memory runs out, the kernel ends a box before the trainer, and in a container before the zygote, without
    which there is no verdict. (A program can fill what counts as no process's memory, such as socket buffers.)

    Args:
        hidden: this process is not dumpable, which makes its files in /proc root's.
    """
    with contextlib.suppress(OSError):
        if hidden:
            kernel.prctl(kernel.PR_SET_DUMPABLE, 1)
        handle = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(handle, b"1000")
        os.close(handle)
    if hidden:
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)


def _out_of_the_way(descriptor: int) -> int:
    """The same at a high number: the low ones stay free, so that what comes with a message lands where a box has it."""
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 64)
    os.close(descriptor)
    return high


class Server:
    """Serves one control socket until its other end is closed."""

    def __init__(self, control: _socket.socket, options: dict[str, Any]) -> None:
        self.control = control
        self.pid = os.getpid()
        self.walls: str = options["walls"]
        self.own_proc = False
        self.boxes: dict[int, Box] = {}
        self.options = options
        self.poll = select.poll()
        self.ruleset: int | None = None
        self.removers: set[int] = set()
        self.scratch_root = options.get("scratch_root", "/tmp")
        self.stands: dict[int, str] = {}  # box -> "" when its walls stand, else why not
        self.plans: dict[tuple[Any, ...], Plan] = {}
        self.descriptor_steps: dict[int, list[kernel.Step]] = {}
        self.before_fork: list[kernel.Step] = []
        self.finished = 0

    def prepare(self) -> None:
        """Builds the walls and imports what is kept warm."""
        options = self.options
        if self.walls == "namespaces":
            self.own_proc = _enter_namespaces(options)
        elif self.walls in ("landlock", "container"):
            kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # no ptrace, no /proc/<zygote>/mem for the boxes' user
            if kernel.landlock_version() > 0 and self.walls == "container":
                self.ruleset = _out_of_the_way(self._rules("/tmp"))  # the same for every box: made once
            if not kernel.landlock_version() and self.walls == "landlock":
                raise Refused(38, "Landlock: the kernel has none (it needs Linux 5.13 with CONFIG_SECURITY_LANDLOCK)")
            self.own_proc = self.walls == "container"
        if self.walls != "container":
            _die_first(hidden=self.walls == "landlock")
        sys.path += [path for path in options["import_path"] if path not in sys.path]
        for name in options["warm"]:
            try:
                __import__(name)
            except ImportError:
                continue
        self.user_tasks = _tasks_of_this_user() if self.walls == "rlimits" else 0
        box.prepare("/tmp" if self.walls in ("namespaces", "container") else "")
        self._lay_descriptors()
        self._limit_self()
        if self.walls != "rlimits":
            try:
                self._wall_self()
            except OSError as error:
                raise _refused("seccomp", error) from None
        if self.walls == "namespaces":
            self.before_fork = kernel.pid_namespace_steps(_out_of_the_way(os.pidfd_open(os.getpid())))
        # what modules have registered to run at a fork is for processes of several threads
        self.fork = kernel.fork if sys.platform == "linux" and _threads() == 1 else os.fork
        gc.collect()
        gc.freeze()
        self.address_base, self.resident_base = self._own_memory()

    def _lay_descriptors(self) -> None:
        """Moves what this process holds to high numbers: see `_out_of_the_way`."""
        control = _out_of_the_way(self.control.detach())
        self.control = _socket.socket(fileno=control)
        self.told, self.tell = (_out_of_the_way(end) for end in os.pipe())
        os.set_blocking(self.told, False)
        self.errors = _out_of_the_way(2)
        for descriptor in (0, 1):
            os.close(descriptor)
        with contextlib.suppress(OSError):
            if sys.platform == "linux":
                self.descriptor_steps = {count: kernel.descriptor_steps(count) for count in range(4, 8)}

    def _limit_self(self) -> None:
        """The resource limits that are the same for every box: it has them from this process."""
        values = {
            "RLIMIT_CORE": 0,
            "RLIMIT_MSGQUEUE": 0,
            "RLIMIT_SIGPENDING": PENDING_SIGNALS,
            "RLIMIT_STACK": STACK_BYTES,
        }
        for name, value in values.items():
            kind = getattr(resource, name, None)
            if kind is not None and not _refused_on_macos(kind):
                resource.setrlimit(kind, _within(kind, value))

    def _wall_self(self) -> None:
        """What every box has from this process: privileges that cannot grow, and all of the seccomp filter that leaves
        this process able to wall them in."""
        kernel.no_new_privileges()
        if self.walls == "landlock":
            return  # there a filter names the box's own process
        if self.walls == "container":
            kernel.drop_capabilities()
        kernel.take([kernel.seccomp_step(self._filter(True, None))])

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
        plan = self._plan(message)
        scratch = ""
        try:
            if self.walls in ("landlock", "rlimits"):
                scratch = f"{self.scratch_root}/box-{self.pid}-{number}-{os.urandom(6).hex()}"
                os.mkdir(scratch, 0o700)
            elif self.walls == "container":
                scratch = "/tmp"
            kernel.take(self.before_fork)
            pid = self.fork()
        except OSError as error:
            for descriptor in descriptors:
                os.close(descriptor)
            if scratch and self.walls != "container":
                os.rmdir(scratch)
            self._send(number, setup=f"a box could not be started: {error}")
            return
        if pid == 0:
            self._become_box(message, descriptors, scratch, *plan)
        for descriptor in descriptors:
            os.close(descriptor)
        running = Box(number, pid, limits, scratch)
        self.boxes[running.pidfd if running.pidfd >= 0 else -pid] = running
        if running.pidfd >= 0:
            self.poll.register(running.pidfd, select.POLLIN)

    def _become_box(
        self,
        message: dict[str, Any],
        descriptors: list[int],
        scratch: str,
        limits: list[tuple[int, tuple[int, int]]],
        steps: list[kernel.Step],
    ) -> None:
        """Runs in the child: walls, then the program. Never returns."""
        try:
            if scratch:
                os.chdir(scratch)
            os.setsid()
            if self.walls in ("landlock", "rlimits"):  # elsewhere the pid namespace ends with the zygote
                kernel.die_with_parent(self.pid)
            if self.walls == "container":
                _die_first(hidden=True)
            if descriptors[-1] >= len(descriptors):
                _to_the_front(descriptors)
            for kind, value in limits:
                resource.setrlimit(kind, value)
            kernel.take(steps)
            if self.walls == "landlock":
                self._wall_in_without_namespaces(message, scratch)
            os.write(self.tell, b"%d \n" % message["id"])
            if self.descriptor_steps:
                kernel.take(self.descriptor_steps[len(descriptors)])
            else:
                kernel.close_from(len(descriptors))
                for descriptor in range(3, len(descriptors)):
                    os.set_inheritable(descriptor, False)
            if self.fork is os.fork:
                box.seed()
            elif self.walls != "namespaces":
                box.number_main_thread()
            if scratch and scratch != "/tmp":
                box.move_to(scratch)
        except BaseException as error:
            text = f"{type(error).__name__}: {error}".replace("\n", " ")
            os.write(self.tell, b"%d %s\n" % (message["id"], text.encode()[:2000]))
            os._exit(125)
        box.main(message["mode"], message["job"])

    def _plan(self, message: dict[str, Any]) -> Plan:
        """What a box with such limits does before its program. Made once for equal limits, by this process, whose pages
        it does not have to copy."""
        limits = message["limits"]
        key = (*limits.values(), message.get("address_space", True))
        known = self.plans.get(key)
        if known is None:
            if len(self.plans) > 64:
                self.plans.clear()
            known = self.plans[key] = (self._resource_limits(message), self._wall_steps(limits))
        return known

    def _wall_steps(self, limits: dict[str, Any]) -> list[kernel.Step]:
        """Every wall around a box, strongest last."""
        if self.walls == "container":
            steps = [kernel.landlock_step(self.ruleset)] if self.ruleset is not None else []
            if limits["processes"] == 1:
                steps.append(kernel.seccomp_step(kernel.refusals((), allow_fork=False)))
            return steps
        if self.walls != "namespaces":
            return []
        flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
        inodes = max(64, limits["disk_bytes"] // 4096)
        options = f"size={limits['disk_bytes']},nr_inodes={inodes},mode=1777"
        if self.own_proc:
            proc = kernel.mount_step("proc", "/proc", "proc", flags, "subset=pid")
        else:
            proc = kernel.mount_step("tmpfs", "/proc", "tmpfs", flags | kernel.MS_RDONLY, "size=4k,mode=555")
        return [
            kernel.unshare_step(kernel.NEWNS),
            kernel.mount_step("tmpfs", "/tmp", "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options),
            proc,
            kernel.chdir_step("/tmp"),
            kernel.unshare_step(kernel.NEWUSER),  # a process count of its own, no rights over the zygote's namespaces
            kernel.resource_limit_step(resource.RLIMIT_NPROC, limits["processes"]),  # of the new count, not the old
            *kernel.no_capabilities_steps(),
            kernel.seccomp_step(kernel.refusals(kernel.SET_UP_CALLS, allow_fork=limits["processes"] > 1)),
        ]

    def _rules(self, scratch: str) -> int:
        """Landlock's rules for a box with this scratch directory."""
        readable = [*MOUNTABLE, *ETC_FILES, *self.options["read_only"], "/dev/zero", "/dev/urandom", "/dev/random"]
        writable = [scratch]
        if self.walls == "container":
            readable += ["/etc", "/proc"]
            writable.append("/dev/shm")
        return kernel.landlock_ruleset(readable, writable, ["/dev/null"])

    def _wall_in_without_namespaces(self, message: dict[str, Any], scratch: str) -> None:
        """Landlock with a folder of the box's own, and a filter that names its process."""
        kernel.drop_capabilities()
        allow_fork = message["mode"] == "compile"
        code = self._filter(allow_fork and message["limits"]["processes"] > 1, None if allow_fork else os.getpid())
        kernel.take([kernel.landlock_step(self._rules(scratch)), kernel.seccomp_step(code)])

    def _filter(self, allow_fork: bool, own_pid: int | None) -> bytes:
        return kernel.seccomp_filter(
            allow_fork=allow_fork,
            own_pid=own_pid,
            spare_others=self.walls == "container",
            allow_unix_sockets=self.walls != "landlock",
            keep_metadata=self.walls != "landlock",
            spare_calls=kernel.SET_UP_CALLS if self.walls == "namespaces" else (),
        )

    def _resource_limits(self, message: dict[str, Any]) -> list[tuple[int, tuple[int, int]]]:
        limits = message["limits"]
        # the watcher counts exactly and all processes together; the kernel counts by ticks and comes a second later
        seconds = math.ceil(limits["cpu_seconds"]) + (1 if self.walls != "rlimits" else 0)
        values = {
            resource.RLIMIT_CPU: seconds,
            resource.RLIMIT_FSIZE: limits["disk_bytes"],
            resource.RLIMIT_NOFILE: limits["open_files"],
        }
        if message.get("address_space", True):
            values[resource.RLIMIT_AS] = self.address_base + limits["memory_bytes"] + ADDRESS_SLACK_BYTES
        if self.walls == "container":
            values[resource.RLIMIT_NPROC] = limits["processes"]
        elif self.walls == "rlimits" and self.user_tasks:
            # the kernel counts all that the user runs on this machine, the trainer's threads included
            values[resource.RLIMIT_NPROC] = self.user_tasks + limits["processes"]
        return [(kind, _within(kind, value)) for kind, value in values.items() if not _refused_on_macos(kind)]

    # -- watching

    def _processes(self, running: Box) -> list[int]:
        """Process ids of a box, as this process's /proc numbers them."""
        if self.walls in ("landlock", "rlimits"):
            return [running.pid]
        found = []
        me = os.getpid()
        try:
            namespace = os.readlink(f"/proc/{running.pid}/ns/pid") if self.walls == "namespaces" else ""
        except OSError:
            return []  # it has ended
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) == me:
                continue
            if namespace:
                try:
                    if os.readlink(f"/proc/{name}/ns/pid") != namespace:
                        continue
                except OSError:
                    continue
            found.append(int(name))
        return found

    def _watch(self, running: Box, now: float) -> None:
        """Sums CPU, memory and scratch space of a box; kills it over a limit."""
        limits = running.limits
        cpu, resident, waiting = 0.0, 0, 0.0
        for pid in self._processes(running):
            try:
                with open(f"/proc/{pid}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
                # utime, stime and those of waited-for children; rss in pages (proc(5), fields 14-17 and 24)
                own = (int(fields[11]) + int(fields[12])) / CLOCK_TICKS
                cpu += own + (int(fields[13]) + int(fields[14])) / CLOCK_TICKS
                if own < running.seen.get(pid, 0.0):
                    running.gone += running.seen[pid]
                running.seen[pid] = own
                resident += max(0, int(fields[21]) * PAGE - self.resident_base)
            except (OSError, ValueError, IndexError):
                continue
        # nobody waits for the children of who ignores SIGCHLD: what they used is known from when they were seen
        running.cpu = cpu = max(running.cpu, cpu, running.gone + sum(running.seen.values()))
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
            waiting = max(0.0, waiting - HIDDEN_SECONDS * self._started_tasks(running))
            elapsed = now - running.started
            left = min(limits["wall_seconds"] - (elapsed - waiting), running.last_start - now)
            if left > 0.001:
                running.deadline = now + left
            else:
                self.kill(running, "wall_seconds")

    def _started_tasks(self, running: Box) -> int:
        """How many processes and threads were started here since this box was: the numbers that were given out."""
        if not self.own_proc:
            return 0  # Landlock: there is no process but the box's own
        try:
            with open("/proc/loadavg") as file:
                last = int(file.read().split()[-1])
            if last < running.pid:  # all numbers were used: it began from the first again
                with open("/proc/sys/kernel/pid_max") as file:
                    last += int(file.read())
        except (OSError, ValueError, IndexError):
            return 0
        return last - running.pid

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

    # -- ending

    def finish(self, key: int) -> None:
        """A box's first process has ended: reap, sweep what is left, report."""
        running = self.boxes.pop(key)
        if running.pidfd >= 0:
            self.poll.unregister(running.pidfd)
            os.close(running.pidfd)
        self.finished += 1
        _, status, usage = os.wait4(running.pid, 0)
        wall = time.monotonic() - running.started
        if running.id not in self.stands:
            self._listen()
        setup = self.stands.pop(running.id, "the box ended before its walls stood")
        if self.walls == "container":
            _sweep(wipe=not running.killed)  # after a breach the whole container is thrown away
        elif self.walls == "rlimits":
            try:
                os.killpg(running.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        if running.scratch and self.walls != "container":
            self.removers.add(_remove_tree(running.scratch))
        self._send(
            running.id,
            setup="" if running.killed else setup,
            killed=running.killed,
            status=os.waitstatus_to_exitcode(status),
            cpu=max(usage.ru_utime + usage.ru_stime, running.cpu),
            peak=usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
            wall=wall,
        )

    def _listen(self) -> None:
        """Reads what boxes have said of their walls."""
        try:
            said = os.read(self.told, 65536)
        except BlockingIOError:
            return
        for line in said.split(b"\n"):
            number, _, problem = line.partition(b" ")
            if number:
                self.stands[int(number)] = problem.decode(errors="replace")

    def _send(
        self,
        number: int,
        *,
        setup: str = "",
        killed: str = "",
        status: int = 0,
        cpu: float = 0.0,
        peak: int = 0,
        wall: float = 0.0,
    ) -> None:
        words = json.dumps([setup, killed]).encode() if setup or killed else b'["",""]'
        facts = (number, words, status, cpu, peak, self.resident_base, wall)
        try:
            self.control.send(b"[%d,%s,%d,%.6f,%d,%d,%.6f]\n" % facts)
        except OSError:
            os._exit(0)

    def serve(self) -> None:
        """The loop. Returns when the client has closed its end."""
        control = self.control.fileno()
        self.poll.register(control, select.POLLIN)
        next_watch = 0.0
        pending = b""
        blind = not hasattr(os, "pidfd_open")  # then the end of a box is asked for
        while True:
            timeout: float | None = None
            if self.boxes:
                now = time.monotonic()
                timeout = max(0.0, next_watch - now) * 1000 + 1
                if blind:
                    timeout = 2
            events = self.poll.poll(timeout)
            for descriptor, _ in events:
                if descriptor == control:
                    raw, descriptors = _receive(self.control)
                    if not raw:
                        return
                    pending += raw
                    while len(pending) >= 4:  # a stream socket (macOS) may join or split messages
                        end = 4 + int.from_bytes(pending[:4], "little")
                        if len(pending) < end:
                            break
                        message = marshal.loads(pending[4:end])
                        pending = pending[end:]
                        if message["op"] == "start":
                            self.start(message, descriptors)
                        elif message["op"] == "kill":
                            for running in self.boxes.values():
                                if running.id == message["id"]:
                                    self.kill(running, message["why"])
                elif descriptor in self.boxes:
                    self.finish(descriptor)
            for key in list(self.boxes) if blind else ():
                if os.waitid(os.P_PID, -key, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                    self.finish(key)
            now = time.monotonic()
            if self.boxes and now >= next_watch:
                next_watch = now + TICK_SECONDS
                for running in list(self.boxes.values()):
                    if not running.killed and now - running.started >= TICK_SECONDS:
                        self._watch(running, now)
            if self.removers or self.finished > 50:
                self._reap_strays()

    def end(self) -> None:
        """Nobody listens any more: ends the boxes that still run, and takes their folders away."""
        if self.walls not in ("landlock", "rlimits"):
            return  # they end with this process, and their folders with them
        for running in self.boxes.values():
            self.kill(running, "wall_seconds")
            os.waitpid(running.pid, 0)
            _remove_tree(running.scratch)

    def _reap_strays(self) -> None:
        """As PID 1 this process inherits orphans; boxes themselves are waited for in `finish` only."""
        self.finished = 0
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


def empty_tree(root: str, most_steps: int) -> bool:
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
        if not empty_tree(root, 500):
            pid = os.fork()
            if pid:
                return pid
            try:
                kernel.close_from(3)
                os.setsid()  # it goes on when the zygote ends
                os.nice(10)
                empty_tree(root, _ENDLESS)
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
            empty_tree(folder, _ENDLESS)
        except OSError:
            continue


def _to_the_front(descriptors: list[int]) -> None:
    """Makes these descriptors 0, 1, 2 ...: to high numbers first, so that no target overwrites a source."""
    high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 64) for descriptor in descriptors]
    for target, source in enumerate(high):
        os.dup2(source, target)


def _within(kind: int, value: int) -> tuple[int, int]:
    """A limit, soft and hard, that is never above the one already in force."""
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    return value, value


def _refused_on_macos(kind: int) -> bool:
    return sys.platform == "darwin" and kind in (resource.RLIMIT_AS, resource.RLIMIT_STACK)


def _threads() -> int:
    """Threads of this process."""
    return len(os.listdir("/proc/self/task"))


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
        server.control.send(json.dumps({"refused": str(error)}).encode())
        os._exit(1)
    walls = {"landlock": kernel.landlock_version(), "own_proc": server.own_proc, "pid": os.getpid()}
    python = sys.modules["_frozen_importlib_external"].MAGIC_NUMBER.hex()
    server.control.send(json.dumps({"ready": True, "walls": walls, "python": python}).encode())
    try:
        server.serve()
        server.end()
    except BaseException as error:
        os.write(server.errors, f"{type(error).__name__}: {error}\n".encode("utf-8", "replace"))
        os._exit(1)
    os._exit(0)
