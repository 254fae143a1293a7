"""Find what other branches of an `if` combine as the one did in which a fix moves a tensor."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devfix.diagnosis.uses_of_constants import new_moves
from devfix.model import Edit
from devfix.sdk import File, insert_before
from devfix.sdk.trace.branches import met_beside
from devfix.source import SourceError
from devfix.source.edits.device_arguments import device_text
from devfix.source.edits.expressions import moves_of
from devfix.source.file import Statement


def twins_in_branches(edit: Edit, data: bytes) -> Iterator[Edit]:
    """Yield an edit for each statement in another branch that combines what an edit moves with the same tensor.

    `data` is the file after the patch. A move by a statement of its own, `x = x.to(…)`, goes before each of them too.
    """
    try:
        before, after = File(edit.path, edit.before), File(edit.path, data)
    except SourceError:
        return
    for receiver, call in new_moves(before, after):
        text, device = after.code(receiver), device_text(call)
        holder = device.removesuffix(".device")
        if holder in (device, "self", text):
            continue
        reads: dict[Statement, list[cst.BaseExpression]] = {}
        for node in met_beside(after, call, text, [holder]):
            statement = after.statement_of(node)
            if statement is not None:
                reads.setdefault(statement, []).append(node)
        line = f"{text} = {after.code(call)}"
        is_alone = after.code(after.parent(call) or call) == line
        for statement, nodes in reads.items():
            made = (
                insert_before(after, statement, [line]) if is_alone else after.replace(moves_of(after, nodes, device))
            )
            found = after.edit(made) if made is not None else None
            if found is not None:
                yield found
