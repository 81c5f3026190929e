"""Speed of the sandboxes beside plain ways of running a program, in one run, so that load on the machine cancels.

    python tests/benchmarks/sandboxes.py [--rounds 12] [--programs 8] [--no-docker] [--check]

Every way takes its turn in every round; a row is the least over rounds of the wall time per program, which is what
is left when nothing else wants the CPUs (the median stands beside it). `--check` exits with 1 where a ratio is below
what the README promises. The floors (bare fork, fork + exec) are what no sandbox can beat.

"human-eval style" repeats the steps of human-eval's checker, written anew: a manager process, a child per program by
`multiprocessing`, an alarm, `exec` in the child, a shared list for the word.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[2])  # this file has the package's name and would stand before it

from sandboxes import Call, Exit, Limits, Program, Sandbox, SandboxError  # noqa: E402
from sandboxes.local import LocalSandbox  # noqa: E402

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
WANT = {50: 52, 60: 72, 70: 72}
NUMPY = "import sys, numpy\nprint(int(numpy.arange(int(input())).sum()))\n"
ASSERTS = "def check(candidate):\n" + "".join(f"    assert candidate({n}) == {{want[{n}]}}\n" for n in (50, 60, 70))


@dataclass
class Way:
    """One way of running a program: `run` does it once and raises when the answer is wrong."""

    name: str
    run: Callable[[], None]
    programs: int = 0


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


def by_stdio(sandbox: Sandbox, source: str, given: str, wanted: str) -> None:
    """One program, stdin in, stdout out."""
    done = sandbox.run(Program.python(source, stdin=given))
    expect(done.exit is Exit.OK and done.stdout.decode() == wanted, done)


def by_calls(sandbox: Sandbox, want: dict[int, int]) -> None:
    """Three function calls, compared outside."""
    done = sandbox.call(Program.python(SOLUTION), [Call("solve", (n,)) for n in want])
    expect([result.value for result in done.results] == list(want.values()), done)


def by_two_boxes(sandbox: Sandbox, asserts: str) -> None:
    """Assert tests in one box, the solution in another."""
    done = sandbox.judge(Program.python(asserts + "check(solve)\n"), Program.python(SOLUTION), ("solve",))
    expect(done.all_passed, done)


def many(sandbox: Sandbox, count: int, given: str, wanted: str) -> None:
    """A batch on all workers."""
    done = sandbox.run_many([Program.python(STDIO, stdin=given)] * count)
    expect(all(run.stdout.decode() == wanted for run in done), done[0])


def milliseconds(ways: list[Way], rounds: int, programs: int) -> dict[str, tuple[float, float]]:
    """Least and median over rounds of wall milliseconds per program, each way once per round."""
    found: dict[str, list[float]] = {way.name: [] for way in ways}
    for way in ways:
        way.run()  # warm
    for _ in range(rounds):
        for way in ways:
            count = way.programs or programs
            started = time.perf_counter()
            for _ in range(count):
                way.run()
            found[way.name].append((time.perf_counter() - started) / count * 1000)
    return {name: (min(times), statistics.median(times)) for name, times in found.items()}


def main() -> int:
    """Prints the tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--programs", type=int, default=8)
    parser.add_argument("--no-docker", action="store_true")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()

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
        Way("floor: fork", fork_only),
        Way("floor: fork + exec /bin/true", fork_exec),
        Way("subprocess python3 -c", lambda: plain_subprocess(STDIO, line, wanted)),
        Way("human-eval style", lambda: human_eval_style(SOLUTION + asserts + "check(solve)\n")),
        Way("local, stdin/stdout", lambda: by_stdio(local, STDIO, line, wanted)),
        Way("local, three calls", lambda: by_calls(local, want)),
        Way("local, two boxes", lambda: by_two_boxes(local, asserts)),
    ]
    sandboxes: list[Sandbox] = [local, warm, *pairs.values()]
    try:
        lock = LocalSandbox(workers=1, tier="landlock")
        lock.tier()
        sandboxes.append(lock)
        ways.append(Way("local (landlock), stdin/stdout", lambda: by_stdio(lock, STDIO, line, wanted)))
    except SandboxError as error:
        print(f"no landlock tier: {error}", file=sys.stderr)
    try:
        import numpy  # noqa: F401

        ways.append(Way("subprocess, numpy", lambda: plain_subprocess(NUMPY, line, f"{sum(range(50))}\n"), 5))
        ways.append(Way("local, numpy warm", lambda: by_stdio(warm, NUMPY, line, total)))
    except ImportError:
        print("no numpy: its rows are left out", file=sys.stderr)
    batch = given.programs * 2
    for count, pair in pairs.items():
        ways.append(
            Way(
                f"local, {count} worker{'s' * (count > 1)}, batch", lambda pair=pair: many(pair, batch, line, wanted), 1
            )
        )
    container = ""
    if not given.no_docker:
        container = add_docker(ways, sandboxes, line, wanted)
    try:
        found = milliseconds(ways, given.rounds, given.programs)
        hang = hanging(local)
    finally:
        for sandbox in sandboxes:
            sandbox.close()
        if container:
            subprocess.run(["docker", "rm", "-f", container], capture_output=True, check=False)
    for count in pairs:
        name = f"local, {count} worker{'s' * (count > 1)}, batch"
        found[name] = (found[name][0] / batch, found[name][1] / batch)
    missed = report(found, hang, given.check)
    checker = SOLUTION + asserts + "check(solve)\n"
    cpu_milliseconds(
        {
            "subprocess python3 -c": (None, lambda _: plain_subprocess(STDIO, line, wanted)),
            "human-eval style": (None, lambda _: human_eval_style(checker)),
            "local, stdin/stdout": (None, lambda box: by_stdio(box, STDIO, line, wanted)),
            "local, three calls": (None, lambda box: by_calls(box, want)),
            "local, two boxes": (None, lambda box: by_two_boxes(box, asserts)),
            "local (landlock), stdin/stdout": ({"tier": "landlock"}, lambda box: by_stdio(box, STDIO, line, wanted)),
        },
        given.programs * 4,
    )
    return missed


