"""A soak: thousands of hostile and honest programs on one sandbox; nothing may be left and no verdict may change.

    python tests/benchmarks/sandbox_soak.py [--backend local] [--programs 10000] [--workers 2]

Programs of the catalogue that end by themselves are run round after round, in a different order each round. After the
first round (everything warm) and at the end it counts descriptors, resident memory, threads, mounts, processes of
boxes, scratch directories, containers, and what is left of containers that are gone; it exits with 1 when one has grown
or a verdict has changed.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import re
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[2])  # a file beside this one has the package's name

from sandboxes import Exit, Sandbox, get  # noqa: E402
from sandboxes.conformance import CATALOGUE, Row, judge_form, load_catalogue, processes_left  # noqa: E402

SLOW_KINDS = ("timeout",)
MEMORY_SLACK_BYTES = 24 << 20
"""Growth of the trainer's memory that is the allocator's, not a leak."""


def census(sandbox: Sandbox) -> dict[str, int]:
    """What is there now."""
    gc.collect()
    found = {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "mounts": sum("docker" not in line for line in Path("/proc/self/mounts").read_text().splitlines()),
        "processes of boxes": len(processes_left(sandbox)),
        "scratch directories": len(list(Path(tempfile.gettempdir()).glob(f"box-{os.getpid()}-*"))),
        "resident bytes": int(Path("/proc/self/statm").read_text().split()[1]) * 4096,
    }
    if sandbox.name == "docker":
        from sandboxes.docker import LABEL, connect

        engine = connect()
        mine = f":{os.getpid()}:"
        containers = engine.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True)
        found["containers"] = sum(mine in container.labels[LABEL] for container in containers)
        there = {container.id for container in engine.containers.list(all=True, ignore_removed=True)}
        engine.close()
        found["cgroups of containers that are gone"] = len(_containers_in(_cgroups()) - there)
        found["mounts of containers that are gone"] = len(
            _containers_in(
                line for line in Path("/proc/self/mounts").read_text().splitlines() if "/containers/" in line
            )
            - there
        )
    return found


def _cgroups() -> Iterator[str]:
    """Every control group of this machine, by its folder."""
    return (folder for folder, _, _ in os.walk("/sys/fs/cgroup"))


def _containers_in(lines: Iterable[str]) -> set[str]:
    """Ids of containers that are named in the lines."""
    return {found for line in lines for found in re.findall(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])", line)}


def main() -> int:
    """Runs the soak and prints both counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="local")
    parser.add_argument("--tier", default=None)
    parser.add_argument("--programs", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    options = {"workers": given.workers} | ({"tier": given.tier} if given.tier else {})
    sandbox = get(given.backend, **options)
    quick = [row for row in load_catalogue(CATALOGUE) if row.kind not in SLOW_KINDS and not row.needs]
    todo = [(row, form) for row in quick for form in row.forms]
    verdicts: dict[tuple[str, str], set[bool]] = {}
    errors: list[str] = []
    lasting: dict[tuple[str, str], float] = {}

    def one(item: tuple[Row, str]) -> None:
        row, form = item
        started = time.monotonic()
        passed, execution = judge_form(sandbox, row.source, form)
        key = (row.id, form)
        lasting[key] = time.monotonic() - started
        if execution.exit is Exit.SANDBOX_ERROR:
            errors.append(f"{row.id} by {form}: {execution.detail}")
        elif passed is not None:
            verdicts.setdefault(key, set()).add(passed)

    started = time.monotonic()
    with sandbox, ThreadPoolExecutor(given.workers) as threads:
        list(threads.map(one, todo))
        # what takes its limit to end would only make the soak long: the rest is what is repeated
        todo = [item for item in todo if lasting[(item[0].id, item[1])] < 0.5] or todo
        before = census(sandbox)
        done = len(lasting)
        order = random.Random(0)
        while done < given.programs:
            order.shuffle(todo)
            list(threads.map(one, todo))
            done += len(todo)
        time.sleep(1.0)
        after = census(sandbox)
    seconds = time.monotonic() - started
    print(f"{done} programs ({len(todo)} different) on {given.backend} in {seconds:.0f} s\n")
    print("| what | after the first round | at the end |\n|---|---|---|")
    faults = 0
    for name, was in before.items():
        now = after[name]
        grown = now - was > (MEMORY_SLACK_BYTES if name == "resident bytes" else 0)
        faults += grown
        print(f"| {name} | {was} | {now}{' **grown**' if grown else ''} |")
    changed = sorted(f"{row} by {form}" for (row, form), seen in verdicts.items() if len(seen) > 1)
    wrong = sorted(
        f"{row.id} by {form}" for row, form in todo if verdicts.get((row.id, form), {row.honest}) != {row.honest}
    )
    print(f"\nverdicts that changed: {changed or 'none'}; wrong: {wrong or 'none'}")
    print(f"sandbox errors: {errors[:5] or 'none'}")
    return int(bool(faults or changed or wrong or errors))


if __name__ == "__main__":
    sys.exit(main())
