"""Notebooks in reports: places and diffs are those of cells, in each format."""

from __future__ import annotations

import json
from dataclasses import replace

from notebooks import notebook
from sample_report import report

from devfix.model import Edit, Report, SourceLocation
from devfix.notebooks.notebook import Notebook
from devfix.report.record import record
from devfix.report.render.machine_readable.code_quality import code_quality
from devfix.report.render.machine_readable.sarif import sarif
from devfix.report.render.terminal.github import workflow_commands
from devfix.report.render.terminal.text import text

SCRIPT = Notebook(notebook("# markdown", "!ls\nx = 1", "y = 2\nz = 3")).script
EDIT = Edit("nb.ipynb", 3, SCRIPT, SCRIPT.replace(b"x = 1", b"x = 5").replace(b"z = 3", b"z = 7"))
PLACE = SourceLocation("nb.ipynb", 6, "f", owned=True, cell=3, cell_start=4)


def of_notebook() -> Report:
    """Return the sample report with its first failure, and its fix, in a notebook."""
    whole = report()
    first = whole.repairs[0]
    assert first.fix is not None
    frames = (*first.failure.frames[:-1], replace(first.failure.frames[-1], place=PLACE))
    failure = replace(first.failure, frames=frames)
    fix = replace(first.fix, patch=replace(first.fix.patch, edits=(EDIT,)))
    return replace(whole, repairs=(replace(first, failure=failure, fix=fix), *whole.repairs[1:]))


def test_places_and_diffs_are_those_of_cells() -> None:
    data = record(of_notebook(), lambda path, line: SCRIPT.decode().split("\n")[line - 1] if path == "nb.ipynb" else "")
    at = data.failures[0].at
    assert at is not None and (at.path, at.line, at.source) == ("nb.ipynb[cell 3]", 2, "z = 3")
    edits = data.fixes[0].edits
    assert [(edit.path, edit.line) for edit in edits] == [("nb.ipynb[cell 2]", 2), ("nb.ipynb[cell 3]", 2)]
    assert edits[0].diff.splitlines()[2:] == ["@@ -1,2 +1,2 @@", " !ls", "-x = 1", "+x = 5"]
    assert "nb.ipynb[cell 3]:2" in text(data)


def test_annotations_name_the_file_and_say_the_cell() -> None:
    command = workflow_commands(record(of_notebook())).splitlines()[0]
    assert "file=nb.ipynb," in command and "line=" not in command.partition("::")[2].partition("::")[0]
    assert "at nb.ipynb[cell 3]:2" in command


def test_sarif_names_the_file_without_a_line_of_it() -> None:
    result = json.loads(sarif(record(of_notebook())))["runs"][0]["results"][0]
    place = result["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "nb.ipynb"
    assert "region" not in place["physicalLocation"]
    assert place["logicalLocations"][0]["fullyQualifiedName"] == "nb.ipynb[cell 3]:2"
    assert result["fixes"] == []


def test_code_quality_names_the_file_and_its_first_line() -> None:
    entry = json.loads(code_quality(record(of_notebook())))[0]
    assert entry["location"] == {"path": "nb.ipynb", "lines": {"begin": 1}}
