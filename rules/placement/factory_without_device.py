"""A tensor is created without a device, and used with tensors that have one."""

from itertools import islice

import libcst as cst

from devfix.sdk import (
    FACTORIES,
    Changes,
    Confidence,
    Context,
    CreationRule,
    Definition,
    File,
    Site,
    assigned_targets,
    creates_on_default_device,
    has_device_name,
    is_in_constructor,
    is_indexed_beside,
    is_move,
    keep_device,
    last_name,
    match,
    method_call_on,
    pass_device_to_creator,
    receiver,
)

MOST = 100  # calls of a function that are looked at


class FactoryWithoutDevice(CreationRule):
    """Passes a device to the factory, or moves the result of one that takes none.

    A tensor that is trained (`requires_grad=True`) is created there: an optimizer takes no copy of it, and a copy where
    it is used would be made in each step. A function that knows no device gets a parameter for it.
    """

    # A fix where a tensor is created covers all its uses.
    supersedes = (
        "placement/follows-a-stray",
        "placement/half-moved-expression",
        "placement/host-constant",
        "placement/input-not-moved",
    )
    kinds = ("factory", "constant")
    # A factory in a function that still runs is strong evidence; one far away may create an input.
    confidence, confidence_far = Confidence.NEARBY, Confidence.REMOTE
    reports_held = True
    message = "{name} was created by `{op}` on {device} in {made_at}, while it meets a tensor on {peer}."

    def explain(self, ctx: Context) -> str:
        """Leave what a module holds to rules about modules, unless its constructor had the device in scope.

        Leave on the host what the program moves part by part, such as the batches of a series, and what an object keeps
        of which rows are written by an index that is there too.
        """
        reason, place = super().explain(ctx), ctx.created_at
        is_stored = bool(ctx.stored_attributes()) and not ctx.is_held
        if _is_moved_in_parts(ctx) or (is_stored and is_indexed_beside(ctx.failure, ctx.operand)):
            return ""
        if not reason or not ctx.is_held or place is None:
            return reason
        is_given = is_in_constructor(place.function) and has_device_name(ctx.failure, place, ctx.peer.device)
        return f"{reason} The constructor that made it has a name for that device." if is_given else ""

    def rate(self, ctx: Context) -> Confidence:
        """Return the best confidence if the constructor had the device in scope; what is trained counts as near.

        So does what a function creates that was given the device, and ignores it, or that a constructor calls which was
        given it, and what several callers get from one that could be given it: each of them would move it.
        """
        if ctx.is_held:
            return Confidence.DIRECT
        sites = list(ctx.creation_sites())
        if any(site.device_parameter(ctx.target_device) or _is_of_several(ctx, site) for site in sites):
            return self.confidence
        if _is_for_constructor(ctx):
            return self.confidence
        return self.confidence if any(map(_is_trained, sites)) else super().rate(ctx)

    def fix(self, ctx: Context, site: Site) -> Changes:
        """Name the device; for what a module holds, only if the constructor has a parameter for it.

        What was drawn with the tensor as a parameter is moved instead: each device draws other numbers.
        """
        yield from _move_drawn(ctx)
        if not ctx.is_held or site.device_parameter(ctx.target_device):
            yield from site.add_device()
        if not ctx.is_held and site.call(*FACTORIES) is None and not _is_part(site):
            yield from site.move_result()
        if not ctx.is_held:
            yield from pass_device_to_creator(ctx, site)
            yield from _keep_device(ctx, site)


def _keep_device(ctx: Context, site: Site) -> Changes:
    """Yield changes that give the object whose method created the tensor a device, where it is constructed."""
    file, function, holder = site.file, site.function, site.file.class_of(site.node)
    constructor = ctx.repository.method(Definition(file, holder), "__init__") if holder is not None else None
    if function is None or constructor is None:
        return
    factories = [each for each in file.own_nodes(function, cst.Call) if creates_on_default_device(file, each)]
    for other, call in islice(ctx.repository.callers(constructor), MOST) if site.call() in factories else ():
        made = ctx.call_of(other, call)
        for device in made.device_expressions()[:1] if made is not None else ():
            title = f"Create the tensors of `{function.name.value}` on `{device}`, which the object is given"
            yield from keep_device(ctx.repository, Definition(file, function), call, device, factories, title)


def _move_drawn(ctx: Context) -> Changes:
    """Yield changes that move the numbers that were drawn with what the factory created: `bernoulli(full(…))`."""
    drawn = [each for each in ctx.operand.history[1:] if each.kind == "random" and "dropout" not in each.op]
    for event in drawn[-1:]:
        site = ctx.site_at(event.owned_place, "derived")
        yield from site.move_result() if site is not None else ()


def _is_moved_in_parts(ctx: Context) -> bool:
    """Return whether the program moves something else that was cut from what was created here."""
    scope = [each for frame in ctx.failure.frames for each in frame.scope if each.kind == "tensor"]
    histories = [*(each.history for each in ctx.failure.operands), *(each.history for each in scope)]
    return any(
        history[0] == ctx.creation
        and any(event.kind == "view" for event in history)
        and any(event.kind == "move" and event.device == ctx.target_device for event in history)
        for history in histories
        if history
    )


def _is_of_several(ctx: Context, site: Site) -> bool:
    """Return whether a function returns to several calls what it creates here, and can get a parameter for a device.

    Where one of them moves what it gets, that is left to the callers.
    """
    function = site.function
    if function is None or site.is_in_constructor or not any(True for _ in pass_device_to_creator(ctx, site)):
        return False
    calls = [*islice(ctx.repository.callers(Definition(site.file, function)), MOST)]
    return len(calls) > 1 and not any(_is_moved(*each) for each in calls)


def _is_moved(file: File, call: cst.Call) -> bool:
    """Return whether the result of a call is moved: `encode(text).to(device)`, or below it by its name."""
    given = file.parent(call)
    names = [file.code(each) for each in assigned_targets(given)] if isinstance(given, cst.Assign) else []
    moves = [each for each in file.within(file.function_of(call) or file.module, cst.Call) if is_move(each)]
    moved = (receiver(each) for each in moves)
    return is_move(method_call_on(file, call)) or any(each is not None and file.code(each) in names for each in moved)


def _is_part(site: Site) -> bool:
    """Return whether the call here constructs a part of something: moved alone, it would leave the others."""
    call = site.call()
    if call is None or not last_name(call.func)[:1].isupper():
        return False
    return isinstance(site.file.parent(call), cst.Arg | cst.Element | cst.DictElement)


def _is_for_constructor(ctx: Context) -> bool:
    """Return whether a constructor with a parameter for the device called the function that created the operand."""
    callers = ctx.creation.places[1:2] if ctx.creation is not None else ()
    sites = (ctx.site_at(place) for place in callers if place.owned and is_in_constructor(place.function))
    return any(site is not None and bool(site.device_parameter(ctx.target_device)) for site in sites)


def _is_trained(site: Site) -> bool:
    """Return whether the call here creates a tensor that is trained: `torch.zeros(3, requires_grad=True)`."""
    call = site.call(*FACTORIES)
    is_marked = match(method_call_on(site.file, call), "$_.requires_grad_($$$)") is not None
    return is_marked or match(call, "$_($$$, requires_grad=True, $$$)") is not None
