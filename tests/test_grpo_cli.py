"""`grpo-run` as a person meets it: the demonstration end to end, and what is refused before a model is loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grpo_runner.cli import main
from grpo_runner.run_files import read_jsonl


def rows_of(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def sums(count: int) -> list[dict[str, Any]]:
    return [{"question": f"{10 + i}+{20 + i}=?", "answer": str(30 + 2 * i)} for i in range(count)]


def offline() -> dict[str, str]:
    """An environment in which every attempt to reach the network fails at once."""
    nowhere = "http://127.0.0.1:9"
    blocked = dict.fromkeys(("HF_ENDPOINT", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), nowhere)
    return {**os.environ, **blocked, "CUDA_VISIBLE_DEVICES": ""}


@pytest.mark.slow
def test_the_demonstration_learns_to_think_offline_and_leaves_its_record(tmp_path: Path) -> None:
    """No model, no data set, no GPU, no network: held-out accuracy from at most 45% to at least 90%."""
    pytest.importorskip("trl", reason="training needs TRL; pip install 'grpo-rewards[train]'")
    out = tmp_path / "run"
    done = subprocess.run(
        [sys.executable, "-m", "grpo_runner.cli", "--reward", "math+format", "--out", str(out)],
        capture_output=True, text=True, env=offline(), timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    before, after = read_jsonl(out / "evaluations.jsonl")
    assert before["greedy"] <= 0.45
    assert after["greedy"] >= 0.90
    assert after["pass_1"] >= 0.85
    assert "held-out greedy accuracy" in done.stdout
    live = [line for line in done.stdout.splitlines() if line.startswith("step ")]
    assert len(live) == 60
    for word in ("reward", "math", "format", "flat", "length", "generate", "score", "optimise"):
        assert word in live[0]
    metrics = read_jsonl(out / "metrics.jsonl")
    assert [row["step"] for row in metrics] == list(range(1, 61))
    first, last = (sum(row["reward"] for row in part) / 10 for part in (metrics[:10], metrics[-10:]))
    assert last > first + 0.3
    assert (out / "reward.png").read_bytes().startswith(b"\x89PNG")
    assert len(list((out / "completions").glob("step-*.parquet"))) == 60
    assert (out / "model" / "model.safetensors").is_file()
    answers = read_jsonl(out / "answers-after.jsonl")
    assert {"completion", "gold", "reward", "verdicts"} <= set(answers[0])
    assert json.loads((out / "summary.json").read_text())["steps"] == 60


REFUSED: list[tuple[list[str], str]] = [
    (["--reward", "mth+format"], "did you mean 'math'"),
    (["--grup-size", "4"], "no option --grup-size; did you mean '--group-size'"),
    (["--group-size", "7"], "sampling.group_size: 7 completions per prompt do not divide"),
    (["--dataset", "DATA", "--prompt-column", "qestion"], "data.prompt_column: no column 'qestion'"),
    (["--dataset", "DATA", "--gold-column", "anwser"], "data.gold_column: no column 'anwser'"),
    (["--dataset", "DATA", "--batch-size", "512"], "one generated batch takes 64"),
    (["--dataset", "ABSENT.jsonl"], "No such file"),
    (["--dataset", "EMPTY"], "no rows"),
    (["--dataset", "BINARY"], "not JSON"),
    (["--dataset", "BROKEN"], ":2: not JSON"),
    (["--dataset", "NOGOLD"], "math needs gold"),
    (["--dataset", "WORKED", "--gold-column", "solution"], "looks like the wrong one"),
    (["--dataset", "arithmetik"], "did you mean 'arithmetic'"),
    (["--split", "trian"], "has no split 'trian'"),
    (["trian"], "no command 'trian'; did you mean 'train'"),
    (["--config", "ABSENT.toml"], "cannot be read"),
]


@pytest.mark.parametrize(("words", "said"), REFUSED, ids=[said[:40] for _, said in REFUSED])
def test_what_cannot_work_is_refused_before_a_model_is_loaded(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One clear message, exit code 2, and no second of loading."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    def no_training(*args: Any) -> int:
        raise AssertionError("went on to load a model")

    monkeypatch.setattr("grpo_runner.cli._run", no_training)
    files = {
        "DATA": rows_of(tmp_path / "data.jsonl", sums(40)),
        "EMPTY": rows_of(tmp_path / "empty.jsonl", []),
        "NOGOLD": rows_of(tmp_path / "nogold.jsonl", [{"question": row["question"]} for row in sums(40)]),
        "WORKED": rows_of(
            tmp_path / "worked.jsonl",
            [{**row, "solution": f"First the tens {'and then the ones ' * 7}{row['answer']}."} for row in sums(40)],
        ),
        "BINARY": tmp_path / "binary.jsonl",
        "BROKEN": tmp_path / "broken.jsonl",
    }
    files["BINARY"].write_bytes(bytes(range(256)))
    files["BROKEN"].write_text('{"question": "1+1", "answer": "2"}\n{"question": \n')
    code = main([str(files.get(word, word)) for word in words])
    assert code == 2
    assert said in capsys.readouterr().err


def test_preflight_names_all_faults_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong reward and a wrong column in one go, not one after the other."""
    data = rows_of(tmp_path / "data.jsonl", sums(40))
    code = main(["--reward", "mth", "--dataset", str(data), "--prompt-column", "qestion", "--gold-column", "anwser"])
    error = capsys.readouterr().err
    assert code == 2
    for part in ("no verifier 'mth'", "data.prompt_column", "data.gold_column"):
        assert part in error


def test_dry_run_checks_everything_and_trains_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--dry-run` ends with 0 where a run would start."""
    monkeypatch.setattr("grpo_runner.cli._run", lambda *args: pytest.fail("trained"))
    data = rows_of(tmp_path / "data.jsonl", sums(40))
    assert main(["--dry-run", "--dataset", str(data), "--batch-size", "16", "--eval-questions", "0"]) == 0
    assert "preflight passed" in capsys.readouterr().out
