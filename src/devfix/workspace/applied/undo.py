"""Take back what was last written to a working tree."""

from __future__ import annotations

from devfix.errors import UserError
from devfix.workspace.applied.apply import read_file, remove_folders, restore
from devfix.workspace.applied.journal import AppliedRecord, last
from devfix.workspace.repository import Repository


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
