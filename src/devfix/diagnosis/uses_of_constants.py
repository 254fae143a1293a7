"""Find the other uses of the constants that a fix moved where one of them is used: each would fail alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

import libcst as cst

from devfix.model import Edit, Patch
from devfix.sdk import FACTORIES, File, Sources, is_bound, is_local, is_move, last_name
from devfix.sdk.trace.flows import SAME_EVERYWHERE, is_for_host, is_on_device
from devfix.source import SourceError
from devfix.source.edits.device_arguments import device_text
from devfix.source.edits.expressions import moves_of
from devfix.source.file import Statement
from devfix.source.queries.bound_names import root_name
from devfix.source.queries.constants import Constant, constant_of, reads_of_constants
from devfix.source.queries.optional import may_be_no_tensor
from devfix.source.queries.reading import assigned_values, method_call_on

NUMBERS = (cst.BaseNumber, cst.BaseString)


def uses_of_constants(patch: Patch, sources: Sources) -> Iterator[Edit]:
    """Yield an edit for each statement that combines a constant, which the patch moves elsewhere, with a tensor.

    `sources` has the files after the patch. A use is skipped if it moves the constant, or if what it meets is unknown.
    """
    constants = {each for edit in patch.edits for each in _moved_constants(edit, sources)}
    for file in sources.containing(*sorted({each.name for each in constants})) if constants else ():
        found: dict[Statement, dict[cst.CSTNode, cst.CSTNode]] = {}
        for node in reads_of_constants(file, constants, sources):
            statement, device = file.statement_of(node), _wanted_device(file, node)
            if device and statement is not None and not _is_settled(file, node):
                found.setdefault(statement, {}).update(moves_of(file, [node], device))
        for edits in found.values():
            made = file.edit(file.replace(edits))
            if made is not None:
                yield made


def _moved_constants(edit: Edit, sources: Sources) -> Iterator[Constant]:
    """Yield the constants that functions of an edited file move after the edit, and did not before."""
    try:
        before, after = File(edit.path, edit.before), File(edit.path, edit.after)
    except SourceError:
        return
    for receiver, call in new_moves(before, after):
        text = after.code(receiver)
        function = after.function_of(call)
        constant = constant_of(after, text, sources)
        if constant is not None and function is not None and not is_local(function, root_name(text)):
            yield constant


def new_moves(before: File, after: File) -> Iterator[tuple[cst.BaseExpression, cst.Call]]:
    """Yield the moves of names and attributes to a device that a file has after an edit alone, with what they move."""
    texts = before.text.splitlines(), after.text.splitlines()
    parts = [each for each in SequenceMatcher(None, *texts, autojunk=False).get_opcodes() if each[0] != "equal"]
    old = {number + 1 for _, first, last, _, _ in parts for number in range(first, last)}
    new = {number + 1 for _, _, _, first, last in parts for number in range(first, last)}
    moved = Counter(before.code(each) for each in _moves(before).values() if before.line_of(each) in old)
    for receiver, call in _moves(after).items():
        if after.line_of(call) in new:
            moved[after.code(call)] -= 1
            if moved[after.code(call)] < 0:
                yield receiver, call


def _moves(file: File) -> Mapping[cst.BaseExpression, cst.Call]:
    """Return the moves of names and attributes to a device, by what they move."""
    calls = [each for each in file.within(file.module) if is_move(each) and device_text(each)]
    receivers = [(each.func.value, each) for each in calls if isinstance(each.func, cst.Attribute)]
    return {node: call for node, call in receivers if isinstance(node, cst.Name | cst.Attribute)}


def _is_settled(file: File, node: cst.BaseExpression) -> bool:
    """Return whether a use moves a constant, calls it, or needs it on the host."""
    parent = file.parent(node)
    is_called = isinstance(parent, cst.Call) and parent.func is node
    if is_called or not is_on_device(file, node) or is_for_host(file, node):
        return True
    call = method_call_on(file, node)
    while call is not None:
        if is_move(call) and (device_text(call) or not call.args):
            return True
        call = method_call_on(file, call)
    return False


def _wanted_device(file: File, node: cst.BaseExpression) -> str:
    """Return the device of the nearest tensor with which an operator combines an expression; "" if it is not known."""
    every = [node, *file.ancestors(node)]
    for around in every[1:]:
        if isinstance(around, cst.BaseStatement):
            break
        for side in _operands(file, around):
            name = next(_tensors(file, side), "") if side not in every else ""
            if name:
                return f"{name}.device"
    return ""


def _operands(file: File, node: cst.CSTNode) -> list[cst.BaseExpression]:
    """Return what arithmetic, a comparison, or a function of torch that creates nothing combines; else nothing."""
    if isinstance(node, cst.BinaryOperation):
        return [node.left, node.right]
    if isinstance(node, cst.Comparison):
        return [node.left, *(each.comparator for each in node.comparisons)]
    is_torch = isinstance(node, cst.Call) and file.qualified_name(node.func).startswith("torch.")
    if not is_torch or not isinstance(node, cst.Call) or last_name(node.func) in FACTORIES:
        return []
    return [each.value for each in node.args]


def _tensors(file: File, node: cst.BaseExpression) -> Iterator[str]:
    """Yield the variables and attributes, which may be tensors, of which arithmetic, views and methods are computed."""
    if isinstance(node, cst.BinaryOperation):
        yield from (each for side in (node.left, node.right) for each in _tensors(file, side))
    elif isinstance(node, cst.UnaryOperation):
        yield from _tensors(file, node.expression)
    elif isinstance(node, cst.Subscript):
        yield from _tensors(file, node.value)
    elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        if node.func.attr.value not in SAME_EVERYWHERE and not is_move(node) and not file.qualified_name(node.func):
            yield from _tensors(file, node.func.value)
    elif isinstance(node, cst.Name | cst.Attribute):
        text = file.code(node)
        if is_on_device(file, node) and _may_be_tensor(file, node, text):
            yield text


def _may_be_tensor(file: File, node: cst.BaseExpression, text: str) -> bool:
    """Return whether an expression is a variable of its function, or an attribute of one, and not known as a number."""
    function, root = file.function_of(node), root_name(text)
    if function is None or not is_local(function, root) or not is_bound(file, node, text):
        return False
    if isinstance(node, cst.Attribute) and node.attr.value in SAME_EVERYWHERE:
        return False
    given = assigned_values(file, text, function)
    return not may_be_no_tensor(file, node, root) and not any(isinstance(each, NUMBERS) for each in given)
