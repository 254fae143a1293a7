"""A tensor created when a module is imported stays on the host and is used by code on another device."""

import libcst as cst

from devfix.sdk import (
    Changes,
    Confidence,
    Context,
    File,
    OperandRule,
    Site,
    is_bound,
    is_local,
    is_move,
    method_call_on,
    move_to,
    rewrite,
)


class HostConstant(OperandRule):
    """Moves it where it is passed in: a constant is used on every device, so its creation does not change."""

    confidence = Confidence.NEARBY

    def explain(self, ctx: Context) -> str:
        """Report an operand that was created while a file was imported."""
        places = ctx.operand.creation_places
        imported = next((place for place in places if place.owned and place.function == "<module>"), None)
        if imported is None or ctx.is_held or places[0].path != imported.path or ctx.frame_of(imported) is not None:
            return ""
        return (
            f"{ctx.name} is a constant of {imported.path}, made on {ctx.operand.device} when the file was imported;"
            f" nobody moved it to {ctx.peer.device}."
        )

    def propose(self, ctx: Context) -> Changes:
        """Begin where a constructor keeps a cast of it for all uses; then go from the outermost frame inward."""
        for site in ctx.sites("derived"):
            if ctx.frame_of(site.place) is None:
                yield from _kept_by_constructor(site)
        for site in ctx.sites("derived", "argument", "use"):
            if site.kind != "derived":
                yield from _read_above(site)
                yield from site.move_assigned()
                yield from site.move_argument()
            elif ctx.frame_of(site.place) is not None:
                yield from site.move_result()


def _kept_by_constructor(site: Site) -> Changes:
    """Yield changes that move the constant where a constructor casts it and keeps the result.

    What the same statement casts alike goes there too: `self.table = Table(a.to(x.dtype), b.to(x.dtype))`.
    """
    file, node, line, function = site.file, site.node, site.line, site.function
    if function is None or function.name.value != "__init__" or not is_move(node) or not isinstance(line, cst.Assign):
        return
    kept = file.code(line.targets[0].target)
    given = [file.code(each.value) for each in node.args]
    alike = [
        each
        for each in file.within(line, cst.Call)
        if is_move(each) and [file.code(one.value) for one in each.args] == given
    ]
    for device in site.device_expressions() if kept.startswith("self.") else ():
        if device.startswith(f"{kept}."):
            continue
        for calls in (alike, [node]) if len(alike) > 1 else ([node],):
            edits = {each: move_to(each, device) for each in calls}
            title = f"Move what `{kept}` keeps to `{device}`"
            yield from rewrite(file, edits, title, joint=len(calls) > 1)


def _read_above(site: Site) -> Changes:
    """Yield changes that move the constant where a running function reads it above, as part of something else."""
    file, function = site.file, site.function
    for name in site.expressions if function is not None else ():
        if function is None or not name.isidentifier() or is_local(function, name):
            continue
        above = [node for node in file.find(function, name) if file.line_of(node) < file.line_of(site.node)]
        reads = [_cast(file, node) for node in above if file.function_of(node) is function]
        for device in site.device_expressions() if reads else ():
            if all(is_bound(file, node, device) for node in reads):
                edits = {node: move_to(node, device) for node in reads}
                yield from site.replace(edits, f"Move `{name}` to `{device}`, where it is read")


def _cast(file: File, node: cst.BaseExpression) -> cst.BaseExpression:
    """Return the `.to(…)` after an expression, into which a device can be written; else the expression."""
    call = method_call_on(file, node)
    return call if is_move(call) else node
