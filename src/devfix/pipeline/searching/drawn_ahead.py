"""An iterator whose items can be made in the background before they are asked for."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from threading import Lock, Thread
from typing import Generic, TypeVar

Item = TypeVar("Item")


class DrawnAhead(Iterator[Item], Generic[Item]):
    """Yields the items of an iterator in their order; `begin` makes them in a thread, up to a count and a time.

    >>> drawn = DrawnAhead(iter("abc"))
    >>> drawn.begin(most=2, seconds=60)
    >>> list(drawn)
    ['a', 'b', 'c']
    """

    def __init__(self, source: Iterator[Item]) -> None:
        self._source = source
        self._drawn = deque[Item]()
        self._lock = Lock()  # the source is advanced by one thread at a time, and never past an item that waits
        self._thread: Thread | None = None
        self._error: BaseException | None = None
        self._is_ended = False

    def __next__(self) -> Item:
        """Return the next item. Raises what the iterator raised in the background when its turn comes."""
        with self._lock:
            if self._drawn:
                return self._drawn.popleft()
            if self._error is not None:
                raise self._error
            return next(self._source)

    def begin(self, most: int, seconds: float) -> None:
        """Draw up to `most` items in the background, for `seconds` at most; does nothing if that has begun before."""
        if self._thread is None:
            self._thread = Thread(target=self._draw, args=(most, time.monotonic() + seconds), daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Let the background stop, and wait for the item that it makes."""
        self._is_ended = True
        if self._thread is not None:
            self._thread.join()

    def _draw(self, most: int, deadline: float) -> None:
        while not self._is_ended and time.monotonic() < deadline:
            with self._lock:
                if len(self._drawn) >= most:
                    return
                try:
                    self._drawn.append(next(self._source))
                except BaseException as error:  # StopIteration too; an iterator that has raised yields nothing more
                    self._error = error
                    return
