"""Arrow schemas of the records of a fleet, and the conversion of records to rows and back."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from enum import Enum
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import pyarrow as pa

from devfix.fleet.records import Job, JobRecord

Record = TypeVar("Record")
STORED = "stored"
_LONGEST = 4_000  # characters of a string
_MOST = 2_000  # members of a list, such as the findings of a job
_INTEGERS = (-(2**63), 2**63 - 1)
_TYPES: Mapping[object, pa.DataType] = {
    str: pa.string(),
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
}


_hints: Callable[[Any], dict[str, Any]] = cache(get_type_hints)  # reading the annotations each time takes long


def _arrow_type(kind: Any) -> pa.DataType:
    if kind in _TYPES:
        return _TYPES[kind]
    if get_origin(kind) is tuple:
        return pa.list_(_arrow_type(get_args(kind)[0]))
    if get_origin(kind) is Literal or (isinstance(kind, type) and issubclass(kind, Enum)):
        return pa.string()
    return pa.struct(_arrow_fields(kind))


def _arrow_fields(kind: type) -> list[pa.Field]:
    hints = _hints(kind)
    return [pa.field(each.name, _arrow_type(hints[each.name])) for each in fields(kind)]


PLAN = pa.schema(_arrow_fields(Job))
# All may be null: a result of an earlier version of devfix lacks columns that were added since.
# `stored` orders the rows of one key: the greatest counts. Rows of an earlier result may lie in a batch.
RESULTS = pa.schema([*_arrow_fields(JobRecord), pa.field(STORED, pa.int64())])


def row_of(record: object) -> dict[str, Any]:
    """Return a record as a row: strings that UTF-8 can express, of bounded length, and numbers that Arrow has.

    A program under repair may have chosen them.
    """
    return {each.name: _value(getattr(record, each.name)) for each in fields(record)}  # type: ignore[arg-type]


def _value(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        text = value.encode("utf-8", "backslashreplace").decode("utf-8")
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return min(max(value, _INTEGERS[0]), _INTEGERS[1])
    if isinstance(value, float):
        return value if math.isfinite(value) else 0.0
    if isinstance(value, tuple):
        return [_value(each) for each in value[:_MOST]]
    return row_of(value)


def record_of(kind: type[Record], row: Mapping[str, Any]) -> Record:
    """Return the record of a row; columns that it lacks, for an earlier version of devfix wrote it, get defaults."""
    hints = _hints(kind)
    known = {each.name: row[each.name] for each in fields(kind) if row.get(each.name) is not None}  # type: ignore[arg-type]
    return kind(**{name: _read(hints[name], value) for name, value in known.items()})


def _read(kind: Any, value: Any) -> Any:
    if get_origin(kind) is tuple:
        return tuple(_read(get_args(kind)[0], each) for each in value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if get_origin(kind) is Literal and value not in get_args(kind):
        raise ValueError(f"{value!r} is not one of {get_args(kind)}")
    return record_of(kind, value) if isinstance(value, Mapping) else value


def table_of(rows: Iterable[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Return a table of these rows."""
    return pa.Table.from_pylist(list(rows), schema=schema)
