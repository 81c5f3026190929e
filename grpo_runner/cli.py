"""`grpo-run`: train (the default), difficulty, plan, eval, report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NoReturn

from grpo_runner.config import ConfigError, RunConfig, add_flags
from grpo_runner.retired_arguments import explain
from rewards.registry import nearest

if TYPE_CHECKING:
    from grpo_runner.data import Questions
    from rewards.expression import Reward

COMMANDS: Final = ("train", "difficulty", "plan", "eval", "report")
EXIT_OK, EXIT_STOPPED, EXIT_USAGE = 0, 1, 2


class _Parser(argparse.ArgumentParser):
    """Argparse with nearest names for unknown flags."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        known, unknown = self.parse_known_args(args, namespace)
        if unknown:
            flags = [flag for action in self._actions for flag in action.option_strings if flag.startswith("--")]
            names = [word.split("=")[0] for word in unknown if word.startswith("-")]
            problems = [
                f"{name}: {explain(name)}" if explain(name) else f"no option {name}{nearest(name, flags)}"
                for name in names
            ] or [f"unexpected {' '.join(unknown)!r}"]
            self.error("; ".join(problems))
        return known

    def error(self, message: str) -> NoReturn:
        raise ConfigError([message, f"{self.prog} --help shows every option"])


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of `grpo-run`. Returns 0, 1 when the watch stopped the run, 2 for usage, input or preflight."""
    words = list(sys.argv[1:] if argv is None else argv)
    command = words.pop(0) if words and words[0] in COMMANDS else "train"
    if words and not words[0].startswith("-") and command == "train":
        hint = nearest(words[0], COMMANDS)
        sys.stderr.write(f"grpo-run: no command {words[0]!r}{hint}\n")
        return EXIT_USAGE
    try:
        run = {"train": _train, "difficulty": _difficulty, "plan": _plan, "eval": _eval, "report": _report}
        return run[command](words)
    except ConfigError as error:
        sys.stderr.write("grpo-run: " + "\n          ".join(str(error).splitlines()) + "\n")
        return EXIT_USAGE
    except KeyboardInterrupt:
        return 130


def _train_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="grpo-run",
        usage="grpo-run [--reward EXPRESSION] [--config FILE] [--preset NAME] [--dry-run] [option ...]",
        allow_abbrev=False,
        description="Train with GRPO on a reward expression. With nothing else named, the bundled starter model "
        "learns generated arithmetic on the CPU, offline, in a minute.",
        epilog="Other commands: grpo-run difficulty | plan | eval | report (each with --help).",
    )
    _add_sources(parser)
    parser.add_argument("--dry-run", action="store_true", help="check everything, load no model, train nothing")
    add_flags(parser)
    return parser


def _add_sources(parser: argparse.ArgumentParser) -> None:
    from grpo_runner import presets

    parser.add_argument("--config", type=Path, metavar="FILE", help="settings as TOML; flags win over it")
    parser.add_argument("--preset", metavar="NAME", help="settings for one A100 80 GB: " + ", ".join(presets.names()))


def _load(given: dict[str, Any]) -> RunConfig:
    from grpo_runner import presets

    path, preset = given.pop("config"), given.pop("preset")
    if path is not None and preset is not None:
        raise ConfigError(["--preset: give either --config or --preset; a preset is a file to copy and change"])
    return RunConfig.read(presets.path(preset) if preset is not None else path, given)


def _plan(words: Sequence[str]) -> int:
    from grpo_runner import memory

    parser = _Parser(
        prog="grpo-run plan",
        usage="grpo-run plan [option ...]",
        allow_abbrev=False,
        description="GPU memory of a run, without its weights.",
    )
    _add_sources(parser)
    parser.add_argument("--gpu-memory", default="", metavar="SIZE", help="such as 24GB (default: an A100 80 GB)")
    parser.add_argument("--json", action="store_true", help="as one JSON object")
    add_flags(parser)
    given = vars(parser.parse_args(words))
    size, as_json = given.pop("gpu_memory"), given.pop("json")
    try:
        config = _load(given)
        if problems := config.contradictions():
            raise ConfigError(problems)
        return memory.plan_command(config, gpu_memory=size, as_json=as_json)
    except memory.PlanError as error:
        raise ConfigError([str(error)]) from None


def _report(words: Sequence[str]) -> int:
    from grpo_runner import report

    parser = _Parser(prog="grpo-run report", allow_abbrev=False, description="One HTML page about a run.")
    parser.add_argument("run", type=Path, metavar="DIR", help="folder of the run")
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="page to write (default: DIR/report.html)")
    given = parser.parse_args(words)
    try:
        page = report.write(given.run, given.out)
    except report.ReportError as error:
        raise ConfigError([str(error)]) from None
    sys.stdout.write(f"written {page}\n")
    return EXIT_OK


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that has passed every check for which no model is needed."""

    config: RunConfig
    reward: Reward
    judge: Reward
    train: Questions
    held_out: Questions

    def close(self) -> None:
        """Stop what the verifiers started."""
        self.reward.close()
        self.judge.close()


