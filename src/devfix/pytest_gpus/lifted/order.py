"""The order that `devfix find` gives a run: which tests, and for how long each; `order.json` beside the records."""

from __future__ import annotations

import contextlib
import json
import signal
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

FILE = "order.json"


class TestTimeout(BaseException):
    """A test has run for longer than it may; no `except Exception` of a program stops this."""

    __test__ = False


@dataclass(frozen=True)
class RunOrder:
    """`skip` and `only` name tests, `select` and `exclude` are globs of them; `timeout` counts seconds, 0 for none."""

    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    skip: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()
    timeout: float = 0.0

    def takes(self, test: str) -> bool:
        """Return whether a test is to run."""
        if test in self.skip or (self.only and test not in self.only):
            return False
        return (not self.select or _matches(test, self.select)) and not _matches(test, self.exclude)


def read_order(folder: Path | None) -> RunOrder:
    """Return what a folder of records asks for."""
    if folder is None or not (folder / FILE).is_file():
        return RunOrder()
    raw = json.loads((folder / FILE).read_text("utf-8"))
    names = {name: tuple(raw.get(name, ())) for name in ("select", "exclude", "skip", "only")}
    return RunOrder(
        names["select"], names["exclude"], frozenset(names["skip"]), frozenset(names["only"]), raw.get("timeout", 0.0)
    )


def _matches(test: str, globs: Sequence[str]) -> bool:
    """Return whether a test, its file or a folder of it matches one of some globs."""
    path = test.partition("::")[0]
    folders = ["/".join(path.split("/")[:end]) for end in range(1, path.count("/") + 1)]
    return any(fnmatch(name, glob.rstrip("/")) for glob in globs for name in (test, path, *folders))


@contextlib.contextmanager
def limit_time(seconds: float) -> Iterator[None]:
    """Raise TestTimeout in the main thread when the time is over."""
    if not seconds or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(number: int, frame: object) -> None:
        raise TestTimeout(f"the test ran for longer than {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
