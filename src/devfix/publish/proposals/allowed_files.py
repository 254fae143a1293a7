"""The files that a fix may change, and the regression tests that it may add: small new files as devfix writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from devfix.errors import UserError
from devfix.notebooks.notebook import named_cell
from devfix.publish.proposals.changed_text import objection
from devfix.report.plain import one_line
from devfix.report.types import FixRecord


def explain_forbidden(path: str) -> str:
    """Return why a fix may not change the file at this path of a repository; "" if it may."""
    cell = named_cell(path)
    if cell is not None:  # a cell of a notebook, which holds Python
        path = cell[0].removesuffix(".ipynb") + ".py"
    parts = path.split("/")
    if not path.isprintable() or "\\" in path or ":" in path or len(path) > 1000:
        return "not a safe path"
    if path.startswith("/") or any(part in ("", ".", "..") for part in parts):
        return "not inside the repository"
    # Some file systems take `.GITHUB`, `.git.` and `GIT~1` for the same names.
    if any(part.lower().startswith((".git", "git~")) for part in parts):
        return "files below .git or .github, or read by git, are never changed"
    if not path.endswith((".py", ".pyi", ".pyw")):
        return "only Python files are changed"
    return ""


_NAME = re.compile(r"test_devices_\w{1,100}\.py|devices_\w{1,100}_test\.py", re.ASCII)
_LINES, _SIZE = 60, 8_000  # devfix writes no more than 40 lines


def tests_of(report: Path, fixes: Sequence[FixRecord]) -> Iterator[tuple[str, bytes, int] | None]:
    """Yield the test of each fix: the path, the text, and the fix with which it passes; None if it has no test."""
    taken = {edit.path for fix in fixes for edit in fix.edits}
    for number, fix in enumerate(fixes):
        test = fix.regression_test
        if test is None:
            yield None
            continue
        path, text = test.path, test.text.encode("utf-8", "surrogateescape")
        why = explain_forbidden(path) or (
            "" if _NAME.fullmatch(PurePosixPath(path).name) else "not a file name of devfix"
        )
        if why or path in taken:
            raise UserError(f"{report}: the test of fix {number + 1}, {one_line(path, 100)!r}: {why or 'twice'}")
        if len(text) > _SIZE or text.count(b"\n") > _LINES or not number <= test.passes_after_fix < len(fixes):
            raise UserError(f"{report}: the test of fix {number + 1} was not written by devfix")
        if why := objection(b"", text):
            raise UserError(f"{report}: the test of fix {number + 1} is not published: {why}")
        taken.add(path)
        yield path, text, test.passes_after_fix
