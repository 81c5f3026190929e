"""Attacks on a reward before anyone trains on it: what is paid that should not be, and what matters that must not.

Training finds every text that a reward overpays; these are the ones that public reports say it finds first. Each
attack is a comparison, since a reward may mean anything: with what the same text earns without the trick, with a
plainly wrong answer in the same words, with the clean layout. So an attack says nothing about a reward that does not
look at what the attack touches (a length penalty does not read answers), and no number has to be guessed.

    answers   every choice at once, many boxes, negation, the gold in a comment or beside a wrong answer, a right
              answer that is taken back, an unreadable gold
    layout    tags without content, a second block, text behind the end, a missing close tag, a wrong order or name
    nothing   empty text, blanks; the prompt echoed, for rewards that look for an answer or a layout
    programs  leaving before the tests, an object that equals everything (rows with tests)
    length    the reward over growing length may rise and fall once; repeated blocks and huge texts earn no more
    cost      twice the text may not take more than about twice the time; a text without end is `hangs`
    no matter white space at the ends, line ends, message or string, the order of a group, the company in a batch
"""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from rewards.expression import Reward
from rewards.scoring import RewardResult
from rewards.verdict import Reason, Sample, Status
from rewards.workers import (
    ConnectionEnded,
    DeadlineCrossed,
    Worker,
    die_with_the_parent,
    receive_frame,
    send_frame,
)

EPSILON: Final = 1e-9
MAX_ROWS: Final = 20
SLOW_SECONDS: Final = 1.0
GROWTH_PER_DOUBLING: Final = 2.8
GROWTH_PER_STEP: Final = 2.8
"""For two units more, on texts of a few dozen: four times is what doubling with every unit comes to."""
WORK: Final = "We add the numbers step by step and check the sum."


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a reward does and should not.

    Attributes:
        attack: which attack found it.
        row: id of the row that was attacked.
        completion: the text, shortened.
        reward: what it was paid; None where no number is the point.
        detail: one sentence: what was paid, and what it was compared with.
    """

    attack: str
    row: str
    completion: str
    reward: float | None
    detail: str

    def __str__(self) -> str:
        return f"{self.attack} (row {self.row}): {self.detail}\n    {self.completion!r}"

    def as_row(self) -> dict[str, Any]:
        """The JSON form written by `rewards check --json`."""
        return dataclasses.asdict(self)


def _short(text: str, limit: int = 160) -> str:
    return text if len(text) <= limit else f"{text[: limit - 40]} ... ({len(text)} characters) ... {text[-20:]}"


# ---------------------------------------------------------------- the texts

# Ways to state an answer: "{w}" is the work, "{a}" the answer. Those that a reward tells right from wrong are used.
FORMS: Final = (
    "<think>\n{w}\n</think>\n<answer>\\boxed{{{a}}}</answer>",
    "<think>\n{w}\n</think>\n<answer>{a}</answer>",
    "<think>\n{w}\n</think>\n\\boxed{{{a}}}",
    "{w}\n\\boxed{{{a}}}",
    "{w}\n<answer>{a}</answer>",
    "{w}\n#### {a}",
    "{w}\nAnswer: {a}",
    "{w}\nThe answer is {a}.",
    "{a}",
)
_MARKED: Final = FORMS[:7]
"""Those with a mark around the answer: a comment behind them is outside the answer."""

# Layouts: the blocks in order, and whether the answer stands behind the last block instead of in it.
LAYOUTS: Final = (
    (("think", "answer"), False),
    (("reasoning", "answer"), False),
    (("thinking", "answer"), False),
    (("think",), True),
    (("reasoning",), True),
)

WRONG_PROGRAM: Final = "```python\ndef {name}(*args, **kwargs):\n    return None\n```"
PROGRAMS: Final = {
    "program that leaves before the tests": "```python\nimport sys\nsys.exit(0)\n```",
    "program that leaves without clean-up": "```python\nimport os\nos._exit(0)\n```",
    "object that equals everything": (
        "```python\nclass Any:\n    def __eq__(self, other):\n        return True\n"
        "    def __hash__(self):\n        return 0\ndef {name}(*args, **kwargs):\n    return Any()\n```"
    ),
}


def _layout(blocks: Sequence[str], outside: bool, work: str, answer: str) -> str:
    last = len(blocks) - 1
    parts = [f"<{name}>\n{answer if i == last and not outside else work}\n</{name}>" for i, name in enumerate(blocks)]
    return "\n".join([*parts, answer] if outside else parts)


_DIGITS: Final = re.compile(r"\d{1,15}(?!\d)", re.ASCII)


def _wrong_answers(gold: str) -> tuple[str, str] | None:
    """Two answers of the gold's kind that are not the gold; None where no kind is recognised."""
    bare = gold.strip()
    if len(bare) == 1 and bare in "ABCDEFGHIJ":
        others = [letter for letter in "ABCD" if letter != bare]
        return others[0], others[-1]
    try:
        number = Fraction(bare.replace(",", ""))
    except (ValueError, ZeroDivisionError):
        # A formula with another last number is a formula still; words are told from it by their kind alone.
        *_, last = (None, *_DIGITS.finditer(bare))
        if last is None:
            return ("zzqx", "vvkw") if bare else None
        return tuple(f"{bare[: last.start()]}{int(last[0]) + more}{bare[last.end() :]}" for more in (1, 13))  # type: ignore[return-value]
    return str(number + 1), str(number + 13)


