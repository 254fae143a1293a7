"""Serve bare repositories over smart HTTP: git's own backend behind a small server that asks for a token."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path


def answer(handler: BaseHTTPRequestHandler, root: Path, tokens: Mapping[str, str], body: bytes) -> None:
    """Answer one request of git; `tokens` maps tokens to what they may do ("read" or "write")."""
    path, _, query = handler.path.partition("?")
    given = handler.headers.get("Authorization", "")
    token = ""
    if given.startswith("Basic "):
        token = base64.b64decode(given.removeprefix("Basic ")).decode().partition(":")[2]
    writes = "git-receive-pack" in handler.path
    may = tokens.get(token, "")
    if not may or (writes and may != "write"):
        handler.send_response(403 if may else 401)
        handler.send_header("WWW-Authenticate", 'Basic realm="git"')
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        return
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_PROJECT_ROOT": str(root),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "REQUEST_METHOD": handler.command,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "CONTENT_TYPE": handler.headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding", ""),
        "HTTP_GIT_PROTOCOL": handler.headers.get("Git-Protocol", ""),
        "REMOTE_USER": "ada",
        "REMOTE_ADDR": "127.0.0.1",
    }
    done = subprocess.run(["git", "http-backend"], env=environment, input=body, capture_output=True)
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    headers = [line.partition(": ") for line in head.decode().split("\r\n") if line]
    status = next((value for name, _, value in headers if name == "Status"), "200 OK")
    handler.send_response(int(status.split(" ")[0]))
    for name, _, value in headers:
        if name != "Status":
            handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


def read_body(handler: BaseHTTPRequestHandler) -> bytes:
    """Read a request's body, in chunks where git sends it so."""
    if handler.headers.get("Transfer-Encoding", "") != "chunked":
        return handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
    body = b""
    while size := int(handler.rfile.readline().strip() or b"0", 16):
        body += handler.rfile.read(size)
        handler.rfile.readline()
    handler.rfile.readline()
    return body
