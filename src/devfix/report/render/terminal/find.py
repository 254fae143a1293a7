"""The record of `devfix find` as text: a table of causes, and the diagnosis of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from devfix.progress import duration
from devfix.report.find_types import CauseFixRecord, CauseRecord, EvidenceRecord, FindRecord
from devfix.report.plain import one_line, plain
from devfix.report.render.terminal.github import command
from devfix.report.render.terminal.text import diagnosis, render_text

_NARROW, _OTHERS = 24, 70  # columns: of a place at least, and of what stands beside it in the table
TELLS = "--lift-device"
_SHOWN = 5  # tests and other names in a list


def find_text(data: FindRecord, color: bool = False, width: int = 100) -> str:
    """Return the record as text of `width` columns."""
    return render_text(Group(*_parts(data, width)), color, width)


def _parts(data: FindRecord, width: int) -> Iterator[RenderableType]:
    findings = data.findings
    is_bad = findings or data.error or data.is_unsearched
    yield Text(find_headline(data), style="bold red" if is_bad else "bold green")
    if findings:
        yield _table(findings, max(_NARROW, width - _OTHERS))
    for number, finding in enumerate(findings, 1):
        yield Text(f"{number}. {_place(finding)}: {one_line(finding.title)}", style="bold")
        yield from map(_indent, _finding(finding))
        yield Text()
    yield from _rest(data)


def _indent(part: RenderableType) -> RenderableType:
    """Return a part of a finding, indented; what is not to be wrapped is not cut either, as rich's padding does."""
    if isinstance(part, Text) and part.no_wrap:
        return _whole("\n".join(f"   {line}" for line in part.plain.splitlines()))
    return Padding(part, (0, 0, 0, 3))


def find_headline(data: FindRecord) -> str:
    """Return how many findings there are, of how many tests."""
    if data.error is not None:
        return ("Internal error: " if data.error.log else "Error: ") + one_line(data.error.message)
    if data.is_unsearched:
        stopped = " before the interrupt" if data.interrupted else ""
        ran = f"{_tests(data.passed_cpu)} pass on the CPU, and none of these ran on a GPU{stopped}"
        none = f"{_tests(data.tests)}, and none passes on the CPU{stopped}"
        return f"Nothing was searched: {ran if data.passed_cpu else none} ({duration(data.seconds['total'])})"
    count = len(data.findings)
    found = f"{count or 'no'} {'new ' if data.known else ''}finding{'s'[count == 1 :]}"
    known = f", {len(data.known)} known" if data.known else ""
    stopped = ", interrupted" if data.interrupted else ""
    alone = f", and {data.passed_on_gpu_alone} on a GPU alone" if data.passed_on_gpu_alone else ""
    return (
        f"{found}{known}{stopped}: {_tests(data.tests)}, {data.passed_cpu} pass on the CPU, "
        f"{data.passed_lifted} of these on a GPU too{alone} ({duration(data.seconds['total'])})"
    )


