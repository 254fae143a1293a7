"""Slots for runs: how many programs run side by side, and which of those that wait begins next."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class CancelledError(Exception):
    """A run that nobody asks for any more was cancelled before it began."""


class Speculation:
    """The state of a run that begins before its result is asked for, and yields to those that are waited for.

    Once `cancelled` is set it does not begin, or is ended. `has_begun` only changes below the lock of its `Slots`.
    """

    def __init__(self) -> None:
        self.cancelled = threading.Event()
        self.has_begun = False


class Slots:
    """Up to `count` runs at once; may be used from several threads."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.is_single = False  # runs get in each other's way
        self._used = self._asked = 0  # runs in progress, and those that somebody waits for
        self._ahead: list[Speculation] = []  # those that wait, in the order in which they are to begin
        self._changed = threading.Condition()

    def widen(self, count: int) -> None:
        """Allow for `count` runs at once, if that is more than before and runs do not get in each other's way."""
        with self._changed:
            self.count = self.count if self.is_single else max(self.count, count)
            self._changed.notify_all()

    def narrow(self) -> None:
        """Allow for one run at once from now on; those in progress go on."""
        with self._changed:
            self.count, self.is_single = 1, True

    def ahead(self) -> Speculation:
        """Return the state of a run that is to begin after those that wait; `slot` or `cancel` takes it on."""
        with self._changed:
            self._ahead.append(Speculation())
            return self._ahead[-1]

    @contextmanager
    def slot(self, ahead: Speculation | None = None) -> Iterator[None]:
        """Wait for a free slot and hold it in the block; a run `ahead` begins only if nothing else waits.

        Raises CancelledError if it is cancelled before.
        """
        with self._changed:
            self._wait(ahead)
            self._used += 1
        try:
            yield
        finally:
            with self._changed:
                self._used -= 1
                self._changed.notify_all()

    def cancel(self, ahead: Speculation, only_waiting: bool = False) -> bool:
        """Cancel a run, or only if it has not begun; return whether that was done."""
        with self._changed:
            if only_waiting and ahead.has_begun:
                return False
            ahead.cancelled.set()
            self._forget(ahead)
            return True

    def _wait(self, ahead: Speculation | None) -> None:
        if ahead is None:
            self._asked += 1
            try:
                self._changed.wait_for(lambda: self._used < self.count)
            finally:
                self._asked -= 1
            return
        self._changed.wait_for(lambda: ahead.cancelled.is_set() or self._is_next(ahead))
        if ahead.cancelled.is_set():
            raise CancelledError
        ahead.has_begun = True
        self._forget(ahead)

    def _is_next(self, ahead: Speculation) -> bool:
        return not self._asked and self._used < self.count and self._ahead[:1] == [ahead]

    def _forget(self, ahead: Speculation) -> None:
        if ahead in self._ahead:
            self._ahead.remove(ahead)
        self._changed.notify_all()
