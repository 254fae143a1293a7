"""The folder of results: its contents, how it is recognized, and how one run at a time is let in to write."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from devfix.errors import UserError
from devfix.fleet.results.artifacts import remove, write_synced

SCHEMA = "devfix-fleet/1"
MARKER = "devfix-fleet.json"
_ASIDE = f"{MARKER}.new"
_KEY = re.compile(r"[0-9A-Za-z_]{1,128}")
_BATCH = re.compile(r"batch-(\d{6})\.parquet")


@dataclass(frozen=True)
class Layout:
    """The paths in a folder of results."""

    folder: Path

    @property
    def plan(self) -> Path:
        """The jobs of the latest run."""
        return self.folder / "plan.parquet"

    @property
    def jobs(self) -> Path:
        """The folder of results: KEY.parquet for one job, batch-NUMBER.parquet for many."""
        return self.folder / "jobs"

    @property
    def artifacts(self) -> Path:
        """The folder with a folder of files for each job that has some."""
        return self.folder / "artifacts"

    @property
    def incoming(self) -> Path:
        """The folder for unfinished writes: a folder named KEY is complete, the rest was left by a killed run."""
        return self.folder / "incoming"

    @property
    def publications(self) -> Path:
        """The file of what was published, a line of JSON for each step."""
        return self.folder / "published.jsonl"

    def single(self, key: str) -> Path:
        """Return the file of one result."""
        return self.jobs / f"{key}.parquet"

    def batch(self, number: int) -> Path:
        """Return the file of many results."""
        return self.jobs / f"batch-{number:06}.parquet"

    def batches(self) -> dict[int, Path]:
        """Return the batches by number."""
        found = ((each, _BATCH.fullmatch(each)) for each in sorted(os.listdir(self.jobs)))
        return {int(match[1]): self.jobs / name for name, match in found if match}

    def singles(self) -> list[str]:
        """Return the keys of the results that have a file of their own."""
        names = (name.removesuffix(".parquet") for name in os.listdir(self.jobs) if name.endswith(".parquet"))
        return sorted(name for name in names if is_key(name))

    def result_files(self) -> Iterator[Path]:
        """Yield the files of results.

        Results move from single files to batches while they are read. Batches are listed when the single files are
        read, so that none is missed; a result may be read twice.
        """
        yield from map(self.single, self.singles())
        yield from self.batches().values()


def is_key(name: str) -> bool:
    """Return whether this may be the key of a job: it becomes the name of a file."""
    return _KEY.fullmatch(name) is not None


def create_layout(folder: Path) -> Layout:
    """Return the layout of a new or existing folder of results; UserError if it holds something else."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / MARKER).exists():
            if any(name != _ASIDE for name in os.listdir(folder)):
                raise UserError(f"{folder}: not empty, and not a folder of results; choose another")
            remove(folder / _ASIDE)
            write_synced(folder / _ASIDE, json.dumps({"schema": SCHEMA}).encode() + b"\n")
            os.replace(folder / _ASIDE, folder / MARKER)
        layout = open_layout(folder)
        for needed in (layout.jobs, layout.artifacts, layout.incoming):
            needed.mkdir(exist_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: {os.strerror(error.errno or 0)}") from error
    return layout


def open_layout(folder: Path) -> Layout:
    """Return the layout of an existing folder of results; UserError if it is none."""
    try:
        with open(folder / MARKER, encoding="utf-8") as file:
            found = json.loads(file.read(1000))
    except (OSError, ValueError, RecursionError):
        raise UserError(f"{folder}: not a folder of results; `devfix fleet run` creates one") from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise UserError(f"{folder}: written by another version of devfix; its schema is not {SCHEMA}")
    return Layout(folder)


def lock(path: Path, holder: str) -> BinaryIO:
    """Lock a file for this process until it ends or closes the file; UserError if another process has the lock."""
    file = open(path, "ab")  # noqa: SIM115 - open as long as it is locked
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise UserError(f"{path.parent}: {holder}; wait for its end, or choose another folder") from None
    return file
