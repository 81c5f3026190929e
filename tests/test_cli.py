"""The `rewards` command: every row accounted for, every fault one clear message and its own exit code."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rewards import __version__
from rewards.cli import main
from rewards.expression import Reward
from rewards.registry import get, names

ROWS = [
    {"id": "right", "completion": "<think>2+2</think><answer>\\boxed{4}</answer>", "gold": "4", "group": "q"},
    {"id": "wrong", "completion": "<think>2+2</think><answer>\\boxed{5}</answer>", "gold": "4", "group": "q"},
    {"id": "no tags", "completion": "it is \\boxed{4}", "gold": "4", "group": "q"},
    {"id": "bad gold", "completion": "\\boxed{4}", "gold": "see the proof above", "group": "r"},
]


def write(path: Path, rows: Sequence[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.fixture
def file(tmp_path: Path) -> str:
    return write(tmp_path / "completions.jsonl", ROWS)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_one_row_out_per_row_in_in_order(file: str, tmp_path: Path) -> None:
    """With id, group, reward, status and every component's verdict."""
    out = tmp_path / "out.jsonl"
    assert main(["score", file, "--reward", "math+format", "-o", str(out)]) == 0
    rows = rows_of(out)
    assert [row["id"] for row in rows] == [row["id"] for row in ROWS]
    assert [row["reward"] for row in rows] == [2.0, 1.0, 1.0, None]
    assert [row["status"] for row in rows] == ["scored", "scored", "scored", "invalid"]
    assert set(rows[0]) == {"id", "group", "reward", "status", "verdicts", "scored_by"}
    fingerprint = Reward.parse("math+format").fingerprint
    assert {row["scored_by"] for row in rows} == {f"grpo-rewards {__version__} {fingerprint}"}
    assert set(rows[0]["verdicts"]) == {"math", "format"}
    assert {"status", "score", "reason", "detail", "extracted"} <= set(rows[0]["verdicts"]["math"])
    assert rows[0]["verdicts"]["math"]["extracted"] == "4"
    assert rows[3]["verdicts"]["math"]["reason"] == "gold_unreadable"


