"""A layer or parameter is created after its module was moved."""

from itertools import pairwise

import libcst as cst

from devfix.sdk import (
    Changes,
    Context,
    ModuleRule,
    Safety,
    ScopeVariable,
    Site,
    add_keyword,
    argument,
    assignments,
    creates_on_default_device,
    match,
    move_to,
    pass_device_to_creator,
    with_safety,
)


class ModuleCreatedLate(ModuleRule):
    """Moves the new module where it is created, passes a device to a parameter's tensor, or moves the whole again."""

    def explain(self, ctx: Context) -> str:
        """Report a parameter or buffer of a module that was moved before, or whose other tensors are elsewhere."""
        for owner, root in ctx.root_modules():
            late = owner.expression if owner.expression != owner.root else f"{owner.expression}.{owner.attribute}"
            created = f"it was created after `{owner.root}` was moved."
            if root.device == "mixed":
                others = f"while other parts of `{owner.root}` are on {ctx.peer.device}"
                return f"`{late}` is on {ctx.operand.device} {others}: {created}"
            if _is_newer(ctx, root):
                moved = f"`{owner.root}` was moved to {ctx.peer.device}"
                return f"`{late}` is on {ctx.operand.device}, and {moved}: {created}"
        return ""

    def fix(self, ctx: Context) -> Changes:
        """Move what was constructed late, else what was added to a container and is therefore elsewhere."""
        if replaced := list(_move_parameter(ctx)):
            yield from replaced
            return
        is_newer = any(_is_newer(ctx, root) for _, root in ctx.root_modules())
        late = _unmoved_part(ctx) if is_newer else ctx.misplaced_module()
        if whole := list(_move_whole(ctx)) if late is None and _has_others(ctx) else []:
            yield from whole
            return
        yield from _move_computed(ctx) if late is None else ()
        made = ctx.construction_sites(late) if late is not None else []
        created = list(ctx.sites("creation", "returned"))
        contained = bool(made and created) and made[0].is_in_constructor and not created[0].is_in_constructor
        if not contained:
            yield from ctx.move_constructed(late) if late is not None else ()
            created.sort(key=lambda site: late is not None and site.is_in_constructor)
        together = [change for site in created[:1] for change in _move_together(site)]
        yield from together
        for site in created if not together else ():  # one of them alone makes fewer copies, and would be preferred
            changes = list(site.add_device() if site.kind == "creation" else ())
            if site.kind == "creation" or late is not None:
                is_sure = site.kind == "creation" and (late is None or contained)
                changes = changes or list(site.move_result())
                yield from changes if is_sure else with_safety(changes, Safety.UNSURE)
                yield from pass_device_to_creator(ctx, site) if not changes else ()
        yield from _move_whole(ctx)


def _is_newer(ctx: Context, root: ScopeVariable) -> bool:
    """Return whether all of a module's tensors replaced others, or came to none, after it was moved."""
    is_moved = any(each.device == ctx.peer.device for each in root.transfers)
    return is_moved and root.device == ctx.operand.device and not ctx.operand.transfers


def _unmoved_part(ctx: Context) -> ScopeVariable | None:
    """Return the largest module with the operand that was never moved, as running functions see it, if there is one."""
    roots = {owner.frame: root for owner, root in ctx.root_modules()}
    unmoved = (frame for frame, root in roots.items() if not root.transfers and root.device == ctx.operand.device)
    outermost = min(unmoved, default=None)
    return roots[outermost] if outermost is not None else None


def _has_others(ctx: Context) -> bool:
    """Return whether the module of the operand has other parameters of its own that are where the operand is."""
    owner, device = ctx.operand.owner, ctx.operand.device
    scope = ctx.failure.frames[owner.frame].scope if owner is not None else ()
    beside = [each.expression for each in scope if each.device == device and each.type.endswith("Parameter")]
    own = [each for each in beside if owner is not None and each.rpartition(".")[0] == owner.expression]
    return len(own) > 1


def _move_together(site: Site) -> Changes:
    """Yield changes that move what a function creates alike and passes on together: the weight of a layer and its bias.

    One alone would leave the layer on two devices, which only a run that uses both shows.
    """
    made = site.call() if site.kind == "creation" else None
    calls = [made, *_passed_on_with(site, made)] if made is not None else []
    for device in site.device_expressions() if len(calls) > 1 else ():
        is_factory = all(creates_on_default_device(site.file, each) for each in calls)
        edits: dict[cst.CSTNode, cst.CSTNode] = {
            each: add_keyword(each, "device", device) if is_factory else move_to(each, device) for each in calls
        }
        named = " and ".join(f"`{site.file.code(each)}`" for each in calls)
        yield from site.replace(edits, f"Create {named} on `{device}`")


