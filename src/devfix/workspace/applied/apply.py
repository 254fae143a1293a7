"""Write changed files to the user's working tree, all or none, without touching an uncommitted line."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path

from devfix.errors import UserError
from devfix.workspace.applied.journal import AppliedFile, AppliedRecord, digest, save
from devfix.workspace.applied.merge import merge
from devfix.workspace.notebooks import on_disk
from devfix.workspace.repository import Repository


class CannotApplyError(UserError):
    """The changes cannot be written without losing something; nothing was written."""


def apply_changes(repository: Repository, files: Mapping[str, bytes], command: str) -> tuple[str, ...]:
    """Write the new contents of files (relative paths), which were made from the commit; return the changed paths.

    Uncommitted changes in other lines are kept. Raises CannotApplyError, before anything is written, where a file is
    not as git left it in the lines of a change, or cannot be written. The index is not changed.
    """
    files = on_disk(files, repository.blob)
    merged = {path: _merged(repository, path, after) for path, after in files.items()}
    present = {path: read_file(repository.root, path) for path in files}
    changed = {path: content for path, content in merged.items() if content != present[path]}
    folders = tuple(_missing_folders(repository.root, changed))
    record = AppliedRecord(
        command=command,
        commit=repository.commit,
        time=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        files=tuple(AppliedFile(path, present[path], digest(content)) for path, content in changed.items()),
        folders=folders,
    )
    if not changed:
        return ()
    try:
        saved = save(repository, record)
    except OSError as error:
        raise CannotApplyError(f"cannot record what is applied: {error.strerror}; take the fix as a branch") from error
    try:
        for path, content in changed.items():
            write_file(repository.root / path, content)
    except BaseException as error:
        for path in changed:
            restore(repository.root / path, present[path])
        remove_folders(repository.root, folders)
        saved.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise CannotApplyError(f"{path}: {error.strerror}; nothing is applied") from error
        raise
    return tuple(changed)


def read_file(root: Path, path: str) -> bytes | None:
    """Return the contents of a regular file of the working tree, None if there is none; UserError for anything else."""
    file = root / path
    if Path(os.path.realpath(file.parent)) != Path(os.path.realpath(root), path).parent:
        raise CannotApplyError(f"{path}: is behind a symbolic link; take the fix as a branch")
    try:
        mode = file.lstat().st_mode
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CannotApplyError(f"{path}: {error.strerror}") from error
    if not stat.S_ISREG(mode):
        raise CannotApplyError(f"{path}: is not a regular file in the working tree; take the fix as a branch")
    try:
        return file.read_bytes()
    except OSError as error:
        raise CannotApplyError(f"{path}: {error.strerror}") from error


def write_file(file: Path, content: bytes) -> None:
    """Replace the contents of a file in one step, or create it; its permissions are kept."""
    file.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(file.stat().st_mode) if file.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            os.fchmod(stream.fileno(), mode)
        os.replace(name, file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def restore(file: Path, content: bytes | None) -> None:
    """Write former contents; None stands for a file that did not exist."""
    if content is None:
        file.unlink(missing_ok=True)
    elif not file.exists() or file.read_bytes() != content:
        write_file(file, content)


def remove_folders(root: Path, folders: tuple[str, ...]) -> None:
    """Remove folders (innermost first) that are empty."""
    for folder in folders:
        with contextlib.suppress(OSError):
            (root / folder).rmdir()


def _merged(repository: Repository, path: str, after: bytes) -> bytes:
    present = read_file(repository.root, path)
    if path not in repository.entries:
        if present not in (None, after):
            raise CannotApplyError(f"{path}: would be overwritten, and is not in the commit; rename it")
        return after
    if present is None:
        raise CannotApplyError(f"{path}: is deleted in the working tree; restore it: git checkout -- {path}")
    merged = merge(repository.git, repository.blob(path), present, after)
    if merged is None and present != after:
        raise CannotApplyError(f"{path}: has uncommitted changes in the lines of the fix; commit or stash them first")
    return after if merged is None else merged


def _missing_folders(root: Path, paths: Mapping[str, bytes]) -> Iterator[str]:
    """Yield the folders that do not exist yet, innermost first."""
    missing = {
        folder.as_posix() for path in paths for folder in Path(path).parents if not os.path.lexists(root / folder)
    }
    yield from sorted(missing, key=lambda name: -name.count("/"))


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
