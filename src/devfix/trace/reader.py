"""Read the traces of a run into records; errors are returned in a list, never raised."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

from devfix.decoding import convert
from devfix.model import Failure
from devfix.trace.bounds import Bounds, TooMuch, printable
from devfix.trace.locations import Locations, named_cells
from devfix.trace.recipes import Recipes
from devfix.trace.records import Trace

SIZE_LIMIT = 16_000_000  # bytes; the largest valid trace seen has 2 MB, and JSON takes thirty times its size in memory
TOTAL_LIMIT = 64_000_000  # bytes of all traces of a run
TRACE_LIMIT = 4_000
ERROR_LIMIT = 20  # traces that cannot be read, and errors of the probe, that are reported


def read_all(folder: Path, owned: Path, tracked: frozenset[str] | None) -> tuple[list[Trace], list[str]]:
    """Read every trace in `folder`; a frame is owned if its file is in `owned` and among `tracked`.

    With `tracked` None, every file in `owned` counts, except those of virtual environments.
    """
    traces: list[Trace] = []
    problem: list[str] = []
    left = TOTAL_LIMIT
    locations = Locations(owned, tracked)
    for path in sorted(folder.glob("*.json"))[:TRACE_LIMIT]:
        try:
            data = _content(path, min(SIZE_LIMIT, left))
            left -= len(data)
            traces.append(_read(data, locations))
        except (OSError, ValueError, RecursionError, TooMuch) as error:
            if len(problem) < ERROR_LIMIT:
                problem.append(printable(f"trace {path.name}: {error}", 300))
    return traces, problem


def _read(data: bytes, locations: Locations) -> Trace:
    """Return a trace in which every value has the type of its field. Raises ValueError with the first that has not."""
    # Not msgspec's parser: it rejects lone surrogates, which Python writes and programs print.
    trace = convert(Bounds().apply(json.loads(data)), Trace)
    trace = locations.relocate(trace)
    recipes = Recipes(locations.owned)
    return replace(
        trace,
        failure=trace.failure and _complete(trace.failure, recipes, locations),
        handled=tuple(_complete(each, recipes, locations) for each in trace.handled),
        unseeded=tuple(dict.fromkeys(trace.unseeded)),
        internal_errors=trace.internal_errors[:ERROR_LIMIT],
        notes=trace.notes[:ERROR_LIMIT],
    )


def _complete(failure: Failure, recipes: Recipes, locations: Locations) -> Failure:
    """Return a failure with those of its calls that a test may make, and a traceback that names cells of notebooks."""
    traceback = named_cells(failure.traceback, locations)
    calls = recipes.calls(failure.calls) if failure.calls else ()
    return replace(failure, calls=calls, traceback=traceback)


def _content(path: Path, limit: int) -> bytes:
    # A pipe of that name would block a reader forever, and a link could lead anywhere.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("no regular file")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError("larger than a trace can be")
    return data
