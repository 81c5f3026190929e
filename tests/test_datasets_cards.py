"""Data-set cards: the gold passes its own verifier, front matter, readers, loading, the generated arithmetic."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from conftest import CASES, ROOT, read_jsonl, shared
from hypothesis import given, settings
from hypothesis import strategies as st

import datasets_cards
from datasets_cards import Card, CardError, DatasetUnavailable, UnknownCard, UnusableRow, arithmetic, card, load, names
from datasets_cards.readers import GOLD_READERS, TEST_READERS, at, last_box, number_after_hashes, plain
from rewards.expression import Reward
from rewards.verdict import Sample, Status

ROWS = read_jsonl(CASES / "datasets_cards.jsonl")
EXPECTED = [
    "arithmetic", "countdown", "dapo-math-17k", "deepscaler", "gsm8k", "humaneval", "ifeval", "math", "math500",
    "mbpp", "openr1-math",
]  # fmt: skip


@pytest.fixture(scope="module")
def rewards_by_card() -> Any:
    """The default reward of each card, built once."""
    built: dict[str, Reward] = {}
    yield lambda name: built.setdefault(name, Reward.parse(card(name).reward))
    for reward in built.values():
        reward.close()


def sample_of(name: str, index: int) -> Sample:
    loaded = load(name, source="samples")
    assert not loaded.unusable, loaded.unusable
    return loaded.samples[index]


def completed(sample: Sample, completion: str) -> Sample:
    return Sample(
        id=sample.id, group=sample.group, prompt=sample.prompt, completion=completion, gold=sample.gold,
        tests=sample.tests, task=sample.task, meta=sample.meta,
    )  # fmt: skip


# ---------------------------------------------------------------- the gold passes its own verifier


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['card']}-{row['index']}")
def test_the_gold_passes_its_own_verifier_and_a_changed_copy_does_not(
    row: dict[str, Any], rewards_by_card: Any
) -> None:
    """Through the card's default reward, as training would score it."""
    sample = sample_of(row["card"], row["index"])
    reward = rewards_by_card(row["card"])
    right, wrong = reward.score([completed(sample, row["right"]), completed(sample, row["wrong"])])
    assert right.status is Status.SCORED, right
    assert right.reward == 1.0, right
    assert wrong.status is Status.SCORED, wrong
    assert wrong.reward == 0.0, f"{row['why']}: {wrong}"


def test_every_sample_row_has_such_a_case() -> None:
    """And every card has sample rows."""
    have = {(row["card"], row["index"]) for row in ROWS}
    for name in names():
        assert {(name, i) for i in range(len(load(name, source="samples")))} == {p for p in have if p[0] == name}, name


@pytest.mark.parametrize("name", ["gsm8k", "math", "math500", "deepscaler", "openr1-math"])
def test_a_boxed_gold_passes_whatever_its_form(name: str, rewards_by_card: Any) -> None:
    r"""`\boxed{gold}`, from the reader's own gold."""
    samples = [completed(s, f"\\boxed{{{s.gold}}}") for s in load(name, source="samples")]
    assert [result.reward for result in rewards_by_card(name).score(samples)] == [1.0] * len(samples)


@pytest.mark.parametrize(
    ("name", "file", "column"),
    [("gsm8k", "gsm8k_train", "solution"), ("gsm8k", "gsm8k_test", "solution"), ("math500", "math500", "answer")],
)
def test_the_readers_read_every_row_of_the_real_sets(name: str, file: str, column: str) -> None:
    """8,792 rows of GSM8K and MATH-500, against the golds that were read independently."""
    import gzip

    path = shared("data", "tasks", f"{file}.jsonl.gz")
    gold = card(name).gold
    assert gold is not None
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            read = GOLD_READERS[gold.reader]({gold.column: row[column]}, gold.column)
            assert str(read).replace(",", "") == str(row["answer"]).replace(",", "") or name == "math500", row["id"]


