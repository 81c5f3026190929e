"""Every backend passes the contract's checks and the whole catalogue: paid 0, reached 0, left 0, honest failed 0.

Rows are run beside each other on several workers, as a training step runs them; pairs (a state leak) one after the
other on a single worker. Each row is a test of its own, so a report names the program.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import SHARED

from sandboxes import Exit, Program, Sandbox, SandboxError
from sandboxes.conformance import (
    CATALOGUE,
    CHECKS,
    LIMITS,
    Canaries,
    Outcome,
    Row,
    applies,
    canary_works,
    load_catalogue,
    run_at_once,
    run_row,
)
from sandboxes.docker import DockerSandbox, build_image, connect
from sandboxes.local import LocalSandbox

OWN = CATALOGUE
GIVEN = SHARED / "cases" / "hostile"
CATALOGUES = {"own": OWN, "shared": GIVEN}
THREADS = 4


def _namespaces(workers: int) -> Sandbox:
    return LocalSandbox(workers=workers, tier="namespaces")


def _landlock(workers: int) -> Sandbox:
    return LocalSandbox(workers=workers, tier="landlock")


def _packages() -> list[str]:
    """What the container's image holds: pytest, and numpy where it is installed."""
    return ["pytest", *(name for name in ("numpy",) if importlib.util.find_spec(name) is not None)]


def _docker(workers: int) -> Sandbox:
    return DockerSandbox(workers=workers, packages=_packages())


BACKENDS: dict[str, Callable[[int], Sandbox]] = {
    "namespaces": _namespaces,
    "landlock": _landlock,
    "docker": _docker,
}
BACKEND_PARAMS = [
    "namespaces",
    pytest.param("landlock", marks=pytest.mark.slow),
    pytest.param("docker", marks=[pytest.mark.docker, pytest.mark.slow]),
]


@functools.cache
def _absent(backend: str) -> str:
    """Why a backend cannot be had on this machine, or ""."""
    if sys.platform != "linux":
        return "the walls need Linux"
    try:
        if backend == "docker":
            connect().close()
            build_image(packages=_packages())
        with BACKENDS[backend](1) as sandbox:
            execution = sandbox.run(Program.python("print(1)"), LIMITS)
            return "" if execution.exit is Exit.OK else execution.detail
    except SandboxError as error:
        return str(error)


def _made(backend: str, workers: int) -> Sandbox:
    reason = _absent(backend)
    if reason:
        if os.environ.get("REQUIRE_BACKENDS", "").find(backend) >= 0:
            pytest.fail(f"{backend} is required here, and absent: {reason}")
        pytest.skip(f"{backend} is absent on this machine: {reason}")
    return BACKENDS[backend](workers)


@dataclass
class Results:
    """All outcomes of one catalogue on one backend."""

    outcomes: dict[str, Outcome]
    left_out: dict[str, str]


@functools.cache
def _results(backend: str, catalogue: str) -> Results:
    rows = load_catalogue(CATALOGUES[catalogue])
    outcomes: dict[str, Outcome] = {}
    left_out: dict[str, str] = {}
    with _made(backend, THREADS) as sandbox:
        whys = {row.needs: applies(row, sandbox) for row in rows if row.needs}
        left_out = {row.id: whys[row.needs] for row in rows if whys.get(row.needs)}
        with Canaries() as canaries:
            todo = [row for row in rows if row.id not in left_out]
            for outcome in run_at_once(sandbox, todo, canaries, THREADS):
                outcomes[outcome.row.id] = outcome
    partners = {row.id: row for row in rows}
    with _made(backend, 1) as sandbox, Canaries() as canaries:
        for row in rows:
            if row.pair in partners:
                outcomes[row.id] = run_row(sandbox, row, canaries, partners[row.pair])
    return Results(outcomes, left_out)


def _rows() -> list[Any]:
    found = []
    for catalogue, folder in CATALOGUES.items():
        if Path(folder).is_dir():
            found += [pytest.param(catalogue, row.id, id=f"{catalogue}-{row.id}") for row in load_catalogue(folder)]
    return found


@pytest.mark.parametrize("backend", BACKEND_PARAMS)
@pytest.mark.parametrize("check", sorted(CHECKS))
def test_the_contract_holds(backend: str, check: str) -> None:
    """A named check of the contract."""
    with _made(backend, 2) as sandbox:
        CHECKS[check](sandbox)


@pytest.mark.parametrize("backend", BACKEND_PARAMS)
@pytest.mark.parametrize(("catalogue", "row_id"), _rows())
def test_a_program_of_the_catalogue(backend: str, catalogue: str, row_id: str) -> None:
    """Hostile: not paid, nothing reached, nothing left, in time. Honest: passed."""
    _made(backend, 1).close()
    results = _results(backend, catalogue)
    if row_id in results.left_out:
        pytest.skip(results.left_out[row_id])
    outcome = results.outcomes[row_id]
    assert outcome.faults == [], (outcome.exits, outcome.row.reason)


def test_the_shared_catalogue_is_tried_where_it_is() -> None:
    """Says so where it is absent: a clone has its own catalogue only."""
    if not GIVEN.is_dir():
        pytest.skip("needs the shared corpora, which are not part of a clone: cases/hostile is absent")
    assert len(load_catalogue(GIVEN)) == 82


def test_marks_would_be_seen() -> None:
    """A program outside any sandbox does leave one; otherwise none found would prove nothing."""
    with Canaries() as canaries:
        why = canary_works()
        if not canaries.marks_possible:
            pytest.skip(why)
        assert why == ""


def test_the_catalogue_is_large_and_each_row_has_a_reason() -> None:
    """At least 120 programs, every kind, each file with one row and each row with its reason."""
    rows = load_catalogue(OWN)
    assert len(rows) >= 120
    assert {path.stem for path in OWN.glob("*.py")} == {row.id for row in rows}
    assert all(row.reason and row.must for row in rows)
    kinds = {row.kind for row in rows}
    assert kinds == {
        "comparator",
        "comparison",
        "early-exit",
        "forge-result",
        "honest",
        "monkeypatch",
        "process",
        "reach-out",
        "resource",
        "state-leak",
        "steal-tests",
        "timeout",
    }


def _probe(row: Row) -> bool:
    return row.kind == "reach-out" and row.source.rstrip().endswith(b"print(i * i)")


def test_probes_can_succeed() -> None:
    """A reach-out row answers right when its probe works: outside a sandbox at least ten of them do."""
    import subprocess

    worked = 0
    names = {"out_other_processes", "out_io_uring", "out_memfd_exec", "out_symlink", "out_raw", "out_user_namespace"}
    names |= {"out_new_privileges", "out_no_filter", "out_udp", "out_32_bit", "out_mqueue", "out_kill_everybody"}
    for row in load_catalogue(OWN):
        if row.id in names and _probe(row):
            run = subprocess.run(
                [sys.executable, "-c", row.source.decode()], input=b"3\n", capture_output=True, timeout=60, check=False
            )
            worked += run.stdout == b"1\n4\n9\n"
    for mark in Path("/esc").glob("*"):
        mark.unlink()
    assert worked >= 4