def _prepare(given: dict[str, Any], *, training: bool = True, dry: bool = False) -> Prepared:
    """Configuration, reward and data, checked; remarks go to standard error.

    Raises:
        ConfigError: every fault found in all three, each with its key path.
    """
    from grpo_runner import data, preflight
    from rewards.expression import ExpressionError, Reward

    config = _load(given)
    problems = config.contradictions() if training else []
    reward = judge = train = held_out = None
    try:
        reward = Reward.parse(config.reward, aliases=config.aliases)
    except ExpressionError as error:
        problems.append(f"reward: {error}")
    try:
        train, held_out = data.load(config)
        if config.data.difficulty is not None:
            train = data.keep_band(train, config.data.difficulty, config.data.difficulty_column)
    except data.DataError as error:
        problems += str(error).splitlines()
    if reward is not None and train is not None:
        try:
            text = config.evaluation.reward or _judged_by(train, reward)
            judge = Reward.parse(text, aliases=config.aliases, components=reward.components)
        except ExpressionError as error:
            problems.append(f"evaluation.reward: {error}")
        if training:
            findings = preflight.check(config, reward, train)
            for remark in findings.remarks:
                sys.stderr.write(f"note: {remark}\n")
            problems += findings.faults
    if training and reward is not None and train is not None and (dry or not problems):
        found, remarks = _model_faults(config, reward, train, held_out)
        problems += found
        for remark in remarks:
            sys.stderr.write(f"note: {remark}\n")
    if problems:
        for parsed in (reward, judge):
            if parsed is not None:
                parsed.close()
        raise ConfigError(problems)
    parts = (reward, judge, train, held_out)
    assert all(part is not None for part in parts), "what is absent has been reported above"
    return Prepared(config, *parts)  # type: ignore[arg-type]


def _model_faults(config: RunConfig, reward: Reward, *questions: Questions | None) -> tuple[list[str], list[str]]:
    """Faults and remarks about tokenizer, template and context length; no weights are loaded."""
    training = _training()
    from grpo_runner import tokenizer_checks

    try:
        tokenizer = training.load_tokenizer(config)
        context = training.context_length(config)
    except training.ModelError as error:
        return str(error).splitlines(), []
    asked = [sample for part in questions if part is not None for sample in part.samples]
    return tokenizer_checks.check(config, reward, tokenizer, asked, context)


def _train(words: Sequence[str]) -> int:
    given = vars(_train_parser().parse_args(words))
    dry = given.pop("dry_run")
    prepared = _prepare(given, dry=dry)
    try:
        if dry:
            sys.stdout.write(f"preflight passed: {prepared.train.origin}; reward {prepared.config.reward}\n")
            return EXIT_OK
        return _run(prepared, words)
    finally:
        prepared.close()


