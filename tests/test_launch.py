"""Past one process: accelerate's own config files, its own launcher, and faults named before anything starts."""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grpo_runner import launch
from grpo_runner.config import ConfigError, RunConfig
from tests.conftest import ROOT

STRATEGIES = ["ddp", "fsdp", "deepspeed-zero2", "deepspeed-zero3"]


def config(**changes: Any) -> RunConfig:
    """A launched run; `a__b` stands for the key path a.b."""
    given = {key.replace("__", "."): value for key, value in changes.items()}
    base = {"launch.launcher": "accelerate", "launch.num_processes": 2, "model.name": "m"}
    return RunConfig.load(None, {**base, **given})


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_accelerate_reads_the_file_as_it_was_meant(strategy: str, tmp_path: Path) -> None:
    """accelerate's own loader gives back kind, processes, precision and the strategy's settings."""
    pytest.importorskip("accelerate")
    from accelerate.commands.config.config_args import load_config_from_file

    run = config(launch__strategy=strategy, launch__num_processes=4)
    file = tmp_path / launch.FILE_NAME
    file.write_text(launch.as_yaml(launch.accelerate_config(run, gpu=True)), encoding="utf-8")
    loaded = load_config_from_file(str(file))
    kinds = {"ddp": "MULTI_GPU", "fsdp": "FSDP"}
    assert str(loaded.distributed_type).rpartition(".")[2] == kinds.get(strategy, "DEEPSPEED")
    assert loaded.num_processes == 4
    assert loaded.mixed_precision == "bf16"
    assert loaded.use_cpu is False
    if strategy == "fsdp":
        assert loaded.fsdp_config["fsdp_version"] == 2
        assert loaded.fsdp_config["fsdp_state_dict_type"] == "FULL_STATE_DICT"
    if strategy.startswith("deepspeed"):
        assert loaded.deepspeed_config["zero_stage"] == int(strategy[-1])
        assert loaded.deepspeed_config["zero3_init_flag"] is (strategy == "deepspeed-zero3")


def test_every_key_is_one_that_accelerate_knows(tmp_path: Path) -> None:
    """accelerate refuses unknown keys; ours are all known (an unknown one is refused, so the test can fail)."""
    pytest.importorskip("accelerate")
    from accelerate.commands.config.config_args import load_config_from_file

    values = launch.accelerate_config(config(), gpu=True)
    file = tmp_path / "a.yaml"
    file.write_text(launch.as_yaml({**values, "num_procesess": 2}), encoding="utf-8")
    with pytest.raises(ValueError, match="num_procesess"):
        load_config_from_file(str(file))


def test_precision_follows_the_weights() -> None:
    """bf16 on GPUs (float32 weights too), fp16 when asked, none on CPUs."""
    assert launch.accelerate_config(config(), gpu=True)["mixed_precision"] == "bf16"
    assert launch.accelerate_config(config(model__dtype="float32"), gpu=True)["mixed_precision"] == "bf16"
    assert launch.accelerate_config(config(model__dtype="float16"), gpu=True)["mixed_precision"] == "fp16"
    assert launch.accelerate_config(config(), gpu=False)["mixed_precision"] == "no"


@pytest.mark.parametrize(
    ("changes", "gpus", "words"),
    [
        ({"launch__num_processes": 4}, 2, "this machine has 2 GPUs"),
        ({"launch__strategy": "fsdp"}, 0, "--strategy ddp"),
        ({"launch__strategy": "deepspeed-zero2"}, 0, "--strategy ddp"),
        ({"launch__strategy": "fsdp", "model__method": "qlora"}, 2, "do not shard"),
        ({"launch__strategy": "fsdp", "device": "cpu"}, 2, "--strategy ddp"),
    ],
)
def test_a_launch_that_cannot_work_is_refused(changes: dict[str, Any], gpus: int, words: str) -> None:
    """Before any process starts, with what to change."""
    with pytest.raises(ConfigError, match=words):
        launch.start(config(**changes), [], gpus=gpus)


def test_a_sound_launch_has_no_problems() -> None:
    """The checks do not stand in the way of what works."""
    assert launch.problems(config(), gpus=2) == []
    assert launch.problems(config(), gpus=0) == []
    assert launch.problems(config(launch__strategy="fsdp"), gpus=2) == []


