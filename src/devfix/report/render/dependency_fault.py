"""A fault in an installed dependency as text."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from devfix.report.plain import plain
from devfix.report.render.fix import colored_diff
from devfix.report.types import DependencyFaultRecord


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
