"""Compare the runs of another command of the repository before and after a patch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from devfix.model import Edit, Failure, Outcome, Run
from devfix.model.report import Comparison
from devfix.verification.checks.model_summaries import differs_by_children, registered_attributes
from devfix.verification.checks.newly_trained import newly_trained
from devfix.verification.checks.stdout import last_line, prints_alike, stdout_differs, without_devices
from devfix.verification.checks.suppression import fails_at_same_site
from devfix.verification.edit_map import is_edited
from devfix.verification.other_commands.endings import ends_alike


def compare_runs(
    before: Run, after: Run, failure: Failure, edits: Sequence[Edit], again: Callable[[], tuple[Run, Run]]
) -> tuple[Comparison, str]:
    """Return the effect of a patch for `failure` on a command, in a word, and a description if it gets worse.

    `again` runs the command again without the patch and with it, with seeded random generators. A command that trains
    what the patch registers prints something else on purpose.
    """
    if after.outcome is Outcome.CLEAN:
        if before.outcome is not Outcome.CLEAN:
            return "better", ""
        if not prints_alike(_output_of(before), _output_of(after)) and not differs_by_children(
            _output_of(before), _output_of(after), registered_attributes(edits)
        ):
            plain, patched = again()
            if newly_trained(edits, plain):
                return "as before", ""
            if stdout_differs([_output_of(before), _output_of(plain)], [_output_of(after), _output_of(patched)]) or (
                plain.unseeded
                and not prints_alike(_output_of(plain), _output_of(patched))
                and _repeats(plain, again()[0])
            ):
                return "worse", "prints something else"
        return "as before", ""
    if before.outcome is Outcome.CLEAN:
        if _is_chance(after, edits, again):
            return "as before", ""
        return "worse", f"ran before, now it {after.outcome.value}: {last_line(after)}"
    if before.outcome is Outcome.FAILED:
        if fails_at_same_site(before, failure, ()) and fails_at_same_site(after, failure, edits):
            return "not fixed", "fails as before at the place that the patch should fix"
        at = after.failure.at if after.failure is not None and after.outcome is Outcome.OTHER else None
        if at is not None and is_edited(at, edits):
            return "worse", f"fails in the edited lines: {last_line(after)}"
        return "as before", ""
    if before.outcome is Outcome.OTHER and not ends_alike(after, before, edits) and not _is_chance(after, edits, again):
        return "worse", f"ended with {last_line(before)}, now it {after.outcome.value}: {last_line(after)}"
    return "as before", ""


def _is_chance(after: Run, edits: Sequence[Edit], again: Callable[[], tuple[Run, Run]]) -> bool:
    """Return whether another end is one by chance: with seeds, the command ends alike without the patch and with it.

    A test that draws random numbers fails once in a while, of a suite whose other tests may fail before it as well.
    """
    at = after.failure.at if after.failure is not None else None
    if after.outcome is not Outcome.OTHER or (at is not None and is_edited(at, edits)):
        return False
    plain, patched = again()
    if patched.outcome is Outcome.CLEAN:
        return plain.outcome is Outcome.CLEAN
    return patched.outcome is Outcome.OTHER and ends_alike(patched, plain, edits)


def _output_of(run: Run) -> str:
    return without_devices(run.stdout)


def _repeats(one: Run, other: Run) -> bool:
    return prints_alike(_output_of(one), _output_of(other))
