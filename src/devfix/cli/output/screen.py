"""Progress on standard error; width and colours of the terminal."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from devfix.progress import Progress, duration
from devfix.report.plain import one_line

WIDTH = 100  # columns of a report that is not printed to a terminal
# Without a terminal, nothing is printed for so many seconds; then a line after each interval, which doubles.
QUIET, LONGEST = 20.0, 300.0


class ShownProgress(Progress):
    """Progress that can be paused while something is asked in the terminal."""

    def __init__(self, show: Callable[[str], None], hide: Callable[[bool], None]) -> None:
        """Pass each step to `show`; `hide` is called with True when a pause begins, and with False when it ends."""
        super().__init__(show)
        self._hide = hide

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Show nothing in the block."""
        self._hide(True)
        try:
            yield
        finally:
            self._hide(False)

    @contextmanager
    def resume(self) -> Iterator[None]:
        """Show progress again in the block, within a pause."""
        self._hide(False)
        try:
            yield
        finally:
            self._hide(True)


@contextmanager
def progress() -> Iterator[ShownProgress]:
    """Yield the progress of a repair: a live line in a terminal, elsewhere a line now and then if it takes long."""
    console = Console(stderr=True, soft_wrap=True)
    if console.is_terminal:
        with _live(console) as shown:
            yield shown
        return
    with _lines(console) as shown:
        yield shown


@contextmanager
def _live(console: Console) -> Iterator[ShownProgress]:
    shown = ShownProgress(lambda step: None, lambda hidden: status.stop() if hidden else status.start())

    class Now:
        """The current state at each refresh."""

        def __rich__(self) -> Text:
            return Text(one_line(f"{duration(shown.elapsed)}: {shown.summary()}", max(20, 3 * console.width - 4)))

    status = console.status(Now())
    with status:
        yield shown


@contextmanager
def _lines(console: Console) -> Iterator[ShownProgress]:
    """Print a line at growing intervals."""
    ended, hidden = threading.Event(), threading.Event()
    shown = ShownProgress(lambda step: None, lambda hide: hidden.set() if hide else hidden.clear())

    def wait() -> None:
        interval = QUIET
        while not ended.wait(interval):
            if not hidden.is_set():
                line = one_line(f"devfix: {duration(shown.elapsed)}: {shown.summary()}")
                console.print(Text(line), highlight=False)
                interval = min(2 * interval, LONGEST)

    repeater = threading.Thread(target=wait, daemon=True)
    repeater.start()
    try:
        yield shown
    finally:
        ended.set()
        repeater.join()


def size_and_color(stderr: bool = False) -> tuple[int, bool]:
    """Return the width of standard output (or error), and whether it takes colours (see NO_COLOR and TERM=dumb)."""
    console = Console(stderr=stderr)
    if not console.is_terminal:
        return WIDTH, False
    return min(console.width, 120), not console.no_color and console.color_system is not None
