"""What runs inside a box, after its walls stand: a script, the calls of a module, a binary, a compiler.

Descriptors: 0 stdin, 1 stdout, 2 stderr, 3 the job, then the mode's own pipes. The job is a marshalled pair, a header
and the files' bytes, written by the trainer's side and read here and nowhere else. Whatever runs here may be rewritten
by the program that runs beside it; all that leaves is bytes and plain data, so there is nothing here to forge but its
own answers.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` makes enums of numbers
import atexit
import builtins
import contextlib
import gc
import io
import marshal
import os
import random
import sys
import threading
import types
from typing import Any, Final, NoReturn

from sandboxes.zygote import judging
from sandboxes.zygote.peer import Peer, PeerLost, Service

JOB: Final = 3


def prepare(folder: str) -> None:
    """Done once in the zygote: what every program finds there, so that no box pays for it.

    Args:
        folder: the working directory of every box, "" where each has its own (`move_to`).
    """
    import _sitebuiltins

    for name in ("exit", "quit"):
        setattr(builtins, name, _sitebuiltins.Quitter(name, "Ctrl-D (i.e. EOF)"))
    for name in ("copyright", "credits", "license"):
        setattr(builtins, name, _sitebuiltins._Printer(name, ""))
    builtins.help = _sitebuiltins._Helper()
    sys.dont_write_bytecode = True
    sys.orig_argv = []
    sys.path.insert(0, folder)
    sys.set_int_max_str_digits(0)  # a contest program may print 10**5000; its time limit bounds what that costs
    _standard_streams()
    _make_module("__main__")
    for name in [name for name in sys.modules if name == "sandboxes" or name.startswith("sandboxes.")]:
        del sys.modules[name]
    seed()
    number_main_thread()  # as the first process of its own pid namespace this one has the number that boxes have


def seed() -> None:
    """Same program, same run."""
    random.seed(0)


def number_main_thread() -> None:
    """`threading` remembers the main thread's id; what `os.fork` would have run puts it right."""
    renumber = getattr(threading.main_thread(), "_set_native_id", None)
    if renumber is not None:
        renumber()


def move_to(folder: str) -> None:
    """This box has a folder of its own."""
    os.environ["HOME"] = os.environ["TMPDIR"] = folder
    sys.path[0] = os.getcwd()


def read_job(size: int) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The job's header and files; its descriptor is closed."""
    raw = os.read(JOB, size)
    while len(raw) < size:
        raw += os.read(JOB, size - len(raw))
    os.close(JOB)
    header, files = marshal.loads(raw)
    return header, files


def write_files(files: dict[str, bytes]) -> None:
    """Writes the program's files below the working directory."""
    for path, content in files.items():
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o755)
        try:
            view = memoryview(content)
            while view:
                view = view[os.write(handle, view) :]
        finally:
            os.close(handle)


def _standard_streams() -> None:
    """Text streams on descriptors 0-2, as a fresh interpreter has them under UTF-8.

    They remember whether one can seek on what they stand for: that is a file, a pipe and a pipe in every box.
    """
    reads, writes = os.pipe()
    null = os.open(os.devnull, os.O_RDONLY)
    before = [os.dup(descriptor) for descriptor in range(3)]
    for target, source in enumerate((null, writes, writes)):
        os.dup2(source, target)
    _open_streams()
    for target, source in enumerate(before):
        os.dup2(source, target)
    for descriptor in (reads, writes, null, *before):
        os.close(descriptor)


def _open_streams() -> None:
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, "r", closefd=False)), encoding="utf-8")
    out = io.BufferedWriter(io.FileIO(1, "w", closefd=False))
    sys.stdout = io.TextIOWrapper(out, encoding="utf-8", errors="surrogateescape", write_through=False)
    err = io.BufferedWriter(io.FileIO(2, "w", closefd=False))
    sys.stderr = io.TextIOWrapper(err, encoding="utf-8", errors="backslashreplace", line_buffering=True)
    streams: tuple[Any, ...] = (sys.stdin, sys.stdout, sys.stderr)
    for stream, name, mode in zip(streams, ("<stdin>", "<stdout>", "<stderr>"), "rww", strict=True):
        stream.buffer.raw.name = name
        stream.mode = mode  # the best-known fast reader of contest programs asks for it
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]


def _end(code: int) -> NoReturn:
    """Ends the process as a finishing interpreter would: threads, atexit, flush, the program's own objects, flush."""
    for step in (_join_threads, atexit._run_exitfuncs, _flush):
        try:
            step()
        except BaseException:
            code = code or 1
    for step in (_let_go, _flush):
        with contextlib.suppress(BaseException):
            step()
    os._exit(code & 0xFF)


def _join_threads() -> None:
    """What an interpreter does for threads at its end, where there is one to wait for or a function to call: to find
    that there is none takes `threading` a tenth of a millisecond."""
    waited_for = getattr(threading, "_shutdown_locks", None)  # of threads that are not daemons; maybe the main one's
    main = getattr(threading.main_thread(), "_tstate_lock", None)
    if waited_for is None or waited_for - {main} or getattr(threading, "_threading_atexits", True):
        threading._shutdown()  # type: ignore[attr-defined]


def _flush() -> None:
    """Raises what flushing stdout raises; a stream that the program closed or took away has nothing to flush."""
    stdout = getattr(sys, "stdout", None)
    for stream in (getattr(sys, "stderr", None), stdout, sys.__stdout__):
        try:
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        except BaseException:
            # of the others an interpreter says nothing: `sys.stdout = TextIOWrapper(sys.stdout.detach())`
            if stream is stdout:
                raise


