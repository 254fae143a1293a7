"""Read and validate the artifact of a repair, which the program under repair may have written."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from devfix.errors import UserError
from devfix.publish.proposals.allowed_files import explain_forbidden, tests_of
from devfix.report.diff import Hunk, parse
from devfix.report.plain import one_line
from devfix.report.render.machine_readable.json import read
from devfix.report.types import FixRecord, ReportRecord

REPORT = "report.json"
_BESIDE = re.compile(r"report\.json|summary\.md|report\.sarif|patches(?:/\d{4}-[\w.-]{1,100}\.patch)?")
_REPORT_SIZE = 4_000_000  # bytes; a report with ten failures has some 100,000
_FOLDER_SIZE = 20_000_000
_ENTRIES = 200
_FIXES, _EDITS, _LINES = 50, 20, 500  # limits: fixes per report, edits per fix, changed lines per edit


@dataclass(frozen=True)
class Artifact:
    """A validated report: its record, and the hunks of each fix by path, in the order of the fixes.

    `tests` has the regression test of each fix: its path, its text, and the fix with which it passes.
    """

    data: ReportRecord
    changes: tuple[Mapping[str, tuple[Hunk, ...]], ...]
    tests: tuple[tuple[str, bytes, int] | None, ...] = ()

    @property
    def commit(self) -> str:
        """The commit that was repaired."""
        return self.data.commit


def open_artifact(path: Path, commit: str | None = None) -> Artifact:
    """Read a report, or the folder of `devfix repair --output`; raise UserError with the reason if it is invalid.

    If `commit` is given, the report must be about that commit.
    """
    data = read(text_of(path))
    if commit is not None and data.commit != commit:
        raise UserError(f"{path}: is about the commit {data.commit or '(none)'}, not {commit}; run devfix repair there")
    if data.fixes and not data.commit:
        raise UserError(f"{path}: has fixes but no commit")
    if len(data.fixes) > _FIXES or len(data.failures) > _FIXES:
        raise UserError(f"{path}: more than {_FIXES} failures or fixes, not a report of devfix")
    for index, fix in enumerate(data.fixes):
        if fix.failure >= len(data.failures):
            raise UserError(f"{path}: fix {index + 1} refers to a failure that does not exist")
    changes = tuple(dict(_changes(path, number, fix)) for number, fix in enumerate(data.fixes, 1))
    return Artifact(data, changes, tuple(tests_of(path, data.fixes)))


def text_of(path: Path) -> str:
    """Return the text of the report; links, special files and files that are too large are not read."""
    if _mode(path) is None:
        raise UserError(f"{path}: no such file")
    if stat.S_ISDIR(_mode(path) or 0):
        _check_folder(path)
        path = path / REPORT
    if not stat.S_ISREG(_mode(path) or 0):
        raise UserError(f"{path}: not a regular file; create a report with `devfix repair --format json`")
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        data = file.read(_REPORT_SIZE + 1)
    if len(data) > _REPORT_SIZE:
        raise UserError(f"{path}: larger than {_REPORT_SIZE // 1_000_000} MB, not a report of devfix")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8, not a report of devfix") from None


def _check_folder(folder: Path) -> None:
    size = 0
    for count, (name, mode, length) in enumerate(_list_members(folder)):
        size += length
        if not (stat.S_ISREG(mode) or (stat.S_ISDIR(mode) and name == "patches")):
            raise UserError(f"{folder}: {one_line(name)} is not a regular file; the artifact is rejected")
        if not _BESIDE.fullmatch(name):
            raise UserError(f"{folder}: {one_line(name)} is not part of an artifact; the artifact is rejected")
        if count >= _ENTRIES or size > _FOLDER_SIZE:
            raise UserError(f"{folder}: more files or bytes than a repair writes; the artifact is rejected")


def _list_members(folder: Path) -> Iterator[tuple[str, int, int]]:
    for inner, folders, files in os.walk(folder):
        for name in (*folders, *files):
            found = (Path(inner) / name).lstat()
            yield (Path(inner) / name).relative_to(folder).as_posix(), found.st_mode, found.st_size


def _changes(path: Path, number: int, fix: FixRecord) -> Iterator[tuple[str, tuple[Hunk, ...]]]:
    if not 0 < len(fix.edits) <= _EDITS:
        raise UserError(f"{path}: fix {number} has {len(fix.edits)} edits; a fix has 1 to {_EDITS}")
    seen = set()
    for edit in fix.edits:
        name = edit.path
        if (why := explain_forbidden(name)) or name in seen:
            raise UserError(f"{path}: fix {number} changes {one_line(name, 100)!r}: {why or 'twice'}")
        seen.add(name)
        try:
            hunks = tuple(parse(edit.diff, name))
        except ValueError as error:
            raise UserError(f"{path}: fix {number}, the diff of {name}: {error}") from None
        if sum(mark != " " for hunk in hunks for mark, _ in hunk.lines) > _LINES:
            raise UserError(f"{path}: fix {number} changes more than {_LINES} lines of {name}, not a fix of devfix")
        yield name, hunks


def _mode(path: Path) -> int | None:
    try:
        return path.lstat().st_mode
    except OSError:
        return None
