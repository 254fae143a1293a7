"""What was seen in scope at a place, and where it lay."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from devfix.model import Failure, Operand, ScopeVariable, SourceLocation
from devfix.sdk.trace.derived import begins
from devfix.sdk.trace.operands import scope_in
from devfix.sdk.trace.sites import scope_at
from devfix.source import File


def binding_at(failure: Failure, place: SourceLocation, expression: str) -> ScopeVariable | None:
    """What an expression held at a place; None where nothing is known of it.

    >>> found = binding_at(failure, failure.at, "x")
    >>> found.kind, found.device, found.shape
    ('tensor', 'cuda:0', (2, 8))
    """
    return next((each for each in scope_at(failure, place) if each.expression == expression), None)


def device_at(failure: Failure, place: SourceLocation, expression: str) -> str:
    """The device of what an expression held at a place: "cuda:0", "cpu", "mixed" for a module that lies on several.

    Empty where nothing is known of it.

    >>> [device_at(failure, failure.at, name) for name in ("x", "positions", "y")]
    ['cuda:0', 'cpu', '']
    """
    found = binding_at(failure, place, expression)
    return found.device if found else ""


def named_at(failure: Failure, place: SourceLocation, operand: Operand) -> list[str]:
    """What an operand, or what it was computed from, was called at a place that the program passed; nearest first.

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
    """The bindings of a scope that lie on a device, shortest expression first; `kinds` as in `ScopeVariable.kind`.

    >>> [each.expression for each in on_device(ctx.scope_at(failure.at), "cuda:0", "tensor")]
    ['x', 'self.scale']
    """
    found = [each for each in scope if each.device == device and (not kinds or each.kind in kinds)]
    return sorted(found, key=lambda each: (each.expression.count("."), len(each.expression)))


def device_in(failure: Failure, frame: int, expression: str) -> str:
    """The device of what an expression holds in a frame, by the frame's number; "" where nothing is known of it.

    >>> device_in(failure, 0, "model")
    'cuda:0'
    """
    return next((each.device for each in scope_in(failure, frame) if each.expression == expression), "")


def scope_of(failure: Failure, file: File, node: cst.CSTNode) -> tuple[ScopeVariable, ...]:
    """What is known to be in scope where a node of a file runs, from the frames and records of its function.

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
    """Whether a module that owned code holds lies on several GPUs, or several modules on one each.

    >>> is_spread(failure)
    False
    """
    for frame in failure.frames:
        modules = [each for each in frame.scope if each.kind == "module"]
        gpus = {each.device for each in modules if each.device.startswith("cuda:")}
        if len(gpus) > 1 or ("mixed" in {each.device for each in modules} and gpus):
            return True
    return False
