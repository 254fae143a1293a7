"""Replace attributes of PyTorch's modules and classes, and restore them when the world is left."""

from __future__ import annotations

import contextlib
import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any

import torch

_ABSENT = object()
ANY_SIGNATURE = inspect.signature(lambda *args, **kwargs: None)
_undoing: list[tuple[Callable[[], None], Any, str]] = []  # what restores each attribute, its owner and its name
_made: dict[tuple[int, str, int], tuple[Any, Any, Any]] = {}


class Attribute(property):
    """An attribute that can be read on the class, as those in C++: Dynamo of 2.6 does so when it is imported."""

    __objclass__ = torch.Tensor


def replace(owner: Any, name: str, new: Any, *, add: bool = False, shared: bool = False) -> Any:
    """Set `owner.name` to `new` and return the previous value; a missing name is skipped unless `add` is true.

    Only the owner's own dictionary is restored, so a patched class gets its inherited attribute back. A `shared`
    attribute (`sys.excepthook`) is not restored if someone else has replaced it since.
    """
    old = vars(owner).get(name, _ABSENT)
    if old is _ABSENT and not add and not hasattr(owner, name):
        return None
    known = getattr(owner, name, None)
    if type(new) is property:
        new = Attribute(new.fget, new.fset, new.fdel)
    elif type(new) is types.FunctionType and type(known) is types.FunctionType and isinstance(owner, types.ModuleType):
        new = _copy_named(new, known)
    setattr(owner, name, new)

    def restore() -> None:
        if shared and vars(owner).get(name, _ABSENT) is not new:
            return
        if old is _ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, old)

    undo_with(restore, owner, name)
    return known


def _copy_named(new: Any, known: Any) -> Any:
    """Return a copy of a function with the names of the one that it stands for, which programs and errors print."""
    if hasattr(new, "_devfix_original"):
        return new  # `wrap` has named it
    made = types.FunctionType(new.__code__, new.__globals__, known.__name__, new.__defaults__, new.__closure__)
    made.__kwdefaults__ = new.__kwdefaults__
    made.__dict__.update(vars(new))  # Dynamo of 2.14 asks `torch.cuda.use_mem_pool` for its `__wrapped__`
    made.__qualname__, made.__module__, made.__doc__ = known.__qualname__, known.__module__, known.__doc__
    with contextlib.suppress(TypeError, ValueError):
        setattr(made, "__signature__", inspect.signature(known))  # noqa: B010 - unknown to the types
    return made


def undo_with(restore: Callable[[], None], owner: Any = None, name: str = "") -> None:
    """Call `restore` when the world is left; it undoes a change, of `owner.name` if given."""
    _undoing.append((restore, owner, name))


def register_kernels(kernels: Mapping[str, Callable[..., Any]], key: str) -> None:
    """Register kernels of PyTorch's own operators for a dispatch key, until the world is left."""
    library = torch.library.Library("aten", "IMPL")
    for name, kernel in kernels.items():
        library.impl(name, kernel, key)
    undo_with(library._destroy)  # keeps the library alive, with which its kernels end


def replaced_attributes() -> list[tuple[Any, str]]:
    """List the owners and names of all attributes that are currently replaced."""
    return [(owner, name) for _, owner, name in _undoing if name]


class Unbound(staticmethod):  # type: ignore[type-arg]
    """A function that classes do not bind to their instances, as for built-in functions: `convolve = torch.conv2d`.

    It is equal to the replaced function, which C++ passes to `__torch_function__`: tables with functions as keys find
    it.
    """

    _devfix_original: Any = None

    def __eq__(self, other: object) -> bool:
        return self is other or bool(innermost(self) == innermost(other))

    def __hash__(self) -> int:
        return hash(innermost(self))

    def __reduce__(self) -> str:
        return self.__name__  # pickled by name, as functions are


def innermost(function: Any) -> Any:
    """Return PyTorch's own function behind replacements."""
    while isinstance(function, REPLACEMENTS) and getattr(function, "_devfix_original", None) is not None:
        function = getattr(function, "_devfix_original")  # noqa: B009 - unknown to the types
    return id(function) if type(function) is Unbound else function


def overridden(tensor: Any) -> bool:
    """Return whether a tensor's class has its own `__torch_function__`, which must be called."""
    kind = type(tensor)
    return kind is not torch.Tensor and kind is not torch.nn.Parameter and _heard(tensor)


REPLACEMENTS = (Unbound, types.FunctionType, type)
_heard = torch._C._has_torch_function_unary


def wrap(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Replace `owner.name` by `make(original)`; does nothing if this torch has no such name."""
    if hasattr(owner, name):
        original = getattr(owner, name)
        # A world that is entered again uses the same objects, since programs store functions in tables.
        kept = _made.get((id(owner), name, id(original)))
        if kept is not None:
            replace(owner, name, kept[-1])
            return
        new = make(original)
        if inspect.isbuiltin(original) or inspect.ismethoddescriptor(original):
            # Dynamo compares signatures with its own replacements when it is imported, and accepts any function here.
            new.__signature__ = ANY_SIGNATURE
        for attribute in ("__name__", "__qualname__", "__module__", "__doc__", "__wrapped__"):
            with contextlib.suppress(AttributeError, TypeError):
                setattr(new, attribute, getattr(original, attribute))
        # Dynamo requires functions for some private names when it is imported, and no one else uses them.
        is_built_in = inspect.isbuiltin(original) or type(original) is Unbound  # the latter was wrapped before
        if is_built_in and owner is torch and not name.startswith("_"):
            new = Unbound(new)
        new._devfix_original = original
        _made[id(owner), name, id(original)] = owner, original, new  # kept alive, so that ids are not reused
        replace(owner, name, new)


def restore() -> None:
    """Undo every replacement, the latest first."""
    while _undoing:
        undo, _, _ = _undoing.pop()
        undo()
