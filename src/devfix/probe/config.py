"""The configuration of the probe: the environment variable `DEVFIX_PROBE` (docs/reference/trace-format.md)."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LiftConfig:
    """A lifted run: on which GPU test code's tensors lie, and which files below `root` are test code.

    `names` are patterns of file names (`test_*.py`), `folders` hold nothing else, `files` are globs of whole paths.
    `twice`: each test runs on another GPU first, so that caches show which serve another device. `tells`: calls of
    the code under test are told the GPU by a `device` that test code leaves out. `strict`: a test fails
    by what it shows without failing otherwise, at these `places` where there are any: a path, and a line or a function.
    `past` are paths and lines at which an operator does not fail by tensors on two devices: what comes after is seen.
    """

    device: int = 0
    root: str = ""
    names: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    twice: bool = False
    tells: bool = False
    strict: bool = False
    places: tuple[tuple[str, str], ...] = ()
    past: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class ProbeConfig:
    """The world to enter, where to write, which files are owned, places (path and line) to watch or count at.

    `given` are the values to look for at the latter; once an operator has run `steps` times there, a file says so.
    `untrained` are attributes of modules whose contents are looked at for parameters that no optimizer has.
    Without `scripts` Python runs what TorchScript would compile.
    """

    kind: str = "cpu"
    gpus: int = 0
    current: int = 0
    device: str = "cuda"
    traces: str = ""
    owned: str = ""
    original: str = ""
    watch: frozenset[tuple[str, int]] = frozenset()
    reach: frozenset[tuple[str, int]] = frozenset()
    map: bool = False
    calls: bool = False
    totals: bool = False
    given: tuple[tuple[float, float], ...] = ()
    untrained: tuple[str, ...] = ()
    steps: int = 0
    seed: int | None = None
    scripts: bool = True
    lift: LiftConfig | None = None


def read(text: str | None = None) -> ProbeConfig | None:
    """Parse the configuration in the environment (or `text`); None if there is none or it is not a JSON object."""
    try:
        raw = json.loads(os.environ.get("DEVFIX_PROBE", "") if text is None else text)
        world = raw.get("world") or {}
        return ProbeConfig(
            kind=str(world.get("kind", "cpu")),
            gpus=int(world.get("gpus", 0)),
            current=int(world.get("current", 0)),
            device=str(world.get("device", "cuda")),
            traces=str(raw.get("traces") or ""),
            owned=_folder(raw.get("owned")),
            original=_folder(raw.get("original")),
            watch=_places(raw.get("watch")),
            reach=_places(raw.get("reach")),
            map=bool(raw.get("map", False)),
            calls=bool(raw.get("calls", False)),
            totals=bool(raw.get("totals", False)),
            given=tuple((float(total), float(size)) for total, size in raw.get("given") or ()),
            untrained=tuple(map(str, raw.get("untrained") or ())),
            steps=int(raw.get("steps") or 0),
            seed=None if raw.get("seed") is None else int(raw["seed"]),
            scripts=bool(raw.get("scripts", True)),
            lift=_lift(raw.get("lift")),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _lift(raw: Any) -> LiftConfig | None:
    if not raw:
        return None
    return LiftConfig(
        device=int(raw.get("device", 0)),
        root=_folder(raw.get("root")) + os.sep,
        names=tuple(map(str, raw.get("names") or ())),
        folders=tuple(os.path.realpath(str(folder)) + os.sep for folder in raw.get("folders") or ()),
        files=tuple(map(str, raw.get("files") or ())),
        twice=bool(raw.get("twice", False)),
        tells=bool(raw.get("tells", False)),
        strict=bool(raw.get("strict", False)),
        places=tuple((os.path.realpath(path), str(at)) for path, at in raw.get("places") or ()),
        past=frozenset((os.path.realpath(path), str(at)) for path, at in raw.get("past") or ()),
    )


def _places(items: Any) -> frozenset[tuple[str, int]]:
    return frozenset((os.path.realpath(item["path"]), int(item["line"])) for item in items or ())


def _folder(path: str | None) -> str:
    return os.path.realpath(path) if path else ""
