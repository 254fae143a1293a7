"""Which files reach torch, told from their import statements alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

# Packages that import torch on their own. Others that do are found when a local module imports torch as well.
_TORCH = re.compile(
    r"torch(vision|audio|text|metrics)?|(pytorch_)?lightning|transformers|diffusers|accelerate|timm|peft|"
    r"sentence_transformers|kornia|fastai|monai|ignite"
)
_TOP = PurePosixPath()
_FILES = 2000  # parsed in one discovery: some three seconds, and only where no command was given
_STEPS = 300  # files behind one script
_BYTES = 1_000_000


@dataclass(frozen=True)
class Module:
    """What one file imports, and whether it has a main guard."""

    names: tuple[tuple[int, str], ...] = ()
    guarded: bool = False

    @property
    def torch(self) -> bool:
        """Whether it imports torch, or a package that does."""
        return any(not level and _TORCH.fullmatch(name.split(".")[0]) for level, name in self.names)

    @property
    def relative(self) -> bool:
        """Whether it imports relatively, so that it runs as a module of its package alone."""
        return any(level for level, _ in self.names)


class Imports:
    """The import statements of a repository's files; each file is parsed once, and nothing is executed."""

    def __init__(self, root: Path, tracked: frozenset[str]) -> None:
        """Read files below `root`; `tracked` has their paths, relative to it."""
        self.root, self.tracked = root, tracked
        self._modules: dict[str, Module] = {}

    def module(self, path: str) -> Module:
        """Return what a file imports: nothing where it cannot be parsed, or where too many were."""
        if path not in self._modules:
            if len(self._modules) >= _FILES:
                return Module()
            self._modules[path] = _parsed(self.root / path)
        return self._modules[path]

    def reaches_torch(self, path: str) -> bool:
        """Whether a file imports torch, directly or through files of the repository."""
        folder = PurePosixPath(path).parent
        seen, waiting = {path}, [path]
        while waiting and len(seen) <= _STEPS:
            current = waiting.pop(0)
            module = self.module(current)
            if module.torch:
                return True
            for target in self._targets(current, module, folder):
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return False

    def find(self, name: str, folder: PurePosixPath = _TOP) -> str | None:
        """Return the file of a dotted name as a program in `folder` would find it, "src" layouts included."""
        stem = name.replace(".", "/")
        for start in dict.fromkeys((folder, _TOP, _TOP / "src")):
            for candidate in (f"{stem}/__init__.py", f"{stem}.py"):
                if (path := str(start / candidate)) in self.tracked:
                    return path
        return None

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


def _parsed(path: Path) -> Module:
    try:
        if path.stat().st_size > _BYTES:
            return Module()
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return Module()
    return Module(tuple(_names(tree)), any(_is_guard(statement) for statement in tree.body))


def _names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            stem = f"{node.module}." if node.module else ""
            yield from ((node.level, stem + alias.name) for alias in node.names if alias.name != "*")
            yield node.level, node.module or ""


def _is_guard(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.If) or not isinstance(statement.test, ast.Compare):
        return False
    sides = [statement.test.left, *statement.test.comparators]
    named = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
    return named and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)
