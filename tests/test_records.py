"""Every line of the input is accounted for, and the fields are found or refused by name."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewards.records import BadLine, InputError, Row, WholeFile, detect_fields, read_rows, value_at


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_lines_that_are_no_rows_are_named(tmp_path: Path) -> None:
    """With `file:line` and what is wrong; the others are read."""
    file = write(tmp_path / "x.jsonl", b'{"a": 1}\nnot json\n\n[1, 2]\n"text"\n{"a": "\xff"}\n{"a": 2}')
    got = list(read_rows(file))
    assert [(g.where.rsplit(":", 1)[1], type(g)) for g in got] == [
        ("1", Row), ("2", BadLine), ("4", BadLine), ("5", BadLine), ("6", BadLine), ("7", Row),
    ]  # fmt: skip
    problems = [g.problem for g in got if isinstance(g, BadLine)]
    assert "column 1" in problems[0]
    assert "array" in problems[1]
    assert "string" in problems[2]
    assert "UTF-8" in problems[3]


def test_a_line_of_fifty_megabytes_is_named_not_read(tmp_path: Path) -> None:
    """And the lines around it are unharmed."""
    file = tmp_path / "x.jsonl"
    with file.open("wb") as out:
        out.write(b'{"a": 1}\n{"a": "' + b"x" * 50_000_000 + b'"}\n{"a": 3}\n')
    got = list(read_rows(file))
    assert [g.data["a"] if isinstance(g, Row) else g.where.rsplit(":", 1)[1] for g in got] == [1, "2", 3]
    assert isinstance(got[1], BadLine)
    assert "50,000,0" in got[1].problem


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.jsonl", b"\x00\x01\x02\n\x00", "binary"),
        ("x.jsonl.gz", gzip.compress(b'{"a": 1}\n' * 1000)[:40], "damaged compressed file"),
    ],
)
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    """With one message, not one per line."""
    with pytest.raises(InputError, match=words):
        list(read_rows(write(tmp_path / name, content)))


def test_a_missing_file_gets_the_nearest_name(tmp_path: Path) -> None:
    """Typing errors are the commonest cause."""
    write(tmp_path / "completions.jsonl", "{}")
    with pytest.raises(InputError, match=r"did you mean 'completions.jsonl'"):
        list(read_rows(tmp_path / "completion.jsonl"))


@pytest.mark.parametrize("form", ["jsonl", "gz", "array", "bom", "crlf", "parquet"])
def test_the_same_rows_come_out_of_every_form(tmp_path: Path, form: str) -> None:
    """JSON lines, compressed, an array (openai/human-eval#48), with a byte-order mark, CRLF, Parquet."""
    rows = [{"id": "1", "completion": "é"}, {"id": "2", "completion": "y"}]
    lines = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows).encode()
    file = tmp_path / "x"
    match form:
        case "gz":
            write(file, gzip.compress(lines))
        case "array":
            write(file, json.dumps(rows, indent=1))
        case "bom":
            write(file, b"\xef\xbb\xbf" + lines)
        case "crlf":
            write(file, lines.replace(b"\n", b"\r\n"))
        case "parquet":
            pyarrow = pytest.importorskip("pyarrow")
            parquet = pytest.importorskip("pyarrow.parquet")
            parquet.write_table(pyarrow.Table.from_pylist(rows), file)
        case _:
            write(file, lines)
    assert [dict(r.data) for r in read_rows(file) if isinstance(r, Row)] == rows


