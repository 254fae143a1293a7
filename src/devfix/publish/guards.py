"""Validate the regression tests of a report: each must be a small new file as devfix writes it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from devfix.errors import UserError
from devfix.publish.changed_text import objection
from devfix.publish.paths import explain_forbidden
from devfix.report.plain import one_line
from devfix.report.types import FixRecord

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
