"""Compile the TOML file of a rule to a module with a class that derives from a family of the SDK."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, field, make_dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from devfix.errors import RuleError
from devfix.registry.declarations.checking import places_of
from devfix.registry.declarations.places import find_targets
from devfix.registry.declarations.reading import Document
from devfix.registry.declarations.schema import Declaration, Family, When, rating, texts
from devfix.registry.declarations.writing import propose_changes
from devfix.sdk import (
    Change,
    Context,
    CreationRule,
    Event,
    FailureRule,
    Finding,
    OperandRule,
    Rule,
    Site,
    fill_message,
    is_indexed_beside,
)


def holds(when: When, ctx: Context) -> bool:
    """Return whether the operand in view fulfils all conditions that are given."""
    operand = ctx.operand
    is_made = not (when.kinds or when.ops) or (
        ctx.creation is not None and ctx.created_at is not None and created_by(when, ctx.creation)
    )
    return (
        is_made
        and operand.device.startswith(when.device)
        and (not when.argument or _is_any(operand.argument, texts(when.argument)))
        and when.moved in (None, bool(operand.transfers))
        and when.in_module in (None, operand.owner is not None)
        and (when.in_reach is None or when.in_reach == ctx.is_in_reach)
        and when.indexed_beside in (None, is_indexed_beside(ctx.failure, operand))
    )


def created_by(when: When, event: Event) -> bool:
    """Return whether a creation is of the kinds, if any are given, and by one of the operators, if any are given."""
    kinds = (when.kinds,) if isinstance(when.kinds, str) else when.kinds
    name = re.split(r"[.:]+", event.op)[-1]
    return (not kinds or event.kind in kinds) and (not when.ops or _is_any(name, texts(when.ops)))


def _is_any(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, each) for each in patterns)


OF_OPERAND = re.compile(r"\{(name|device|peer|op|made_at)\}")  # in a message


class DeclaredRule(Rule):
    """A rule whose file says where it edits, and what."""

    document: ClassVar[Document]

    @cached_property
    def declaration(self) -> Declaration:
        """The declaration with the values of the configured options."""
        values = asdict(self.options) if self.options is not None else {}
        return self.document.declaration({name.replace("_", "-"): value for name, value in values.items()})

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Yield the changes of each fix in turn."""
        found = False
        for fix in self.declaration.fix:
            if fix.otherwise and found:
                continue
            for each in propose_changes(fix, places_of(fix, self.declaration.family), ctx):
                found = True
                yield each

    def is_blamed(self, ctx: Context) -> bool:
        """Return whether the operand in view is as the file says, and one of the fixes has a place."""
        fixes = [(fix, places_of(fix, self.declaration.family)) for fix in self.declaration.fix]
        return holds(self.declaration.when, ctx) and any(True for fix, at in fixes for _ in find_targets(fix, at, ctx))


class DeclaredOperandRule(DeclaredRule, OperandRule):
    """A declared rule that blames the first operand that is as its file says."""

    def matches(self, ctx: Context) -> bool:
        """Return whether the operand in view is as the file says, and one of the fixes has a place."""
        return self.is_blamed(ctx)


class DeclaredCreationRule(DeclaredRule, CreationRule):
    """A declared rule for tensors that owned code created by a kind of call."""

    def is_creation(self, event: Event) -> bool:
        """Return whether a call is of the kinds, or runs one of the operators."""
        return created_by(self.declaration.when, event)

    def matches(self, ctx: Context) -> bool:
        """Return whether the operand in view is as the file says, and one of the fixes has a place."""
        return self.is_blamed(ctx)

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Yield the changes where the tensor was created; nothing for loop variables, which are many tensors."""
        return super().propose(ctx) if ctx.loop_frame is None else iter(())

    def fix(self, ctx: Context, site: Site) -> Iterator[Change]:
        """Yield the changes of each fix."""
        return self.propose(ctx)


class DeclaredFailureRule(DeclaredRule, FailureRule):
    """A declared rule for a kind of failure; it blames the first operand that is as its file says."""

    def diagnose(self, ctx: Context) -> Finding | None:
        """Return the finding if the failure is of the rule's kind."""
        if ctx.failure.kind != self.failure_kind or ctx.failure.at is None:
            return None
        when = self.declaration.when
        views = [ctx.view(number) for number in range(len(ctx.failure.operands))]
        needs_operand = when != When() or OF_OPERAND.search(self.message) is not None
        for each in views if needs_operand else [ctx.view(0)]:
            if when == When() or holds(when, each):
                return each.report(fill_message(self.message, each), self.confidence, self.device)
        return None


FAMILIES: Mapping[Family, type[DeclaredRule]] = {
    Family.OPERAND: DeclaredOperandRule,
    Family.CREATION: DeclaredCreationRule,
    Family.FAILURE: DeclaredFailureRule,
}


def compile_module(path: Path, name: str, package: str = "") -> ModuleType:
    """Return a module with the class, and the options, of the rule in a TOML file. Raises RuleError, with the line."""
    document = Document(path)
    declaration = document.declaration(document.options)
    module = ModuleType(name, declaration.title)
    module.__file__, module.__package__ = str(path), package
    if declaration.options:
        vars(module)["Options"] = _options(declaration, module)
    variables = {"__doc__": declaration.title, "__module__": name, "document": document, **_variables(declaration)}
    class_name = "".join(part.capitalize() for part in path.stem.split("_"))
    vars(module)[class_name] = type(class_name, (FAMILIES[declaration.family],), variables)
    return module


def _variables(declaration: Declaration) -> dict[str, Any]:
    """Return the class variables of a rule."""
    far = declaration.confidence_far
    return {
        "message": declaration.message,
        "confidence": rating(declaration.confidence),
        "confidence_far": rating(far) if far is not None else None,
        "supersedes": declaration.supersedes,
        "failure_kind": declaration.failure_kind or "",
        "needs_object": texts(declaration.needs_object),
        "reports_intentional": declaration.reports_intentional,
        "reports_held": declaration.reports_held,
        "device": declaration.device,
    }


def _options(declaration: Declaration, module: ModuleType) -> type[Any]:
    """Return the dataclass of a rule's options."""
    fields = [
        (name.replace("-", "_"), type(value), field(default=value)) for name, value in declaration.options.items()
    ]
    try:
        return make_dataclass("Options", fields, frozen=True, namespace={"__module__": module.__name__})
    except (TypeError, ValueError) as error:
        raise RuleError(f"{module.__file__}: [options]: {error}") from error
