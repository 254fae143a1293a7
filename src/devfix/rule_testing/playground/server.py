"""Serve the page to this machine alone: on the loopback address, at an address that has a token."""

from __future__ import annotations

import hmac
import secrets
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import cast

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined

from devfix.decoding import decode_json
from devfix.errors import UserError
from devfix.rule_testing.checking.runner import Bench
from devfix.rule_testing.playground.answer import Answer, Submission, run_case

HOST = "127.0.0.1"
LARGEST = 1_000_000  # bytes of a request


class Playground(ThreadingHTTPServer):
    """The server of one page. It runs what it is sent, so that nobody gets anywhere without its token."""

    daemon_threads = True

    def __init__(self, start: Submission, bench: Bench, folder: Path, port: int = 0) -> None:
        """Listen at a port of the loopback address, or at a free one."""
        super().__init__((HOST, port), _Handler)
        self.start, self.bench, self.folder = start, bench, folder
        self.token = secrets.token_urlsafe(24)
        self._running = threading.Lock()

    @property
    def origin(self) -> str:
        """The scheme and address under which the page is served."""
        return f"http://{HOST}:{self.server_port}"

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"{self.origin}/{self.token}/"

    def answer(self, submission: Submission) -> Answer:
        """Run what is on the page, one submission after the other."""
        with self._running:
            try:
                return run_case(submission, self.bench, self.folder)
            except (OSError, UserError) as error:
                return Answer(f"cannot be run: {error}")


@contextmanager
def playground(start: Submission, python: Path, port: int = 0) -> Iterator[Playground]:
    """Serve the page, with a program and a rule to begin with, until the block ends."""
    with Bench(python) as bench, tempfile.TemporaryDirectory(prefix="devfix-playground-") as folder:
        server = Playground(start, bench, Path(folder), port)
        thread = threading.Thread(target=server.serve_forever, name="devfix-playground", daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "devfix", ""

    @property
    def _playground(self) -> Playground:
        return cast(Playground, self.server)

    def do_GET(self) -> None:
        """Send the page."""
        if not self._is_allowed(""):
            return
        nonce = secrets.token_urlsafe(16)
        start = msgspec.json.encode(self._playground.start).decode().replace("<", "\\u003c")
        page = _page(nonce=nonce, start=start).encode()
        policy = (
            f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; "
            "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        self._send(HTTPStatus.OK, "text/html; charset=utf-8", page, policy)

    def do_POST(self) -> None:
        """Run what is on the page, and send what it shows."""
        if not self._is_allowed("run"):
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LARGEST:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        try:
            submission: Submission | None = decode_json(self.rfile.read(int(length)), Submission)
        except msgspec.DecodeError:
            submission = None
        if submission is None or submission.files.keys() != self._playground.start.files.keys():
            self._refuse(HTTPStatus.BAD_REQUEST)
            return
        self._send(HTTPStatus.OK, "application/json", msgspec.json.encode(self._playground.answer(submission)))

    def _is_allowed(self, name: str) -> bool:
        """Return whether a request has the token, and comes from the page; refuse it otherwise."""
        # A page elsewhere knows no token; a name that leads to this machine is refused all the same.
        is_here = self.headers.get("Host") == self._playground.origin.removeprefix("http://")
        origin = self.headers.get("Origin") or self._playground.origin
        wanted = f"/{self._playground.token}/{name}"
        if is_here and origin == self._playground.origin and hmac.compare_digest(self.path.encode(), wanted.encode()):
            return True
        self._refuse(HTTPStatus.NOT_FOUND)
        return False

    def _refuse(self, status: HTTPStatus) -> None:
        self.close_connection = True
        self._send(status, "text/plain; charset=utf-8", f"{status.phrase}\n".encode())

    def _send(self, status: HTTPStatus, kind: str, body: bytes, policy: str = "default-src 'none'") -> None:
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": policy,
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: the address has the token."""


def _page(**values: str) -> str:
    environment = Environment(loader=PackageLoader("devfix.rule_testing"), undefined=StrictUndefined)
    return environment.get_template("playground.html.jinja").render(**values)
