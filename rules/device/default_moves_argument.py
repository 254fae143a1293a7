"""A function moves a tensor that it is given to the default of its own device parameter, wherever the tensor was."""

from dataclasses import dataclass

import libcst as cst

from devfix.sdk import (
    Changes,
    Confidence,
    Context,
    EvidenceRule,
    File,
    Safety,
    code,
    device_argument,
    device_literal,
    is_bound,
    match,
    parameter_nodes,
    parameters,
    rewrite,
)


@dataclass(frozen=True)
class Moved:
    """The function, its device parameter with the default, and the parameter that is moved there."""

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

    blames_intentional = True
    confidence = Confidence.REMOTE

    def search(self, ctx: Context) -> Moved | None:
        """Return what moved the operand last, if a default of the function around the move named the device."""
        event = ctx.operand.transfers[-1] if ctx.operand.transfers else None
        site = ctx.call_at(event.owned_place) if event is not None else None
        function, given = (site.function, device_argument(site.node)) if site is not None else (None, None)
        if site is None or function is None or given is None or not is_bound(site.file, function, "torch"):
            return None
        moved = match(site.node, "$X.to($$$)", "$X.cuda($$$)", "$_.$_($X, $$$)")
        tensor = code(moved["X"]) if moved is not None else ""
        names = {each.value for each in site.file.within(given.value, cst.Name)}
        if tensor in names or tensor not in parameters(function):
            return None
        for each in parameter_nodes(function):
            is_literal = each.default and device_literal(site.file, each.default, ctx.sources) is not None
            if each.default and is_literal and each.name.value in names:
                return Moved(site.file, function, each, each.default, tensor)
        return None

    def describe(self, ctx: Context, found: Moved) -> str:
        """Report the default by which an argument left its device."""
        return (
            f"{ctx.name} was moved to {ctx.operand.device} by `{found.name}={code(found.default)}`, the default of"
            f" `{found.function.name.value}`, wherever `{found.tensor}` is."
        )

    def fix(self, ctx: Context, found: Moved) -> Changes:
        """Leave the device open by default, and fill it in at the beginning of the function."""
        name, default = found.name, code(found.default)
        own = f"{found.tensor}.device" if default.startswith("torch.") else f"str({found.tensor}.device)"
        text = f"{name} = {name} or ({own} if isinstance({found.tensor}, torch.Tensor) else {default})"
        opened = found.function.with_deep_changes(found.device, default=cst.Name("None"))
        if isinstance(opened, cst.FunctionDef) and isinstance(opened.body, cst.IndentedBlock):
            statements = list(opened.body.body)
            place = int(opened.get_docstring() is not None)
            whole = [*statements[:place], cst.parse_statement(text), *statements[place:]]
            changed = opened.with_changes(body=opened.body.with_changes(body=whole))
            title = f"Take the device of `{found.tensor}` where no `{name}` is given"
            yield from rewrite(found.file, {found.function: changed}, title, Safety.LIKELY)
