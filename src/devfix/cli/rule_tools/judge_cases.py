"""Print the results of `devfix test`: the cases of rules, once or whenever a rule is saved."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devfix.registry import Catalog
    from devfix.rule_testing.authoring.watching import Watched
    from devfix.rule_testing.checking.page_check import Started
    from devfix.rule_testing.checking.runner import Bench
    from devfix.rule_testing.pages.case import Case

Select = Callable[["Case"], bool]


def judge_cases(
    found: Catalog,
    bench: Bench,
    select: Select | None,
    started: Callable[[Sequence[Started]], None] | None = None,
) -> bool:
    """Print the results of the rules' cases, and how long they took; return whether all is well."""
    from devfix.report.plain import plain
    from devfix.rule_testing.checking.page_check import judge
    from devfix.rule_testing.checking.writing import format_judgement, format_totals

    began, made, replayed = time.monotonic(), bench.count["made"], bench.count["replayed"]
    judgements = []
    for judgement in judge(found.rules, bench, select, started):
        print(plain(format_judgement(judgement)), flush=True)
        judgements.append(judgement)
    for problem in found.problems:
        print(plain(f"FAIL  {problem}"))
    runs = (bench.count["made"] - made, bench.count["replayed"] - replayed)
    print(format_totals(judgements, time.monotonic() - began, len(found.problems), runs), flush=True)
    return all(judgement.passed for judgement in judgements) and not found.problems


def watch_cases(watched: Watched, bench: Bench, select: Select | None) -> None:
    """Print the results of each rule that is saved, until the process is interrupted."""
    from devfix.registry import Catalog
    from devfix.report.plain import plain
    from devfix.rule_testing.authoring.watching import early, saves

    bench.warm_up()

    def tell(started: Sequence[Started]) -> None:
        for preview in early(bench, started):
            print(plain(f"runs: {preview.text.lstrip()}"), flush=True)

    has_begun = False
    for files in saves(watched.folders):
        if not has_begun:  # what was saved while the first test ran has no event
            print(f"\nwatching {len(watched.rules)} rules; Ctrl-C ends it", flush=True)
            files, has_begun = files | watched.missed_files(), True
        concerned, problems = watched.changed_rules(files)
        if concerned or problems:
            print(flush=True)
            judge_cases(Catalog(tuple(concerned), tuple(problems)), bench, select, tell)
