"""Progress on standard error, and the width and colours of standard output."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from devfix.report.plain import one_line

WIDTH = 100  # columns of a report that goes into a file


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Give a function that shows the step at hand: a spinner in a terminal, a plain line each elsewhere."""
    console = Console(stderr=True, soft_wrap=True)
    if not console.is_terminal:
        yield lambda step: console.print(Text("devfix: " + one_line(step)), highlight=False)
        return
    with console.status(Text("devfix")) as status:
        yield lambda step: status.update(Text(one_line(step, max(20, console.width - 4))))


def size_and_color(stderr: bool = False) -> tuple[int, bool]:
    """Return how wide standard output (or error) is, and whether it takes colours (NO_COLOR and TERM=dumb say no)."""
    console = Console(stderr=stderr)
    if not console.is_terminal:
        return WIDTH, False
    return min(console.width, 120), not console.no_color and console.color_system is not None