def _passed_on_with(site: Site, made: cst.Call) -> list[cst.Call]:
    """Return the calls of the same function as one whose results are arguments of a call to which its result goes."""
    file, bound = site.file, site.file.parent(made)
    target = bound.targets[0].target if isinstance(bound, cst.Assign) else None
    found: list[cst.Call] = []
    for read in file.find(site.function, target.value) if site.function and isinstance(target, cst.Name) else ():
        path = pairwise(file.ancestors(read))
        calls = (call for given, call in path if isinstance(given, cst.Arg) and isinstance(call, cst.Call))
        for given in (given for call in calls for given in call.args):
            name = file.code(given.value).partition(".")[0]
            values = (each.value for each in assignments(file, name, site.function))
            found += [each for each in values if isinstance(each, cst.Call) and each is not made and each not in found]
    alike = (each for each in found if file.code(each.func) == file.code(made.func))
    return [each for each in alike if argument(each, "device") is None]


def _move_whole(ctx: Context) -> Changes:
    """Yield changes that move the whole where a statement of a running function has added to it."""
    for owner, root in ctx.root_modules():
        running = ctx.failure.frames[owner.frame].place
        made = ctx.operand.creation_places
        places = [each for each in made if each.owned and each.function == running.function]
        for place in places if owner.root != "self" else ():
            site = ctx.site_at(place, "returned")
            statement = site.statement if site is not None else None
            if site is None or statement is None or place == running:
                continue
            given = [site.file.statement_of(each) for each in assignments(site.file, root.expression)]
            if any(each is statement for each in given):
                yield from site.move_result()
                continue
            for device in site.device_expressions():
                if not device.startswith((f"{root.expression}.", f"next({root.expression}.")):
                    line = f"{root.expression}.to({device})"
                    title = f"Move the module `{root.expression}` to `{device}`"
                    yield from site.insert_after([line], title)


def _move_computed(ctx: Context) -> Changes:
    """Yield a change that moves what a method computes for a buffer of its module to where the parameters are."""
    owner = ctx.operand.owner
    scope = ctx.failure.frames[owner.frame].scope if owner is not None and owner.kind == "buffer" else ()
    beside = [each for each in scope if each.device == ctx.peer.device and each.type.endswith("Parameter")]
    names = [each.expression.rpartition(".") for each in beside]
    parameters = [name for whole, _, name in names if owner is not None and whole == owner.expression]
    for place in ctx.creation.places if ctx.creation is not None and owner is not None and parameters else ():
        holder, _, method = place.function.rpartition(".")
        site = ctx.site_at(place) if holder and method != "__init__" else None
        value = _find_assigned_value(site, owner.attribute) if site is not None and owner is not None else None
        if site is not None and value is not None and owner is not None:
            device = f"self.{parameters[0]}.device"
            title = f"Move what `{method}` computes for `self.{owner.attribute}` to `{device}`"
            yield from site.replace({value: move_to(value, device)}, title)
            return


def _move_parameter(ctx: Context) -> Changes:
    """Yield changes that move what a method makes a parameter to where its layer has the other one.

    The scope shows the first call of the method, which the constructor may have made before anything was moved.
    """
    made = [each.owned_place for each in ctx.operand.history if each.kind == "parameter"]
    site = ctx.call_at(made[-1]) if made else None
    given = site.argument("data", 0) if site is not None and site.name == "Parameter" else None
    bound = site.line if site is not None else None
    target = bound.targets[0].target if isinstance(bound, cst.Assign) else None
    if site is None or given is None or site.is_in_constructor or not isinstance(target, cst.Attribute):
        return
    layer, own = site.file.code(target.value), site.file.code(target)
    reads = (
        {site.file.code(each) for each in site.file.within(site.function, cst.Attribute)} if site.function else set()
    )
    for name in (each for each in (f"{layer}.weight", f"{layer}.bias") if each in reads - {own}):
        title = f"Move `{site.file.code(given.value)}` to `{name}.device`"
        yield from site.replace({given.value: move_to(given.value, f"{name}.device")}, title)


def _find_assigned_value(site: Site, attribute: str) -> cst.BaseExpression | None:
    """Return the value that the statement at a site gives to an attribute of `self`, or registers as its buffer."""
    for node in (site.node, *site.file.ancestors(site.node)):
        if isinstance(node, cst.Assign) and site.file.code(node.targets[0].target) == f"self.{attribute}":
            return node.value
        if found := match(node, f'$_.register_buffer("{attribute}", $VALUE, $$$)'):
            return found["VALUE"]
    return None
