"""Functions that run inside worker processes in tests/test_workers.py."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import Any


def double(payload: Any) -> Any:
    """Twice the number."""
    return payload * 2


def misbehave(payload: Any) -> Any:
    """Do what the payload names; anything else is echoed."""
    match payload:
        case "hang":
            return 9 ** (9**9)  # inside one C call: no signal handler and no thread runs
        case "sleep":
            time.sleep(600)
        case "block_signals":
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            time.sleep(600)
        case "child_then_hang":
            subprocess.Popen(["sleep", "600"])
            time.sleep(600)
        case "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "exit":
            os._exit(0)
        case "memory":
            return len(bytearray(8 * 1024**3))
        case "raise":
            raise KeyError("no such thing")
        case "not_json":
            return object()
        case "print":
            print("noise on stdout")
            return "printed"
        case "pid":
            return os.getpid()
    return payload


def slow_echo(payload: Any) -> Any:
    """Echo after some milliseconds."""
    time.sleep(0.02)
    return payload
