"""Linux walls through ctypes: namespaces, mounts, capabilities, seccomp, Landlock. No compiled part, no root.

Numbers come from the kernel's headers (include/uapi/linux/{sched,mount,seccomp,filter,landlock,capability,prctl}.h and
the system call tables of x86-64 and arm64).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

NEWNS: Final = 0x00020000
NEWUTS: Final = 0x04000000
NEWIPC: Final = 0x08000000
NEWUSER: Final = 0x10000000
NEWPID: Final = 0x20000000
NEWNET: Final = 0x40000000
NEWCGROUP: Final = 0x02000000
NEWTIME: Final = 0x00000080
ALL_NAMESPACES: Final = NEWNS | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET | NEWCGROUP | NEWTIME

MS_RDONLY: Final = 1
MS_NOSUID: Final = 2
MS_NODEV: Final = 4
MS_NOEXEC: Final = 8
MS_BIND: Final = 4096
MS_REC: Final = 16384
MS_PRIVATE: Final = 1 << 18
MNT_DETACH: Final = 2
AT_RECURSIVE: Final = 0x8000
MOUNT_ATTR_RDONLY_NOSUID: Final = 3

PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_SET_SECCOMP: Final = 22
PR_CAPBSET_READ: Final = 23
PR_CAPBSET_DROP: Final = 24
PR_SET_SECUREBITS: Final = 28
PR_SET_NO_NEW_PRIVS: Final = 38
PR_SET_CHILD_SUBREAPER: Final = 36

_libc: Any = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
# what a box does between its fork and its program: without a copy of errno and without letting go of the GIL a call
# costs a third, and it touches fewer pages, each of which a forked process copies
_bare: Any = ctypes.PyDLL(None) if sys.platform == "linux" else None
if _bare is not None:
    _bare.__errno_location.restype = ctypes.POINTER(ctypes.c_int)

MACHINE: Final = os.uname().machine
_AUDIT_ARCH: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# name: (x86-64, arm64); -1 where the architecture has no such call
_CALLS: Final[dict[str, tuple[int, int]]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "inotify_init": (253, -1),  # tells of names in folders that Landlock would not let be listed
    "inotify_init1": (294, 26),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioperm": (173, -1),
    "iopl": (172, -1),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "landlock_create_ruleset": (444, 444),
    "lookup_dcookie": (212, 18),
    "mbind": (237, 235),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "migrate_pages": (256, 238),
    "mlock": (149, 228),
    "mlock2": (325, 284),
    "mlockall": (151, 230),
    "modify_ldt": (154, -1),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "nfsservctl": (180, 42),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "pivot_root": (155, 41),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "seccomp": (317, 277),
    "semget": (64, 190),
    "set_mempolicy": (238, 237),
    "set_mempolicy_home_node": (450, 450),
    "setdomainname": (171, 162),
    "setfsgid": (123, 152),
    "setfsuid": (122, 151),
    "setgid": (106, 144),
    "setgroups": (116, 159),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "setregid": (114, 143),
    "setresgid": (119, 149),
    "setresuid": (117, 147),
    "setreuid": (113, 145),
    "settimeofday": (164, 170),
    "setuid": (105, 146),
    "shmat": (30, 196),
    "shmget": (29, 194),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "sysfs": (139, -1),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "uselib": (134, -1),
    "userfaultfd": (323, 282),
    "ustat": (136, -1),
    "vhangup": (153, 58),
    "vmsplice": (278, 75),
}
# What changes a file's owner, mode, times or attributes. Landlock does not rule on these, so where Landlock is the wall
# that keeps the host's files, they are answered with success and do nothing (shutil.copy sets modes; it need not fail).
_METADATA_CALLS: Final[dict[str, tuple[int, int]]] = {
    "chmod": (90, -1),
    "chown": (92, -1),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "fremovexattr": (199, 16),
    "fsetxattr": (190, 7),
    "futimesat": (261, -1),
    "lchown": (94, -1),
    "lremovexattr": (198, 15),
    "lsetxattr": (189, 6),
    "removexattr": (197, 14),
    "setxattr": (188, 5),
    "utime": (132, -1),
    "utimensat": (280, 88),
    "utimes": (235, -1),
}
# What waits until a disk has everything. `sync` waits for the whole machine's, and what waits like that does not end
# when it is killed. Nothing of a box outlives it, so nothing has to reach a disk: answered with success.
_SYNC_CALLS: Final[dict[str, tuple[int, int]]] = {
    "fdatasync": (75, 83),
    "fsync": (74, 82),
    "msync": (26, 227),
    "sync": (162, 81),
    "sync_file_range": (277, 84),
    "syncfs": (306, 267),
}
_NEWEST_KNOWN: Final = 456
"""System calls above this number are newer than the tables above: answered ENOSYS."""

_OTHER: Final[dict[str, tuple[int, int]]] = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "fork": (57, -1),
    "ioctl": (16, 29),
    "kill": (62, 129),
    "prctl": (157, 167),
    "prlimit64": (302, 261),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "tgkill": (234, 131),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "vfork": (58, -1),
    "pivot_root": (155, 41),
    "pidfd_open": (434, 434),
    "setpgid": (109, 154),
    "setsid": (112, 157),
    "sched_setattr": (314, 274),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setaffinity": (203, 122),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
}


def _number(table: dict[str, tuple[int, int]], name: str) -> int:
    return table[name][0 if MACHINE == "x86_64" else 1]


def _check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def fork() -> int:
    """fork(2) by the C library alone, for a process of one thread.

    `os.fork` runs what modules have registered (locks of threads that are not there, a new seed for `random`) and with
    it copies some two hundred pages.

    Raises:
        OSError: no process could be made.
    """
    pid: int = _bare.fork()
    if pid < 0:
        raise OSError(_bare.__errno_location()[0], "fork")
    return pid


Step = tuple[str, Callable[..., int], tuple[Any, ...]]
"""A system call with its arguments ready, to be made by `take`."""


def take(steps: Iterable[Step]) -> None:
    """Makes the calls in order. Raises OSError at the first that fails."""
    for name, function, arguments in steps:
        if function(*arguments) < 0:
            code = _bare.__errno_location()[0]
            raise OSError(code, f"{name}: {os.strerror(code)}")


def unshare_step(flags: int) -> Step:
    """unshare(2)."""
    return f"unshare({flags:#x})", _bare.unshare, (ctypes.c_int(flags),)


def unshare(flags: int) -> None:
    """unshare(2)."""
    take([unshare_step(flags)])


def pid_namespace_steps(pidfd: int) -> list[Step]:
    """The next fork of this process opens a fresh pid namespace below that of `pidfd`, whatever was asked before."""
    enter = ("setns", _bare.setns, (ctypes.c_int(pidfd), ctypes.c_int(NEWPID)))
    return [enter, unshare_step(NEWPID)]


def mount_step(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> Step:
    """mount(2)."""
    raw = [ctypes.c_char_p(None if text is None else os.fsencode(text)) for text in (source, target, kind, options)]
    return f"mount {target}", _bare.mount, (raw[0], raw[1], raw[2], ctypes.c_ulong(flags), raw[3])


def mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """mount(2)."""
    take([mount_step(source, target, kind, flags, options)])


def pivot_root(new: str, old: str) -> None:
    """pivot_root(2), then the old root is gone."""
    _check(_libc.syscall(_number(_OTHER, "pivot_root"), os.fsencode(new), os.fsencode(old)), "pivot_root")


def unmount(target: str) -> None:
    """umount2(2), detached."""
    _check(_libc.umount2(os.fsencode(target), MNT_DETACH), f"umount {target}")


class _MountAttributes(ctypes.Structure):
    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns", ctypes.c_uint64),
    )


def make_read_only(target: str) -> None:
    """Every mount below `target` read-only and nosuid (mount_setattr(2), Linux 5.12)."""
    attributes = _MountAttributes(MOUNT_ATTR_RDONLY_NOSUID, 0, 0, 0)
    call = _libc.syscall(442, -100, os.fsencode(target), AT_RECURSIVE, ctypes.byref(attributes), 32)
    _check(call, "mount_setattr")


def prctl(option: int, value: int = 0) -> None:
    """prctl(2)."""
    _check(_libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl({option})")


def die_with_parent(parent: int) -> None:
    """This process is killed when its parent, process `parent`, ends. (On Linux; elsewhere nothing.)"""
    if _libc is not None:
        prctl(PR_SET_PDEATHSIG, 9)
        if os.getppid() != parent:  # it has ended already
            os._exit(125)


def set_host_name(name: str) -> None:
    """sethostname(2)."""
    raw = os.fsencode(name)
    take([("sethostname", _bare.sethostname, (ctypes.c_char_p(raw), ctypes.c_size_t(len(raw))))])


def chdir_step(folder: str) -> Step:
    """chdir(2)."""
    return f"chdir {folder}", _bare.chdir, (ctypes.c_char_p(os.fsencode(folder)),)


def resource_limit_step(kind: int, value: int) -> Step:
    """setrlimit(2), soft and hard."""
    return "setrlimit", _bare.setrlimit, (ctypes.c_int(kind), (ctypes.c_uint64 * 2)(value, value))


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def no_capabilities_steps() -> list[Step]:
    """No capability is left, and none can come back: securebits, bounding set, permitted, effective, inheritable."""
    zero = ctypes.c_ulong(0)

    def control(option: int, value: int) -> Step:
        return f"prctl({option})", _bare.prctl, (ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero)

    known = [number for number in range(64) if _libc.prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0]
    bounds = [control(PR_CAPBSET_DROP, number) for number in known]
    empty = (ctypes.byref(_CapabilityHeader(0x20080522, 0)), (ctypes.c_uint32 * 6)())
    return [control(PR_SET_SECUREBITS, 0x2F), *bounds, ("capset", _bare.capset, empty)]


def drop_capabilities() -> None:
    """As the steps, for a process that may have none to begin with, and so may set neither securebits nor bounds."""
    for step in no_capabilities_steps():
        with contextlib.suppress(OSError):
            take([step])


# --- seccomp ---------------------------------------------------------------------------------------------------------

_ALLOW: Final = 0x7FFF0000
_KILL: Final = 0x80000000
_ERRNO: Final = 0x00050000
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_EPERM, _EACCES, _ENOSYS, _EAGAIN = 1, 13, 38, 11


def _instruction(code: int, if_true: int, if_false: int, operand: int) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, operand & 0xFFFFFFFF)


SET_UP_CALLS: Final = ("mount", "setns", "unshare")
"""What a zygote with namespaces does itself between fork and program: refused by a second, short filter."""


def refusals(names: Iterable[str], *, allow_fork: bool) -> bytes:
    """A short filter that refuses `names`, and new processes if so asked, on top of `seccomp_filter`.

    A box installs this one alone: it has the long one from its zygote, at no cost. The kernel tries a new filter with
    every call number, so its length is what it costs.
    """
    code = [_instruction(_LOAD, 0, 0, 0)]
    for name in names:
        code += _refusal(_number(_CALLS, name), _EPERM)
    if not allow_fork:
        code += _no_new_processes()
    return b"".join([*code, _instruction(_RETURN, 0, 0, _ALLOW)])


def _refusal(number: int, error: int) -> list[bytes]:
    """For call `number`, whose number is loaded: this error."""
    if number < 0:
        return []
    return [_instruction(_JUMP_EQUAL, 0, 1, number), _instruction(_RETURN, 0, 0, _ERRNO | error)]


def _on_argument(number: int, index: int, body: Sequence[bytes]) -> list[bytes]:
    """For call `number`: `body` runs with the argument's low half loaded; then the number is loaded again."""
    if number < 0:
        return []
    skip, load = _instruction(_JUMP_EQUAL, 0, len(body) + 2, number), _instruction(_LOAD, 0, 0, 16 + 8 * index)
    return [skip, load, *body, _instruction(_LOAD, 0, 0, 0)]


