"""The results of a fleet in a folder: one run writes, and others read meanwhile."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from devfix.errors import UserError
from devfix.fleet.records import Job, JobRecord, JobResult
from devfix.fleet.results.arrow import PLAN, RESULTS, STORED, record_of, row_of, table_of
from devfix.fleet.results.artifacts import explain_rejection, remove, write_files, write_synced
from devfix.fleet.results.layout import Layout, create_layout, is_key, lock, open_layout
from devfix.fleet.results.reading import read_results
from devfix.model import JobOutcome

_SINGLE = 200  # files of one result, before they are written into a batch
_RECORD, _FILES, _OLD = "job.parquet", "artifact", "old"


@dataclass(frozen=True)
class _Known:
    outcome: JobOutcome
    stored: int


class ResultStore:
    """The plan, the results and the artifacts of a fleet in a folder.

    Whatever is written is complete under another name before it gets its own, so that a killed run leaves nothing half
    written; `create` finishes or removes its remains.
    """

    def __init__(self, layout: Layout, writer: BinaryIO | None = None) -> None:
        """Initialize with a folder; `writer` is its lock, None to read."""
        self._layout, self._writer = layout, writer
        self._adding = threading.Lock()
        self._known = self._read_known() if writer else {}
        self._single: dict[str, pa.Table] = {}  # what the next batch takes

    @classmethod
    def create(cls, folder: Path) -> ResultStore:
        """Return the store of a new or existing folder, to write; UserError if another process writes to it."""
        layout = create_layout(folder)
        writer = lock(folder / "lock", "another run of the fleet writes to it")
        for left in layout.incoming.iterdir():
            if is_key(left.name):
                _settle(layout, left.name)
            else:
                remove(left)
        store = cls(layout, writer)
        store._single = {key: pq.read_table(layout.single(key)) for key in layout.singles()}
        store._compact()
        return store

    @classmethod
    def open(cls, folder: Path) -> ResultStore:
        """Return the store of an existing folder, to read; UserError if it is none."""
        return cls(open_layout(folder))

    @property
    def layout(self) -> Layout:
        """The paths of the folder."""
        return self._layout

    def write_plan(self, jobs: Sequence[Job]) -> None:
        """Replace the plan. Results of other jobs stay, but are counted apart."""
        self._check_writable()
        aside = self._layout.incoming / "plan.parquet"
        remove(aside)
        write_synced(aside, _parquet(table_of((row_of(job) for job in jobs), PLAN)))
        os.replace(aside, self._layout.plan)

    def plan(self) -> tuple[Job, ...]:
        """Return the jobs of the latest run; none if no run came so far."""
        try:
            rows = pq.read_table(self._layout.plan).to_pylist()
        except FileNotFoundError:
            return ()
        except (pa.ArrowInvalid, OSError) as error:
            raise UserError(f"{self._layout.plan}: not a plan: {error}") from None
        return tuple(record_of(Job, row) for row in rows)

    def outcomes(self) -> dict[str, JobOutcome]:
        """Return the outcome of each job that has a result, by its key, whether it is planned or not."""
        known = self._known if self._writer else self._read_known()
        return {key: each.outcome for key, each in known.items()}

    def add(self, result: JobResult) -> JobRecord:
        """Store the result of a job in place of an earlier one, and return its record as it was stored.

        Files that devfix would not write are not stored: the record says why.
        """
        self._check_writable()
        key = result.record.key
        if not is_key(key):
            raise ValueError(f"{key!r} is not the key of a job")
        record, files = _check(result)
        with self._adding:
            earlier = self._known.get(key)
            stored = max(time.time_ns(), earlier.stored + 1 if earlier else 0)
            table = table_of([{**row_of(record), STORED: stored}], RESULTS)
            self._write(key, _parquet(table), files)
            self._known[key], self._single[key] = _Known(record.outcome, stored), table
            self._compact()
        return record

    def records(self) -> list[JobRecord]:
        """Return the record of each job that has a result, planned or not."""
        return [record_of(JobRecord, row) for row in read_results(self._layout).to_pylist()]

    def artifact(self, key: str) -> Path | None:
        """Return the folder with the files of a job; None if it has none. The program under repair may have written it.

        Raises ValueError for what is no key.
        """
        if not is_key(key):
            raise ValueError(f"{key!r} is not the key of a job")
        folder = self._layout.artifacts / key
        return folder if folder.is_dir() and not folder.is_symlink() else None

    def close(self) -> None:
        """Let another process write."""
        if self._writer is not None:
            self._writer.close()

    def _check_writable(self) -> None:
        if self._writer is None:
            raise ValueError("opened to read")

    def _read_known(self) -> dict[str, _Known]:
        rows = read_results(self._layout, ("key", "outcome", STORED)).to_pylist()
        return {row["key"]: _Known(JobOutcome(row["outcome"]), row[STORED]) for row in rows}

    def _write(self, key: str, content: bytes, files: Sequence[tuple[str, bytes]]) -> None:
        whole = self._layout.incoming / key
        part = self._layout.incoming / f"{key}.part"
        remove(part)
        if not files and not os.path.lexists(self._layout.artifacts / key):
            write_synced(part, content)
            os.replace(part, self._layout.single(key))
            return
        part.mkdir()
        write_files(part / _FILES, files)
        write_synced(part / _RECORD, content)
        _sync_folder(part)
        os.rename(part, whole)
        _sync_folder(self._layout.incoming)
        _settle(self._layout, key)

    def _compact(self) -> None:
        """Write the single results into a batch, if there are enough of them: reading many small files takes long."""
        if len(self._single) < _SINGLE:
            return
        aside = self._layout.incoming / "batch.parquet"
        remove(aside)
        write_synced(aside, _parquet(pa.concat_tables(self._single.values(), promote_options="permissive")))
        os.replace(aside, self._layout.batch(max(self._layout.batches(), default=0) + 1))
        _sync_folder(self._layout.jobs)
        for key in self._single:
            self._layout.single(key).unlink()
        self._single.clear()


def _settle(layout: Layout, key: str) -> None:
    """Move a complete result and its files to their places; a killed call is finished by the next one."""
    whole, place = layout.incoming / key, layout.artifacts / key
    files = whole / _FILES
    if (whole / _RECORD).exists():
        if files.exists():
            remove(whole / _OLD)
            if os.path.lexists(place):
                os.rename(place, whole / _OLD)
            if any(files.iterdir()):
                os.rename(files, place)
            else:
                files.rmdir()
        os.replace(whole / _RECORD, layout.single(key))
    remove(whole)


def _check(result: JobResult) -> tuple[JobRecord, Sequence[tuple[str, bytes]]]:
    """Return the record and the files; without them, and with the reason, if they are rejected."""
    record = result.record
    findings = [replace(each, key=record.key, number=number) for number, each in enumerate(record.findings, 1)]
    why = explain_rejection(result.artifact)
    if not why:
        return replace(record, findings=tuple(findings)), result.artifact
    unfixed = tuple(replace(each, fixed=False) for each in findings)
    reason = f"the artifact is rejected: {why}"
    return replace(record, outcome=JobOutcome.ARTIFACT_REJECTED, reason=reason, findings=unfixed, fixes=0), ()


def _parquet(table: pa.Table) -> bytes:
    """Return a table as a Parquet file; what serves many rows is left out of one with a single row."""
    many = len(table) > 1
    stream = pa.BufferOutputStream()
    pq.write_table(
        table,
        stream,
        compression="zstd" if many else "none",
        use_dictionary=many,
        write_statistics=many,
        store_schema=many,
    )
    return bytes(stream.getvalue().to_pybytes())


def _sync_folder(folder: Path) -> None:
    """Wait until the system has stored the names in a folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
