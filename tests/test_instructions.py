"""Instruction following: the golden rows, row faults, modes, strictness, determinism, time on hostile text."""

from __future__ import annotations

import copy
import json
import pickle
import random
import subprocess
import sys
import time
from importlib.util import find_spec
from typing import Any

import pytest
from conftest import CASES, ROOT, read_jsonl, shared
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards.instructions import CATALOGUE, InstructionFollowing
from rewards.instructions.catalogue import Given, RowFault
from rewards.instructions.response import (
    MAX_SENTENCE_MARKS,
    MAX_TOKENIZED_CHARACTERS,
    OfficialResponse,
    Response,
    whole_word,
)
from rewards.registry import ParamError
from rewards.scoring import judge
from rewards.verdict import Reason, Sample, Status, Verdict

ROWS = read_jsonl(CASES / "instructions.jsonl")
HAVE_OFFICIAL = all(find_spec(name) for name in ("nltk", "punkt", "langdetect", "emoji", "syllapy"))
needs_extra = pytest.mark.skipif(not HAVE_OFFICIAL, reason="needs the extra: pip install 'grpo-rewards[ifeval]'")
# The packages that fixed mode needs, by instruction type.
FIXED_NEEDS = {
    "language:response_language": "langdetect",
    "change_case:english_capital": "langdetect",
    "change_case:english_lowercase": "langdetect",
    "words:odd_even_syllables": "syllapy",
}


def sample(ids: list[str], kwargs: list[dict[str, Any]], completion: str, **fields: Any) -> Sample:
    tests = {"kind": "instructions", "instruction_id_list": ids, "kwargs": kwargs}
    return Sample(**{"id": "row-7", "completion": completion, "tests": tests, **fields})


def verdict(ids: list[str], kwargs: list[dict[str, Any]], completion: str, **params: Any) -> Verdict:
    return judge(InstructionFollowing(**params), [sample(ids, kwargs, completion)])[0]


def outcome(row: dict[str, Any], mode: str) -> bool | str:
    one = sample([row["instruction"]], [row["kwargs"]], row["completion"], prompt=row.get("prompt", ""))
    found = judge(InstructionFollowing(mode=mode), [one])[0]
    return bool(found.score) if found.status is Status.SCORED else found.status.value


# ---------------------------------------------------------------- the golden rows


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['instruction']}: {row['why']}"[:80])
def test_fixed_mode_judges_the_golden_row(row: dict[str, Any]) -> None:
    """Each row of tests/cases/instructions.jsonl, with its reason."""
    needed = FIXED_NEEDS.get(row["instruction"])
    if needed and not find_spec(needed):
        pytest.skip(f"needs {needed}")
    assert outcome(row, "fixed") == row["fixed"], row["why"]


@needs_extra
@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if row["official"] != "skip"],
    ids=lambda row: f"{row['instruction']}: {row['why']}"[:80],
)
def test_official_mode_keeps_the_published_verdict(row: dict[str, Any]) -> None:
    """The faults included; rows that need NLTK's downloaded tagger are marked `skip`."""
    assert outcome(row, "official") == row["official"], row["why"]


def test_every_type_has_a_followed_and_a_broken_row() -> None:
    """A check that always says the same is no check."""
    seen = {(row["instruction"], row["fixed"]) for row in ROWS}
    assert [(name, way) for name in CATALOGUE for way in (True, False) if (name, way) not in seen] == []


def test_the_catalogue_holds_both_benchmarks_in_both_modes() -> None:
    """25 types of IFEval, 58 of IFBench."""
    assert len(CATALOGUE) == 25 + 58
    assert all(set(instruction.checks) == {"official", "fixed"} for instruction in CATALOGUE.values())


# ---------------------------------------------------------------- real responses


@needs_extra
def test_official_mode_agrees_with_the_given_results_on_real_responses() -> None:
    """The benchmark itself: at least 99.5 % of instructions, and no disagreement without a named cause."""
    folder = shared("data", "ifeval")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "benchmarks" / "ifeval_agreement.py"), str(folder)],
        capture_output=True, text=True, cwd=ROOT, env={"PYTHONPATH": str(ROOT), "PATH": ""}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "disagreements without a named cause: 0" in done.stdout


# ---------------------------------------------------------------- faults of the row


