"""Write changed files to the user's working tree, without touching an uncommitted line, and take them back."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path

from devfix.errors import UserError
from devfix.process.tempdirs import scratch_folder
from devfix.workspace.applied.journal import AppliedFile, AppliedRecord, digest, last, save
from devfix.workspace.git.command import Git, GitError
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
    merged = {path: _merge(repository, path, after) for path, after in files.items()}
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


def _merge(repository: Repository, path: str, after: bytes) -> bytes:
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


def merge(git: Git, committed: bytes, present: bytes, changed: bytes) -> bytes | None:
    """Return `present` with the change from `committed` to `changed`; None if both changed the same lines.

    Git may have checked the file out with other line ends than the commit has; the result has those of `present`.
    """
    if present == committed:
        return changed
    if _with_carriage_returns(committed) == present:
        return _with_carriage_returns(changed)
    if b"\r" not in committed and b"\r\n" in present and present.count(b"\n") == present.count(b"\r\n"):
        committed, changed = _with_carriage_returns(committed), _with_carriage_returns(changed)
    with scratch_folder() as folder:
        names = []
        for name, content in (("present", present), ("committed", committed), ("changed", changed)):
            Path(folder, name).write_bytes(content)
            names.append(str(folder / name))
        try:
            return git.call("merge-file", "--stdout", "--quiet", *names)
        except GitError:  # its exit code is the number of conflicts
            return None


def _with_carriage_returns(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def undo_last(repository: Repository) -> AppliedRecord:
    """Restore the files as they were before the last application, and return its record.

    Raises UserError, before anything is written, if nothing was applied, or if a file has changed since.
    """
    found = last(repository)
    if found is None:
        raise UserError(f"{repository.root}: nothing to undo; devfix repair --apply applies fixes to the working tree")
    file, record = found
    changed = [each.path for each in record.files if each.has_changed(read_file(repository.root, each.path))]
    if changed:
        names = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")
        raise UserError(
            f"{names}: changed since the fixes were applied, so nothing is undone; undo your changes first, "
            f"or edit by hand (the contents before the fixes are in {file})"
        )
    for each in record.files:
        try:
            restore(repository.root / each.path, each.before)
        except OSError as error:
            raise UserError(f"{each.path}: {error.strerror}; correct that, and repeat devfix undo") from error
    remove_folders(repository.root, record.folders)
    file.unlink(missing_ok=True)
    return record
