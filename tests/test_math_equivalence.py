"""The verifier `math`: golden rows, the labelled corpora, hostile answers, threads and processes."""

from __future__ import annotations

import asyncio
import dataclasses
import gzip
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from rewards.answers import GoldTypeError
from rewards.math_equivalence import MathEquivalence, MathParams, check_gold, equivalent
from rewards.math_equivalence.compare import Policy
from rewards.registry import ParamError
from rewards.scoring import judge
from rewards.verdict import Sample, Status, Verdict
from tests.conftest import CASES, ROOT, read_jsonl, shared

GOLDEN = read_jsonl(CASES / "math.jsonl")
TOWER = "\\boxed{\\dfrac{5^{\\left(5^{\\left(5^{\\left(5^5\\right)}\\right)} - 4\\right)} - 5}{16}}"


@pytest.fixture(scope="module")
def math() -> Any:
    """One verifier for the module; its workers end with it."""
    verifier = MathEquivalence()
    yield verifier
    verifier.close()


def boxed(answer: str) -> str:
    """A bare answer as a completion."""
    return f"Therefore, the answer is $\\boxed{{{answer}}}$."


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: row["why"])
def test_golden_rows(row: dict[str, Any], math: MathEquivalence) -> None:
    """Each row: gold, completion, score (null: unscored) and, where it matters, the reason."""
    verdict = math(row["completion"], gold=row["gold"])
    assert verdict.score == row["score"], verdict
    assert verdict.reason == row.get("reason", verdict.reason)
    assert verdict.reason in MathEquivalence.known_reasons()
    if row["score"] is None:
        assert verdict.status is Status.INVALID


# ---------------------------------------------------------------- the labelled corpora

NEVER_PAID = (
    "hedge", "echo", "literal_garbage", "empty", "reward_hack", "near_miss", "code_injection", "tiny_values",
)  # fmt: skip


def test_labelled_pairs_are_right_by_the_targets(math: MathEquivalence) -> None:
    """At least 97% right; of right answers at most 3% refused, of wrong ones at most 0.5% paid, some kinds never."""
    rows = read_jsonl(shared("cases", "math_dev.jsonl"))
    samples = [
        Sample(
            id=r["id"],
            completion=r["prediction"] if r["form"] == "completion" else boxed(r["prediction"]),
            gold=r["gold"],
        )
        for r in rows
    ]
    count: Counter[str] = Counter()
    leaks = []
    for row, verdict in zip(rows, judge(math, samples), strict=True):
        paid = verdict.score == 1.0
        count["right" if row["expected"] else "wrong"] += 1
        count["refused"] += row["expected"] and not paid
        count["paid"] += paid and not row["expected"]
        if paid and not row["expected"] and row["kind"] in NEVER_PAID:
            leaks.append(row["id"])
    assert not leaks
    assert count["refused"] <= 0.03 * count["right"], count
    assert count["paid"] <= 0.005 * count["wrong"], count
    assert count["refused"] + count["paid"] <= 0.03 * len(rows), count


def test_published_bugs_of_graders_are_not_ours(math: MathEquivalence) -> None:
    """Every bug report of area `math` marked `sure` that names a completion and a reward."""
    tried = 0
    for row in read_jsonl(shared("cases", "bugs_dev.jsonl")):
        given, expected = row["input"], row["expect"]
        if (
            row["area"] != "math"
            or row["confidence"] != "sure"
            or "completion" not in given
            or "reward" not in expected
        ):
            continue
        began = time.process_time()
        verdict = math(given["completion"], gold=given["gold"])
        assert time.process_time() - began < 1.0, row["id"]
        assert verdict.score == expected["reward"], (row["id"], row["summary"], verdict)
        tried += 1
    assert tried > 35


