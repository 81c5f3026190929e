"""A server that speaks the SandboxFusion protocol, backed by one of our own sandboxes, with faults on demand."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from sandboxes.contract import Exit, Limits, Program, Sandbox


class FusionServer:
    """`POST /run_code` for python programs.

    Attributes:
        url: where it listens.
        requests: bodies received, in order.
        faults: taken from the left, one per request: an HTTP status (503), "garbage", "hang", "drop" (the connection
            is closed without an answer), "sandbox_error", "no_status"; "" serves the request.
    """

    def __init__(self, backend: Sandbox) -> None:
        self.backend = backend
        self.requests: list[dict[str, Any]] = []
        self.faults: deque[int | str] = deque()
        self.hang_seconds = 3.0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append(json.loads(body))
                fault = outer.faults.popleft() if outer.faults else ""
                if fault == "drop":
                    self.connection.close()
                    return
                if fault == "hang":
                    time.sleep(outer.hang_seconds)
                ordered = {
                    "garbage": b"<html>gateway</html>",
                    "no_status": b"{}",
                    "sandbox_error": b'{"status": "SandboxError", "message": "no space left on device"}',
                }
                if isinstance(fault, int):
                    self.answer(fault, b'{"detail": "as ordered"}')
                elif fault in ordered:
                    self.answer(200, ordered[fault])
                else:
                    self.answer(200, json.dumps(outer.served(outer.requests[-1])).encode())

            def answer(self, code: int, body: bytes) -> None:
                try:
                    self.send_response(code)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    pass  # the client gave up waiting

            def log_message(self, *_: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def served(self, request: dict[str, Any]) -> dict[str, Any]:
        """What SandboxFusion would answer."""
        files = {name: base64.b64decode(text) for name, text in request["files"].items()}
        files["tmp_main.py"] = request["code"].encode("utf-8", "replace")
        program = Program(files, "tmp_main.py", stdin=request["stdin"].encode("utf-8", "replace"))
        wall = float(request["run_timeout"])
        memory = int(request["memory_limit_MB"]) * 1024 * 1024
        limits = Limits(cpu_seconds=wall, wall_seconds=wall, memory_bytes=memory, output_bytes=128 * 1024 * 1024)
        done = self.backend.run(program, limits)
        if done.exit is Exit.SANDBOX_ERROR:
            return {"status": "SandboxError", "message": done.detail}
        timed_out = done.exit in (Exit.CPU_LIMIT, Exit.WALL_LIMIT, Exit.OUTPUT_LIMIT)
        code = done.exit_code if done.exit_code is not None else -(done.signal or 9)
        run = {
            "status": "TimeLimitExceeded" if timed_out else "Finished",
            "execution_time": done.wall_seconds,
            "return_code": None if timed_out else code,
            "stdout": done.stdout.decode("utf-8", "replace"),
            "stderr": done.stderr.decode("utf-8", "replace"),
        }
        good = not timed_out and code == 0
        return {"status": "Success" if good else "Failed", "message": "", "compile_result": None, "run_result": run}

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@contextmanager
def fusion_server(backend: Sandbox) -> Iterator[FusionServer]:
    """A running server; the backend stays the caller's."""
    server = FusionServer(backend)
    try:
        yield server
    finally:
        server.close()
