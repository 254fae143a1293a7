"""The context of a rule as text: `devfix trace`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from devfix.rule_testing.views.context_view import ContextView, FrameView, OperandView, SiteView, VariableView


def context_text(view: ContextView, with_trees: bool = False) -> str:
    """Return a failure, its operands with their sites, and the scopes of the owned frames, in lines.

    With `with_trees`, the LibCST tree of each site's node is below it.
    """
    lines = [
        view.program,
        f"{view.kind} at {view.at}" + (f", operator {view.op}" if view.op else "") + f", thread {view.thread}",
        f"{view.exception}: {' '.join(view.message.split())}",
    ]
    for operand in view.operands:
        lines += ["", *_operand(operand, with_trees)]
    for frame in view.frames:
        if frame.owned:
            lines += ["", *_frame(frame)]
    return "\n".join(line.rstrip() for line in lines)


def _operand(operand: OperandView, with_trees: bool) -> Iterator[str]:
    role = f", suspect {operand.suspect}" if operand.suspect else ""
    meant = ", placed on purpose" if operand.is_intentional else ""
    what = " ".join(filter(None, (operand.dtype, str(list(operand.shape)))))
    yield f"Operand {operand.number}: {operand.name} ({operand.argument}) on {operand.device}, {what}{role}{meant}"
    if operand.target_device:
        yield f"  target device: {operand.target_device}"
    for name in operand.names:
        yield f"  name in frame {name.frame}: {name.expression} ({name.relation})"
    if operand.owner is not None:
        owner = operand.owner
        yield f"  owner: {owner.kind} {owner.attribute!r} of {owner.expression} ({owner.qualified_type})"
    for event in operand.history:
        yield f"  {event.kind} {event.op} -> {event.device}  {event.place}  {event.code}"
    for site in operand.sites:
        yield from _site(site, with_trees)


def _site(site: SiteView, with_trees: bool) -> Iterator[str]:
    frame = f" frame {site.frame}" if site.frame is not None else ""
    yield f"  site {site.kind!r}{frame}  {site.place}  {site.node}: {' '.join(site.code.split())}"
    if site.expressions:
        yield f"    names here: {', '.join(site.expressions)}"
    if site.device_expressions:
        yield f"    device expressions: {', '.join(site.device_expressions)}"
    if with_trees:
        yield from (f"    {line}" for line in site.syntax_tree)


def _frame(frame: FrameView) -> Iterator[str]:
    name = f"Frame {frame.number}" if frame.number is not None else "Returned"
    yield f"{name}: {frame.place} in {frame.function}  {frame.code}"
    yield from _table(frame.scope)


def _table(scope: Sequence[VariableView]) -> Iterator[str]:
    rows = [(each.expression, each.kind, each.device or "-", _what(each)) for each in scope]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    for row in rows:
        yield "  " + "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]])


def _what(variable: VariableView) -> str:
    shape = f" {list(variable.shape)}" if variable.kind == "tensor" else ""
    return variable.type + shape
