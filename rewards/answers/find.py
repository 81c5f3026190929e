"""The final answer of a completion: the strongest statement that comes last."""

from __future__ import annotations

from typing import Final

from rewards.answers.boxes import TEMPLATE_WORDS, find_boxed, joins
from rewards.answers.closing import closing_answer
from rewards.answers.denials import denied_before, retraction
from rewards.answers.spans import (
    ECHO,
    NO_ANSWER,
    TRUNCATED,
    Answer,
    Span,
    Where,
    answer_like,
    lower_case,
    trim,
    trim_end,
)
from rewards.answers.statements import ROOTS, hash_line, last_statement, read_statement, statements_of
from rewards.answers.values import narrow

_THINKING: Final = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<seed:think>", "</seed:think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|channel|>analysis", "<|channel|>final"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
)
_THINKING_HINTS: Final = (
    "think", "thought|", "<thought", "</thought", "reasoning>", "scratchpad>", "<|channel|>", "THINK]",
)  # fmt: skip
_END_OF_TURN: Final = (
    "<|im_end|>", "<|im_start|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<|end_of_text|>", "<|end|>",
    "<|return|>", "<|eos|>", "<|user|>",
)  # fmt: skip


def _region(text: str) -> tuple[int, int, bool]:
    """Start and end of the text that may hold the answer, and whether a think block was never closed."""
    start, end = 0, len(text)
    for hint in _THINKING_HINTS:
        if hint in text:
            unclosed = False
            for opener, closer in _THINKING:
                closed = text.rfind(closer)
                opened = text.rfind(opener)
                if closed >= 0:
                    start = max(start, closed + len(closer))
                unclosed = unclosed or opened > closed
            if unclosed:
                return start, end, True
            break
    if "<|" in text:
        at = text.find("<|", start)
        while at >= 0:
            # A template's own opening (`<|im_start|>assistant`) precedes the turn; it does not end it.
            if text.startswith(_END_OF_TURN, at) and not text[start:at].isspace() and at > start:
                end = at
                break
            if text.startswith(_END_OF_TURN, at):
                start = text.find("|>", at) + 2
            at = text.find("<|", at + 2)
    for token in ("</s>", "<end_of_turn>"):
        at = text.find(token, start, end)
        if at > start:
            end = at
    return start, end, False


def find_answer(
    text: str,
    *,
    prompt: str = "",
    where: Where = "anywhere",
    choice: bool = False,
    truncated: bool = False,
) -> Answer:
    """The final answer of a completion.

    Args:
        text: the assistant's turn, prefill included.
        prompt: what the model was shown; a box that repeats its example is no answer.
        where: which statements count; see the module's head.
        choice: True when the gold is a choice letter; then a letter is looked for in statements in words.
        truncated: True when generation was cut off; then what touches the end of the text is not taken as finished,
            and the closing sentence is not read.
    """
    # A search for one rare character is ten times as fast as one for a word, and most answers hold no tag.
    if ">" not in text and "▷" not in text and ("K" not in text or "THINK]" not in text):
        start, end = 0, len(text)
    else:
        start, end, unclosed = _region(text)
        if unclosed:
            return TRUNCATED
    boxed, after = find_boxed(text, start, end, prompt)
    if boxed is not None and boxed.problem == "truncated":
        if truncated or where == "boxed" or end - after < 40:
            return boxed
        return _stated_behind(text, after, end, choice) or boxed
    explicit = boxed if boxed is not None and not boxed.problem else None
    if explicit is not None:
        if end - after <= 4:
            return explicit  # nothing can be said behind the box
        taken_back = retraction(text, after, end)
        if taken_back >= 0:
            # What is said after that may still be an answer: "The correct answer is 22."
            explicit = boxed = None
            start = taken_back
    tail = after if explicit else start

    # A tag or a #### line behind the box is a later statement than the box.
    if text.find("<", tail, end) >= 0 and text.find("<answer>", tail, end) >= 0:
        tagged = _find_tagged(text, tail, end, where, choice, truncated)
        if tagged is not None:
            return tagged
    if where == "boxed":
        return explicit or (boxed if boxed is not None else NO_ANSWER)
    if text.find("#", tail, end) >= 0 and text.find("####", tail, end) >= 0:
        found = hash_line(text, tail, end, choice=choice)
        if found is not None:
            if truncated and found[1] >= trim_end(text, 0, len(text)):
                return TRUNCATED
            first, last = trim(text, *found)
            if first < last:
                explicit, tail = Answer((Span(text[first:last], first, last),), "hashes"), last
    low = lower_case(text) if tail == start else ""
    if explicit is not None:
        # Only "final answer: 5" outranks what was boxed before it; "whose answer was 12" does not.
        if end - tail > 12:
            rest = low or lower_case(text[tail:end])
            shift = 0 if low else tail
            at = rest.rfind("final answer")
            if at + shift >= tail:
                low = low or " " * tail + rest
                stated = next(statements_of(text, low, at + shift, end, ROOTS[:1]), None)
                if stated is not None and answer_like(text, stated[1], end):
                    return read_statement(text, low, stated[1], end, choice, truncated) or explicit
        return explicit
    # A letter first, wherever it is stated; only then the text of an option ("The answer is Evelyn.").
    for letter in (True, False) if choice else (False,):
        answer = last_statement(text, low, start, end, letter, truncated)
        if answer is not None:
            return answer
        if where == "anywhere":
            if truncated:
                return TRUNCATED
            closing = closing_answer(text, low, start, end, letter)
            if closing is not None:
                return ECHO if not choice and _repeats_prompt(text, closing.spans[0], prompt) else closing
    return ECHO if boxed is not None else NO_ANSWER