def test_the_code_and_instruction_readers_read_every_row_of_the_real_sets() -> None:
    """HumanEval, MBPP and IFEval: no row is unusable, and each has a function under test or instructions."""
    import gzip

    def rows(file: str) -> list[dict[str, Any]]:
        with gzip.open(shared("data", "tasks", f"{file}.jsonl.gz"), "rt", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]

    for row in rows("humaneval"):
        hub = {"task_id": row["id"], "prompt": row["prompt"], "test": row["tests"], "entry_point": row["entry_point"]}
        read = card("humaneval").sample(hub, split="test", index=0)
        assert read.tests["entry_point"] == row["entry_point"]
        assert row["prompt"] in read.prompt
    for row in rows("mbpp"):
        hub = {
            "task_id": row["id"],
            "text": row["prompt"],
            "test_list": row["tests"].split("\n"),
            "test_setup_code": "",
        }
        read = card("mbpp").sample(hub, split="test", index=0)
        assert read.tests["kind"] == "asserts"
        assert row["tests"].split("\n")[0] in read.prompt
    for row in rows("ifeval"):
        hub = {**row, "key": row["id"], "kwargs": [{**k, "unused": None} for k in row["kwargs"]]}
        read = card("ifeval").sample(hub, split="train", index=0)
        assert read.tests["kwargs"] == row["kwargs"]


def test_the_rows_of_public_bug_reports_on_data_sets_are_right() -> None:
    """cases/bugs_dev.jsonl, area `datasets`, the rows that a card or a reader answers."""
    bugs = {row["id"]: row for row in read_jsonl(shared("cases", "bugs_dev.jsonl")) if row["area"] == "datasets"}
    signed = bugs["D003"]
    assert number_after_hashes({"answer": signed["input"]["answer"]}, "answer") == signed["expect"]["gold"]
    assert last_box(bugs["D011"]["input"], "solution") == bugs["D011"]["expect"]["gold"]
    placeholders = bugs["D014"]
    mine = card("openr1-math").model_copy(update={"columns": ("problem", "answer", "uuid")})
    rows = [{"problem": "p", "uuid": None, **row} for row in placeholders["input"]["rows"]]
    loaded = datasets_cards.read_rows(mine, rows, "train", "hub")
    assert len(loaded) == placeholders["expect"]["usable"]
    assert len(loaded.unusable) == placeholders["expect"]["unusable"]
    columns = bugs["D016"]
    with pytest.raises(CardError) as raised:
        minimal(prompt=columns["input"]["configured_prompt"], columns=["prompt", "answer"]).check_columns(
            columns["input"]["columns"]
        )
    assert f"did you mean '{columns['expect']['suggest']}'" in str(raised.value)
    assert all(column in str(raised.value) for column in columns["input"]["columns"])
    lists = bugs["D019"]["input"]
    assert plain({"answer": lists["gold"]}, "answer") == lists["gold"]
    with pytest.raises(UnusableRow, match="a list written as text"):
        plain({"answer": lists["gold_as_text"]}, "answer")


# ---------------------------------------------------------------- cards


def minimal(**changes: Any) -> Card:
    """A small card of one's own."""
    fields: dict[str, Any] = {
        "name": "mine", "summary": "s", "splits": {"train": "train"}, "columns": ["prompt", "answer"],
        "prompt": "prompt", "gold": {"column": "answer", "reader": "plain"}, "reward": "math", "licence": "MIT",
        "source": "here", **changes,
    }  # fmt: skip
    return Card(**fields)


def test_every_card_is_there_and_whole() -> None:
    """Names equal files, rewards parse, sources and licences are stated, nothing but cards is called `.md`."""
    assert names() == EXPECTED
    for name in names():
        one = card(name)
        assert one.name == name
        assert one.body.startswith("# ")
        assert one.licence
        assert one.source
        Reward.parse(one.reward).close()
        assert (one.hub_id is None) is (name == "arithmetic")


def test_a_prompt_that_asks_for_a_box_has_a_reward_that_reads_one() -> None:
    """The prompt and the reward agree (open-r1#489: the prompt asked for tags that no reward looked for)."""
    for name in names():
        one = card(name)
        if one.reward in ("math", "countdown") and one.hub_id and name != "dapo-math-17k":
            assert "\\boxed{}" in one.prompt + one.instruction, name


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# no front matter", "no front matter"),
        ("+++\nname = \n+++\n", "not TOML"),
        ('+++\nname = "x"\nrewrad = "math"\n+++\n', "rewrad: Extra inputs are not permitted; did you mean 'reward'?"),
        ('+++\nname = "x"\n+++\n', "licence: Field required"),
    ],
)
def test_a_broken_card_names_each_fault(text: str, says: str) -> None:
    """All at once, with the key."""
    with pytest.raises(CardError) as raised:
        Card.from_text(text, "mine.md")
    assert says in str(raised.value)
    assert str(raised.value).startswith("mine.md: ")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"gold": {"column": "answer", "reader": "plane"}}, "did you mean 'plain'"),
        ({"gold": None}, "needs \\[gold\\] or \\[tests\\]"),
        ({"prompt": "question"}, "'question' is not under columns"),
        ({"prompt": "Use {nums}"}, "'nums' is not under columns"),
        ({"tests": {"column": "answer", "reader": "code"}}, "did you mean 'code_tests'"),
    ],
)
def test_a_card_that_cannot_work_is_refused(changes: dict[str, Any], says: str) -> None:
    """When it is built, not when its first row is met."""
    with pytest.raises(ValueError, match=says):
        minimal(**changes)


