"""Verifiers by name: the base class, `register`, lookup with nearest names, third-party plug-ins.

A verifier is a value: params in, verdict out, picklable, and it does no I/O of its own (a worker pool
or a sandbox is passed in). Third parties register through the entry-point group `rewards.verifiers`;
entry points load on first use, and one that fails to import is listed as broken and hurts nobody else.
"""

from __future__ import annotations

import difflib
import functools
import hashlib
import importlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from rewards.verdict import Reason, Sample, Verdict

ENTRY_POINT_GROUP: Final = "rewards.verifiers"


class Params(BaseModel):
    """Base of every verifier's parameters: frozen, unknown names refused, bad values refused at build time."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


P_co = TypeVar("P_co", bound=Params, covariant=True)


class ParamError(ValueError):
    """Parameters of a verifier that do not validate. The message names each one, what was given and what fits."""


def nearest(name: str, known: Sequence[str]) -> str:
    """`"; did you mean 'x'?"`, or the allowed names when nothing is near."""
    close = difflib.get_close_matches(name, known, n=2, cutoff=0.5)
    if close:
        return "; did you mean " + " or ".join(repr(c) for c in close) + "?"
    return f"; known: {', '.join(known)}" if known else ""


def _param_message(owner: str, model: type[BaseModel], error: ValidationError) -> str:
    lines = []
    for item in error.errors():
        where = ".".join(str(part) for part in item["loc"]) or owner
        if item["type"] == "extra_forbidden":
            lines.append(f"{owner} has no parameter {where!r}" + nearest(where, sorted(model.model_fields)))
        elif item["type"] == "missing":
            lines.append(f"{owner} needs {where}=...")
        else:
            message = item["msg"].removeprefix("Value error, ")
            shown = "" if not item["loc"] else f" (got {item['input']!r})"
            lines.append(f"{owner}: {where}: {message}{shown}" if item["loc"] else f"{owner}: {message}")
    return "; ".join(lines)


class Verifier(Generic[P_co]):
    """Base class. Write `class Mine(Verifier[MineParams])`, set the class attributes, implement one method.

    Implement exactly one of:
        `verify(sample)`                for `scope = "sample"`;
        `verify_with(sample, of)`       for `scope = "sample"` and `reads_of = True`: `of` is the verdict that the
                                        component named by the parameter `of` gave this sample;
        `verify_group(samples, of)`     for `scope = "group"`: all samples of one prompt at once (`of` is None
                                        unless `reads_of`).
    `verify_many(samples)` may be overridden too, where a batch is cheaper than one at a time.

    Attributes:
        name: set by `@register`.
        version: raise it when a verdict may change for the same params; part of the fingerprint.
        range: lowest and highest score.
        scope: "sample", or "group" when the score depends on the other answers to the same prompt.
        needs: `Sample` fields that must be present (not None); a row without one is `invalid`.
        reads_of: True when `Params` has a field `of` that names another component.
        reasons: the verifier's own reason codes and what each means (those of `Reason` are always allowed).
        source: the paper and equation, or the public definition, that a formula comes from.
        example: a completion, with gold where needed, that gets the full score; shown by `rewards show`.
    """

    name: ClassVar[str] = ""
    version: ClassVar[int] = 1
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    scope: ClassVar[Literal["sample", "group"]] = "sample"
    needs: ClassVar[tuple[str, ...]] = ()
    reads_of: ClassVar[bool] = False
    reasons: ClassVar[Mapping[str, str]] = {}
    source: ClassVar[str] = ""
    example: ClassVar[Mapping[str, Any] | None] = None
    Params: ClassVar[type[Params]] = Params

    params: P_co

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for base in getattr(cls, "__orig_bases__", ()):
            if isinstance(get_origin(base), type) and issubclass(get_origin(base), Verifier):
                (argument,) = get_args(base)
                if isinstance(argument, type):
                    cls.Params = argument

    def __init__(self, **params: Any) -> None:
        """Validate `params`.

        Raises:
            ParamError: an unknown name, a missing or an impossible value.
        """
        owner = self.name or type(self).__name__
        try:
            self.params = type(self).Params(**params)  # type: ignore[assignment]
        except ValidationError as error:
            raise ParamError(_param_message(owner, type(self).Params, error)) from None

    def verify(self, sample: Sample) -> Verdict:
        """The verdict on one sample."""
        raise NotImplementedError(f"{type(self).__qualname__} must implement verify, verify_with or verify_group")

    def verify_with(self, sample: Sample, of: Verdict) -> Verdict:
        """The verdict on one sample, given what another component said of it."""
        raise NotImplementedError(f"{type(self).__qualname__} has reads_of=True and must implement verify_with")

    def verify_group(self, samples: Sequence[Sample], of: Sequence[Verdict] | None) -> list[Verdict]:
        """One verdict per sample of one group, in order."""
        raise NotImplementedError(f"{type(self).__qualname__} has scope='group' and must implement verify_group")

    def verify_many(self, samples: Sequence[Sample]) -> list[Verdict]:
        """One verdict per sample, in order. Override where a batch is cheaper."""
        return [self.verify(sample) for sample in samples]

    def close(self) -> None:
        """Give back what was passed in or started for this verifier. Safe to call twice."""

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits over name, version and params: provenance and cache key."""
        plain = json.dumps([self.name, self.version, self.params.model_dump(mode="json")], sort_keys=True)
        return hashlib.sha256(plain.encode()).hexdigest()[:12]

    def __call__(self, completion: Any, gold: Any = None, **fields: Any) -> Verdict:
        """Judge one completion: `MathEquivalence()("so \\boxed{4}", gold="4")`. Other fields are those of `Sample`.

        Never raises for what a completion or a gold contains: that is what the verdict's status is for.
        """
        from rewards.scoring import judge_one

        return judge_one(self, Sample(id="0", group="0", completion=completion, gold=gold, **fields))

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self.params.model_dump(exclude_defaults=True).items())
        return f"{type(self).__name__}({given})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.fingerprint == self.fingerprint

    def __hash__(self) -> int:
        return hash((type(self), self.fingerprint))

    @classmethod
    @functools.cache
    def known_reasons(cls) -> frozenset[str]:
        """Every reason code this verifier may give."""
        return _COMMON_REASONS.union(cls.reasons)


