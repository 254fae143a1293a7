"""A trace's JSON -> records: every value is checked for type and size, and what does not fit is dropped."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from devfix.model import (
    Event,
    Failure,
    Frame,
    ModuleOwner,
    NameRef,
    Operand,
    OperatorCount,
    OperatorTotals,
    ScopeVariable,
    SourceLocation,
    Transfer,
)
from devfix.trace import counts, values
from devfix.trace.recipes import Recipes

Record = TypeVar("Record")
ITEM_LIMIT = 4_000  # of one list
RECORD_LIMIT = 200_000  # of one trace; the largest honest one seen, of 2 MB, has room for 40,000


@dataclass(frozen=True)
class Trace:
    """One process's trace, paths already relative to the worktree where they are owned."""

    failure: Failure | None
    uncaught: bool
    transfers: tuple[Transfer, ...]
    watched: tuple[tuple[SourceLocation, tuple[ScopeVariable, ...]], ...]
    modules: tuple[ScopeVariable, ...]
    visits: tuple[OperatorCount, ...]
    computed: tuple[OperatorTotals, ...]
    unseeded: tuple[str, ...]
    torch: str
    pid: int
    parent: int
    gpus: int
    asked_by_number: int
    asked_by_processes: int
    trouble: tuple[str, ...]
    blind: str = ""
    handled: tuple[Failure, ...] = ()


class TooMuch(Exception):
    """The trace has more records than an honest one."""


