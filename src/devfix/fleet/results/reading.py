"""Read the results of a folder, also while a run adds to it."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from devfix.errors import UserError
from devfix.fleet.results.arrow import RESULTS, STORED
from devfix.fleet.results.layout import Layout


def read_results(layout: Layout, columns: Sequence[str] = RESULTS.names) -> pa.Table:
    """Return the latest result of each job."""
    return _latest(_read(layout, list(dict.fromkeys(("key", STORED, *columns)))))


def _read(layout: Layout, columns: Sequence[str]) -> pa.Table:
    schema = pa.schema([RESULTS.field(name) for name in columns])
    tables = [schema.empty_table()]
    for file in layout.result_files():
        try:
            with pq.ParquetFile(file) as opened:
                there = [name for name in columns if name in opened.schema_arrow.names]
                tables.append(opened.read(columns=there, use_threads=False))
        except FileNotFoundError:  # it is in a batch now, which is listed after all single files are read
            continue
        except pa.ArrowInvalid as error:
            raise UserError(
                f"{file}: not a Parquet file of results: {error}; remove it to run its jobs again"
            ) from None
    return pa.concat_tables(tables, promote_options="permissive")


def _latest(table: pa.Table) -> pa.Table:
    """Return the row of each key that was stored last."""
    latest: dict[str, tuple[int, int]] = {}
    for index, (key, stored) in enumerate(zip(table["key"].to_pylist(), table[STORED].to_pylist(), strict=True)):
        latest[key] = max(latest.get(key, (stored, index)), (stored, index))
    if len(latest) == len(table):
        return table
    return table.take(pa.array([index for _, index in latest.values()], pa.int64()))
