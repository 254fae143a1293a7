"""Modules that test code calls for the first time: called once on another GPU before, and moved.

What the code under test keeps of that call is stale then. A tensor that the move leaves behind fails the call: the
module was given it, and keeps it where `.to` does not see it. What an earlier call has left in a cache is on the GPU of
the test, too: the call goes on with a copy, for it says nothing of what comes after.
"""

from __future__ import annotations

import linecache
import re
import sys
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
    """The module that is called on the other GPU now."""

    module: torch.nn.Module | None = None


def _call(original: Any) -> Any:
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if (
            devices.target().index != stale.OTHER
            and id(self) not in stale.warmed
            and modules.is_called_by_test(self, sys._getframe(1))
        ):
            stale.warmed.add(id(self))
            _warm(original, self, args, kwargs)
        return original(self, *args, **kwargs)

    return __call__


def _warm(original: Any, module: Any, args: Any, kwargs: Any) -> None:
    """Call a module on the other GPU before test code first calls it, and move it back; its state stays as it was."""
    state = {name: value.detach().clone() for name, value in module.state_dict().items() if torch.is_tensor(value)}
    gpus = getattr(torch, kinds.now().name)
    streams = torch.get_rng_state(), gpus.get_rng_state_all()
    other, target = torch.device(kinds.now().name, stale.OTHER), devices.target()
    try:
        module.to(other)
        _WarmUp.module = module
        with stale.calls():
            original(module, *tree_map(_on(other), args), **tree_map(_on(other), kwargs))
    except Exception as error:
        # Other passes find what fails by itself; this one, what the move has left behind.
        if _is_left_behind(module, marks.strays(error, target), target):
            raise
    finally:
        _WarmUp.module = None
        module.to(target)
        with torch.no_grad():
            for name, value in module.state_dict().items():
                if name in state and value.shape == state[name].shape:
                    value.copy_(state[name])
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
        if not is_mixed or _is_left_behind(module, strays, target):
            return before(error, func, args, kwargs)
        return mixtures.run_on(torch.device(target.type, stale.OTHER), func, args, kwargs)

    return again


def _creations(values: Any, device: torch.device) -> set[int]:
    tensors = (each for each in tree_leaves(values) if isinstance(each, torch.Tensor) and each.device == device)
    return {moment for each in tensors if (moment := records.creation_moment(each)) is not None}


def _is_left_behind(module: Any, strays: set[int], device: torch.device) -> bool:
    """Note a tensor that a module keeps and its move has left on a GPU; return whether a strict run fails by it."""
    for inner in module.modules() if strays else ():
        attribute = kept.attribute_of(inner, strays, device)
        place = attribute and _assignment_location(type(inner), attribute)
        if place:
            call = creations.Call(type(module).forward.__name__, *_first_line(type(module).forward))
            is_chosen = silent.note(silent.NOT_MOVED, place, call, f"{type(inner).__name__}.{attribute}")
            return is_chosen and silent.is_strict()
    return False


def _first_line(function: Any) -> tuple[str, int]:
    code = function.__code__
    return code.co_filename, code.co_firstlineno


def _assignment_location(kind: type, attribute: str) -> tuple[str, int, str] | None:
    """Return where the constructor of a class of the code under test assigns an attribute."""
    for each in kind.__mro__:
        code = getattr(vars(each).get("__init__"), "__code__", None)
        if code is None or kind_of(code) != Whose.CODE:
            continue
        lines = {line for _, _, line in code.co_lines() if line}
        for line in sorted(lines):
            if re.match(rf"\s*self\.{re.escape(attribute)}\b[^=]*=(?!=)", linecache.getline(code.co_filename, line)):
                return code.co_filename, line, f"{each.__qualname__}.__init__"
    return None


def install() -> None:
    """Call modules on another GPU first, from now on."""
    replace(torch.nn.Module, "__call__", _call(torch.nn.Module.__call__))
    before, hooks.again = hooks.again, _going_on(hooks.again)

    def restore() -> None:
        hooks.again = before

    undo_with(restore)
