"""Collect the scope of a frame: each expression that holds a tensor, a module, a device or an optimizer.

Number and work are limited, nearest first; no code of the user is run (members.py).
"""

from __future__ import annotations

import dis
import re
import time
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

import torch

from ..simulation.accelerators import devices as simulated
from ..simulation.accelerators import kinds, real_accelerator
from .instances import is_instance, property_device
from .members import Device, Module, instance_dict, is_a, is_container, is_open, members

Held = tuple[str, str, Any]  # expression, kind, value
_MOST = 400
_VISITS = 6_000
_SECONDS = 0.25  # of CPU time, so that a busy machine finds as much as an idle one
_DEPTH = 2
_INSTANCES = 60
_DEVICE = re.compile(r"(cpu|cuda|mps|meta|xpu|hpu|npu)(:\d{1,3})?")
_INDEX = re.compile(r"(^|.*[._\"'])(device|dev|gpu|rank)(_id|_index|_idx)?[\"'\]]*")
IPYTHON = re.compile(r"In|Out|_{1,3}|_i{1,3}|_[dio]h|_i?\d+")  # what a notebook's namespace keeps of former cells
_SAYS = ("device", "string", "index")


def names(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """Yield the names that the frame's code can use: locals and closure first, then the globals that it uses.

    Other globals that are devices come last: code that lacks a device does not use them yet.
    """
    variables = frame.f_locals
    is_cell = "get_ipython" in variables
    for name in list(variables):
        is_special = (name.startswith("__") and name.endswith("__")) or (is_cell and IPYTHON.fullmatch(name))
        if name.isidentifier() and not is_special:
            yield name, variables[name]
    if frame.f_globals is variables:
        return
    for name in frame.f_code.co_names:
        if name not in variables and name in frame.f_globals:
            yield name, frame.f_globals[name]
    known = {*variables, *frame.f_code.co_names}
    for name, value in list(frame.f_globals.items()):
        if name not in known and _INDEX.fullmatch(name.lower()) and kind_of(value) in ("device", "string"):
            yield name, value


def look(frame: FrameType, most: int = _MOST) -> list[Held]:
    """Return the expressions of a frame that hold something with a device, and what they hold; nearest first."""
    used = frozenset(frame.f_code.co_names)
    first = frame.f_code.co_varnames[0] if frame.f_code.co_argcount else ""
    # A global with the name of an attribute is in scope, but not inspected, since the code reads the attribute.
    read = {*frame.f_locals, *_loaded_globals(frame.f_code)}
    queue = deque((name, value, _DEPTH if name in read else 0) for name, value in names(frame))
    found: list[Held] = []
    plain: dict[str, Any] = {}  # the inspected objects
    instances: list[Held] = []
    seen: set[int] = set()
    visits, deadline = 0, time.thread_time() + _SECONDS
    while queue and len(found) < most and visits < _VISITS:
        expression, value, depth = queue.popleft()
        visits += 1
        if visits % 256 == 0 and time.thread_time() > deadline:
            break
        kind = kind_of(value) or _index(expression, value)
        if kind:
            found.append((expression, kind, value))
        elif depth and len(instances) < _INSTANCES and is_instance(value):
            instances.append((expression, "instance", value))
        if depth and kind in ("", "module") and (device := property_device(value)) is not None:
            found.append((f"{expression}.device", "device", device))
        if kind in ("", "module", "optimizer") and depth and id(value) not in seen:
            opened = expression == first or expression == "self"
            steps = [(name, item, depth - 1) for name, item in members(expression, value, used, opened)]
            if steps:
                seen.add(id(value))
                queue.extend(steps)
                if type(value) in (dict, list, tuple) and _holds_others(steps):
                    found.append((expression, "container", value))
                if _is_numbered(value, steps):
                    found.append((expression, "dictionary", value))
                if not kind and is_open(type(value)):
                    plain[expression] = value
        elif not kind and expression.count("[") in (1, 2) and id(value) not in seen and is_container(value):
            seen.add(id(value))
            steps = [(name, item, 0) for name, item in members(expression, value, used, False)]
            queue.extend(steps)
            if _is_numbered(value, steps):
                found.append((expression, "dictionary", value))
    objects: list[Held] = [(text, "object", value) for text, value in plain.items() if _declares(text, found)]
    named = {text for text, _, _ in objects}
    return (found + objects + [each for each in instances if each[0] not in named])[:most]


def _holds_others(steps: list[tuple[str, Any, int]]) -> bool:
    """Return whether a container holds tensors and something else: texts beside the tensors of a batch."""
    return len({kind_of(item) == "tensor" for _, item, _ in steps}) > 1


def _is_numbered(value: Any, steps: list[tuple[str, Any, int]]) -> bool:
    """Return whether a value is a dictionary with tensors under numbers, whose elements look like those of a list."""
    return is_a(value, dict) and any(name[-2:-1].isdigit() and kind_of(item) == "tensor" for name, item, _ in steps)


def _declares(text: str, found: list[Held]) -> bool:
    """Return whether an object, or one that it holds, has a device attribute."""
    return any(kind in _SAYS and expression.startswith(f"{text}.") for expression, kind, _ in found)


def _index(expression: str, value: Any) -> str:
    """Return the kind of an integer whose name stands for a GPU, if the program uses GPUs."""
    if type(value) is not int or not 0 <= value < 64 or not _INDEX.fullmatch(expression):
        return ""
    if simulated.installed_gpus():
        return "index" if simulated.is_used() and value < simulated.count() else ""
    return "index" if real_accelerator.is_in_use() and value < real_accelerator.count() else ""


@lru_cache(maxsize=256)
def _loaded_globals(code: CodeType) -> frozenset[str]:
    """Return the globals that a function reads; `co_names` also contains attributes."""
    return frozenset(each.argval for each in dis.get_instructions(code) if each.opname in ("LOAD_GLOBAL", "LOAD_NAME"))


def kind_of(value: Any) -> str:
    """Return the kind of ScopeVariable for a value, "" for none."""
    kind = type(value)
    if kind is str:
        return "string" if len(value) < 10 and _DEVICE.fullmatch(value) else ""
    if kind is Device:
        return "device"
    mro = kind.__mro__
    if torch.Tensor in mro:
        return "tensor"
    if Module in mro:
        return "module"
    return "optimizer" if torch.optim.Optimizer in mro else ""


def device_of(kind: str, value: Any) -> str:
    """Return the device of a value, "mixed", or "" if it holds nothing."""
    if kind in ("string", "device"):
        return str(value)
    if kind == "index":
        return f"{kinds.now().name}:{value}"
    if kind == "tensor":
        return str(value.device)
    if kind in ("object", "instance", "container", "dictionary"):
        return ""
    found: set[str] = set()
    for tensor in module_tensors(value) if kind == "module" else optimizer_tensors(value):
        found.add(str(tensor.device))
        if len(found) > 1:
            return "mixed"
    return found.pop() if found else ""


def module_tensors(module: Any) -> Iterator[Any]:
    """Yield the parameters and buffers of a module and of all below it, without calling the module."""
    stack, seen = [module], set()
    while stack:
        own = instance_dict(stack.pop())
        for table in (own.get("_parameters"), own.get("_buffers")):
            for tensor in list((table or {}).values()):
                if tensor is not None and is_a(tensor, torch.Tensor):
                    yield tensor
        for below in list((own.get("_modules") or {}).values()):
            if below is not None and id(below) not in seen:
                seen.add(id(below))
                stack.append(below)


def optimizer_tensors(optimizer: Any) -> Iterator[Any]:
    """Yield the tensors that an optimizer updates."""
    for group in instance_dict(optimizer).get("param_groups") or ():
        yield from (tensor for tensor in group.get("params", ()) if is_a(tensor, torch.Tensor))