def _no_new_processes() -> list[bytes]:
    """Threads (CLONE_THREAD = 0x10000) may be started, processes may not."""
    threads_only = (_instruction(_JUMP_ANY_BIT, 1, 0, 0x10000), _instruction(_RETURN, 0, 0, _ERRNO | _EAGAIN))
    code = _on_argument(_number(_OTHER, "clone"), 0, threads_only)
    for name, error in (("fork", _EAGAIN), ("vfork", _EAGAIN), ("setsid", _EPERM)):
        code += _refusal(_number(_OTHER, name), error)
    return code


def seccomp_filter(
    *,
    allow_fork: bool,
    own_pid: int | None,
    spare_others: bool,
    allow_unix_sockets: bool,
    keep_metadata: bool,
    spare_calls: Sequence[str] = (),
) -> bytes:
    """The BPF program of a box.

    Args:
        spare_calls: not refused yet: see `refusals`.
        allow_fork: False: only threads may be started (no pid namespace would catch a child that escapes its group).
        own_pid: where given, signals may be sent to this process only.
        spare_others: limits and CPUs may be set for the calling process only: the zygote is in sight, and
            of the same user.
        allow_unix_sockets: False where no network namespace keeps abstract sockets apart.
        keep_metadata: False: calls that change modes, owners and times succeed without doing anything.

    Raises:
        OSError: an architecture without a table.
    """
    if MACHINE not in _AUDIT_ARCH:
        raise OSError(_ENOSYS, f"no seccomp table for the architecture {MACHINE!r}; known: {', '.join(_AUDIT_ARCH)}")
    make = _instruction
    number_at = 0
    code = [
        make(_LOAD, 0, 0, 4),
        make(_JUMP_EQUAL, 1, 0, _AUDIT_ARCH[MACHINE]),
        make(_RETURN, 0, 0, _KILL),
        make(_LOAD, 0, 0, number_at),
    ]

    def deny(number: int, error: int) -> None:
        code.extend(_refusal(number, error))

    def on_argument(number: int, index: int, body: Sequence[bytes]) -> None:
        code.extend(_on_argument(number, index, body))

    if MACHINE == "x86_64":  # the x32 calls: bit 30 set
        code.extend((make(_JUMP_AT_LEAST, 0, 1, 0x40000000), make(_RETURN, 0, 0, _KILL)))
    code.extend((make(_JUMP_AT_LEAST, 0, 1, _NEWEST_KNOWN + 1), make(_RETURN, 0, 0, _ERRNO | _ENOSYS)))
    # clone3 hides its flags behind a pointer, which a filter cannot read; on ENOSYS the C library takes clone
    deny(_number(_OTHER, "clone3"), _ENOSYS)
    refuse = make(_RETURN, 0, 0, _ERRNO | _EPERM)
    on_argument(_number(_OTHER, "clone"), 0, (make(_JUMP_ANY_BIT, 0, 1, ALL_NAMESPACES & ~0xFF), refuse))
    if not allow_fork:
        code += _no_new_processes()
    unix_only = (make(_JUMP_EQUAL, 1, 0, 1), make(_RETURN, 0, 0, _ERRNO | _EACCES))
    for name in ("socket", "socketpair"):
        if name == "socket" and not allow_unix_sockets:
            deny(_number(_OTHER, name), _EACCES)
        elif not allow_unix_sockets:
            # a datagram or raw socket of a pair can still send to any address: a stream's cannot
            body = (make(_JUMP_ANY_BIT, 0, 1, 2), make(_RETURN, 0, 0, _ERRNO | _EACCES))
            on_argument(_number(_OTHER, name), 1, body)
            on_argument(_number(_OTHER, name), 0, unix_only)
        else:
            on_argument(_number(_OTHER, name), 0, unix_only)
    # TIOCSTI types into the terminal, TIOCLINUX pastes into it
    on_argument(_number(_OTHER, "ioctl"), 1, (make(_JUMP_EQUAL, 0, 1, 0x5412), refuse))
    on_argument(_number(_OTHER, "ioctl"), 1, (make(_JUMP_EQUAL, 0, 1, 0x541C), refuse))
    if own_pid is not None:
        for name in ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"):
            if name == "tkill":  # takes a thread id, which may be any: tgkill is what the C library uses
                deny(_number(_OTHER, name), _EPERM)
            else:
                body = (make(_JUMP_EQUAL, 1, 0, own_pid), make(_RETURN, 0, 0, _ERRNO | _EPERM))
                on_argument(_number(_OTHER, name), 0, body)
    # Who sets himself behind all others waits for a CPU as long as the machine is busy, and waiting does not count
    # against the wall limit.
    for name in ("setpriority", "ioprio_set", "sched_setattr", "sched_setscheduler", "sched_setparam"):
        deny(_number(_OTHER, name), _EPERM)
    if own_pid is not None or spare_others:
        for name in ("prlimit64", "setpgid"):
            # these name another process by its id: 0 is the caller
            if own_pid is None:
                itself: tuple[bytes, ...] = (make(_JUMP_EQUAL, 1, 0, 0), refuse)
            else:
                itself = (make(_JUMP_EQUAL, 2, 0, 0), make(_JUMP_EQUAL, 1, 0, own_pid), refuse)
            on_argument(_number(_OTHER, name), 0, itself)
        deny(_number(_OTHER, "sched_setaffinity"), _EPERM)
    if own_pid is not None:
        deny(_number(_OTHER, "pidfd_open"), _EPERM)
        on_argument(_number(_OTHER, "prctl"), 0, (make(_JUMP_EQUAL, 0, 1, PR_SET_PDEATHSIG), refuse))
    for name in _SYNC_CALLS:
        deny(_number(_SYNC_CALLS, name), 0)
    if not keep_metadata:
        for name in _METADATA_CALLS:
            deny(_number(_METADATA_CALLS, name), 0)
    # one instruction per refused call, all jumping to one refusal at the end: the kernel walks the filter for every
    # call number when it is installed, so half the length is half the time
    numbers = sorted(number for number in {_number(_CALLS, n) for n in _CALLS if n not in spare_calls} if number >= 0)
    for index, number in enumerate(numbers):
        code.append(make(_JUMP_EQUAL, len(numbers) - index, 0, number))
    code.append(make(_RETURN, 0, 0, _ALLOW))
    code.append(refuse)
    return b"".join(code)


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def no_new_privileges() -> None:
    """No execve gains rights from here on."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def seccomp_step(code: bytes) -> Step:
    """Installs a filter on this process for good; `no_new_privileges` comes first."""
    program = ctypes.byref(_FilterProgram(len(code) // 8, code))
    zero = ctypes.c_ulong(0)
    return "seccomp", _bare.prctl, (ctypes.c_int(PR_SET_SECCOMP), ctypes.c_ulong(2), program, zero, zero)


# --- Landlock --------------------------------------------------------------------------------------------------------

_FILE_RIGHTS: Final = 0b111 | 1 << 14  # execute, write, read; truncate


def landlock_version() -> int:
    """Landlock's ABI version on this kernel; 0 without Landlock."""
    if _libc is None:
        return 0
    return max(0, int(_libc.syscall(444, None, 0, 1)))


