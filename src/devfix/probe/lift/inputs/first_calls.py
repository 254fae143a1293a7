"""Modules that test code calls for the first time: called once on another GPU before, and moved.

What the code under test keeps of that call is stale then. A tensor that the move leaves behind fails the call: the
module was given it, and keeps it where `.to` does not see it. What an earlier call has left in a cache is on the GPU of
the test, too: the call goes on with a copy, for it says nothing of what comes after.
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from ...capture.kinds import MIXED
from ...capture.kinds import kind_of as kind_of_failure
from ...provenance import records
from ...simulation import hooks
from ...simulation.accelerators import kinds
from ...simulation.patching import replace, undo_with
from .. import creations, devices, modules
from ..findings import kept, marks, silent, stale
from ..whose import Whose, kind_of
from . import mixtures


class _WarmUp:
    """The module that is called on the other GPU now, and the function of it that is called."""

    module: torch.nn.Module | None = None
    function: Any = None


def is_running() -> bool:
    """Return whether a module is called on the other GPU now: what it calls there, of test code too, has no warm-up."""
    return _WarmUp.module is not None


def _call(original: Any) -> Any:
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if (
            devices.target().index != stale.OTHER
            and not is_running()
            and id(self) not in stale.warmed
            and modules.is_called_by_test(self, sys._getframe(1))
            and modules.devices_of(self) <= {devices.target()}  # test code may want it on the host
        ):
            stale.warmed.add(id(self))
            _warm(original, self, args, kwargs)
        return original(self, *args, **kwargs)

    return __call__


def _warm(original: Any, module: Any, args: Any, kwargs: Any) -> None:
    """Call a module on the other GPU before test code first calls it, and move it back; its state stays as it was."""
    state = {name: value.detach().clone() for name, value in module.state_dict().items() if torch.is_tensor(value)}
    try:
        call_moved(module, type(module).forward, original, args, kwargs)
    finally:
        module.to(devices.target())
        with torch.no_grad():
            for name, value in module.state_dict().items():
                if name in state and value.shape == state[name].shape:
                    value.copy_(state[name])


def call_moved(module: Any, function: Any, call: Any, args: Any, kwargs: Any) -> Any:
    """Move a module to the other GPU and call it there by `call`, which comes to `function`; return its result.

    A failure is raised where a strict run fails by it; there is no result otherwise.
    """
    other, target = torch.device(kinds.now().name, stale.OTHER), devices.target()
    try:
        module.to(other)
        _WarmUp.module, _WarmUp.function = module, function
        with kept_streams(), stale.calls():
            return call(module, *tree_map(_on(other), args), **tree_map(_on(other), kwargs))
    except Exception as error:
        # Other passes find what fails by itself; this one, what the move has left behind.
        if is_left_behind(module, function, marks.strays(error, target), target):
            raise
        return None
    finally:
        _WarmUp.module = _WarmUp.function = None


@contextmanager
def kept_streams() -> Iterator[None]:
    """Let generators draw on afterwards as if nothing had been drawn in between."""
    gpus = getattr(torch, kinds.now().name)
    streams = torch.get_rng_state(), gpus.get_rng_state_all()
    try:
        yield
    finally:
        torch.set_rng_state(streams[0])
        gpus.set_rng_state_all(streams[1])


def _on(device: torch.device) -> Any:
    def moved(value: Any) -> Any:
        return value.detach().to(device) if isinstance(value, torch.Tensor) and devices.is_on_gpu(value) else value

    return moved


def _going_on(before: Any) -> Any:
    """Let a warm-up go on behind a tensor of the GPU on which the test has its own, once that is noted."""

    def again(error: BaseException, func: Any, args: Any, kwargs: Any) -> Any:
        module, target = _WarmUp.module, devices.target()
        strays = set() if module is None else _creations((args, kwargs), target)
        is_mixed = bool(strays) and kind_of_failure(str(error)) in MIXED
        if not is_mixed or is_left_behind(module, _WarmUp.function, strays, target):
            return before(error, func, args, kwargs)
        return mixtures.run_on(torch.device(target.type, stale.OTHER), func, args, kwargs)

    return again


def _creations(values: Any, device: torch.device) -> set[int]:
    tensors = (each for each in tree_leaves(values) if isinstance(each, torch.Tensor) and each.device == device)
    return {moment for each in tensors if (moment := records.creation_moment(each)) is not None}


def is_left_behind(module: Any, function: Any, strays: set[int], device: torch.device) -> bool:
    """Note a tensor that a module keeps and its move has left on a GPU; return whether a strict run fails by it.

    `function` is the one that test code calls of the module.
    """
    for inner in module.modules() if strays else ():
        attribute = kept.attribute_of(inner, strays, device)
        place = attribute and _assignment_location(type(inner), attribute)
        if place:
            call = creations.Call(function.__name__, *_first_line(function))
            is_chosen = silent.note(silent.NOT_MOVED, place, call, f"{type(inner).__name__}.{attribute}")
            return is_chosen and silent.is_strict()
    return False


def _first_line(function: Any) -> tuple[str, int]:
    code = function.__code__
    return code.co_filename, code.co_firstlineno


def _assignment_location(kind: type, attribute: str) -> tuple[str, int, str] | None:
    """Return where a class of the code under test assigns an attribute: in its constructor, or a method otherwise."""
    found = [place for each in kind.__mro__ if (place := _assignment_in(each, "__init__", attribute))]
    methods = ((each, name) for each in kind.__mro__ for name in vars(each))
    return next(iter(found), None) or next(filter(None, (_assignment_in(*each, attribute) for each in methods)), None)


def _assignment_in(kind: type, method: str, attribute: str) -> tuple[str, int, str] | None:
    code = getattr(vars(kind).get(method), "__code__", None)
    if code is None or kind_of(code) != Whose.CODE:
        return None
    lines = {line for _, _, line in code.co_lines() if line}
    for line in sorted(lines):
        if re.match(rf"\s*self\.{re.escape(attribute)}\b[^=]*=(?!=)", linecache.getline(code.co_filename, line)):
            return code.co_filename, line, f"{kind.__qualname__}.{method}"
    return None


def install() -> None:
    """Call modules on another GPU first, from now on."""
    replace(torch.nn.Module, "__call__", _call(torch.nn.Module.__call__))
    before, hooks.again = hooks.again, _going_on(hooks.again)

    def restore() -> None:
        hooks.again = before

    undo_with(restore)
