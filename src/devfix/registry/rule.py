"""A loaded rule: an object of the class in its module, its page, and its origin."""

from __future__ import annotations

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
    """A rule: its id ("placement/input-not-moved"), title, origin, object and module.

    `path` is its module, or the TOML file from which that was made. `origin` is the distribution that contains it, or
    the folder of a local rule.
    """

    id: str
    title: str
    origin: str
    path: Path
    implementation: sdk.Rule
    module: ModuleType | None = None

    def diagnose(self, ctx: Context) -> Finding | None:
        """Return the rule's finding for a failure."""
        return self.implementation.diagnose(ctx)

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Return the rule's changes for the finding in the context."""
        return self.implementation.propose(ctx)

    def warnings(self, file: File) -> Iterator[CodeWarning]:
        """Return the rule's warnings about a file."""
        return self.implementation.warnings(file)

    @property
    def warning_texts(self) -> tuple[str, ...]:
        """The texts of which a file must contain one for the rule to warn about it; empty if the rule never warns."""
        return _texts(self.implementation.warning_texts)

    @property
    def supersedes(self) -> tuple[str, ...]:
        """The ids of the rules that come after this one if their evidence is equally good."""
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
        """The dataclass `Options` of the module, whose defaults apply without configuration; None without one."""
        found = getattr(self.module, "Options", None)
        return found if isinstance(found, type) else None

    def with_options(self, values: Mapping[str, Any]) -> Rule:
        """Return the rule with options. Raises UserError for an unknown option or a wrong type."""
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
    """Return the rule in a module, with the defaults of its options.

    Raises RuleError, naming the file, unless the module has a docstring, valid `Options` if any, and exactly one class
    that derives from `devfix.sdk.Rule` and implements all of its methods.
    """
    path = Path(module.__file__ or "")
    implementation = _implementation(module, path)
    title = (module.__doc__ or "").strip().split("\n")[0].strip()
    if not title:
        raise RuleError(f"{path}: is not a rule, it lacks a docstring, which is its title")
    if hasattr(module, "Options"):
        check_options(module.Options, path)
    name = module.__name__.rpartition(".")[2].replace("_", "-")
    rule = Rule(f"{pack}/{name}", title, origin, path, implementation, module)
    return rule.with_options({})


def _implementation(module: ModuleType, path: Path) -> sdk.Rule:
    """Return an object of the only class of a module that is a rule."""
    own = [each for each in vars(module).values() if inspect.isclass(each) and each.__module__ == module.__name__]
    classes = [each for each in own if issubclass(each, sdk.Rule)]
    if len(classes) != 1:
        found = f"has {len(classes)}: {', '.join(each.__name__ for each in classes)}" if classes else "has none"
        raise RuleError(f"{path}: is not a rule, it needs one class derived from devfix.sdk.Rule, and {found}")
    lacking = sorted(getattr(classes[0], "__abstractmethods__", ()))
    if lacking:
        raise RuleError(f"{path}: is not a rule, {classes[0].__name__} lacks {', '.join(lacking)}")
    try:
        return classes[0]()
    except Exception as error:
        raise RuleError(f"{path}: {classes[0].__name__}() raised {type(error).__name__}: {error}") from error
