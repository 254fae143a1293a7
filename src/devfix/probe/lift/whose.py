"""Whose file a frame runs: that of a test, of the code under test, of a tool, of torch, or of the probe.

Test code is what the order says: files by name (`test_*.py`), whole folders, and globs. A tool is what stands between a
test and the code that it means to call: the standard library, pytest, NumPy, and other installed packages that do
not use torch.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from enum import IntEnum
from fnmatch import fnmatch
from functools import lru_cache
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType

import torch

from ..config import LiftConfig


class Whose(IntEnum):
    """To whom a frame belongs."""

    TEST = 0
    CODE = 1
    TOOL = 2
    TORCH = 3
    LOADER = 4  # torch.utils.data: its batches are moved when test code gets them, and its indices never
    PROBE = 5


_TORCH = os.path.dirname(os.path.realpath(torch.__file__)) + os.sep
_LOADER = os.path.join(_TORCH, "utils", "data") + os.sep
_PROBE = os.path.dirname(os.path.dirname(os.path.realpath(__file__))) + os.sep
_LIBRARY = os.path.dirname(os.path.realpath(os.__file__)) + os.sep
_PACKAGES = ("site-packages", "dist-packages")
# Packages that work for who called them though they may use torch: they read its tensors as arrays, or run tests.
_TOOLS = frozenset(
    (
        "numpy", "scipy", "pandas", "sklearn", "matplotlib", "PIL", "networkx", "joblib", "pytest", "_pytest", "pluggy",
        "hypothesis", "xdist", "execnet", "mock", "parameterized", "pytest_asyncio", "pytest_mock",
    )
)  # fmt: skip
HANDLER = "__torch_function__"  # of a class of tensors: it runs what its caller has called
kinds: dict[str, Whose] = {}
_order = LiftConfig()


def want(order: LiftConfig) -> None:
    """Take the order that says which files are test code."""
    global _order
    _order = order
    kinds.clear()


def kind_of(code: CodeType) -> Whose:
    """Say to whom a code object belongs."""
    kind = kinds.get(code.co_filename)
    return learn(code.co_filename) if kind is None else kind


def learn(filename: str) -> Whose:
    """Classify a file name as code objects have it, and remember the answer."""
    kind = kinds[filename] = _classify(filename)
    return kind


def _classify(filename: str) -> Whose:
    if filename.startswith("<doctest "):
        return Whose.TEST
    if filename.startswith("<"):
        return Whose.TORCH  # what dataclasses, namedtuples and torch.fx generate belongs to who calls it
    path = os.path.realpath(filename)
    if path.startswith(_PROBE):
        return Whose.PROBE
    if path.startswith(_LOADER):
        return Whose.LOADER
    if path.startswith(_TORCH):
        return Whose.TORCH
    if is_test_file(path):
        return Whose.TEST
    if path.startswith(_PLUGIN):
        return Whose.TOOL
    return Whose.TOOL if _is_tool(path) else Whose.CODE


_PLUGIN = os.path.join(os.path.dirname(_PROBE.rstrip(os.sep)), "pytest_gpus") + os.sep


def is_test_file(path: str) -> bool:
    """Return whether a file is test code, by what the order says."""
    if any(path.startswith(folder) for folder in _order.folders) and not _is_installed(path):
        return True
    if any(fnmatch(path, glob) for glob in _order.files):
        return True
    name = os.path.basename(path)
    below_root = not _order.root or path.startswith(_order.root)
    return below_root and not _is_installed(path) and any(fnmatch(name, pattern) for pattern in _order.names)


def is_of_other_package(code: CodeType) -> bool:
    """Return whether a code object is of an installed package, and not of the repository whose tests run."""
    path = os.path.realpath(code.co_filename)
    return bool(_order.root) and (not path.startswith(_order.root) or _is_installed(path))


def _is_installed(path: str) -> bool:
    """Return whether a file is in an environment below the folder of the suite."""
    rest = path[len(_order.root) :] if _order.root and path.startswith(_order.root) else path
    return any(part in _PACKAGES for part in rest.split(os.sep)[:-1])


def _is_tool(path: str) -> bool:
    parts = path.split(os.sep)
    for folder in _PACKAGES:
        if folder in parts:
            after = parts[parts.index(folder) + 1 :]
            return bool(after) and _is_tool_package(after[0].removesuffix(".py"))
    return path.startswith(_LIBRARY) or path.startswith(os.path.realpath(sys.base_prefix) + os.sep + "lib")


def _is_tool_package(name: str) -> bool:
    """Return whether an installed package works for who called it: what it raises is not its own doing.

    PyWavelets takes an array, and what it cannot make one of is a mistake of the caller. A package that uses torch may
    be the code under test.
    """
    return name in _TOOLS or not _uses_torch(name, len(sys.modules))


@lru_cache(maxsize=4096)
def _uses_torch(package: str, loaded: int) -> bool:
    """Return whether a package has imported torch, or something of it; `loaded` is how many modules there are."""
    below = package + "."
    names = [name for name in list(sys.modules) if name == package or name.startswith(below)]
    return any(_has_imported_torch(name, len(_names(sys.modules.get(name)))) for name in names)


@lru_cache(maxsize=1 << 16)
def _has_imported_torch(module: str, names: int) -> bool:
    """Return whether a module has imported torch, or something of it; `names` is how many names it has."""
    return any(map(_is_of_torch, list(_names(sys.modules.get(module)).values())))


def _names(module: object) -> dict[str, object]:
    """Return what a module has; `vars` of one that is loaded lazily would load it.

    What else is in `sys.modules` has nothing, also where it says that it is a module, as libraries of cffi do.
    """
    is_module = issubclass(type(module), ModuleType)
    found: dict[str, object] = object.__getattribute__(module, "__dict__") if is_module else {}
    return found


def _is_of_torch(value: object) -> bool:
    kind = type(value)
    if issubclass(kind, ModuleType):
        name = _names(value).get("__name__")
    elif issubclass(kind, (type, FunctionType, BuiltinFunctionType)):
        name = getattr(value, "__module__", None)
    else:
        return False
    return isinstance(name, str) and name.partition(".")[0] == "torch"


def frames_of(kind: Whose, frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames of a kind among a frame and its callers, innermost first."""
    while frame is not None:
        if kind_of(frame.f_code) == kind:
            yield frame
        frame = frame.f_back


