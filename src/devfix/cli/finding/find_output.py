"""The folder that `devfix find --output` writes: what was found, and a report for each repair, to publish elsewhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from devfix.errors import UserError

if TYPE_CHECKING:
    from devfix.model import Report
    from devfix.report.find_types import FindRecord


def write_found(folder: Path, data: FindRecord, repairs: Sequence[Report], root: Path) -> None:
    """Write find.json, find.sarif, summary.md and outputs, and for each repair a numbered folder as `repair` does."""
    from devfix.cli.output.artifact import check_folder, write_artifact
    from devfix.cli.output.listing import lines_of
    from devfix.report.record import record
    from devfix.report.render.machine_readable.find_sarif import find_sarif
    from devfix.report.render.machine_readable.json import dump
    from devfix.report.render.terminal.find import find_outputs, find_summary

    check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in (
            ("find.json", dump(data)),
            ("find.sarif", find_sarif(data)),
            ("summary.md", find_summary(data)),
            ("outputs", find_outputs(data)),
        ):
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"--output {folder}: {os.strerror(error.errno or 0)}") from error
    for number, report in enumerate((each for each in repairs if each.commits), 1):
        write_artifact(folder / str(number), record(report, lines_of(report)), root)