# Rows where math-verify agrees with the given label and we do not, with the reason for each.
LISTED = {
    "deepmind_mathematics-MathCoder-CL-13b-781": "label: (a) -1/10 is the gold -0.1",
    "math500-rho-math-1b-v0.1-233": "policy degrees_as_radians: pi/6 for 30 degrees",
    "math500-rho-math-1b-v0.1-257": "label: 6 square feet are 864 square inches",
    "math500-rho-math-7b-interpreter-v0.1-164": "label: 4cos(pi/18)-tan(4pi/9) is -sqrt(3)",
    "math500-rho-math-7b-interpreter-v0.1-399": "the answer is 326.5 only after rounding a float's exact fraction",
    "math500-rho-math-7b-interpreter-v0.1-456": "label read the last of two boxes; both together are the gold -2,1",
    "math_test-MathCoder-L-7b-62": "the text ends its turn (</s>) and answers another question behind it",
    "olympiadbench-qwen2.5-3b-instruct-9": "the gold is corrupt (n-\\lfloor/2\\rfloor): invalid, not 0",
    "olympiadbench-qwen2.5-3b-instruct-300": "the gold is corrupt (\\frac{}{2}): invalid, not 0",
    "theoremqa-internlm2_math_20b_5shots_short-674": "cut off inside its last box; never paid from an earlier one",
}


def test_no_real_completion_is_judged_worse_than_by_math_verify(math: MathEquivalence) -> None:
    """Where math-verify agrees with the label, so do we, save the listed rows."""
    files = sorted(shared("data", "math").glob("*.jsonl.gz"))
    assert files
    worse = {}
    for file in files:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        rows = [r for r in rows if r["label"] is not None and r.get("math_verify") == r["label"]]
        samples = [Sample(id=r["id"], prompt=r["prompt"], completion=r["completion"], gold=r["answer"]) for r in rows]
        for row, verdict in zip(rows, judge(math, samples), strict=True):
            if (verdict.score == 1.0) is not row["label"] or verdict.status is not Status.SCORED:
                worse[row["id"]] = (row["answer"], row["final"], verdict)
    assert set(worse) <= set(LISTED), {key: worse[key] for key in set(worse) - set(LISTED)}


def test_choices_on_which_graders_differ_are_the_documented_ones(math: MathEquivalence) -> None:
    """Pairs whose label depends on a policy: where we state a label, the defaults give it."""
    for row in read_jsonl(shared("cases", "math_policy.jsonl")):
        if row["our_label"] is None or row["cls"] == "artefact":
            continue
        prediction = row["prediction"]
        completion = prediction if "boxed" in prediction or "nswer" in prediction else boxed(prediction)
        verdict = math(completion, gold=row["gold"])
        assert (verdict.score == 1.0) is row["our_label"], (row["id"], row["gold"], prediction, verdict)


# ---------------------------------------------------------------- policies

POLICY_ROWS: list[tuple[dict[str, Any], str, str, float, float]] = [
    # parameters, gold, answer, score by default, score with the parameters
    ({"percent": "value"}, "25\\%", "25", 1.0, 0.0),
    ({"rounding": "gold_precision"}, "33.3", "\\frac{100}{3}", 0.0, 1.0),
    ({"decimal_digits": 4}, "\\pi", "3.1416", 0.0, 1.0),
    ({"decimal_digits": 0}, "\\frac13", "0.333333333333", 1.0, 0.0),
    ({"unevaluated": False}, "15", "3\\cdot 5", 1.0, 0.0),
    ({"unit_conflict": "ignore"}, "5 \\text{ km}", "5 \\text{ m}", 0.0, 1.0),
    ({"inequality_as_interval": False}, "(-\\infty,3)", "x<3", 1.0, 0.0),
    ({"degrees_as_radians": False}, "180^\\circ", "\\pi", 1.0, 0.0),
    ({"log_base": "e"}, "\\lg 2", "\\log 2", 1.0, 0.0),
    ({"imaginary_j": False}, "3+4i", "3+4j", 1.0, 0.0),
    ({"base_dropped": False}, "204_5", "204", 1.0, 0.0),
]


