"""`devfix find`: what is searched, with what, and the report of it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from devfix.config import read_config
from devfix.discovery import examine, interpreter
from devfix.discovery.test_files import is_test_file
from devfix.errors import UserError
from devfix.execution import TracedRunner
from devfix.execution.pytest_plugin import plugin_folder
from devfix.execution.test_server import TestServer
from devfix.find.baseline import Baseline
from devfix.find.confirmation import AT_ONCE
from devfix.find.passes import PassOptions, Shown, SuiteRunner
from devfix.find.records import FindReport
from devfix.find.search import FOR_SUITES, Search, worlds_for
from devfix.find.suites import Suite, from_root, may_keep_tensors, suites
from devfix.model import DeviceType, SilentKind, Target
from devfix.notes import Notes
from devfix.process import can_protect, default_limits
from devfix.process.tempdirs import scratch_folder
from devfix.registry.selection import rules_for
from devfix.report.source_lines import Lines, line_of
from devfix.sdk import Sources
from devfix.workspace import Repository

_MORE = 4  # times that the tests are run which the time did not reach before
BUDGET, TIMEOUT = 3600.0, 120.0  # seconds for everything, and for one test


@dataclass(frozen=True)
class FindOptions:
    """The options of a search; `budget` counts seconds for all, `timeout` for one test, `known` is the baseline.

    `silent` asks for what fails nowhere, too, of these kinds. Inputs lie on GPUs of the kind `device`: on one, and on
    the second of two if `gpus` is 2. `include_handled` asks for failures that are caught, too.
    """

    python: str | None = None
    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    timeout: float = TIMEOUT
    budget: float = BUDGET
    processes: int = 1
    known: Baseline = field(default_factory=Baseline)
    rules: tuple[Path, ...] = ()
    silent: frozenset[SilentKind] = frozenset(SilentKind)
    device: DeviceType = DeviceType.CUDA
    gpus: int = 2
    include_handled: bool = True


def find(path: str | Path, asked: FindOptions, show: Shown, step: Callable[[str], None]) -> FindReport:
    """Search the repository at `path` for device failures that its tests reach when their inputs lie on a GPU.

    `show` is told what a run has done so far, `step` each step as it begins. Raises UserError for wrong usage; an
    interrupt ends the search, and the report has what was found.
    """
    if Path(path).is_file():
        raise UserError(f"{path}: a file; to search its tests alone: devfix find --select {shlex.quote(str(path))}")
    repository = Repository.open(Path(path))
    with open_search(repository, asked, show, step) as (search, found):
        try:
            for suite, share in zip(found, shares(found), strict=True):
                search.look(suite, share)
            for _ in range(_MORE):
                if not (unfinished := [suite for suite in found if search.has_time_for_more(suite)]):
                    break
                for suite, share in zip(unfinished, shares(unfinished), strict=True):
                    search.look(suite, share)
            if asked.select and search.has_no_tests:
                globs = "folders, files or names: --select tests/test_model.py --select '*test_forward*'"
                raise UserError(f"--select {' --select '.join(asked.select)}: no test is named so; give {globs}")
            search.confirm()
        except KeyboardInterrupt:
            search.interrupted = True
        return asked.known.without_known(search.report(repository), _lines(repository))


def shares(found: Sequence[Suite]) -> Iterator[float]:
    """Yield the share of each suite in the time that is left when it begins."""
    left = sum(suite.kind.weight for suite in found)
    for suite in found:
        yield FOR_SUITES * suite.kind.weight / left
        left -= suite.kind.weight


@contextmanager
def open_search(
    repository: Repository, asked: FindOptions, show: Shown, step: Callable[[str], None]
) -> Iterator[tuple[Search, list[Suite]]]:
    """Give a search that has not begun, and the suites of a repository."""
    config = read_config(repository.root, repository.subfolder)
    python = interpreter(repository.root, asked.python or config.python)
    told = examine(python, repository.root)
    if not told.pytest:
        raise UserError(f"{python} has no pytest; install it there, or name another interpreter with --python")
    catalog = rules_for(config, asked.rules)
    tracked = repository.tracked_paths()
    select, exclude = (from_root(each, repository.subfolder, sorted(tracked)) for each in (asked.select, asked.exclude))
    found = suites(sorted(tracked), repository.content, repository.subfolder, select)
    worlds = worlds_for(asked.device, asked.gpus)
    target = Target(repository.root, repository.commit, (str(python),), python, worlds[0], asked.budget)
    notes = Notes(catalog.problems)
    keeps_tensors = may_keep_tensors(sorted(tracked), repository.content)
    with scratch_folder() as scratch, repository.worktrees(AT_ONCE) as worktrees, ExitStack() as cleanup:
        borrowed = worktrees.borrowed
        protected = borrowed if borrowed and can_protect(borrowed) else ()
        runner = TracedRunner(target, worktrees, tracked, None, protected, default_limits(), None, scratch)
        runner.plugin = plugin_folder(python, scratch)
        server = cleanup.enter_context(closing(TestServer(runner, worktrees.scratch)))
        runner.warm_tests = server.warm
        server.warm()
        options = PassOptions(select, exclude, asked.timeout, asked.processes)
        suite_runner = SuiteRunner(runner, options, scratch, show)
        sources = _sources(repository, notes)
        given = (suite_runner, catalog.rules, sources, asked.budget, step, asked.silent, notes, worlds, keeps_tensors)
        yield Search(*given, includes_handled=asked.include_handled), found


def _sources(repository: Repository, notes: Notes) -> Sources:
    """The files that rules may look at, those of the code under test; `notes` is told of what cannot be."""
    tracked = repository.tracked_paths()

    def read(path: str) -> bytes | None:
        return repository.content(path) if path in tracked and not is_test_file(path) else None

    return Sources(read, repository.containing, notes)


def _lines(repository: Repository) -> Lines:
    """Return what gives the lines of the files at the commit; "" of a file that is not there: a dependency's."""

    def line(path: str, number: int) -> str:
        content = repository.content_if_any(path)
        return "" if content is None else line_of(content, number)

    return line
