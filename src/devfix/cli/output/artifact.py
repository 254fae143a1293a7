"""The folder that `devfix repair --output` writes: a report to publish from another machine, or to read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from devfix.errors import UserError

if TYPE_CHECKING:
    from devfix.report.types import ReportRecord

FolderOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        metavar="FOLDER",
        help="Write report.json, summary.md and patches/ (for `git am`; after a dry run, `git apply`) to a new folder.",
    ),
]


def check_folder(folder: Path | None) -> None:
    """Raise UserError if the folder exists and is not empty; called before anything is run."""
    if folder is None:
        return
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UserError(f"--output {folder}: exists and is not a folder; choose another")
    if folder.is_dir() and any(folder.iterdir()):
        raise UserError(f"--output {folder}: not empty; choose another, or remove it")


def write_artifact(folder: Path, data: ReportRecord, root: Path) -> None:
    """Write the report, its summary and a patch for each commit; raise UserError if that fails."""
    from devfix.report.render.machine_readable.json import dump
    from devfix.report.render.pull_request.summary import summary
    from devfix.workspace import Repository

    check_folder(folder)
    try:
        (folder / "patches").mkdir(parents=True)
        (folder / "report.json").write_text(dump(data), encoding="utf-8")
        (folder / "summary.md").write_text(summary(data), encoding="utf-8")
        patches = Repository.open(root).patches(data.commits) if data.commits else _diffs(data)
        for name, content in patches:
            (folder / "patches" / name).write_bytes(content)
    except OSError as error:
        raise UserError(f"--output {folder}: {os.strerror(error.errno or 0)}") from error


def _diffs(data: ReportRecord) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the diff of each fix without a commit."""
    for number, fix in enumerate(data.fixes, 1):
        diff = "".join(edit.diff for edit in fix.edits)
        yield (
            f"{number:04}-{re.sub('[^a-z0-9-]', '-', fix.rule)[:100]}.patch",
            diff.encode("utf-8", "surrogateescape"),
        )
