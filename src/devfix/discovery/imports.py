"""The files that reach torch, determined by their import statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from devfix.discovery.libraries import Libraries

_TOP = PurePosixPath()
_FILES = 2000  # at most so many are parsed: about three seconds, and only if no command is given
_STEPS = 300  # files that one script imports
_BYTES = 1_000_000
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

    def module(self, path: str) -> Module:
        """Return the imports of a file; none if it cannot be parsed, or after too many files."""
        if path not in self._modules:
            if len(self._modules) >= _FILES:
                return Module()
            self._modules[path] = _parse(self.root / path)
        return self._modules[path]

    def reaches_torch(self, path: str) -> bool:
        """Return whether a file imports torch, directly or through files of the repository."""
        folder = PurePosixPath(path).parent
        seen, waiting = {path}, [path]
        while waiting and len(seen) <= _STEPS:
            current = waiting.pop(0)
            module = self.module(current)
            if self._brings_torch(module, folder):
                return True
            for target in self._targets(current, module, folder):
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return False

    def find(self, name: str, folder: PurePosixPath = _TOP) -> str | None:
        """Return the file of a dotted name as a program in `folder` imports it, including "src" layouts."""
        stem = name.replace(".", "/")
        for start in dict.fromkeys((folder, _TOP, _TOP / "src")):
            for candidate in (f"{stem}/__init__.py", f"{stem}.py"):
                if (path := str(start / candidate)) in self.tracked:
                    return path
        return None

    def reaches(self, path: str, targets: frozenset[str]) -> bool:
        """Return whether a file is one of `targets` or imports one, directly or through files of the repository."""
        folder = PurePosixPath(path).parent
        seen, waiting = {path}, [path]
        while waiting and len(seen) <= _STEPS:
            current = waiting.pop(0)
            if current in targets:
                return True
            for target in self._targets(current, self.module(current), folder):
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return False

    @cached_property
    def imported(self) -> frozenset[str]:
        """The files that other files of the repository import."""
        found = set[str]()
        for path in self._python:
            targets = self._targets(path, self.module(path), PurePosixPath(path).parent)
            found.update(target for target in targets if target != path)
        return frozenset(found)

    def _brings_torch(self, module: Module, folder: PurePosixPath) -> bool:
        if "torch" in module.tops:
            return True
        return any(self.find(name, folder) is None and self.libraries.brings_torch(name) for name in module.tops)

    @property
    def _python(self) -> list[str]:
        return sorted((path for path in self.tracked if path.endswith(".py")), key=lambda path: (path.count("/"), path))

    def _outside(self) -> Iterator[str]:
        """Yield the imported top-level names that are not in the repository."""
        for path in self._python:
            folder = PurePosixPath(path).parent
            yield from (name for name in self.module(path).tops if self.find(name, folder) is None)

    @cached_property
    def packages(self) -> frozenset[str]:
        """The folders that have an `__init__.py`."""
        return frozenset(path.rpartition("/")[0] for path in self.tracked if path.endswith("/__init__.py"))

    def _targets(self, path: str, module: Module, folder: PurePosixPath) -> Iterator[str]:
        for level, name in module.names:
            start = PurePosixPath(path).parents[level - 1] if 0 < level <= path.count("/") + 1 else _TOP
            dotted = ".".join([*start.parts, name] if name else start.parts) if level else name
            parts = dotted.split(".") if dotted else []
            # `import a.b.c` runs a, a.b and a.b.c; the last part of `from a.b import c` may be a module or not.
            found = (self.find(".".join(parts[:end]), folder) for end in range(len(parts), 0, -1))
            yield from filter(None, found)


def _parse(path: Path) -> Module:
    try:
        if path.stat().st_size > _BYTES:
            return Module()
        tree = ast.parse(path.read_bytes())
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
