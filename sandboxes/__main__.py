"""`python -m sandboxes check BACKEND`: which walls stand here, and does the backend hold?"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sandboxes import BACKENDS, SandboxError, get
from sandboxes.conformance import CATALOGUE, report


def main(arguments: list[str] | None = None) -> int:
    """Returns 0 when everything holds, 1 when something does not, 2 when the backend cannot start."""
    parser = argparse.ArgumentParser(prog="python -m sandboxes", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="run the contract's checks and the hostile catalogue on a backend")
    check.add_argument("backend", help=f"one of: {', '.join(BACKENDS)}")
    check.add_argument("--catalogue", action="append", type=Path, help="a catalogue folder (repeatable)")
    check.add_argument("--tier", help="local only: ask for this tier instead of the strongest")
    check.add_argument("--workers", type=int, default=1)
    check.add_argument("--url", help="remote only: address of the server")
    check.add_argument("--runtime", help="docker only: container runtime, such as runsc")
    given = parser.parse_args(arguments)
    options = {"workers": given.workers}
    for name in ("tier", "url", "runtime"):
        if getattr(given, name) is not None:
            options[name] = getattr(given, name)
    try:
        with get(given.backend, **options) as sandbox:
            faults = report(sandbox, given.catalogue or [CATALOGUE])
    except SandboxError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"\n{faults} faults" if faults else "\neverything holds")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
