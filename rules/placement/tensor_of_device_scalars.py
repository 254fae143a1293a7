"""`torch.tensor` of a list of tensors copies each to the host and creates a tensor there."""

import libcst as cst

from devfix.sdk import Changes, Context, CreationRule, Safety, Site, SourceLocation, last_name, on_device

NUMBERS = ("float", "int", "len", "bool", "ord", "item", "tolist")


class TensorOfDeviceScalars(CreationRule):
    """Stacks the tensors on their device, or creates the new tensor there."""

    kinds, reports_held = ("constant",), True
    message = (
        "{name} was created by `{op}` in {made_at} on the host: tensors on {peer} that it takes are copied there one by"
        " one."
    )

    def matches(self, ctx: Context) -> bool:
        """Require a list of tensors in scope on the right device, or tensors that may give scalars."""
        place = ctx.created_at
        return place is not None and bool(on_device(ctx.scope_at(place), ctx.peer.device, "tensor"))

    def fix(self, ctx: Context, site: Site) -> Changes:
        """Stack a list that the call takes, or the elements that a comprehension computes."""
        call, listed = site.call("tensor", "as_tensor"), _lists(ctx, site.place)
        name = site.file.code(call.args[0].value) if call is not None and len(call.args) == 1 else ""
        is_computed = name not in listed and _is_computed(call)
        if call is not None and isinstance(call.func, cst.Attribute) and name and (name in listed or is_computed):
            stacked = call.with_changes(func=call.func.with_changes(attr=cst.Name("stack")))
            what = "what the comprehension makes" if is_computed else f"`{name}`"
            yield from site.replace({call: stacked}, f"Stack {what} where its tensors are", Safety.LIKELY)
        if name in listed:
            yield from site.add_device()


def _lists(ctx: Context, place: SourceLocation) -> set[str]:
    """Return the lists in scope at a location whose elements are 0-dim tensors on the right device."""
    tensors = on_device(ctx.scope_at(place), ctx.target_device, "tensor")
    found = (each.expression.partition("[") for each in tensors if each.shape == ())
    return {name for name, _, rest in found if rest == "0]"}


def _is_computed(call: cst.Call | None) -> bool:
    """Return whether a call takes a comprehension that computes each element, and does not convert it to a number."""
    given = call.args[0].value if call is not None and call.args else None
    element = given.elt if isinstance(given, cst.ListComp) else None
    if isinstance(element, cst.Call):
        return last_name(element.func) not in NUMBERS
    return isinstance(element, cst.BinaryOperation | cst.Subscript)
