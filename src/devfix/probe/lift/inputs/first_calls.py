"""Modules that test code calls for the first time: called once on another GPU before, and moved.

What the code under test keeps of that call is stale then. A tensor that the move leaves behind fails the call: the
module was given it, and keeps it where `.to` does not see it.
"""

from __future__ import annotations

import linecache
import re
import sys
from typing import Any

import torch
from torch.utils._pytree import tree_map

from ...simulation.accelerators import kinds
from ...simulation.patching import replace
from .. import boundaries, devices
from ..findings import kept, marks, silent, stale
from ..whose import Whose, kind_of


def _call(original: Any) -> Any:
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if (
            devices.target().index != stale.OTHER
            and id(self) not in stale.warmed
            and kind_of(sys._getframe(1).f_code) == Whose.TEST
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
        with stale.calls():
            original(module, *tree_map(_on(other), args), **tree_map(_on(other), kwargs))
    except Exception as error:
        # Other passes find what fails by itself; this one, what the move has left behind.
        if _is_left_behind(module, error, target):
            raise
    finally:
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


def _is_left_behind(module: Any, error: BaseException, device: torch.device) -> bool:
    """Note a tensor that a module keeps and its move has left on a GPU; return whether a strict run fails by it."""
    strays = marks.strays(error, device)
    for inner in module.modules() if strays else ():
        attribute = kept.attribute_of(inner, strays, device)
        place = attribute and _assigned(type(inner), attribute)
        if place:
            call = boundaries.Call(type(module).forward.__name__, *_first_line(type(module).forward))
            is_chosen = silent.note(silent.NOT_MOVED, place, call, f"{type(inner).__name__}.{attribute}")
            return is_chosen and silent.is_strict()
    return False


def _first_line(function: Any) -> tuple[str, int]:
    code = function.__code__
    return code.co_filename, code.co_firstlineno


def _assigned(kind: type, attribute: str) -> tuple[str, int, str] | None:
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
