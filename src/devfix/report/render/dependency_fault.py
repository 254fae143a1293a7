"""A fault in code that is not the user's, in words."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from devfix.report.render.fix import colored_diff
from devfix.report.render.plain import plain
from devfix.report.types import DependencyFaultRecord


def not_yours(foreign: DependencyFaultRecord) -> Iterator[RenderableType]:
    """Yield whose the fault is, where, why, what mends a copy of it, and the release to pin."""
    release = f"{foreign.distribution} {foreign.version}"
    yield Text(f"\nThe code at fault is {plain(release)}: {plain(foreign.path)}:{foreign.line}", style="bold yellow")
    yield Text(plain(foreign.reason))
    yield Text("With this change, in a copy that was laid over it, the failure is gone:")
    yield Padding(colored_diff(foreign.diff), (1, 0, 1, 2))
    if not foreign.pin:
        yield Text("Report it there; --try-pins looks for a release that runs clean.")
        return
    pin = f"{foreign.distribution}=={foreign.pin}"
    yield Text.assemble("The newest other release with which the program runs clean: ", (plain(pin), "bold"))
    for edit in foreign.pin_edits:
        yield Padding(colored_diff(edit.diff), (1, 0, 1, 2))
