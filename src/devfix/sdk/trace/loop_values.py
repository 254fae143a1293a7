"""Loop variables: each iteration yields a new tensor, so fixes belong inside the loop."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

import libcst as cst

from devfix.model import Diagnosis, Frame, Operand
from devfix.sdk.trace.operands import blamed_operand, names_in
from devfix.source import File, Sources
from devfix.source.queries.loops import assigned_names

SCOPES = (cst.FunctionDef, cst.ClassDef, cst.Lambda)


def loop_variable_frame(diagnosis: Diagnosis, source: Sources) -> int | None:
    """Return the number of the outermost frame in which the blamed operand is a variable of a loop that still runs.

    A number that a loop takes from a tensor, `for t in torch.linspace(0, 1, 10)`, is where that one tensor is.

    >>> loop_variable_frame(diagnosis, source) is None
    True
    """
    failure, operand = diagnosis.failure, blamed_operand(diagnosis)
    for number, frame in enumerate(failure.frames):
        for held in names_in(operand, number):
            file = source.file(frame.place)
            node = file.root_at(frame.place) if file is not None else None
            if file is None or node is None or _is_step(operand, frame, held.expression):
                continue
            if is_loop_variable(file, node, held.expression):
                return number
    return None


def _is_step(operand: Operand, frame: Frame, name: str) -> bool:
    """Return whether a name is a number that was taken from a tensor, and not one of many tensors."""
    is_taken = any(event.op in ("aten::unbind", "aten::select") for event in operand.history)
    return is_taken and any(each.expression == name and not each.shape for each in frame.scope if each.kind == "tensor")


def is_loop_variable(file: File, node: cst.CSTNode, name: str) -> bool:
    """Return whether a `for` or comprehension around a node binds a name, and nothing else in the loop rebinds it.

    >>> file = File("m.py", b"for x, y in pairs:\\n    y = y + 1\\n    f(x, y)\\n")
    >>> call = file.find(file.module, "f(x, y)")[0]
    >>> is_loop_variable(file, call, "x"), is_loop_variable(file, call, "y")
    (True, False)
    """
    for around in takewhile(lambda each: not isinstance(each, SCOPES), file.ancestors(node)):
        names = {each.value for each in _targets(file, around) if isinstance(each, cst.Name)}
        if name in names:
            return not isinstance(around, cst.For) or name not in assigned_names(file, around.body)
    return False


def _targets(file: File, loop: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the targets of a loop or comprehension; nothing for other code."""
    if isinstance(loop, cst.For):
        yield from file.within(loop.target)
    turn = loop.for_in if isinstance(loop, cst.BaseComp) else None
    while turn is not None:
        yield from file.within(turn.target)
        turn = turn.inner_for_in
