"""A function puts what it makes of a tensor on the default of its own device parameter, wherever the tensor was."""

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from devfix.sdk import (
    CallSite,
    Changes,
    Confidence,
    Context,
    EvidenceRule,
    File,
    Safety,
    binding_at,
    code,
    device_argument,
    device_literal,
    is_bound,
    last_placement,
    match,
    parameter_nodes,
    parameters,
    rewrite,
)


@dataclass(frozen=True)
class Moved:
    """The function, its device parameter with the default, and the parameter whose tensor was elsewhere."""

    file: File
    function: cst.FunctionDef
    device: cst.Param
    default: cst.BaseExpression
    tensor: str

    @property
    def name(self) -> str:
        """The name of the device parameter."""
        return self.device.name.value


class DefaultMovesArgument(EvidenceRule[Moved]):
    """Takes the tensor's device where the caller names none."""

    reports_intentional = True
    confidence = Confidence.REMOTE

    def search(self, ctx: Context) -> Moved | None:
        """Return what placed the operand, if a default of the function around it named the device."""
        placed = last_placement(ctx.operand)
        site = ctx.call_at(placed.owned_place) if placed is not None else None
        if site is None or site.function is None or not is_bound(site.file, site.function, "torch"):
            return None
        device = device_argument(site.node)
        named = {each.value for each in site.file.within(device.value, cst.Name)} if device is not None else set()
        for each in parameter_nodes(site.function):
            if each.name.value in named and each.default and device_literal(site.file, each.default, ctx.sources):
                for tensor in _find_tensors(ctx, site, each.name.value):
                    return Moved(site.file, site.function, each, each.default, tensor)
        return None

    def describe(self, ctx: Context, found: Moved) -> str:
        """Report the default by which what is made of an argument left its device."""
        return (
            f"{ctx.name} was put on {ctx.operand.device} by `{found.name}={code(found.default)}`, the default of"
            f" `{found.function.name.value}`, wherever `{found.tensor}` is."
        )

    def fix(self, ctx: Context, found: Moved) -> Changes:
        """Leave the device open by default, and fill it in at the beginning of the function."""
        name, default = found.name, code(found.default)
        own = f"{found.tensor}.device" if default.startswith("torch.") else f"str({found.tensor}.device)"
        line = f"{name} = {name} or ({own} if isinstance({found.tensor}, torch.Tensor) else {default})"
        if isinstance(found.function.body, cst.IndentedBlock):
            body = _begin_with(line, found.function.body, has_docstring=found.function.get_docstring() is not None)
            edits = {found.device: found.device.with_changes(default=cst.Name("None")), found.function.body: body}
            title = f"Take the device of `{found.tensor}` where no `{name}` is given"
            yield from rewrite(found.file, edits, title, Safety.LIKELY)


def _find_tensors(ctx: Context, site: CallSite, device: str) -> Iterator[str]:
    """Yield the parameter that was moved; of what was created, those that the function moves, then what was elsewhere.

    What is moved may be known by its old name no more, and be written into what the function has created.
    """
    given = [each for each in parameters(site.function) if each not in (device, "self", "cls")] if site.function else []
    if ctx.operand.transfers:
        moved = site.match("$X.to($$$)", "$X.cuda($$$)", "$_.$_($X, $$$)")
        yield from (name for name in given if moved is not None and code(moved["X"]) == name)
        return
    for call in site.file.own_nodes(site.function, cst.Call) if site.function is not None else ():
        place = device_argument(call)
        names = {each.value for each in site.file.within(place.value, cst.Name)} if place is not None else set()
        yield from (name for name in given if device in names and _find_moved(call) == name)
    for name in given:
        bound = binding_at(ctx.failure, site.place, name)
        if bound is not None and bound.kind == "tensor" and bound.device == ctx.peer.device:
            yield name


def _find_moved(call: cst.Call) -> str:
    """Return what a call moves, before the conversions between: `R` in `R.to(dtype).to(device)`."""
    moved = match(call, "$X.to($$$)", "$X.cuda($$$)")
    node = moved["X"] if moved is not None else None
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        node = node.func.value
    return code(node) if node is not None else ""


def _begin_with(line: str, body: cst.IndentedBlock, has_docstring: bool) -> cst.IndentedBlock:
    """Return the body of a function with a statement in front, or after its docstring."""
    statements, start = list(body.body), int(has_docstring)
    return body.with_changes(body=[*statements[:start], cst.parse_statement(line), *statements[start:]])
