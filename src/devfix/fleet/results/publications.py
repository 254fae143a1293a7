"""Record what was published of a fleet: a line of JSON for each step, so that a later run continues after this one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Literal

import msgspec

from devfix.decoding import convert
from devfix.publish.action import ActionKind


class Publication(str, Enum):
    """The state of a pull request, or of a report."""

    STEP = "step"  # of a pull request: `action` says which
    DONE = "done"  # the report is published
    LEFT = "left"  # more than may be open: not recorded, and a later run tries again
    REFUSED = "refused"  # a later run tries again


_OPENED = {"opened", "reopened"}
_OPEN = {*_OPENED, "updated", "unchanged"}


@dataclass(frozen=True)
class PublicationRecord:
    """One line: a step of a pull request, or what became of a report.

    `part` is the folder of the report in the artifact, "" for the artifact itself; two results of a job differ in
    `stored`. `at` is in seconds since the epoch.
    """

    kind: Publication
    key: str
    repository: str
    address: str
    part: str = ""
    stored: int = 0
    action: ActionKind | Literal[""] = ""
    branch: str = ""
    number: int = 0
    url: str = ""
    title: str = ""
    why: str = ""
    at: float = 0.0


class PublicationLog:
    """The lines of a folder of results, to read and to append to."""

    def __init__(self, path: Path) -> None:
        """Read the lines there are."""
        self._path = path
        self._records: list[PublicationRecord] = []
        self._ends: dict[tuple[str, str], PublicationRecord] = {}  # the last of each report
        self._open: dict[str, set[int]] = {}
        for record in self._read():
            self._take(record)

    @property
    def records(self) -> tuple[PublicationRecord, ...]:
        """All lines, the oldest first."""
        return tuple(self._records)

    def add(self, record: PublicationRecord) -> None:
        """Append a line, and wait until the system has stored it."""
        line = json.dumps(msgspec.to_builtins(record)).encode("ascii") + b"\n"
        with open(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644), "r+b") as file:
            size = file.seek(0, os.SEEK_END)
            if size:
                file.seek(size - 1)
                if file.read(1) != b"\n":
                    line = b"\n" + line  # a killed run has left half a line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._take(record)

    def is_done(self, key: str, part: str, stored: int) -> bool:
        """Return whether the report of this result is published."""
        end = self._ends.get((key, part))
        return end is not None and end.kind is Publication.DONE and end.stored == stored

    def opened_at(self) -> list[float]:
        """Return when pull requests were opened."""
        return [each.at for each in self._records if each.action in _OPENED]

    def open_pulls(self) -> dict[str, set[int]]:
        """Return the numbers of pull requests by address that were open when they were last seen."""
        return {address: set(numbers) for address, numbers in self._open.items() if numbers}

    def _take(self, record: PublicationRecord) -> None:
        self._records.append(record)
        if record.kind is not Publication.STEP:
            self._ends[record.key, record.part] = record
        elif record.number:
            numbers = self._open.setdefault(record.address, set())
            if record.action in _OPEN:
                numbers.add(record.number)
            elif record.action == "closed":
                numbers.discard(record.number)

    def _read(self) -> Iterator[PublicationRecord]:
        try:
            lines = self._path.read_bytes().splitlines()
        except FileNotFoundError:
            return
        for line in lines:
            try:
                # Not msgspec's own parser: it refuses halves of surrogate pairs, which titles may have.
                yield convert(json.loads(line), PublicationRecord)
            except ValueError:  # half a line
                continue
