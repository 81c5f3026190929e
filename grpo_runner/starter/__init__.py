"""The starter: a tiny language model that can reason but mostly guesses, shipped with the package.

`CHECKPOINT` is an ordinary Hugging Face model folder (0.11 M parameters, about 440 kB), so nothing in the
runner knows it by a special path: `--model <that folder>` would train the same. `grpo_runner.starter.build`
rebuilds it from nothing in about a minute; PROVENANCE.json in the folder holds the command and the seed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

CHECKPOINT: Final = Path(__file__).parent / "checkpoint"
