"""The one boundary between samples and verifiers.

Offline scoring, training and every adapter come through here, so the verdict for a completion is the same on every
path. Here a missing field becomes `invalid`, an exception becomes `error`, and a verifier that breaks its own
contract (a score outside its range, an undocumented reason, a wrong count) is caught instead of believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rewards.expression import Clip, Component, Extreme, Gate, Node, Number, Product, Reward, Route, Sum
from rewards.registry import AnyVerifier
from rewards.verdict import Reason, Sample, Status, Verdict

_NOT_REACHED = Verdict.skipped(Reason.NOT_REACHED, "a gate or a route kept this component from running on the row")


@dataclass(frozen=True, slots=True)
class RewardResult:
    """The reward of one sample.

    Attributes:
        reward: the number, or None where the row is unscored.
        status: `scored` exactly when there is a reward; else why not.
        verdicts: component key to verdict; a component that a gate kept out is `skipped` with `not_reached`.
    """

    reward: float | None
    status: Status
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)


# ---------------------------------------------------------------- one verifier


def judge(verifier: AnyVerifier, samples: Sequence[Sample], of: Sequence[Verdict] | None = None) -> list[Verdict]:
    """One verdict per sample, in order; never raises for what a sample contains.

    Args:
        verifier: any registered verifier.
        samples: group-scoped verifiers see those of equal `group` together (an empty group stands alone).
        of: for verifiers with `reads_of`, the verdicts of the component they read, one per sample.

    Raises:
        ValueError: `of` is missing where it is needed, or has another length.
    """
    if verifier.reads_of and of is None:
        raise ValueError(f"{verifier.name} reads another component; give its verdicts, or use a reward expression")
    if of is not None and len(of) != len(samples):
        raise ValueError(f"{len(of)} verdicts to read for {len(samples)} samples")
    out: list[Verdict | None] = [None] * len(samples)
    ready: list[int] = []
    needs = verifier.needs
    reading = of if verifier.reads_of else None
    for i, sample in enumerate(samples):
        for name in needs:
            if getattr(sample, name) is None:
                out[i] = _missing(verifier, sample)
                break
        else:
            if reading is None or reading[i].status is Status.SCORED:
                ready.append(i)
            else:
                out[i] = Verdict(
                    reading[i].status, None, Reason.DEPENDS_UNSCORED, f"what it reads is {reading[i].status.value}"
                )
    if verifier.scope == "group":
        _judge_groups(verifier, samples, reading, ready, out)
    else:
        _judge_samples(verifier, samples, reading, ready, out)
    return out  # type: ignore[return-value]


def judge_one(verifier: AnyVerifier, sample: Sample) -> Verdict:
    """`judge(verifier, [sample])[0]` without the lists of a batch: a third of the time of a quick verdict.

    Raises:
        ValueError: the verifier reads another component.
    """
    if verifier.reads_of or verifier.scope == "group":
        return judge(verifier, [sample])[0]
    for name in verifier.needs:
        if getattr(sample, name) is None:
            return _missing(verifier, sample)
    low, high = verifier.range
    return _checked(verifier, _one(verifier, sample, None), low, high, verifier.known_reasons())


def _missing(verifier: AnyVerifier, sample: Sample) -> Verdict:
    missing = " and ".join(name for name in verifier.needs if getattr(sample, name) is None)
    return Verdict.invalid(Reason.MISSING_FIELD, f"{verifier.name} needs {missing}; row {sample.id!r} has none")


def _judge_samples(
    verifier: AnyVerifier,
    samples: Sequence[Sample],
    of: Sequence[Verdict] | None,
    ready: Sequence[int],
    out: list[Verdict | None],
) -> None:
    if of is None:
        batch = samples if len(ready) == len(samples) else [samples[i] for i in ready]
        try:
            got = verifier.verify_many(batch)
            if len(got) != len(batch):
                raise TypeError(f"verify_many gave {len(got)} verdicts for {len(batch)} samples")
        except Exception:  # find the sample that is at fault; the others keep their verdicts
            got = [_one(verifier, sample, None) for sample in batch]
    else:
        got = [_one(verifier, samples[i], of[i]) for i in ready]
    known = verifier.known_reasons()
    low, high = verifier.range
    for i, verdict in zip(ready, got, strict=True):
        out[i] = _checked(verifier, verdict, low, high, known)


def _one(verifier: AnyVerifier, sample: Sample, of: Verdict | None) -> Verdict:
    try:
        return verifier.verify(sample) if of is None else verifier.verify_with(sample, of)
    except Exception as error:
        return _raised(verifier, error)


def _judge_groups(
    verifier: AnyVerifier,
    samples: Sequence[Sample],
    of: Sequence[Verdict] | None,
    ready: Sequence[int],
    out: list[Verdict | None],
) -> None:
    groups: dict[str | int, list[int]] = {}
    for i in ready:
        groups.setdefault(samples[i].group or i, []).append(i)
    known = verifier.known_reasons()
    low, high = verifier.range
    for members in groups.values():
        try:
            got = verifier.verify_group([samples[i] for i in members], [of[i] for i in members] if of else None)
            if len(got) != len(members):
                raise TypeError(f"verify_group gave {len(got)} verdicts for {len(members)} samples")
        except Exception as error:
            got = [_raised(verifier, error)] * len(members)
        for i, verdict in zip(members, got, strict=True):
            out[i] = _checked(verifier, verdict, low, high, known)


def _raised(verifier: AnyVerifier, error: Exception) -> Verdict:
    return Verdict.error(Reason.EXCEPTION, f"{verifier.name} raised {type(error).__name__}: {error}"[:500])


def _checked(verifier: AnyVerifier, verdict: Verdict, low: float, high: float, known: frozenset[str]) -> Verdict:
    if not isinstance(verdict, Verdict):
        return Verdict.error(Reason.BAD_VERDICT, f"{verifier.name} gave a {type(verdict).__name__}, not a Verdict")
    if verdict.score is not None and not low <= verdict.score <= high:
        return Verdict.error(
            Reason.BAD_VERDICT, f"{verifier.name} gave {verdict.score:g}, outside its range {low:g}..{high:g}"
        )
    if verdict.reason not in known:
        return Verdict.error(
            Reason.BAD_VERDICT, f"{verifier.name} gave the undocumented reason {str(verdict.reason)!r}"
        )
    return verdict


# ---------------------------------------------------------------- a whole expression

_Value = float | Status
"""A number, or the status that keeps a row from having one."""


class _Run:
    """One evaluation of an expression over a list of samples; each component runs at most once per row."""

    def __init__(self, reward: Reward, samples: Sequence[Sample]) -> None:
        self.reward = reward
        self.samples = samples
        self.verdicts: dict[str, dict[int, Verdict]] = {key: {} for key in reward.components}
        self.unrouted: dict[int, Verdict] = {}
        self.groups: dict[str, list[int]] = {}
        for i, sample in enumerate(samples):
            if sample.group:
                self.groups.setdefault(sample.group, []).append(i)

    def component(self, key: str, rows: Sequence[int]) -> dict[int, Verdict]:
        verifier = self.reward.components[key]
        done = self.verdicts[key]
        want = [i for i in rows if i not in done]
        if want and verifier.scope == "group":
            # Relative to the group means relative to the whole group, also when a gate lets only some rows through.
            whole: dict[int, None] = {}
            for i in want:
                whole.update(dict.fromkeys(self.groups.get(self.samples[i].group, (i,))))
            want = sorted(i for i in whole if i not in done)
        if want:
            read = self.reward.reads.get(key)
            of = None
            if read is not None:
                other = self.component(read, want)
                of = [other[i] for i in want]
            for i, verdict in zip(want, judge(verifier, [self.samples[i] for i in want], of), strict=True):
                done[i] = verdict
        return done

    def value(self, node: Node, rows: Sequence[int]) -> dict[int, _Value]:
        match node:
            case Number(value):
                return dict.fromkeys(rows, value)
            case Component(key):
                verdicts = self.component(key, rows)
                return {i: v.status if (v := verdicts[i]).score is None else v.score for i in rows}
            case Sum(terms):
                return self.fold(terms, rows, sum, drop_skipped=True)
            case Product(factors):
                return self.fold(factors, rows, _product, drop_skipped=False)
            case Extreme(which, args):
                return self.fold(args, rows, min if which == "min" else max, drop_skipped=True)
            case Clip(body, low, high):
                inner = self.value(body, rows)
                return {i: v if isinstance(v, Status) else max(low, min(high, v)) for i, v in inner.items()}
            case Gate():
                return self.gate(node, rows)
            case Route(branches, default):
                return self.route(dict(branches), default, rows)

    def fold(self, nodes: Sequence[Node], rows: Sequence[int], combine, *, drop_skipped: bool) -> dict[int, _Value]:  # type: ignore[no-untyped-def]
        columns = [self.value(node, rows) for node in nodes]
        out: dict[int, _Value] = {}
        for i in rows:
            values = [column[i] for column in columns]
            numbers = [v for v in values if not isinstance(v, Status)]
            if len(numbers) == len(values):
                out[i] = combine(numbers)
                continue
            statuses = {v for v in values if isinstance(v, Status)}
            if Status.ERROR in statuses:
                out[i] = Status.ERROR
            elif Status.INVALID in statuses:
                out[i] = Status.INVALID
            elif drop_skipped and numbers:
                out[i] = combine(numbers)
            else:
                out[i] = Status.SKIPPED
        return out

    def gate(self, gate: Gate, rows: Sequence[int]) -> dict[int, _Value]:
        condition = self.value(gate.condition, rows)
        out: dict[int, _Value] = {}
        opened, shut = [], []
        for i in rows:
            v = condition[i]
            if isinstance(v, Status):
                out[i] = v
            elif v > gate.threshold or (v == gate.threshold and not gate.strict):
                opened.append(i)
            else:
                shut.append(i)
        out.update(self.value(gate.then, opened) if opened else {})
        out.update(self.value(gate.otherwise, shut) if shut else {})
        return out

    def route(self, branches: Mapping[str, Node], default: Node | None, rows: Sequence[int]) -> dict[int, _Value]:
        out: dict[int, _Value] = {}
        by_branch: dict[str | None, list[int]] = {}
        for i in rows:
            task = self.samples[i].task
            if task in branches:
                by_branch.setdefault(task, []).append(i)
            elif default is not None:
                by_branch.setdefault(None, []).append(i)
            else:
                out[i] = Status.INVALID
                self.unrouted[i] = Verdict.invalid(
                    Reason.UNROUTED_TASK,
                    f"task {task!r} has no branch in route(); known: {', '.join(branches)}; or add default=...",
                )
        for task, members in by_branch.items():
            node = default if task is None else branches[task]
            assert node is not None
            out.update(self.value(node, members))
        return out


def _product(numbers: Sequence[float]) -> float:
    out = 1.0
    for number in numbers:
        out *= number
    return out


def score(reward: Reward, samples: Sequence[Sample]) -> list[RewardResult]:
    """One `RewardResult` per sample, in order. The only way a reward comes into being, offline and in training."""
    run = _Run(reward, samples)
    values = run.value(reward.tree, range(len(samples)))
    out = []
    for i in range(len(samples)):
        verdicts = {key: run.verdicts[key].get(i, _NOT_REACHED) for key in reward.components}
        if i in run.unrouted:
            verdicts["route"] = run.unrouted[i]
        value = values[i]
        if isinstance(value, Status):
            out.append(RewardResult(None, value, verdicts))
        else:
            out.append(RewardResult(value, Status.SCORED, verdicts))
    return out
