"""A loaded tensor is where `map_location` says, or where it was saved, and its peer is elsewhere."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import CallSite, Changes, Context, OperandRule, gpu_of_number

ARGUMENTS = {"load": "map_location", "load_file": "device"}  # the second argument of a call, by the name of its callee


class LoadedElsewhere(OperandRule):
    """Names the device of the peer where the tensor is loaded, and the GPU of a number, which torch takes there."""

    reports_intentional = True
    message = "{name} was loaded onto {device} in {made_at}, and meets a tensor on {peer}."

    def matches(self, ctx: Context) -> bool:
        """Require a tensor that was not moved since it was loaded, and that no module holds."""
        is_loaded = ctx.creation is not None and ctx.creation.kind == "load"
        is_left = not ctx.operand.transfers and ctx.operand.owner is None
        return is_loaded and is_left and ctx.call_at(ctx.created_at, *ARGUMENTS) is not None

    def propose(self, ctx: Context) -> Changes:
        """Set the argument of the call that says where to."""
        site = ctx.call_at(ctx.created_at, *ARGUMENTS)
        if site is None:
            return
        keyword = ARGUMENTS[site.name]
        for text in _devices(ctx, site):
            yield from site.set_argument(site.argument(keyword, 1), keyword, text, f"Load onto `{text}`")


def _devices(ctx: Context, site: CallSite) -> Iterator[str]:
    """Yield the expressions of the device; of numbers, first the one that the function passes on most."""
    numbers = {each.expression for each in site.scope if each.kind == "index"}
    texts = site.device_expressions()
    counted = sorted((each for each in texts if each in numbers), key=lambda each: -_count(site, each))
    asks = any("is_available" in file.text for file in ctx.files())
    given, kind = site.argument(ARGUMENTS[site.name], 1), ctx.target_device.partition(":")[0]
    otherwise = site.file.code(given.value) if given is not None else "None"
    for text in texts:
        if text in numbers and site.name == "load":  # safetensors takes numbers
            yield gpu_of_number(site.file, site.node, counted.pop(0), kind, asks, otherwise)
        else:
            yield text


def _count(site: CallSite, text: str) -> int:
    """Return how often the function passes an expression to a call."""
    found = site.file.find(site.function or site.file.module, text)
    return sum(isinstance(site.file.parent(each), cst.Arg) for each in found)