def _table(findings: Sequence[CauseRecord], width: int) -> Table:
    """Return a table of findings, whose places have at most `width` characters: each is told in full below it."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("", "cause", "kind", "rule", "tests", "on", "confidence"):
        table.add_column(name, overflow="fold", no_wrap=name in ("cause", "kind"))
    for number, each in enumerate(findings, 1):
        sure = each.confidence + ("" if each.confirmed else ", not confirmed")
        devices = " ".join(each.devices)
        rule = one_line(each.rule).rpartition("/")[2] or "-"
        table.add_row(str(number), _end_of(_place(each), width), each.kind, rule, str(len(each.tests)), devices, sure)
    return table


def _end_of(place: str, width: int) -> str:
    """Return the last folders of a path, as many as fit; the file itself has room in any case.

    >>> _end_of("library/distributions/normal.py:12", 25), _end_of("library/normal.py:12", 25), _end_of("a/b.py:1", 2)
    ('…/normal.py:12', 'library/normal.py:12', '…/b.py:1')
    """
    if len(place) <= width:
        return place
    folders, _, file = place.rpartition("/")
    kept = [file]
    for folder in reversed(folders.split("/")):
        if len("/".join(["…", folder, *kept])) > width:
            break
        kept.insert(0, folder)
    return "/".join(["…", *kept]) if folders else place


def _finding(finding: CauseRecord) -> Iterator[RenderableType]:
    if finding.failure is not None:
        at = finding.failure.at
        if at is not None and (at.path, at.line) != (finding.path, finding.line):
            yield Text(f"At {one_line(at.path, 300)}:{at.line}:")
        yield from diagnosis(finding.failure, is_raised=finding.evidence is None)  # else `--lift-strict` raised it
    else:
        yield Text(f"> {one_line(finding.source)}")
    if finding.evidence is not None:
        yield Text(_shown_later(finding.evidence) if finding.kind == "stale-cache" else _shown_by(finding.evidence))
    elif TELLS in finding.options:
        yield Text("It fails where a `device` that the test leaves out is told the GPU.")
    if finding.kind == "handled":
        yield Text("The exception is caught: the test goes on without what failed.")
    if fix := finding.fix:
        yield from _render_fix(fix)
    if not finding.confirmed:
        yield Text("Not confirmed, and not repaired: its first test did not show it again alone, or had no time to.")
    tests = finding.tests
    more = f" and {len(tests) - 1} more" if len(tests) > 1 else ""
    yield _whole(f"Reached by {one_line(tests[0], 300)}{more}")


def _shown_by(evidence: EvidenceRecord) -> str:
    """Return what shows a silent finding: where the tensors on the GPU went in, and where the other one was created."""
    entered, created = evidence.entered, evidence.created
    kept = f", kept as {one_line(evidence.attribute)}" if evidence.attribute else ""
    gpu = "The `device` of the GPU was given to" if evidence.is_told else "The tensors on the GPU went into"
    other = "a tensor of the host" if evidence.is_told else "the other one"
    return (
        f"{gpu} `{one_line(evidence.call)}` ({one_line(entered.path, 300)}:{entered.line}); "
        f"{other} was created at {one_line(created.path, 300)}:{created.line}{kept}. The test passes."
    )


def _shown_later(evidence: EvidenceRecord) -> str:
    """Return what shows a cache that does not ask for the device."""
    created = evidence.created
    return (
        f"A call on one GPU has made the tensor at {one_line(created.path, 300)}:{created.line}, and a later one on "
        "another GPU is served it. With one GPU the test passes."
    )


def _render_fix(fix: CauseFixRecord) -> Iterator[RenderableType]:
    if not fix.branch:
        yield Text(f"Not repaired: {one_line(fix.reason or fix.verdict, 600)}", style="red")
        return
    yield Text(f"Repaired on the branch {one_line(fix.branch)} ({fix.commit[:10]})", style="green")
    yield _whole(plain(fix.diff))  # a line that is wrapped is no patch
    if fix.test:
        yield _whole(f"Regression test: {one_line(fix.test, 300)}")
    elif fix.no_test_reason:
        yield Text(f"No regression test: {one_line(fix.no_test_reason, 300)}")


def _place(finding: CauseRecord) -> str:
    return one_line(f"{finding.path}:{finding.line}", 300)


def _rest(data: FindRecord) -> Iterator[RenderableType]:
    if data.artefacts:
        yield Text(f"{_tests(len(data.artefacts))} could not be lifted: what they do themselves fails on a GPU")
    for name, said in (
        ("failed_cpu", "failed on the CPU (not lifted)"),
        ("failed_lifted", "failed lifted, for another reason than devices"),
    ):
        tests = [each if isinstance(each, str) else each.test for each in getattr(data, name)]
        if tests:
            yield from _listing(f"{_tests(len(tests))} {said}", tests)
    if scripts := [each.test for each in data.left_out]:
        count = "1 script does" if len(scripts) == 1 else f"{len(scripts)} scripts do"
        yield from _listing(f"{count} not run without arguments on the CPU", scripts)
    if data.missing:
        yield Text(f"Missing modules: {one_line(', '.join(data.missing), 600)}; tests that need them were left out")
    for note in data.notes:
        yield Text(f"Note: {one_line(note, 600)}")


def _listing(title: str, names: Sequence[str]) -> Iterator[Text]:
    """Yield a title and the first names, each in a line that is not wrapped: names of tests are copied."""
    yield Text(f"{title}:")
    for name in names[:_SHOWN]:
        yield _whole(f"  {one_line(name, 300)}")
    if len(names) > _SHOWN:
        yield Text(f"  and {len(names) - _SHOWN} more")


def _whole(line: str) -> Text:
    return Text(line, no_wrap=True, overflow="ignore")


def _tests(count: int) -> str:
    return "1 test" if count == 1 else f"{count} tests"


def summary(finding: CauseRecord) -> str:
    """Return what a finding is in a sentence: the exception and its message, or what is left on the host."""
    failure = finding.failure
    if failure is None or finding.evidence is not None:
        return f"{finding.kind}: {finding.title}"
    caught = "caught: " if finding.kind == "handled" else ""
    return f"{caught}{failure.exception}: {failure.message}"


def find_outputs(data: FindRecord) -> str:
    """Return lines for GITHUB_OUTPUT: how many findings are new, and how many of them have a verified fix."""
    fixed = [each for each in data.findings if each.fix is not None and each.fix.branch]
    outcome = "error" if data.error or data.is_unsearched else "found" if data.findings else "clean"
    return f"outcome={outcome}\nfailures={len(data.findings)}\nfixes={len(fixed)}\n"


def find_summary(data: FindRecord) -> str:
    """Return the text as Markdown, as a block in which nothing takes effect."""
    lines = find_text(data).splitlines()
    return "## devfix find\n\n" + "".join(f"    {line}\n" for line in lines)


def find_commands(data: FindRecord) -> str:
    """Return the findings as annotations for a GitHub runner, each at its cause."""
    lines = []
    for each in data.findings:
        words = one_line(summary(each), 400)
        told = f"{words}\nSeen at {each.failing.path}:{each.failing.line} in {_tests(len(each.tests))}"
        where = {"file": each.path, "line": str(each.line)} if not each.path.startswith("/") else {}
        severity = "error" if each.kind == "raises" else "warning"  # nothing fails by the others
        lines.append(command(severity, told, {**where, "title": f"devfix: {each.rule or each.title}"}))
    return "".join(line + "\n" for line in lines)
