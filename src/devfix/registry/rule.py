"""A rule as devfix holds it: two functions, a page, and where they come from."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from devfix.errors import RuleError, UserError
from devfix.model import Diagnosis, Failure, Finding
from devfix.registry.options import check_options, read_options
from devfix.sdk import Change, CodeWarning, File, Sources


@dataclass(frozen=True)
class Rule:
    """A rule: its id ("placement/input-not-moved"), its title, where it comes from, its two functions, its module.

    `origin` is the distribution that brought it, or the folder for a local rule.
    """

    id: str
    title: str
    origin: str
    path: Path
    diagnose: Callable[[Failure], Finding | None]
    propose: Callable[[Diagnosis, Sources], Iterable[Change]]
    module: ModuleType | None = None

    @property
    def doubtful(self) -> tuple[str, ...]:
        """The texts of which a file must have one for the rule to doubt anything in it; empty where it doubts none."""
        found = getattr(self.module, "DOUBTFUL", ())
        return found if isinstance(found, tuple) and all(isinstance(each, str) for each in found) else ()

    @property
    def supersedes(self) -> tuple[str, ...]:
        """The ids of the rules that come after this one where their evidence is equally strong: `SUPERSEDES`."""
        found = getattr(self.module, "SUPERSEDES", ())
        return found if isinstance(found, tuple) and all(isinstance(each, str) for each in found) else ()

    def doubts(self, file: File) -> Iterable[CodeWarning]:
        """What the rule doubts in a file, without any failure."""
        asked = getattr(self.module, "doubts", None)
        return asked(file) if callable(asked) else ()

    @property
    def pack(self) -> str:
        """The first part of the id."""
        return self.id.split("/")[0]

    @property
    def page(self) -> Path:
        """The page beside the module; it may be missing."""
        return self.path.with_suffix(".md")

    @property
    def options(self) -> type[Any] | None:
        """The dataclass `Options` of the module, whose defaults hold where nothing is configured; None without one."""
        found = getattr(self.module, "Options", None)
        return found if isinstance(found, type) else None

    def with_options(self, values: Mapping[str, Any]) -> Rule:
        """The rule with options in force. Raises UserError for one that it does not have or whose type is wrong."""
        if not values and self.options is None:
            return self
        if self.options is None or self.module is None:
            raise UserError(f"rule {self.id} has no options; remove {', '.join(sorted(values))}")
        given = read_options(self.options, values, self.id)
        # Both functions of a rule with options take them as their last argument.
        return replace(
            self,
            diagnose=_last(self.module.diagnose, given),
            propose=_last(self.module.propose, given),
        )


def _last(function: Callable[..., Any], given: object) -> Callable[..., Any]:
    return partial(_call, function, given)


def _call(function: Callable[..., Any], given: object, *arguments: object) -> Any:
    return function(*arguments, given)


def rule_from(module: ModuleType, pack: str, origin: str) -> Rule:
    """The rule in a module, with the defaults of its options.

    Raises RuleError, naming the file, where `diagnose`, `propose` or the docstring is missing, or `Options` is none.
    """
    path = Path(module.__file__ or "")
    lacking = [name for name in ("diagnose", "propose") if not callable(getattr(module, name, None))]
    title = (ast.get_docstring(ast.parse(path.read_bytes())) or "").split("\n")[0]
    if lacking or not title:
        raise RuleError(f"{path}: is no rule, it lacks {', '.join(lacking or ['a docstring, which is its title'])}")
    if hasattr(module, "Options"):
        check_options(module.Options, path)
    name = module.__name__.rpartition(".")[2].replace("_", "-")
    rule = Rule(f"{pack}/{name}", title, origin, path, module.diagnose, module.propose, module)
    return rule.with_options({})