def frames_in_call(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames of the code under test among a frame and its callers on this side of test code."""
    while frame is not None and (kind := kind_of(frame.f_code)) != Whose.TEST:
        if kind == Whose.CODE:
            yield frame
        frame = frame.f_back


def nearest(frame: FrameType | None, past: Whose = Whose.TORCH) -> Whose:
    """Say for whom a frame works: its own kind, else that of the nearest caller that is no tool, torch or handler.

    With `past` frames of one more kind are passed over.
    Where nobody of the suite is on the stack, it is the tool: what hypothesis draws before it calls the test.
    """
    is_tool = False
    while frame is not None:
        kind = kind_of(frame.f_code)
        if kind == Whose.TOOL:
            is_tool = is_tool or _draws(frame.f_code)
        elif kind not in (Whose.TORCH, past) and frame.f_code.co_name != HANDLER:
            return kind
        frame = frame.f_back
    return Whose.TEST if is_tool else Whose.TOOL


def _draws(code: CodeType) -> bool:
    return f"{os.sep}hypothesis{os.sep}" in code.co_filename


def asks(depth: int) -> Whose:
    """Say for whom the caller works, `depth` frames up as in `sys._getframe`."""
    frame = sys._getframe(depth + 1)
    kind = kinds.get(frame.f_code.co_filename)
    if kind is None:
        kind = learn(frame.f_code.co_filename)
    return kind if kind <= Whose.CODE and frame.f_code.co_name != HANDLER else nearest(frame)


def works_for_test(depth: int) -> bool:
    """Return whether the caller works for test code."""
    return asks(depth + 1) == Whose.TEST