_COMMON_REASONS: Final = frozenset(r.value for r in Reason)

AnyVerifier = Verifier[Any]
V = TypeVar("V", bound=type[AnyVerifier])


class UnknownVerifier(LookupError):
    """No verifier has that name; the message gives the nearest ones."""


class DuplicateVerifier(ValueError):
    """Two classes claim one name; the message names both."""


@dataclass(frozen=True, slots=True)
class BrokenPlugin:
    """An entry point that could not be loaded."""

    name: str
    target: str
    error: str


# Ours, by name, so that listing and lookup import only what is asked for. tests/test_registry.py holds each
# entry against the class it names.
_BUILT_IN: dict[str, str] = {
    "math": "rewards.math_equivalence:MathEquivalence",
    "code": "rewards.code_tests:CodeTests",
    "ifeval": "rewards.instructions:InstructionFollowing",
    "format": "rewards.format_checks:TagLayout",
    "overlong": "rewards.length_penalties:Overlong",
    "wrong_and_long": "rewards.length_penalties:WrongAndLong",
    "cosine_length": "rewards.length_penalties:CosineLength",
    "l1_exact": "rewards.length_penalties:L1Exact",
    "l1_max": "rewards.length_penalties:L1Max",
    "truncation_penalty": "rewards.length_penalties:TruncationPenalty",
    "finished": "rewards.length_penalties:Finished",
    "kimi_length": "rewards.length_penalties:KimiLength",
    "lead_length": "rewards.length_penalties:LeadLength",
    "shorter_bonus": "rewards.length_penalties:ShorterBonus",
    "excess_length": "rewards.length_penalties:ExcessLength",
    "gr3_length": "rewards.length_penalties:RescaledLength",
    "format_share": "rewards.format_checks:TagShare",
    "boxed": "rewards.format_checks:OneBox",
    "answer_line": "rewards.format_checks:AnswerLine",
    "regex": "rewards.format_checks:RegexMatch",
    "fenced_code": "rewards.format_checks:FencedCode",
    "json_schema": "rewards.structured_output:JsonSchema",
    "tool_calls": "rewards.structured_output:ToolCalls",
    "repetition": "rewards.repetition:Repetition",
    "language": "rewards.language:LanguageConsistency",
    "numeric": "rewards.numeric:Numeric",
    "multiple_choice": "rewards.multiple_choice:MultipleChoice",
    "exact": "rewards.text_match:Exact",
    "text_match": "rewards.text_match:TextMatch",
    "countdown": "rewards.countdown:Countdown",
    "reasoning_steps": "rewards.reasoning_steps:ReasoningSteps",
}


