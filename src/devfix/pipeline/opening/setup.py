"""Open a session: check the options before anything of the repository is run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from devfix.config import read_config
from devfix.discovery import (
    Interpreter,
    claimed_devices,
    discover,
    documented_devices,
    examine,
    interpreter,
    is_of_notebook,
    runnable,
)
from devfix.discovery.test_files import is_test_file
from devfix.errors import UserError
from devfix.execution import TracedRunner
from devfix.execution.prefork import PreforkServer, can_fork
from devfix.execution.pytest_plugin import lifts_tests, needs_plugin, plugin_folder
from devfix.execution.slots import Slots
from devfix.execution.test_server import TestServer
from devfix.model import DeviceType, Request, Target, Until, World, WorldChoice
from devfix.notebooks import KERNEL
from devfix.pipeline.opening.options import RepairOptions
from devfix.pipeline.opening.parallel_runs import MOST
from devfix.pipeline.opening.resource_options import needed_in_sandbox
from devfix.pipeline.opening.session import JOBS, Session
from devfix.process import ResourceLimits, can_protect, child_environment
from devfix.process.end_watch import answer
from devfix.process.tempdirs import scratch_folder
from devfix.progress import Progress
from devfix.workspace import Repository


@contextmanager
def open_session(
    path: str | Path,
    options: RepairOptions,
    progress: Callable[[str], None] | None,
) -> Iterator[Session]:
    """Open everything that a repair needs, and remove it on leaving the block.

    Raises UserError for wrong usage.
    """
    began = time.monotonic()
    repository = Repository.open(Path(path))
    if options.commit:
        repository = repository.at(options.commit)
    if options.branch:
        repository.check_branch(options.branch)
    folder = repository.root / repository.subfolder
    config = read_config(repository.root, repository.subfolder)
    limits, sandboxed = options.resources.limits(config), options.resources.is_sandboxed(config)
    written_in = config.source.parent if config.source and not options.python else None
    python = interpreter(folder, options.python or config.python, written_in)
    python_info = examine(python, folder)
    world = world_for(options.world_in(config), options.gpus_in(config) or 1, python_info)
    tracked = repository.tracked_paths()
    prefix = f"{repository.subfolder}/" if repository.subfolder else ""
    below = frozenset(name.removeprefix(prefix) for name in tracked if name.startswith(prefix))
    jobs = _jobs(options.until, sandboxed)
    source = "--run" if options.run else f"{config.source}: run"
    commands = runnable(discover(folder, below, options.run or config.run, python, source), python_info)
    target = Target(
        root=repository.root,
        commit=repository.commit,
        command=commands[0].words,
        python=python,
        world=world,
        timeout=options.timeout_in(config),
        subfolder=repository.subfolder,
        exclude=(*options.exclude, *config.exclude, *_find_lifted(commands[0].words, tracked)),
        until=options.until,
    )
    with (
        scratch_folder() as scratch,
        _warm(target, scratch, limits, sandboxed) as warm,
        repository.worktrees(MOST if jobs > 1 else jobs) as worktrees,
        ExitStack() as cleanup,
    ):
        borrowed = worktrees.borrowed
        protected = borrowed if not borrowed or can_protect(borrowed) else ()
        needed = needed_in_sandbox(python, repository.root) if sandboxed else None
        observer = TracedRunner(
            target, worktrees, tracked, warm, protected, limits, needed, scratch, options.include_handled
        )
        observer.deadline = None if options.budget is None else began + options.budget
        if needs_plugin(target.command):
            observer.plugin = plugin_folder(python, worktrees.scratch)
        shown = progress if isinstance(progress, Progress) else Progress(progress or _silent)
        observer.progress, observer.slots = shown, Slots(jobs)
        test_server = cleanup.enter_context(closing(TestServer(observer, worktrees.scratch)))
        observer.warm_tests = test_server.warm
        session = Session(repository, config, worktrees, observer, commands, python_info.gpus, shown, test_server)
        session.has_fixed_gpus = options.gpus_in(config) is not None or (options.world_in(config) is WorldChoice.REAL)
        session.claimed = _find_claimed(repository, session) if config.devices is None else config.devices
        session.notes.add(*_notes(repository))
        session.other_seconds = options.others_in(config)
        if options.tests_in(config):
            session.wants_tests, session.has_pytest = True, python_info.pytest
        if borrowed and not protected:
            session.notes.add(_explain_unprotected(borrowed))
        cleanup.callback(session.close)
        session.seconds["open"] = round(time.monotonic() - began, 3)
        yield session


def _find_claimed(repository: Repository, session: Session) -> tuple[DeviceType, ...]:
    """Return the kinds of accelerator that code and documents claim; a note says which document alone does."""
    found = list(claimed_devices(repository.containing))
    for each in documented_devices(repository.containing, repository.content):
        if each.device not in found:
            found.append(each.device)
            where = f"{each.path}:{each.line} says that {each.device.value} is supported"
            session.notes.add(f'{where}: fixes are run there too, unless the configuration has "devices"')
    return tuple(found)


def _find_lifted(command: Sequence[str], tracked: Iterable[str]) -> list[str]:
    """Return the files of test code where a command runs them lifted: what is at fault is what they call."""
    return sorted(path for path in tracked if is_test_file(path)) if lifts_tests(command) else []


def _jobs(until: Until | None, sandboxed: bool) -> int:
    """Return how many runs may take place at once: servers need their port. UserError if a program cannot be ended."""
    if until is None:
        return JOBS
    if sandboxed:
        options = "--for, --until and --steps-after"
        raise UserError(f"--sandbox: a program in it cannot be ended while it runs; leave out {options}")
    if until.url and answer(until.url, Request("GET", "/"), 5.0) is not None:
        raise UserError(f"--until {until.url}: something answers there already; end it, or let the program use another")
    return 1 if until.url else JOBS


@contextmanager
def _warm(target: Target, temporary: Path, limits: ResourceLimits, sandboxed: bool) -> Iterator[PreforkServer | None]:
    """Start a prefork server for the program if it can run it; None otherwise."""
    if sandboxed or target.until is not None or not can_fork(target.command, target.python):
        yield None
        return
    modules = ("torch", KERNEL) if is_of_notebook(target.command) else ("torch",)
    environment = {**child_environment(), "TMPDIR": str(temporary)}
    warm = PreforkServer(target.python, environment, modules, limits.times(JOBS))
    try:
        yield warm
    finally:
        warm.close()


def _silent(step: str) -> None:
    """Ignore a step."""


def _notes(repository: Repository) -> Iterator[str]:
    if dirty := repository.dirty:
        shown = ", ".join(dirty[:3]) + (f" and {len(dirty) - 3} more" if len(dirty) > 3 else "")
        commit = repository.commit[:10]
        yield f"work starts from the commit {commit}: changes that are not committed are left out ({shown})"


def _explain_unprotected(borrowed: Sequence[Path]) -> str:
    shown = ", ".join(map(str, borrowed[:3]))
    return (
        f"the program can write to your own data in {shown}: it is too large to copy, and this system cannot protect it"
    )


def world_for(choice: WorldChoice, gpus: int, python: Interpreter) -> World:
    """Return the selected world, given the real GPUs that an interpreter sees.

    "auto" takes those of CUDA alone: most programs are written for CUDA (docs/adr/0025-one-table-of-accelerators.md).
    """
    if choice is WorldChoice.CPU:
        return World("cpu")
    if choice.device is not DeviceType.CUDA:
        if gpus > choice.device.most:
            raise UserError(f"--world {choice.value}: such a machine has one GPU; leave out --gpus {gpus}")
        return World("simulated", gpus, device=choice.device)
    has_cuda = python.device is DeviceType.CUDA and python.gpus >= gpus
    if choice is WorldChoice.SIMULATED or (choice is WorldChoice.AUTO and not has_cuda):
        return World("simulated", gpus)
    if python.gpus < gpus:
        raise UserError(
            f"--world real: the interpreter sees {python.gpus} GPUs, not {gpus}; use --world simulated or --python"
        )
    return World("real", gpus, device=python.device)
