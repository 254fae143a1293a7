"""A report as JSON: written, and read back only when it is one."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any

from devfix.errors import UserError
from devfix.model import Report
from devfix.report.record import record
from devfix.report.render.source_lines import Lines, no_lines


def write(report: Report, lines: Lines = no_lines) -> str:
    """Return the report as one JSON object that schema.json describes; `lines` as for `record`."""
    return dump(record(report, lines))


def dump(data: dict[str, Any]) -> str:
    """Return a record as JSON in ASCII: terminal escapes cannot act, and bytes that are not UTF-8 survive the way."""
    return json.dumps(data, indent=2, allow_nan=False) + "\n"


def read(text: str) -> dict[str, Any]:
    """Return the record that `text` holds; UserError where it is not JSON or not a report of this version."""
    import jsonschema  # a fifth of a second that only readers of reports should pay

    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(
            f"This is no devfix report: not JSON ({error}). Make one with `devfix repair --format json`."
        ) from None
    faults = jsonschema.Draft202012Validator(schema()).iter_errors(data)
    fault = jsonschema.exceptions.best_match(islice(faults, 100))  # who wants to keep us busy sends a million
    if fault is not None:
        raise UserError(f"This is no devfix report: {_short(fault.message)} (at {fault.json_path}).")
    assert isinstance(data, dict)
    return data


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of a report."""
    return _resource("schema.json")


@cache
def run_schema() -> dict[str, Any]:
    """Return the JSON Schema of a run, with the definitions that it shares with reports."""
    return {**_resource("run.json"), "$defs": schema()["$defs"]}


@cache
def find_schema() -> dict[str, Any]:
    """Return the JSON Schema of a search, with the definitions that it shares with reports."""
    own = _resource("find.json")
    return {**own, "$defs": {**schema()["$defs"], **own["$defs"]}}


def _resource(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(files("devfix.report").joinpath(name).read_text("utf-8"))
    return loaded


def _short(message: str) -> str:
    return message if len(message) <= 200 else message[:100] + " … " + message[-99:]
