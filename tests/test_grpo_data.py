"""Questions: from cards, files and folders through the real loading code, with wrong columns named."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from grpo_runner import data, difficulty
from grpo_runner.config import RunConfig
from grpo_runner.data import DataError
from rewards.verdict import Sample

ROWS = [{"question": f"{i}+1=?", "answer": str(i + 1), "level": i % 3} for i in range(40)]


def load(path: Path, **overrides: Any) -> tuple[data.Questions, data.Questions]:
    dotted = {key.replace("__", "."): value for key, value in overrides.items()}
    return data.load(RunConfig.read(None, {"data.dataset": str(path), **dotted}))


def jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_generated_arithmetic_keeps_its_held_out_questions_out_of_training() -> None:
    """Neither the question nor its twin with the numbers swapped."""
    train, held = data.load(RunConfig.load())
    asked = {frozenset(str(s.prompt).removesuffix("=?").split("+")) for s in train.samples}
    assert len(held) == 256
    assert not any(frozenset(str(s.prompt).removesuffix("=?").split("+")) in asked for s in held.samples)
    assert train.judged_by == "math"


@pytest.mark.parametrize("name", ["d.jsonl", "d.jsonl.gz", "d.json", "d.parquet", "d.csv", "folder"])
def test_every_kind_of_file_gives_the_same_questions(name: str, tmp_path: Path) -> None:
    """Parquet, CSV and folders go through `datasets`, as Hub data sets do."""
    path = tmp_path / name
    if name.startswith("d.jsonl"):
        jsonl(path, ROWS)
    elif name == "d.json":
        path.write_text(json.dumps(ROWS))
    else:
        datasets = pytest.importorskip("datasets", reason="read through `datasets`; pip install 'grpo-rewards[train]'")
        table = datasets.Dataset.from_list(ROWS)
        {"d.parquet": table.to_parquet, "d.csv": table.to_csv, "folder": table.save_to_disk}[name](str(path))
    train, _ = load(path, evaluation__questions=0)
    assert [(s.prompt, str(s.gold)) for s in train.samples] == [(r["question"], r["answer"]) for r in ROWS]
    assert train.columns["prompt"] == "question"
    assert train.samples[4].meta["level"] == 1


def test_a_folder_with_splits_gives_its_test_split_as_held_out(tmp_path: Path) -> None:
    """A `DatasetDict` saved to disk, and a split that it lacks."""
    datasets = pytest.importorskip("datasets", reason="read through `datasets`; pip install 'grpo-rewards[train]'")
    both = datasets.DatasetDict(train=datasets.Dataset.from_list(ROWS[:30]), test=datasets.Dataset.from_list(ROWS[30:]))
    both.save_to_disk(str(tmp_path / "both"))
    train, held = load(tmp_path / "both")
    assert (len(train), len(held)) == (30, 10)
    with pytest.raises(DataError, match=r"no split 'trian'; did you mean 'train'"):
        load(tmp_path / "both", data__split="trian")


def test_without_a_held_out_split_a_tenth_is_set_aside_and_not_trained_on(tmp_path: Path) -> None:
    """The same rows for the same seed."""
    path = jsonl(tmp_path / "d.jsonl", ROWS)
    train, held = load(path)
    assert (len(train), len(held)) == (36, 4)
    assert not {s.id for s in train.samples} & {s.id for s in held.samples}
    assert [s.id for s in load(path)[1].samples] == [s.id for s in held.samples]


def test_columns_by_dotted_path_and_unknown_ones_with_the_nearest(tmp_path: Path) -> None:
    """verl keeps the answer in `reward_model.ground_truth`."""
    rows = [{"prompt": "q", "reward_model": {"ground_truth": str(i)}} for i in range(12)]
    path = jsonl(tmp_path / "d.jsonl", rows)
    train, _ = load(path, data__gold_column="reward_model.ground_truth", evaluation__questions=0)
    assert train.samples[3].gold == "3"
    with pytest.raises(DataError) as caught:
        load(path, data__gold_column="reward_model.truth", data__prompt_column="promt")
    assert "data.gold_column: no column 'reward_model.truth'" in str(caught.value)
    assert "data.prompt_column: no column 'promt'; did you mean 'prompt'" in str(caught.value)


def test_worked_solutions_give_the_number_after_the_hashes(tmp_path: Path) -> None:
    """GSM8K's column `answer` holds the whole solution; compared as it stands it is never equal."""
    rows = [{"question": "q", "answer": "so it is\n#### 1,234"}, {"question": "r", "answer": "no number"}]
    train, _ = load(jsonl(tmp_path / "d.jsonl", rows), evaluation__questions=0)
    assert [s.gold for s in train.samples] == ["1234"]
    assert len(train.unusable) == 1
    assert "no '####'" in train.unusable[0]


