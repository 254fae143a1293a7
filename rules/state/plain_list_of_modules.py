"""Layers are kept in a Python list or dictionary, whose contents a module does not register."""

from dataclasses import replace

import libcst as cst

from devfix.sdk import (
    Changes,
    Context,
    EvidenceRule,
    File,
    Safety,
    ScopeVariable,
    assigned_values,
    classes_holding,
    insert_after,
    is_move,
    last_name,
    loads_strictly,
    match,
    module_container,
    modules_of,
    receiver,
    rewrite,
    takes_modules,
)

Held = tuple[File, cst.ClassDef, list[cst.BaseExpression]]  # the file, the class, and the values of its attribute


class PlainListOfModules(EvidenceRule[tuple[ScopeVariable, str]]):
    """Registers the contents of the container where the constructor assigns it, or moves each module with the whole.

    If the repository loads a state dict strictly, parameters that were not in it must not be added. A module that a
    list keeps out of `parameters()` on purpose (`[teacher]`) is moved where it is constructed.
    """

    def search(self, ctx: Context) -> tuple[ScopeVariable, str] | None:
        """Return the module and its attribute that contain an unregistered module with such tensors."""
        for frame in reversed(ctx.failure.owned_frames) if ctx.operand.holders else ():
            modules = {each.expression: each for each in frame.scope if each.kind == "module"}
            for each in modules.values():
                whole, bracket, _ = each.expression.partition("[")
                name, _, attribute = whole.rpartition(".")
                holder = modules.get(name)
                is_there = holder is not None and holder.may_be_on(ctx.peer.device)
                if bracket and holder is not None and is_there and _holds(ctx, each):
                    return holder, attribute
        return None

    def describe(self, ctx: Context, found: tuple[ScopeVariable, str]) -> str:
        """Report a tensor whose module is in a container of a module that was moved with everything it registers."""
        whole, attribute = found
        return (
            f"`{whole.expression}.{attribute}` is a plain container: {whole.type} neither moves nor trains what is in"
            f" it, so it stayed on {ctx.operand.device}."
        )

    def fix(self, ctx: Context, found: tuple[ScopeVariable, str]) -> Changes:
        """Register none that a list keeps out of `parameters()` on purpose, but move it where it is constructed."""
        whole, attribute = found
        holders = classes_holding(ctx.failure, ctx.sources, attribute, whole.type)
        values = [(file, holder, assigned_values(file, f"self.{attribute}", holder)) for file, holder in holders]
        if any(_hides(value) for _, _, given in values for value in given):
            hidden = ctx.misplaced_module()
            yield from ctx.move_constructed(hidden, Safety.LIKELY) if hidden is not None else ()
            return
        saved = any(owner.kind in ("parameter", "buffer") for owner in ctx.operand.holders)
        each = (_register(*given, attribute) for given in values)
        registered = [] if saved and loads_strictly(ctx.sources) else [change for changes in each for change in changes]
        yield from registered
        untrained = f"{whole.type} still does not train what is in it." if saved else ""
        reason = (
            untrained if registered else "To register it would give a state dict that is loaded strictly other keys."
        )
        safety = Safety.UNSURE if registered else Safety.LIKELY
        yield from () if registered else _move_behind(ctx, whole, values, attribute, reason)
        for site in ctx.sites():
            names = {owner.root for owner in ctx.operand.holders if owner.frame == site.frame} - {"self"}
            # A module without a name in the code is an element of a container, whose others would be left behind.
            written = [site.file.code(node) for name in sorted(names) for node in site.occurrences(name)[:1]]
            for name in written:
                yield from (replace(made, safety=safety, reason=reason) for made in site.move_module(name))


def _holds(ctx: Context, module: ScopeVariable) -> bool:
    """Return whether a module may hold an operand: it is on its device, or its `.to()` moves the attribute."""
    holders, device = ctx.operand.holders, ctx.operand.device
    if any(owner.kind in ("parameter", "buffer") for owner in holders):
        return module.device == device
    return module.may_be_on(device) and any(owner.type == module.type for owner in holders)


def _move_behind(ctx: Context, whole: ScopeVariable, found: list[Held], attribute: str, reason: str) -> Changes:
    """Yield changes that move what a container holds behind the statement that moves its module: once, for all uses."""
    moves = [event for event in whole.transfers if event.device == whole.device]
    site = ctx.site_at(moves[-1].owned_place) if moves else None
    line = site.line if site is not None else None
    call = line.value if isinstance(line, cst.Assign | cst.Expr) else None
    if site is None or not is_move(call):
        return
    named = line.targets[0].target if isinstance(line, cst.Assign) and len(line.targets) == 1 else receiver(call)
    if not isinstance(named, cst.Name | cst.Attribute):
        return
    held, given = f"{site.file.code(named)}.{attribute}", ", ".join(site.file.code(each) for each in call.args)
    every = f"{held}.values()" if any(_is_dict(value) for _, _, values in found for value in values) else held
    lines = [f"for module in {every}:\n    module.{last_name(call.func)}({given})\n"]
    changes = site.insert_after(lines, f"Move what `{held}` holds as well", Safety.LIKELY)
    yield from (replace(each, reason=reason) for each in changes)


def _is_dict(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.Dict | cst.DictComp) or match(value, "dict($$$)", "$_.OrderedDict($$$)") is not None


def _hides(value: cst.BaseExpression) -> bool:
    """Return whether a list is the idiom that keeps a module out of `parameters()`: `self.teacher = [teacher]`."""
    elements = value.elements if isinstance(value, cst.List | cst.Tuple) else ()
    return len(elements) == 1 and isinstance(elements[0].value, cst.Name)


def _register(file: File, holder: cst.ClassDef, values: list[cst.BaseExpression], attribute: str) -> Changes:
    """Yield registering containers; then a ModuleList beside the container, which stays unchanged for all uses."""
    name = f"self.{attribute}"
    if takes_modules(file, holder, name):
        made = {value: found for value in values if (found := module_container(file, value)) is not None}
        yield from rewrite(file, made, f"Register what `{name}` holds", Safety.LIKELY)
    statement = file.statement_of(values[0]) if len(values) == 1 else None
    listed = modules_of(file, values[0], name) if statement is not None else ""
    if statement is not None and listed and not file.find(file.module, f"{name}_modules"):
        line = f"{name}_modules = {listed}  # so that moves and the state dict reach them"
        beside = insert_after(file, statement, [line])
        yield from rewrite(file, beside, f"Register what `{name}` holds, beside it", Safety.LIKELY)
