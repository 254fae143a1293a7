"""The reports in the artifact of a job, which the program under repair may have written."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from devfix.errors import UserError
from devfix.fleet.results.store import ResultStore
from devfix.publish.proposals.artifact import REPORT, open_artifact
from devfix.report.fleet_types import FleetRecord
from devfix.report.render.html.fleet import RepositoryFixes

_MOST = 50  # reports of a search; more are not read
_SHOWN = 300  # jobs whose fixes are in a page


def report_folders(artifact: Path) -> list[Path]:
    """Return the folders with a report: the artifact of a repair itself, the numbered ones in that of a search."""
    if _is(stat.S_ISREG, artifact / REPORT):
        return [artifact]
    numbered = sorted((each for each in os.listdir(artifact) if each.isascii() and each.isdecimal()), key=int)
    return [artifact / each for each in numbered if _is(stat.S_ISDIR, artifact / each)][:_MOST]


def fixes_to_show(store: ResultStore, data: FleetRecord) -> Mapping[str, RepositoryFixes]:
    """Return the fixes of the jobs that have some, by key, up to a number that a page can show."""
    fixed = [each for each in data.repositories if each.fixed][:_SHOWN]
    return {each.key: _fixes(store, each.key, each.commit) for each in fixed}


def _fixes(store: ResultStore, key: str, commit: str) -> RepositoryFixes:
    artifact = store.artifact(key)
    if artifact is None:
        return RepositoryFixes(problem="the job has no files")
    try:
        opened = [open_artifact(folder, commit) for folder in report_folders(artifact)]
    except UserError as error:
        return RepositoryFixes(problem=str(error))
    return RepositoryFixes(tuple(fix for each in opened for fix in each.data.fixes))


def _is(kind: Callable[[int], bool], path: Path) -> bool:
    try:
        return kind(path.lstat().st_mode)
    except OSError:
        return False