def cpu_milliseconds(ways: dict[str, tuple[dict[str, object] | None, Callable[[Sandbox], None]]], count: int) -> None:
    """Prints CPU per program, of the caller and all its children, which load on the machine does not change.

    A sandbox of its own for each way; what starting it costs is taken off by running it once with one program.
    """

    def spent() -> float:
        own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime

    print("\n| way | CPU ms per program |\n|---|---|")
    for name, (options, run) in ways.items():
        costs = []
        for programs in (1, count + 1):
            started = spent()
            sandbox = LocalSandbox(workers=1, **(options or {"tier": "namespaces"}))  # type: ignore[arg-type]
            for _ in range(programs):
                run(sandbox)
            sandbox.close()
            costs.append(spent() - started)
        print(f"| {name} | {(costs[1] - costs[0]) / count * 1000:.2f} |")


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


def report(found: dict[str, tuple[float, float]], hang: float, check: bool) -> int:
    """Prints both tables. Returns 1 when asked to check and a ratio is below its promise."""
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}\n")
    print("| way | ms per program | median | programs per second |\n|---|---|---|---|")
    for name, (least_ms, median) in found.items():
        print(f"| {name} | {least_ms:.2f} | {median:.2f} | {1000 / least_ms:.0f} |")
    print("\n| faster | than | promised | seen | |\n|---|---|---|---|---|")
    missed = 0
    for fast, slow, least in PROMISES:
        if fast in found and slow in found:
            ratio = found[slow][0] / found[fast][0]
            missed += ratio < least
            print(f"| {fast} | {slow} | {least:g} | {ratio:.1f} | {'' if ratio >= least else 'below'} |")
    held = hang <= 0.2
    print(f"\nA program that hangs in each of three tests costs its limit of 1 s plus {hang:.3f} s (promised 0.2).")
    return int(check and (missed > 0 or not held))


if __name__ == "__main__":
    sys.exit(main())
