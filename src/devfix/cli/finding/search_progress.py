"""The progress of a search: a bar of its tests in a terminal, else a line now and then."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from devfix.find.results import TestResults

_LINES = 20.0  # seconds between two lines where there is no terminal


@contextmanager
def progress() -> Iterator[tuple[Any, Any]]:
    """Give what shows the tests that are done: a bar in a terminal, else a line now and then."""
    from rich.console import Console

    console = Console(stderr=True)
    shown = _Bar(console) if console.is_terminal else _Lines(console)
    with shown:
        yield shown.show, shown.step


class _Lines:
    """A line for each step, and one now and then for a step that goes on."""

    def __init__(self, console: Any) -> None:
        self._console, self._last = console, time.monotonic()

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is left to do."""

    def step(self, text: str) -> None:
        """Report a step."""
        self._last = time.monotonic()
        self._console.print(f"devfix: {text}", highlight=False, markup=False, soft_wrap=True)

    def show(self, title: str, told: TestResults) -> None:
        """Report how far a step is."""
        if time.monotonic() - self._last > _LINES and told.collected:
            found = _findings(told)
            self.step(f"{title}: {len(told.results)} of {told.collected} tests, {found} with a finding")


def _findings(told: TestResults) -> int:
    """Return how many tests have a finding so far."""
    return len({*told.of("finding"), *(test for test, found in told.silent.items() if found)})


class _Bar:
    """A bar of the tests that are done, with the findings so far and the time left."""

    def __init__(self, console: Any) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed:.0f} of {task.total:.0f} tests, {task.fields[found]} with a finding"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._lock = threading.Lock()
        self._task: Any = None

    def __enter__(self) -> _Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def step(self, text: str) -> None:
        """Begin a bar."""
        with self._lock:
            if self._task is not None:
                self._progress.remove_task(self._task)
            self._task = self._progress.add_task(text, total=1, found=0)

    def show(self, title: str, told: TestResults) -> None:
        """Fill the bar."""
        with self._lock:
            if self._task is not None and told.collected:
                done, found = len(told.results), _findings(told)
                self._progress.update(self._task, completed=done, total=told.collected, found=found)