def test_names_that_do_not_exist_get_the_nearest() -> None:
    """Cards, splits, sources."""
    with pytest.raises(UnknownCard, match="did you mean 'gsm8k'"):
        load("gsm8")
    with pytest.raises(CardError, match="no split 'tests'; did you mean 'test'"):
        load("gsm8k", "tests", source="samples")
    with pytest.raises(CardError, match="no source 'generated'; allowed: hub, samples"):
        load("gsm8k", source="generated")
    with pytest.raises(ValueError, match="limit=-1"):
        load("gsm8k", limit=-1, source="samples")


def test_a_card_of_ones_own_is_a_path(tmp_path: Path) -> None:
    """`load("./mine.md")`."""
    path = tmp_path / "mine.md"
    path.write_text((ROOT / "datasets_cards" / "gsm8k.md").read_text(encoding="utf-8"), encoding="utf-8")
    assert card(str(path)) == card("gsm8k")
    with pytest.raises(UnknownCard, match="no card file"):
        card(str(tmp_path / "other.md"))


# ---------------------------------------------------------------- from rows to samples


def test_a_row_becomes_a_sample_with_prompt_gold_task_and_id() -> None:
    """The group is the row's id: all completions of one row answer the same prompt."""
    one = card("gsm8k").sample({"question": "q?", "answer": "work\n#### 1,234"}, split="train", index=3)
    assert one.prompt == "q?\n\nPut the final answer within \\boxed{}."
    assert (one.gold, one.task, one.id, one.group) == ("1234", "gsm8k", "gsm8k/train/3", "gsm8k/train/3")
    assert one.completion == ""


def test_chat_prompts_stay_messages_and_templates_are_filled() -> None:
    """The instruction goes below the last message; braces in a value are no places."""
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    chat = minimal(instruction="Box it.").sample({"prompt": messages, "answer": "1"}, split="train", index=0)
    assert chat.prompt == [messages[0], {"role": "user", "content": "u\n\nBox it."}]
    assert messages[1]["content"] == "u"
    mine = minimal(prompt="Do {prompt} now, not {answer.x}", columns=["prompt", "answer"])
    row = {"prompt": "{answer}", "answer": {"x": [1, 2]}}
    assert mine._prompt(row) == "Do {answer} now, not 1, 2"


def test_only_the_columns_of_the_card_are_kept() -> None:
    """OpenR1-Math brings the text of several generations with every row."""
    one = load("openr1-math", source="samples").samples[0]
    assert set(one.meta) == {"answer", "uuid", "question_type", "source"}


def test_unusable_rows_are_counted_and_named_and_never_scored() -> None:
    """A gold that cannot be read is the data set's fault, and visible."""
    rows = [
        {"question": "a", "answer": "#### 5"},
        {"question": "b", "answer": "five"},
        {"question": "", "answer": "#### 5"},
    ]
    loaded = datasets_cards.read_rows(card("gsm8k"), rows, "train", "hub")
    assert [sample.gold for sample in loaded] == ["5"]
    assert [(row.id, row.why.split(";")[0]) for row in loaded.unusable] == [
        ("gsm8k/train/1", "answer has no '####' before its final number"),
        ("gsm8k/train/2", "question is ''"),
    ]
    assert "2 unusable (first: gsm8k/train/1" in str(loaded)


def test_repeated_rows_count_once() -> None:
    """DAPO-Math-17k on the Hub holds every row about a hundred times."""
    rows = datasets_cards.sample_rows(card("dapo-math-17k")) * 3
    loaded = datasets_cards.read_rows(card("dapo-math-17k"), rows, "train", "hub")
    assert (len(loaded), loaded.repeated) == (3, 6)


