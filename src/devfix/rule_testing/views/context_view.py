"""The context of a rule for a failure, as records: operands with their sites, frames with their scopes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from devfix.model import Event, Failure, ModuleOwner, NameRef, Operand, ScopeVariable, SourceLocation
from devfix.rule_testing.views.syntax_tree import syntax_tree
from devfix.sdk import Context, Site, Sources


@dataclass(frozen=True)
class EventView:
    """An event of an operand's history; `place` is in the repository, "" if none of its frames is."""

    kind: str
    op: str
    device: str
    place: str
    code: str


@dataclass(frozen=True)
class SiteView:
    """A site: the node there with its syntax tree, the names of the tensor, and the expressions of the right device."""

    kind: str
    place: str
    function: str
    frame: int | None
    node: str
    code: str
    expressions: tuple[str, ...]
    device_expressions: tuple[str, ...]
    syntax_tree: tuple[str, ...]


@dataclass(frozen=True)
class OperandView:
    """An operand, as `ctx.view(number)` has it; `suspect` is its place among `ctx.suspects()`, from 1, else 0."""

    number: int
    name: str
    argument: str
    device: str
    target_device: str
    dtype: str
    shape: tuple[int, ...]
    suspect: int
    is_intentional: bool
    names: tuple[NameRef, ...]
    owner: ModuleOwner | None
    history: tuple[EventView, ...]
    sites: tuple[SiteView, ...]


@dataclass(frozen=True)
class VariableView:
    """A variable in scope."""

    expression: str
    kind: str
    device: str
    type: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class FrameView:
    """A frame of the stack, or a place whose function has returned: then `number` is None."""

    number: int | None
    place: str
    function: str
    owned: bool
    code: str
    scope: tuple[VariableView, ...]


@dataclass(frozen=True)
class ContextView:
    """The context of a rule: `frames` outermost first, then the places of which a second run recorded the scopes."""

    program: str
    kind: str
    exception: str
    message: str
    op: str
    at: str
    thread: str
    operands: tuple[OperandView, ...]
    frames: tuple[FrameView, ...]


def view_of(program: str, failure: Failure, sources: Sources) -> ContextView:
    """Return what a rule is given for a failure of a program."""
    ctx = Context(failure, sources)
    suspects = [each.finding.operand for each in ctx.suspects()]
    numbered = list(enumerate(failure.frames))
    return ContextView(
        program=program,
        kind=failure.kind,
        exception=failure.exception,
        message=failure.message.strip(),
        op=failure.op,
        at=_place(failure.at),
        thread=failure.thread,
        operands=tuple(_operand(ctx.view(number), number, suspects) for number in range(len(failure.operands))),
        frames=(
            *(_frame(number, each.place, each.scope, sources) for number, each in numbered),
            *(_frame(None, place, scope, sources) for place, scope in failure.scopes),
        ),
    )


def _operand(ctx: Context, number: int, suspects: list[int]) -> OperandView:
    operand = ctx.operand
    meets = any(each.device != operand.device for each in ctx.failure.operands)
    return OperandView(
        number=number,
        name=ctx.name,
        argument=operand.argument,
        device=operand.device,
        target_device=ctx.target_device if meets else "",
        dtype=operand.dtype,
        shape=operand.shape,
        suspect=suspects.index(number) + 1 if number in suspects else 0,
        is_intentional=ctx.is_intentional,
        names=operand.names,
        owner=operand.owner,
        history=tuple(_events(operand, ctx.sources)),
        sites=tuple(_site(site, meets) for site in ctx.sites()),
    )


def _events(operand: Operand, sources: Sources) -> Iterator[EventView]:
    for event in operand.history:
        yield EventView(event.kind, event.op, event.device, _place(event.owned_place), _event_code(event, sources))


def _event_code(event: Event, sources: Sources) -> str:
    return _line(event.owned_place, sources) if event.owned_place is not None else ""


def _site(site: Site, meets: bool) -> SiteView:
    return SiteView(
        kind=site.kind,
        place=_place(site.place),
        function=site.place.function,
        frame=site.frame,
        node=type(site.node).__name__,
        code=site.file.code(site.node),
        expressions=site.expressions,
        device_expressions=tuple(site.device_expressions()) if meets else (),
        syntax_tree=tuple(syntax_tree(site.node)),
    )


def _frame(number: int | None, place: SourceLocation, scope: tuple[ScopeVariable, ...], sources: Sources) -> FrameView:
    variables = tuple(
        VariableView(each.expression, each.kind, each.device, each.qualified_type, each.dtype, each.shape)
        for each in scope
    )
    return FrameView(number, _place(place), place.function, place.owned, _line(place, sources), variables)


def _place(place: SourceLocation | None) -> str:
    return place.shown if place is not None else ""


def _line(place: SourceLocation, sources: Sources) -> str:
    """Return the line of the source at a location; "" if the file is not editable."""
    file = sources.file(place)
    lines = file.text.splitlines() if file is not None else []
    return lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""
