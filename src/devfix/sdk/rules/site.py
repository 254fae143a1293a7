"""A place in the source at which a rule edits: what stands there, what is in scope, and the edits that fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from devfix.model import Diagnosis, ScopeVariable, SourceLocation
from devfix.sdk.changes import Change, Node, rewrite
from devfix.sdk.fixes.batches import move_batch
from devfix.sdk.fixes.call_result import move_assigned, occurrences
from devfix.sdk.fixes.container import move_container, move_list
from devfix.sdk.fixes.device_expressions import device_expressions, device_names
from devfix.sdk.fixes.factories import add_device_argument, device_parameter
from devfix.sdk.fixes.modules import move_module_before
from devfix.sdk.fixes.moves import move_argument, move_result
from devfix.sdk.trace.sites import FixSite
from devfix.source import File, Sources, last_name
from devfix.source.edits.expressions import add_keyword, argument, expression
from devfix.source.edits.statements import insert_after, insert_before
from devfix.source.file import Statement


@dataclass(frozen=True)
class Site:
    """A node of an editable file, and what was in scope there when the program ran.

    Its edits yield changes: none where the edit does not fit, else one, or one for each name of the right device.
    `spot` is the place on the blamed tensor's way: its kind is "birth" (owned code calls the factory), "returned" (a
    call through which the new tensor comes back), "derived" (a cast or view on the way), "handover" (an argument of a
    call) or "use" (the failing expression).

    >>> site = next(ctx.sites("use"))
    >>> site.kind, site.place.line, site.file.code(site.node)
    ('use', 12, '(x + positions)')
    >>> [each.title for each in site.move_argument()][0]
    'Move `positions` to `x.device`'
    """

    diagnosis: Diagnosis
    sources: Sources
    file: File
    node: cst.CSTNode
    spot: FixSite

    @property
    def kind(self) -> str:
        """The kind of place: "birth", "returned", "derived", "handover" or "use"."""
        return self.spot.kind

    @property
    def place(self) -> SourceLocation:
        """The location of the node."""
        return self.spot.place

    @property
    def scope(self) -> tuple[ScopeVariable, ...]:
        """The variables in scope."""
        return self.spot.scope

    @property
    def expressions(self) -> tuple[str, ...]:
        """The names of the blamed tensor at a handover or a use; elsewhere the node itself stands for it."""
        return self.spot.expressions

    @property
    def frame(self) -> int | None:
        """The number of the frame that runs here; None where the function is over."""
        return self.spot.frame

    @property
    def statement(self) -> Statement | None:
        """The statement around the node."""
        return self.file.statement_of(self.node)

    @property
    def function(self) -> cst.FunctionDef | None:
        """The function around the node."""
        return self.file.function_of(self.node)

    @property
    def is_in_constructor(self) -> bool:
        """Whether the node is in a constructor."""
        return self.place.function.endswith("__init__")

    def call(self, *names: str) -> cst.Call | None:
        """The call here, of one of these last names if any are given."""
        return self.file.call_at(self.place, names)

    def occurrences(self, text: str) -> list[cst.BaseExpression]:
        """Where an expression is read in the node, else in its statement, outermost first."""
        return occurrences(self.file, self.node, text)

    def device_expressions(self, limit: int = 3) -> list[str]:
        """The expressions in scope for the right device, best first."""
        return device_expressions(self.diagnosis, self.spot, self.file, limit)

    def device_names(self) -> list[str]:
        """The names in scope of a device, whichever it is, the plainest first."""
        return device_names(self.spot, self.file)

    def device_parameter(self, device: str) -> str:
        """The parameter by which the function here was given a device; "" without one."""
        return device_parameter(self.spot, device, self.sources)

    def replace(
        self, edits: Mapping[Node, cst.CSTNode], title: str, safety: str = "safe", reason: str = ""
    ) -> Iterator[Change]:
        """Yield the file with nodes replaced."""
        return rewrite(self.file, edits, title, safety, reason)

    def insert_before(self, lines: Sequence[str], title: str, safety: str = "safe") -> Iterator[Change]:
        """Yield statements in front of the one here."""
        module = insert_before(self.file, self.statement, lines) if self.statement is not None else None
        return rewrite(self.file, module, title, safety)

    def insert_after(self, lines: Sequence[str], title: str, safety: str = "safe") -> Iterator[Change]:
        """Yield statements behind the one here."""
        module = insert_after(self.file, self.statement, lines) if self.statement is not None else None
        return rewrite(self.file, module, title, safety)

    def add_device(self) -> Iterator[Change]:
        """Yield the factory here with `device=`, if it takes one."""
        return add_device_argument(self.diagnosis, self.spot, self.sources)

    def move_result(self) -> Iterator[Change]:
        """Yield what the call here gives moved."""
        return move_result(self.diagnosis, self.spot, self.sources)

    def move_argument(self) -> Iterator[Change]:
        """Yield the blamed tensor moved where it is passed on or used."""
        return move_argument(self.diagnosis, self.spot, self.sources)

    def move_assigned(self) -> Iterator[Change]:
        """Yield what the name of the blamed tensor was assigned moved, in the same function above."""
        return move_assigned(self.diagnosis, self.spot, self.sources)

    def move_batch(self) -> Iterator[Change]:
        """Yield the blamed tensor moved with those that one statement unpacks, or one container holds."""
        return move_batch(self.diagnosis, self.spot, self.sources)

    def move_container(self) -> Iterator[Change]:
        """Yield all values of the dictionary moved that the call here takes."""
        return move_container(self.diagnosis, self.spot, self.sources)

    def move_list(self) -> Iterator[Change]:
        """Yield all elements of the list moved that `torch.cat` and its like take here."""
        return move_list(self.diagnosis, self.spot, self.sources)

    def move_module(self, text: str) -> Iterator[Change]:
        """Yield a statement that moves a module, in front of the one here and of the loops around it."""
        return move_module_before(self.diagnosis, self.spot, self.sources, text)

    def naming(self, *expressions: str) -> Site:
        """The site for a tensor that is called otherwise here."""
        return replace(self, spot=replace(self.spot, expressions=expressions))


@dataclass(frozen=True)
class CallSite(Site):
    """A site with a call.

    >>> site = ctx.call_at(ctx.created_at)
    >>> site.name, [each.title for each in site.add_keyword("device", "x.device", "Say where")]
    ('arange', ['Say where'])
    """

    node: cst.Call

    @property
    def name(self) -> str:
        """The last name of what is called."""
        return last_name(self.node.func)

    @property
    def qualified_name(self) -> str:
        """The whole name of what is called, by the file's imports."""
        return self.file.qualified_name(self.node.func)

    @property
    def receiver(self) -> cst.BaseExpression | None:
        """What a method is called on: `x` of `x.cpu()`."""
        return self.node.func.value if isinstance(self.node.func, cst.Attribute) else None

    def argument(self, keyword: str, position: int | None = None) -> cst.Arg | None:
        """The argument given by keyword or at a position."""
        return argument(self.node, keyword, position)

    def is_given(self, text: str) -> bool:
        """Whether an expression, or what is computed from it, is an argument."""
        return any(self.file.find(each.value, text) for each in self.node.args)

    def change_to(self, new: cst.BaseExpression, title: str, safety: str = "safe") -> Iterator[Change]:
        """Yield another expression in place of the call."""
        return self.replace({self.node: new}, title, safety)

    def add_keyword(self, keyword: str, value: str, title: str, safety: str = "safe") -> Iterator[Change]:
        """Yield the call with one more keyword argument."""
        return self.replace({self.node: add_keyword(self.node, keyword, value)}, title, safety)

    def set_argument(self, given: cst.Arg | None, keyword: str, value: str, title: str) -> Iterator[Change]:
        """Yield the call with another value for an argument that is given, or with the keyword."""
        if given is None:
            return self.add_keyword(keyword, value, title)
        return self.replace({given.value: expression(value)}, title)
