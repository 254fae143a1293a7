"""A report as workflow commands: lines on standard output that a GitHub runner shows as annotations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from devfix.notebooks.notebook import named_cell
from devfix.report.failure_types import FailureRecord, PlaceRecord
from devfix.report.plain import one_line, plain
from devfix.report.render.terminal.headline import headline
from devfix.report.types import FixRecord, ReportRecord


def workflow_commands(data: ReportRecord) -> str:
    """Return one command per line: an error for each failure, at its place; a notice if there is none."""
    return "".join(line + "\n" for line in _lines(data))


def _lines(data: ReportRecord) -> Iterator[str]:
    for index, failure in enumerate(data.failures):
        fixes = [fix for fix in data.fixes if fix.failure == index]
        at = failure.at
        owned = at if at and at.owned and not at.path.startswith("/") else None
        place = _place(owned) if owned else {}
        foreign = _foreign(data) if index + 1 == len(data.failures) else ()
        words = "\n".join((*_words(failure, fixes), *foreign))
        yield command("error", words, {**place, "title": _title(failure, fixes)})
    if not data.failures:
        kind = "notice" if data.outcome == "clean" else "error"
        yield command(kind, one_line(headline(data).plain, 1000), {"title": "devfix"})


def _place(at: PlaceRecord) -> dict[str, str]:
    """Return the place of an annotation; lines of a notebook's cell are none of its file."""
    if (cell := named_cell(at.path)) is not None:
        return {"file": cell[0]}
    return {"file": at.path, "line": str(max(at.line, 1))}


def _title(failure: FailureRecord, fixes: list[FixRecord]) -> str:
    found = failure.findings[0].title if failure.findings else ""
    return f"devfix: {fixes[0].rule if fixes else found or failure.exception}"


def _words(failure: FailureRecord, fixes: list[FixRecord]) -> Iterator[str]:
    yield one_line(f"{failure.exception}: {failure.message}", 500)
    if failure.at and named_cell(failure.at.path):
        yield one_line(f"at {failure.at.path}:{failure.at.line}", 200)
    for operand in failure.operands:
        creation = operand.creation
        where = f", created at {creation.path}:{creation.line}" if creation and creation.path else ""
        yield one_line(f"{operand.name} is on {operand.device}{where}", 200)
    for fix in fixes:
        yield one_line(f"Fix: {fix.title}. {fix.reason}", 500)
        yield from (plain(edit.diff)[:4000] for edit in fix.edits)


def _foreign(data: ReportRecord) -> Iterator[str]:
    """Yield the dependency whose fault ended a repair, and what to pin."""
    if foreign := data.dependency_fault:
        name, pin = foreign.distribution, foreign.pin
        yield one_line(f"The fault is in {name} {foreign.version}: {foreign.path}:{foreign.line}", 500)
        yield one_line(
            f"{name}=={pin} works."
            if pin
            else "devfix repair --find-working-version searches for a release that works.",
            500,
        )


def outputs(data: ReportRecord) -> str:
    """Return the outputs of a step, as lines for the file that GITHUB_OUTPUT names."""
    values = {"outcome": data.outcome, "failures": len(data.failures), "fixes": len(data.fixes)}
    all_values = {**values, "commit": data.commit, "branch": data.branch}
    return "".join(f"{name}={one_line(str(value))}\n" for name, value in all_values.items())


def command(name: str, message: str, properties: Mapping[str, str]) -> str:
    """Return a workflow command; nothing in the message or the properties can end it or begin another."""
    written = ",".join(f"{key}={_property(plain(value))}" for key, value in properties.items())
    return f"::{name} {written}::{_data(plain(message))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
