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
        tensor = _given(site.node)
        names = {each.value for each in site.file.within(given.value, cst.Name)}
        groups = (*function.params.posonly_params, *function.params.params, *function.params.kwonly_params)
        for each in groups:
            is_candidate = each.name.value in names and tensor in parameters(function) and tensor not in names
            if is_candidate and each.default and device_literal(site.file, each.default, ctx.sources) is not None:
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


def _given(call: cst.Call) -> str:
    """Return the name of the tensor that a call moves: `x` of `x.to(…)` and `torch.as_tensor(x, …)`; else ""."""
    if not isinstance(call.func, cst.Attribute):
        return ""
    is_method = call.func.attr.value in ("to", "cuda")
    value = call.func.value if is_method else call.args[0].value if call.args else None
    return value.value if isinstance(value, cst.Name) else ""