@pytest.mark.parametrize("row", POLICY_ROWS, ids=lambda row: json.dumps(row[0]))
def test_a_policy_changes_what_it_says(row: tuple[dict[str, Any], str, str, float, float]) -> None:
    """Each parameter, with a pair on which it decides."""
    params, gold, answer, default, changed = row
    assert equivalent(gold=gold, answer=answer).score == default
    assert equivalent(gold=gold, answer=answer, **params).score == changed


def test_every_policy_is_a_parameter_with_the_same_default() -> None:
    """`MathParams` and the comparison's own record of policies cannot drift apart."""
    params = MathParams().model_dump()
    for field in dataclasses.fields(Policy):
        assert params[field.name] == field.default


def test_where_the_answer_may_stand() -> None:
    """A box always; a statement unless only boxes count; a closing sentence by default only."""
    for where, expected in (("boxed", 0.0), ("stated", 0.0), ("anywhere", 1.0)):
        assert MathEquivalence(where=where)("So x = 5.", gold="5").score == expected
    for where, expected in (("boxed", 0.0), ("stated", 1.0), ("anywhere", 1.0)):
        assert MathEquivalence(where=where)("The answer is 5.", gold="5").score == expected


def test_the_questions_own_expression_is_no_answer() -> None:
    """`12*7` when asked for it; but the same text is right for a gold that is written so, and without a prompt."""
    asked = "What is $12 \\cdot 7$?"
    assert MathEquivalence()("\\boxed{12\\cdot 7}", gold="84", prompt=asked).reason == "echo"
    assert MathEquivalence()("\\boxed{84}", gold="84", prompt=asked).score == 1.0
    assert MathEquivalence()("\\boxed{12\\cdot 7}", gold="84").score == 1.0
    assert MathEquivalence()("\\boxed{12\\cdot 7}", gold="12\\cdot 7", prompt=asked).score == 1.0
    assert MathEquivalence(refuse_prompt_echo=False)("\\boxed{12\\cdot 7}", gold="84", prompt=asked).score == 1.0


def test_an_unknown_parameter_names_the_nearest() -> None:
    """As every verifier does."""
    with pytest.raises(ParamError, match="percent"):
        MathEquivalence(procent="value")


# ---------------------------------------------------------------- golds and arguments


def test_an_unreadable_gold_is_invalid_and_never_pays() -> None:
    """The row's fault: no number, whatever the completion says."""
    golds: list[Any] = ["see the proof above", "", "   ", "$$", "\\frac{}{", {}, []]
    for gold in golds:
        verdict = MathEquivalence()("\\boxed{1}", gold=gold)
        assert (verdict.status, verdict.reason) == (Status.INVALID, "gold_unreadable"), gold


def test_check_gold_says_type_and_reading() -> None:
    """Before training: readable, of which type, read how."""
    assert check_gold("\\frac12").readable
    assert check_gold("\\frac12").reading == "1/2"
    assert check_gold("[0,1)").type_name == "interval"
    assert check_gold(["1/2", "50\\%"]).type_name == "rational or percent"
    unreadable = check_gold("see the proof above")
    assert not unreadable.readable
    assert "proof above" in unreadable.problem
    assert "allowed" in check_gold({"a": 1}).problem


def test_arguments_are_keywords_and_numbers_are_converted() -> None:
    """Exchanged positions grade silently wrong elsewhere; an object that is no number is refused, not unequal."""
    with pytest.raises(TypeError):
        equivalent("1", "1")  # type: ignore[call-arg]
    assert equivalent(gold=Fraction(1, 3), answer="1/3").score == 1.0
    assert equivalent(gold="0.5", answer=0.5).score == 1.0
    assert equivalent(gold=3, answer=3.0).score == 1.0
    with pytest.raises(GoldTypeError, match="allowed"):
        equivalent(gold="1", answer=object())


