"""The probe in a test process: ordered by the environment, so that processes that tests start follow, and loaded."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

ENTRY = Path(__file__).resolve().parent.parent / "probe" / "entry"
_DRIVERS = ("/dev/nvidiactl", "/dev/dxg", "/dev/kfd")
_VARIABLES = ("DEVFIX_PROBE", "PYTHONPATH", "CUDA_VISIBLE_DEVICES", "PYTEST_PLUGINS")


class Entrance:
    """Gives the orders of one process; `own` is whether nobody else has given one before."""

    def __init__(self) -> None:
        self.own = not os.environ.get("DEVFIX_PROBE")
        self._before = {name: os.environ.get(name) for name in _VARIABLES}
        self._entry: ModuleType | None = None

    def order(self, world: dict[str, Any], traces: str, root: Path, lift: dict[str, Any] | None) -> None:
        """Order a world, and enter it: at once where torch has been imported, else as soon as it is.

        `world` is that of the probe's configuration; `lift` says what a lifted run does, None where the run is none.
        """
        kind, gpus = world["kind"], world["gpus"]
        known = json.loads(os.environ.get("DEVFIX_PROBE") or "{}")
        told = {"traces": traces, "owned": str(root), "original": str(root), "watch": [], "map": False, **known}
        told = {**told, "world": world, "lift": lift}
        os.environ["DEVFIX_PROBE"] = json.dumps(told)
        paths = (os.environ.get("PYTHONPATH") or "").split(os.pathsep)
        if str(ENTRY) not in paths:
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ENTRY), *paths)))
        if kind == "cpu" and any(map(os.path.exists, _DRIVERS)):
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
        elif kind == "simulated":
            if sorted((self._before["CUDA_VISIBLE_DEVICES"] or "").split(",")) != sorted(map(str, range(gpus))):
                os.environ.pop("CUDA_VISIBLE_DEVICES", None)
        elif (visible := self._before["CUDA_VISIBLE_DEVICES"]) is None:
            os.environ.pop("CUDA_VISIBLE_DEVICES", None)
        else:
            os.environ["CUDA_VISIBLE_DEVICES"] = visible
        self._obey()

    def withdraw(self) -> None:
        """Make the environment what it was before the first order, and leave the world."""
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self._obey()

    def _obey(self) -> None:
        start = probe("session.bootstrap")
        if start is not None:
            start.obey()
            return
        if self._entry is None and self.own and os.environ.get("DEVFIX_PROBE"):
            self._entry = _load_probe()
        if self._entry is not None and "torch" in sys.modules:
            self._entry.torch_imported()


def probe(part: str) -> Any:
    """Return a module of the probe, None where the probe has not begun in this process."""
    return importlib.import_module(f"devfix probe.{part}") if "devfix probe.session.bootstrap" in sys.modules else None


def _load_probe() -> ModuleType:
    spec = importlib.util.spec_from_file_location("devfix_entry", ENTRY / "sitecustomize.py")
    assert spec is not None and spec.loader is not None
    entry = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(entry)
    return entry
