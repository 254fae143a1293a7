"""Compare how two runs of a program end."""

from __future__ import annotations

import re
from collections.abc import Iterable

from devfix.model import Edit, Outcome, Run
from devfix.verification.checks.stdout import last_line, without_devices
from devfix.verification.edit_map import location_before

_ADDRESS = re.compile(r"\b0x[0-9a-f]+\b")  # of an object, which differs from run to run
_QUOTED = "<--- HERE"


def ends_alike(run: Run, before: Run, edits: Iterable[Edit] = ()) -> bool:
    """Return whether a run ends as the one before some edits: by the same exception at the same place or exit code.

    Only runs that fail for a reason unrelated to devices are compared. Devices and addresses in their messages may
    differ: torch's distributions, for one, show the tensor that they refuse.
    """
    if run.outcome is not Outcome.OTHER or before.outcome is not Outcome.OTHER or run.exit_code != before.exit_code:
        return False
    if run.failure is None or before.failure is None:
        return run.failure is before.failure and _output(run) == _output(before)
    if run.failure.exception != before.failure.exception or _output(run) != _output(before):
        return False
    at, known = run.failure.at, before.failure.at
    if at is None or known is None:
        return at is known
    place = location_before(at, edits)
    return (place.path, place.line, place.function) == (known.path, known.line, known.function)


def _output(run: Run) -> str:
    message = run.failure.message if run.failure is not None else last_line(run)
    if _QUOTED in message:  # TorchScript quotes the source, edited lines too
        message = message.partition('\n  File "')[0]
    return _ADDRESS.sub("0x", without_devices(message))


def ends_as(run: Run, known: Run) -> bool:
    """Return whether a run ends as another run of the same program did."""
    return run.outcome is known.outcome and (run.outcome is not Outcome.OTHER or ends_alike(run, known))


def describe_other_end(run: Run, is_fresh: bool) -> str:
    """Return why a patch is rejected whose second run ended otherwise than its first."""
    return f"it does not repeat: {run.outcome.value} in a {'fresh' if is_fresh else 'second'} process"
