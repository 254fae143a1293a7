"""A baseline: the findings that are known already.

Lines move, so the function stands for the place. Which rule explains a finding says nothing of it: a later release may
have a better one. A function that has more findings than the baseline knows of it has new ones: those of other lines.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from devfix.errors import UserError
from devfix.find.records import Cause, FindReport
from devfix.report.source_lines import Lines

Key = tuple[str, str, str]  # kind, path, function


class Baseline:
    """The findings that are known: of each kind and function, the lines of source."""

    def __init__(self, findings: Iterable[tuple[Key, str]] = ()) -> None:
        self._sources: dict[Key, list[str]] = defaultdict(list)
        for key, source in findings:
            self._sources[key].append(source)

    def without_known(self, report: FindReport, lines: Lines) -> FindReport:
        """Return a report whose causes are new: its others are known by their lines, or by their functions."""
        left = {key: list(sources) for key, sources in self._sources.items()}
        known = self._by_lines(report.causes, left, lines)
        known |= self._by_functions((each for each in report.causes if each.key not in known), left)
        return replace(
            report,
            causes=tuple(each for each in report.causes if each.key not in known),
            known=tuple(each for each in report.causes if each.key in known),
        )

    @staticmethod
    def _by_lines(causes: Iterable[Cause], left: dict[Key, list[str]], lines: Lines) -> set[Any]:
        known = set()
        for each in causes:
            source = lines(each.place.path, each.place.line).strip()
            if source in (sources := left.get(_key_of(each), [])):
                sources.remove(source)
                known.add(each.key)
        return known

    @staticmethod
    def _by_functions(causes: Iterable[Cause], left: dict[Key, list[str]]) -> set[Any]:
        known = set()
        for each in causes:
            if sources := left.get(_key_of(each), []):
                sources.pop()
                known.add(each.key)
        return known


def _key_of(cause: Cause) -> Key:
    return cause.kind, cause.place.path, cause.place.function


def read_baseline(path: Path | None) -> Baseline:
    """Return the findings of a baseline; UserError where the file is none."""
    if path is None:
        return Baseline()
    try:
        raw = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UserError(f"--baseline {path}: {error.strerror or error}; make one with --format json") from None
    except ValueError:
        raise UserError(f"--baseline {path}: no JSON; make one with `devfix find --format json > {path}`") from None
    if not isinstance(raw, dict) or raw.get("schema") != "devfix-find/1":
        raise UserError(f"--baseline {path}: no report of devfix find; make one with `devfix find --format json`")
    if raw.get("error"):
        raise UserError(f"--baseline {path}: a search that failed, and knows no findings; make one that succeeds")
    found = [*raw.get("findings", ()), *raw.get("known", ())]
    return Baseline(((each["kind"], each["path"], each["function"]), each["source"].strip()) for each in found)