def test_an_unknown_id_is_invalid_and_names_the_nearest() -> None:
    """confident-ai/deepeval#3063: 18 of 29 ids fell through to True."""
    found = verdict(["keywords:existance"], [{"keywords": ["a"]}], "a")
    assert (found.status, found.reason) == (Status.INVALID, "bad_instruction")
    assert "'row-7'" in found.detail
    assert "did you mean 'keywords:existence'" in found.detail


def test_a_contradicting_row_is_invalid_with_its_id() -> None:
    """A row that wants the None-th paragraph is the data set's fault, not the response's."""
    kwargs = {"num_paragraphs": 2, "nth_paragraph": None, "first_word": "a"}
    for mode in ("fixed", "official"):
        found = verdict(["length_constraints:nth_paragraph_first_word"], [kwargs], "a\n\nb", mode=mode)
        assert found.status is Status.INVALID
        assert "row-7" in found.detail
        assert "nth_paragraph" in found.detail


@pytest.mark.parametrize(
    ("tests", "meta", "reason", "says"),
    [
        (None, {}, Reason.MISSING_FIELD, "no instruction_id_list"),
        ({"kind": "asserts", "script": "x"}, {}, Reason.MISSING_FIELD, "kind 'asserts'"),
        ({"kind": "instructions", "instruction_id_list": []}, {}, "bad_instruction", "is empty"),
        (None, {"instruction_id_list": ["punctuation:no_comma"], "kwargs": []}, "bad_instruction", "1 instruction ids"),
        (None, {"instruction_id_list": "punctuation", "kwargs": [{}]}, "bad_instruction", "not JSON"),
        (None, {"instruction_id_list": ["punctuation:no_comma"], "kwargs": ["x"]}, "bad_instruction", "a mapping"),
        (None, {"instruction_id_list": [7], "kwargs": [{}]}, "bad_instruction", "no instruction type 7"),
        (None, {"instruction_id_list": {"a": 1}, "kwargs": [{}]}, "bad_instruction", "is a dict"),
    ],
)
def test_a_row_without_readable_instructions_is_invalid(tests: Any, meta: Any, reason: str, says: str) -> None:
    """Every shape that is not a list of ids with one mapping each."""
    found = judge(InstructionFollowing(), [Sample(id="r", completion="text", tests=tests, meta=meta)])[0]
    assert (found.status, found.reason) == (Status.INVALID, reason)
    assert says in found.detail


def test_columns_of_the_hub_are_read_from_meta() -> None:
    """Null arguments are absent (the Hub fills every struct with them), 0 is not; JSON text is read."""
    meta = {
        "instruction_id_list": ["keywords:frequency"],
        "kwargs": [{"keyword": "sea", "frequency": 0, "relation": "at least", "num_words": None}],
    }
    as_text = {key: json.dumps(value) for key, value in meta.items()}
    for columns in (meta, as_text):
        found = judge(InstructionFollowing(), [Sample(id="r", completion="no such word", meta=columns)])[0]
        assert found.score == 1.0


def test_whole_numbers_that_a_table_made_floats_are_read() -> None:
    """A column with gaps turns 3 into 3.0; 3.5 words are nobody's wish."""
    kwargs = {"num_words": 3.0, "relation": "at least"}
    assert verdict(["length_constraints:number_words"], [kwargs], "one two three").score == 1.0
    found = verdict(["length_constraints:number_words"], [{**kwargs, "num_words": 3.5}], "one two three")
    assert found.status is Status.INVALID


@pytest.mark.parametrize("name", sorted(CATALOGUE))
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_arguments_of_any_kind_are_read_or_refused(name: str, data: st.DataObject) -> None:
    """Reading a row raises nothing but RowFault, whatever its values are."""
    anything = (
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.lists(st.text(max_size=3))
    )
    kwargs = {param: data.draw(anything) for param in CATALOGUE[name].params}
    mode = data.draw(st.sampled_from(["official", "fixed"]))
    try:
        CATALOGUE[name].read(Given(name, kwargs, mode, data.draw(st.text(max_size=20))))
    except RowFault as fault:
        assert str(fault)


# ---------------------------------------------------------------- scores, strictness, parts


def test_a_repeated_id_counts_each_time() -> None:
    """thinking-machines-lab/tinker-cookbook#893: with the first of two failing, the row got 1.0."""
    ids, kwargs = ["keywords:existence"] * 2, [{"keywords": ["elm"]}, {"keywords": ["oak"]}]
    every, share = (verdict(ids, kwargs, "an oak", score=score) for score in ("all", "share"))
    assert (every.score, share.score) == (0.0, 0.5)
    assert [part["followed"] for part in share.parts["instructions"]] == [False, True]  # type: ignore[index]