def landlock_ruleset(read_only: Iterable[str], writable: Iterable[str], also_write: Iterable[str] = ()) -> int:
    """A descriptor of rules: only these paths can be opened; no TCP; no abstract sockets or signals outside (ABI 6).

    Args:
        read_only: files and trees that may be read and executed.
        writable: trees with every right but making device files.
        also_write: single files that may be read and written (/dev/null).

    Raises:
        OSError: no Landlock, or a rule refused. A path that does not exist is left out.
    """
    version = landlock_version()
    if version < 1:
        raise OSError(_ENOSYS, "no Landlock")
    rights = (1 << 13) - 1
    for since, bit in ((2, 13), (3, 14), (5, 15)):
        if version >= since:
            rights |= 1 << bit
    network = 3 if version >= 4 else 0
    scopes = 3 if version >= 6 else 0
    size = 8 if version < 4 else 16 if version < 6 else 24
    attributes = struct.pack("QQQ", rights, network, scopes)
    ruleset = _check(_libc.syscall(444, attributes, size, 0), "landlock_create_ruleset")
    make_devices = 1 << 6 | 1 << 11  # character and block devices
    groups = ((read_only, 0b1101), (writable, rights & ~make_devices), (also_write, rights))
    for paths, granted in groups:
        for path in paths:
            try:
                handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            here = granted & rights if os.path.isdir(path) else granted & rights & _FILE_RIGHTS
            rule = struct.pack("<Qi", here, handle)
            _check(_libc.syscall(445, ruleset, 1, rule, 0), f"landlock_add_rule {path}")
            os.close(handle)
    return ruleset


