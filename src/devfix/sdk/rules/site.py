"""A place in the source that a rule edits: its node, the variables in scope, and the edits that fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import libcst as cst

from devfix.model import Diagnosis, Failure, Operand, Safety, ScopeVariable, SourceLocation
from devfix.sdk.changes import Change, Node, rewrite
from devfix.sdk.fixes.batches import move_batch
from devfix.sdk.fixes.call_result import move_added, move_assigned, occurrences
from devfix.sdk.fixes.container import move_container, move_list
from devfix.sdk.fixes.device_expressions import device_expressions, device_names
from devfix.sdk.fixes.factories import add_device_argument, device_parameter
from devfix.sdk.fixes.modules import move_module_before
from devfix.sdk.fixes.moves import move_argument, move_result
from devfix.sdk.fixes.parameters import add_device_parameter
from devfix.sdk.trace.branches import before_branches, met_names
from devfix.sdk.trace.history import is_created_in_reach
from devfix.sdk.trace.sites import FixSite, SiteKind
from devfix.source import File, Sources, last_name
from devfix.source.edits.expressions import add_keyword, argument, expression, receiver
from devfix.source.edits.statements import insert_after, insert_before
from devfix.source.file import Statement
from devfix.source.matches import Match, match
from devfix.source.queries.bound_names import is_local, is_of_script
from devfix.source.queries.reading import is_in_constructor
from devfix.source.queries.repository import Definition, Repository


@dataclass(frozen=True)
class Site:
    """A node of an editable file, and what was in scope there when the program ran.

    Its edits yield changes: none if the edit does not fit, else one, or one for each expression of the right device.
    `fix_site` is the place in the blamed tensor's history. Its kind is "creation" (owned code calls the factory),
    "returned" (a call that returns the new tensor), "derived" (a cast or view), "argument" (an argument of a call) or
    "use" (the failing expression).

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
    fix_site: FixSite

    @property
    def kind(self) -> SiteKind:
        """The kind of place: "creation", "returned", "derived", "argument" or "use"."""
        return self.fix_site.kind

    @property
    def place(self) -> SourceLocation:
        """The location of the node."""
        return self.fix_site.place

    @property
    def scope(self) -> tuple[ScopeVariable, ...]:
        """The variables in scope."""
        return self.fix_site.scope

    @property
    def expressions(self) -> tuple[str, ...]:
        """The names of the blamed tensor at an argument or a use; elsewhere the node itself is the tensor."""
        return self.fix_site.expressions

    @property
    def frame(self) -> int | None:
        """The number of the frame that runs here; None if the function has returned."""
        return self.fix_site.frame

    @property
    def statement(self) -> Statement | None:
        """The statement that contains the node."""
        return self.file.statement_of(self.node)

    @property
    def line(self) -> cst.BaseSmallStatement | None:
        """The simple statement here, if its line has no other."""
        found = self.statement.body if isinstance(self.statement, cst.SimpleStatementLine) else ()
        return found[0] if len(found) == 1 else None

    @property
    def function(self) -> cst.FunctionDef | None:
        """The function that contains the node."""
        return self.file.function_of(self.node)

    @property
    def is_in_constructor(self) -> bool:
        """True if the node is in a constructor, or in a comprehension of one."""
        return is_in_constructor(self.place.function)

    def before_branches(self, text: str, device: str) -> cst.If | None:
        """Return the `if` before which an expression can be moved for all branches that combine it with the same."""
        return before_branches(self.file, self.node, text, device, met_names(self.diagnosis, self.fix_site))

    def call(self, *names: str) -> cst.Call | None:
        """Return the call here, with one of these last names if any are given."""
        return self.file.call_at(self.place, names)

    def occurrences(self, text: str) -> list[cst.BaseExpression]:
        """Return where an expression is read in the node, else in its statement, outermost first."""
        return occurrences(self.file, self.node, text)

    def device_expressions(self, limit: int = 3) -> list[str]:
        """Return the expressions in scope for the right device, best first."""
        return device_expressions(self.diagnosis, self.fix_site, self.file, limit)

    def device_names(self) -> list[str]:
        """Return the names in scope of any device, the simplest first."""
        return device_names(self.fix_site, self.file)

    def device_parameter(self, device: str) -> str:
        """Return the parameter that passed a device to the function here; "" if there is none."""
        return device_parameter(self.fix_site, device, self.sources)

    def replace(
        self, edits: Mapping[Node, cst.CSTNode], title: str, safety: Safety = Safety.SAFE, reason: str = ""
    ) -> Iterator[Change]:
        """Yield the file with nodes replaced."""
        return rewrite(self.file, edits, title, safety, reason)

    def insert_before(self, lines: Sequence[str], title: str, safety: Safety = Safety.SAFE) -> Iterator[Change]:
        """Yield a change that inserts statements before the one here."""
        module = insert_before(self.file, self.statement, lines) if self.statement is not None else None
        return rewrite(self.file, module, title, safety)

    def insert_after(self, lines: Sequence[str], title: str, safety: Safety = Safety.SAFE) -> Iterator[Change]:
        """Yield a change that inserts statements after the one here."""
        module = insert_after(self.file, self.statement, lines) if self.statement is not None else None
        return rewrite(self.file, module, title, safety)

    def add_device(self) -> Iterator[Change]:
        """Yield changes that add `device=` to the factory call here, if it takes one."""
        return add_device_argument(self.diagnosis, self.fix_site, self.sources)

    def move_result(self) -> Iterator[Change]:
        """Yield changes that move the result of the call here."""
        return move_result(self.diagnosis, self.fix_site, self.sources)

    def move_argument(self) -> Iterator[Change]:
        """Yield changes that move the blamed tensor where it is passed on or used."""
        return move_argument(self.diagnosis, self.fix_site, self.sources)

    def move_added(self) -> Iterator[Change]:
        """Yield changes that move the result without a name which the failing `total += …` adds."""
        return move_added(self.diagnosis, self.fix_site, self.sources)

    def move_assigned(self) -> Iterator[Change]:
        """Yield changes that move the value assigned to the blamed tensor's name, above in the same function."""
        return move_assigned(self.diagnosis, self.fix_site, self.sources)

    def move_batch(self) -> Iterator[Change]:
        """Yield changes that move the blamed tensor with those that one statement unpacks, or one container holds."""
        return move_batch(self.diagnosis, self.fix_site, self.sources)

    def move_container(self) -> Iterator[Change]:
        """Yield changes that move all values of the dictionary that the call here takes."""
        return move_container(self.diagnosis, self.fix_site, self.sources)

    def move_list(self) -> Iterator[Change]:
        """Yield changes that move all elements of the list that a call such as `torch.cat` takes here."""
        return move_list(self.diagnosis, self.fix_site, self.sources)

    def move_module(self, text: str) -> Iterator[Change]:
        """Yield changes that insert a move of a module before the statement here and the loops around it."""
        return move_module_before(self.diagnosis, self.fix_site, self.sources, text)

    def free_name(self, *names: str) -> str:
        """Return the first of some names that nothing binds here; else the last one and `_`, as often as needed."""
        taken = partial(is_local, self.function) if self.function is not None else self.file.binds_anywhere
        name = next((each for each in names if not taken(each)), f"{names[-1]}_")
        while taken(name):
            name += "_"
        return name

    def with_names(self, *expressions: str) -> Site:
        """Return the site for a tensor with other names."""
        return replace(self, fix_site=replace(self.fix_site, expressions=expressions))


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
        """The last name of the callee."""
        return last_name(self.node.func)

    @property
    def qualified_name(self) -> str:
        """The full name of the callee, by the file's imports."""
        return self.file.qualified_name(self.node.func)

    def match(self, *templates: str) -> Match | None:
        """Return the match of the first template that the call matches; None if there is none."""
        return match(self.node, *templates)

    @property
    def receiver(self) -> cst.BaseExpression | None:
        """The object on which a method is called: `x` of `x.cpu()`."""
        return receiver(self.node)

    def argument(self, keyword: str, position: int | None = None) -> cst.Arg | None:
        """Return the argument that is passed by keyword or at a position."""
        return argument(self.node, keyword, position)

    def is_given(self, text: str) -> bool:
        """Return whether an expression, or what is computed from it, is an argument."""
        return any(self.file.find(each.value, text) for each in self.node.args)

    def change_to(self, new: cst.BaseExpression, title: str, safety: Safety = Safety.SAFE) -> Iterator[Change]:
        """Yield a change that replaces the call by another expression."""
        return self.replace({self.node: new}, title, safety)

    def add_keyword(self, keyword: str, value: str, title: str, safety: Safety = Safety.SAFE) -> Iterator[Change]:
        """Yield a change that adds a keyword argument."""
        return self.replace({self.node: add_keyword(self.node, keyword, value)}, title, safety)

    def pass_device(
        self,
        function: Definition,
        factories: Sequence[cst.Call],
        created: str,
        safety: Safety = Safety.SAFE,
        moved: Sequence[cst.Call] = (),
        devices: Sequence[str] | None = None,
    ) -> Iterator[Change]:
        """Yield changes that give the function that runs here a parameter `device`, and pass it in this call.

        `factories` are the calls in the function that create tensors there, `created` says which; the results of
        `moved` are moved there, since they would be other numbers. `devices` are those in scope by default.
        """
        for device in self.device_expressions() if devices is None else devices:
            title = f"Create {created} on `{device}`, by a parameter `device`"
            repository = Repository(self.sources)
            yield from add_device_parameter(repository, function, self.node, device, factories, title, safety, moved)

    def set_argument(self, given: cst.Arg | None, keyword: str, value: str, title: str) -> Iterator[Change]:
        """Yield a change that sets an argument, or adds it as a keyword."""
        if given is None:
            return self.add_keyword(keyword, value, title)
        return self.replace({given.value: expression(value)}, title)


def is_in_reach(failure: Failure, operand: Operand, device: str, creation: Site | None) -> bool:
    """Return whether the function that created an operand still runs, or had something on `device` in scope.

    A global of the script around the function is nothing that the function has.
    """
    scope = creation.scope if creation is not None else ()
    names = {
        each.expression
        for each in scope
        if creation is not None and is_of_script(creation.file, creation.node, each.expression)
    }
    return is_created_in_reach(failure, operand, device, names)
