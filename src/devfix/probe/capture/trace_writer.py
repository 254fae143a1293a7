"""The trace of this process: collected while it runs, and written completely or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import torch

from ..config import ProbeConfig
from ..counters import scope_watch, sites, totals, untrained
from ..inspection import device_map
from ..provenance import positions, transfers
from ..simulation import seeding
from ..simulation.accelerators import devices, visible_devices
from . import imported_modules

Json = dict[str, Any]


class TraceWriter:
    """Collects the trace of one process; `write` may be called repeatedly and replaces the previous file."""

    def __init__(self, order: ProbeConfig) -> None:
        """Start an empty trace."""
        self.order = order
        self.pid = os.getpid()
        self.failure: Json | None = None
        self.handled: list[Json] = []
        self.problems: list[str] = []
        self.blind = ""  # the reason, if the world could not be entered
        self._path = ""
        self._lock = threading.RLock()

    def complain(self, error: BaseException | str) -> None:
        """Record an error of the probe itself."""
        if len(self.problems) < 20:
            text = error if isinstance(error, str) else f"{type(error).__name__}: {error}{_where(error)}"
            self.problems.append(text[:500])

    def write(self) -> None:
        """Write the trace, then rename it; a forked process does not write the trace that it inherited."""
        if not self.order.traces or os.getpid() != self.pid:
            return
        with self._lock, contextlib.suppress(OSError):
            if not os.path.isdir(self.order.traces):
                return  # the reader is gone, and the folder with it
            if not self._path:
                self._path = self._free_path()
            unfinished = f"{self._path}.unfinished"
            Path(unfinished).write_text(json.dumps(self.contents(), default=str), "utf-8", "backslashreplace")
            os.replace(unfinished, self._path)

    def _free_path(self) -> str:
        number = 0
        while os.path.exists(path := os.path.join(self.order.traces, f"{self.pid}-{number}.json")):
            number += 1
        return path

    def contents(self) -> Json:
        """Return the contents of the trace."""
        return {
            "schema": "devfix-trace/1",
            "process": {
                "pid": self.pid,
                "parent": os.getppid(),
                "argv": [str(argument) for argument in getattr(sys, "argv", [])],
                "python": "{}.{}.{}".format(*sys.version_info[:3]),
                "torch": str(torch.__version__),
                "columns": positions.COLUMNS,
            },
            "world": {
                "kind": self.order.kind,
                "gpus": self.order.gpus,
                "current": self.order.current,
                "device": self.order.device,
            },
            "asked": devices.requested_gpus(),
            "failure": self._failure(),
            "handled": [_without_counts(each) for each in self.handled if each is not self.failure],
            "transfers": self._part(transfers.export),
            "watched": self._part(scope_watch.export),
            "operator_counts": self._part(sites.export),
            "operator_totals": self._operator_totals(),
            "unseeded": self._part(seeding.unseeded_generators),
            "untrained": self._part(untrained.export),
            "imported": self._part(imported_modules.export),
            "modules": self._part(device_map.export) if self.order.map else [],
            "blind": self.blind,
            "internal_errors": self.problems,
            "notes": self._hidden_gpus(),
        }

    def _hidden_gpus(self) -> list[str]:
        """Return the GPUs of a simulated world that the program hides from itself."""
        seen, there = devices.count(), devices.installed_gpus()
        if seen == there or self.order.kind != "simulated":
            return []
        value = os.environ.get(visible_devices.NAME, "")
        more = "; --gpus gives it more" if devices.requested_gpus()["listed"] else ""
        return [
            f"the program sets {visible_devices.NAME} to {value!r} and so sees "
            f"{seen} of the {there} GPUs of this world{more}"
        ]

    def _failure(self) -> Json | None:
        return self.failure and _without_counts(self.failure)

    def _operator_totals(self) -> list[Json]:
        """Return the totals, up to the failure if one ended the process or a test."""
        ended = self.failure is not None and self.failure.get("uncaught")
        known: list[Json] | None = self.failure.get("operator_totals") if self.failure is not None and ended else None
        return self._part(totals.export) if known is None else known

    def _part(self, export: Any) -> list[Any]:
        try:
            part: list[Any] = export()
        except Exception as error:
            self.complain(error)
            return []
        return part


def _without_counts(failure: Json) -> Json:
    return {name: part for name, part in failure.items() if name != "operator_totals"}


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f" ({os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno})" if trace is not None else ""