def test_explain_shows_span_trees_and_rule() -> None:
    """The path of one completion, for people."""
    sample = Sample(completion="so $\\boxed{[0,1]}$", gold="[0,1)")
    shown = str(MathEquivalence().explain(sample))
    assert "characters 11..16 '[0,1]'" in shown
    assert "interval[0, 1)" in shown
    assert "endpoint_open" in shown
    assert "none (truncated)" in str(MathEquivalence().explain(Sample(completion="\\boxed{", gold="1")))
    assert "cannot be read" in str(MathEquivalence().explain(Sample(completion="\\boxed{1}", gold="")))


# ---------------------------------------------------------------- the slow lane and the peer


def test_the_slow_lane_decides_what_the_engine_leaves_open(math: MathEquivalence) -> None:
    """Sums, limits and integrals, in a worker; an equal batch on any worker count."""
    rows = [
        ("\\sum_{k=1}^{\\infty}\\frac{1}{k^2}", "\\frac{\\pi^2}{6}", 1.0),
        ("\\lim_{x\\to 0}\\frac{\\sin x}{x}", "\\lim_{y\\to 0}\\frac{\\sin y}{y}", 1.0),
        ("\\sum_{k=1}^{\\infty}\\frac{1}{k^2}", "\\frac{\\pi^2}{5}", 0.0),
    ]
    samples = [Sample(completion=boxed(answer), gold=gold) for gold, answer, _ in rows]
    verdicts = judge(math, samples)
    assert [v.score for v in verdicts] == [score for _, _, score in rows], verdicts
    assert judge(math, samples[::-1]) == verdicts[::-1]


def test_both_engines_side_by_side_say_where_they_differ() -> None:
    """`engine="both"` scores by our own and reports math-verify's score in `parts`."""
    verifier = MathEquivalence(engine="both")
    try:
        same, different = judge(
            verifier, [Sample(completion=boxed("5"), gold="5"), Sample(completion=boxed("act"), gold="cat")]
        )
        assert same.parts == {"math_verify": 1.0, "differs": False}
        assert (different.score, different.parts) == (0.0, {"math_verify": 1.0, "differs": True})
    finally:
        verifier.close()


def test_math_verify_alone_judges_the_whole_completion() -> None:
    """For numbers comparable with published ones: its own extraction, its own parser, in a worker."""
    verifier = MathEquivalence(engine="math_verify")
    try:
        verdicts = judge(
            verifier,
            [
                Sample(completion="so $\\boxed{\\frac12}$", gold="0.5"),
                Sample(completion="so $\\boxed{\\frac13}$", gold="0.5"),
                Sample(completion="so", gold=""),
            ],
        )
        assert [v.score for v in verdicts] == [1.0, 0.0, None]
    finally:
        verifier.close()


def test_a_hung_worker_is_an_error_and_is_replaced() -> None:
    """Machine load must not decide rewards: our own wall-clock kill gives no number, and the next pair is judged."""
    from rewards.workers import WorkerPool

    with WorkerPool("rewards.math_equivalence.symbolic:decide", workers=1, deadline_seconds=8.0) as pool:
        verifier = MathEquivalence(engine="math_verify", pool=pool)
        hung = verifier(TOWER, gold="5")
        assert (hung.status, hung.score) == (Status.ERROR, None)
        assert verifier("\\boxed{5}", gold="5").score == 1.0


def test_no_process_is_left_after_close() -> None:
    """Workers that a verifier started end with it; our own engine starts none for a power tower."""
    code = """
        import os
        from rewards.math_equivalence import MathEquivalence
        import rewards.math_equivalence as m
        v = MathEquivalence()
        assert v(r"TOWER", gold="5").score == 0.0
        assert m._shared is None
        assert v(r"\\boxed{\\frac{\\pi^2}{6}}", gold=r"\\sum_{k=1}^{\\infty}\\frac{1}{k^2}").score == 1.0
        pids = m._shared.pids()
        assert pids
        v.close()
        assert m._shared is None
        for pid in pids:
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                continue
            raise SystemExit(f"{pid} is alive")
    """.replace("TOWER", TOWER)
    run_python(code)


