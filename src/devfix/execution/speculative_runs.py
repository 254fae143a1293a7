"""Runs that begin before their results are asked for, so that runs which need not wait for each other do not.

Whoever decides on results asks for the same runs in the same order as without it: what begins ahead changes when a run
takes place, and never what is concluded from it. Each run that began ahead is used once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future
from typing import Generic, TypeVar

from devfix.execution.slots import CancelledError, Slots, Speculation
from devfix.model import Run

Key = TypeVar("Key", bound=Hashable)


class SpeculativeRuns(Generic[Key]):
    """Runs by what they are asked for with; `close` cancels those that nobody has asked for.

    `start` runs one to its end; for one ahead it is given its state, to wait for a slot with it and to end with it.
    """

    def __init__(self, start: Callable[[Key, Speculation | None], Run], slots: Slots) -> None:
        self._start, self._slots = start, slots
        self._begun: dict[Key, tuple[Speculation, Future[Run]]] = {}
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._is_closed = False

    def expect(self, keys: Iterable[Key]) -> None:
        """Begin these runs, in their order, and cancel those that were expected before and are not among them."""
        wanted = list(dict.fromkeys(keys))
        with self._lock:
            dropped = [self._begun.pop(key) for key in [*self._begun] if key not in wanted]
        for ahead, _ in dropped:
            self._slots.cancel(ahead)
        for key in wanted:
            self.begin(key)

    def begin(self, key: Key) -> Future[Run]:
        """Return the result of a run to come, which begins if it has not; the next to ask for it still gets it."""
        with self._lock:
            if self._is_closed:
                raise CancelledError
            if key not in self._begun:
                ahead, result = self._slots.ahead(), Future[Run]()
                self._begun[key] = (ahead, result)
                thread = threading.Thread(target=self._go, args=(key, ahead, result), daemon=True)
                self._threads = [each for each in self._threads if each.is_alive()]
                self._threads.append(thread)
                thread.start()
            return self._begun[key][1]

    def run(self, key: Key) -> Run:
        """Return the result of a run: of the one that began ahead, if there is one that has, or of a new one."""
        with self._lock:
            ahead, result = self._begun.pop(key, (None, None))
        if ahead is None or result is None or self._slots.cancel(ahead, only_waiting=True):
            return self._start(key, None)
        return result.result()

    def close(self) -> None:
        """Cancel what nobody has asked for, and wait until it has ended."""
        with self._lock:
            self._is_closed = True
        self.expect(())
        for thread in self._threads:
            thread.join()

    def _go(self, key: Key, ahead: Speculation, result: Future[Run]) -> None:
        try:
            result.set_result(self._start(key, ahead))
        except BaseException as error:  # whoever asks for the run raises it
            result.set_exception(error)
        finally:
            self._slots.cancel(ahead, only_waiting=True)  # if it never came to wait for a slot
