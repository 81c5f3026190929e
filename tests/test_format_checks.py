"""Golden rows of tests/cases/format.jsonl."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from golden_rows import golden, hold
from hypothesis import given
from hypothesis import strategies as st

from rewards.format_checks import RegexMatch, TagLayout, TagShare, fences, safe_pattern
from rewards.verdict import Sample


@pytest.mark.parametrize("row", golden("format"))
def test_golden_row(row: dict[str, Any]) -> None:
    """What the row says, for the reason that it gives."""
    hold(row)


BODY = st.text(st.characters(exclude_characters="<>\\{}"), min_size=1, max_size=40).filter(
    lambda text: text.isprintable() and text.strip()
)
TAGS = ("<think>", "</think>", "<answer>", "</answer>")


def layout(think: str, answer: str) -> str:
    return f"<think>{think}</think>\n<answer>{answer}</answer>"


def paid(text: str, **params: Any) -> float | None:
    return TagLayout(**params).verify(Sample(completion=text)).score


@given(BODY, BODY)
def test_a_layout_passes_whatever_its_blocks_say(think: str, answer: str) -> None:
    """The content never matters, as long as there is some."""
    assert paid(layout(think, answer)) == 1.0
    assert TagShare().verify(Sample(completion=layout(think, answer))).score == 1.0


@given(BODY, BODY, st.sampled_from(TAGS))
def test_a_tag_less_or_one_too_many_fails(think: str, answer: str, tag: str) -> None:
    """Each tag exactly once: deleting any one, or writing any one again at the end, is 0."""
    text = layout(think, answer)
    assert paid(text.replace(tag, "")) == 0.0
    assert paid(text + tag) == 0.0


@given(BODY, BODY, st.integers(min_value=0, max_value=60))
def test_where_the_prefill_ends_does_not_matter(think: str, answer: str, at: int) -> None:
    """Prefill and completion are one text: cut anywhere, the verdict is the same."""
    text = layout(think, answer)
    whole = TagLayout().verify(Sample(completion=text))
    assert TagLayout().verify(Sample(prefill=text[:at], completion=text[at:])) == whole


@given(st.text(max_size=60))
def test_the_soft_variant_is_full_exactly_where_the_strict_one_is(text: str) -> None:
    """A share of 1 means that nothing is missing."""
    for candidate in (text, layout(text, "b"), text + layout("a", "b"), layout("a", text)):
        sample = Sample(completion=candidate)
        assert (TagShare().verify(sample).score == 1.0) is (TagLayout().verify(sample).score == 1.0)


def test_a_reason_says_which_tag_and_where() -> None:
    """Line and column, both from 1."""
    verdict = TagLayout().verify(Sample(completion="<think>a</think>\n<answer>b</answer>\n  <answer>c</answer>"))
    assert verdict.detail == "<answer> stands at line 2, column 1 and again at line 3, column 3"


def test_a_missing_pattern_engine_is_named_with_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    """google-re2 is optional: without it the verifier is refused when built, and says how to get it."""
    monkeypatch.setitem(sys.modules, "re2", None)
    safe_pattern.cache_clear()
    with pytest.raises(ImportError, match="pip install google-re2"):
        RegexMatch(pattern="never compiled before")


def test_fences_keep_their_content_and_place() -> None:
    """What is between the fence lines, byte for byte; an unclosed fence runs to the end."""
    text = "a\n```py\nx = 1\r\n```\nb\n~~~\nopen"
    closed, unclosed = fences(text)
    assert (closed.language, closed.content, closed.closed) == ("python", "x = 1\r\n", True)
    assert text[closed.start : closed.end] == "```py\nx = 1\r\n```"
    assert (unclosed.language, unclosed.content, unclosed.closed) == ("", "open", False)
