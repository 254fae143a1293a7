"""An Ignite engine is created without a device, so it passes batches to the model unmoved."""

import libcst as cst

from devfix.sdk import (
    Changes,
    Confidence,
    Context,
    OperandRule,
    Site,
    assigned_values,
    imported_name,
    insert_before,
    is_of,
    parameters,
    rewrite,
    with_import,
)

ENGINE = "ignite.Engine"
MAKERS = ("ignite.engine.create_supervised_trainer", "ignite.engine.create_supervised_evaluator")


class IgniteWithoutDevice(OperandRule):
    """Passes the device where Ignite creates the engine, or converts the batch at the start of the engine's step."""

    confidence, needs_object = Confidence.NEARBY, (ENGINE,)
    message = (
        "{name} comes from the engine's data on {device}, and nothing moves it, while it meets a tensor on {peer}."
    )

    def matches(self, ctx: Context) -> bool:
        """Require a tensor on the host that no module holds."""
        return ctx.operand.device == "cpu" and ctx.operand.owner is None

    def propose(self, ctx: Context) -> Changes:
        """Search for the engine in the deepest frames first."""
        for site in reversed(list(ctx.uses())):
            engines = [each.expression for each in site.scope if is_of(each, ENGINE)]
            names = parameters(site.function)[-2:] if site.function is not None else []
            if len(names) == 2 and names[0] in engines:
                yield from _convert(site, names[1])
            for name in engines:
                if site.file.find(site.node, name):
                    yield from _give_device(ctx, site, name)


def _convert(site: Site, batch: str) -> Changes:
    """Yield changes that convert the batch before the first statement of the step that reads it."""
    body = site.function.body.body if site.function and isinstance(site.function.body, cst.IndentedBlock) else ()
    first = next((each for each in body if site.file.find(each, batch)), None)
    name = imported_name(site.file, "ignite.utils.convert_tensor") or "convert_tensor"
    if first is None:
        return
    for device in _names(site):
        module = insert_before(site.file, first, [f"{batch} = {name}({batch}, device={device})"])
        if module is not None and name == "convert_tensor":
            module = with_import(module, "ignite.utils", name)
        yield from rewrite(site.file, module, f"Convert `{batch}` to `{device}` before it is used")


def _give_device(ctx: Context, site: Site, engine: str) -> Changes:
    """Yield changes that add `device=` to the call that created the engine."""
    for each in assigned_values(site.file, engine):
        made = ctx.call_of(site.file, each)
        if made is None or made.argument("device", 3) is not None or made.qualified_name not in MAKERS:
            continue
        for device in _names(made):
            title = f"Give `{made.file.code(made.node.func)}` the device `{device}`"
            yield from made.add_keyword("device", device, title)


def _names(site: Site) -> list[str]:
    """Return the expressions for the device: a variable, else Ignite's own if the file imports `distributed`."""
    found = site.device_expressions()
    own = imported_name(site.file, "ignite.distributed.device")
    named = [each for each in found if each.endswith(("device", "dev")) and each.count(".") < 2 and "(" not in each]
    return list(dict.fromkeys([*([f"{own}()"] if own else []), *named, *found]))[:3]
