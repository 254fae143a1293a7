"""The record of what was written to a working tree, kept in its git folder until it is undone."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from devfix.decoding import decode_json
from devfix.errors import UserError
from devfix.workspace.repository import Repository

KEPT = 20  # records; older ones are removed
_FOLDER = "devfix"


@dataclass(frozen=True)
class AppliedFile:
    """A file before and after; `before` is None for a new file, and `after` a digest of its contents."""

    path: str
    before: bytes | None
    after: str

    def has_changed(self, content: bytes | None) -> bool:
        """Return whether a file with these contents (None: there is no file) is in neither of the two states."""
        return content != self.before and (content is None or digest(content) != self.after)


@dataclass(frozen=True)
class AppliedRecord:
    """One application of fixes: the files, the new folders, and the command that was repaired."""

    command: str
    commit: str
    time: str
    files: tuple[AppliedFile, ...]
    folders: tuple[str, ...] = ()
    schema: Literal["devfix-applied/1"] = "devfix-applied/1"


def digest(content: bytes) -> str:
    """Return what identifies the contents of a file."""
    return hashlib.sha256(content).hexdigest()


def save(repository: Repository, record: AppliedRecord) -> Path:
    """Write the record as the last one, and remove those that are too old; return its file."""
    folder = _folder(repository)
    folder.mkdir(exist_ok=True)
    known = _records(repository)
    number = int(known[-1].stem) + 1 if known else 1
    file = folder / f"{number:06}.json"
    unfinished = file.with_suffix(".new")
    unfinished.write_bytes(msgspec.json.encode(record))
    os.replace(unfinished, file)
    for old in known[: max(0, len(known) + 1 - KEPT)]:
        old.unlink(missing_ok=True)
    return file


def last(repository: Repository) -> tuple[Path, AppliedRecord] | None:
    """Return the last record and its file; None if nothing is recorded. UserError if it cannot be read."""
    known: Sequence[Path] = _records(repository)
    if not known:
        return None
    try:
        return known[-1], decode_json(known[-1].read_bytes(), AppliedRecord)
    except (OSError, msgspec.DecodeError) as error:
        raise UserError(f"{known[-1]}: cannot be read ({error}); remove it, and restore the files by hand") from error


def _records(repository: Repository) -> list[Path]:
    return sorted(path for path in _folder(repository).glob("*.json") if path.stem.isdigit())


def _folder(repository: Repository) -> Path:
    return Path(repository.root, repository.git.text("rev-parse", "--git-path", _FOLDER))
