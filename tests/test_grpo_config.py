"""The configuration: TOML and flags are one thing, and every fault is named at once with its key path."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

from grpo_runner.config import ALGORITHMS, ConfigError, RunConfig, add_flags, leaves


def problems(**overrides: object) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        RunConfig.load(None, {key.replace("__", "."): value for key, value in overrides.items()})
    return caught.value.problems


def test_the_default_is_the_demonstration_on_the_starter() -> None:
    """`grpo-run --reward math+format` names no model, no data set and no GPU."""
    config = RunConfig.load()
    assert config.is_starter
    assert config.data.dataset is None
    assert (config.reward, config.prompts_per_step, config.learning_rate) == ("math+format", 16, 2e-4)
    assert config.sampling.max_new_tokens == 32


def test_defaults_of_the_starter_are_not_laid_over_another_model_or_a_given_value() -> None:
    """32 tokens and 2e-4 would ruin a real model."""
    real = RunConfig.load(None, {"model.name": "x/y"})
    assert (real.sampling.max_new_tokens, real.learning_rate, real.threads) == (256, 1e-6, None)
    assert RunConfig.load(None, {"model.name": "x/y", "model.method": "lora"}).learning_rate == 1e-5
    assert RunConfig.load(None, {"sampling.max_new_tokens": 64}).sampling.max_new_tokens == 64


def test_every_fault_is_named_at_once_with_its_key_path() -> None:
    """One run, all faults: not one after the other."""
    found = problems(
        sampling__grup_size=4,
        optimiser__steps="many",
        data__difficulty="0.9..0.1",
        algorithm__name="grop",
        batch_size=8,
    )
    assert len(found) == 5
    text = "\n".join(found)
    assert "sampling.grup_size: no such setting; did you mean 'group_size'" in text
    assert "optimiser.steps: " in text
    assert "(got 'many')" in text
    assert "data.difficulty: needs 0 <= LOW < HIGH <= 1" in text
    assert "no algorithm 'grop'; did you mean 'grpo'" in text
    assert "batch_size: no such setting here; it belongs to [sampling]" in text


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"sampling.group_size": 7}, "sampling.group_size: 7 completions per prompt do not divide"),
        ({"optimiser.micro_batch": 48}, "optimiser.micro_batch: 48"),
        ({"launch.num_processes": 3, "launch.launcher": "accelerate"}, "launch.num_processes: 3 do not divide"),
        ({"launch.num_processes": 2}, "needs --launch accelerate"),
        ({"sampling.engine": "vllm-server"}, "sampling.vllm_server_url: needed"),
        ({"sampling.updates_per_generation": 4, "record.save_every": 6}, "record.save_every: 6 is not a multiple of 4"),
        ({"record.report_to": ["wandbb"]}, "did you mean 'wandb'"),
        ({"record.merge": True}, "record.merge: nothing to merge"),
        ({"model.method": "qlora", "record.merge": True}, "merge into the 16-bit model after"),
        ({"algorithm.gdpo": True, "algorithm.scale_rewards": "none"}, "algorithm.scale_rewards: GDPO"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(overrides: dict[str, object], said: str) -> None:
    """Each of these trains something else than was asked, or nothing, in TRL alone."""
    with pytest.raises(ConfigError, match=said):
        RunConfig.load(None, overrides)


def test_a_file_and_flags_give_the_same_configuration_and_flags_win(tmp_path: Path) -> None:
    """The flags are made from the fields, so they cannot drift apart."""
    path = tmp_path / "run.toml"
    path.write_text('reward = "math"\n[sampling]\ngroup_size = 4\nresample = true\n[data]\ndifficulty = "0.1..0.9"\n')
    parser = argparse.ArgumentParser()
    add_flags(parser)
    flags = vars(parser.parse_args(["--reward", "math", "--group-size", "4", "--resample", "--difficulty", "0.1..0.9"]))
    assert RunConfig.load(path) == RunConfig.load(None, flags)
    assert RunConfig.load(path, vars(parser.parse_args(["--group-size", "16"]))).sampling.group_size == 16


def test_every_setting_has_one_flag_and_a_description() -> None:
    """Two settings that share a flag would overwrite each other."""
    flags = [flag for _, flag, _ in leaves()]
    assert len(flags) == len(set(flags))
    assert all(info.description for _, _, info in leaves())


@pytest.mark.parametrize(
    ("text", "said"),
    [("[sampling", "not valid TOML"), ("sampling = 3\n", "sampling"), ("\x00", "not valid TOML")],
)
def test_a_file_that_is_no_configuration_is_named(tmp_path: Path, text: str, said: str) -> None:
    """One message, no traceback."""
    path = tmp_path / "run.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=said):
        RunConfig.load(path)
    with pytest.raises(ConfigError, match="cannot be read"):
        RunConfig.load(tmp_path / "absent.toml")


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_every_algorithm_names_its_source_and_yields_to_a_given_value(name: str) -> None:
    """Cited defaults; what is set by hand wins."""
    assert ALGORITHMS[name].source
    config = RunConfig.load(None, {"algorithm.name": name, "algorithm.beta": 0.5, "algorithm.epsilon_high": 0.9})
    assert (config.settings.beta, config.settings.epsilon_high) == (0.5, 0.9)


def test_configuration_and_command_line_load_neither_torch_nor_trl() -> None:
    """A wrong flag must not take ten seconds to be named."""
    code = "import sys, grpo_runner.cli; print(sorted({'torch', 'trl', 'transformers'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


TRAINING_MODULES = {"train.py", "trainer.py", "callbacks.py", "evaluate.py", "starter/build.py"}


def test_only_the_training_modules_know_torch_and_trl() -> None:
    """Everything else must stay importable, and quick, without the training extra."""
    import ast

    import grpo_runner

    folder = Path(grpo_runner.__file__).parent
    heavy = {"torch", "trl", "transformers", "peft", "accelerate", "datasets"}
    found = set()
    for path in folder.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if heavy & {name.split(".")[0] for name in names}:
                found.add(path.relative_to(folder).as_posix())
    assert found == TRAINING_MODULES