def test_processes_started_by_a_launcher_do_not_launch_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else two processes would start four."""
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert launch.wanted(config())
    assert not launch.wanted(RunConfig())
    monkeypatch.setenv("LOCAL_RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert not launch.wanted(config())


def test_command_is_accelerates_own_launcher() -> None:
    """No launcher of ours: the same words again, under accelerate launch."""
    command = launch.command(["--steps", "2"], Path("run/accelerate.yaml"))
    assert command[1:] == [
        "-m", "accelerate.commands.launch", "--config_file", "run/accelerate.yaml",
        "-m", "grpo_runner.cli", "train", "--steps", "2",
    ]  # fmt: skip


# ---------------------------------------------------------------- vLLM server


@pytest.fixture
def server() -> Iterator[str]:
    """A server that answers /health as `trl vllm-serve` does."""

    class Health(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/health/" or self.path == "/health" else 404)
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            return

    httpd = http.server.HTTPServer(("127.0.0.1", 0), Health)
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    httpd.server_close()


def test_a_vllm_server_that_answers_is_accepted(server: str) -> None:
    """With and without a slash at the end of the URL."""
    for url in (server, server + "/"):
        launch.check_server(config(sampling__engine="vllm-server", sampling__vllm_server_url=url))


def test_a_vllm_server_that_is_not_there_is_named_with_the_command_to_start_it(server: str) -> None:
    """Before a model loads; the command has the model and the length of this run."""
    run = config(
        sampling__engine="vllm-server", sampling__vllm_server_url="http://127.0.0.1:9",
        data__max_prompt_tokens=300, sampling__max_new_tokens=700, model__name="Qwen/Qwen2.5-7B-Instruct",
    )  # fmt: skip
    with pytest.raises(ConfigError) as caught:
        launch.check_server(run)
    text = str(caught.value)
    assert "127.0.0.1:9" in text
    assert "trl vllm-serve --model Qwen/Qwen2.5-7B-Instruct --max-model-len 1000" in text


# ---------------------------------------------------------------- two real processes


def train(out: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """A short run of the starter in processes of its own."""
    command = [
        sys.executable, "-m", "grpo_runner.cli", "--steps", "2", "--batch-size", "32", "--eval-questions", "0",
        "--device", "cpu", "--watch", "off", "--out", str(out), *flags,
    ]  # fmt: skip
    environment = {key: value for key, value in os.environ.items() if key not in {"LOCAL_RANK", "WORLD_SIZE", "RANK"}}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.slow
def test_two_processes_train_the_run_of_one(tmp_path: Path) -> None:
    """Through `accelerate launch` on two CPU processes, with `--row-seeds`: the run of one process, row for row.

    Questions, completions, verdicts and rewards are equal in order; metrics are equal up to the order in which float32
    sums are taken; one set of files is written.
    """
    pytest.importorskip("trl")
    pyarrow = pytest.importorskip("pyarrow.parquet")
    two, one = tmp_path / "two", tmp_path / "one"
    done = train(two, "--row-seeds", "--launch", "accelerate", "--num-processes", "2")
    assert done.returncode == 0, done.stderr[-3000:]
    assert "find_unused_parameters" not in done.stderr
    assert (two / launch.FILE_NAME).is_file()
    assert (two / "model" / "model.safetensors").is_file()
    done = train(one, "--row-seeds")
    assert done.returncode == 0, done.stderr[-3000:]
    rows = {
        path: [json.loads(line) for line in (path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
        for path in (one, two)
    }
    assert [row["step"] for row in rows[two]] == [1, 2]
    for alone, together in zip(rows[one], rows[two], strict=True):
        assert together["completions_generated"] == 32
        assert alone.keys() == together.keys()
        for key in alone:
            if not key.startswith("seconds/"):
                assert together[key] == pytest.approx(alone[key], abs=1e-5), (alone["step"], key)
    for step in (1, 2):
        name = f"completions/step-{step:06d}.parquet"
        alone, together = (pyarrow.read_table(path / name).to_pylist() for path in (one, two))
        assert len(together) == 32
        for mine, theirs in zip(alone, together, strict=True):
            assert theirs.pop("advantage") == pytest.approx(mine.pop("advantage"), abs=1e-5)
            for row in (mine, theirs):
                del row["id"]  # says at which place of its process's share the answer stood
            assert theirs == mine


def test_a_launch_fault_reaches_the_command_line(capfd: pytest.CaptureFixture[str]) -> None:
    """Exit code 2 and one line, no traceback; nothing is started."""
    pytest.importorskip("trl")
    from grpo_runner.cli import main

    code = main(["--launch", "accelerate", "--num-processes", "2", "--strategy", "fsdp", "--device", "cpu"])
    assert code == 2
    text = capfd.readouterr().err
    assert "launch.strategy" in text
    assert "Traceback" not in text
