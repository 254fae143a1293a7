"""Write a report as JSON, and read one that fits the one; its JSON schema, from the same types."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import msgspec

from devfix.decoding import convert
from devfix.errors import UserError
from devfix.model import Report
from devfix.report.find_types import FindRecord
from devfix.report.fleet_types import FleetRecord
from devfix.report.plain import one_line
from devfix.report.record import record
from devfix.report.source_lines import Lines, no_lines
from devfix.report.suite_types import SuiteRecord
from devfix.report.types import ReportRecord, RunReport

Record = TypeVar("Record", ReportRecord, FindRecord)
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NOTE = "Paths of files in the repository are relative to it, with forward slashes; others are absolute. " + (
    "Lines count from 1. Readers must pass over members they do not know."
)


def write(report: Report, lines: Lines = no_lines) -> str:
    """Return the report as one JSON object that schema.json describes; `lines` as for `record`."""
    return dump(record(report, lines))


def dump(data: ReportRecord | RunReport | FindRecord | SuiteRecord | FleetRecord) -> str:
    """Return a record as JSON in ASCII: terminal escapes have no effect, and bytes that are not UTF-8 survive."""
    return json.dumps(msgspec.to_builtins(data), indent=2, allow_nan=False) + "\n"


def read(text: str) -> ReportRecord:
    """Return the report that `text` holds; UserError where it is not JSON or not a report of this version."""
    return _read(text, ReportRecord, "repair")


def read_search(text: str) -> FindRecord | None:
    """Return the search that `text` holds; None where it is another record. UserError where it is not JSON."""
    return _read(text, FindRecord, "find") if f'"{FindRecord.schema}"' in text[:200] else None


def _read(text: str, kind: type[Record], command: str) -> Record:
    try:
        # Not msgspec's own parser: it refuses halves of surrogate pairs, which stand for bytes that are not UTF-8.
        data = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise UserError(
            f"not a devfix report: invalid JSON ({error}); create one with `devfix {command} --format json`"
        ) from None
    known = kind.schema
    if isinstance(data, dict) and data.get("schema") != known:
        raise UserError(f"not a devfix report: its schema is {_short(data.get('schema'))}, not {known!r}")
    try:
        return convert(data, kind)
    except (ValueError, RecursionError) as error:
        raise UserError(f"not a devfix report: {_short(error)}") from None


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not a number of JSON")


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a report."""
    return _schema(ReportRecord, "devfix-report/1")


def run_schema() -> dict[str, Any]:
    """Return the JSON Schema of a run."""
    return _schema(RunReport, "devfix-run/1")


def find_schema() -> dict[str, Any]:
    """Return the JSON Schema of a search."""
    return _schema(FindRecord, "devfix-find/1")


def suite_schema() -> dict[str, Any]:
    """Return the JSON Schema of the report of a pytest session."""
    return _schema(SuiteRecord, "devfix-suite/1")


def fleet_schema() -> dict[str, Any]:
    """Return the JSON Schema of the state of a fleet."""
    return _schema(FleetRecord, "devfix-fleet-status/1")


def _schema(
    kind: type[ReportRecord | RunReport | FindRecord | SuiteRecord | FleetRecord], identifier: str
) -> dict[str, Any]:
    _, definitions = msgspec.json.schema_components((kind,), ref_template="#/$defs/{name}")
    top = definitions.pop(kind.__name__)
    head = {"$schema": _DIALECT, "$id": identifier, "title": top.pop("description"), "description": _NOTE}
    whole = {**head, **{name: part for name, part in top.items() if name != "title"}, "$defs": definitions}
    plain: dict[str, Any] = json.loads(json.dumps(whole))  # defaults of tuples as JSON has them
    return plain


def _short(message: object) -> str:
    text = one_line(str(message), 10_000)
    return text if len(text) <= 200 else text[:100] + " … " + text[-99:]
