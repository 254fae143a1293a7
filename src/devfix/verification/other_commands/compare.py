"""What another command of the repository, run before and after a patch, says of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from devfix.model import Edit, Failure, Outcome, Run
from devfix.verification.checks.model_summaries import registered, tells_of_children
from devfix.verification.checks.stdout import last_line, stdout_differs, without_devices
from devfix.verification.checks.suppression import fails_at_same_site
from devfix.verification.edit_map import is_edited
from devfix.verification.other_commands.endings import ends_alike

Told = Literal["as before", "better", "worse", "not mended"]


def compare_runs(
    before: Run, after: Run, failure: Failure, edits: Sequence[Edit], again: Callable[[], tuple[Run, Run]]
) -> tuple[Told, str]:
    """Return what a patch for `failure` does to a command, in a word, and for what gets worse how.

    `again` runs the command once more without the patch and with it, its random generators seeded.
    """
    if after.outcome is Outcome.CLEAN:
        if before.outcome is not Outcome.CLEAN:
            return "better", ""
        if _printed(before) != _printed(after) and not tells_of_children(
            _printed(before), _printed(after), registered(edits)
        ):
            plain, patched = again()
            if stdout_differs([_printed(before), _printed(plain)], [_printed(after), _printed(patched)]) or (
                plain.unseeded and _printed(plain) != _printed(patched) and _repeats(plain, again()[0])
            ):
                return "worse", "prints something else"
        return "as before", ""
    if before.outcome is Outcome.CLEAN:
        return "worse", f"ran before, now it {after.outcome.value}: {last_line(after)}"
    if before.outcome is Outcome.FAILED:
        if fails_at_same_site(before, failure, ()) and fails_at_same_site(after, failure, edits):
            return "not mended", "fails as before at the place that the patch should mend"
        at = after.failure.at if after.failure is not None and after.outcome is Outcome.OTHER else None
        if at is not None and is_edited(at, edits):
            return "worse", f"fails in the edited lines: {last_line(after)}"
        return "as before", ""
    if before.outcome is Outcome.OTHER and not ends_alike(after, before, edits):
        return "worse", f"ended with {last_line(before)}, now it {after.outcome.value}: {last_line(after)}"
    return "as before", ""


def _printed(run: Run) -> str:
    return without_devices(run.stdout)


def _repeats(one: Run, other: Run) -> bool:
    return _printed(one) == _printed(other)