def run_python(code: str, timeout: float = 120.0) -> str:
    """Run a snippet in a fresh interpreter; its standard output."""
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT, capture_output=True, text=True, timeout=timeout
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_neither_sympy_nor_math_verify_nor_eval_runs_in_the_callers_process() -> None:
    """Over every golden row: importing them raises, `eval`, `exec` and `compile` raise, the verdicts stay."""
    code = f"""
        import builtins, json, sys
        from rewards.math_equivalence import MathEquivalence
        from rewards.verdict import Sample
        rows = [json.loads(line) for line in open({str(CASES / "math.jsonl")!r}, encoding="utf-8")]
        verifier = MathEquivalence()
        verifier.verify(Sample(completion=r"\\boxed{{\\sqrt8}}", gold=r"2\\sqrt2"))

        class Guard:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] in ("sympy", "math_verify", "latex2sympy2_extended", "antlr4"):
                    raise AssertionError(f"{{name}} imported in the caller's process")

        sys.meta_path.insert(0, Guard())

        def forbidden(*args, **kwargs):
            raise AssertionError("text was evaluated")

        builtins.eval = builtins.exec = builtins.compile = forbidden
        for row in rows:
            verdict = verifier.verify(Sample(completion=row["completion"], gold=row["gold"]))
            assert verdict.score == row["score"], (row, verdict)
        loaded = [m for m in ("sympy", "math_verify", "latex2sympy2_extended", "torch") if m in sys.modules]
        assert not loaded, loaded
        verifier.close()
        print("done")
    """
    assert "done" in run_python(code)


# ---------------------------------------------------------------- hostile answers

