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

    reports_intentional = True
    confidence = Confidence.REMOTE

    def search(self, ctx: Context) -> Moved | None:
        """Return what moved the operand last, if a default of the function around the move named the device."""
        site = ctx.call_at(ctx.operand.transfers[-1].owned_place) if ctx.operand.transfers else None
        if site is None or site.function is None or not is_bound(site.file, site.function, "torch"):
            return None
        moved, device = site.match("$X.to($$$)", "$X.cuda($$$)", "$_.$_($X, $$$)"), device_argument(site.node)
        tensor = code(moved["X"]) if moved is not None else ""
        named = {each.value for each in site.file.within(device.value, cst.Name)} if device is not None else set()
        if tensor in named or tensor not in parameters(site.function):
            return None
        for each in parameter_nodes(site.function):
            if each.name.value in named and each.default and device_literal(site.file, each.default, ctx.sources):
                return Moved(site.file, site.function, each, each.default, tensor)
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
        line = f"{name} = {name} or ({own} if isinstance({found.tensor}, torch.Tensor) else {default})"
        if isinstance(found.function.body, cst.IndentedBlock):
            body = _begin_with(line, found.function.body, has_docstring=found.function.get_docstring() is not None)
            edits = {found.device: found.device.with_changes(default=cst.Name("None")), found.function.body: body}
            title = f"Take the device of `{found.tensor}` where no `{name}` is given"
            yield from rewrite(found.file, edits, title, Safety.LIKELY)


def _begin_with(line: str, body: cst.IndentedBlock, has_docstring: bool) -> cst.IndentedBlock:
    """Return the body of a function with a statement in front, or after its docstring."""
    statements, start = list(body.body), int(has_docstring)
    return body.with_changes(body=[*statements[:start], cst.parse_statement(line), *statements[start:]])
