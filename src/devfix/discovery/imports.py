"""The files that reach torch, determined by their import statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from devfix.discovery.libraries import Libraries
from devfix.notebooks.notebook import Notebook, is_notebook

_TOP = PurePosixPath()
_FILES = 2000  # at most so many are parsed: about three seconds, and only if no command is given
_STEPS = 300  # files that one script imports
_BYTES, _WITH_OUTPUTS = 1_000_000, 20_000_000  # of a script, of a notebook
# Modules call these for setup as often as scripts do.
_PREPARING = frozenset({"sys", "os", "warnings", "logging", "matplotlib", "random", "np", "numpy", "load_dotenv"})


@dataclass(frozen=True)
class Module:
    """The imports of a file, whether it has a main guard, and whether it does something when run without one."""

    names: tuple[tuple[int, str], ...] = ()
    guarded: bool = False
    works: bool = False

    @property
    def tops(self) -> frozenset[str]:
        """The top-level names that it imports absolutely."""
        return frozenset(name.split(".")[0] for level, name in self.names if not level and name)

    @property
    def relative(self) -> bool:
        """True if it has relative imports, so that it only runs as a module of its package."""
        return any(level for level, _ in self.names)


class Imports:
    """The import statements of a repository's files; each file is parsed once, and none is executed."""

    def __init__(self, root: Path, tracked: frozenset[str], python: Path) -> None:
        """Read files below `root`; `tracked` has their paths, relative to it. `python` has their dependencies."""
        self.root, self.tracked = root, tracked
        self.libraries = Libraries(python, root, self._outside)
        self._modules: dict[str, Module] = {}
        self._at_top: dict[str, str | None] = {}
        self._imported_files: dict[tuple[str, str], tuple[str, ...]] = {}

    def module(self, path: str) -> Module:
        """Return the imports of a file; none if it cannot be parsed, or after too many files."""
        if path not in self._modules:
            if len(self._modules) >= _FILES:
                return Module()
            self._modules[path] = _parse(self.root / path)
        return self._modules[path]

    def reaches_torch(self, path: str) -> bool:
        """Return whether a file imports torch, directly or through files of the repository."""
        folder = path.rpartition("/")[0]
        seen, waiting = {path}, [path]
        while waiting and len(seen) <= _STEPS:
            current = waiting.pop(0)
            module = self.module(current)
            if self._brings_torch(module, folder):
                return True
            for target in self._targets(current, folder):
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return False

    def find(self, name: str, folder: str = "") -> str | None:
        """Return the file of a dotted name as a program in `folder` imports it, including "src" layouts."""
        if name not in self._at_top:
            self._at_top[name] = self._find_in("", name) or self._find_in("src", name)
        # Most folders hold nothing by that name, and a repository has thousands of names and hundreds of programs.
        beside = self._find_in(folder, name) if name.partition(".")[0] in self._beside.get(folder, ()) else None
        return beside or self._at_top[name]

    def _find_in(self, folder: str, name: str) -> str | None:
        stem = f"{folder}/{name.replace('.', '/')}".lstrip("/")
        return next((path for path in (f"{stem}/__init__.py", f"{stem}.py") if path in self.tracked), None)

    @cached_property
    def _beside(self) -> dict[str, set[str]]:
        """The names that each folder has: those of its files without their suffix, and those of the folders in it."""
        found: dict[str, set[str]] = {}
        for path in self.tracked:
            folder, _, name = path.rpartition("/")
            found.setdefault(folder, set()).add(name.removesuffix(".py"))
            while folder:
                folder, _, name = folder.rpartition("/")
                found.setdefault(folder, set()).add(name)
        return found

    def reaches(self, path: str, targets: frozenset[str]) -> bool:
        """Return whether a file is one of `targets` or imports one, directly or through files of the repository."""
        folder = path.rpartition("/")[0]
        seen, waiting = {path}, [path]
        while waiting and len(seen) <= _STEPS:
            current = waiting.pop(0)
            if current in targets:
                return True
            for target in self._targets(current, folder):
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return False

    @cached_property
    def imported(self) -> frozenset[str]:
        """The files that other files of the repository import."""
        found = set[str]()
        for path in self._python:
            targets = self._targets(path, path.rpartition("/")[0])
            found.update(target for target in targets if target != path)
        return frozenset(found)

    def _brings_torch(self, module: Module, folder: str) -> bool:
        if "torch" in module.tops:
            return True
        return any(self.find(name, folder) is None and self.libraries.brings_torch(name) for name in module.tops)

    @property
    def _python(self) -> list[str]:
        return sorted(
            (path for path in self.tracked if path.endswith((".py", ".ipynb"))),
            key=lambda path: (path.count("/"), path),
        )

    def _outside(self) -> Iterator[str]:
        """Yield the imported top-level names that are not in the repository."""
        for path in self._python:
            folder = path.rpartition("/")[0]
            yield from (name for name in self.module(path).tops if self.find(name, folder) is None)

    @cached_property
    def packages(self) -> frozenset[str]:
        """The folders that have an `__init__.py`."""
        return frozenset(path.rpartition("/")[0] for path in self.tracked if path.endswith("/__init__.py"))

    def _targets(self, path: str, folder: str) -> tuple[str, ...]:
        """Return the files of the repository that a file imports in a program of `folder`."""
        if (path, folder) not in self._imported_files:
            names = dict.fromkeys(name for each in self.module(path).names for name in _absolute(path, *each))
            found = (self.find(name, folder) for name in names)
            self._imported_files[path, folder] = tuple(dict.fromkeys(filter(None, found)))
        return self._imported_files[path, folder]


def _absolute(path: str, level: int, name: str) -> Iterator[str]:
    """Yield the dotted names that an import of a file may run, the longest first.

    `import a.b.c` runs a, a.b and a.b.c; the last part of `from a.b import c` may be a module or not.
    """
    start = PurePosixPath(path).parents[level - 1] if 0 < level <= path.count("/") + 1 else _TOP
    parts = [*start.parts, *(name.split(".") if name else ())]
    yield from (".".join(parts[:end]) for end in range(len(parts), 0, -1))


def _parse(path: Path) -> Module:
    try:
        of_notebook = is_notebook(path.name)
        if path.stat().st_size > (_WITH_OUTPUTS if of_notebook else _BYTES):
            return Module()
        data = path.read_bytes()
        tree = ast.parse(Notebook(data).script if of_notebook else data)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return Module()
    works = any(map(_works, tree.body))
    return Module(tuple(_names(tree)), any(_is_guard(statement) for statement in tree.body), works)


def _names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            stem = f"{node.module}." if node.module else ""
            yield from ((node.level, stem + alias.name) for alias in node.names if alias.name != "*")
            yield node.level, node.module or ""


def _works(statement: ast.stmt) -> bool:
    """Return whether a top-level statement does a script's work: a loop, a `with` block, or a call for its effect."""
    if isinstance(statement, (ast.For, ast.While, ast.With)):
        return True
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    root: ast.expr = statement.value.func
    while isinstance(root, (ast.Attribute, ast.Call)):
        root = root.value if isinstance(root, ast.Attribute) else root.func
    return not isinstance(root, ast.Name) or root.id not in _PREPARING


def _is_guard(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.If) or not isinstance(statement.test, ast.Compare):
        return False
    sides = [statement.test.left, *statement.test.comparators]
    named = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
    return named and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)
