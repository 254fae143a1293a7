"""A fix, why it was made, and what running it showed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from devfix.model.patch import VerdictOutcome
from devfix.report.render.plain import one_line, plain
from devfix.report.types import FixRecord, VerdictRecord

_SHOWN = 8  # candidates that were dropped; a search may try dozens

OUTCOMES: Mapping[VerdictOutcome, str] = {
    "holds": "it holds",
    "moved": "another failure came instead",
    "same": "the same failure came again",
    "worse": "a world that ran before fails with it",
    "differs": "the program prints or computes something else with it",
    "broken": "the program broke",
    "not needed": "it holds too, and another was kept",
}


def change(fix: FixRecord) -> Iterator[RenderableType]:
    """Yield the rule, the reason, the diff, and the verdict in each world."""
    yield Text.assemble((plain(fix.rule), "bold magenta"), f"  {one_line(fix.title)} ({fix.safety})")
    yield Text(plain(fix.reason))
    for edit in fix.edits:
        yield Padding(colored_diff(edit.diff), (1, 0, 1, 0))
    yield _verdict(fix.verdict)
    if similar := fix.similar_sites:
        yield Text("\nThe same elsewhere, not applied, since no run has shown it to fail:")
        for edit in similar[:_SHOWN]:
            yield Padding(colored_diff(edit.diff), (0, 0, 0, 2))


def candidates(dropped: Sequence[FixRecord], kept: Sequence[FixRecord]) -> Iterator[RenderableType]:
    """Yield one line for each candidate that was not kept, and why it was not."""
    if not dropped:
        return
    yield Text("\nTried and dropped:")
    as_good = {fix.verdict.outcome for fix in kept}
    for fix in dropped[:_SHOWN]:
        verdict = fix.verdict
        why = OUTCOMES[verdict.outcome]
        reason = f" ({one_line(verdict.reason, 160)})" if verdict.reason else ""
        if verdict.outcome in as_good:
            why, reason = "does no more than the one that was kept", ""
        place = ", ".join(f"{edit.path}:{edit.line}" for edit in fix.edits)
        yield Text(f"  - {one_line(fix.title)} at {plain(place)}: {why}{reason}")
    if len(dropped) > _SHOWN:
        yield Text(f"  - and {len(dropped) - _SHOWN} more, which --format json lists")


def colored_diff(diff: str) -> Text:
    """Return a unified diff, harmless and with its lines coloured."""
    shown = Text()
    for line in plain(diff).splitlines(keepends=True):
        shown.append(line, _style(line))
    shown.rstrip()
    return shown


def _style(line: str) -> str:
    if line.startswith(("--- ", "+++ ", "diff ")):
        return "bold"
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")


def _verdict(verdict: VerdictRecord) -> RenderableType:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("world")
    further = "this failure is gone, the next is below" if verdict.outcome == "moved" else ""
    table.add_column(further or OUTCOMES[verdict.outcome])
    for world, outcome in verdict.worlds.items():
        as_before = outcome != "clean" and verdict.before.get(world) == outcome and further == ""
        told, style = plain(outcome) + ", as before" * as_before, "green" if outcome == "clean" else "red"
        table.add_row(Text(plain(world)), Text(told, style="" if as_before else style))
    transfers = verdict.transfers
    table.add_row(Text("copies"), Text(f"{transfers.before} until the failure, {transfers.after} now"))
    return table
