"""A package index over HTTP, of wheels and source distributions that tests write."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import os
import re
import shutil
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement


class PackageIndex:
    """A folder of distributions, served as a simple index at `address`; `requests` has the paths in their order."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.address = folder, f"http://127.0.0.1:{port}/simple/"
        self.requests: list[str] = []

    def add(self, name: str, version: str = "1.0", *requires: str, modules: Mapping[str, str] | None = None) -> Path:
        """Write a wheel of pure Python: its modules, by their paths, and what it requires."""
        files = modules or {f"{name.replace('-', '_')}/__init__.py": f"version = {version!r}\n"}
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        metadata += "".join(f"Requires-Dist: {each}\n" for each in requires)
        return self._write(name, version, "py3-none-any", metadata, {k: v.encode() for k, v in files.items()})

    def add_source(self, name: str, version: str, files: Mapping[str, str]) -> Path:
        """Write a source distribution of these files."""
        top, path = f"{name}-{version}", self.folder / f"{name}-{version}.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            stated = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
            for inner, text in {"PKG-INFO": stated, **files}.items():
                member = tarfile.TarInfo(f"{top}/{inner}")
                member.size = len(text.encode())
                archive.addfile(member, io.BytesIO(text.encode()))
        return path

    def add_installed(self, name: str) -> None:
        """Write the wheel of a package that is installed beside the tests."""
        found = distribution(name)
        kept = {}
        for file in found.files or ():
            path = Path(str(found.locate_file(file)))
            if ".." not in file.parts and file.suffix != ".pyc" and file.name != "RECORD" and path.is_file():
                kept[file.as_posix()] = path
        tag = re.findall(r"^Tag: (.+)$", found.read_text("WHEEL") or "", re.MULTILINE)
        info = next(path.split("/")[0] for path in kept if ".dist-info/" in path)
        path = self.folder / f"{info.removesuffix('.dist-info')}-{tag[0] if tag else 'py3-none-any'}.whl"
        with zipfile.ZipFile(path, "w") as archive:  # not compressed: some have a gigabyte
            for inner, source in kept.items():
                archive.write(source, inner)
            archive.writestr(f"{info}/RECORD", "".join(f"{inner},,\n" for inner in [*kept, f"{info}/RECORD"]))

    def add_torch(self, *besides: str) -> str:
        """Write the wheels of torch as it is installed beside the tests, and of what it needs; return its release."""
        if "cpu" not in distribution("torch").version:
            pytest.skip("needs the CPU build of torch: that for CUDA has gigabytes, with its libraries")
        added, waiting = set(), ["torch", *besides]
        while waiting:
            name = waiting.pop()
            if name.lower() not in added:
                added.add(name.lower())
                self.add_installed(name)
                needed = map(Requirement, distribution(name).requires or ())
                waiting += [each.name for each in needed if each.marker is None or each.marker.evaluate({"extra": ""})]
        return distribution("torch").version

    def _write(self, name: str, version: str, tag: str, metadata: str, files: Mapping[str, bytes]) -> Path:
        stem = f"{name.replace('-', '_')}-{version}"
        info = f"{stem}.dist-info"
        wheel = f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n"
        contents = {**files, f"{info}/METADATA": metadata.encode(), f"{info}/WHEEL": wheel.encode()}
        rows = [f"{inner},{_digest(data)},{len(data)}" for inner, data in contents.items()]
        contents[f"{info}/RECORD"] = "".join(f"{row}\n" for row in [*rows, f"{info}/RECORD,,"]).encode()
        path = self.folder / f"{stem}-{tag}.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for inner, data in contents.items():
                archive.writestr(inner, data)
        return path

    def page(self, name: str) -> str | None:
        """Return the page of a project; None if the index has none of that name."""
        files = [path.name for path in sorted(self.folder.iterdir()) if _project(path.name) == name]
        links = (f'<a href="/files/{html.escape(file)}">{html.escape(file)}</a>' for file in files)
        return f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>" if files else None


@contextmanager
def package_index(folder: Path) -> Iterator[PackageIndex]:
    """Serve an index whose distributions lie in a new folder."""
    folder.mkdir(parents=True)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            index.requests.append(self.path)
            kind, _, rest = self.path.strip("/").partition("/")
            page = index.page(rest) if kind == "simple" else None
            if page is not None:
                self._send(200, "text/html", page.encode())
            elif kind == "files" and (folder / rest).is_file():
                self._send_file(folder / rest)
            else:
                self._send(404, "text/plain", b"")

        def _send(self, status: int, kind: str, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(data)

        def _send_file(self, path: Path) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/octet-stream")
            self.send_header("Content-Length", str(path.stat().st_size))
            self.end_headers()
            if self.command == "GET":
                with path.open("rb") as file:
                    shutil.copyfileobj(file, self.wfile, 1 << 20)

        def log_message(self, *_: object) -> None:
            """Keep the output of the tests clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    index = PackageIndex(folder, server.server_port)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield index
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        shutil.rmtree(folder)


def _digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _project(file: str) -> str:
    """Return the normalized name of the project of a file."""
    stem = file.removesuffix(".tar.gz") if file.endswith(".tar.gz") else file
    return re.sub(r"[-_.]+", "-", re.split(r"-(?=\d)", stem)[0]).lower()


@contextmanager
def sole_index(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    """Serve an index that uv asks alone, with caches and a configuration of its own below `folder`."""
    for name in list(os.environ):
        if name.startswith(("UV_", "PIP_")):
            patch.delenv(name)
    with package_index(folder / "index") as served:
        patch.setenv("UV_DEFAULT_INDEX", served.address)
        patch.setenv("UV_CACHE_DIR", str(folder / "uv"))
        patch.setenv("UV_HTTP_RETRIES", "0")
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        patch.setenv("NO_PROXY", "127.0.0.1")
        try:
            yield served
        finally:  # pytest keeps the folders of three sessions, and torch has a gigabyte
            shutil.rmtree(folder / "uv", ignore_errors=True)
            shutil.rmtree(folder / "cache", ignore_errors=True)
