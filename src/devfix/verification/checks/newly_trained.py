"""Recognize a patch that changes what a program computes because an optimizer trains what the patch registers."""

from __future__ import annotations

from collections.abc import Iterable

from devfix.model import NO_COUNTS, CountRequest, Edit, Run
from devfix.verification.checks.model_summaries import registered_attributes

_BESIDE = "_modules"  # ends the name of a container that is registered beside the one that a program uses


def training_request(edits: Iterable[Edit]) -> CountRequest:
    """Return what a run without the patch is asked for, so that `newly_trained` knows."""
    names = {name for each in registered_attributes(edits) for name in (each, each.removesuffix(_BESIDE))}
    return CountRequest(untrained=tuple(sorted(names))) if names else NO_COUNTS


def newly_trained(edits: Iterable[Edit], before: Run) -> str:
    """Return what a patch lets an optimizer train, if the run without it shows that the program meant to; else "".

    There, all attributes that the patch registers held parameters which got gradients, in a model that was trained, and
    which no optimizer had.
    """
    wanted = registered_attributes(edits)
    found = [each for each in before.untrained if {each.attribute, each.attribute + _BESIDE} & wanted]
    if not wanted or not all(
        {name, name.removesuffix(_BESIDE)} & {each.attribute for each in found} for name in wanted
    ):
        return ""
    parts = (f"the {each.parameters} parameters in `{each.attribute}` of {each.type}" for each in found)
    return f"The results change on every device: {' and '.join(parts)} are trained now, which no optimizer had before"