def _let_go() -> None:
    """Ends the objects of the program's module: `out = open(1, "w")` is flushed, and a `__del__` prints, only then."""
    module = sys.modules.get("__main__")
    if module is None:
        return
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__  # as an interpreter does before this step
    names = vars(module)
    for name in list(names):
        if name != "__builtins__":
            names[name] = None
    gc.collect()  # what the zygote had is frozen: this sees the program's objects alone


def _report_exception() -> int:
    """Prints what an uncaught exception prints. Returns the exit code."""
    kind, value, trace = sys.exc_info()
    if isinstance(value, SystemExit):
        if value.code is None:
            return 0
        if isinstance(value.code, int):
            return value.code & 0xFF
        try:
            print(value.code, file=sys.stderr)
        except BaseException:
            os.write(2, b"SystemExit\n")
        return 1
    try:
        sys.stdout.flush()
    except BaseException:
        pass
    try:
        if sys.excepthook is sys.__excepthook__:
            import traceback

            # leave out this module's own frames
            while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
                trace = trace.tb_next
            traceback.print_exception(kind, value, trace)
        else:
            sys.excepthook(kind, value, trace)  # type: ignore[arg-type]
    except BaseException:
        os.write(2, f"{getattr(kind, '__name__', 'exception')}\n".encode())
    return 1


def _begin(header: dict[str, Any]) -> None:
    sys.argv = [header["entry"], *header.get("args", ())]
    # which the zygote ignores: `_thread.interrupt_main()` of a watchdog thread
    _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def _make_module(name: str) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__builtins__ = builtins  # type: ignore[attr-defined]
    sys.modules[name] = module
    return module


def run_script(header: dict[str, Any], files: dict[str, bytes]) -> NoReturn:
    """A Python program from its entry file to its end."""
    _begin(header)
    names = sys.modules["__main__"].__dict__
    names["__file__"] = path = f"{sys.path[0]}/{header['entry']}"
    code = 0
    try:
        exec(compile(files.pop(header["entry"]), path, "exec", dont_inherit=True), names)
    except BaseException:
        code = _report_exception()
    _end(code)


def load_solution(header: dict[str, Any], source: bytes, name: str) -> types.ModuleType:
    """Runs the program's entry as a module called `name`."""
    module = _make_module(name)
    module.__file__ = f"{sys.path[0]}/{header['entry']}"
    exec(compile(source, module.__file__, "exec", dont_inherit=True), module.__dict__)
    return module


def run_calls(header: dict[str, Any], files: dict[str, bytes]) -> NoReturn:
    """Loads a module and answers requests on descriptor 4 through descriptor 5 until there are no more."""
    _begin(header)
    service = Service(Peer(4, 5, header["value_bytes"]), objects=bool(header.get("objects")))
    try:
        module = load_solution(header, files.pop(header["entry"]), header.get("module", "solution"))
    except BaseException:
        _end(_report_exception() or 1)
    service.module = module
    service.say_loaded(header.get("names", ()))
    service.serve()
    try:
        sys.stdout.flush()
    except BaseException:
        pass
    os._exit(0)


def run_tests(header: dict[str, Any], files: dict[str, bytes]) -> NoReturn:
    """A test box: trusted tests here, the solution behind descriptors 4 (its answers) and 5 (our requests)."""
    solution: dict[str, bytes] = header.pop("solution", {})
    write_files({path: content for path, content in solution.items() if path not in files})
    _begin(header)
    code = judging.run(header, files, solution)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        pass
    os._exit(code)


def run_binary(header: dict[str, Any], _: dict[str, bytes]) -> NoReturn:
    """execve of `argv`, whose program is on the machine or (descriptor 4) was compiled before."""
    if header.get("binary"):
        handle = os.open(header["binary"], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o755)
        size = os.fstat(4).st_size
        done = 0
        while done < size:
            done += os.sendfile(handle, 4, done, size - done)
        os.close(handle)
        os.close(4)
    try:
        os.execve(header["argv"][0], header["argv"], dict(os.environ))
    except OSError as error:
        os.write(2, f"{header['argv'][0]}: {error.strerror}\n".encode())
    os._exit(127)


def run_compiler(header: dict[str, Any], _: dict[str, bytes]) -> NoReturn:
    """Runs a compiler and copies what it made to descriptor 4."""
    import subprocess

    code = subprocess.call(header["argv"], stdin=subprocess.DEVNULL)
    if code == 0:
        with open(header["output"], "rb") as made:
            size = os.fstat(made.fileno()).st_size
            done = 0
            while done < size:
                done += os.sendfile(4, made.fileno(), done, size - done)
    os._exit(code & 0xFF)


_MODES: Final = {
    "script": run_script,
    "calls": run_calls,
    "tests": run_tests,
    "binary": run_binary,
    "compile": run_compiler,
}


def main(mode: str, size: int) -> NoReturn:
    """Runs one mode, on a job of `size` bytes, to the end of the process."""
    try:
        header, files = read_job(size)
        write_files(files)
        _MODES[mode](header, files)
    except PeerLost:  # nobody asks any more: the tests have ended before the solution had loaded
        os._exit(0)
    except BaseException as error:
        try:
            os.write(2, f"{type(error).__name__}: {error}\n".encode("utf-8", "replace")[:2000])
        finally:
            os._exit(1)
