"""Read what the probe wrote: JSON from a process that is not trusted -> records.

Every value is checked for type and size; what does not fit is dropped and said in `trouble`, never raised.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from devfix.model import Binding, Event, Failure, Frame, Held, Operand, Owner, Place, Transfer

Record = TypeVar("Record")
SIZE_LIMIT = 64_000_000  # bytes; the largest honest letter seen has 2 MB
ITEM_LIMIT = 4_000
TEXT_LIMIT = 20_000
NUMBER_LIMIT = 1 << 53


@dataclass(frozen=True)
class Letter:
    """One process's letter, paths already relative to the worktree where they are owned."""

    failure: Failure | None
    uncaught: bool
    transfers: tuple[Transfer, ...]
    watched: tuple[tuple[Place, tuple[Binding, ...]], ...]
    modules: tuple[Binding, ...]
    torch: str
    pid: int
    parent: int
    gpus: int
    trouble: tuple[str, ...]


def read_all(folder: Path, owned: Path, tracked: frozenset[str] | None) -> tuple[list[Letter], list[str]]:
    """Read every letter in `folder`; a frame is owned when its file lies in `owned` and is among `tracked`.

    `tracked` None: every file in `owned` counts, but for those of virtual environments.
    """
    letters: list[Letter] = []
    trouble: list[str] = []
    for path in sorted(folder.glob("*.json"))[:ITEM_LIMIT]:
        try:
            if path.is_symlink() or path.stat().st_size > SIZE_LIMIT:
                raise ValueError("larger than a letter can be")
            raw = json.loads(path.read_bytes())
            if not isinstance(raw, dict) or raw.get("schema") != "devfix-letter/1":
                raise ValueError("not a devfix-letter/1")
            letters.append(_Reader(owned, tracked).letter(raw))
        except (OSError, ValueError, RecursionError) as error:
            trouble.append(f"letter {path.name}: {str(error)[:200]}")
    return letters, trouble


