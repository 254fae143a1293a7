"""Operands that an operator made for itself: what it was given in their place, as the owned code names it.

`binary_cross_entropy_with_logits` computes `1 - target` before it meets the input, and that fails; its own temporary
has neither a name nor a birth that an edit could reach.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devfix.model import Failure, NameRef, Operand, ScopeVariable
from devfix.sdk.fixes.call_result import occurrences
from devfix.sdk.fixes.factories import FACTORIES
from devfix.source import File, Sources, last_name
from devfix.source.edits.expressions import argument


def with_given(failure: Failure, source: Sources) -> Failure:
    """The failure with what the failing expression was given in the place of what the operator made for itself.

    Where several tensors that it was given lie on that device, one of the operand's shape comes first.

    >>> with_given(failure, source) == failure
    True
    """
    if not any(_is_own(failure, each) for each in failure.operands):
        return failure
    frame = max(number for number, each in enumerate(failure.frames) if each.place == failure.at)
    found = [_given(failure, frame, each, source) if _is_own(failure, each) else each for each in failure.operands]
    return replace(failure, operands=tuple(found))


def _is_own(failure: Failure, operand: Operand) -> bool:
    """Whether an operand was made where it failed, and deeper in the stack than that: nobody has a name for it."""
    birth = operand.creation
    if operand.names or operand.transfers or birth is None:
        return False
    return birth.places[:1] == (failure.at,) and not failure.frames[-1].place.owned


def _given(failure: Failure, frame: int, operand: Operand, source: Sources) -> Operand:
    place = failure.frames[frame].place
    file = source.file(place)
    root = file.root_at(place) if file is not None else None
    if file is None or root is None:
        return operand
    every = [
        each
        for each in failure.frames[frame].scope
        if each.kind == "tensor" and each.device == operand.device and occurrences(file, root, each.expression)
    ]
    found: list[ScopeVariable] = sorted(every, key=lambda each: (each.shape != operand.shape, len(each.expression)))
    if not found:
        return _made_there(operand, file, root, place.function)
    names = (NameRef(frame, found[0].expression),)
    return replace(operand, names=names, history=found[0].history, shape=found[0].shape)


def _made_there(operand: Operand, file: File, root: cst.CSTNode, function: str) -> Operand:
    """The operand as made by the first factory without a device among what the failing expression is given."""
    birth = operand.history[0]
    for node in file.within(root) if operand.device == "cpu" else ():
        if isinstance(node, cst.Call) and node is not root and _is_factory(node) and _is_given(file, root, node):
            places = (file.place_of(node, function), *birth.places[1:])
            return replace(operand, history=(replace(birth, op=f"aten::{last_name(node.func)}", places=places),))
    return operand


def _is_factory(call: cst.Call) -> bool:
    return last_name(call.func) in FACTORIES and argument(call, "device") is None


def _is_given(file: File, root: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Whether a node is an argument of an expression itself, and of no other call in it."""
    around = list(file.ancestors(node))
    return not any(isinstance(each, cst.Call | cst.Lambda) for each in around[: around.index(root)])
