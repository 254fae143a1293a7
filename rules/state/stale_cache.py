"""A table is computed once and cached, and stays on the device of its first use."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    FACTORIES,
    Change,
    Context,
    File,
    OperandRule,
    SourceLocation,
    add_keyword,
    argument,
    assignments,
    binding_at,
    code,
    definition,
    expression,
    last_name,
    move_to,
    parameters,
    rewrite,
    stored_attributes,
)


class StaleCache(OperandRule):
    """Computes it again if the guard of the cache meets another device, and on the device of the argument."""

    supersedes = ("state/tensor-not-buffer",)  # what is computed again for each input is not state of the module
    blames_intentional = True

    def explain(self, ctx: Context) -> str:
        """Report an attribute that a method other than the constructor computed, on another device than it is used."""
        name, place = _find_cached(ctx)
        if place is None or ctx.is_held:
            return ""
        return (
            f"`{name}` was computed once, on {ctx.operand.device}, in {place.shown}, and is kept: it is"
            f" used on {ctx.peer.device} now."
        )

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Add a comparison of devices to the guard, unless the device is a string, which equals no device."""
        name, place = _find_cached(ctx)
        file = ctx.sources.file(place) if place is not None else None
        method = definition(file, place.function) if file is not None and place is not None else None
        attribute = f"self.{name.rpartition('.')[2]}"
        if file is None or place is None or not isinstance(method, cst.FunctionDef):
            return
        for each in assignments(file, attribute, method):
            guard = next((around for around in file.ancestors(each) if isinstance(around, cst.If)), None)
            if guard is None or not file.find(guard.test, attribute):
                continue
            given = _find_given(file, guard)
            for device in [given] if given else _find_devices(ctx, place, method):
                if not _is_string(ctx, place, device):
                    edits: dict[cst.CSTNode, cst.CSTNode] = {
                        guard.test: _or(guard.test, f"{attribute}.device != {device}")
                    }
                    edits |= {} if given else _placed(file, each, device)
                    yield from rewrite(file, edits, f"Compute `{attribute}` again for another device")


def _find_cached(ctx: Context) -> tuple[str, SourceLocation | None]:
    """Return the attribute that stores the operand (or its source), and where a method computed it."""
    for each in stored_attributes(ctx.failure, ctx.operand):
        places = each.maker.places if each.maker is not None else ()
        for place in places if places and places[0].owned else ():
            owner, _, name = place.function.rpartition(".")
            if owner and name != "__init__" and (place == places[0] or _is_assigned(ctx, place, each.attribute)):
                return f"{each.whole}.{each.attribute}", place
    return "", None


def _is_assigned(ctx: Context, place: SourceLocation, attribute: str) -> bool:
    """Return whether a method assigns an attribute at a location: a function that it calls computed the value."""
    file = ctx.sources.file(place)
    method = definition(file, place.function) if file is not None else None
    found = assignments(file, f"self.{attribute}", method) if file is not None and method is not None else []
    return any(file is not None and file.line_of(each) <= place.line for each in found)


def _find_devices(ctx: Context, place: SourceLocation, method: cst.FunctionDef) -> list[str]:
    """Return the devices of the method's arguments, if what it keeps was created without one."""
    site = ctx.site_at(place)
    if site is None or ctx.is_intentional:
        return []
    texts = site.device_expressions()
    return [each for each in texts if each.endswith("device") and each.partition(".")[0] in parameters(method)[1:]]


def _placed(file: File, assigned: cst.Assign | cst.AnnAssign, device: str) -> dict[cst.CSTNode, cst.CSTNode]:
    """Return edits by which the assigned value is created on a device, or moved there."""
    value = assigned.value
    if value is None:
        return {}
    calls = [node for node in file.within(value) if isinstance(node, cst.Call)]
    made = [each for each in calls if last_name(each.func) in FACTORIES and isinstance(each.func, cst.Attribute)]
    return {each: add_keyword(each, "device", device) for each in made} or {value: move_to(value, device)}


def _or(test: cst.BaseExpression, other: str) -> cst.BooleanOperation:
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        test = test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return cst.BooleanOperation(test, cst.Or(), expression(other))


def _is_string(ctx: Context, place: SourceLocation, given: str) -> bool:
    binding = binding_at(ctx.failure, place, given)
    return given[0] in "\"'" or (binding is not None and binding.kind == "string")


def _find_given(file: File, guard: cst.If) -> str:
    """Return the device that is passed to the factories below a guard; "" if there is none."""
    calls = (node for node in file.within(guard.body) if isinstance(node, cst.Call))
    return next((code(given.value) for call in calls if (given := argument(call, "device")) is not None), "")
