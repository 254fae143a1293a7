"""The results of a fleet: Parquet files and artifacts in one folder, which DuckDB queries where they are."""

from devfix.fleet.results.store import ResultStore

__all__ = ["ResultStore"]
