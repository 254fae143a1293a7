"""GitHub's published contract, served by Prism: what it says of each request."""

from __future__ import annotations

import contextlib
import http.client
import json
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Contract:
    """Answers as GitHub would by its contract, from examples; it remembers nothing."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def violations(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> list[str]:
        """Return what is wrong with a request by the contract."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            kept = {name: value for name, value in headers.items() if name.lower() not in ("host", "content-length")}
            connection.request(method, path, body or None, kept)
            answer = connection.getresponse()
            told = json.loads(answer.headers.get("sl-violations") or "[]")
            answer.read()
        finally:
            connection.close()
        found = [json.dumps(each) for each in told if each["location"][:1] == ["request"]]
        return found + ([f"{method} {path}: {answer.status}"] if answer.status in (401, 404, 405, 415, 500) else [])


@contextlib.contextmanager
def served(modules: Path) -> Iterator[Contract]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    node = shutil.which("node")
    assert node is not None
    prism = modules / "@stoplight" / "prism-cli" / "dist" / "index.js"
    command = [
        node,
        str(prism),
        "mock",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        str(modules.parent / "contract.json"),
    ]
    with tempfile.TemporaryFile() as log, subprocess.Popen(command, stdout=log, stderr=log) as server:
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and server.poll() is None:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                time.sleep(0.1)
            else:
                log.seek(0)
                raise RuntimeError(f"Prism did not start: {log.read().decode()[-2000:]}")
            yield Contract(port)
        finally:
            server.terminate()