class Registry:
    """Names to verifier classes. One instance, `REGISTRY`, serves the package; tests make their own."""

    def __init__(self, group: str | None = None, built_in: Mapping[str, str] | None = None) -> None:
        self._classes: dict[str, type[AnyVerifier]] = {}
        self._built_in = dict(built_in or {})
        self._group = group
        self._points: dict[str, EntryPoint] | None = None
        self._broken: dict[str, BrokenPlugin] = {}
        self._lock = threading.RLock()

    def add(self, name: str, cls: type[AnyVerifier]) -> None:
        """Register `cls` under `name`.

        Raises:
            DuplicateVerifier: another class has the name.
            ValueError: the name is not an identifier, or the class breaks the contract.
        """
        if not name.isidentifier():
            raise ValueError(f"verifier name {name!r} is not an identifier; use letters, digits and underscores")
        if cls.reads_of and "of" not in cls.Params.model_fields:
            raise ValueError(f"{cls.__qualname__} has reads_of=True but its Params have no field 'of'")
        with self._lock:
            have = self._classes.get(name)
            if have is not None and _path(have) != _path(cls):
                raise DuplicateVerifier(f"verifier {name!r} is registered twice: by {_path(have)} and by {_path(cls)}")
            ours = self._built_in.get(name)
            if ours is not None and ours != _path(cls):
                raise DuplicateVerifier(f"verifier {name!r} is registered twice: by {ours} and by {_path(cls)}")
            cls.name = name
            self._classes[name] = cls

    def get(self, name: str) -> type[AnyVerifier]:
        """The class registered under `name`.

        Raises:
            UnknownVerifier: with the nearest names; for a broken plug-in, with its import error.
        """
        with self._lock:
            if name not in self._classes and name in self._built_in:
                module, _, attribute = self._built_in[name].partition(":")
                # Importing the module runs its @register; getattr is for a class without one.
                cls = getattr(importlib.import_module(module), attribute)
                self.add(name, cls)
            if name not in self._classes:
                self._load_plugin(name)
            if name in self._classes:
                return self._classes[name]
            if name in self._broken:
                broken = self._broken[name]
                raise UnknownVerifier(
                    f"verifier {name!r} comes from the plug-in {broken.target}, which failed to load: {broken.error}"
                )
            raise UnknownVerifier(f"no verifier {name!r}{nearest(name, self.names())}")

    def names(self) -> list[str]:
        """Every name that can be asked for, sorted; loads nothing."""
        with self._lock:
            known = {*self._classes, *self._built_in, *self._entry_points()}
            return sorted(known - set(self._broken))

    def broken(self) -> list[BrokenPlugin]:
        """Plug-ins that failed to load. Tries each that has not been tried yet."""
        for name in list(self._entry_points()):
            if name not in self._classes:
                self._load_plugin(name)
        return sorted(self._broken.values(), key=lambda b: b.name)

    def _entry_points(self) -> dict[str, EntryPoint]:
        with self._lock:
            if self._points is None:
                self._points = {}
                found = entry_points(group=self._group) if self._group else ()
                for point in found:
                    if point.name in self._points or point.name in self._built_in:
                        taken = self._points[point.name].value if point.name in self._points else None
                        taken = taken or self._built_in[point.name]
                        if taken != point.value:
                            self._broken[f"{point.name} ({point.value})"] = BrokenPlugin(
                                point.name, point.value, f"the name {point.name!r} is already taken by {taken}"
                            )
                        continue
                    self._points[point.name] = point
            return self._points

    def _load_plugin(self, name: str) -> None:
        point = self._entry_points().get(name)
        if point is None or name in self._broken:
            return
        try:
            cls = point.load()
            if not (isinstance(cls, type) and issubclass(cls, Verifier)):
                raise TypeError(f"{point.value} is not a subclass of rewards.Verifier")
            self.add(name, cls)
        except Exception as error:  # a plug-in may fail in any way; it must not take the others down
            self._broken[name] = BrokenPlugin(name, point.value, f"{type(error).__name__}: {error}")


def _path(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


REGISTRY: Final = Registry(ENTRY_POINT_GROUP, _BUILT_IN)


def register(name: str, registry: Registry | None = None) -> Callable[[V], V]:
    """Class decorator: `@register("brevity") class Brevity(Verifier[BrevityParams]): ...`

    Raises:
        DuplicateVerifier: another class has the name; the message names both.
    """

    def decorate(cls: V) -> V:
        (registry or REGISTRY).add(name, cls)
        return cls

    return decorate


def get(name: str) -> type[AnyVerifier]:
    """The verifier class called `name`; see `Registry.get`."""
    return REGISTRY.get(name)


def names() -> list[str]:
    """Every known verifier name."""
    return REGISTRY.names()
