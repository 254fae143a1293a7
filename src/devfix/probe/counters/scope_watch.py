"""Record the scope at watched locations, as it was when something last ran there before the failure."""

from __future__ import annotations

import os
import re
import sys
import threading
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

import torch

from ..inspection import histories, scope
from ..inspection.members import Device, instance_dict
from ..provenance import places
from ..provenance.qualnames import COMPREHENSIONS

_SAYS = re.compile(r"^self\.\w*device$")
_MOST = 32  # records of one location: each costs some hundred microseconds

_wanted: dict[str, set[int]] = {}
_files: dict[str, str] = {}
_seen: dict[tuple[str, int], _Record] = {}
_own = threading.local()
_lines: dict[tuple[int, int], tuple[CodeType, dict[str, Any], list[int]]] = {}


@dataclass
class _Record:
    """A watched location: the names that were bound there at first, and where its tensors and devices were at last.

    Of threads that run the same code on GPUs of their own, as those of `DataParallel` do, the one of the first GPU
    counts, whichever came last.
    """

    names: frozenset[str]
    devices: dict[str, str]
    place: dict[str, Any]
    scope: list[dict[str, Any]]
    thread: object
    looks: int = 1

    def is_replaced(self, devices: dict[str, str]) -> bool:
        """Return whether the location is to be recorded again, for tensors on these devices."""
        is_same = all(devices.get(name, at) == at for name, at in self.devices.items())
        if self.looks >= _MOST or (is_same and not _says_more(devices, self.devices)):
            return False
        old, new = ([each.get(name, "") for name in sorted(self.devices)] for each in (self.devices, devices))
        is_replica = self.thread is not _thread() and _types(old) == _types(new)
        return not is_replica or new < old


def want(watched: frozenset[tuple[str, int]]) -> None:
    """Start to watch these locations (real path and line)."""
    _lines.clear()
    for path, line in watched:
        _wanted.setdefault(path, set()).add(line)


def is_active() -> bool:
    """Return whether any location is watched."""
    return bool(_wanted)


def look() -> None:
    """Record the scope of each frame at a watched location, again if tensors are on other devices than before."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        path = _files.get(filename)
        if path is None:
            path = _files[filename] = os.path.realpath(filename)
        if path in _wanted:
            _see(frame, path)
        frame = frame.f_back


def _see(frame: FrameType, path: str) -> None:
    place, found = _locate(frame, path)
    if not found:
        return
    variables = frame.f_locals
    devices = _devices(variables)
    for line in found:
        known = _seen.get((path, line))
        if known is None:
            bound = _bindings(frame)
            names, at = frozenset(variables), {**place, "line": line}
            _seen[path, line] = _Record(names, devices, at, bound, _thread())
        elif known.is_replaced(devices):
            later = set(variables).difference(known.names)  # which the first round of a loop lacks
            known.scope = [each for each in _bindings(frame) if _root(each["expression"]) not in later]
            known.devices, known.looks, known.thread = devices, known.looks + 1, _thread()


def _thread() -> object:
    """Return what stands for the running thread: its number is given to another one once it has ended."""
    if not hasattr(_own, "thread"):
        _own.thread = object()
    return _own.thread


def _says_more(devices: dict[str, str], before: dict[str, str]) -> bool:
    """Return whether an object has a device attribute that it lacked: `.to` sets one for the default of its class."""
    return any(name not in before and _SAYS.search(name) for name in devices)


def _types(devices: list[str]) -> list[str]:
    return [each.partition(":")[0] for each in devices]


def _locate(frame: FrameType, path: str) -> tuple[dict[str, Any], list[int]]:
    """Return the location that a frame is at, and its watched lines; found once, since each operator asks for it."""
    key = id(frame.f_code), frame.f_lasti
    known = _lines.get(key)
    if known is None:
        place = places.describe(frame.f_code, frame.f_lasti, frame.f_lineno)
        own = {*range(place["line"], (place["end_line"] or place["line"]) + 1), frame.f_lineno}
        known = _lines[key] = frame.f_code, place, sorted(_wanted[path] & own)  # the code stays, so that its id does
    return known[1], known[2]


def _bindings(frame: FrameType) -> list[dict[str, Any]]:
    """Describe what code in a frame can use: for a comprehension with its own frame, what is around it, too."""
    found, around = scope.look(frame), frame.f_back
    if frame.f_code.co_name in COMPREHENSIONS and around is not None and frame.f_code in around.f_code.co_consts:
        own = {_root(expression) for expression, _, _ in found} | set(frame.f_locals)
        found += [each for each in scope.look(around) if _root(each[0]) not in own]
    return [histories.binding(held) for held in found]


def _root(expression: str) -> str:
    """Return the name with which an expression starts: `batch` of `batch["x"].device`."""
    return re.split(r"[.\[]", expression, maxsplit=1)[0]


def _devices(variables: dict[str, Any]) -> dict[str, str]:
    """Return the devices of local tensors, and of those of the object whose method runs, unless it is a module.

    A device that it keeps counts as well, since `.to` changes it.
    """
    own = variables.get("self")
    inside = {} if own is None or isinstance(own, torch.nn.Module) else instance_dict(own)
    held = [*variables.items(), *((f"self.{name}", value) for name, value in inside.items())]
    found = {name: str(value.device) for name, value in held if torch.Tensor in type(value).__mro__}
    return found | {f"self.{name}": str(value) for name, value in inside.items() if type(value) is Device}


def export() -> list[dict[str, Any]]:
    """Write what was recorded."""
    return [{"place": each.place, "scope": each.scope} for each in _seen.values()]


def reset() -> None:
    """Forget what was recorded, for a forked child."""
    _seen.clear()
