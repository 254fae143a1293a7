"""Replace operator-internal temporaries by the user-visible tensors they came from.

`binary_cross_entropy_with_logits` computes `1 - target` before it combines it with the input, which fails. That
temporary has neither a name nor a creation that an edit could change.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from devfix.model import Failure, NameRef, Operand, ScopeVariable
from devfix.sdk.fixes.call_result import occurrences
from devfix.sdk.fixes.factories import FACTORIES
from devfix.sdk.fixes.moves import is_written_to
from devfix.source import File, Sources, last_name
from devfix.source.edits import expressions


def resolve_temporaries(failure: Failure, source: Sources) -> Failure:
    """Return the failure with the arguments of the failing expression in place of the operator's own temporaries.

    If several of its tensor arguments are on that device, one of the operand's shape comes first.

    >>> resolve_temporaries(failure, source) == failure
    True
    """
    if not any(_is_own(failure, each) for each in failure.operands):
        return failure
    frame = max(number for number, each in enumerate(failure.frames) if each.place == failure.at)
    found = [_arguments(failure, frame, each, source) if _is_own(failure, each) else each for each in failure.operands]
    return replace(failure, operands=tuple(found))


def _is_own(failure: Failure, operand: Operand) -> bool:
    """Return whether an operand was created by the failing call itself, so that owned code has no name for it."""
    creation = operand.creation
    if operand.names or operand.transfers or creation is None:
        return False
    return creation.places[:1] == (failure.at,) and not failure.frames[-1].place.owned


def _arguments(failure: Failure, frame: int, operand: Operand, source: Sources) -> Operand:
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
        return _creation_in(operand, file, root, place.function)
    names = (NameRef(frame, found[0].expression),)
    # What the operator writes into is its own temporary, not the tensor that stands for it.
    argument = "" if is_written_to(failure, operand) else operand.argument
    return replace(operand, argument=argument, names=names, history=found[0].history, shape=found[0].shape)


def _creation_in(operand: Operand, file: File, root: cst.CSTNode, function: str) -> Operand:
    """Return the operand as created by the first factory without a device among the failing expression's arguments."""
    creation = operand.history[0]
    for node in file.within(root) if operand.device == "cpu" else ():
        if isinstance(node, cst.Call) and node is not root and _is_factory(node) and _is_given(file, root, node):
            places = (file.place_of(node, function), *creation.places[1:])
            return replace(operand, history=(replace(creation, op=f"aten::{last_name(node.func)}", places=places),))
    return operand


def _is_factory(call: cst.Call) -> bool:
    return last_name(call.func) in FACTORIES and expressions.argument(call, "device") is None


def _is_given(file: File, root: cst.CSTNode, node: cst.CSTNode) -> bool:
    """Return whether a node is an argument of an expression itself, and not of another call in it."""
    around = list(file.ancestors(node))
    return not any(isinstance(each, cst.Call | cst.Lambda) for each in around[: around.index(root)])
