"""GitHub's published contract, served by Prism: what it says of each request."""

from __future__ import annotations

import contextlib
import http.client
import json
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from waiting import until


@dataclass
class Contract:
    """Answers as GitHub would by its contract, from examples; it remembers nothing."""

    port: int

    def violations(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> list[str]:
        """Return what is wrong with a request by the contract."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        try:
            connection.request(method, path, body or None, _forwarded(headers))
            answer = connection.getresponse()
            told = json.loads(answer.headers.get("sl-violations") or "[]")
            answer.read()
        finally:
            connection.close()
        found = [json.dumps(each) for each in told if each["location"][:1] == ["request"]]
        return found + (
            [f"{method} {path}: {answer.status}"] if answer.status in (401, 404, 405, 406, 415, 500) else []
        )


def _forwarded(headers: Mapping[str, str]) -> dict[str, str]:
    # GitHub's documentation asks for application/vnd.github+json; its contract knows it as application/json alone.
    kept = {name: value for name, value in headers.items() if name.lower() not in ("host", "content-length", "accept")}
    return {**kept, "Accept": "application/json"}


class _Forwarder(BaseHTTPRequestHandler):
    """Hands requests on to Prism, as `_forwarded` has them."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    port: int

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request(self.command, self.path, body or None, _forwarded(dict(self.headers)))
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        wrong = [
            each for each in json.loads(answer.headers.get("sl-violations") or "[]") if each["location"][0] == "request"
        ]
        self.send_response(422 if wrong else answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_PATCH = do_PUT = do_GET

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextlib.contextmanager
def forwarded(contract: Contract) -> Iterator[str]:
    """Give an address at which GitHub's contract answers as GitHub does, whatever form is asked for."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Forwarder,), {"port": contract.port}))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def _answers(port: int) -> bool:
    """Whether something listens at the port."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


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
            until(lambda: server.poll() is not None or _answers(port), 0.1)
            if server.poll() is not None:
                log.seek(0)
                raise RuntimeError(f"Prism did not start: {log.read().decode()[-2000:]}")
            yield Contract(port)
        finally:
            server.terminate()
