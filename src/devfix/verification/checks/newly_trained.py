"""Recognize a patch that changes what a program computes because an optimizer trains what the patch registers."""

from __future__ import annotations

import re
from collections.abc import Iterable

from devfix.model import NO_COUNTS, CountRequest, Edit, Run
from devfix.verification.checks.model_summaries import registering_lines

_ATTRIBUTE = re.compile(r"\bself\.(\w+)")


def training_request(edits: Iterable[Edit]) -> CountRequest:
    """Return what a run without the patch is asked for, so that `newly_trained` knows."""
    names = {name for line in registering_lines(edits).values() for name in _ATTRIBUTE.findall(line)}
    return CountRequest(untrained=tuple(sorted(names))) if names else NO_COUNTS


def newly_trained(edits: Iterable[Edit], before: Run) -> str:
    """Return what a patch lets an optimizer train, if the run without it shows that the program meant to; else "".

    There, each attribute that the patch registers held parameters which got gradients, in a model that was trained, and
    which no optimizer had; or the attribute did of which it is made, as `self.parts = nn.ModuleList(self.layers)`.
    """
    lines = registering_lines(edits).values()
    found = [[each for each in before.untrained if each.attribute in _ATTRIBUTE.findall(line)] for line in lines]
    if not found or not all(found):
        return ""
    parts = {
        f"{_count(each.parameters)} in `{each.attribute}` of {each.type}": None for several in found for each in several
    }
    is_one = sum(each.parameters for several in found for each in several) == 1
    verb = "is" if is_one else "are"
    return (
        f"The results change on every device: {' and '.join(parts)} {verb} trained now, which no optimizer had before"
    )


def _count(number: int) -> str:
    return "the parameter" if number == 1 else f"the {number} parameters"