SCHEMAS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("ours", {"completion": "c", "gold": "g", "group": "q"}, {"completion": "c", "gold": "g", "group": "q"}),
    ("verl", {"prompt": [{"role": "user", "content": "p"}], "responses": ["a", "b"],
              "reward_model": {"ground_truth": "g"}, "data_source": "d"},
     {"completion": "a", "gold": "g", "task": "d"}),
    ("verl rollout dump", {"input": "p", "output": "o", "gts": "g", "step": 1},
     {"completion": "o", "gold": "g", "prompt": "p"}),
    ("NeMo-Skills", {"problem": "p", "generation": "c", "expected_answer": "g"},
     {"completion": "c", "gold": "g", "prompt": "p"}),
    ("GSM8K with a response", {"question": "q", "answer": "4 #### 4", "response": "c"},
     {"completion": "c", "gold": "4 #### 4", "prompt": "q"}),
    ("OpenR1", {"problem": "p", "generations": ["c"], "answer": "g", "solution": "s", "uuid": "u",
                "finish_reasons": ["length"]}, {"completion": "c", "gold": "g", "truncated": True}),
    ("lm-eval", {"doc_id": 3, "resps": ["c"], "target": "g"}, {"completion": "c", "gold": "g", "group": "3"}),
    ("inspect_ai", {"id": 1, "input": "p", "output": {"completion": "c"}, "target": "g"},
     {"completion": "c", "gold": "g"}),
    ("OpenAI batch", {"custom_id": "x", "response": {"body": {"choices": [{"message": {"content": "c"}}],
                      "usage": {"completion_tokens": 7}}}}, {"completion": "c", "id": "x", "num_tokens": 7}),
    ("chat messages", {"completion": [{"role": "assistant", "content": "c"}], "answer": "g"}, {"gold": "g"}),
    ("TRL", {"step": 1, "prompt": "p", "completion": "c", "advantage": 0.5}, {"completion": "c", "prompt": "p"}),
    ("a chat API's message", {"completion": {"role": "assistant", "content": "c"}},
     {"completion": [{"role": "assistant", "content": "c"}]}),
    ("one text in an object", {"completion": {"text": "c"}}, {"completion": "c"}),
    ("a whole conversation", {"messages": [{"role": "user", "content": "p"}, {"role": "assistant", "content": "c"}]},
     {"prompt": [{"role": "user", "content": "p"}], "completion": [{"role": "assistant", "content": "c"}]}),
    ("a prompt of messages", {"messages": [{"role": "user", "content": "p"}], "response": "c"},
     {"prompt": [{"role": "user", "content": "p"}], "completion": "c"}),
    ("a conversation beside its prompt", {"prompt": "p", "completion": [
        {"role": "user", "content": "p"}, {"role": "assistant", "content": "c"}]},
     {"prompt": "p", "completion": [{"role": "assistant", "content": "c"}]}),
    ("SYNTHETIC-1", {"prompt": "p", "llm_response": "c", "task_type": "t", "response_id": "r"},
     {"completion": "c", "task": "t", "id": "r"}),
]  # fmt: skip


@pytest.mark.parametrize(("data", "want"), [s[1:] for s in SCHEMAS], ids=[s[0] for s in SCHEMAS])
def test_known_schemas_are_found(data: dict[str, Any], want: dict[str, Any]) -> None:
    """The first sample of the row has the fields that the schema's authors mean."""
    sample = detect_fields(data).samples(Row("f:1", 1, data))[0]
    assert {name: getattr(sample, name) for name in want} == want


