"""Tracebacks of notebooks: frames that name cells, without those of the kernel."""

from __future__ import annotations

import os
import re

from devfix.trace.locations import Locations

_FRAME = re.compile(r'  File "(?P<path>[^"\n]*\.ipynb)", line (?P<line>\d{1,9})')
_HEAD = re.compile(r"(?m)^Traceback \(most recent call last\):\n")
_FOREIGN = re.compile(r'(?m)^  File "[^"\n]*"')


def named_cells(traceback: str, locations: Locations) -> str:
    """Return a traceback whose frames in notebooks are those of cells: `File "ch02.ipynb[cell 7]", line 3`."""
    if ".ipynb" not in traceback:
        return traceback

    def named(found: re.Match[str]) -> str:
        line = int(found["line"])
        relative = os.path.relpath(os.path.realpath(found["path"]), locations.owned)
        place = locations.cell_at(relative, line)
        return found[0] if place is None else f'  File "{found["path"]}[cell {place.cell}]", line {line - place.start}'

    return _FRAME.sub(named, _without_kernel(traceback))


def _without_kernel(traceback: str) -> str:
    """Return a traceback in which each part begins with the first frame of a notebook, if it has one."""
    heads = list(_HEAD.finditer(traceback))
    ends = [*(head.start() for head in heads[1:]), len(traceback)]
    parts = [traceback[: heads[0].start()] if heads else traceback]
    for head, end in zip(heads, ends, strict=True):
        body = traceback[head.end() : end]
        first = _FRAME.search(body)
        begins = first is not None and _FOREIGN.match(body) is not None
        parts += [head[0], body[first.start() :] if first is not None and begins else body]
    return "".join(parts)
