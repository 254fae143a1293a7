"""Run snippets in forked children, so that none meets what another has left behind: a device-side assert ends CUDA.

The parent must not have used CUDA, since a child cannot use it then.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection

from . import snippets

LIMIT = 120.0  # seconds; a snippet that hangs must not end the recording


def outcomes(chosen: Sequence[snippets.Snippet], jobs: int, limit: float = LIMIT) -> dict[str, str]:
    """Return the first line of what became of each snippet in the current world, by title."""

    def outcome(snippet: snippets.Snippet) -> str:
        return _run_apart(snippet, limit)

    with ThreadPoolExecutor(jobs) as pool:
        return dict(zip([each.title for each in chosen], pool.map(outcome, chosen), strict=True))


def _run_apart(snippet: snippets.Snippet, limit: float) -> str:
    """Return what became of a snippet in a child; that is killed after `limit` seconds."""
    context = multiprocessing.get_context("fork")
    reading, writing = context.Pipe(duplex=False)
    child = context.Process(target=_report, args=(writing, snippet))
    child.start()
    writing.close()
    try:
        text = str(reading.recv()) if reading.poll(limit) else f"no end within {limit:.0f} s"
    except EOFError:
        child.join()
        text = f"ended with exit code {child.exitcode}"
    finally:
        reading.close()
        child.kill()
        child.join()
    return text


def _report(writing: Connection, snippet: snippets.Snippet) -> None:
    writing.send(snippets.run(snippet).split("\n")[0])