def test_a_file_in_which_no_row_has_a_reward_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every gold unreadable: the rows are written with their reasons, and the exit code says that they are no use."""
    file = tmp_path / "in.jsonl"
    file.write_text(json.dumps({"completion": "\\boxed{4}", "gold": "@@##"}) + "\n")
    assert main(["score", str(file), "--reward", "math", "-o", str(tmp_path / "out.jsonl")]) == 2
    assert "no row has a reward" in capsys.readouterr().err
    assert rows_of(tmp_path / "out.jsonl")[0]["status"] == "invalid"


def test_a_null_where_the_completion_belongs_is_no_wrong_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A request that failed leaves a null, in the first row too; the other rows are scored as ever."""
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    rows = [{"id": "1", "completion": None, "answer": "4"}, {"id": "2", "completion": "\\boxed{4}", "answer": "4"}]
    rows += [{"id": "3", "answer": "4"}, {"id": "4", "completion": "", "answer": "4"}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert main(["score", str(file), "--reward", "math", "-o", str(out)]) == 0
    assert [row["reward"] for row in rows_of(out)] == [None, 1.0, None, 0.0]
    assert rows_of(out)[0]["problem"] == "the row has no completion"
    assert "2 row(s) have no completion" in capsys.readouterr().err


def test_the_summary_goes_to_stderr(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """n, mean, statuses, reasons, pass@k, rows per second."""
    main(["score", file, "--reward", "math+format", "-o", str(tmp_path / "out.jsonl")])
    captured = capsys.readouterr()
    assert captured.out == ""
    for word in ("4 rows", "rows per second", "mean reward  1.3333", "invalid 1", "gold_unreadable 1"):
        assert word in captured.err


def test_the_machine_form_goes_to_stdout(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` alone prints the summary and no rows."""
    main(["score", file, "--reward", "math", "--json"])
    summary = json.loads(capsys.readouterr().out)
    assert summary["n"] == 4
    assert summary["mean_reward"] == pytest.approx(2 / 3)
    assert summary["components"]["math"]["statuses"] == {"scored": 3, "invalid": 1}


def test_rows_go_to_stdout_without_a_file(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """So that the command can stand in a pipe."""
    main(["score", file, "--reward", "math"])
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [row["id"] for row in ROWS]


def test_pass_at_k_over_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two groups of two, one right in the first."""
    rows = [
        {"prompt": p, "completion": f"\\boxed{{{c}}}", "gold": "4"} for p, c in (("a", 4), ("a", 5), ("b", 6), ("b", 7))
    ]
    main(["score", write(tmp_path / "x.jsonl", rows), "--reward", "math", "--json"])
    assert json.loads(capsys.readouterr().out)["pass_at_k"] == {"pass@1": 0.25, "pass@2": 0.5}


def test_fields_can_be_renamed_and_what_was_found_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--map completion=... gold=...`."""
    file = write(tmp_path / "x.jsonl", [{"said": "\\boxed{4}", "info": {"right": "4"}}])
    assert main(["score", file, "--reward", "math", "--map", "completion=said", "gold=info.right", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["mean_reward"] == 1.0
    assert "completion=said, gold=info.right" in captured.err


def test_an_unreadable_line_is_named_counted_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It has a row of its own in the output, and the exit code tells."""
    file = tmp_path / "x.jsonl"
    file.write_text(json.dumps(ROWS[0]) + "\n{broken\n" + json.dumps(ROWS[1]) + "\n")
    out = tmp_path / "out.jsonl"
    assert main(["score", str(file), "--reward", "math", "-o", str(out)]) == 2
    assert f"{file}:2: not JSON" in capsys.readouterr().err
    rows = rows_of(out)
    assert [row["status"] for row in rows] == ["scored", "invalid", "scored"]
    assert rows[1]["reward"] is None


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--reward", "maht"], 2, "did you mean 'math'"),
        (["--reward", "math+"], 2, "^"),
        (["--reward", "math(percnt=1)"], 2, "math has no parameter 'percnt'"),
        (["--rewards", "math"], 2, "--reward"),
        (["--reward", "math", "--map", "gold=answr"], 2, "no 'answr'"),
        (["--reward", "math", "--map", "gold"], 2, "NAME=FIELD"),
        (["--reward", "math", "--fail-under", "0.9"], 1, "below --fail-under 0.9"),
        (["--reward", "math", "--fail-under", "0.5"], 0, ""),
        (["--reward", "math", "--config", "absent.toml"], 2, "absent.toml"),
    ],
)
def test_a_fault_has_its_message_and_exit_code(
    file: str, arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One message that says what to do."""
    assert main(["score", file, *arguments]) == code
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "has no rows"),
        (b"\n\n", "has no rows"),
        (b"\x7fELF\x00\x00\x01" * 100, "binary"),
        (b'{"x": 1}\n', "no field looks like the completion"),
    ],
)
def test_an_unusable_file_is_refused(
    tmp_path: Path, content: bytes, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With exit code 2 and no output file."""
    file = tmp_path / "x.jsonl"
    file.write_bytes(content)
    assert main(["score", str(file), "--reward", "math", "-o", str(tmp_path / "out.jsonl")]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out.jsonl").exists()


def test_a_missing_file_and_an_unknown_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, nearest name."""
    assert main(["score", str(tmp_path / "nothing.jsonl"), "--reward", "math"]) == 2
    assert main(["scoer", "x"]) == 2
    assert "did you mean 'score'" in capsys.readouterr().err


def test_too_many_errors_have_their_own_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Our failures must not look like a poor model."""
    plugin = Path(__file__).parent / "plugin"
    script = (
        f"import sys; sys.path.insert(0, {str(plugin)!r})\n"
        "import failing_plugin\nfrom rewards.cli import main\n"
        f"sys.exit(main(['score', {write(tmp_path / 'x.jsonl', ROWS)!r}, '--reward', 'failing']))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 3
    assert "ended in `error`" in done.stderr
    assert all(json.loads(line)["reward"] is None for line in done.stdout.splitlines())


def test_the_output_may_not_be_the_input(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It would replace the completions by their verdicts."""
    assert main(["score", file, "--reward", "math", "-o", file]) == 2
    assert rows_of(Path(file)) == ROWS


def test_a_killed_run_leaves_no_half_row(tmp_path: Path) -> None:
    """SIGKILL in mid-run: the output file does not exist yet."""
    file = write(tmp_path / "x.jsonl", [ROWS[0]] * 200_000)
    out = tmp_path / "out.jsonl"
    command = [sys.executable, "-m", "rewards.cli", "score", file, "--reward", "math+format", "-o", str(out)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as run:
        partial = out.with_name("out.jsonl.partial")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (partial.exists() and partial.stat().st_size):
            time.sleep(0.02)
        os.kill(run.pid, signal.SIGKILL)
    assert partial.exists()
    assert not out.exists()


def test_the_same_verdicts_for_any_chunking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are scored in chunks; the chunk must not matter."""
    import rewards.cli

    file = write(tmp_path / "x.jsonl", ROWS * 5)
    outs = []
    for rows in (1, 3, 1000):
        monkeypatch.setattr(rewards.cli, "CHUNK_ROWS", rows)
        out = tmp_path / f"out{rows}.jsonl"
        main(["score", file, "--reward", "math+format", "-o", str(out)])
        outs.append(out.read_text())
    assert outs[0] == outs[1] == outs[2]


def test_aliases_come_from_the_config(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`[aliases]` of a TOML file."""
    config = tmp_path / "run.toml"
    config.write_text('[aliases]\nstrict = "gate(format, math)"\n')
    assert main(["score", file, "--reward", "strict", "--config", str(config), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["statuses"] == {"scored": 4}
    assert summary["components"]["math"]["reasons"]["not_reached"] == 2


def test_diff_names_the_rows_that_changed(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1 when any did; 0 when none."""
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    main(["score", file, "--reward", "math+format", "-o", str(a)])
    main(["score", file, "--reward", "math+0.5*format", "-o", str(b)])
    assert main(["diff", str(a), str(a)]) == 0
    assert main(["diff", str(a), str(b)]) == 1
    captured = capsys.readouterr()
    assert "right: 2 -> 1.5" in captured.out
    assert "2 of 4 rows differ" in captured.err
    assert main(["diff", str(a), file]) == 2


def test_list_names_every_verifier(capsys: pytest.CaptureFixture[str]) -> None:
    """One line each."""

    assert main(["list"]) == 0
    listed = {line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]}
    assert listed == set(names())


@pytest.mark.parametrize("name", names())
def test_show_tells_what_a_verifier_takes_and_says(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Parameters with types and defaults, range, needs, reasons, an example."""
    assert main(["show", name]) == 0
    shown = capsys.readouterr().out
    for heading in ("range", "scope", "needs", "parameters", "reasons", "example"):
        assert f"\n{heading}" in shown
    if not get(name).__module__.startswith("rewards."):
        return  # a test's own
    listed = shown.partition("\nparameters\n")[2].partition("\n\nreasons")[0].splitlines()
    for at, line in enumerate(listed):
        if re.match(r"  [a-z_]+: ", line):
            assert "".join(listed[at + 1 : at + 2]).startswith("      "), f"{line} is not described"


def test_explain_shows_the_path_of_one_completion(capsys: pytest.CaptureFixture[str]) -> None:
    """From the text to the rule."""
    assert main(["explain", "--completion", "so \\boxed{\\frac12}", "--gold", "0.5"]) == 0
    shown = capsys.readouterr().out
    assert "reward 1" in shown
    assert "\\frac12" in shown


def test_explain_takes_a_row_of_a_file(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`FILE:LINE`."""
    assert main(["explain", f"{file}:2", "--reward", "math+format"]) == 0
    assert "wrong: reward 1" in capsys.readouterr().out


def test_check_gold_names_the_unreadable_ones(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With their lines; exit 1 if any."""
    assert main(["check-gold", file]) == 1
    captured = capsys.readouterr()
    assert f"{file}:4" in captured.out
    assert "3 of 4 golds readable" in captured.err


def test_cards_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """With reward and hub id."""
    assert main(["cards"]) == 0
    shown = capsys.readouterr().out
    assert "gsm8k" in shown
    assert "arithmetic" in shown
