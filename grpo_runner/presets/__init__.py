"""Runs for one A100 80 GB, as TOML: `grpo-run --preset a100-7b-lora`, and any flag laid over it."""

from __future__ import annotations

from pathlib import Path

from grpo_runner.config import ConfigError
from rewards.registry import nearest

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Every preset, by name."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def path(name: str) -> Path:
    """The file of a preset.

    Raises:
        ConfigError: no preset has that name; the nearest are named.
    """
    if name not in names():
        raise ConfigError([f"--preset: no preset {name!r}{nearest(name, names())}"])
    return FOLDER / f"{name}.toml"
