"""A table is computed once and cached, and stays on the device of its first use."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Context,
    File,
    OperandRule,
    SourceLocation,
    argument,
    assignments,
    binding_at,
    code,
    definition,
    expression,
    rewrite,
    stored_attributes,
)


class StaleCache(OperandRule):
    """Computes it again if the guard of the cache meets another device."""

    supersedes = ("state/tensor-not-buffer",)  # what is computed again for each input is not state of the module
    blames_intentional = True

    def explain(self, ctx: Context) -> str:
        """Report an attribute that a method other than the constructor computed, on another device than it is used."""
        name, place = _find_cached(ctx)
        if place is None or ctx.is_held:
            return ""
        return (
            f"`{name}` was computed once, on {ctx.operand.device}, in {place.path}:{place.line}, and is kept: it is"
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
            given = _find_given(file, guard) if guard is not None else ""
            if guard is None or not given or not file.find(guard.test, attribute) or _is_string(ctx, place, given):
                continue
            left = guard.test
            if isinstance(left, cst.BooleanOperation) and isinstance(left.operator, cst.And):
                left = left.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
            test = cst.BooleanOperation(left, cst.Or(), expression(f"{attribute}.device != {given}"))
            yield from rewrite(file, {guard.test: test}, f"Compute `{attribute}` again for another device")


def _find_cached(ctx: Context) -> tuple[str, SourceLocation | None]:
    """Return the attribute that stores the operand (or its source), and where a method computed it."""
    for each in stored_attributes(ctx.failure, ctx.operand):
        place = each.maker.places[0] if each.maker is not None and each.maker.places else None
        owner, _, method = place.function.rpartition(".") if place is not None and place.owned else ("", "", "")
        if owner and method != "__init__":
            return f"{each.whole}.{each.attribute}", place
    return "", None


def _is_string(ctx: Context, place: SourceLocation, given: str) -> bool:
    binding = binding_at(ctx.failure, place, given)
    return given[0] in "\"'" or (binding is not None and binding.kind == "string")


def _find_given(file: File, guard: cst.If) -> str:
    """Return the device that is passed to the factories below a guard; "" if there is none."""
    calls = (node for node in file.within(guard.body) if isinstance(node, cst.Call))
    return next((code(given.value) for call in calls if (given := argument(call, "device")) is not None), "")
