"""Inspect objects without running any of their code: instance dicts, slots, module tables, containers by base type.

Properties, `__getattr__`, overridden `__class__`, `__getitem__` and `__iter__` are never called.
"""

from __future__ import annotations

import collections
import itertools
import sys
import types
from collections.abc import Iterator
from typing import Any

import torch

from ..provenance import places

Module = torch.nn.Module
Device = type(torch.device("cpu"))  # a simulated world replaces torch.device
Members = Iterator[tuple[str, Any]]
_LIST_ITEMS = 4
_FIELDS = 12  # of a named tuple
_DICT_ITEMS = 64
_NUMBERED = 12  # of a dictionary with numbers as keys
_PLAIN = (type(None), bool, int, float, complex, bytes, types.FunctionType, types.BuiltinFunctionType, range)


def is_a(value: Any, kind: type) -> bool:
    """Return whether the value's type derives from `kind`, without calling the value."""
    return kind in type(value).__mro__


def is_container(value: Any) -> bool:
    """Return whether the value is a list, tuple or dictionary."""
    return is_a(value, list) or is_a(value, tuple) or is_a(value, dict)


def instance_dict(value: Any) -> dict[str, Any]:
    """Return the object's own attributes; {} if it has none or hides them behind code."""
    for klass in type(value).__mro__:
        descriptor = klass.__dict__.get("__dict__")
        if descriptor is not None:
            # That of types.SimpleNamespace is a member of its C struct; a property could run any code.
            if type(descriptor) not in (types.GetSetDescriptorType, types.MemberDescriptorType):
                return {}
            found = descriptor.__get__(value)
            return found if type(found) is dict else {}
    return {}


def members(expression: str, value: Any, names: frozenset[str], opened: bool) -> Members:
    """Yield what can be reached from `value` in one step, as Python expressions.

    `names` limits what is listed of Python modules; `opened`: the value is a function's `self`.
    """
    kind = type(value)
    if kind in _PLAIN or kind is str:
        return
    if is_a(value, Module):
        yield from module_members(expression, value)
    elif is_a(value, dict):
        numbered = 0
        for key, item in itertools.islice(dict.items(value), _DICT_ITEMS):
            if type(key) is str and len(key) < 100:
                yield f"{expression}[{key!r}]" if "'" in key else f'{expression}["{key}"]', item
            elif type(key) is int and numbered < _NUMBERED:
                numbered += 1
                yield f"{expression}[{key}]", item
        if kind is not dict and kind.__module__ != "collections":
            yield from attributes(expression, value)
    elif is_a(value, collections.UserDict):
        yield from members(expression, instance_dict(value).get("data"), names, opened)
    elif is_a(value, tuple) or is_a(value, list):
        yield from _items(expression, value)
    elif kind is types.ModuleType:
        if places.learn(getattr(value, "__file__", None) or "<none>") == places.OWNED:
            attributes_used = ((name, item) for name, item in vars(value).copy().items() if name in names)
            yield from ((f"{expression}.{name}", item) for name, item in attributes_used)
    elif opened or is_open(kind):
        yield from attributes(expression, value)


def module_members(expression: str, module: Any) -> Members:
    """Yield a module's parameters, buffers, children, and the other attributes in its dict."""
    own = instance_dict(module)
    children = own.get("_modules") or {}
    for table in (own.get("_parameters") or {}, own.get("_buffers") or {}, children):
        for name, item in list(table.items()):
            yield child(expression, module, name), item
    for name, item in list(own.items()):
        if not name.startswith("_") and name.isidentifier() and name != "training":
            yield f"{expression}.{name}", item
    yield from _private_members(expression, own)
    if is_open(type(module)):
        yield from _class_attributes(expression, type(module), own)


def child(expression: str, module: Any, name: str) -> str:
    """Return the expression of a registered member of a module: `model.layers[0]`, `model.heads["a"]`, `model.fc`."""
    if name.isidentifier():
        has_keys = is_a(module, torch.nn.ModuleDict) or is_a(module, torch.nn.ParameterDict)
        return f'{expression}["{name}"]' if has_keys else f"{expression}.{name}"
    return f"{expression}[{name}]" if name.isdigit() else f'{expression}.get_submodule("{name}")'


def _private_members(expression: str, own: dict[str, Any]) -> Members:
    for name, item in list(own.items()):
        if name.startswith("_") and name not in _MODULE_INTERNALS and name.isidentifier():
            yield f"{expression}.{name}", item


_MODULE_INTERNALS = frozenset(Module().__dict__)


def attributes(expression: str, value: Any) -> Members:
    """Yield an object's own attributes, its slots, and those of its class."""
    own = instance_dict(value)
    for name, item in list(own.items())[:_DICT_ITEMS]:
        if type(name) is str and name.isidentifier():
            yield f"{expression}.{name}", item
    for klass in type(value).__mro__:
        for name, descriptor in list(klass.__dict__.items()):
            slot = type(descriptor) is types.MemberDescriptorType and name != "__dict__"
            if slot and klass.__module__ != "builtins":
                try:
                    yield f"{expression}.{name}", descriptor.__get__(value)
                except AttributeError:
                    continue
    yield from _class_attributes(expression, type(value), own)


def _class_attributes(expression: str, kind: type, own: dict[str, Any]) -> Members:
    """Yield an object's class attributes, except those that it or a nearer class hides."""
    seen = set(own)
    for klass in kind.__mro__:
        if _is_owned(klass):
            for name, item in list(klass.__dict__.items())[:_DICT_ITEMS]:
                if name not in seen and (type(item) in (str, Device) or is_a(item, torch.Tensor)):
                    yield f"{expression}.{name}", item
                seen.add(name)


def _items(expression: str, value: Any) -> Members:
    fields = type(value).__dict__.get("_fields")
    size = (tuple if is_a(value, tuple) else list).__len__(value)
    for at in range(min(size, _FIELDS if type(fields) is tuple else _LIST_ITEMS)):
        item = tuple.__getitem__(value, at) if is_a(value, tuple) else list.__getitem__(value, at)
        named = type(fields) is tuple and at < len(fields)
        yield f"{expression}.{fields[at]}" if named and fields else f"{expression}[{at}]", item


def is_open(kind: type) -> bool:
    """Return whether objects of this class are inspected: owned classes, dataclasses, plain namespaces."""
    if kind.__name__ in ("Namespace", "SimpleNamespace"):
        return True
    return any("__dataclass_fields__" in klass.__dict__ or _is_owned(klass) for klass in kind.__mro__)


_owned: dict[str, bool] = {}


def _is_owned(klass: type) -> bool:
    name = klass.__dict__.get("__module__")
    if type(name) is not str:
        return False
    known = _owned.get(name)
    if known is None:
        filename = getattr(sys.modules.get(name), "__file__", None)
        known = type(filename) is str and places.learn(filename) == places.OWNED
        _owned[name] = known
    return known
