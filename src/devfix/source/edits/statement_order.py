"""Change the order of two statements of a block, where nothing between them stands against it."""

from __future__ import annotations

from typing import NamedTuple

import libcst as cst

from devfix.source import File
from devfix.source.edits.statements import Block, move_statement
from devfix.source.queries.reading import assigned_targets


class Reordered(NamedTuple):
    """A module in which a statement was put before an earlier one (`is_earlier`), or that one behind it.

    >>> file = File("m.py", b"copy(model)\\nmodel.cuda()\\n")
    >>> reorder(file, file.module, 0, 1).is_earlier
    True
    """

    module: cst.Module
    is_earlier: bool


def reorder(file: File, block: Block, first: int, second: int) -> Reordered | None:
    """Return the module with a block's statement `second` before `first`, both by their numbers in the block.

    If `second` needs what is between, `first` is put behind it. Returns None if something between needs `first`, too.

    >>> file = File("m.py", b"copy(model)\\nmodel.cuda()\\n")
    >>> print(reorder(file, file.module, 0, 1).module.code)
    model.cuda()
    copy(model)
    <BLANKLINE>
    >>> file = File("m.py", b"copy(model)\\ndevice = choose()\\nmodel.to(device)\\n")
    >>> print(reorder(file, file.module, 0, 2).module.code)
    device = choose()
    model.to(device)
    copy(model)
    <BLANKLINE>
    """
    between = block.body[first:second]
    if not any(_needs(file, block.body[second], each) for each in between):
        return Reordered(move_statement(file, block, second, first), is_earlier=True)
    if not any(_needs(file, each, between[0]) for each in block.body[first + 1 : second + 1]):
        return Reordered(move_statement(file, block, first, second), is_earlier=False)
    return None


def _needs(file: File, statement: cst.CSTNode, earlier: cst.CSTNode) -> bool:
    """Return whether a statement reads or assigns what an earlier one binds."""
    bound = [target for each in file.within(earlier) for target in assigned_targets(each)]
    parts = [each for target in bound for each in (target, *file.within(target))]
    defined = [each.name for each in file.within(earlier) if isinstance(each, cst.FunctionDef | cst.ClassDef)]
    aliases = [each.name for each in file.within(earlier, cst.AsName)]
    names = {
        file.code(each)
        for each in (*parts, *defined, *aliases)
        if isinstance(each, cst.Name | cst.Attribute) and file.code(each) != "self"
    }
    return any(file.find(statement, each) for each in names)
