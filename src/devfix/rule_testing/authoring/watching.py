"""Test rules whenever a file of theirs is saved: `devfix test --watch`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import wait
from pathlib import Path

from devfix.errors import RuleError
from devfix.registry import Rule
from devfix.registry.reloading import forget, reload_rule
from devfix.rule_testing.checking.page_check import Started
from devfix.rule_testing.checking.preview import Preview
from devfix.rule_testing.checking.runner import Bench

PATIENCE = 0.05  # seconds between two looks for cases of which something has to run
STEP, DEBOUNCE = 20, 60  # milliseconds without another change, and at most, before a save is answered
IDLE = 200  # milliseconds after which a watch without a save says that it has begun


class Watched:
    """The rules that are watched, by the files of their modules; the module of one is loaded again if it changes."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = {rule.path.resolve(): rule for rule in rules}
        self._saved = self._times()

    def _times(self) -> dict[Path, int]:
        files = [file for path in self.rules for file in (path, path.with_suffix(".md"))]
        return {file: file.stat().st_mtime_ns for file in files if file.exists()}

    def missed_files(self) -> set[Path]:
        """Return the files that were saved since this was made: before the watch of their folders had begun."""
        now = self._times()
        return {file for file, saved in now.items() if self._saved.get(file) != saved}

    @property
    def folders(self) -> list[Path]:
        """The folders of the rules."""
        return sorted({path.parent for path in self.rules})

    def changed_rules(self, files: Iterable[Path]) -> tuple[list[Rule], list[str]]:
        """Return the rules that saved files concern, as they are now, and what is wrong with others.

        A module that several rules of its folder may import concerns all of them.
        """
        saved = {path.resolve() for path in files}
        pages = {path for path in saved if path.suffix == ".md"}
        concerned = {path.with_suffix(suffix) for path in pages for suffix in (".py", ".toml")} & self.rules.keys()
        reload = saved & self.rules.keys()
        for helper in {path for path in saved if path.suffix == ".py"} - self.rules.keys():
            forget(helper)
            reload |= {path for path in self.rules if path.parent == helper.parent}
        problems = []
        for path in sorted(reload):
            try:
                self.rules[path] = reload_rule(self.rules[path])
            except RuleError as error:
                problems.append(str(error))
                concerned.discard(path)
            else:
                concerned.add(path)
        return [self.rules[path] for path in sorted(concerned)], problems


def saves(folders: Sequence[Path]) -> Iterator[set[Path]]:
    """Yield the files that were saved in some folders, again and again, until the process is interrupted.

    Nothing is yielded for as long as nothing is saved, except one empty set: from then on no save is missed.
    """
    from watchfiles import watch

    has_begun = False
    for changes in watch(
        *folders, recursive=False, step=STEP, debounce=DEBOUNCE, rust_timeout=IDLE, yield_on_timeout=True
    ):
        if changes or not has_begun:
            yield {Path(name) for _, name in changes}
        has_begun = True


def early(bench: Bench, started: Sequence[Started]) -> Iterator[Preview]:
    """Yield what the rule proposes now for each case of which something is new and has to run."""
    left = list(started)
    while left:
        wait([result for _, _, result in left], PATIENCE)
        left = [each for each in left if not each[2].done()]
        for each in [each for each in left if bench.makes_runs(each[1])]:
            yield bench.preview(*each[:2])
            left.remove(each)
