"""Write the JSON schemas of all reports from their types: `python scripts/write_schemas.py`."""

from __future__ import annotations

import json
from pathlib import Path

from devfix.report.render.machine_readable.json import find_schema, fleet_schema, run_schema, schema, suite_schema

FOLDER = Path(__file__).resolve().parents[1] / "src" / "devfix" / "report"

SCHEMAS = {
    "schema.json": schema(),
    "run.json": run_schema(),
    "find.json": find_schema(),
    "suite.json": suite_schema(),
    "fleet.json": fleet_schema(),
}

for name, content in SCHEMAS.items():
    (FOLDER / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
