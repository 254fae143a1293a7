"""Look up the variables that were in scope at a location, and their devices."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from devfix.model import Failure, Operand, ScopeVariable, SourceLocation, is_on_gpu
from devfix.sdk.trace.derived import begins
from devfix.sdk.trace.operands import scope_in
from devfix.sdk.trace.sites import scope_at
from devfix.source import File


def binding_at(failure: Failure, place: SourceLocation, expression: str) -> ScopeVariable | None:
    """Return the variable that an expression was at a location; None if unknown.

    >>> found = binding_at(failure, failure.at, "x")
    >>> found.kind, found.device, found.shape
    ('tensor', 'cuda:0', (2, 8))
    """
    return next((each for each in scope_at(failure, place) if each.expression == expression), None)


def device_at(failure: Failure, place: SourceLocation, expression: str) -> str:
    """Return the device of an expression at a location: "cuda:0", "cpu", or "mixed" for a module on several devices.

    Returns "" if unknown.

    >>> [device_at(failure, failure.at, name) for name in ("x", "positions", "y")]
    ['cuda:0', 'cpu', '']
    """
    found = binding_at(failure, place, expression)
    return found.device if found else ""


def named_at(failure: Failure, place: SourceLocation, operand: Operand) -> list[str]:
    """Return the names at a location of an operand, or of a tensor it was computed from; nearest first.

    >>> named_at(failure, failure.at, failure.operands[0])
    ['x']
    """
    found = [
        each
        for each in scope_at(failure, place)
        if each.kind == "tensor" and (each.history == operand.history or begins(operand.history, each.history))
    ]
    found.sort(key=lambda each: (-len(each.history), each.expression.count("."), len(each.expression)))
    return [each.expression for each in found if each.history]


def on_device(scope: Iterable[ScopeVariable], device: str, *kinds: str) -> list[ScopeVariable]:
    """Return the variables of a scope on a device, shortest expression first; `kinds` as in `ScopeVariable.kind`.

    >>> [each.expression for each in on_device(ctx.scope_at(failure.at), "cuda:0", "tensor")]
    ['x', 'self.scale']
    """
    found = [each for each in scope if each.device == device and (not kinds or each.kind in kinds)]
    return sorted(found, key=lambda each: (each.expression.count("."), len(each.expression)))


def device_in(failure: Failure, frame: int, expression: str) -> str:
    """Return the device of an expression in a frame, by the frame's number; "" if unknown.

    >>> device_in(failure, 0, "model")
    'cuda:0'
    """
    return next((each.device for each in scope_in(failure, frame) if each.expression == expression), "")


def scope_of(failure: Failure, file: File, node: cst.CSTNode) -> tuple[ScopeVariable, ...]:
    """Return what is known to be in scope at a node of a file, from the frames and records of its function.

    >>> file = source.file(failure.at)
    >>> [each.expression for each in scope_of(failure, file, file.root_at(failure.at)) if each.kind == "tensor"][:2]
    ['x', 'positions']
    """
    names = [
        each.name.value for each in (node, *file.ancestors(node)) if isinstance(each, cst.FunctionDef | cst.ClassDef)
    ]
    function = ".".join(reversed(names)) or "<module>"
    places = [frame.place for frame in failure.frames] + [place for place, _ in failure.scopes]
    found = (place for place in places if place.path == file.path)
    same = (place for place in found if place.function.replace(".<locals>", "") == function)
    return next((scope for place in same if (scope := scope_at(failure, place))), ())


def is_spread(failure: Failure) -> bool:
    """Return whether a module that owned code holds is on several GPUs, or several modules are on one each.

    >>> is_spread(failure)
    False
    """
    for frame in failure.frames:
        modules = [each for each in frame.scope if each.kind == "module"]
        gpus = {each.device for each in modules if is_on_gpu(each.device)}
        if len(gpus) > 1 or ("mixed" in {each.device for each in modules} and gpus):
            return True
    return False
