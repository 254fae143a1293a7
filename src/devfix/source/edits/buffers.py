"""Replace plain tensor attributes by buffers, which `.to()` moves."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devfix.source import File
from devfix.source.edits.expressions import expression


def register_as_buffer(file: File, assignment: cst.Assign | cst.AnnAssign, persistent: bool = False) -> cst.Call | None:
    """Return the call for `self.name = value`: `self.register_buffer("name", value, persistent=False)`.

    It replaces the assignment's expression statement: `file.replaced({assignment: cst.Expr(call)})`. A buffer that is
    not persistent is not in the state dict, like a plain attribute, so old checkpoints load. Returns None if the
    statement assigns to something else than one attribute of one name.

    >>> file = File("m.py", b"self.mask = torch.ones(3)\\n")
    >>> code(register_as_buffer(file, assignments(file, "self.mask")[0]))
    'self.register_buffer("mask", torch.ones(3), persistent=False)'
    """
    targets: Sequence[cst.AssignTarget | cst.AnnAssign]
    targets = assignment.targets if isinstance(assignment, cst.Assign) else [assignment]
    target, value = targets[0].target, assignment.value
    if len(targets) != 1 or value is None or not isinstance(target, cst.Attribute):
        return None
    if not isinstance(target.value, cst.Name):
        return None
    quote = file.quote
    call = expression(f"{target.value.value}.register_buffer({quote}{target.attr.value}{quote})")
    assert isinstance(call, cst.Call)
    given = [*call.args, cst.Arg(value)]
    if not persistent:
        given.append(
            cst.Arg(
                expression("False"),
                cst.Name("persistent"),
                equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
            )
        )
    return call.with_changes(args=given)