class _Reader:
    def __init__(self, owned: Path, tracked: frozenset[str] | None) -> None:
        self.owned = os.path.realpath(owned) + os.sep
        self.tracked = tracked
        self._paths: dict[str, tuple[str, bool]] = {}

    def letter(self, raw: dict[str, Any]) -> Letter:
        process, world = _table(raw.get("process")), _table(raw.get("world"))
        failure = raw.get("failure")
        return Letter(
            failure=self.failure(failure) if isinstance(failure, dict) else None,
            uncaught=isinstance(failure, dict) and failure.get("uncaught") is True,
            transfers=_each(raw.get("transfers"), self.transfer),
            watched=_each(raw.get("watched"), lambda item: (self.place(_table(item["place"])), self.scope(item))),
            modules=_each(raw.get("modules"), self.binding),
            torch=_text(process.get("torch"), 100),
            pid=_number(process.get("pid")),
            parent=_number(process.get("parent")),
            gpus=_number(world.get("gpus")),
            trouble=tuple(_text(item, 500) for item in _items(raw.get("trouble"))[:20]),
        )

    def place(self, raw: dict[str, Any]) -> Place:
        given = _text(raw.get("path"), 4096)
        if given not in self._paths:  # a letter names few files, each of them hundreds of times
            self._paths[given] = self._path(given)
        path, owned = self._paths[given]
        return Place(
            path=path,
            line=max(1, _number(raw.get("line"))),
            function=_text(raw.get("function"), 300),
            end_line=_optional(raw.get("end_line")),
            column=_optional(raw.get("column")),
            end_column=_optional(raw.get("end_column")),
            owned=owned,
        )

    def _path(self, path: str) -> tuple[str, bool]:
        real = os.path.realpath(path) if os.path.isabs(path) and "\0" not in path else path
        if not real.startswith(self.owned):
            return path, False
        relative = real[len(self.owned) :].replace(os.sep, "/")
        foreign = "/site-packages/" in f"/{relative}" if self.tracked is None else relative not in self.tracked
        return (path, False) if foreign else (relative, True)

    def scope(self, raw: dict[str, Any]) -> tuple[Binding, ...]:
        return _each(raw.get("scope"), self.binding)

    def binding(self, raw: dict[str, Any]) -> Binding:
        return Binding(
            expression=_text(raw["expression"], 300),
            kind=_text(raw.get("kind"), 30),
            device=_text(raw.get("device"), 60),
            type=_text(raw.get("type"), 200),
            dtype=_text(raw.get("dtype"), 60),
            shape=_shape(raw.get("shape")),
            history=_each(raw.get("history"), self.event),
            tensors=tuple((_text(name, 60), _number(count)) for name, count in _table(raw.get("tensors")).items()),
        )

    def event(self, raw: dict[str, Any]) -> Event:
        return Event(
            kind=_text(raw.get("kind"), 30),
            op=_text(raw.get("op"), 200),
            device=_text(raw.get("device"), 60),
            places=_each(raw.get("places"), self.place),
            scope=self.scope(raw),
        )

    def operand(self, raw: dict[str, Any]) -> Operand:
        owner, copy = raw.get("owner"), raw.get("copy")
        return Operand(
            argument=_text(raw.get("argument"), 200),
            device=_text(raw.get("device"), 60),
            dtype=_text(raw.get("dtype"), 60),
            shape=_shape(raw.get("shape")),
            names=_each(
                raw.get("names"),
                lambda item: Held(
                    _number(item["frame"]), _text(item["expression"], 300), _text(item.get("relation", "same"), 30)
                ),
            ),
            history=_each(raw.get("history"), self.event),
            owner=_owner(owner) if isinstance(owner, dict) else None,
            holders=_each(raw.get("holders"), _owner),
            copy=self.event(copy) if isinstance(copy, dict) else None,
        )

    def failure(self, raw: dict[str, Any]) -> Failure:
        frames = _each(raw.get("frames"), lambda item: Frame(self.place(_table(item["place"])), self.scope(item)))
        return Failure(
            kind=_text(raw.get("kind"), 60),
            exception=_text(raw.get("exception"), 200),
            message=_text(raw.get("message")),
            op=_text(raw.get("op"), 200),
            frames=frames,
            operands=_each(raw.get("operands"), self.operand),
            thread=_text(raw.get("thread"), 200),
            traceback=_text(raw.get("traceback"), 200_000),
            operations=_number(raw.get("operations")),
        )

    def transfer(self, raw: dict[str, Any]) -> Transfer:
        return Transfer(
            self.place(_table(raw["place"])),
            _text(raw.get("direction"), 30),
            _number(raw.get("count")),
            _number(raw.get("bytes")),
        )


def _owner(raw: dict[str, Any]) -> Owner:
    return Owner(
        expression=_text(raw.get("expression"), 300),
        frame=_number(raw.get("frame")),
        type=_text(raw.get("type"), 200),
        attribute=_text(raw.get("attribute"), 300),
        kind=_text(raw.get("kind"), 30),
        root=_text(raw.get("root"), 300),
    )


def _each(raw: object, make: Callable[[dict[str, Any]], Record]) -> tuple[Record, ...]:
    """Make a record of every table in a list; one that is malformed is left out."""
    records = []
    for item in _items(raw)[:ITEM_LIMIT]:
        try:
            records.append(make(_table(item)))
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
    return tuple(records)


def _table(raw: object) -> dict[str, Any]:
    return raw if isinstance(raw, dict) else {}


def _items(raw: object) -> Sequence[Any]:
    return raw if isinstance(raw, list) else []


def _text(raw: object, limit: int = TEXT_LIMIT) -> str:
    if not isinstance(raw, str):
        return ""
    # A lone surrogate cannot be printed or written, and an escape could drive the reader's terminal.
    plain = raw[:limit].encode("utf-8", "replace").decode("utf-8")
    return "".join(letter for letter in plain if letter >= " " or letter in "\n\t")


def _number(raw: object) -> int:
    fits = isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw <= NUMBER_LIMIT
    return raw if fits and isinstance(raw, int) else 0


def _optional(raw: object) -> int | None:
    return None if raw is None else _number(raw)


def _shape(raw: object) -> tuple[int, ...]:
    return tuple(_number(item) for item in _items(raw)[:64])
