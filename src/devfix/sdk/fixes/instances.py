"""Find objects in scope by their classes, and the arguments that a caller passed."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from devfix.model import Failure, ScopeVariable
from devfix.sdk.fixes.device_source import calls_function, is_passed_in, leading_parameters
from devfix.sdk.trace.operands import scope_in
from devfix.source import Sources
from devfix.source.edits.expressions import argument
from devfix.source.queries.reading import parameters


def is_of(binding: ScopeVariable, *classes: str) -> bool:
    """Return whether a module or object is an instance of one of these classes or of a subclass.

    A class is named by its package and its own name, since its module differs between releases.

    >>> names = ("main.Shard", "torch.utils.data.dataloader.DataLoader")
    >>> loader = ScopeVariable("rows", "instance", "", "Shard", classes=names)
    >>> is_of(loader, "torch.DataLoader"), is_of(loader, "accelerate.DataLoaderShard")
    (True, False)
    """
    wanted = [each.split(".") for each in classes]
    own = [each.split(".") for each in binding.classes]
    return any(name[0] == each[0] and name[-1] == each[-1] for each in own for name in wanted)


def objects_of(failure: Failure, *classes: str, frame: int | None = None) -> list[ScopeVariable]:
    """Return the modules and objects of some classes in scope, in one frame or, deepest first, in any.

    >>> objects_of(failure, "accelerate.Accelerator")
    []
    """
    frames: Sequence[int] = range(len(failure.frames))[::-1] if frame is None else [frame]
    found = [each for number in frames for each in scope_in(failure, number) if is_of(each, *classes)]
    return sorted(found, key=lambda each: each.expression.count(".")) if frame is not None else found


def passed_in(failure: Failure, frame: int, name: str, source: Sources) -> tuple[int, cst.BaseExpression] | None:
    """Return the frame of the caller, and what it passes for a parameter of a frame's function.

    Returns None if the name is not a parameter, is assigned in the function, or no owned call passes it.

    >>> number, passed = passed_in(failure, len(failure.frames) - 1, "x", source)
    >>> number, source.file(failure.at).code(passed)
    (0, 'torch.ones(2, 8).to("cuda")')
    """
    place = failure.frames[frame].place
    file = source.file(place)
    node = file.root_at(place) if file is not None else None
    function = file.function_of(node) if file is not None and node is not None else None
    if file is None or function is None or not is_passed_in(file, function, name):
        return None
    owned = [number for number in range(frame) if failure.frames[number].place.owned]
    outer = failure.frames[owned[-1]].place if owned else None
    caller = source.file(outer) if outer is not None else None
    call = caller.call_at(outer) if caller is not None and outer is not None else None
    if caller is None or call is None or not calls_function(caller, call, file, function, source):
        return None
    position = parameters(function).index(name) - leading_parameters(file, function)
    found = argument(call, name, position) if position >= 0 else None
    return (owned[-1], found.value) if found is not None else None