def test_rows_that_share_an_id_stay_two_groups(tmp_path: Path) -> None:
    """Ids name groups; two questions in one group would be compared with each other."""
    rows = [{"id": "a", "prompt": "q", "gold": "1"}, {"id": "a", "prompt": "r", "gold": "2"}]
    train, _ = load(jsonl(tmp_path / "d.jsonl", rows), evaluation__questions=0)
    assert len({s.group for s in train.samples}) == 2


def test_a_system_prompt_goes_before_every_question_and_replaces_one_that_is_there(tmp_path: Path) -> None:
    """Text and chat prompts alike."""
    chat = [{"role": "system", "content": "old"}, {"role": "user", "content": "q"}]
    path = jsonl(tmp_path / "d.jsonl", [{"prompt": chat, "gold": "1"}])
    train, _ = load(path, data__system_prompt="Box it.", evaluation__questions=0)
    assert train.samples[0].prompt == [{"role": "system", "content": "Box it."}, {"role": "user", "content": "q"}]


def test_a_hub_name_without_a_network_says_what_works_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    """No traceback of a connection."""
    datasets = pytest.importorskip("datasets", reason="read through `datasets`; pip install 'grpo-rewards[train]'")

    def unreachable(*args: Any, **kwargs: Any) -> None:
        raise ConnectionError("Name or service not known")

    monkeypatch.setattr(datasets, "get_dataset_split_names", unreachable)
    monkeypatch.setattr(datasets, "load_dataset", unreachable)
    config = RunConfig.read(None, {"data.dataset": "nobody/nothing-of-this-name"})
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with pytest.raises(DataError, match="no file or folder here, and the Hub gave: ConnectionError"):
        data.load(config)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(DataError, match="HF_HUB_OFFLINE"):
        data.load(config)


# ---------------------------------------------------------------- difficulty


def sample(name: str, **meta: Any) -> Sample:
    return Sample(id=name, group=name, prompt=f"{name}?", gold="1", meta=meta)


def test_a_band_keeps_what_lies_in_it_ends_included(tmp_path: Path) -> None:
    """Unmeasured rows are not in any band."""
    rows = [{"prompt": "q", "gold": "1", "pass_rate": rate} for rate in (0.0, 0.1, 0.5, 0.9, 1.0, None)]
    train, _ = load(jsonl(tmp_path / "d.jsonl", rows), evaluation__questions=0)
    kept = data.keep_band(train, (0.1, 0.9), "pass_rate")
    assert [s.meta["pass_rate"] for s in kept.samples] == [0.1, 0.5, 0.9]
    with pytest.raises(DataError, match="grpo-run difficulty"):
        data.keep_band(train, (0.1, 0.9), "rate")
    with pytest.raises(DataError, match="none of 6 rows"):
        data.keep_band(train, (0.2, 0.3), "pass_rate")


def test_pass_rates_from_scored_rows_count_right_answers_per_question(tmp_path: Path) -> None:
    """The highest reward in the file is right; unscored rows are no answers."""
    rows = [
        {"id": "a#0", "group": "a", "reward": 1.5}, {"id": "a#1", "group": "a", "reward": 0.5},
        {"id": "b", "reward": 1.5}, {"id": "c#0", "group": "c", "reward": None},
    ]  # fmt: skip
    path = jsonl(tmp_path / "scored.jsonl", rows)
    assert difficulty.from_scored(path, [sample("a"), sample("b"), sample("c")]) == [0.5, 1.0, None]
    with pytest.raises(difficulty.ScoredFileError, match="such as z"):
        difficulty.from_scored(path, [sample("z")])


def test_measured_rows_are_read_back_as_they_were_with_one_column_more(tmp_path: Path) -> None:
    """`grpo-run difficulty -o M` and then `--dataset M --difficulty 0.1..0.9`."""
    path = tmp_path / "m.jsonl"
    difficulty.write(path, [sample("a", level=3), sample("b")], [0.25, None], "pass_rate")
    train, _ = load(path, evaluation__questions=0)
    assert [(s.id, s.prompt, s.gold, s.meta["pass_rate"]) for s in train.samples] == [
        ("a", "a?", "1", 0.25),
        ("b", "b?", "1", None),
    ]
    assert train.samples[0].meta["level"] == 3


def test_the_histogram_counts_every_question_once() -> None:
    """Never and always stand apart: they are what teaches nothing."""
    text = difficulty.histogram([0.0, 0.05, 0.1, 0.95, 1.0, 1.0, None])
    counts = {line.split()[0]: int(line.split()[1]) for line in text.splitlines()[:12]}
    assert counts["never"] == 1
    assert counts["always"] == 2
    assert sum(counts.values()) == 6
    assert "1 questions could not be measured" in text