class Reader:
    """Makes records of one trace; raises TooMuch, and RecursionError where tables lie too deep in each other."""

    def __init__(self, owned: Path, tracked: frozenset[str] | None) -> None:
        self.owned = os.path.realpath(owned) + os.sep
        self.tracked = tracked
        self._paths: dict[str, tuple[str, bool]] = {}
        self._left = RECORD_LIMIT
        self._recipes = Recipes(self.owned)

    def trace(self, raw: dict[str, Any]) -> Trace:
        """Return the trace that a JSON object tells."""
        process, world = values.table(raw.get("process")), values.table(raw.get("world"))
        failure, asked = raw.get("failure"), values.table(raw.get("asked"))
        return Trace(
            failure=self._failure(failure) if isinstance(failure, dict) else None,
            uncaught=isinstance(failure, dict) and failure.get("uncaught") is True,
            transfers=self._each(raw.get("transfers"), self._transfer),
            watched=self._each(
                raw.get("watched"), lambda item: (self._place(values.table(item["place"])), self._scope(item))
            ),
            modules=self._each(raw.get("modules"), self._binding),
            visits=self._each(raw.get("visits"), counts.visit),
            computed=self._each(raw.get("computed"), counts.computed),
            unseeded=tuple(dict.fromkeys(values.text(item, 30) for item in values.items(raw.get("unseeded"))[:10])),
            torch=values.text(process.get("torch"), 100),
            pid=values.number(process.get("pid")),
            parent=values.number(process.get("parent")),
            gpus=values.number(world.get("gpus")),
            asked_by_number=values.number(asked.get("ordinals")),
            asked_by_processes=values.number(asked.get("processes")),
            trouble=tuple(values.text(item, 500) for item in values.items(raw.get("trouble"))[:20]),
            handled=self._each(raw.get("handled"), self._failure),
            blind=values.text(raw.get("blind"), 500),
        )

    def _each(self, raw: object, make: Callable[[dict[str, Any]], Record]) -> tuple[Record, ...]:
        """Make a record of every table in a list; one that is malformed is left out."""
        records = []
        for item in values.items(raw)[:ITEM_LIMIT]:
            self._left -= 1
            if self._left < 0:
                raise TooMuch("more records than a trace can have")
            try:
                records.append(make(values.table(item)))
            except (KeyError, TypeError, ValueError, AttributeError):
                continue
        return tuple(records)

    def _place(self, raw: dict[str, Any]) -> SourceLocation:
        given = values.text(raw.get("path"), 4096)
        if given not in self._paths:  # a trace names few files, each of them hundreds of times
            self._paths[given] = self._relative(given)
        path, owned = self._paths[given]
        return SourceLocation(
            path=path,
            line=max(1, values.number(raw.get("line"))),
            function=values.text(raw.get("function"), 300),
            end_line=values.optional(raw.get("end_line")),
            column=values.optional(raw.get("column")),
            end_column=values.optional(raw.get("end_column")),
            owned=owned,
            loop=raw.get("loop") is True,
        )

    def _relative(self, path: str) -> tuple[str, bool]:
        real = os.path.realpath(path) if os.path.isabs(path) and "\0" not in path else path
        if not real.startswith(self.owned):
            return path, False
        relative = real[len(self.owned) :].replace(os.sep, "/")
        foreign = "/site-packages/" in f"/{relative}" if self.tracked is None else relative not in self.tracked
        return (path, False) if foreign else (relative, True)

    def _scope(self, raw: dict[str, Any]) -> tuple[ScopeVariable, ...]:
        return self._each(raw.get("scope"), self._binding)

    def _binding(self, raw: dict[str, Any]) -> ScopeVariable:
        return ScopeVariable(
            expression=values.text(raw["expression"], 300),
            kind=values.text(raw.get("kind"), 30),
            device=values.text(raw.get("device"), 60),
            type=values.text(raw.get("type"), 200),
            dtype=values.text(raw.get("dtype"), 60),
            shape=values.shape(raw.get("shape")),
            history=self._each(raw.get("history"), self._event),
            tensors=tuple(
                (values.text(name, 60), values.number(count))
                for name, count in list(values.table(raw.get("tensors")).items())[:64]
            ),
            classes=tuple(values.text(name, 300) for name in values.items(raw.get("classes"))[:32]),
        )

    def _event(self, raw: dict[str, Any]) -> Event:
        return Event(
            kind=values.text(raw.get("kind"), 30),
            op=values.text(raw.get("op"), 200),
            device=values.text(raw.get("device"), 60),
            places=self._each(raw.get("places"), self._place),
            scope=self._scope(raw),
        )

    def _operand(self, raw: dict[str, Any]) -> Operand:
        owner, copy = raw.get("owner"), raw.get("copy")
        return Operand(
            argument=values.text(raw.get("argument"), 200),
            device=values.text(raw.get("device"), 60),
            dtype=values.text(raw.get("dtype"), 60),
            shape=values.shape(raw.get("shape")),
            names=self._each(
                raw.get("names"),
                lambda item: NameRef(
                    values.number(item["frame"]),
                    values.text(item["expression"], 300),
                    values.text(item.get("relation", "same"), 30),
                ),
            ),
            history=self._each(raw.get("history"), self._event),
            owner=_owner(owner) if isinstance(owner, dict) else None,
            holders=self._each(raw.get("holders"), _owner),
            copy=self._event(copy) if isinstance(copy, dict) else None,
            values=counts.summed(raw.get("values")),
        )

    def _failure(self, raw: dict[str, Any]) -> Failure:
        frames = self._each(
            raw.get("frames"), lambda item: Frame(self._place(values.table(item["place"])), self._scope(item))
        )
        return Failure(
            kind=values.text(raw.get("kind"), 60),
            exception=values.text(raw.get("exception"), 200),
            message=values.text(raw.get("message")),
            op=values.text(raw.get("op"), 200),
            frames=frames,
            operands=self._each(raw.get("operands"), self._operand),
            thread=values.text(raw.get("thread"), 200),
            traceback=values.text(raw.get("traceback"), 200_000),
            operations=values.number(raw.get("operations")),
            calls=self._each(raw.get("calls"), self._recipes.call),
            test=values.text(raw.get("test"), 500),
        )

    def _transfer(self, raw: dict[str, Any]) -> Transfer:
        return Transfer(
            self._place(values.table(raw["place"])),
            values.text(raw.get("direction"), 30),
            values.number(raw.get("count")),
            values.number(raw.get("bytes")),
        )


def _owner(raw: dict[str, Any]) -> ModuleOwner:
    return ModuleOwner(
        expression=values.text(raw.get("expression"), 300),
        frame=values.number(raw.get("frame")),
        type=values.text(raw.get("type"), 200),
        attribute=values.text(raw.get("attribute"), 300),
        kind=values.text(raw.get("kind"), 30),
        root=values.text(raw.get("root"), 300),
    )
