"""Replace plain tensor attributes by buffers, which `.to()` moves."""

from __future__ import annotations

from collections.abc import Container, Sequence

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


def register_parts(file: File, assignment: cst.Assign, names: Container[str]) -> list[str]:
    """Return the lines that assign one by one what `self.a, self.b = x, y` does, some of the names by a buffer.

    Returns none if it assigns something else than attributes of one name, or a value reads one of them.

    >>> file = File("m.py", b"self.mean, self.count = torch.zeros(3), 0\\n")
    >>> statement = file.module.body[0].body[0]
    >>> print("\\n".join(register_parts(file, statement, ["mean"])))
    self.register_buffer("mean", torch.zeros(3), persistent=False)
    self.count = 0
    """
    target, value = assignment.targets[0].target, assignment.value
    if len(assignment.targets) != 1 or not isinstance(target, cst.Tuple) or not isinstance(value, cst.Tuple):
        return []
    pairs = list(zip(target.elements, value.elements, strict=False))
    texts = [file.code(each.value) for each in target.elements]
    is_starred = any(isinstance(each, cst.StarredElement) for pair in pairs for each in pair)
    if len(target.elements) != len(value.elements) or is_starred or any(file.find(value, text) for text in texts):
        return []
    lines = []
    for one, other in pairs:
        text, given = file.code(one.value), file.code(other.value)
        if isinstance(one.value, cst.Attribute) and one.value.attr.value in names:
            plain = cst.Assign([cst.AssignTarget(one.value)], other.value)
            call = register_as_buffer(file, plain)
            lines.append(file.code(call) if call is not None else f"{text} = {given}")
        else:
            lines.append(f"{text} = {given}")
    return lines
