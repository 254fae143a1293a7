"""Progress on standard error, and the width and colours of standard output."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from devfix.progress import Progress, duration
from devfix.report.render.plain import one_line

WIDTH = 100  # columns of a report that goes into a file
QUIET = (
    20.0  # seconds after which a step that goes on is told again where there is no terminal; twice as long each time
)
LONGEST = 300.0


@contextmanager
def progress() -> Iterator[Progress]:
    """Give the progress that a repair fills: live in a terminal, elsewhere a line for each step more for long ones."""
    console = Console(stderr=True, soft_wrap=True)
    if console.is_terminal:
        with _live(console) as shown:
            yield shown
        return
    with _lines(console) as shown:
        yield shown


@contextmanager
def _live(console: Console) -> Iterator[Progress]:
    shown = Progress(lambda step: None)

    class Now:
        """What is under way at the moment of each refresh."""

        def __rich__(self) -> Text:
            return Text(one_line(f"{duration(shown.elapsed)}: {shown.told()}", max(20, 3 * console.width - 4)))

    with console.status(Now()):
        yield shown


@contextmanager
def _lines(console: Console) -> Iterator[Progress]:
    """Print a line for each step as it begins, and now and then one for a step that goes on."""
    begun, ended = threading.Event(), threading.Event()

    def line(text: str) -> None:
        console.print(Text("devfix: " + one_line(text)), highlight=False)

    def step(text: str) -> None:
        begun.set()
        line(text)

    shown = Progress(step)

    def wait() -> None:
        patience = QUIET
        while not ended.is_set():
            if begun.wait(patience):
                begun.clear()
                patience = QUIET
            elif not ended.is_set():
                line(f"{duration(shown.elapsed)}: {shown.told()}")
                patience = min(2 * patience, LONGEST)

    teller = threading.Thread(target=wait, daemon=True)
    teller.start()
    try:
        yield shown
    finally:
        ended.set()
        begun.set()
        teller.join()


def size_and_color(stderr: bool = False) -> tuple[int, bool]:
    """Return how wide standard output (or error) is, and whether it takes colours (NO_COLOR and TERM=dumb say no)."""
    console = Console(stderr=stderr)
    if not console.is_terminal:
        return WIDTH, False
    return min(console.width, 120), not console.no_color and console.color_system is not None