HOSTILE: dict[str, Callable[[int], tuple[str, str]]] = {
    "power tower": lambda n: ("5", "9^{" * min(n, 5000) + "9" + "}" * min(n, 5000)),
    "factorial of a huge number": lambda n: ("5", "(" + "9" * n + ")!"),
    "factorials": lambda n: ("5", "9" + "!" * n),
    "braces": lambda n: ("6", "{" * (n // 2) + "5" + "}" * (n // 2)),
    "brackets": lambda n: ("6", "(" * (n // 2) + "5" + ")" * (n // 2)),
    "fractions": lambda n: ("5", "\\frac{1}{" * (n // 9) + "2" + "}" * (n // 9)),
    "roots": lambda n: ("5", "\\sqrt{" * (n // 7) + "2" + "}" * (n // 7)),
    "digits": lambda n: ("5", "7" * n),
    "digits on both sides": lambda n: ("7" * n, "7" * (n - 1) + "8"),
    "a sum": lambda n: ("5", "1" + "+1" * (n // 2)),
    "a product": lambda n: ("5", "\\cdot ".join(["3"] * (n // 7))),
    "a list": lambda n: ("5", ",".join(["12"] * (n // 3))),
    "a polynomial": lambda n: ("5", "+".join(f"x^{{{i}}}" for i in range(n // 8))),
    "a huge exponent": lambda n: ("(x+1)^{10}", "(x+1)^{" + "9" * n + "}"),
    "a sum to 10^100": lambda n: ("5", "\\sum_{k=1}^{10^{100}} k^{k}" + " " * n),
    "a product to 10^100": lambda n: ("5", "\\prod_{k=1}^{10^{100}} (1+1/k^2)" + " " * n),
    "a binomial": lambda n: ("5", "\\binom{" + "9" * (n // 2) + "}{" + "4" * (n // 2) + "}"),
    "divisions by zero": lambda n: ("5", "\\frac{1}{0}+" * (n // 12) + "1"),
    "a tiny power": lambda n: ("0", "10^{-10^{" + "9" * n + "}}"),
    "backslashes": lambda n: ("5", "\\" * n),
    "plus and minus": lambda n: ("5", "\\pm 1" * (n // 5)),
    "letters": lambda n: ("5", "ab" * (n // 2)),
    "words": lambda n: ("5", "word " * (n // 5)),
    "unicode": lambda n: ("5", "½" * n),
    "cells": lambda n: ("5", "\\begin{pmatrix}" + "&".join(["1"] * (n // 2)) + "\\end{pmatrix}"),
    "signs": lambda n: ("6", "-" * n + "5"),
    "intervals": lambda n: ("(0,2)", "\\cup ".join(["(0,1)"] * (n // 10))),
    "equals signs": lambda n: ("6", "=".join(["5"] * (n // 2))),
    "boxes": lambda n: ("6", "\\boxed{" * (n // 8) + "5" + "}" * (n // 8)),
}


def cpu_seconds(gold: str, answer: str) -> tuple[float, Verdict]:
    """CPU of one verdict by a fresh verifier, the best of three; nothing is remembered in between."""
    best = float("inf")
    sample = Sample(completion=f"\\boxed{{{answer}}}", gold=gold)
    for _ in range(3):
        verifier = MathEquivalence()
        began = time.process_time()
        verdict = verifier.verify(sample)
        best = min(best, time.process_time() - began)
        verifier.close()
    return best, verdict


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_answers_of_100000_characters_cost_little_and_pay_nothing(kind: str) -> None:
    """Under 50 ms of CPU in this process, by static bounds; twice the text takes at most 2.6 times the time."""
    MathEquivalence().verify(Sample(completion="\\boxed{\\sqrt8}", gold="2\\sqrt2"))  # loads the libraries
    half = whole = float("inf")
    for _ in range(6):  # a neighbour on the same core only ever adds, and to either
        half = min(half, cpu_seconds(*HOSTILE[kind](50_000))[0])
        took, verdict = cpu_seconds(*HOSTILE[kind](100_000))
        assert verdict.score == 0.0, verdict
        whole = min(whole, took)
        if whole < 0.05 and whole <= 2.6 * max(half, 0.002):
            break
    assert whole < 0.05
    assert whole <= 2.6 * max(half, 0.002)
    for size in (100, 1_000, 5_000, 10_000, 19_000):  # below the caps, where the grammar does read
        least = float("inf")
        for _ in range(3):
            took, verdict = cpu_seconds(*HOSTILE[kind](size))
            assert verdict.score == 0.0, (size, verdict)
            least = min(least, took)
            if least < 0.05:
                break
        assert least < 0.05, (size, least)


def test_hostile_answers_need_little_memory() -> None:
    """Under 100 MB above what the libraries take, a million-digit number included."""
    code = """
        import resource
        from rewards.math_equivalence import MathEquivalence
        from rewards.verdict import Sample
        from tests.test_math_equivalence import HOSTILE
        v = MathEquivalence()
        v.verify(Sample(completion=r"\\boxed{\\sqrt8}", gold=r"2\\sqrt2"))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for make in HOSTILE.values():
            gold, answer = make(100_000)
            v.verify(Sample(completion="\\\\boxed{" + answer + "}", gold=gold))
        v.verify(Sample(completion="\\\\boxed{" + "7" * 1_000_000 + "}", gold="7" * 1_000_000))
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
    """
    assert float(run_python(code)) < 100


def test_a_million_digits_are_compared_digit_by_digit() -> None:
    """Python refuses to convert such a number; its digits still tell."""
    digits = "7" * 1_000_000
    assert MathEquivalence()(f"\\boxed{{{digits}}}", gold=digits).score == 1.0
    assert MathEquivalence()(f"\\boxed{{{digits[:-1]}8}}", gold=digits).score == 0.0


# ---------------------------------------------------------------- threads and processes


def batch() -> list[Sample]:
    """The golden rows that need no worker, as samples."""
    return [
        Sample(id=str(i), completion=row["completion"], gold=row["gold"])
        for i, row in enumerate(GOLDEN)
        if "worker" not in row["why"] and "there" not in row["why"]
    ]


def scores_of_batch(start: int = 0) -> list[float | None]:
    """The batch's scores; a function by name, so that a spawned process finds it."""
    samples = batch()
    return [v.score for v in judge(MathEquivalence(), samples[start:] + samples[:start])]


def test_sixty_four_threads_give_the_verdicts_of_one() -> None:
    """At once, with one verifier and with one each; no signals anywhere."""
    samples = batch()
    expected = judge(MathEquivalence(), samples)
    verifier = MathEquivalence()
    with ThreadPoolExecutor(64) as threads:
        for got in threads.map(lambda _: judge(verifier, samples), range(64)):
            assert got == expected
        for got in threads.map(lambda _: judge(MathEquivalence(), samples), range(64)):
            assert got == expected


def test_an_event_loop_with_64_calls_gives_64_verdicts() -> None:
    """As asynchronous trainers call rewards: in an executor's threads."""

    async def main() -> list[Verdict]:
        verifier = MathEquivalence()
        return await asyncio.gather(*(asyncio.to_thread(verifier, "\\boxed{5}", gold="5") for _ in range(64)))

    assert [v.score for v in asyncio.run(main())] == [1.0] * 64


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_forked_and_spawned_processes_give_the_same_verdicts(method: str) -> None:
    """Also when the parent's threads were in the middle of a verdict at the fork."""
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this platform has no {method}")
    expected = scores_of_batch()
    n = len(expected)
    with ThreadPoolExecutor(4) as threads:
        busy = [threads.submit(scores_of_batch) for _ in range(8)]
        with multiprocessing.get_context(method).Pool(2) as pool:
            rotated = pool.map(scores_of_batch, [0, 7])
        assert [f.result() for f in busy] == [expected] * 8
    assert rotated[0] == expected
    assert rotated[1] == [*expected[7 % n :], *expected[: 7 % n]]


def test_a_verifier_is_a_value() -> None:
    """Picklable, equal by parameters, of a stable fingerprint."""
    verifier = MathEquivalence(percent="value")
    copy = pickle.loads(pickle.dumps(verifier))
    assert copy == verifier
    assert copy.fingerprint == verifier.fingerprint != MathEquivalence().fingerprint
    assert copy("\\boxed{25}", gold="25\\%").score == 0.0


def test_one_verdict_per_sample_in_order_with_repeats() -> None:
    """A batch may repeat golds and answers; the order stays."""
    completions = ["\\boxed{1}", "\\boxed{2}", "none", "\\boxed{1}"]
    verdicts = judge(MathEquivalence(), [Sample(completion=c, gold="1") for c in completions])
    assert [v.score for v in verdicts] == [1.0, 0.0, 0.0, 1.0]
    assert verdicts[0] == verdicts[3]


def test_chat_messages_and_prefill_are_read_as_the_assistants_turn() -> None:
    """The last assistant message counts; a prefilled `<think>` belongs to the turn."""
    chat = [{"role": "user", "content": "2+3?"}, {"role": "assistant", "content": "\\boxed{5}"}]
    assert MathEquivalence()(chat, gold="5").score == 1.0
    assert MathEquivalence()("so \\boxed{5}", gold="5", prefill="<think>\n").reason == "truncated"
    assert MathEquivalence()("so \\boxed{4}</think>\\boxed{5}", gold="5", prefill="<think>\n").score == 1.0


def test_the_corpus_runner_runs(tmp_path: Path) -> None:
    """`tests/benchmarks/math_corpus.py` on rows of its format."""
    rows = [
        {"id": "a", "gold": "5", "prediction": "5", "expected": True, "kind": "integer", "form": "answer"},
        {
            "id": "b",
            "gold": "5",
            "prediction": "so \\boxed{6}",
            "expected": False,
            "kind": "integer",
            "form": "completion",
        },
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "tests/benchmarks/math_corpus.py", "--file", str(file)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert "accuracy 100.00%" in ran.stdout