def test_a_data_set_with_other_columns_is_refused_before_any_row() -> None:
    """open-r1#570: the configured prompt column did not exist."""
    with pytest.raises(CardError, match="no column 'question'; it has: problem, answer"):
        datasets_cards.read_rows(card("gsm8k"), [{"problem": "p", "answer": "#### 1"}], "train", "hub")
    with pytest.raises(DatasetUnavailable, match="no rows"):
        datasets_cards.read_rows(card("gsm8k"), [], "train", "hub")


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        ("#### 72", "72"),
        ("First 12, then 3.\n#### -1,234.5", "-1234.5"),
        ("#### $1,000,000", "1000000"),
        ("#### \u22128", "-8"),
        ("#### .5", ".5"),
        ("#### $-1,200", "-1200"),
        ("#### -$5.00", "-5.00"),
        ("#### +7", "7"),
        ("a #### 3\n#### 10.", "10"),
    ],
)
def test_a_gsm8k_gold_is_the_number_after_the_last_hashes(text: str, gold: str) -> None:
    """Signs, thousands commas, currency, a closing period."""
    assert number_after_hashes({"answer": text}, "answer") == gold


@pytest.mark.parametrize(
    "text", ["72", "#### ", "#### 3 apples", "#### 1,23", "#### 1.2.3", "#### --3", "####", None, 7]
)
def test_a_gsm8k_gold_that_is_not_one_number_is_refused(text: Any) -> None:
    """Never a guess."""
    with pytest.raises(UnusableRow):
        number_after_hashes({"answer": text}, "answer")


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        (r"so $\boxed{\frac{1}{2}}$.", r"\frac{1}{2}"),
        (r"\boxed{1} and then \boxed{2}", "2"),
        (r"Hence \fbox{5}.", "5"),
        (r"$\boxed 6$", "6"),
        (r"\boxed{\{1,2\}}", r"\{1,2\}"),
        (r"\boxed{a\}b}", r"a\}b"),
    ],
)
def test_a_math_gold_is_what_stands_in_the_last_box(text: str, gold: str) -> None:
    """Nested and escaped braces, the older command, a box without braces."""
    assert last_box({"solution": text}, "solution") == gold


@pytest.mark.parametrize("text", ["", "no box", r"\boxed{", r"\boxed{}", r"\boxed{ }", r"\boxed{a", r"\boxed", None])
def test_a_math_solution_without_a_whole_box_is_refused(text: Any) -> None:
    """An unclosed or empty box is no answer."""
    with pytest.raises(UnusableRow):
        last_box({"solution": text}, "solution")


@pytest.mark.parametrize(
    "value", ["proof", "NotFound", "", "  ", None, "None", "['70']", '["a", "b"]', True, [], {"a": 1}]
)
def test_a_plain_gold_that_is_none_is_refused(value: Any) -> None:
    """Placeholders, lists as text, nothing."""
    with pytest.raises(UnusableRow):
        plain({"answer": value}, "answer")


@pytest.mark.parametrize("value", ["[1, 2]", "[-3,3]", "(0, 1)", "A", 0, 1.5, "x"])
def test_a_plain_gold_that_is_one_is_kept(value: Any) -> None:
    """An interval is no list as text, and 0 is an answer."""
    assert plain({"answer": value}, "answer") == str(value)


@settings(max_examples=200, deadline=None)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=6,
    ),
    reader=st.sampled_from([*GOLD_READERS.values(), *TEST_READERS.values()]),
)
def test_every_reader_reads_or_refuses(value: Any, reader: Any) -> None:
    """Whatever stands in a column, the only exception is UnusableRow."""
    row = {"x": value, "kwargs": value, "nums": value, "entry_point": value, "test": value, "test_list": value}
    try:
        assert reader(row, "x") is not None
    except UnusableRow as why:
        assert str(why)


def test_a_dotted_path_reaches_into_rows_and_lists() -> None:
    """`reward_model.ground_truth`, `test_list.0`; None where a step is absent."""
    row = {"a": {"b": [{"c": 5}]}, "t": "text"}
    assert at(row, "a.b.0.c") == 5
    assert [at(row, path) for path in ("a.b.1.c", "a.x", "t.0", "a.b.c")] == [None] * 4


# ---------------------------------------------------------------- the Hub


def fake_hub(monkeypatch: pytest.MonkeyPatch, answer: Any) -> list[tuple[Any, ...]]:
    """A stand-in for the package `datasets`; returns the calls made to it."""
    calls: list[tuple[Any, ...]] = []

    def load_dataset(path: str, name: str | None = None, *, split: str) -> Any:
        calls.append((path, name, split))
        return answer(path, name, split)

    module = types.ModuleType("datasets")
    module.load_dataset = load_dataset  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "datasets", module)
    return calls