def test_parts_tell_each_instruction_and_why_not() -> None:
    """What the report and `rewards explain` show."""
    found = verdict(["punctuation:no_comma", "detectable_format:title"], [{}, {}], "a, b")
    parts = found.parts
    assert parts is not None
    assert (parts["mode"], parts["strictness"], parts["followed"], parts["asked"]) == ("fixed", "strict", 0, 2)
    assert parts["instructions"][0] == {"id": "punctuation:no_comma", "followed": False, "why_not": "has a comma"}
    assert "punctuation:no_comma: has a comma" in found.detail


def test_loose_forgives_a_first_and_a_last_line_and_stars() -> None:
    """The eight versions of the published loose mode."""
    ids, kwargs = ["startend:quotation"], [{}]
    text = 'Sure, here it is:\n"Rain fell."\nHope that helps!'
    assert verdict(ids, kwargs, text).score == 0.0
    assert verdict(ids, kwargs, text, strictness="loose").score == 1.0
    assert verdict(ids, kwargs, '**"Rain fell."**', strictness="loose").score == 1.0
    assert verdict(ids, kwargs, "Rain\n\nfell", strictness="loose").score == 0.0


@pytest.mark.parametrize("mode", ["fixed", pytest.param("official", marks=needs_extra)])
@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_a_blank_response_follows_nothing(name: str, mode: str) -> None:
    """In both modes and strictnesses, for every type that the golden rows know arguments of."""
    kwargs = next(row["kwargs"] for row in ROWS if row["instruction"] == name and row["fixed"] is True)
    for text in ("", " \n\t ", "\u200b" if mode == "fixed" else ""):
        for strictness in ("strict", "loose"):
            found = verdict([name], [kwargs], text, mode=mode, strictness=strictness, score="share")
            assert found.score == 0.0, (name, text)


def test_reasoning_is_not_judged_unless_asked_for() -> None:
    """fixed drops what stands before </think>, official keeps it; either can be told."""
    ids, kwargs, text = ["punctuation:no_comma"], [{}], "<think>well, so</think>\nNo commas here"
    assert verdict(ids, kwargs, text).score == 1.0
    assert verdict(ids, kwargs, text, reasoning="keep").score == 0.0
    assert verdict(ids, kwargs, text, mode="official").score == 0.0
    assert verdict(ids, kwargs, text, mode="official", reasoning="drop").score == 1.0
    unfinished = verdict(ids, kwargs, "<think>no commas yet")
    assert (unfinished.score, unfinished.reason) == (0.0, Reason.NO_ANSWER)


def test_impossible_params_are_refused_when_built() -> None:
    """No silent mixing: the mode is one of two."""
    for params in ({"mode": "both"}, {"strictness": "soft"}, {"score": "mean"}, {"modes": "fixed"}):
        with pytest.raises(ParamError):
            InstructionFollowing(**params)


def test_the_fingerprint_tells_the_modes_apart() -> None:
    """Cached verdicts of one mode never serve the other."""
    assert InstructionFollowing().fingerprint == InstructionFollowing(mode="fixed").fingerprint
    assert InstructionFollowing().fingerprint != InstructionFollowing(mode="official").fingerprint


# ---------------------------------------------------------------- determinism


def test_judging_changes_nothing_in_the_row() -> None:
    """allenai/open-instruct: the same label object scored a second generation 0."""
    row = sample(["combination:two_responses", "punctuation:no_comma"], [{}, {}], "a\n******\nb")
    before = copy.deepcopy(dict(row.tests))
    first, second = judge(InstructionFollowing(), [row, row])
    assert first == second
    assert row.tests == before


@pytest.mark.skipif(not find_spec("langdetect"), reason="needs langdetect")
def test_language_verdicts_do_not_depend_on_what_ran_before() -> None:
    """EleutherAI/lm-evaluation-harness#4213: langdetect draws at random, and its seed is global."""
    import langdetect

    texts = ["seaside estates", "mi casa es", "no", "taxi bar hotel", "la la land"]
    expected = [Response(text).language_shares for text in texts]
    for seed in (1, 2, None):
        langdetect.DetectorFactory.seed = seed
        random.seed(seed)
        for text in random.sample(texts, len(texts)):
            assert Response(text).language_shares == expected[texts.index(text)]
    langdetect.DetectorFactory.seed = None


