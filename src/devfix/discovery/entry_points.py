"""The entry points of a repository, found without executing it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath

from devfix.discovery.command import Command, notebook_words
from devfix.discovery.imports import Imports
from devfix.discovery.project import Project
from devfix.discovery.readme import readme_commands
from devfix.notebooks.notebook import is_notebook

_EACH = 20  # at most so many entry points of each kind
_NEAR = 4  # at most so many test files have a command of their own
_READ = 4000  # at most so many files are searched for a main guard
_NOT_SCRIPTS = frozenset(
    {"setup.py", "conftest.py", "conf.py", "noxfile.py", "tasks.py", "versioneer.py", "__init__.py"}
)
_LATER = frozenset({"test", "tests", "testing", "doc", "docs", "benchmark", "benchmarks", "ci", ".ci", ".github"})
_DEFINED = re.compile(r"^(?:async +)?(?:def|class) +(\w+)", re.MULTILINE)
_TEST = re.compile(r"(^|/)(test_[^/]*|[^/]*_test)\.py$")


def entry_points(project: Project, imports: Imports, python: Path) -> Iterator[Command]:
    """Yield each entry point that reaches torch, cheapest kind first, each command once."""
    seen = set()
    for find in (_console_scripts, _main_packages, _guarded_scripts, _readme, _plain_scripts, _notebooks, _tests):
        for number, command in enumerate(find(project, imports, python)):
            if command.words not in seen and number < _EACH:
                seen.add(command.words)
                yield command


def _console_scripts(project: Project, imports: Imports, python: Path) -> Iterator[Command]:
    for name, code in project.scripts.items():
        path = imports.find(project.targets[name].partition(":")[0].strip())
        if path and imports.reaches_torch(path):
            shown = shlex.join(("python", "-c", code))
            yield Command((str(python), "-c", code), shown, f"the console script {name}")


def _main_packages(project: Project, imports: Imports, python: Path) -> Iterator[Command]:
    mains = (path for path in project.tracked if path.endswith("/__main__.py"))
    for path in sorted(mains, key=_order):
        if not _LATER.intersection(path.split("/")) and imports.reaches_torch(path):
            yield _module(path.removesuffix("/__main__.py"), python, path)


def _guarded_scripts(project: Project, imports: Imports, python: Path) -> Iterator[Command]:
    scripts = (path for path in project.tracked if path.endswith(".py") and path.rpartition("/")[2] not in _NOT_SCRIPTS)
    for path in sorted(scripts, key=_order)[:_READ]:
        if path.endswith("__main__.py") or _TEST.search(path) or not _mentions(project.root / path, b"__main__"):
            continue
        if imports.module(path).guarded and imports.reaches_torch(path):
            if imports.module(path).relative:
                yield _module(path.removesuffix(".py"), python, path)
            else:
                yield Command((str(python), path), shlex.join(("python", path)), f"the main guard of {path}")


def _readme(project: Project, imports: Imports, python: Path) -> Iterator[Command]:
    yield from readme_commands(project, imports, python)


def _plain_scripts(project: Project, imports: Imports, python: Path) -> Iterator[Command]:
    """Yield scripts without a main guard: files that no other file imports and that do something when run."""
    paths = (path for path in project.tracked if path.endswith(".py") and path.rpartition("/")[2] not in _NOT_SCRIPTS)
    for path in sorted(paths, key=_order)[:_READ]:
        if _TEST.search(path) or path.endswith("__main__.py") or path.rpartition("/")[0] in imports.packages:
            continue
        module = imports.module(path)
        if not module.works or module.guarded or module.relative or not _LATER.isdisjoint(path.split("/")):
            continue
        if path not in imports.imported and imports.reaches_torch(path):
            yield Command((str(python), path), shlex.join(("python", path)), path)


def _notebooks(project: Project, imports: Imports, python: Path) -> Iterator[Command]:
    paths = (path for path in project.tracked if is_notebook(path) and ".ipynb_checkpoints/" not in path)
    for path in sorted(paths, key=_order)[:_READ]:
        if imports.reaches_torch(path):
            yield Command(notebook_words(f"./{path}", python), shlex.quote(path), path)


def _tests(project: Project, imports: Imports, python: Path) -> Iterator[Command]:
    if found := _test_files(project, imports):
        yield _pytest(found, python, f"{len(found)} test files that import torch")


def _test_files(project: Project, imports: Imports) -> list[str]:
    tests = sorted(filter(_TEST.search, project.tracked), key=_order)[: 10 * _EACH]
    return [path for path in tests if imports.reaches_torch(path)]


def _pytest(files: Sequence[str], python: Path, origin: str) -> Command:
    words = ("-m", "pytest", *files)
    return Command((str(python), *words), shlex.join(("python", *words)), origin)


def _module(stem: str, python: Path, origin: str) -> Command:
    """Return the command that runs a module, which may be below "src"."""
    name = stem.removeprefix("src/").replace("/", ".")
    words: tuple[str, ...] = ("-m", name)
    if stem.startswith("src/"):
        run = f"runpy.run_module({name!r}, run_name='__main__', alter_sys=True)"
        words = ("-c", f"import runpy, sys; sys.path.insert(0, 'src'); {run}")
    return Command((str(python), *words), shlex.join(("python", *words)), origin)


def _order(path: str) -> tuple[bool, int, str]:
    """Sort key: programs before tests and documentation, then by depth in the repository."""
    parts = PurePosixPath(path).parts
    return (not _LATER.isdisjoint(parts), len(parts), path)


def _mentions(path: Path, word: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return word in file.read(1_000_000)
    except OSError:
        return False


class _Reaching(Imports):
    """Imports that search for files of the repository instead of torch."""

    def __init__(self, root: Path, tracked: frozenset[str], python: Path, targets: frozenset[str]) -> None:
        super().__init__(root, tracked, python)
        self._reached = targets

    def reaches_torch(self, path: str) -> bool:
        return self.reaches(path, self._reached)

    def definitions(self, paths: Collection[str]) -> frozenset[str]:
        """Return the names of the functions and classes that files define at their top level."""
        return frozenset(name for path in paths for name in _DEFINED.findall(self._text(path)))

    def words(self, path: str) -> frozenset[str]:
        """Return the words of a file."""
        return frozenset(re.findall(r"\w+", self._text(path)))

    def _text(self, path: str) -> str:
        try:
            return (self.root / path).read_text("utf-8", errors="replace")
        except OSError:
            return ""


def reaching(root: Path, tracked: frozenset[str], python: Path, targets: frozenset[str]) -> Iterator[Command]:
    """Yield the entry points that reach some files, first the tests that name what these define.

    `root` is the folder that commands are run in; `tracked` and `targets` are paths below it. No code is executed.
    """
    project, imports = Project(root, tracked), _Reaching(root, tracked, python, targets)
    tests, names = _test_files(project, imports), imports.definitions(targets)
    named = {path: len(names & imports.words(path)) for path in tests}
    near = [path for path in tests if path in targets or named[path]]
    near.sort(key=lambda path: -named[path])
    for path in near[:_NEAR]:  # one by one: a slow one does not use up the time of the others
        yield _pytest([path], python, "a test file that names what is edited")
    for command in entry_points(project, imports, python):
        if command.words[1:3] != ("-m", "pytest"):
            yield command
        elif far := [path for path in tests if path not in near[:_NEAR]]:
            yield _pytest(far, python, f"{len(far)} test files that reach what is edited")