@pytest.mark.parametrize(
    "held",
    [
        {"completions": ["a", "b", "c"]},
        {"response": ["a", "b", "c"]},
        {"resps": [["a", "b", "c"]]},
        {"outputs": [{"text": "a", "index": 0}, {"text": "b"}, {"text": "c"}]},
        {"response": {"body": {"choices": [{"message": {"role": "assistant", "content": c}} for c in "abc"]}}},
        {"choices": [{"message": {"content": c}, "finish_reason": "stop"} for c in "abc"]},
    ],
)
def test_a_list_of_completions_becomes_one_group(held: dict[str, Any]) -> None:
    """One sample each, ids that tell them apart: the choices after the first are answers too."""
    data = {"id": "p7", "gold": "b", **held}
    samples = detect_fields(data).samples(Row("f:1", 1, data))
    assert [(s.id, s.group, s.completion) for s in samples] == [
        ("p7#0", "p7", "a"), ("p7#1", "p7", "b"), ("p7#2", "p7", "c"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("completion", "words"),
    [
        (None, "no completion"),
        ({"answer": "4", "score": 1}, "an object with answer, score, not a text; write --map completion=PATH"),
        ({}, "an object with nothing"),
        ([], "an empty list"),
        ([None], "no completion"),
        (["a", 1], "a list of number, string"),
        ([["a"], ["b"]], "a list of array"),
        ([{"role": "user", "content": "p"}], "without a message of the assistant"),
        ({"message": {"role": "assistant", "content": None}}, "no completion"),
    ],
)
def test_what_holds_no_text_is_no_empty_completion(completion: Any, words: str) -> None:
    """An empty completion is worth 0; a field that holds something else is nobody's answer, and says what it is."""
    ((sample, problem),) = detect_fields({"completion": "x"}).read(Row("f:1", 1, {"completion": completion}))
    assert re.search(words, problem)
    assert sample.completion == ""


def test_a_table_is_refused_with_the_way_out(tmp_path: Path) -> None:
    """Its first line is no JSON, and neither are the others."""
    write(tmp_path / "a.csv", 'completion,gold\n"1",1\n')
    with pytest.raises(InputError, match="give JSON lines"):
        list(read_rows(tmp_path / "a.csv"))


@pytest.mark.parametrize(
    ("data", "mapping", "words"),
    [
        ({"x": 1}, {}, "no field looks like the completion; the rows have: x"),
        ({"response": "a", "generation": "b"}, {}, "several fields could be the completion: response, generation"),
        ({"completion": "a"}, {}, "needs 'gold'"),
        ({"completion": "a", "answer": "b"}, {"gold": "anser"}, "did you mean 'answer'"),
        ({"completion": "a", "answer": "b"}, {"glod": "answer"}, "no field 'glod'; did you mean 'gold'"),
        ({"completion": "a", "info": {"answer": "b"}}, {"gold": "info.anwser"}, "did you mean 'info.answer'"),
    ],
)
def test_fields_that_are_not_there_are_refused(data: dict[str, Any], mapping: dict[str, str], words: str) -> None:
    """Saying what the rows have and what to type."""
    with pytest.raises(InputError, match=words):
        detect_fields(data, mapping, needs=frozenset({"gold"}))


def test_a_json_string_can_be_looked_into() -> None:
    """SYNTHETIC-1 keeps its gold in a JSON string."""
    assert value_at({"info": '{"a": {"b": [1, 2]}}'}, "json:info.a.b.1") == 2


@pytest.mark.parametrize(
    "tests",
    [
        {"test": "def check(candidate):\n    assert candidate(2) == 4\n", "entry_point": "square"},
        {"test_list": ["assert square(2) == 4", "assert square(3) == 9"]},
    ],
)
def test_tests_spread_over_a_row_are_found(tests: dict[str, Any]) -> None:
    """HumanEval and MBPP as they are published."""
    data = {"task_id": "t/1", "prompt": "square a number", "completion": "def square(x):\n    return x * x\n", **tests}
    fields = detect_fields(data, needs=frozenset({"tests"}))
    (sample,) = fields.samples(Row("f:1", 1, data))
    assert sample.tests["kind"] == "asserts"
    assert "square" in json.dumps(sample.tests)


def test_prompts_make_groups() -> None:
    """Equal prompts, equal groups."""
    rows = [{"prompt": p, "completion": "c"} for p in ("x", "y", "x")]
    groups = [detect_fields(r).samples(Row("f:1", i, r))[0].group for i, r in enumerate(rows)]
    assert groups[0] == groups[2] != groups[1]
    assert "" not in groups


def test_a_killed_writer_leaves_no_half_row(tmp_path: Path) -> None:
    """The file appears complete or not at all."""
    out = tmp_path / "out.jsonl"
    script = (
        "from rewards.records import WholeFile\n"
        f"with WholeFile({str(out)!r}) as f:\n"
        "    while True: f.write({'x': 'y' * 1000})\n"
    )
    with subprocess.Popen([sys.executable, "-c", script]) as writer:
        deadline = time.monotonic() + 20
        while not (out.with_name("out.jsonl.partial").exists()) and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.2)
        os.kill(writer.pid, signal.SIGKILL)
    assert not out.exists()


def test_a_failed_run_leaves_the_old_file(tmp_path: Path) -> None:
    """Yesterday's results are not lost to today's crash."""
    out = write(tmp_path / "out.jsonl", "old\n")
    with pytest.raises(RuntimeError), WholeFile(out) as file:
        file.write({"x": 1})
        raise RuntimeError
    assert out.read_text() == "old\n"


@given(st.text())
def test_any_text_is_written_and_read_back(text: str) -> None:
    """Lone surrogates too: byte-level tokenisers do emit them."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.jsonl"
        with WholeFile(path) as file:
            file.write({"text": text + "\ud800"})
        (row,) = read_rows(path)
    assert isinstance(row, Row)
    assert row.data["text"] == text + "\ud800"
