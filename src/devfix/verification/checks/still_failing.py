"""Decide whether a fix leaves a failure in a world beside the one that failed."""

from __future__ import annotations

from collections.abc import Sequence

from devfix.model import DeviceType, Edit, Outcome, Run, World
from devfix.verification.checks.suppression import fails_at_same_site
from devfix.verification.edit_map import fails_in_edits


def still_fails(before: Run, run: Run, edits: Sequence[Edit]) -> bool:
    """Return whether another world fails at the fixed line as `before`, in the edit, or where the edit has led it.

    The last is the case if CUDA was taken for granted, and the program now fails on another accelerator.
    """
    failed = before.failure
    if failed is None:
        return False
    if fails_at_same_site(run, failed, edits) or fails_in_edits(run, edits):
        return True
    return failed.kind == "no-device" and _is_led_to(before.world, run)


def _is_led_to(home: World, run: Run) -> bool:
    """Return whether a run failed on an accelerator, other than CUDA, that the world which failed lacks."""
    world, failed = run.world, run.failure
    other = world.gpus > 0 and world.device not in (DeviceType.CUDA, home.device)
    return other and run.outcome is Outcome.FAILED and failed is not None and failed.kind != "no-device"