def _stated_behind(text: str, start: int, end: int, choice: bool) -> Answer | None:
    """The answer stated behind a box whose brace was forgotten: "$\\boxed{2\\sqrt{5}$. The final answer is 5"."""
    low = lower_case(text[start:end])
    at = low.rfind("final answer")
    if at < 0 or "$" not in low[:at]:
        return None
    low = " " * start + low
    stated = next(statements_of(text, low, at + start, end, ROOTS[:1]), None)
    if stated is None or not answer_like(text, stated[1], end):
        return None
    return read_statement(text, low, stated[1], end, choice, False)


def _find_tagged(text: str, start: int, end: int, where: Where, choice: bool, truncated: bool) -> Answer | None:
    """The content of the last `<answer>` tag; inside it the same rules hold again."""
    opening = text.rfind("<answer>", start, end)
    while opening >= 0:
        first = opening + len("<answer>")
        last = text.find("</answer>", first, end)
        if last < 0:
            return TRUNCATED
        content_first, content_last = trim(text, first, last)
        content = text[content_first:content_last]
        before = text.rfind("<answer>", start, opening)
        closed = text.find("</answer>", before, opening) if before >= 0 else -1
        if closed >= 0 and joins(text[closed + len("</answer>") : opening]) == " or ":
            begin, stop = trim(text, before + len("<answer>"), closed)
            spans = Span(text[begin:stop], begin, stop), Span(content, content_first, content_last)
            return Answer(spans, "tag", "", " or ")
        if content.lower() not in TEMPLATE_WORDS and content.strip("[]{}<>.") != "":
            low = lower_case(text[content_first:content_last])
            if "\n" in content or len(content) > 60 or "answer" in low:
                low = " " * content_first + low
                stated = next(statements_of(text, low, content_first, content_last, ROOTS), None)
                if stated is not None:
                    read = read_statement(text, low, stated[1], content_last, choice, False)
                    if read is not None:
                        return read._replace(mark="tag")
            told = low.startswith("the ") and (" is " in low or " are " in low) and any(c.isdecimal() for c in low)
            if not choice and (told or low.startswith(_OPINES)):
                low = low if len(low) == content_last else " " * content_first + low
                found = narrow(text, low, content_first, content_last)
                if found is not None and not denied_before(low, content_first, found[0]):
                    return Answer((Span(text[found[0] : found[1]], *found),), "tag")
            return Answer((Span(content, content_first, content_last),), "tag")
        opening = text.rfind("<answer>", start, opening)
    return None


_OPINES: Final = ("i think", "i believe", "i got", "i get", "it's ", "it is ", "that's ", "we get", "so it")


def _repeats_prompt(text: str, span: Span, prompt: str) -> bool:
    """True when the whole line that a value is taken from stands in the prompt: "Write 3/8 as a decimal."

    A line that names an option (`B) 5 apples`) is chosen, not repeated, and so is one of a word or two.
    """
    first = text.rfind("\n", 0, span.start) + 1
    last = text.find("\n", span.end)
    line = text[first : last if last >= 0 else len(text)].strip()
    option = line[:1] == "(" or line[1:2] in (")", ".", ":")
    return not option and len(line.split(None, 3)) > 2 and line in prompt
