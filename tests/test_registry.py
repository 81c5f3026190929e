"""Names to verifiers: nearest hints, duplicates refused, plug-ins lazy and harmless."""

from __future__ import annotations

import importlib
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from rewards import registry as module
from rewards.registry import (
    REGISTRY,
    DuplicateVerifier,
    ParamError,
    Params,
    Registry,
    UnknownVerifier,
    Verifier,
    register,
)
from rewards.verdict import Sample, Verdict


class LengthParams(Params):
    limit: int
    unit: str = "tokens"


class Length(Verifier[LengthParams]):
    """A verifier for tests."""

    def verify(self, sample: Sample) -> Verdict:
        return Verdict.scored(float(len(sample.text) <= self.params.limit))


class Other(Verifier[Params]):
    """Another."""


def test_an_unknown_name_gets_the_nearest() -> None:
    """As Gymnasium and inspect_ai do."""
    with pytest.raises(UnknownVerifier, match="no verifier 'maht'; did you mean 'math'"):
        REGISTRY.get("maht")


def test_a_name_taken_twice_is_refused_naming_both() -> None:
    """Silent replacement would change rewards by import order."""
    mine = Registry()
    mine.add("length", Length)
    with pytest.raises(DuplicateVerifier, match=r"test_registry:Length and by .*test_registry:Other"):
        mine.add("length", Other)


def test_a_built_in_name_cannot_be_taken() -> None:
    """Before the built-in one was ever loaded."""
    with pytest.raises(DuplicateVerifier, match=r"rewards\.math_equivalence"):
        register("math", Registry(built_in=dict(module._BUILT_IN)))(Other)


def test_registering_the_same_class_again_is_fine() -> None:
    """Modules get reloaded in notebooks."""
    mine = Registry()
    mine.add("length", Length)
    mine.add("length", Length)
    assert mine.get("length") is Length


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({}, "length needs limit="),
        ({"limit": 3, "unti": "x"}, "did you mean 'unit'"),
        ({"limit": "many"}, "limit"),
    ],
)
def test_bad_params_are_refused_at_build_time(params: dict[str, object], words: str) -> None:
    """Naming the parameter, what was given and what fits."""
    Registry().add("length", Length)
    with pytest.raises(ParamError, match=words):
        Length(**params)


def test_params_cannot_be_changed_afterwards() -> None:
    """The fingerprint would lie."""
    with pytest.raises(ValueError, match="frozen"):
        Length(limit=3).params.limit = 4  # type: ignore[misc]


def test_the_fingerprint_follows_name_version_and_params() -> None:
    """It is the cache key."""
    assert Length(limit=3).fingerprint == Length(limit=3, unit="tokens").fingerprint
    assert Length(limit=3).fingerprint != Length(limit=4).fingerprint


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, module.ENTRY_POINT_GROUP)


def with_plugins(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> Registry:
    monkeypatch.setattr(module, "entry_points", lambda group: list(points))
    return Registry(module.ENTRY_POINT_GROUP)


def test_a_plugin_loads_on_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Listing loads nothing."""
    mine = with_plugins(monkeypatch, point("theirs", "plugin_for_tests:Theirs"))
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "plugin"))
    sys.modules.pop("plugin_for_tests", None)
    assert mine.names() == ["theirs"]
    assert "plugin_for_tests" not in sys.modules
    assert mine.get("theirs").name == "theirs"


def test_a_broken_plugin_is_listed_and_breaks_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its import error is told to whoever asks for it."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "plugin"))
    mine = with_plugins(
        monkeypatch,
        point("broken", "no_such_package:X"),
        point("theirs", "plugin_for_tests:Theirs"),
        point("wrong", "plugin_for_tests:NOT_A_VERIFIER"),
    )
    assert mine.get("theirs").name == "theirs"
    with pytest.raises(UnknownVerifier, match="no_such_package"):
        mine.get("broken")
    assert {b.name for b in mine.broken()} == {"broken", "wrong"}
    assert mine.names() == ["theirs"]


def test_an_installed_plugin_is_found(tmp_path: Path) -> None:
    """Through real package metadata, in a fresh process."""
    info = tmp_path / "someones_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: someones-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[rewards.verifiers]\ntheirs = plugin_for_tests:Theirs\n")
    plugin = Path(__file__).parent / "plugin"
    script = (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(plugin)!r}]\n"
        "from rewards import Reward\n"
        "print(Reward.parse('theirs').components['theirs']('x').score)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "0.5", done.stderr


@pytest.mark.parametrize("name", sorted(module._BUILT_IN))
def test_every_built_in_name_leads_to_its_class(name: str) -> None:
    """The table of names is kept by hand."""
    path, _, attribute = module._BUILT_IN[name].partition(":")
    assert getattr(importlib.import_module(path), attribute) is REGISTRY.get(name)
    assert REGISTRY.get(name).name == name
