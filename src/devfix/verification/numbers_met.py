"""Find the expressions that were numbers, or arrays, where an edited line called a method of tensors on them."""

from __future__ import annotations

import re

from devfix.model import Patch, Run
from devfix.verification.checks.stdout import last_line
from devfix.verification.edit_map import fails_in_edits
from devfix.verification.objections.introduced import find_introduced

_NO_METHOD = re.compile(r"AttributeError: '(?:int|float|bool|numpy\.\w+)' object has no attribute '(to|cpu|cuda)'")


def numbers_met(run: Run, patch: Patch) -> tuple[str, ...]:
    """Return the expression that a patch moves in the line that failed, for it was a number; empty if none was.

    A sum that begins as 0 is one in the first call.
    """
    found = _NO_METHOD.search(last_line(run))
    at = run.failure.at if run.failure is not None else None
    if found is None or at is None or not fails_in_edits(run, patch.edits):
        return ()
    calls = [
        each.root
        for each in find_introduced([edit for edit in patch.edits if edit.path == at.path])
        if each.kind == "call" and each.name == found[1] and getattr(each.node, "lineno", 0) == at.line
    ]
    return tuple(dict.fromkeys(calls)) if len(set(calls)) == 1 else ()
