"""`rewards check` finds what public reports found, and finds nothing in what is shipped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import flawed_rewards
import pytest

from rewards.attacks import check, check_apart, example_samples, written_here
from rewards.expression import Reward
from rewards.registry import get, names
from rewards.verdict import Sample, Verdict


@pytest.mark.parametrize(
    ("planted", "sample"), flawed_rewards.PLANTED, ids=[p.verifier.__name__ for p, _ in flawed_rewards.PLANTED]
)
def test_the_planted_fault_is_found(planted: flawed_rewards.Planted, sample: Sample) -> None:
    """Each faulty reward is caught by the attack that its report describes."""
    reward = Reward.parse("flawed", components=flawed_rewards.components(planted))
    found = {finding.attack for finding in check(reward, [sample])}
    assert set(planted.attacks) <= found, f"{planted.report}: found only {sorted(found)}"


def test_there_are_at_least_ten_planted_faults() -> None:
    """The list above is what the claim rests on."""
    assert len(flawed_rewards.PLANTED) >= 10


SHIPPED = [
    "math", "math + 0.25*format", "math + 0.25*format(tags=\"think\", boxed=true)", "math + 0.2*format_share",
    "gate(format, math)", "math + overlong(max_tokens=4096, cache=512)", "math*finished", "numeric + 0.1*boxed",
    "math + kimi_length(of=math)", "math + wrong_and_long(of=math, max_tokens=512)", "numeric + 0.1*answer_line",
    "cosine_length(of=math, max_tokens=4096)", "math + repetition", "lead_length(of=numeric)",
    "math*gr3_length(of=math)", "code + 0.1*fenced_code", "math + 0.1*format(mode=loose)", "countdown + 0.1*format",
    "gate(format, exact)", "math + 0.1*reasoning_steps",
    "l1_max(of=math, target_tokens=1000)", "multiple_choice + 0.1*format", "text_match + 0.25*format",
]  # fmt: skip


@pytest.mark.parametrize("text", SHIPPED)
def test_nothing_is_found_in_expressions_of_ours(text: str) -> None:
    """The usual recipes, attacked with the examples of their verifiers and with rows in several layouts."""
    reward = Reward.parse(text)
    findings = check(reward)
    gold = "C" if "choice" in text else "42"
    rows = [
        Sample(id="tags", prompt="What is it?", completion=f"<think>easy</think><answer>{gold}</answer>", gold=gold),
        Sample(id="box", prompt="What is it?", completion=f"<think>easy</think>\\boxed{{{gold}}}", gold=gold),
        Sample(id="prefilled", prefill="<think>\n", completion=f"easy</think><answer>{gold}</answer>", gold=gold),
    ]
    rows = [Sample(**{**_plain(row), "num_tokens": 12, "truncated": False}) for row in rows]
    if "code" not in text and "countdown" not in text:  # their golds are no single word
        findings += check(reward, rows)
    reward.close()
    assert not findings, "\n".join(map(str, findings))


def _plain(sample: Sample) -> dict[str, Any]:
    return {name: getattr(sample, name) for name in Sample.__dataclass_fields__}


@pytest.mark.parametrize("name", names())
def test_nothing_is_found_in_any_verifier_of_ours(name: str) -> None:
    """Every registered verifier alone, with its example's parameters, attacked with its example."""
    cls = get(name)
    assert cls.example is not None
    params: Mapping[str, Any] = cls.example.get("params", {})
    components: dict[str, Any] = {name: cls(**params)}
    # A reward that reads another component is spelt out, since a ready component has no place to say what it reads.
    if cls.reads_of:
        text = f"{name}({', '.join(f'{key}={value}' for key, value in params.items())})"
        components = {}
    else:
        text = name
    reward = Reward.parse(text, components=components)
    findings = check(reward)
    reward.close()
    assert not findings, "\n".join(map(str, findings))


def test_a_finding_is_plain_data_and_one_readable_line() -> None:
    """What the command prints, and what `--json` writes."""
    planted, sample = next((p, s) for p, s in flawed_rewards.PLANTED if p.verifier is flawed_rewards.GoldAnywhere)
    reward = Reward.parse("flawed", components=flawed_rewards.components(planted))
    finding = check(reward, [sample])[0]
    assert json.loads(json.dumps(finding.as_row()))["row"] == sample.id
    assert str(finding).startswith(f"{finding.attack} (row {sample.id}): paid 1")


def test_an_attack_on_nothing_is_refused() -> None:
    """No rows, or rows that cannot be scored, would find nothing and look like a pass."""
    reward = Reward.parse("numeric")
    with pytest.raises(ValueError, match="no rows"):
        check(reward, [])
    with pytest.raises(ValueError, match="scores none of the 1 rows"):
        check(reward, [Sample(id="0", completion="\\boxed{1}", gold="no number")])


def test_examples_carry_what_the_other_components_need() -> None:
    """`numeric + overlong(...)`: each row has a gold and a length."""
    rows = example_samples(Reward.parse("numeric + overlong(max_tokens=8, cache=2)"))
    assert rows
    assert all(row.gold is not None and row.num_tokens is not None for row in rows)


def test_findings_do_not_depend_on_the_run() -> None:
    """The same attack on the same rows finds the same, in the same order (timing attacks apart)."""
    planted, sample = flawed_rewards.PLANTED[0]
    reward = Reward.parse("flawed", components=flawed_rewards.components(planted))

    def findings() -> list[str]:
        return [str(f) for f in check(reward, [sample]) if f.attack != "hostile text"]

    assert findings() == findings()
    assert isinstance(planted.verifier().verify(sample), Verdict)


PLUGIN = """
import re
from rewards import Verdict, Verifier

class Hanging(Verifier):
    source = "written for a test"
    example = {"completion": "<think>3+4</think><answer>7</answer>", "gold": "7"}

    def verify(self, sample):
        if sample.text.startswith("Perhaps 7? No.") and "<answer>8" in sample.text and "<think>" in sample.text:
            re.match(r"(?:a+)+b", "a" * 64)
        return Verdict.scored(float("7" in sample.text))
"""


def test_a_reward_of_somebody_else_that_hangs_is_killed_and_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pattern that takes for ever on one of the texts: the other attacks still find what they find."""
    (tmp_path / "hanging_plugin.py").write_text(PLUGIN, encoding="utf-8")
    info = tmp_path / "hanging_plugin-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hanging-plugin\nVersion: 1\n", encoding="utf-8")
    points = "[rewards.verifiers]\nhanging = hanging_plugin:Hanging\n"
    (info / "entry_points.txt").write_text(points, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    rows = [Sample(id="r", completion="3+4 is \\boxed{7}", gold="7")]
    findings = check_apart("hanging", rows, hang_seconds=1.0)
    assert {"hangs", "negation", "many boxes"} <= {finding.attack for finding in findings}
    (hang, *_) = (finding for finding in findings if finding.attack == "hangs")
    assert (hang.row, hang.reward) == ("r", None)
    assert "killed" in hang.detail
    with pytest.raises(ValueError, match="scores none"):
        check_apart("numeric", [Sample(id="0", completion="x", gold="no number")])
    assert check_apart("mine", aliases={"mine": "boxed"}) == []


def test_whose_rewards_run_apart() -> None:
    """Ours end; anything else is run where it can be killed."""
    assert written_here(Reward.parse("numeric + format"))
    planted, _ = flawed_rewards.PLANTED[0]
    assert not written_here(Reward.parse("flawed + format", components=flawed_rewards.components(planted)))
