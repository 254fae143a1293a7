"""A fix as text: the rule, reason, diff, verdict, test, and rejected candidates; or the fault of a dependency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from devfix.report.plain import one_line, plain
from devfix.report.record import OUTCOMES
from devfix.report.types import CopiesRecord, DependencyFaultRecord, FixRecord, RegressionTestRecord, VerdictRecord

_SHOWN = 8  # rejected candidates without --verbose, and places of similar code; a search may try dozens
EQUIVALENT = "superseded"
ALIVE = "alive"  # how a world begins in which the program was ended as requested, without a failure


def change(fix: FixRecord, with_diff: bool = True) -> Iterator[RenderableType]:
    """Yield the rule, the reason, the diff, and the verdict in each world."""
    yield Text.assemble((plain(fix.rule), "bold magenta"), f"  {one_line(fix.title)} ({fix.safety})")
    yield Text(plain(fix.reason))
    for edit in fix.edits if with_diff else ():
        yield Padding(colored_diff(edit.diff), (1, 0, 1, 0))
    yield _verdict(fix.verdict)
    if similar := fix.similar_sites:
        yield Text("\nSimilar code, not changed because no run has shown it to fail:")
        for edit in similar[:_SHOWN]:
            yield Padding(colored_diff(edit.diff), (0, 0, 0, 2))
        if len(similar) > _SHOWN:
            yield Text(f"  and {len(similar) - _SHOWN} more places (--format json has them)")


def candidates(
    rejected: Sequence[FixRecord], kept: Sequence[FixRecord], verbose: bool = False
) -> Iterator[RenderableType]:
    """Yield one line for each rejected candidate and the reason; without `verbose`, equivalent ones as a number."""
    if not rejected:
        return
    equivalent = equivalents(rejected, kept)
    others = [fix for fix in rejected if fix not in equivalent]
    listed = list(rejected) if verbose else others[:_SHOWN]
    if listed:
        yield Text("\nRejected candidates:")
    for fix in listed:
        verdict = fix.verdict
        reason = f" ({one_line(verdict.reason, 160)})" if verdict.reason else ""
        why = "equivalent to the fix" if fix in equivalent else outcome_text(verdict) + reason
        place = ", ".join(f"{edit.path}:{edit.line}" for edit in fix.edits)
        yield Text(f"  - {one_line(fix.title)} at {plain(place)}: {why}")
    if len(others) > len(listed):
        yield Text(f"  - and {len(others) - len(listed)} more (--verbose lists them)")
    if equivalent and not verbose:
        yield Text(f"\n{counted_equivalents(len(equivalent))} (--verbose lists them)")


def equivalents(rejected: Sequence[FixRecord], kept: Sequence[FixRecord]) -> list[FixRecord]:
    """Return the rejected candidates that fix the failure as the fixes that were kept do, and no better."""
    outcomes = {fix.verdict.outcome for fix in kept} | {EQUIVALENT}
    return [fix for fix in rejected if kept and fix.verdict.outcome in outcomes]


def counted_equivalents(number: int) -> str:
    """Return how many equivalent candidates were rejected, in words."""
    return f"{number} equivalent candidate{'s' if number != 1 else ''} rejected"


def outcome_text(verdict: VerdictRecord) -> str:
    """Return the outcome of a candidate in words."""
    return OUTCOMES[verdict.outcome]


def copies(transfers: CopiesRecord) -> str:
    """Return the number of copies between host and devices, before the fix and after."""
    return f"{transfers.before} before (up to the failure), {transfers.after} after"


def colored_diff(diff: str) -> Text:
    """Return a unified diff with control characters escaped and its lines coloured."""
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
    further = "fixed; next failure below" if verdict.outcome == "progressed" else ""
    table.add_column(further or OUTCOMES[verdict.outcome])
    for world, outcome in verdict.worlds.items():
        is_good = outcome == "clean" or outcome.startswith(ALIVE)
        as_before = not is_good and verdict.before.get(world) == outcome and further == ""
        words, style = plain(outcome) + ", as before" * as_before, "green" if is_good else "red"
        table.add_row(Text(plain(world)), Text(words, style="" if as_before else style))
    table.add_row(Text("host-device copies"), Text(copies(verdict.transfers)))
    return table


def dependency_fault(foreign: DependencyFaultRecord) -> Iterator[RenderableType]:
    """Yield the distribution at fault, the place, the reason, the change that fixes a copy, and the release to pin."""
    release = f"{foreign.distribution} {foreign.version}"
    yield Text(f"\nThe fault is in {plain(release)}: {plain(foreign.path)}:{foreign.line}", style="bold yellow")
    yield Text(plain(foreign.reason))
    yield Text("With this change to a temporary copy of it, the failure is fixed:")
    yield Padding(colored_diff(foreign.diff), (1, 0, 1, 2))
    if not foreign.pin:
        yield Text("Report it to its maintainers; --find-working-version searches for a release that works.")
        return
    pin = f"{foreign.distribution}=={foreign.pin}"
    yield Text.assemble("The newest other release with which the program works: ", (plain(pin), "bold"))
    for edit in foreign.pin_edits:
        yield Padding(colored_diff(edit.diff), (1, 0, 1, 2))


def regression_test(fix: FixRecord, whole: bool) -> Iterator[RenderableType]:
    """Yield the regression test of a fix, with its source if `whole`."""
    if why := fix.no_test_reason:
        yield Text(f"\nNo regression test: {one_line(why, 300)}")
    if test := fix.regression_test:
        yield Text.assemble(
            "\nRegression test ", (plain(test.path), "bold"), f": {one_line(test.exercises)}; {describe_worlds(test)}"
        )
        if whole:
            lines = "\n".join(f"+{line}" for line in plain(test.text).splitlines())
            yield Padding(Text(lines, style="green"), (1, 0, 0, 0))


def describe_worlds(test: RegressionTestRecord) -> str:
    """Return in which worlds the test failed without the fix and passed with it."""
    before = [each.before for each in test.worlds.values()]
    count, passed = len(before), before.count("clean")
    if count == 1:
        return "verified to fail without the fix and to pass with it"
    if not passed:
        return f"verified to fail without the fix and to pass with it, in all {count} worlds"
    return f"verified to fail without the fix in {count - passed} of {count} worlds, and to pass with it in all"