def test_it_survives_pickling_and_stays_light() -> None:
    """Importing it loads neither NLTK nor an identifier; a pickled one judges the same."""
    again = pickle.loads(pickle.dumps(InstructionFollowing(mode="fixed", score="share")))
    assert again == InstructionFollowing(mode="fixed", score="share")
    heavy = ("nltk", "punkt", "langdetect", "emoji")
    code = f"import sys, rewards.instructions; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_package_is_our_error_and_names_the_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never a score: which packages are installed must not decide a reward."""
    from rewards.instructions import response

    response._language_factory.cache_clear()
    monkeypatch.setitem(sys.modules, "langdetect.detector_factory", None)
    monkeypatch.setitem(sys.modules, "langdetect", None)
    found = verdict(["language:response_language"], [{"language": "de"}], "Der Fluss.")
    response._language_factory.cache_clear()
    assert (found.status, found.reason) == (Status.ERROR, "missing_dependency")
    assert "grpo-rewards[ifeval]" in found.detail


# ---------------------------------------------------------------- sentences and words


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It rained. It poured!", ["It rained.", "It poured!"]),
        ("Mr. and Mrs. Jones left at 3 p.m. yesterday.", ["Mr. and Mrs. Jones left at 3 p.m. yesterday."]),
        ("He works at Acme Inc. They sell nails.", ["He works at Acme Inc.", "They sell nails."]),
        ("Pi is 3.14 or so. J. R. Smith knew.", ["Pi is 3.14 or so.", "J. R. Smith knew."]),
        ("“Go!” he said. (He meant it.) Bye", ["“Go!”", "he said.", "(He meant it.)", "Bye"]),
        ("Well... maybe. Wait... Now!", ["Well... maybe.", "Wait...", "Now!"]),
        ("1. Milk.\n2. Bread.", ["1. Milk.", "2. Bread."]),
        ("今日は雨です。明日は晴れます！", ["今日は雨です。", "明日は晴れます！"]),
        ("?! ... !!!", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, sentences: list[str]) -> None:
    """Our splitter on what Punkt and naive splitters get wrong."""
    assert Response(text).sentences == sentences


def test_words_are_what_a_word_processor_counts() -> None:
    """Contractions and hyphens join, dashes and slashes cut, marks alone are none, Han counts by character."""
    text = "Don't stop\u2014well-known and/or new \u2013 it's * 日本語 3.5!"
    assert Response("वह हिन्दी ❤\ufe0f").words == ["वह", "हिन्दी"]
    assert Response(text).words == ["Don't", "stop", "well-known", "and", "or", "new", "it's", "日", "本", "語", "3.5"]


def test_a_whole_word_pattern_is_literal_and_bordered() -> None:
    """No keyword is ever read as a pattern in fixed mode."""
    assert whole_word("C++").search("I like C++, too")
    assert not whole_word("a.b").search("axb")
    assert whole_word("New  York").search("in new\nyork.")
    assert not whole_word("art").search("start artist part")
    assert whole_word("हिन्दी").search("वह हिन्दी बोलता है")
    assert not whole_word("हिन्द").search("वह हिन्दी बोलता है")


@needs_extra
def test_official_sentences_are_those_of_nltk() -> None:
    """Marks at the end are cut as NLTK cuts them, which the package that carries the parameters does not."""
    assert OfficialResponse("Wow!!!").sentences == ["Wow!", "!", "!"] or len(OfficialResponse("Wow!!!").sentences) > 1
    assert OfficialResponse("Dr. Smith left. He ran.").sentences == ["Dr. Smith left.", "He ran."]


# ---------------------------------------------------------------- hostile text

UNITS = ["a", ".", ")", "?", "-", "a.", '".', " ", "\n", "\n ", "*", "**", ". ", "a.)", "<<", ">>", "[", "{", '"', "- ",
         " *** ", "! ", "A. B. ", "Mr. ", "Question 1 ", "'\"", "<i>", "a,b\n", "a@", "word ", "p. s", "漢", "😀", "_",
         "1,"]  # fmt: skip


