"""Repair a program: open a session, search for fixes, and put them where the options or the caller say."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from devfix.config import user_folder
from devfix.model import Report
from devfix.pipeline.opening.options import RepairOptions
from devfix.pipeline.opening.setup import open_session

if TYPE_CHECKING:
    from devfix.pipeline.open_repair import OpenRepair

Decide = Callable[["OpenRepair"], Report]  # takes the fixes, and returns the report


def repair(
    path: str | Path,
    options: RepairOptions | None = None,
    progress: Callable[[str], None] | None = None,
    decide: Decide | None = None,
) -> Report:
    """Find and fix the device failures of the program in the repository at `path`, and verify the fixes.

    `progress` is called with each step as it begins. `decide` is called where there are fixes to take, in place of
    taking them as the options say. Raises UserError for wrong usage, before anything is run.
    """
    began = time.monotonic()
    options = options or RepairOptions()
    with open_session(path, options, progress) as session:
        if not (options.rules or session.config.chooses_rules or user_folder().is_dir()):  # no choice can be wrong
            session.begin_first_run()
        # With all that reads code: 0.25 s, in which the program runs.
        from devfix.pipeline.open_repair import OpenRepair
        from devfix.registry.selection import rules_for

        catalog = rules_for(session.config, tuple(map(Path, options.rules)))
        session.notes.add(*catalog.problems)
        opened = OpenRepair(session, options, catalog.rules, began, asks=decide is not None)
        if decide is not None and opened.is_kept:
            return decide(opened)
        return opened.take_or_explain(options.taking)
