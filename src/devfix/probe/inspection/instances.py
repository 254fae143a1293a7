"""Objects that are neither tensors nor modules: their classes, and the device that a property returns.

None of their code is run, as for everything in a scope (members.py).
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from typing import Any

import torch

from .members import Device, Module, instance_dict, is_a

_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: the class was created by Python code, or by an extension in the same way
_MOST_CLASSES = 12
_MOST_VALUES = 64
_STEPS = 2
_NO_OBJECTS = (type, BaseException, tuple, list, dict, set, str, int, float)
_module_of = type.__dict__["__module__"].__get__  # also of classes written in C, and without a metaclass's own code
_LOADED = ("torch.utils.data.",)  # classes of torch whose objects yield or hold tensors


class Property(str):
    """The device that a property returns, with the property's name, to distinguish it from a stored device."""

    __slots__ = ()


def is_instance(value: Any) -> bool:
    """Return whether a value is an object of a class of the program, of an installed package, or a loader of torch."""
    kind = type(value)
    if not kind.__flags__ & _HEAP_TYPE or any(is_a(value, each) for each in _NO_OBJECTS):
        return False
    return bool(classes(kind))


def classes(kind: type) -> list[str]:
    """Return the full names of a class and its bases, without those of Python, and of torch except its loaders."""
    names = (f"{each.__dict__.get('__module__', 'builtins')}.{each.__qualname__}" for each in kind.__mro__)
    return list(itertools.islice((name for name in names if _counts(name)), _MOST_CLASSES))


def qualified_type(kind: type) -> str:
    """Return the full name of a class: "torch.nn.modules.linear.Linear", "int"."""
    kind = Device if kind is Property else kind
    return f"{_module_of(kind)}.{kind.__qualname__}".removeprefix("builtins.")


def _counts(name: str) -> bool:
    package = name.partition(".")[0]
    if package == "torch":
        return name.startswith(_LOADED)
    return package == "__main__" or package not in sys.stdlib_module_names


def property_device(value: Any) -> Property | None:
    """Return the device that the property `device` of a module or object returns; None if that is not obvious.

    The property is not called. It reads `_device`, or is the only device of the module, or the only one found within
    two steps among the object's attributes.
    """
    if not _has_property(type(value)):
        return None
    own = instance_dict(value)
    if type(own.get("_device")) is Device:
        return Property(own["_device"])
    found = set(_devices_of(value) if is_a(value, Module) else _devices_in(own, _STEPS))
    return Property(found.pop()) if len(found) == 1 else None


def _has_property(kind: type) -> bool:
    """Return whether a class has a property `device` that no subclass attribute hides."""
    for klass in kind.__mro__:
        if "device" in klass.__dict__:
            return is_a(klass.__dict__["device"], property)
    return False


def _devices_in(attributes: dict[str, Any], steps: int) -> Iterator[Any]:
    for value in list(attributes.values())[:_MOST_VALUES]:
        if type(value) is Device:
            yield value
        elif is_a(value, Module):
            yield from _devices_of(value)
        elif steps > 1 and type(value).__flags__ & _HEAP_TYPE and not is_a(value, type):
            yield from _devices_in(instance_dict(value), steps - 1)


def _devices_of(module: Any) -> Iterator[Any]:
    stack, seen = [module], {id(module)}
    while stack:
        own = instance_dict(stack.pop())
        for table in (own.get("_parameters"), own.get("_buffers")):
            yield from (each.device for each in list((table or {}).values()) if is_a(each, torch.Tensor))
        for below in list((own.get("_modules") or {}).values()):
            if below is not None and id(below) not in seen:
                seen.add(id(below))
                stack.append(below)