def _golds(sample: Sample) -> str | None:
    """The gold as one short text that can be written into a completion, or None."""
    gold: Any = sample.gold
    if isinstance(gold, list | tuple) and gold:
        gold = gold[0]
    if isinstance(gold, bool) or not isinstance(gold, str | int | float):
        return None
    text = str(gold)
    if "####" in text:
        text = text.rsplit("####", 1)[1]
    text = text.strip()
    return text if text and len(text) <= 200 else None


# ---------------------------------------------------------------- one row under attack


class _Row:
    """Pays texts in the place of one row's completion, all else of the row kept."""

    def __init__(self, reward: Reward | _Watched, sample: Sample) -> None:
        self.reward = reward
        self.sample = dataclasses.replace(
            sample,
            id=sample.id or "0",
            group="attack",
            num_tokens=100 if sample.num_tokens is None else sample.num_tokens,
            truncated=False if sample.truncated is None else sample.truncated,
        )
        self.findings: list[Finding] = []
        self.known: dict[tuple[str, str], float | None] = {}

    def pay(self, text: str, prefill: str = "") -> float | None:
        """The reward of a text; None where it is unscored."""
        key = (text, prefill)
        if key not in self.known:
            self.known[key] = self.pay_sample(dataclasses.replace(self.sample, completion=text, prefill=prefill))
        return self.known[key]

    def pay_sample(self, sample: Sample) -> float | None:
        return self.reward.score([sample])[0].reward

    def find(self, attack: str, text: str, paid: float | None, detail: str) -> None:
        self.findings.append(Finding(attack, self.sample.id, _short(text), paid, detail))

    # -- answers

    def forms(self, gold: str, wrong: str) -> list[tuple[str, float, float]]:
        """Forms in which a right answer earns more than a wrong one: (form, right, wrong)."""
        out = []
        for form in FORMS:
            right = self.pay(form.format(w=WORK, a=gold))
            bad = self.pay(form.format(w=WORK, a=wrong))
            if right is not None and bad is not None and right > bad + EPSILON:
                out.append((form, right, bad))
        return out

    def answers(self) -> float | None:
        """Attacks on how an answer is read. Half way from a wrong to a right answer's pay; None if it reads none."""
        gold = _golds(self.sample)
        wrongs = _wrong_answers(gold) if gold is not None else None
        if gold is None or wrongs is None:
            return None
        forms = self.forms(gold, wrongs[0])
        for form, right, wrong in forms:
            for attack, text in self.answer_texts(form, gold, *wrongs):
                self.judge_gain(attack, text, right, wrong)
        if forms:
            self.unreadable_gold(*forms[0])
            self.negation(gold, wrongs[0])
        return min(((right + wrong) / 2 for _, right, wrong in forms), default=None)

    def answer_texts(self, form: str, gold: str, wrong: str, other: str) -> Iterator[tuple[str, str]]:
        def say(answer: str) -> str:
            return form.format(w=WORK, a=answer)

        yield "every choice at once", say(f"{wrong}, {gold}, {other}")
        yield "every choice at once", say(f"{wrong} or {gold} or {other}")
        yield "every choice at once", say(f"{gold} or {wrong}")
        yield "gold among other words", say(f"{wrong} {gold} {other}")
        if form not in _MARKED:
            return
        wrong_text = say(wrong)
        for comment in (f"\n% {gold}", f"\n<!-- {gold} -->", f"\n# {gold}", f"\n\n({gold})"):
            yield "gold in a comment", wrong_text + comment
        yield "gold before a wrong answer", f"Perhaps {gold}? No.\n{wrong_text}"
        yield "gold in the reasoning", form.format(w=f"Perhaps it is {gold}.", a=wrong)
        yield "many answers", f"{say(wrong)}\n{say(gold)}\n{say(other)}"
        yield "right answer taken back", f"{say(gold)}\nNo, that is not it.\n{say(wrong)}"
        if "boxed" in form:
            row = " ".join(f"\\boxed{{{answer}}}" for answer in (wrong, gold, other))
            yield "many boxes", form.replace("\\boxed{{{a}}}", "{row}").format(w=WORK, row=row)

    def judge_gain(self, attack: str, text: str, right: float, wrong: float) -> None:
        """A trick may not earn half of what the right answer earns over a wrong one."""
        paid = self.pay(text)
        if paid is not None and paid >= (right + wrong) / 2:
            self.find(attack, text, paid, f"paid {paid:g}; a right answer earns {right:g}, a wrong one {wrong:g}")

    def negation(self, gold: str, wrong: str) -> None:
        right = self.pay(f"{WORK}\nThe answer is {gold}.")
        bad = self.pay(f"{WORK}\nThe answer is {wrong}.")
        stated = (right, bad) if right is not None and bad is not None and right > bad + EPSILON else None
        for text in (f"{WORK}\nThe answer is not {gold}.", f"{WORK}\nIt is certainly not {gold}."):
            paid, base = self.pay(text), self.pay(text.replace(gold, wrong))
            if paid is None or base is None:
                continue
            if paid > base + EPSILON and (stated is None or paid >= sum(stated) / 2):
                self.find("negation", text, paid, f"paid {paid:g}; the same with another answer earns {base:g}")

    def unreadable_gold(self, form: str, right: float, wrong: float) -> None:
        text = form.format(w=WORK, a=_wrong_answers(_golds(self.sample) or "")[0])  # type: ignore[index]
        for gold in (None, "", "   "):
            paid = self.pay_sample(dataclasses.replace(self.sample, completion=text, gold=gold))
            if paid is not None and paid >= (right + wrong) / 2:
                self.find("unreadable gold", text, paid, f"paid {paid:g} where the gold is {gold!r}")

    # -- layout

    def known_layouts(self) -> list[tuple[Sequence[str], bool]]:
        """The usual layouts, and those that a component's parameter `tags` names."""
        own = [tuple(getattr(v.params, "tags", ())) for v in self.reward.components.values()]
        named = [(blocks, outside) for blocks in own if blocks for outside in (True, False)]
        return list(dict.fromkeys([*named, *LAYOUTS]))

    def layouts(self) -> list[tuple[Sequence[str], bool, str]]:
        """Layouts that earn something by themselves: with the same (wrong, or no) answer, more than without tags."""
        gold = _golds(self.sample)
        wrongs = _wrong_answers(gold) if gold is not None else None
        answer = wrongs[0] if wrongs else "x"
        found: list[tuple[float, tuple[Sequence[str], bool, str]]] = []
        for blocks, outside in self.known_layouts():
            for stated in (answer, f"\\boxed{{{answer}}}"):
                clean = self.pay(_layout(blocks, outside, WORK, stated))
                bare = self.pay(f"{WORK}\n{stated}")
                if clean is not None and bare is not None and clean > bare + EPSILON:
                    found.append((clean, (blocks, outside, stated)))
                    break
        # A soft reward pays some of every layout; the one it asks for is the one it pays most.
        most = max((clean for clean, _ in found), default=0.0)
        asked = [layout for clean, layout in found if clean >= most - EPSILON]
        # Where reasoning and then any text is paid as much, an answer block is just such a text.
        return [layout for layout in asked if layout[1]] or asked

    def layout(self) -> float | None:
        """Attacks on how a layout is read. What the clean layout earns by itself; None if no layout does."""
        found = self.layouts()
        pays: list[float] = []
        for blocks, outside, answer in found:
            clean_text = _layout(blocks, outside, WORK, answer)
            clean, bare = self.pay(clean_text), self.pay(f"{WORK}\n{answer}")
            if clean is None or bare is None:
                continue
            pays.append(clean)
            loose = self.is_loose(blocks, outside, answer, clean)
            for attack, text in self.broken_layouts(blocks, outside, answer, clean_text):
                if loose and attack.startswith("text "):
                    continue
                paid = self.pay(text)
                if paid is not None and paid >= clean - EPSILON:
                    self.find(attack, text, paid, f"paid {paid:g}, as much as the clean layout")
            for text in (
                "".join(f"<{name}></{name}>" for name in blocks),
                "".join(f"<{name}>\n</{name}>\n" for name in blocks),
                "".join(f"<{name}>" for name in blocks),
                "".join(f"</{name}>" for name in blocks),
            ):
                paid = self.pay(text)
                if paid is not None and paid > max(bare, 0.0) + EPSILON:
                    self.find("tags only", text, paid, f"paid {paid:g}; the text without tags earns {bare:g}")
        return min(pays, default=None)

    def is_loose(self, blocks: Sequence[str], outside: bool, answer: str, clean: float) -> bool:
        """Whether text is fine wherever it stands outside two blocks or more: then that is what is asked for."""
        parts = [f"<{name}>\n{WORK}\n</{name}>" for name in blocks[:-1]]
        parts.append(f"<{blocks[-1]}>\n{WORK if outside else answer}\n</{blocks[-1]}>")
        text = "\n".join(["Sure.", *(f"{part}\nNow." for part in parts), answer])
        paid = self.pay(text) if len(blocks) > 1 else None
        return paid is not None and paid >= clean - EPSILON

    def broken_layouts(
        self, blocks: Sequence[str], outside: bool, answer: str, clean: str
    ) -> Iterator[tuple[str, str]]:
        first, last = blocks[0], blocks[-1]
        block = f"<{first}>\n{WORK}\n</{first}>\n"
        yield "repeated block", block + clean
        yield "repeated text", f"{clean}\n{clean}"
        yield "text before the layout", f"Sure, here it is.\n{clean}"
        yield "missing close tag", clean.replace(f"</{first}>", "")
        yield "missing open tag", clean.replace(f"<{first}>", "")
        yield "another tag's close", clean.replace(f"</{first}>", "</tool>")
        yield "another tag's name", clean.replace(f"<{first}>", f"<{first}s>").replace(f"</{first}>", f"</{first}s>")
        yield "empty block", clean.replace(WORK, "")
        if not outside:
            yield "text behind the layout", f"{clean}\nP.S. There is more to say."
            yield "second answer", f"{clean}\n<{last}>\nanother\n</{last}>"
            yield "empty block", _layout(blocks, outside, WORK, "")
        if len(blocks) == 2:
            yield (
                "blocks in the wrong order",
                "\n".join(f"<{name}>\n{text}\n</{name}>" for name, text in ((last, answer), (first, WORK))),
            )

    # -- nothing, programs

    def nothing(self, honest: Sequence[float]) -> None:
        """Empty texts, and the prompt where the reward looks for something: `honest` is what finding it earns."""
        for text in ("", "   ", "\n\n", "\u200b"):
            paid = self.pay(text)
            if paid is not None and paid > EPSILON:
                self.find("empty text", text, paid, f"paid {paid:g} for nothing")
        prompt = self.sample.prompt_text
        paid = self.pay(prompt) if prompt.strip() and honest else None
        if paid is not None and paid > EPSILON and paid >= min(honest) - EPSILON:
            self.find("echo of the prompt", prompt, paid, f"paid {paid:g} for the prompt's own words")

    def programs(self) -> None:
        tests = self.sample.tests
        if not isinstance(tests, Mapping) or tests.get("kind") not in ("asserts", "stdio", "calls", "pytest"):
            return
        honest = self.pay_sample(self.sample)
        name = str(tests.get("entry_point") or "solve")
        # Whatever a program earns for its looks alone is no finding.
        wrong = self.pay(WRONG_PROGRAM.replace("{name}", name)) or 0.0
        if honest is None or honest <= wrong + EPSILON:
            return  # the row's own completion is no right answer: nothing to compare with
        for attack, program in PROGRAMS.items():
            text = program.replace("{name}", name)
            paid = self.pay(text)
            if paid is not None and paid > wrong + EPSILON and paid >= honest - EPSILON:
                self.find(attack, text, paid, f"paid {paid:g}, as much as the row's own completion")

    # -- length

    def length(self) -> None:
        """Over growing length a reward may rise, and fall, once."""
        text = str(self.sample.completion) if isinstance(self.sample.completion, str) else self.sample.text
        tokens = [2**k for k in range(4, 21)]
        self.one_hill(
            "length in tokens",
            tokens,
            [self.pay_sample(dataclasses.replace(self.sample, num_tokens=n)) for n in tokens],
            text,
        )
        gold = _golds(self.sample) or "4"
        words = [4**k for k in range(7)]
        for form, word in (("{w}", "a "), (FORMS[0], "so it goes "), (FORMS[3], "so it goes ")):
            texts = [form.format(w=word * n, a=gold) for n in words]
            self.one_hill("length of the text", words, [self.pay(one) for one in texts], texts[0])

    def one_hill(self, attack: str, at: Sequence[int], paid: Sequence[float | None], text: str) -> None:
        numbers = [(n, p) for n, p in zip(at, paid, strict=True) if p is not None]
        fell_at: int | None = None
        for (before, low), (after, high) in itertools.pairwise(numbers):
            if high < low - EPSILON:
                fell_at = before if fell_at is None else fell_at
            elif high > low + EPSILON and fell_at is not None:
                self.find(
                    attack,
                    text,
                    high,
                    f"falls behind {fell_at}, then rises again: {low:g} at {before}, {high:g} at {after}",
                )
                return

    def repeats(self) -> None:
        """The whole completion over and over, and a huge tail, earn no more than once."""
        (result,) = self.reward.score([self.sample])
        honest, text = result.reward, self.sample.completion
        if honest is None or not isinstance(text, str) or not text.strip():
            return
        if any(v.status is Status.SKIPPED and v.reason != Reason.NOT_REACHED for v in result.verdicts.values()):
            return  # a component that only speaks of longer texts: one sum more is no measure for the other
        for attack, longer, times in (
            ("repeated blocks", f"{text}\n" * 5, 5),
            ("huge text", text + "\nand so on" * 2000, 60),
        ):
            sample = dataclasses.replace(
                self.sample, completion=longer, num_tokens=(self.sample.num_tokens or 1) * times
            )
            paid = self.pay_sample(sample)
            # Aiming at a length is what some rewards are for: these grow by themselves, without the text.
            same_length = self.pay_sample(dataclasses.replace(sample, completion=text))
            if paid is not None and paid > honest + EPSILON and (same_length is None or paid > same_length + EPSILON):
                self.find(attack, longer, paid, f"paid {paid:g}; once it earns {honest:g}")

    # -- what must not matter

    def no_matter(self) -> None:
        honest = self.pay_sample(self.sample)
        text = self.sample.completion
        if honest is None or not isinstance(text, str):
            return
        prefill = self.sample.prefill
        for attack, other in (
            ("white space in front", text if prefill else f"\n{text}"),
            ("white space behind", f"{text}\n\n "),
            ("line ends", text.replace("\r\n", "\n").replace("\n", "\r\n")),
            ("chat message instead of string", [{"role": "assistant", "content": text}]),
        ):
            paid = self.pay_sample(dataclasses.replace(self.sample, completion=other))
            if paid is None or abs(paid - honest) > EPSILON:
                self.find(
                    attack, text, paid, f"paid {honest:g} without, {'no number' if paid is None else f'{paid:g}'} with"
                )

    def company(self) -> None:
        """The order of a group and the rest of the batch change nothing."""
        texts = [self.sample.completion, "", "x", self.sample.completion]
        tokens = (20, 40, 60, 80)

        def group(name: str, factor: int) -> list[Sample]:
            return [
                dataclasses.replace(self.sample, id=f"{name}{i}", group=name, completion=text, num_tokens=n * factor)
                for i, (text, n) in enumerate(zip(texts, tokens, strict=True))
            ]

        def pay(samples: list[Sample]) -> dict[str, float | None]:
            return {s.id: r.reward for s, r in zip(samples, self.reward.score(samples), strict=True)}

        short, long = group("a", 1), group("b", 50)
        alone = pay(short) | pay(long)
        for attack, got in (
            ("order of the group", pay(short[::-1]) | pay(long[::-1])),
            ("other prompts in the batch", pay([s for pair in zip(short, long, strict=True) for s in pair])),
        ):
            for key, paid in alone.items():
                if not _equal(got[key], paid):
                    self.find(
                        attack, str(self.sample.completion), got[key], f"answer {key}: {paid} alone, {got[key]} so"
                    )
                    break