def test_the_hub_is_asked_for_each_configuration_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """MATH is seven configurations; a limit stops early."""
    rows = datasets_cards.sample_rows(card("math"))
    calls = fake_hub(monkeypatch, lambda *_: rows)
    loaded = load("math", "train")
    assert len(loaded) == 7 * len(rows)
    assert {path for path, _, _ in calls} == {"EleutherAI/hendrycks_math"}
    assert len({config for _, config, _ in calls}) == 7
    calls.clear()
    assert len(load("math", "train", limit=2)) == 2
    assert len(calls) == 1


def test_a_hub_that_cannot_be_reached_says_so_and_substitutes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sample rows are used when asked for, never because the network is down."""

    def offline(*_: Any) -> Any:
        raise ConnectionError("no route to host")

    fake_hub(monkeypatch, offline)
    with pytest.raises(DatasetUnavailable, match=r"no route to host.*source='samples'"):
        load("gsm8k")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(DatasetUnavailable, match="HF_HUB_OFFLINE"):
        load("gsm8k")
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(DatasetUnavailable, match=r"pip install 'grpo-rewards\[train\]'"):
        load("gsm8k")


def test_importing_the_cards_imports_nothing_heavy() -> None:
    """`datasets` and torch come when the Hub is asked."""
    code = "import sys, datasets_cards as d; d.names(); d.load('gsm8k', source='samples'); "
    code += "print([m for m in ('datasets', 'torch', 'pandas', 'sympy', 'trl', 'grpo_runner') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


# ---------------------------------------------------------------- arithmetic


def test_arithmetic_is_the_same_for_the_same_seed_and_right() -> None:
    """Pinned: another Python or machine must give these rows."""
    assert [row["prompt"] for row in arithmetic.rows("train", 3, seed=0)] == ["11+61=?", "37+57=?", "23+35=?"]
    assert [row["prompt"] for row in arithmetic.rows("heldout", 3, seed=0)] == ["70+45=?", "79+61=?", "87+35=?"]
    for row in itertools.chain(arithmetic.rows("train", 500, 1), arithmetic.rows("heldout", 500, 1, digits=3)):
        a, b = map(int, row["prompt"].removesuffix("=?").split("+"))
        assert row["answer"] == str(a + b)
    assert list(arithmetic.rows("train", 50, 1)) != list(arithmetic.rows("train", 50, 2))


def test_no_held_out_sum_is_in_train_in_either_order() -> None:
    """Every two-digit sum is in exactly one split, with its twin, and one eighth is held out."""
    held = {row["prompt"] for row in arithmetic.rows("heldout", 996, seed=3)}
    train = {row["prompt"] for row in arithmetic.rows("train", 8100 - 996, seed=4)}
    assert len(held) == 996
    assert len(train) == 8100 - 996
    assert not held & train
    twins = {f"{b}+{a}=?" for a, b in (prompt.removesuffix("=?").split("+") for prompt in held)}
    assert not twins & train
    assert abs(len(held) / 8100 - 1 / 8) < 0.01


def test_the_held_out_pairs_are_not_one_residue_class() -> None:
    """The held-out questions must look like the others: a linear hash holds out exactly b - a = 3 (mod 8)."""
    residues = [0] * 8
    for a in range(10, 100):
        for b in range(10, 100):
            residues[(b - a) % 8] += arithmetic.is_held_out(a, b)
    assert min(residues) > 0.5 * sum(residues) / 8


def test_arithmetic_repeats_only_after_a_full_pass_and_says_what_is_impossible() -> None:
    """`train` may be asked for more rows than there are questions; `heldout` may not."""
    pairs = [row["prompt"] for row in arithmetic.rows("train", 2 * (81 - 12), digits=1)]
    first = len(set(pairs))
    assert len(set(pairs[:first])) == first
    for arguments, says in (
        ({"split": "held_out"}, "did you mean 'heldout'"), ({"n": -1}, "n=-1"), ({"digits": 0}, "digits=0"),
        ({"digits": 10}, "digits=10"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=says):
            arithmetic.rows(**arguments)
    with pytest.raises(ValueError, match="has 996 questions"):
        list(arithmetic.rows("heldout", 997))
    with pytest.raises(ValueError, match="at most"):
        list(arithmetic.rows("heldout", 10**9, digits=3))


def test_the_arithmetic_card_is_generated_without_a_network() -> None:
    """As the starter run loads it."""
    loaded = load("arithmetic", "heldout", limit=5, seed=7)
    assert (len(loaded), loaded.origin, loaded.split) == (5, "generated", "heldout")
    assert load("arithmetic", "heldout", limit=5, seed=7) == loaded
    assert loaded.samples[0].prompt.endswith("=?")