def _eval(words: Sequence[str]) -> int:
    parser = _Parser(
        prog="grpo-run eval",
        usage="grpo-run eval [option ...]",
        allow_abbrev=False,
        description="Held-out accuracy of a model: greedy, pass@1, pass@k, maj@k, each with a 95% bootstrap interval.",
    )
    _add_sources(parser)
    add_flags(parser)
    prepared = _prepare(vars(parser.parse_args(words)), training=False)
    training = _training()
    try:
        training.evaluate(prepared.config, prepared.judge, prepared.held_out)
    except training.ModelError as error:
        raise ConfigError(str(error).splitlines()) from None
    finally:
        prepared.close()
    return EXIT_OK


def _difficulty(words: Sequence[str]) -> int:
    from grpo_runner import difficulty

    parser = _Parser(
        prog="grpo-run difficulty",
        usage="grpo-run difficulty [option ...]",
        allow_abbrev=False,
        description="The share of right answers per question, as a column: by asking the model, or from rows that "
        "`rewards score` has already judged. Train on a band of it with --difficulty 0.1..0.9.",
    )
    _add_sources(parser)
    parser.add_argument("--k", type=int, default=8, metavar="N", help="answers per question (default 8)")
    parser.add_argument("--scored", type=Path, metavar="FILE", help="take the answers from this scored JSONL instead")
    parser.add_argument(
        "-o", "--measured", type=Path, default=Path("measured.jsonl"), metavar="FILE",
        help="rows to write, with the column pass_rate (default measured.jsonl)",
    )  # fmt: skip
    add_flags(parser)
    given = vars(parser.parse_args(words))
    k, scored, target = given.pop("k"), given.pop("scored"), given.pop("measured")
    if k < 1:
        raise ConfigError([f"--k: {k}; give 1 or more answers per question"])
    given["evaluation.questions"] = 0
    prepared = _prepare(given, training=False)
    try:
        if scored is not None:
            rates = difficulty.from_scored(scored, prepared.train.samples)
        else:
            training = _training()
            try:
                rates = training.measure(prepared.config, prepared.judge, prepared.train, k)
            except training.ModelError as error:
                raise ConfigError(str(error).splitlines()) from None
    except difficulty.ScoredFileError as error:
        raise ConfigError([str(error)]) from None
    finally:
        prepared.close()
    difficulty.write(target, prepared.train.samples, rates, prepared.config.data.difficulty_column)
    sys.stdout.write(difficulty.histogram(rates) + f"\nwritten {target}: {len(rates)} rows\n")
    return EXIT_OK


def _judged_by(train: Questions, reward: Reward) -> str:
    """What says that a held-out answer is right: the card's reward, `math` where there is a gold, else the first."""
    if train.judged_by is not None:
        return train.judged_by
    if any(sample.gold is not None for sample in train.samples[:1]):
        return "math"
    return next(iter(reward.components))


def _training() -> ModuleType:
    """The module that knows torch and TRL.

    Raises:
        ConfigError: the extra is not installed.
    """
    try:
        from grpo_runner import train
    except ImportError as error:
        raise ConfigError([f"training needs {error.name}; pip install 'grpo-rewards[train]'"]) from None
    return train


def _run(prepared: Prepared, words: Sequence[str]) -> int:
    from grpo_runner import launch

    training = _training()
    config = prepared.config
    gpus = training.gpus_seen()
    if missing := launch.missing_packages(config, gpus=gpus):
        raise ConfigError(missing)
    launch.check_server(config)
    if launch.wanted(config):
        launch.start(config, words, gpus=gpus)
    try:
        summary = training.run(config, prepared.reward, prepared.judge, prepared.train, prepared.held_out)
    except training.ModelError as error:
        raise ConfigError(str(error).splitlines()) from None
    return EXIT_OK if summary.stopped is None else EXIT_STOPPED


if __name__ == "__main__":
    sys.exit(main())
