"""`rewards score | diff | list | show | explain | check | check-gold | cards | sandbox`.

Exit codes: 0 fine, 1 a threshold or a check not met, 2 usage or input, 3 too many `error` verdicts.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

from rewards import __version__
from rewards.registry import REGISTRY, UnknownVerifier, nearest

OK, NOT_MET, BAD_INPUT, TOO_MANY_ERRORS = 0, 1, 2, 3
CHUNK_ROWS = 2048
MAX_BAD_LINES_SHOWN = 20


class UsageError(Exception):
    """Something the user can fix; its text is all that is printed."""


class _Parser(argparse.ArgumentParser):
    """argparse that names the nearest option or command."""

    def error(self, message: str) -> NoReturn:
        options = [option for action in self._actions for option in action.option_strings]
        if message.startswith("unrecognized arguments:"):
            given = message.split(":", 1)[1].split()[0]
            message = f"no option {given}{nearest(given, options)}"
        elif message.startswith("argument --reward: expected one argument"):
            message += "; an expression that begins with a minus is written --reward=-format"
        elif "invalid choice:" in message:
            for action in self._actions:
                if isinstance(action, argparse._SubParsersAction):
                    given = message.split("invalid choice: ", 1)[1].split("'")[1]
                    message = f"no command {given!r}{nearest(given, list(action.choices))}"
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise SystemExit(BAD_INPUT)


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the `rewards` command; returns the exit code."""
    parser = _Parser(prog="rewards", description="Score completions with rule-based verifiers.", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser, metavar="COMMAND")
    _score_parser(commands.add_parser("score", help="score completions in a file", allow_abbrev=False))
    diff = _simple(commands, "diff", "rows that two scored files judge differently", _diff)
    diff.add_argument("before", help="output of `rewards score`")
    diff.add_argument("after", help="output of `rewards score` on the same rows")
    diff.add_argument("--show", type=int, default=20, metavar="N", help="print at most N rows (default 20)")
    _simple(commands, "list", "every verifier, one line each", _list)
    show = _simple(commands, "show", "one verifier: parameters, range, reasons, an example", _show)
    show.add_argument("name")
    _explain_parser(commands.add_parser("explain", help="how one completion gets its verdict", allow_abbrev=False))
    check = _simple(commands, "check", "attack a reward expression before training on it", _check)
    check.add_argument("reward", help="reward expression, such as math+format")
    check.add_argument(
        "--rows", metavar="FILE", help="rows of your own to attack with (default: the verifiers' examples)"
    )
    check.add_argument("--map", nargs="+", default=[], metavar="NAME=FIELD", help="which field of the rows is which")
    check.add_argument("--config", metavar="FILE", help="TOML file with an [aliases] table")
    check.add_argument("--json", action="store_true", help="findings as JSON on stdout")
    gold = _simple(commands, "check-gold", "which golds of a file cannot be read, with their lines", _check_gold)
    gold.add_argument("file")
    gold.add_argument("--map", nargs="+", default=[], metavar="gold=FIELD")
    gold.add_argument("--all", action="store_true", help="print the readable ones too")
    _simple(commands, "cards", "data sets with a card: how a row becomes a sample", _cards)
    sandbox = _simple(commands, "sandbox", "build the sandbox image, or check a backend", _sandbox)
    sandbox.add_argument("action", choices=["build-image", "check"])
    sandbox.add_argument("backend", nargs="?", default="local", help="for check: local, docker")
    sandbox.add_argument("--tag", default=None, help="for build-image: name of the image")
    sandbox.add_argument("--dockerfile", default=None, help="for build-image: build from this Dockerfile")
    try:
        arguments = parser.parse_args(argv)
        run: Callable[[argparse.Namespace], int] = arguments.run
        return run(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else BAD_INPUT
    except (UsageError, UnknownVerifier) as error:
        print(f"rewards: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("rewards: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # `rewards score ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK


def _simple(commands: Any, name: str, help_: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=help_, description=help_, allow_abbrev=False)
    parser.set_defaults(run=run)
    return parser


def _pairs(items: Iterable[str]) -> dict[str, str]:
    out = {}
    for item in items:
        name, sign, path = item.partition("=")
        if not sign or not name or not path:
            raise UsageError(f"--map {item!r} is not NAME=FIELD; for example --map completion=response gold=answer")
        out[name] = path
    return out


# ---------------------------------------------------------------- score


def _score_parser(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_score)
    parser.add_argument("file", help=".jsonl, .jsonl.gz, .json or .parquet")
    parser.add_argument("--reward", required=True, metavar="EXPR", help="reward expression, such as math+format")
    parser.add_argument("-o", "--out", metavar="FILE", help="one JSON row per sample (default: stdout)")
    parser.add_argument("--map", nargs="+", default=[], metavar="NAME=FIELD", help="which field is which")
    parser.add_argument("--config", metavar="FILE", help="TOML file with an [aliases] table")
    parser.add_argument("--json", action="store_true", help="summary as JSON on stdout")
    parser.add_argument(
        "--problems", metavar="FILE", help="rows of all problems: says how many of their ids have a completion here"
    )
    parser.add_argument("--fail-under", type=float, metavar="X", help="exit 1 if the mean reward is below X")
    parser.add_argument(
        "--max-error-rate", type=float, default=0.01, metavar="SHARE", help="exit 3 above it (default 0.01)"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="score the first N rows only")
    parser.add_argument(
        "--ray", action="store_true", help="spread over a Ray cluster (pip install 'grpo-rewards[ray]')"
    )


def _aliases(config: str | None) -> dict[str, str]:
    if config is None:
        return {}
    import tomllib

    try:
        data = tomllib.loads(Path(config).read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {config}: {error}") from None
    aliases = data.get("aliases", {})
    if not isinstance(aliases, dict) or not all(isinstance(v, str) for v in aliases.values()):
        raise UsageError(f'{config}: [aliases] must hold lines such as  strict = "gate(format, math)"')
    return aliases


def _reward(text: str, aliases: Mapping[str, str] | None = None) -> Any:
    from rewards.expression import ExpressionError, Reward

    try:
        return Reward.parse(text, aliases=aliases)
    except ExpressionError as error:
        raise UsageError(str(error)) from None
    except ImportError as error:  # a verifier whose library is an extra; its message names the pip install
        raise UsageError(str(error)) from None


def _score(arguments: argparse.Namespace) -> int:
    from rewards.records import InputError
    from rewards.report import Summary

    reward = _reward(arguments.reward, _aliases(arguments.config))
    if arguments.out and Path(arguments.out).exists() and os.path.samefile(arguments.file, arguments.out):
        raise UsageError(f"-o {arguments.out} is the input file itself; choose another name")
    summary = Summary(reward)
    summary.wanted_ids = _ids_of(arguments.problems) if arguments.problems else None
    try:
        started = time.perf_counter()
        rows = _scored_rows(arguments, reward, summary)
        _write_rows(arguments, rows)
        summary.wall_seconds = time.perf_counter() - started
    except InputError as error:
        raise UsageError(str(error)) from None
    finally:
        reward.close()
    if summary.rows == 0 and summary.bad_lines == 0:
        raise UsageError(f"{arguments.file} has no rows")
    if arguments.json:
        print(json.dumps(summary.as_json(), indent=2))
    print(summary.table(), file=sys.stderr)
    if summary.bad_lines:
        return BAD_INPUT
    if summary.error_rate > arguments.max_error_rate:
        print(
            f"rewards: {summary.error_rate:.1%} of the rows ended in `error`; "
            f"at most {arguments.max_error_rate:.1%} are allowed (--max-error-rate)",
            file=sys.stderr,
        )
        return TOO_MANY_ERRORS
    if summary.mean_reward is None:  # all golds unreadable, say: a pipeline must not go on as if it had rewards
        print("rewards: no row has a reward; the warnings above name the cause", file=sys.stderr)
        return BAD_INPUT
    if arguments.fail_under is not None and summary.mean_reward < arguments.fail_under:
        mean = f"mean reward {summary.mean_reward:.4f}"
        print(f"rewards: {mean}, below --fail-under {arguments.fail_under:g}", file=sys.stderr)
        return NOT_MET
    return OK


def _ids_of(path: str) -> frozenset[str]:
    """The ids of a file of problems, under the names that rows of completions use."""
    from rewards.records import _KNOWN, InputError, Row, read_rows

    out = set()
    try:
        for row in read_rows(path):
            name = next((n for n in (*_KNOWN["id"], *_KNOWN["group"]) if isinstance(row, Row) and n in row.data), None)
            if not isinstance(row, Row) or name is None:
                allowed = ", ".join(_KNOWN["id"])
                raise UsageError(f"{row.where}: no id here, so nothing says which problem it is; allowed: {allowed}")
            out.add(str(row.data[name]))
    except InputError as error:
        raise UsageError(str(error)) from None
    return frozenset(out)


def _scored_rows(arguments: argparse.Namespace, reward: Any, summary: Any) -> Iterator[dict[str, Any]]:
    from rewards.records import BadLine, Row, detect_fields, read_rows
    from rewards.scoring import RewardResult
    from rewards.verdict import Status

    whole = any(verifier.scope == "group" for verifier in reward.components.values())
    # Which version with which settings gave a row its number, in every row: files get cut and joined.
    scored_by = f"grpo-rewards {__version__} {reward.fingerprint}"
    fields = None
    source: Iterator[Row | BadLine] = read_rows(arguments.file)
    if arguments.limit is not None:
        source = itertools.islice(source, arguments.limit)
    source = _with_progress(source, arguments.file)
    score = _on_ray(arguments, reward) if arguments.ray else reward.score
    while chunk := list(source if whole or arguments.ray else itertools.islice(source, CHUNK_ROWS)):
        plan: list[tuple[BadLine | None, Any, str]] = []
        for item in chunk:
            if isinstance(item, BadLine):
                plan.append((item, None, ""))
                continue
            if fields is None:
                fields = detect_fields(item.data, _pairs(arguments.map), needs=reward.needs)
                print(f"fields: {fields.describe()}", file=sys.stderr)
            plan.extend((None, sample, problem) for sample, problem in fields.read(item))
        results = iter(score([sample for bad, sample, problem in plan if bad is None and not problem]))
        for bad, sample, problem in plan:
            if bad is not None:
                summary.add_bad_line()
                if summary.bad_lines <= MAX_BAD_LINES_SHOWN:
                    print(f"{bad.where}: {bad.problem}", file=sys.stderr)
                elif summary.bad_lines == MAX_BAD_LINES_SHOWN + 1:
                    print("further unreadable lines are named in the output only", file=sys.stderr)
                yield {
                    "id": bad.where, "group": None, "reward": None, "status": "invalid", "verdicts": {},
                    "problem": bad.problem,
                }  # fmt: skip
                continue
            # A null where the completion belongs is a request that failed, not an empty answer: no number.
            result = RewardResult(None, Status.INVALID) if problem else next(results)
            summary.add(sample, result)
            row = {**result_row(sample, result), "scored_by": scored_by}
            yield {**row, "problem": problem} if problem else row


def result_row(sample: Any, result: Any) -> dict[str, Any]:
    """The JSON row of one scored sample."""
    return {
        "id": sample.id,
        "group": sample.group or None,
        "reward": result.reward,
        "status": result.status.value,
        "verdicts": {key: verdict.as_row() for key, verdict in result.verdicts.items()},
    }


def _write_rows(arguments: argparse.Namespace, rows: Iterator[dict[str, Any]]) -> None:
    from rewards.records import WholeFile

    first = next(rows, None)
    if first is None:
        return
    rows = itertools.chain((first,), rows)
    if arguments.out and arguments.out != "-":
        with WholeFile(arguments.out) as out:
            for row in rows:
                out.write(row)
        return
    quiet = arguments.json and not arguments.out
    stream: IO[str] = sys.stdout
    for row in rows:
        if not quiet:
            stream.write(json.dumps(row) + "\n")


def _with_progress(source: Iterator[Any], path: str) -> Iterator[Any]:
    if not sys.stderr.isatty():
        return source
    from tqdm import tqdm

    total = None
    if not path.endswith((".gz", ".parquet")):
        with open(path, "rb") as file:
            total = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b"")) or None
    return iter(tqdm(source, total=total, unit=" rows", file=sys.stderr, dynamic_ncols=True, leave=False))


def _on_ray(arguments: argparse.Namespace, reward: Any) -> Callable[[Sequence[Any]], Iterator[Any]]:
    try:
        from rewards import ray_scoring
    except ImportError as error:
        raise UsageError(f"--ray needs Ray Data: pip install 'grpo-rewards[ray]' ({error})") from None
    aliases = _aliases(arguments.config)
    return lambda samples: ray_scoring.score(samples, reward, aliases)


# ---------------------------------------------------------------- diff


def _diff(arguments: argparse.Namespace) -> int:
    from collections import Counter

    before, after = _scored_file(arguments.before), _scored_file(arguments.after)
    moves: Counter[str] = Counter()
    shown = 0
    for name in [*before, *(n for n in after if n not in before)]:
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            moves[f"only in {arguments.after if old is None else arguments.before}"] += 1
            continue
        if (old["reward"], old["status"]) == (new["reward"], new["status"]):
            continue
        move = f"{_outcome(old)} -> {_outcome(new)}"
        moves[move] += 1
        if shown < arguments.show:
            shown += 1
            reasons = [
                f"{key}: {_said(old['verdicts'].get(key))} -> {_said(new['verdicts'].get(key))}"
                for key in dict.fromkeys([*old["verdicts"], *new["verdicts"]])
                if _said(old["verdicts"].get(key)) != _said(new["verdicts"].get(key))
            ]
            print(f"{name}: {move}   {'; '.join(reasons)}")
    total = sum(moves.values())
    print(f"{total:,} of {len(before.keys() | after.keys()):,} rows differ", file=sys.stderr)
    for move, count in moves.most_common(12):
        print(f"  {count:>6,}  {move}", file=sys.stderr)
    return NOT_MET if total else OK


def _scored_file(path: str) -> dict[str, Any]:
    from rewards.records import InputError, Row, read_rows

    out: dict[str, Any] = {}
    try:
        for row in read_rows(path):
            if not isinstance(row, Row) or not {"reward", "status", "verdicts"} <= row.data.keys():
                raise UsageError(f"{row.where} is no row of `rewards score`; diff compares two of its outputs")
            name = str(row.data.get("id"))
            repeat = (
                next(f"{name}~{k}" for k in itertools.count(2) if f"{name}~{k}" not in out) if name in out else name
            )
            out[repeat] = row.data
    except InputError as error:
        raise UsageError(str(error)) from None
    return out


def _outcome(row: Mapping[str, Any]) -> str:
    return row["status"] if row["reward"] is None else f"{row['reward']:g}"


def _said(verdict: Mapping[str, Any] | None) -> str:
    return "absent" if verdict is None else f"{verdict['reason']}"


# ---------------------------------------------------------------- list, show


def _first_line(text: str | None) -> str:
    return (text or "").strip().split("\n", 1)[0]


def _list(arguments: argparse.Namespace) -> int:
    from rewards.report import _aligned

    rows = [("name", "range", "scope", "needs", "what it says")]
    for name in REGISTRY.names():
        try:
            cls = REGISTRY.get(name)
        except (UnknownVerifier, ImportError):
            continue
        low, high = cls.range
        rows.append((name, f"{low:g}..{high:g}", cls.scope, ", ".join(cls.needs) or "-", _first_line(cls.__doc__)))
    print("\n".join(_aligned(rows)))
    for broken in REGISTRY.broken():
        print(f"broken plug-in {broken.name} ({broken.target}): {broken.error}", file=sys.stderr)
    return OK


def _attributes(docstring: str | None) -> dict[str, str]:
    """What the `Attributes:` of a docstring say, by name."""
    import inspect

    out: dict[str, str] = {}
    names: list[str] = []
    for line in inspect.cleandoc(docstring or "").partition("Attributes:")[2].splitlines():
        body = line.strip()
        first, colon, rest = body.partition(": ")
        begun = first.split(", ")  # `abs_tol, rel_tol: ...` says both
        if line.startswith("    ") and not line.startswith("     ") and colon and all(map(str.isidentifier, begun)):
            names = begun
            out.update(dict.fromkeys(names, rest))
        elif body:
            out.update({name: f"{out[name]}\n{body}" for name in names})
    return out


def _show(arguments: argparse.Namespace) -> int:
    from rewards.verdict import Reason

    cls = REGISTRY.get(arguments.name)
    low, high = cls.range
    print(f"{cls.name}  ({cls.__module__}.{cls.__qualname__}, version {cls.version})\n")
    print("\n".join(line.removeprefix("    ") for line in (cls.__doc__ or "").strip().splitlines()))
    print(
        f"\nrange  {low:g}..{high:g}\nscope  {cls.scope}\nneeds  {', '.join(cls.needs) or 'nothing but the completion'}"
    )
    if cls.source:
        print(f"source {cls.source}")
    print("\nparameters")
    documented = _attributes(cls.Params.__doc__)
    for name, info in cls.Params.model_fields.items():
        kind = getattr(info.annotation, "__name__", None) or str(info.annotation).replace("typing.", "")
        if "[" in str(info.annotation):
            kind = str(info.annotation).replace("typing.", "")
        default = "required" if info.is_required() else f"default {info.get_default(call_default_factory=True)!r}"
        print(f"  {name}: {kind}, {default}")
        for line in (info.description or documented.get(name, "")).splitlines():
            print(f"      {line.strip()}")
    if not cls.Params.model_fields:
        print("  none")
    print("\nreasons")
    for code, meaning in cls.reasons.items():
        print(f"  {code}: {meaning}")
    print(f"  and the shared ones: {', '.join(r.value for r in Reason)}")
    if cls.example:
        print("\nexample")
        for key, value in cls.example.items():
            print(f"  {key}: {value!r}")
    walls = getattr(cls, "walls", None)
    if callable(walls):
        print("\nwalls on this machine")
        for line in walls():
            print(f"  {line}")
    return OK


# ---------------------------------------------------------------- explain


def _explain_parser(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_explain)
    parser.add_argument("where", nargs="?", help="FILE:LINE of the row to explain")
    parser.add_argument("--completion", help="the completion itself, instead of FILE:LINE")
    parser.add_argument("--gold", help="its gold")
    parser.add_argument("--reward", default="math", metavar="EXPR", help="reward expression (default: math)")
    parser.add_argument("--map", nargs="+", default=[], metavar="NAME=FIELD")
    parser.add_argument("--config", metavar="FILE", help="TOML file with an [aliases] table")


def _explain(arguments: argparse.Namespace) -> int:
    from rewards.records import BadLine, InputError, detect_fields, read_rows
    from rewards.verdict import Sample

    reward = _reward(arguments.reward, _aliases(arguments.config))
    if arguments.completion is not None:
        samples = [Sample(id="given", completion=arguments.completion, gold=arguments.gold)]
    elif arguments.where:
        path, _, line = arguments.where.rpartition(":")
        if not path or not line.isdigit():
            raise UsageError(f"{arguments.where!r} is not FILE:LINE; for example completions.jsonl:12")
        try:
            row = next((r for r in read_rows(path) if r.where.rsplit(":", 1)[-1].strip("[]") == line), None)
            if row is None:
                raise UsageError(f"{path} has no row at line {line}")
            if isinstance(row, BadLine):
                raise UsageError(f"{row.where}: {row.problem}")
            samples = detect_fields(row.data, _pairs(arguments.map), needs=reward.needs).samples(row)
        except InputError as error:
            raise UsageError(str(error)) from None
    else:
        raise UsageError("give FILE:LINE, or --completion TEXT with --gold TEXT")
    for sample in samples:
        (result,) = reward.score([sample])
        shown = "unscored" if result.reward is None else f"{result.reward:g}"
        print(f"{sample.id}: reward {shown} ({result.status.value})   [{reward.text}]")
        for key, verdict in result.verdicts.items():
            score = "-" if verdict.score is None else f"{verdict.score:g}"
            print(f"  {key}: {verdict.status.value} {score}  {verdict.reason}  {verdict.detail}")
            if verdict.extracted is not None:
                print(f"    extracted: {verdict.extracted!r}")
            verifier = reward.components.get(key)
            explain = getattr(verifier, "explain", None)
            if callable(explain):
                for line in str(explain(sample)).splitlines():
                    print(f"    {line}")
    reward.close()
    return OK


# ---------------------------------------------------------------- check, check-gold, cards, sandbox


def _check(arguments: argparse.Namespace) -> int:
    from rewards.attacks import check, check_apart, written_here

    aliases = _aliases(arguments.config)
    reward = _reward(arguments.reward, aliases)
    samples = None
    if arguments.rows:
        from rewards.records import BadLine, InputError, detect_fields, read_rows

        samples = []
        fields = None
        try:
            for row in itertools.islice(read_rows(arguments.rows), 200):
                if isinstance(row, BadLine):
                    raise UsageError(f"{row.where}: {row.problem}")
                fields = fields or detect_fields(row.data, _pairs(arguments.map), needs=reward.needs)
                samples.extend(fields.samples(row))
        except InputError as error:
            raise UsageError(str(error)) from None
    try:
        # What somebody else wrote may hang, and then it is killed; ours is known to end.
        findings = (
            check(reward, samples) if written_here(reward) else check_apart(reward.text, samples, aliases=aliases)
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    finally:
        reward.close()
    if arguments.json:
        print(json.dumps([finding.as_row() for finding in findings], indent=2))
    else:
        for finding in findings:
            print(finding)
        print(
            f"{len(findings)} finding(s) in {reward.text}"
            if findings
            else f"{reward.text}: nothing paid that should not be"
        )
    return NOT_MET if findings else OK


def _check_gold(arguments: argparse.Namespace) -> int:
    from rewards.math_equivalence import check_gold
    from rewards.records import BadLine, InputError, detect_fields, read_rows, value_at

    total = unreadable = 0
    path = None
    try:
        for row in read_rows(arguments.file):
            total += 1
            if isinstance(row, BadLine):
                unreadable += 1
                print(f"{row.where}: {row.problem}")
                continue
            if path is None:
                mapping = _pairs(arguments.map)
                data = {"completion": "", **row.data}
                path = detect_fields(data, mapping, needs=frozenset({"gold"})).paths["gold"]
                print(f"gold={path}", file=sys.stderr)
            gold = value_at(row.data, path)
            found = check_gold(gold)
            if not found.readable:
                unreadable += 1
                print(f"{row.where}: {gold!r}: {found.problem}")
            elif arguments.all:
                print(f"{row.where}: {gold!r}: {found.type_name}: {found.reading}")
    except InputError as error:
        raise UsageError(str(error)) from None
    if not total:
        raise UsageError(f"{arguments.file} has no rows")
    print(f"{total - unreadable:,} of {total:,} golds readable", file=sys.stderr)
    return NOT_MET if unreadable else OK


def _cards(arguments: argparse.Namespace) -> int:
    # The cards stand above this package; a user's command may look up, library code may not.
    import importlib

    cards = importlib.import_module("datasets_cards")
    from rewards.report import _aligned

    rows = [("card", "reward", "hub id", "what it is")]
    for name in cards.names():
        card = cards.card(name)
        rows.append((name, card.reward, card.hub_id or "-", card.summary))
    print("\n".join(_aligned(rows)))
    return OK


def _sandbox(arguments: argparse.Namespace) -> int:
    if arguments.action == "check":
        from sandboxes.__main__ import main as check

        return check(["check", arguments.backend])
    from sandboxes import SandboxError
    from sandboxes.docker import build_image

    options = {k: v for k, v in (("tag", arguments.tag), ("dockerfile", arguments.dockerfile)) if v is not None}
    try:
        print(build_image(**options))
    except SandboxError as error:
        raise UsageError(str(error)) from None
    return OK


if __name__ == "__main__":
    sys.exit(main())
