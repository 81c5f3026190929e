"""`grpo-run`: train (the default), difficulty, plan, eval, report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from grpo_runner.config import ConfigError, RunConfig, add_flags
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
            problems = [
                f"no option {word.split('=')[0]}{nearest(word.split('=')[0], flags)}"
                for word in unknown
                if word.startswith("-")
            ] or [f"unexpected {' '.join(unknown)!r}"]
            self.error("; ".join(problems))
        return known

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: {message}\n{self.prog} --help shows every option\n")
        raise SystemExit(EXIT_USAGE)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of `grpo-run`. Returns 0, 1 when the watch stopped the run, 2 for usage, input or preflight."""
    words = list(sys.argv[1:] if argv is None else argv)
    command = words.pop(0) if words and words[0] in COMMANDS else "train"
    if words and not words[0].startswith("-") and command == "train":
        hint = nearest(words[0], COMMANDS)
        sys.stderr.write(f"grpo-run: no command {words[0]!r}{hint}\n")
        return EXIT_USAGE
    try:
        if command == "train":
            return _train(words)
        if command == "plan":
            return _plan(words)
        if command == "report":
            return _report(words)
        raise ConfigError([f"{command}: not in this version"])
    except ConfigError as error:
        sys.stderr.write("grpo-run: " + "\n          ".join(str(error).splitlines()) + "\n")
        return EXIT_USAGE
    except KeyboardInterrupt:
        return 130


def _train_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="grpo-run",
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
    return RunConfig.load(presets.path(preset) if preset is not None else path, given)


def _plan(words: Sequence[str]) -> int:
    from grpo_runner import memory

    parser = _Parser(prog="grpo-run plan", allow_abbrev=False, description="GPU memory of a run, without its weights.")
    _add_sources(parser)
    parser.add_argument("--gpu-memory", default="", metavar="SIZE", help="such as 24GB (default: an A100 80 GB)")
    parser.add_argument("--json", action="store_true", help="as one JSON object")
    add_flags(parser)
    given = vars(parser.parse_args(words))
    size, as_json = given.pop("gpu_memory"), given.pop("json")
    try:
        return memory.plan_command(_load(given), gpu_memory=size, as_json=as_json)
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


def _train(words: Sequence[str]) -> int:
    from grpo_runner import data, preflight
    from rewards.expression import ExpressionError, Reward

    given = vars(_train_parser().parse_args(words))
    dry = given.pop("dry_run")
    config = _load(given)
    problems: list[str] = []
    reward = judge = None
    try:
        reward = Reward.parse(config.reward, aliases=config.aliases)
    except ExpressionError as error:
        problems.append(f"reward: {error}")
    try:
        train, held_out = data.load(config)
        if config.data.difficulty is not None:
            train = data.keep_band(train, config.data.difficulty, config.data.difficulty_column)
    except data.DataError as error:
        raise ConfigError([*problems, *str(error).splitlines()]) from None
    if reward is None:
        raise ConfigError(problems)
    judged_by = config.evaluation.reward or _judged_by(train, reward)
    try:
        judge = Reward.parse(judged_by, aliases=config.aliases, components=reward.components)
    except ExpressionError as error:
        raise ConfigError([f"evaluation.reward: {error}"]) from None
    try:
        findings = preflight.check(config, reward, train)
        for remark in findings.remarks:
            sys.stderr.write(f"note: {remark}\n")
        if findings.faults:
            raise ConfigError(findings.faults)
        if dry:
            sys.stdout.write(f"preflight passed: {train.origin}; reward {config.reward}\n")
            return EXIT_OK
        return _run(config, words, reward, judge, train, held_out)
    finally:
        reward.close()
        judge.close()


def _judged_by(train: Questions, reward: Reward) -> str:
    """What says that a held-out answer is right: the card's reward, `math` where there is a gold, else the first."""
    if train.judged_by is not None:
        return train.judged_by
    if any(sample.gold is not None for sample in train.samples[:1]):
        return "math"
    return next(iter(reward.components))


def _run(
    config: RunConfig, words: Sequence[str], reward: Reward, judge: Reward, train: Questions, held_out: Questions
) -> int:
    try:
        from grpo_runner import train as training
    except ImportError as error:
        raise ConfigError([f"training needs {error.name}; pip install 'grpo-rewards[train]'"]) from None
    from grpo_runner import launch

    gpus = training.gpus_seen()
    if missing := launch.missing_packages(config, gpus=gpus):
        raise ConfigError(missing)
    launch.check_server(config)
    if launch.wanted(config):
        launch.start(config, words, gpus=gpus)
    try:
        summary = training.run(config, reward, judge, train, held_out)
    except training.ModelError as error:
        raise ConfigError(str(error).splitlines()) from None
    return EXIT_OK if summary.stopped is None else EXIT_STOPPED


if __name__ == "__main__":
    sys.exit(main())
