"""The source lines that a report quotes."""

from __future__ import annotations

import linecache
from functools import cache
from pathlib import Path

from devfix.errors import DevfixError
from devfix.model import Report
from devfix.notebooks.magics import unmask_line
from devfix.notebooks.notebook import Notebook, is_notebook
from devfix.notebooks.reading import NotebookError
from devfix.report.source_lines import Lines, line_of, no_lines
from devfix.workspace import Repository

_LONGEST = 10_000_000  # bytes of the largest file that is read for one line


def lines_of(report: Report) -> Lines:
    """Return the lines of the repository's files at the report's commit, and of other files as they are now."""
    if not report.root:
        return no_lines
    try:
        repository = Repository.open(Path(report.root))
    except DevfixError:
        return no_lines

    @cache
    def content(path: str) -> bytes:
        try:
            return repository.content(path)
        except (DevfixError, OSError):
            return b""

    def lines(path: str, line: int) -> str:
        if not Path(path).is_absolute():
            return line_of(content(path), line) if repository.commit == report.commit else ""
        return _installed_line(Path(path), line)

    return lines


def lines_here(folder: Path) -> Lines:
    """Return the lines of the files as they are now, in the repository around `folder` and elsewhere."""
    root = root_of(folder)
    return lambda path, line: _installed_line(root / path, line)


def root_of(folder: Path) -> Path:
    """Return the root of the repository around a folder; the folder itself if there is none."""
    try:
        return Repository.open(folder).root
    except DevfixError:
        return folder


def _installed_line(path: Path, line: int) -> str:
    """Return a line of an installed file. The path comes from the program, so only Python files are opened."""
    try:
        if path.suffix not in (".py", ".ipynb") or not path.is_file() or path.stat().st_size > _LONGEST:
            return ""
        if is_notebook(path.name):
            return unmask_line(line_of(Notebook(path.read_bytes()).script, line))
    except (OSError, NotebookError):
        return ""
    return linecache.getline(str(path), line).rstrip("\r\n")