def _fill(unit: str, length: int) -> str:
    return "x" + (unit * (length // len(unit) + 1))[: length - 2] + "x"


def _seconds(verifier: InstructionFollowing, one: Sample) -> float:
    begun = time.process_time()
    found = judge(verifier, [one])[0]
    took = time.process_time() - begun
    beyond = verifier.params.mode == "official" and found.reason == Reason.OVER_LIMIT
    assert found.status is Status.SCORED or beyond, found
    return took


@pytest.mark.parametrize("mode", ["fixed", pytest.param("official", marks=needs_extra)])
@pytest.mark.parametrize("name", sorted(set(CATALOGUE) - {"words:start_verb"}))
def test_hostile_text_costs_time_in_proportion_to_its_length(name: str, mode: str) -> None:
    """Two megabytes under two seconds; eight times the text at most 2.6 ** 3 times the time, where it takes any.

    The published code is quadratic or worse in `<<` (title), line breaks (bullets), white space (postscript). Every
    family is tried on a small text, the two dearest on large ones; a slow run gets more tries, since a neighbour on
    the same core only ever adds.
    """
    if mode == "fixed" and (needed := FIXED_NEEDS.get(name)) and not find_spec(needed):
        pytest.skip(f"needs {needed}")
    kwargs = next(row["kwargs"] for row in ROWS if row["instruction"] == name and row["fixed"] is True)
    verifier = InstructionFollowing(mode=mode)

    def seconds(unit: str, size: int, tries: int = 1) -> float:
        return min(_seconds(verifier, sample([name], [kwargs], _fill(unit, size))) for _ in range(tries))

    seconds("warm up. And again! ", 40)
    dear = sorted(UNITS, key=lambda unit: -seconds(unit, 4_000))[:2]
    for unit in dear:
        # Official texts beyond the tokenizers' bounds are not judged: there the longest that are must be quick enough.
        small, large = seconds(unit, 16_000), seconds(unit, 128_000)
        for _ in range(5):
            if large <= 2.6**3 * max(0.002, small):
                break
            small, large = min(small, seconds(unit, 16_000)), min(large, seconds(unit, 128_000))
        assert large <= 2.6**3 * max(0.002, small), (unit, small, large)
    huge = seconds(dear[0], 2_000_000)
    assert huge < 2.0 or seconds(dear[0], 2_000_000, 2) < 2.0, (dear[0], huge)


def test_fixed_mode_judges_texts_of_any_length() -> None:
    """No bound of ours decides a reward: a million characters are split and counted like a hundred."""
    tests = sample(["length_constraints:number_sentences"], [{"num_sentences": 3, "relation": "at least"}], "x").tests
    prose = "The river rose in the night and took the old bridge with it to the sea. " * 14_000
    found = judge(InstructionFollowing(), [Sample(id="r", completion=prose, tests=tests)])[0]
    assert (found.score, len(prose) > 1_000_000) == (1.0, True)


@needs_extra
@pytest.mark.parametrize(
    ("name", "kwargs", "text"),
    [
        ("length_constraints:number_sentences", {"num_sentences": 3, "relation": "at least"},
         "a! " * (MAX_SENTENCE_MARKS + 1)),
        ("format:title_case", {}, "A" * (MAX_TOKENIZED_CHARACTERS + 1)),
    ],
)  # fmt: skip
def test_beyond_the_published_tokenizers_there_is_no_number(name: str, kwargs: dict[str, Any], text: str) -> None:
    """What the published check says of such a text is not known, so nothing is paid and nothing is called wrong."""
    found = verdict([name], [kwargs], text, mode="official")
    assert (found.status, found.reason) == (Status.ERROR, Reason.OVER_LIMIT)
    assert "mode=fixed" in found.detail
    assert verdict([name], [kwargs], text).status is Status.SCORED


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=300), name=st.sampled_from(sorted(CATALOGUE)), loose=st.booleans())
def test_every_check_is_total_on_any_text(text: str, name: str, loose: bool) -> None:
    """A verdict in either mode, never an exception, for any string."""
    kwargs = next(row["kwargs"] for row in ROWS if row["instruction"] == name and row["fixed"] is True)
    for mode in ("fixed", "official"):
        found = verdict([name], [kwargs], text, mode=mode, strictness="loose" if loose else "strict")
        if found.status is Status.ERROR:
            assert found.reason == "missing_dependency", found
        else:
            assert found.status in (Status.SCORED, Status.INVALID)
