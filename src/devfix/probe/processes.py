"""Child processes: each begins a letter of its own, and each that ends without `atexit` still writes its letter."""

from __future__ import annotations

import functools
import os
import sys
from typing import Any

from . import device_map, reach, tally, transfers, watch
from .endings import Endings
from .letter import Letter


def install(letter: Letter, endings: Endings) -> None:
    """Follow forks, and write before `os._exit`, which is how forked workers end."""
    leave = os._exit

    def renew() -> None:
        letter.__init__(letter.order)  # type: ignore[misc]
        endings.__init__(letter)  # type: ignore[misc]
        endings.eager = True
        for part in (transfers, watch, reach, tally, device_map):
            part.reset()

    @functools.wraps(leave)
    def _exit(status: int) -> Any:
        try:
            letter.write()
        finally:
            leave(status)

    os.register_at_fork(after_in_child=renew)
    os._exit = _exit
    endings.eager = _is_worker()
    _watch_bootstrap(letter, endings)


def _is_worker() -> bool:
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None


def _watch_bootstrap(letter: Letter, endings: Endings) -> None:
    """Learn of exceptions that end a `multiprocessing.Process`: its bootstrap prints and swallows them."""
    import multiprocessing.process as process

    original = process.BaseProcess._bootstrap  # type: ignore[attr-defined]

    @functools.wraps(original)
    def _bootstrap(self: Any, *args: Any, **kwargs: Any) -> Any:
        code = original(self, *args, **kwargs)
        if code:
            endings.last_ended()
        letter.write()
        return code

    process.BaseProcess._bootstrap = _bootstrap  # type: ignore[attr-defined]
