"""The runs that a verifier asks for, to verify a patch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from devfix.model import NO_COUNTS, CountRequest, Diagnosis, Patch, Run, World
from devfix.verification.checks.ended import counts_at_edits
from devfix.verification.checks.operand_values import expected_checksums
from devfix.verification.checks.suppression import locations_after

# World, changed files, whether the process must be a fresh one, locations at which operators are counted.
Request = tuple[World, Mapping[str, bytes], bool, CountRequest]
Expect = Callable[[Sequence[Request]], None]  # these runs will be asked for, if a patch holds
CPU = World("cpu")


def first_request(
    before: Run, files: Mapping[str, bytes], patch: Patch, diagnosis: Diagnosis, steps: int = 0
) -> Request:
    """Return the run of a patch in the world that failed, which `steps` runs of the failing line may end."""
    changed = {**files, **{edit.path: edit.after for edit in patch.edits}}
    failed = before.failure
    locations = locations_after(failed.at, patch.edits) if failed and failed.at else ()
    return before.world, changed, False, CountRequest(locations, expected_checksums(failed, diagnosis), steps)


def expected_requests(
    before: Run,
    files: Mapping[str, bytes],
    worlds: Sequence[World],
    patch: Patch,
    diagnosis: Diagnosis,
    is_first: bool = True,
) -> list[Request]:
    """Return the runs that are asked for if a patch holds: the one in the world that failed, then the longest first.

    The longest is the one in a fresh process, which imports torch again. The runs include the one without the patch if
    it is the first. The program ends by itself: of one that is ended it is not known where the runs in other worlds
    count operators.
    """
    home = before.world
    first = first_request(before, files, patch, diagnosis)
    control = [(home, files, False, NO_COUNTS)] if is_first else []
    counted = counts_at_edits(home, patch.edits)
    fresh, *others = (
        (each, first[1], each == home, counted.get(each, NO_COUNTS))
        for each in sorted(worlds, key=lambda world: (world != home, world != CPU))
    )
    return [first, fresh, *control, *others]


def expect_nothing(requests: Sequence[Request]) -> None:
    """Let runs begin when they are asked for."""