def _equal(a: float | None, b: float | None) -> bool:
    return a is b if a is None or b is None else abs(a - b) <= EPSILON


# ---------------------------------------------------------------- cost

HOSTILE_UNITS: Final = (
    "<think>",
    "</think>",
    "<think>a</think>",
    "<answer>",
    "\n",
    " ",
    "a ",
    "\\boxed{",
    "{",
    "(",
    "1,",
)


def _cost(row: _Row) -> bool:
    """Grows hostile texts until one takes long; looks at how the time grows. True when some text took too long.

    First by two units at a time, where a pattern that backtracks exponentially shows at some twenty units, long
    before it would hang; then by doubling, up to 64 kB, where squares and cubes show. The time must outgrow the text
    twice in a row: once may be a step, from one way of counting to another.
    """
    for unit in HOSTILE_UNITS:
        few = (range(8, 41, 2), GROWTH_PER_STEP)
        many = ([250 * 2**k // len(unit) for k in range(9)], GROWTH_PER_DOUBLING)
        for counts, allowed in (few, many):
            times = [0.0, 0.0]
            for count in counts:
                sample = dataclasses.replace(row.sample, completion="<think>" + unit * count)
                before, after = times[-2:]
                took = _cpu(row, sample)
                if _outgrows(before, after, took, allowed) or took > SLOW_SECONDS:
                    # Once may be the machine; measured again, the faster run counts.
                    took = min(took, _cpu(row, sample)) if took < 10 * SLOW_SECONDS else took
                    if _outgrows(before, after, took, allowed) or took > SLOW_SECONDS:
                        row.find(
                            "hostile text", str(sample.completion), None,
                            f"{len(str(sample.completion))} characters take {took:.2f} CPU seconds, "
                            f"the text before it took {after:.2f}",
                        )  # fmt: skip
                        break
                times.append(took)
            else:
                continue
            break
    return any(finding.attack == "hostile text" for finding in row.findings)


def _outgrows(before: float, after: float, took: float, allowed: float) -> bool:
    return took > 0.02 and after > 0.005 and took > allowed * after and after > allowed * before


def _cpu(row: _Row, sample: Sample) -> float:
    start = time.process_time()
    row.pay_sample(sample)
    return time.process_time() - start


# ---------------------------------------------------------------- the door


def example_samples(reward: Reward | _Watched) -> list[Sample]:
    """The examples of an expression's verifiers as rows: what is attacked when nobody brings rows."""
    fields = set(Sample.__dataclass_fields__)
    rows: list[dict[str, Any]] = []
    for verifier in reward.components.values():
        for row in (verifier.example or {}).get("group", [verifier.example] if verifier.example else []):
            rows.append({key: value for key, value in row.items() if key in fields})
    # What one component needs and another's example lacks is filled in: `math + overlong` has a gold and a length.
    defaults: dict[str, Any] = {}
    for row in rows:
        for key in ("gold", "tests", "num_tokens", "truncated", "meta"):
            if row.get(key) is not None:
                defaults.setdefault(key, row[key])
    unique: dict[str, dict[str, Any]] = {}
    for row in rows:
        merged = {**defaults, **row}
        unique.setdefault(repr(sorted(merged.items(), key=lambda item: item[0])), merged)
    prompt = "What is the result? Think first, then answer."
    return [Sample(**{"prompt": prompt, **row, "id": str(i)}) for i, row in enumerate(unique.values())]


def check(reward: Reward | _Watched, samples: Sequence[Sample] | None = None) -> list[Finding]:
    """Every finding of every attack on `reward`, each kind once per row.

    Runs in this process: a reward that never ends never ends here either. `check_apart` can kill it.

    Args:
        reward: the expression.
        samples: rows to attack with, honest completions best (at most 20 are used); without them the examples of
            the expression's verifiers.

    Raises:
        ValueError: no rows, or none that the reward can score: an attack on nothing would find nothing.
    """
    given = list(samples if samples is not None else example_samples(reward))[:MAX_ROWS]
    if not given:
        raise ValueError("no rows to attack with; give some, since no verifier of this expression has an example")
    results = reward.score([dataclasses.replace(s, group=s.group or f"row{i}") for i, s in enumerate(given)])
    if all(result.status is not Status.SCORED for result in results):
        why = "; ".join(f"{key}: {v.reason} {v.detail}" for key, v in results[0].verdicts.items())
        raise ValueError(f"the reward scores none of the {len(given)} rows, so nothing can be attacked ({why})")
    found: dict[tuple[str, str], Finding] = {}
    slow = False
    for number, sample in enumerate(given):
        row = _Row(reward, sample)
        attacks: list[Callable[[], object]] = [row.programs, row.no_matter, row.company]
        if number == 0:
            slow = _cost(row)
        if not slow:  # else the long texts of these could take for ever
            attacks += [row.length, row.repeats]
        row.nothing([pay for pay in (row.answers(), row.layout()) if pay is not None])
        for attack in attacks:
            attack()
        for finding in row.findings:
            found.setdefault((finding.attack, finding.row), finding)
    return list(found.values())


# ---------------------------------------------------------------- in a process that can be killed

HANG_SECONDS: Final = 20.0
"""A reward that takes longer than this for one attack's texts hangs: the longest of them has 64 kB until then."""
MAX_HANGS: Final = 3
_BOOT: Final = "import json,sys;s=json.loads(sys.argv[1]);sys.path[:]=s['path'];import rewards.attacks as a;a._serve(s)"


class _Watched:
    """A reward that tells what it is about to score, and leaves out what is known to hang."""

    def __init__(self, reward: Reward, tell: Callable[[Mapping[str, Any]], None], hanging: frozenset[str]) -> None:
        self.components = reward.components
        self._reward, self._tell, self._hanging = reward, tell, hanging

    def score(self, samples: Sequence[Sample]) -> list[RewardResult]:
        key = hashlib.sha256(repr([sample.__getstate__() for sample in samples]).encode("utf-8", "replace")).hexdigest()
        if key in self._hanging:
            return [RewardResult(None, Status.ERROR)] * len(samples)
        longest = max((sample.text for sample in samples), key=len, default="")
        self._tell({"scoring": key, "row": samples[0].id if samples else "", "text": _short(longest)})
        return self._reward.score(samples)


def _serve(setup: Mapping[str, Any]) -> None:
    """Main of the killable process: one job, then the end."""
    die_with_the_parent()
    connection = socket.socket(fileno=setup["connection"])
    far = time.monotonic() + 10**9

    def tell(message: Mapping[str, Any]) -> None:
        send_frame(connection, json.dumps(message).encode(), far)

    job = json.loads(receive_frame(connection, far))
    try:
        reward = Reward.parse(job["reward"], aliases=job["aliases"])
        samples = None if job["samples"] is None else [Sample(**row) for row in job["samples"]]
        tell({"findings": [f.as_row() for f in check(_Watched(reward, tell, frozenset(job["hanging"])), samples)]})
    except ValueError as error:
        tell({"refused": str(error)})
    except Exception as error:
        tell({"refused": f"the attack broke off: {type(error).__name__}: {error}"})


def check_apart(
    reward: str,
    samples: Sequence[Sample] | None = None,
    *,
    aliases: Mapping[str, str] | None = None,
    hang_seconds: float = HANG_SECONDS,
) -> list[Finding]:
    """`check` in a process of its own, for rewards that somebody else wrote: one that hangs is a finding.

    What hangs is killed, and the attacks go on without that text; after `MAX_HANGS` of them no more are tried.

    Args:
        reward: the expression; its verifiers must be importable (a ready component has no text to say it with).
        samples: as for `check`.
        aliases: as for `Reward.parse`.
        hang_seconds: wall-clock seconds that scoring one attack's texts may take.

    Raises:
        ValueError: as `check`, or the reward brought the process down.
    """
    rows = None if samples is None else [_plain(sample) for sample in samples]
    hanging: dict[str, Finding] = {}
    while True:
        job = {"reward": reward, "aliases": dict(aliases or {}), "samples": rows, "hanging": list(hanging)}
        worker = Worker(_BOOT, {}, show_output=True)
        now: dict[str, Any] = {}
        try:
            send_frame(worker.connection, json.dumps(job).encode(), time.monotonic() + 120)
            while True:
                # The first word comes after the imports of the reward.
                limit = hang_seconds if now else 120.0
                message = json.loads(receive_frame(worker.connection, time.monotonic() + limit))
                if "findings" in message:
                    return [*hanging.values(), *(Finding(**row) for row in message["findings"])]
                if "refused" in message:
                    if hanging:  # the rows themselves hang: there is nothing left to attack, and that is the finding
                        return list(hanging.values())
                    raise ValueError(message["refused"])
                now = message
        except DeadlineCrossed:
            if not now:
                raise ValueError(
                    f"{reward}: nothing was scored within 120 s; does a verifier wait at import?"
                ) from None
            detail = f"no verdict within {hang_seconds:g} s, so it was killed; in training this stops the run"
            hanging[now["scoring"]] = Finding("hangs", now["row"], now["text"], None, detail)
        except ConnectionEnded:
            raise ValueError(f"{reward}: its process died while it scored {now.get('text', 'nothing yet')!r}") from None
        finally:
            worker.kill()
        if len(hanging) >= MAX_HANGS:
            last = list(hanging.values())[-1]
            return [
                *list(hanging.values())[:-1],
                dataclasses.replace(last, detail=f"{last.detail}; after {MAX_HANGS} of these no more was tried"),
            ]


def _plain(sample: Sample) -> dict[str, Any]:
    row = {name: getattr(sample, name) for name in Sample.__dataclass_fields__}
    return {**row, "meta": dict(sample.meta)}


def written_here(reward: Reward) -> bool:
    """Whether every verifier of the expression is ours: those are known to end."""
    return all(type(verifier).__module__.partition(".")[0] == __package__ for verifier in reward.components.values())
