"""Resolutions of the last day in the user's cache folder, so that the same question is not put to an index again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import msgspec
from platformdirs import user_cache_path

from devfix.decoding import decode_json
from devfix.environments.cpu_wheels import wheel_folders
from devfix.environments.declared.texts import read_text
from devfix.environments.explanation import LeftOut
from devfix.environments.indexes import uv_files
from devfix.environments.resolution import Resolution, Resolver
from devfix.process.tempdirs import remove

LONGEST = 24 * 3600.0  # seconds for which a resolution stands
_READ_BY_UV = ("pyproject.toml", "uv.toml", ".python-version")
# Where uv keeps files has no influence on what it finds.
_WITHOUT_MEANING = ("UV_CACHE_DIR", "UV_LINK_MODE", "UV_NO_PROGRESS", "UV_CONCURRENT_DOWNLOADS", "UV_HTTP_TIMEOUT")


@dataclass(frozen=True)
class StoredResolution:
    """A resolution, and what the resolver says of it; `resolved_at` is in seconds since the epoch."""

    resolved_at: float
    lines: tuple[str, ...]
    torch: str
    left_out: tuple[LeftOut, ...]
    dropped: tuple[str, ...]
    notes: tuple[str, ...]
    needs_build: bool

    @property
    def age(self) -> int:
        """Seconds since it was resolved."""
        return int(time.time() - self.resolved_at)

    def restore(self, resolver: Resolver) -> Resolution:
        """Return the resolution, and put the resolver into the state in which it was when it had found that."""
        resolver.torch, resolver.notes, resolver.needs_build = self.torch, list(self.notes), self.needs_build
        resolver.excluded = {each.name: each for each in self.left_out}
        return Resolution(self.lines, self.torch, self.left_out, self.dropped)


def resolution_key(resolver: Resolver) -> str:
    """Return a digest of all that a resolution depends on, but for what the indexes have."""
    asked = replace(resolver.request, refresh=False)
    facts = [
        *(version("devfix"), sys.platform, repr(resolver.declaration), repr(asked), repr(resolver.python)),
        *(str(resolver.python.path.resolve()), json.dumps([*resolver.index_lines, *resolver.uv.only_wheels])),
        *(json.dumps(sorted(resolver.excluded)), str(resolver.needs_build), *_program(Path(resolver.uv.program))),
        *(f"{name}={value}" for name, value in sorted(os.environ.items()) if _counts(name)),
        *(text for path in uv_files(os.environ) for text in (str(path), read_text(path))),
        *_texts_for_uv(resolver),
    ]
    for folder in wheel_folders(resolver.index_options):
        facts += [str(folder), *sorted(path.name for path in folder.iterdir())]
    return hashlib.sha256("\0".join(facts).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _counts(name: str) -> bool:
    return name.startswith("UV_") and name not in _WITHOUT_MEANING


def _program(path: Path) -> Iterator[str]:
    found = path.stat()
    yield from (str(path), str(found.st_size), str(found.st_mtime_ns))


def _texts_for_uv(resolver: Resolver) -> Iterator[str]:
    """Yield the files that uv reads itself: those that are given to it, and the settings of its folder."""
    settings = (place / name for place in (resolver.uv.folder, *resolver.uv.folder.parents) for name in _READ_BY_UV)
    for path in (*resolver.declaration.sources, *settings):
        if path.is_file():
            yield from (str(path), read_text(path))


def load_resolution(key: str) -> StoredResolution | None:
    """Return a resolution of the last day; None if there is none."""
    try:
        stored = decode_json(_path(key).read_bytes(), StoredResolution)
    except (OSError, msgspec.MsgspecError):
        return None
    return stored if 0 <= stored.age < LONGEST else None


def store_resolution(key: str, resolution: Resolution, resolver: Resolver) -> None:
    """Keep a resolution, unless it depends on other files, on code, or on an answer that failed to come."""
    if not resolver.is_lasting or resolver.declaration.is_computed:
        return
    if any("file:" in line or line.startswith("/") for line in resolution.lines):
        return
    stored = StoredResolution(
        *(time.time(), resolution.lines, resolution.torch, resolution.left_out, resolution.dropped),
        *(tuple(resolver.notes), resolver.needs_build),
    )
    path = _path(key)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_name(f"{key}.{secrets.token_hex(4)}")  # two threads may write the same
    new.write_bytes(msgspec.json.encode(stored))
    new.replace(path)
    _remove_old(path.parent)


def clear_resolutions() -> None:
    """Remove all of them."""
    remove(_path("").parent)


def _remove_old(folder: Path) -> None:
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > LONGEST:
                path.unlink()


def _path(key: str) -> Path:
    return Path(user_cache_path("devfix", appauthor=False)) / "resolutions" / f"{key}.json"
