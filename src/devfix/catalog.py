"""Entry points -> rules: every module of every pack, with its page."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from devfix.errors import RuleError
from devfix.model import Blame, Diagnosis, Failure
from devfix.sdk import Change, Sources

GROUP = "devfix.rules"


@dataclass(frozen=True)
class Rule:
    """A rule: its id ("placement/input-not-moved"), its title, its two functions, and its page."""

    id: str
    title: str
    origin: str
    path: Path
    diagnose: Callable[[Failure], Blame | None]
    propose: Callable[[Diagnosis, Sources], Iterable[Change]]

    @property
    def page(self) -> Path:
        """The page beside the module; it may be missing."""
        return self.path.with_suffix(".md")


def rules(select: Sequence[str] = (), ignore: Sequence[str] = ()) -> tuple[Rule, ...]:
    """All installed rules, sorted by id; `select` and `ignore` hold rule ids or packs.

    Raises RuleError where a module is no rule, naming the file and what it lacks.
    """
    every = (rule for point in entry_points(group=GROUP) for rule in _pack(point))
    chosen = (rule for rule in every if (not select or _named(rule.id, select)) and not _named(rule.id, ignore))
    return tuple(sorted(chosen, key=lambda rule: rule.id))


def _named(identifier: str, names: Sequence[str]) -> bool:
    return identifier in names or identifier.split("/")[0] in names


def _pack(point: EntryPoint) -> Iterator[Rule]:
    try:
        pack = point.load()
    except Exception as error:
        raise RuleError(f"pack {point.name!r} ({point.value}) cannot be imported: {error}") from error
    origin = point.dist.name if point.dist else point.value
    for found in pkgutil.iter_modules(pack.__path__):
        if not found.name.startswith("_"):
            yield load(importlib.import_module(f"{pack.__name__}.{found.name}"), point.name, origin)


def load(module: ModuleType, pack: str, origin: str) -> Rule:
    """The rule in a module. Raises RuleError where `diagnose`, `propose` or the docstring is missing."""
    path = Path(module.__file__ or "")
    lacking = [name for name in ("diagnose", "propose") if not callable(getattr(module, name, None))]
    title = (ast.get_docstring(ast.parse(path.read_bytes())) or "").split("\n")[0]
    if lacking or not title:
        raise RuleError(f"{path}: is no rule, it lacks {', '.join(lacking or ['a docstring, which is its title'])}")
    name = module.__name__.rpartition(".")[2].replace("_", "-")
    return Rule(f"{pack}/{name}", title, origin, path, module.diagnose, module.propose)
