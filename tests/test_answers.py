"""Where the final answer stands: `rewards.answers`."""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewards.answers import GoldTypeError, find_answer, gold_texts, number_text
from tests.conftest import CASES, read_jsonl

OPTIONS = ("prompt", "where", "choice", "truncated")


@pytest.mark.parametrize("row", read_jsonl(CASES / "answers.jsonl"), ids=lambda row: row["why"])
def test_golden_rows(row: dict[str, Any]) -> None:
    """Each row: a text, the answer in it (null: none), how it was found, and why."""
    found = find_answer(row["text"], **{name: row[name] for name in OPTIONS if name in row})
    assert (found.text if found.spans else None, found.mark, found.problem) == (
        row["answer"],
        row["mark"],
        row.get("problem", ""),
    )


PIECES = st.sampled_from(
    [
        "boxed", "fbox",
        "\\boxed{", "\\boxed", "\\fbox{", "{", "}", "\\{", "\\}", "\\", "$", "\\(", "\\)", "\\[", "\\]", "<think>",
        "</think>", "<answer>", "</answer>", "####", "#", "**", "The answer is", "Final Answer", "answer:", "答案是",
        "。", "Ответ:", "İ", "ß", "\n", " ", ".", ",", " and ", " or ", "not ", "5", "-3", "1/2", "\\frac{1}{2}", "x=",
        "A", "(B)",
        "<|im_end|>", "<|im_start|>", "</s>", "```", "😀", "\x00", "I hope it is correct.", "is", "=", "%", "'", "+",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map("".join))


@settings(max_examples=600, deadline=None)
@given(
    text=TEXTS,
    prompt=TEXTS,
    choice=st.booleans(),
    truncated=st.booleans(),
    where=st.sampled_from(["boxed", "stated", "anywhere"]),
)
def test_any_text_gives_an_answer_or_a_problem(
    text: str, prompt: str, choice: bool, truncated: bool, where: Any
) -> None:
    """Total: no exception for any text; either spans or a problem; a span is the text at its place."""
    found = find_answer(text, prompt=prompt, choice=choice, truncated=truncated, where=where)
    assert bool(found.spans) is not bool(found.problem)
    assert bool(found.spans) is bool(found.mark)
    for span in found.spans:
        assert span.text == text[span.start : span.end]
        assert span.text.strip()
    assert found == find_answer(text, prompt=prompt, choice=choice, truncated=truncated, where=where)


@settings(max_examples=200, deadline=None)
@given(
    before=st.text(alphabet="abc xyz.,0123456789\n", max_size=80),
    content=st.text(alphabet="0123456789x+-/^(),", min_size=1, max_size=20),
)
def test_a_box_at_the_end_is_the_answer(before: str, content: str) -> None:
    """Whatever stands before it."""
    found = find_answer(f"{before} so it is $\\boxed{{{content}}}$.")
    if found.problem != "echo":  # `..` and the like are the template's dots
        assert (found.text, found.mark) == (content, "boxed")


@settings(max_examples=200, deadline=None)
@given(thought=TEXTS, after=TEXTS)
def test_nothing_inside_a_think_block_is_the_answer(thought: str, after: str) -> None:
    """Every span lies behind the last closing tag."""
    text = f"<think>{thought}</think>{after}"
    for span in find_answer(text).spans:
        assert span.start >= text.rindex("</think>") + len("</think>")


@settings(max_examples=200, deadline=None)
@given(before=TEXTS, tail=st.text(alphabet="0123456789x+-", max_size=30))
def test_an_unfinished_last_box_is_never_paid(before: str, tail: str) -> None:
    """Not from the box itself, not from an earlier one."""
    for ending in ("}", "<|", "</s>"):  # what would close the box, or end the turn before it
        before = before.replace(ending, "")
    found = find_answer(before + "\\boxed{" + tail)
    assert not found.spans


HOSTILE: dict[str, Callable[[int], str]] = {
    "nested braces": lambda n: "\\boxed{" + "{" * n + "5" + "}" * n + "}",
    "open boxes": lambda n: "\\boxed{" * n,
    "nested boxes": lambda n: "\\boxed{" * n + "5" + "}" * n,
    "boxes side by side": lambda n: "\\boxed{5} " * n,
    "different boxes side by side": lambda n: " ".join(f"\\boxed{{{i}}}" for i in range(n)),
    "empty boxes": lambda n: "\\boxed{}" * n,
    "an open box before empty ones": lambda n: "\\boxed{" + "\\boxed{}" * n,
    "box names": lambda n: "boxed" * n,
    "answers": lambda n: "the answer is " * n,
    "judged answers": lambda n: "The answer is correct.\n" * n,
    "unfinished answers": lambda n: "answer to " * n,
    "hashes": lambda n: "####\n" * n,
    "hash marks": lambda n: "#" * n,
    "open tags": lambda n: "<answer>" * n,
    "empty tags": lambda n: "<answer></answer>" * n,
    "thoughts": lambda n: "<think>x</think>" * n,
    "dollars": lambda n: "the answer is " + "$" * n,
    "stars": lambda n: "so 5 = " + "*" * n,
    "digits": lambda n: "it is " + "7" * n,
    "minus signs": lambda n: "it is " + "-" * n + "5",
    "spaces": lambda n: "The answer is" + " " * n + "5",
    "turns": lambda n: "<|im_start|>" * n,
    "bars": lambda n: "<|" * n,
    "lines": lambda n: "\n" * n + "5",
    "sentences": lambda n: "I hope it is correct. " * n,
    "letters": lambda n: "A or " * n,
    "capital I with dot": lambda n: "İ" * n + " the answer is 5",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_twice_the_text_takes_at_most_twice_the_time(kind: str) -> None:
    """Linear on hostile text, for both readers. Small times are compared with a floor: the clock is coarse."""
    make = HOSTILE[kind]

    def seconds(n: int) -> float:
        text = make(n)
        best = float("inf")
        for _ in range(3):
            began = time.process_time()
            find_answer(text)
            find_answer(text, choice=True)
            best = min(best, time.process_time() - began)
        return best

    small = large = float("inf")
    for _ in range(6):  # a neighbour on the same core only ever adds, and to either
        small, large = min(small, seconds(10_000)), min(large, seconds(20_000))
        if large <= 2.6 * max(small, 0.002):
            break
    assert large <= 2.6 * max(small, 0.002)


def test_two_megabytes_take_less_than_a_second() -> None:
    """A completion of two million characters, with the answer at its end and at its start."""
    filler = "so we add the numbers and get on with it. " * 50_000
    for text in (filler + "\\boxed{5}", "The answer is 5. " + filler, filler):
        began = time.process_time()
        find_answer(text)
        assert time.process_time() - began < 1.0


def test_golds_are_read_bare_boxed_marked_or_as_numbers() -> None:
    """A gold has a reader of its own: what is certainly an answer needs no search for one."""
    assert gold_texts("72") == ("72",)
    assert gold_texts("so \\boxed{72}.") == ("72",)
    assert gold_texts("24+48=72\n#### 72") == ("72",)
    assert gold_texts("<answer>72</answer>") == ("72",)
    assert gold_texts(72) == ("72",)
    assert gold_texts(0.5) == ("0.5",)
    assert gold_texts(Fraction(1, 3)) == ("1/3",)
    assert gold_texts(Decimal("0.10")) == ("0.10",)
    assert gold_texts(["1/2", 0.5]) == ("1/2", "0.5")
    assert gold_texts(True) == ("True",)


@pytest.mark.parametrize("gold", [{}, [], object(), float("nan"), float("inf"), b"5"])
def test_a_gold_of_another_type_is_refused_with_the_allowed_ones(gold: Any) -> None:
    """Never silently unequal (a gold that is an object of a computer algebra system, say)."""
    with pytest.raises(GoldTypeError, match="allowed"):
        gold_texts(gold)


def test_numbers_of_python_become_text() -> None:
    """Finite ones only; a boolean is no number."""
    assert number_text(True) is None
    assert number_text(float("inf")) is None
    assert number_text(2.0) == "2.0"