def landlock_step(ruleset: int) -> Step:
    """From here on this process and its children are under the rules; `no_new_privileges` comes first."""
    return "landlock_restrict_self", _bare.syscall, (ctypes.c_long(446), ctypes.c_int(ruleset), ctypes.c_uint(0))


CLOSE_RANGE_CLOEXEC: Final = 4
_EVERY: Final = 0xFFFFFFFF


def close_from(lowest: int) -> None:
    """Closes every descriptor from `lowest` on (close_range(2), Linux 5.9; else one by one)."""
    if _libc is None or _libc.syscall(436, lowest, _EVERY, 0) < 0:
        os.closerange(lowest, 4096)


def descriptor_steps(count: int) -> list[Step]:
    """Only descriptors 0 to `count` - 1 stay, and of these only 0 to 2 in a program that is executed.

    Raises:
        OSError: the kernel has no such call (Linux 5.11).
    """
    if _libc.syscall(436, _EVERY, _EVERY, CLOSE_RANGE_CLOEXEC) < 0:
        raise OSError(_ENOSYS, "close_range")
    name, call, number = "close_range", _bare.syscall, ctypes.c_long(436)
    last, zero = ctypes.c_uint(_EVERY), ctypes.c_uint(0)
    steps: list[Step] = [(name, call, (number, ctypes.c_uint(count), last, zero))]
    if count > 3:
        flag = ctypes.c_uint(CLOSE_RANGE_CLOEXEC)
        steps.append((name, call, (number, ctypes.c_uint(3), ctypes.c_uint(count - 1), flag)))
    return steps
