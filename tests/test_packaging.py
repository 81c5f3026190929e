"""The house: its folders, the direction of imports, types, lint, and how light the import is."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT

import rewards

PACKAGES = ("rewards", "sandboxes", "grpo_runner", "datasets_cards")


def tool(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)


def tracked() -> list[str]:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a git checkout")
    return done.stdout.splitlines()


def test_ruff_finds_nothing() -> None:
    """Lint rules are in pyproject.toml."""
    done = tool("ruff", "check", ".")
    assert done.returncode == 0, done.stdout


def test_every_file_is_formatted() -> None:
    """`ruff format`."""
    done = tool("ruff", "format", "--check", ".")
    assert done.returncode == 0, done.stdout


def test_types_hold_under_mypy_strict() -> None:
    """Over all four packages."""
    done = tool("mypy")
    assert done.returncode == 0, done.stdout


def test_imports_go_one_way() -> None:
    """grpo_runner -> datasets_cards -> rewards -> sandboxes; the contracts are in pyproject.toml."""
    script = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "kept" in done.stdout


def loaded_by(statement: str) -> set[str]:
    script = f"import sys; {statement}; print(' '.join(sorted(m.partition('.')[0] for m in sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


HEAVY = {"torch", "sympy", "trl", "transformers", "docker", "math_verify", "datasets", "numpy", "matplotlib", "flint"}


@pytest.mark.parametrize(
    "statement",
    [
        "import rewards",
        "import rewards.cli",
        "import rewards.registry; [rewards.registry.get(n) for n in rewards.registry.names()]",
        "import grpo_runner.config",
    ],
)
def test_nothing_heavy_loads_before_it_is_used(statement: str) -> None:
    """Not torch, sympy, docker or trl; not even when every verifier class is loaded."""
    assert loaded_by(statement) & HEAVY == set()


@pytest.mark.parametrize(
    ("base", "ours"),
    [("import pydantic", "import rewards"), ("from pydantic import BaseModel", "from rewards import Verifier")],
)
def test_importing_rewards_adds_at_most_a_tenth_of_a_second(base: str, ours: str) -> None:
    """CPU time above pydantic's own, the least of several runs."""
    script = f"import time; {base}; t = time.process_time(); {ours}; print(time.process_time() - t)"
    seconds = [
        float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout) for _ in range(5)
    ]
    assert min(seconds) < 0.1


def test_public_names_are_pinned() -> None:
    """Adding or removing one is a decision."""
    assert sorted(rewards.__all__) == sorted(
        ["__version__", "Sample", "Verdict", "Status", "Reason", "Params", "Verifier", "register", "get", "names",
         "Reward", "RewardResult", "WorkerPool", "MathEquivalence", "CodeTests", "TagLayout"]
    )  # fmt: skip
    for name in rewards.__all__:
        assert getattr(rewards, name) is not None


def test_a_misspelt_public_name_gets_the_nearest() -> None:
    """`from rewards import MathEquivalance`."""
    with pytest.raises(AttributeError, match="did you mean 'MathEquivalence'"):
        rewards.MathEquivalance  # noqa: B018


def test_top_level_is_fixed() -> None:
    """Four packages, the tests, and the root files every repository has."""
    folders = {path.split("/")[0] for path in tracked() if "/" in path}
    assert folders <= {*PACKAGES, "tests", ".ci"}
    files = {path for path in tracked() if "/" not in path}
    assert files <= {
        "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "constraints.txt",
        ".gitignore",
    }  # fmt: skip


def test_no_room_is_called_utils() -> None:
    """Nor helpers, common or manager: a name says what is inside."""
    names = {Path(path).stem for path in tracked()} | {part for path in tracked() for part in Path(path).parts}
    assert names & {"utils", "util", "helpers", "helper", "common", "manager", "misc"} == set()


def test_versions_agree() -> None:
    """pyproject.toml, the package and the changelog."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == rewards.__version__
    assert f"## {rewards.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_constraints_pin_everything_that_is_required() -> None:
    """A reproducible install pins each direct dependency; torch exactly as CI installs it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(
            r
            for extra in ("train", "docker", "structure", "language", "ifeval", "dev")
            for r in project["optional-dependencies"][extra]
        ),
    ]
    pinned = {
        line.partition("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line
    }
    for requirement in wanted:
        name = requirement.split("[")[0]
        if name == "grpo-rewards":  # an extra of our own that stands for others
            continue
        for sign in "><=!~;":
            name = name.split(sign)[0]
        assert name.strip().lower().replace("_", "-") in pinned, requirement
    assert "torch==2.13.0" in (ROOT / "constraints.txt").read_text()


def test_each_package_ships_its_types() -> None:
    """`py.typed`."""
    for package in PACKAGES:
        assert (ROOT / package / "py.typed").exists()


@pytest.mark.parametrize("script", sorted((ROOT / "tests" / "benchmarks").glob("*.py")), ids=lambda path: path.stem)
def test_what_a_benchmark_imports_of_ours_is_there(script: Path) -> None:
    """The soak asked for a function that had been gone for a day, and no test runs a soak."""
    tree = ast.parse(script.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in PACKAGES:
            module = importlib.import_module(node.module or "")
            for name in (alias.name for alias in node.names):
                submodule = importlib.util.find_spec(f"{node.module}.{name}") if hasattr(module, "__path__") else None
                assert hasattr(module, name) or submodule is not None, f"{script.name}: {node.module} has no {name}"
