"""A rule as devfix holds it: an object of the class in its module, a page, and where they come from."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from devfix import sdk
from devfix.errors import RuleError, UserError
from devfix.model import Finding
from devfix.registry.options import check_options, read_options
from devfix.sdk import Change, CodeWarning, Context, File


@dataclass(frozen=True)
class Rule:
    """A rule: its id ("placement/input-not-moved"), its title, where it comes from, its object, its module.

    `origin` is the distribution that brought it, or the folder for a local rule.
    """

    id: str
    title: str
    origin: str
    path: Path
    implementation: sdk.Rule
    module: ModuleType | None = None

    def diagnose(self, ctx: Context) -> Finding | None:
        """What the rule says of a failure."""
        return self.implementation.diagnose(ctx)

    def propose(self, ctx: Context) -> Iterator[Change]:
        """The rule's changes for its finding, which the context has."""
        return self.implementation.propose(ctx)

    def warnings(self, file: File) -> Iterator[CodeWarning]:
        """What looks wrong to the rule in a file, without any failure."""
        return self.implementation.warnings(file)

    @property
    def warning_texts(self) -> tuple[str, ...]:
        """The texts of which a file must have one for the rule to warn of anything in it; empty where it never does."""
        return _texts(self.implementation.warning_texts)

    @property
    def supersedes(self) -> tuple[str, ...]:
        """The ids of the rules that come after this one where their evidence is equally good."""
        return _texts(self.implementation.supersedes)

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
        if self.options is None:
            raise UserError(f"rule {self.id} has no options; remove {', '.join(sorted(values))}")
        implementation = type(self.implementation)()
        implementation.options = read_options(self.options, values, self.id)
        return replace(self, implementation=implementation)


def _texts(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) and all(isinstance(each, str) for each in value) else ()


def rule_from(module: ModuleType, pack: str, origin: str) -> Rule:
    """The rule in a module, with the defaults of its options.

    Raises RuleError, naming the file, where it has no docstring, `Options` is none, or not one class derives from
    `devfix.sdk.Rule` and has all of its methods.
    """
    path = Path(module.__file__ or "")
    implementation = _implementation(module, path)
    title = (ast.get_docstring(ast.parse(path.read_bytes())) or "").split("\n")[0]
    if not title:
        raise RuleError(f"{path}: is no rule, it lacks a docstring, which is its title")
    if hasattr(module, "Options"):
        check_options(module.Options, path)
    name = module.__name__.rpartition(".")[2].replace("_", "-")
    rule = Rule(f"{pack}/{name}", title, origin, path, implementation, module)
    return rule.with_options({})


def _implementation(module: ModuleType, path: Path) -> sdk.Rule:
    """An object of the one class of a module that is a rule."""
    own = [each for each in vars(module).values() if inspect.isclass(each) and each.__module__ == module.__name__]
    classes = [each for each in own if issubclass(each, sdk.Rule)]
    if len(classes) != 1:
        found = f"has {len(classes)}: {', '.join(each.__name__ for each in classes)}" if classes else "has none"
        raise RuleError(f"{path}: is no rule, it needs one class derived from devfix.sdk.Rule, and {found}")
    lacking = sorted(getattr(classes[0], "__abstractmethods__", ()))
    if lacking:
        raise RuleError(f"{path}: is no rule, {classes[0].__name__} lacks {', '.join(lacking)}")
    try:
        return classes[0]()
    except Exception as error:
        raise RuleError(f"{path}: {classes[0].__name__}() raised {type(error).__name__}: {error}") from error
