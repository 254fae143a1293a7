"""Ask in the terminal what to do with verified fixes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from devfix.errors import UserError
from devfix.model import Edit, Report, Taking
from devfix.report.plain import one_line

if TYPE_CHECKING:
    from devfix.cli.output.screen import ShownProgress
    from devfix.pipeline.open_repair import OpenRepair

QUESTION = "[a]pply to working tree, [b]ranch, [e]dit, [n]ext candidate, [q]uit (b): "
_TAKEN = {"a": Taking.APPLY, "b": Taking.BRANCH, "\r": Taking.BRANCH, "\n": Taking.BRANCH, "q": Taking.NONE}
_END = ("", "\x04")  # the end of the input


class Question:
    """Shows the report and the diff, and asks until the fixes are taken or left."""

    def __init__(self, progress: ShownProgress, verbose: bool) -> None:
        """Pause this progress while something is shown; `verbose` as for the report."""
        self._progress, self._verbose = progress, verbose
        self.was_asked = False

    def decide(self, opened: OpenRepair) -> Report:
        """Return the report after the user's decision."""
        self.was_asked = True
        with self._progress.pause():
            self._show(opened.report)
            while True:
                try:
                    if (report := self._handle_key(opened, self._key())) is not None:
                        return report
                except UserError as error:  # nothing was changed: another answer may do
                    sys.stdout.write(f"devfix: {one_line(str(error), 2000)}\n")

    def _handle_key(self, opened: OpenRepair, key: str) -> Report | None:
        """Return the report if a key ends the question; None if it is asked again."""
        if key in _END:
            return opened.take(Taking.NONE)
        if key in _TAKEN:
            return opened.take(_TAKEN[key])
        if key == "n":
            failure = _failure(opened)
            with self._progress.resume():
                opened.next_candidate(failure)
            self._show(opened.report)
        elif key == "e":
            self._edit(opened)
            self._show(opened.report)
        return None

    def _show(self, report: Report) -> None:
        from devfix.cli.output.listing import lines_of
        from devfix.cli.output.screen import size_and_color
        from devfix.report.record import record
        from devfix.report.render.terminal.text import diff_text, text

        width, color = size_and_color()
        sys.stdout.write(text(record(report, lines_of(report)), color, width, self._verbose, undecided=True))
        sys.stdout.write("\n" + diff_text(_whole_diff(report), color) + "\n")
        sys.stdout.flush()

    def _key(self) -> str:
        """Ask, and return the key that was pressed; Ctrl-C interrupts devfix as it does elsewhere."""
        sys.stdout.write(QUESTION)
        sys.stdout.flush()
        try:
            key = typer.getchar()
        except EOFError:
            key = ""
        sys.stdout.write((key if key.isprintable() else "") + "\n")
        return key if key in ("\r", "\n") else key.strip(" ").lower()

    def _edit(self, opened: OpenRepair) -> None:
        from devfix.cli.repairing.editor import edit_copies

        failure = _failure(opened)
        changed = edit_copies({edit.path: edit.after for edit in opened.fix(failure).patch.edits})
        with self._progress.resume():
            opened.edit(failure, changed)


def _failure(opened: OpenRepair) -> int:
    """Return the failure whose fix is to be replaced: the only one with a fix, or the one that the user names."""
    fixed = [number for number, repair in enumerate(opened.report.repairs, 1) if repair.fix]
    if len(fixed) == 1:
        return fixed[0]
    said = _line(f"Of which failure ({', '.join(map(str, fixed))})? ").strip()
    if said not in map(str, fixed):
        raise UserError(f"{said or 'nothing'!r} is not one of the failures with a fix")
    return int(said)


def _line(question: str) -> str:
    try:
        return input(question)
    except EOFError:
        return ""


def _whole_diff(report: Report) -> str:
    """Return the diff of all fixes and of the new tests."""
    from devfix.report.diff import format_diff

    tests = [repair.regression_test for repair in report.repairs if repair.fix and repair.regression_test]
    return report.diff + "".join(format_diff(Edit(test.path, 1, b"", test.text.encode())) for test in tests)
