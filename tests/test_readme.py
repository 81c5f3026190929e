"""The README's commands run, its Python runs, and its figures' scripts exist."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.S | re.M)


def commands() -> list[str]:
    found = []
    for block in blocks("console"):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append(line[2:].split("   #")[0].strip())
    return list(dict.fromkeys(found))


def recipe(target: str) -> list[str]:
    """The commands of a Makefile target, as this interpreter's environment would run them."""
    text = (ROOT / "Makefile").read_text()
    match = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", text, re.M)
    assert match is not None, f"Makefile has no target {target!r}"
    return [line.strip().replace("$(BIN)", str(Path(sys.executable).parent)) for line in match[1].splitlines()]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks like the clone, so that what a command writes stays out of the checkout."""
    folder = tmp_path_factory.mktemp("clone")
    for name in ("rewards", "sandboxes", "grpo_runner", "datasets_cards", "tests", "pyproject.toml", "Makefile"):
        (folder / name).symlink_to(ROOT / name)
    return folder


def run(command: str, clone: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HF_HUB_OFFLINE": "1"}
    return subprocess.run(
        command, shell=True, cwd=clone, env=environment, capture_output=True, text=True, timeout=600, check=False
    )


def test_the_readme_shows_a_real_result_in_its_first_25_lines() -> None:
    """Held-out accuracy before and after, or a scored file."""
    head = "\n".join(README.splitlines()[:25])
    assert "make demo" in head
    assert re.search(r"held-out.*\d", head, re.I)


@pytest.mark.parametrize("command", commands())
def test_each_command_of_the_readme_runs(command: str, clone: Path) -> None:
    """In order, in one folder; `make` targets by the commands they stand for."""
    if command == "make test":
        assert recipe("test")
        return
    steps = recipe(command.removeprefix("make ")) if command.startswith("make ") else [command]
    for step in steps:
        done = run(step, clone)
        assert done.returncode == 0, f"$ {step}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_each_python_block_of_the_readme_runs(number: int) -> None:
    """Doctests where they show output."""
    block = blocks("python")[number]
    if ">>>" in block:
        parser = doctest.DocTestParser()
        test = parser.get_doctest(block, {}, f"README block {number}", "README.md", 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        assert runner.run(test).failed == 0
    else:
        done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0, done.stderr


def test_every_verifier_is_in_the_readme() -> None:
    """One row each."""
    from rewards.registry import _BUILT_IN

    missing = [name for name in _BUILT_IN if f"| `{name}`" not in README]
    assert missing == []


def test_scripts_that_the_readme_names_exist() -> None:
    """A figure without its script cannot be rerun."""
    for path in re.findall(r"`(tests/benchmarks/[\w/]+\.py)`", README):
        assert (ROOT / path).exists(), path
