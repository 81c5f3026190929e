"""Public bug reports about format, length, repetition and number rewards, judged by ours.

The corpus lies beside the checkout where the project is developed. `kind` says how a row's input is used; a kind that
nobody here knows is a failure, so that a new one cannot pass unseen.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from conftest import read_jsonl, shared

from rewards.answers import gold_texts
from rewards.cli import main
from rewards.expression import Reward
from rewards.format_checks import Fault
from rewards.length_penalties import token_count
from rewards.numeric import read_number
from rewards.registry import get
from rewards.report import Summary, pass_at_k
from rewards.scoring import RewardResult, judge
from rewards.verdict import Sample, Status, Verdict

AREAS: Final = ("format_length", "datasets", "offline")
ELSEWHERE: Final = frozenset({"dataset_preflight", "math_equal"})
"""Kinds of these areas that are about records and mathematics; their own tests hold them."""


def score(name: str, params: Mapping[str, Any], of: float | None = None, **fields: Any) -> float | None:
    verifier = get(name)(**params)
    reads = [Verdict.scored(of)] if of is not None else None
    return judge(verifier, [Sample(id="0", **fields)], reads)[0].score


def format_row(given: Mapping[str, Any]) -> dict[str, Any]:
    config = given["config"]
    params = {"tags": config["tags"], "mode": config.get("mode", "auto")}
    if "completion_tokens" in given:
        fields: dict[str, Any] = {
            "completion": given["completion_text"],
            "meta": {"completion_tokens": given["completion_tokens"]},
        }
    else:
        fields = {"completion": given["completion"], "prefill": given.get("prefill", "")}
        params["strip_tokens"] = given.get("special_tokens", [])
    return {"reward": score("format", params, **fields)}


def tag_count_row(given: Mapping[str, Any]) -> dict[str, Any]:
    verifier = get("format_share")(**given["config"])
    verdict = judge(verifier, [Sample(completion=given["completion"])])[0]
    return {"penalty": (verdict.parts or {})["trailing_penalty"], "reward": verdict.score}


def cosine_row(given: Mapping[str, Any]) -> dict[str, Any]:
    params: dict[str, Any] = {"max_tokens": given["max_len"]}
    if "correct" in given:  # lowest and highest, as those trainers name them: the highest is paid at length 0
        params |= {"right_at_max": given["correct"][0], "right_at_zero": given["correct"][1]}
    if "wrong" in given:
        params |= {"wrong_at_zero": given["wrong"][0], "wrong_at_max": given["wrong"][1]}
    if "wrong_at_min_len" in given:
        params |= {"wrong_at_zero": given["wrong_at_min_len"], "wrong_at_max": given["wrong_at_max_len"]}
    right = given.get("is_correct", "correct" in given)
    return {
        "rewards": [
            score("cosine_length", params, float(right), completion="x", num_tokens=n) for n in given["lengths"]
        ]
    }


def overlong_row(given: Mapping[str, Any]) -> dict[str, Any]:
    params = {"max_tokens": given["soft_max_length"], "cache": given["soft_cache_length"]}
    lengths = given["lengths"] if "lengths" in given else [token_count(given["completion_ids"])]
    got = [score("overlong", params, completion="x", num_tokens=n) for n in lengths]
    return {"rewards": got} if "lengths" in given else {"reward": got[0]}


def config_row(given: Mapping[str, Any]) -> dict[str, Any]:
    """A penalty that is off is a component that is not in the expression: nothing of it is ever checked."""
    overlong = given["overlong"]
    text = "format"
    if overlong.get("enable", True):
        text += f" + overlong(max_tokens={given.get('max_resp_len') or 0}, cache={overlong.get('len', 0)})"
    try:
        Reward.parse(text)
    except ValueError:
        return {"config_error": True}
    return {"config_error": False}


def length_row(given: Mapping[str, Any]) -> dict[str, Any]:
    length = token_count(given["completion_ids"])
    params = {"max_tokens": given["max_len"], "cache": 1}
    assert score("overlong", params, completion=given["completion"], num_tokens=length) == (
        0.0 if length <= given["max_len"] - 1 else -1.0
    )
    return {"length": length}


def repetition_row(given: Mapping[str, Any]) -> dict[str, Any]:
    params = {"ngram": given["ngram_size"], "penalty": -given["max_penalty"], "unit": "tokens"}
    if given["max_penalty"] == 0:
        params["penalty"] = 0.0
    return {
        "rewards": [
            score("repetition", params, completion="x", meta={"completion_ids": ids}) for ids in given["completions"]
        ]
    }


def sanity_row(given: Mapping[str, Any]) -> dict[str, Any]:
    """The shipped reward is best at the target."""
    params = {"target_tokens": given["target"], "alpha": 0.01}
    scores = {n: score("l1_exact", params, 1.0, completion="x", num_tokens=n) for n in given["lengths"]}
    return {"best_length": max(scores, key=lambda n: scores[n] or 0.0)}


def gsm8k_row(given: Mapping[str, Any]) -> dict[str, Any]:
    completion = given.get("completion")
    if completion is None:
        # 'a' + 'b'*10, written by whoever made the corpus; read without evaluating anything.
        pieces = [piece.strip() for piece in given["completion_expr"].split(" + ")]
        completion = ""
        for piece in pieces:
            text, _, times = piece.rpartition("*") if piece[-1].isdigit() else (piece, "", "1")
            completion += text.strip().strip("'").replace("\\n", "\n") * int(times)
    params = {"where": given["mode"]} if "mode" in given else {}
    return {"reward": score("numeric", params, completion=completion, gold=given["gold"])}


def gold_row(given: Mapping[str, Any]) -> dict[str, Any]:
    gold = given["answer"] if "answer" in given else given["solution"]
    (text,) = gold_texts(gold)
    number = read_number(text)
    assert not isinstance(number, Fault), number
    return {"gold": str(float(number)) if number.denominator != 1 else str(number)}


def pass_at_row(given: Mapping[str, Any]) -> dict[str, Any]:
    if "cases" in given:
        return {"values": [round(pass_at_k(c["n"], c["c"], c["k"]) or 0.0, 4) for c in given["cases"]]}
    if "problems" not in given:
        return {"value": pass_at_k(given["n"], given["c"], given["k"])}
    passes = [1] * given["solved"] + [0] * (given["problems"] - given["solved"])
    out: dict[str, Any] = {}
    for k in given["k"]:
        values = [pass_at_k(given["samples_each"], c, k) for c in passes]
        known = [value for value in values if value is not None]
        out[f"pass@{k}"] = round(sum(known) / len(known), 4) if len(known) == len(values) else None
    return out


def scored_file(data: bytes, *words: str) -> tuple[int, list[dict[str, Any]], dict[str, Any]]:
    """Exit code, rows and summary of `rewards score` on a file with these bytes."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder, "in.jsonl"), Path(folder, "out.jsonl")
        source.write_bytes(data)
        told = io.StringIO()
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(io.StringIO()):
            code = main(["score", str(source), "--reward", "math", "-o", str(out), "--json", *words])
        rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()] if out.exists() else []
        return code, rows, json.loads(told.getvalue() or "{}")


def lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def offline_row(given: Mapping[str, Any]) -> dict[str, Any]:
    good = {"completion": "\\boxed{1}", "answer": "1"}
    if "file_bytes" in given:
        code, rows, _ = scored_file(given["file_bytes"].encode())
        return {"error_or_read": code != 0 or len(rows) == 1, "scores": [row["reward"] for row in rows]}
    if "problems" in given:
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as problems:
            problems.write(lines([{"id": name} for name in given["problems"]]))
            problems.flush()
            _, rows, summary = scored_file(lines(given["rows"]), "--problems", problems.name)
        return {"scored": len(rows), "covered": "/".join(map(str, summary["covered"]))}
    if "errors" in given:
        summary = Summary(Reward.parse("math"))
        for status, score_ in (("correct", 1.0), ("wrong", 0.0), ("errors", None)):
            for i in range(given[status]):
                found = Status.ERROR if score_ is None else Status.SCORED
                summary.add(Sample(id=f"{status}{i}"), RewardResult(score_, found))
        told = summary.as_json()
        return {
            "accuracy_all": round(told["mean_reward_all"], 4),
            "accuracy_scored": round(told["mean_reward"], 4),
            "errors": told["statuses"]["error"],
        }
    if "run" in given:
        _, rows, summary = scored_file(lines([{"id": "1", **good}]))
        assert summary["version"] in rows[0]["scored_by"]
        assert summary["fingerprint"] in rows[0]["scored_by"]
        return {"has": [name for name in ("version", "settings") if name in summary["components"]["math"]]}
    if "TOWER" in given:
        begun = time.monotonic()
        _, rows, _ = scored_file(lines([{"id": "t", "completion": given["TOWER"], "answer": "7"}, *[good] * 3]))
        assert time.monotonic() - begun < given["max_seconds"]
        # A budget of ours on the tower, not a clock: the same on any machine.
        over = sum(row["verdicts"]["math"]["reason"] == "over_limit" for row in rows)
        return {"scores": [row["reward"] for row in rows], "timed_out": over}
    if "accuracy" in given:
        rows = [{"id": str(i), "completion": f"\\boxed{{{i}}}", "answer": str(i + 1)} for i in range(given["rows"])]
        return {"warning": any("0 on every row" in text for text in scored_file(lines(rows))[2]["warnings"])}
    _, _, summary = scored_file(lines([{**good, **row} for row in given["rows"]]))
    return {"duplicates": summary["repeated_ids"]}


KINDS: Final[Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    "format": format_row,
    "format_tagcount": tag_count_row,
    "cosine_length": cosine_row,
    "soft_overlong": overlong_row,
    "config": config_row,
    "length_unit": length_row,
    "repetition": repetition_row,
    "reward_sanity": sanity_row,
    "gsm8k_score": gsm8k_row,
    "dataset_gold": gold_row,
    "passk": pass_at_row,
    "offline": offline_row,
}


def rows() -> Sequence[dict[str, Any]]:
    path = shared("cases", "bugs_dev.jsonl")
    return [row for row in read_jsonl(path) if row["area"] in AREAS and row["kind"] not in ELSEWHERE]


def test_every_reported_fault_is_right_here() -> None:
    """All rows of these areas, whatever their confidence; the message lists those that are not."""
    wrong = []
    for row in rows():
        assert row["kind"] in KINDS, f"{row['id']}: no reader for the kind {row['kind']!r}"
        got = KINDS[row["kind"]](row["input"])
        for key, wanted in row["expect"].items():
            if got.get(key) != pytest.approx(wanted) if not isinstance(wanted, str) else got.get(key) != wanted:
                wrong.append(f"{row['id']} ({row['source']}): {key} is {got.get(key)!r}, right is {wanted!r}")
    assert not wrong, "\n".join(wrong)


def test_every_row_of_the_corpus_is_read() -> None:
    """The corpus has the rows that this file is about: an empty list would pass everything."""
    assert len(rows()) >= 20
