"""The weights of a module are replaced, after it was moved, by tensors that are somewhere else."""

import libcst as cst

from devfix.sdk import (
    CallSite,
    Changes,
    Context,
    Definition,
    OperandRule,
    Safety,
    Site,
    add_keyword,
    argument,
    creates_on_default_device,
    first_is_safe,
    imported_name,
    is_move,
    match,
    module_device,
    move_to,
    replace_statement,
    rewrite,
    with_safety,
)

LOADERS = {"load": "map_location", "load_file": "device"}  # of torch and of safetensors
TO_HOST = ("$_.cpu($$$)", '$_.to($$$, "cpu", $$$)', '$_.to($$$, device="cpu", $$$)')


class WeightsReplaced(OperandRule):
    """Moves what replaces them: where it is loaded, by the module after loading, or where it is assigned."""

    reports_intentional = True
    supersedes = ("placement/module-created-late", "state/module-left-on-host")

    def explain(self, ctx: Context) -> str:
        """Report a parameter or buffer that was replaced since its module was moved."""
        moved = module_device(ctx.failure, ctx.operand) or _source_device(ctx)
        if moved != ctx.peer.device or not any(True for _ in self.propose(ctx)):
            return ""
        return f"{ctx.name} is on {ctx.operand.device}: its module was moved to {moved}, and it was replaced later."

    def propose(self, ctx: Context) -> Changes:
        """Look at the last steps of its history: an assignment to `.data`, a state dict that is assigned.

        A buffer is created again by a method that assigns to it, such as one that resets a metric.
        """
        for event in reversed(ctx.operand.history):
            site = ctx.site_at(event.owned_place, "derived")
            if site is None:
                continue
            if event.op == "torch.Tensor.data":
                yield from _move_assigned(site)
                return
            call = ctx.call_at(event.owned_place, "load_state_dict")
            if call is not None and _assigns(call):
                yield from first_is_safe([_load_elsewhere(ctx, call), _move_afterwards(call)])
                yield from with_safety(_put_back(call), Safety.LIKELY)
                return
        yield from _create_again(ctx)


def _source_device(ctx: Context) -> str:
    """Return where the running method's module was moved, if the operand was computed of data that was replaced; or "".

    A part of a buffer has no owner: `self.sums[i]`.
    """
    event = next((each for each in reversed(ctx.operand.history) if each.op == "torch.Tensor.data"), None)
    if event is None or event.owned_place is None or ctx.is_held:
        return ""
    sites = (each for each in ctx.uses() if each.place.path == event.owned_place.path)
    own = [each for site in sites for each in site.scope if (each.expression, each.kind) == ("self", "module")]
    moves = [move.device for each in own for move in each.transfers[-1:]]
    return moves[-1] if moves and moves[-1] not in ("mixed", ctx.operand.device) else ""


def _assigns(call: CallSite) -> bool:
    given = call.argument("assign", 2)
    return given is not None and not (isinstance(given.value, cst.Name) and given.value.value == "False")


def _create_again(ctx: Context) -> Changes:
    """Yield a change by which a method creates its module's buffers on the devices of those that it replaces."""
    owner = ctx.operand.owner
    for site in ctx.sites("creation", "returned") if owner is not None and owner.kind == "buffer" else ():
        function, holder = site.function, site.file.class_of(site.node)
        if function is None or holder is None or function.name.value == "__init__" or owner is None:
            continue
        buffers, edits = _buffers(ctx, Definition(site.file, holder)), dict[cst.CSTNode, cst.CSTNode]()
        given = [(_own_name(each), each) for each in site.file.within(function, cst.Assign)]
        is_given = owner.attribute in buffers.intersection(name for name, _ in given)
        for name, each in given if is_given else ():
            if name not in buffers or is_move(each.value):
                continue
            if isinstance(each.value, cst.Call) and creates_on_default_device(site.file, each.value):
                edits[each.value] = add_keyword(each.value, "device", f"self.{name}.device")
            elif name == owner.attribute:
                edits[each.value] = move_to(each.value, f"self.{name}.device")
        if edits:
            yield from site.replace(edits, f"Create `self.{owner.attribute}` where the one before was")
            return


def _buffers(ctx: Context, holder: Definition) -> set[str]:
    """Return the buffers that a class or its bases register with a tensor, and never set to None."""
    found, none = set[str](), set[str]()
    for each in ctx.repository.mro(holder):
        for node in each.file.within(each.node) if isinstance(each, Definition) else ():
            made = match(node, "self.register_buffer($NAME, $VALUE, $$$)")
            name = made["NAME"] if made is not None else None
            if made is not None and isinstance(name, cst.SimpleString):
                (none if match(made["VALUE"], "None") else found).add(str(name.evaluated_value))
            if isinstance(node, cst.Assign) and match(node.value, "None"):
                none.add(_own_name(node))
    return found - none


def _own_name(assigned: cst.Assign) -> str:
    """Return the attribute of `self` that a statement assigns to; "" if it does something else."""
    target = match(assigned.targets[0].target, "self.$NAME") if len(assigned.targets) == 1 else None
    name = target["NAME"] if target is not None else None
    return name.value if isinstance(name, cst.Name) else ""


def _move_assigned(site: Site) -> Changes:
    """Yield changes that move what is assigned to `.data`, unless the function brings it to the host on purpose."""
    function, statement = site.function, site.statement
    if function is not None and any(match(each, *TO_HOST) for each in site.file.within(function, cst.Call)):
        return  # it stores weights there, or takes them off the GPU
    for assigned in site.file.within(statement, cst.Assign) if statement is not None else ():
        target = assigned.targets[0].target
        if not isinstance(target, cst.Attribute) or is_move(assigned.value):
            continue
        if target.attr.value == "data" and len(assigned.targets) == 1:
            whole = site.file.code(target.value)
            moved = move_to(assigned.value, f"{whole}.device")
            yield from site.replace({assigned.value: moved}, f"Keep `{whole}` where it is")
    call = site.call("vector_to_parameters")
    given = argument(call, "vec", 0) if call is not None else None
    if given is not None:
        for device in _devices(site):
            title = f"Move `{site.file.code(given.value)}` to `{device}`"
            yield from site.replace({given.value: move_to(given.value, device)}, title)


def _load_elsewhere(ctx: Context, call: CallSite) -> Changes:
    """Yield changes that load the state onto a device with a name, where owned code loads it."""
    site = ctx.call_at(ctx.created_at, *LOADERS) if ctx.creation is not None and ctx.creation.kind == "load" else None
    if site is not None:
        keyword = LOADERS[site.name]
        for device in _devices(site):
            yield from site.set_argument(site.argument(keyword, 1), keyword, device, f"Load onto `{device}`")


def _move_afterwards(call: CallSite) -> Changes:
    """Yield changes that move the module to a device with a name, once it has its new weights."""
    if call.receiver is None or _returns(call):
        return
    whole = call.file.code(call.receiver)
    for device in _devices(call):
        yield from call.insert_after([f"{whole}.to({device})"], f"Move `{whole}` to `{device}` with its new weights")


def _put_back(call: CallSite) -> Changes:
    """Yield a change that puts each tensor where the one was that it replaces; one that was nowhere stays."""
    torch, line = imported_name(call.file, "torch"), call.statement
    if call.receiver is None or not torch or not isinstance(line, cst.SimpleStatementLine):
        return
    last = line.body[-1]
    name, value = call.free_name("name", "key", "parameter"), call.free_name("value", "tensor", "weight")
    places, loaded = call.free_name("places", "devices"), call.free_name("loaded", "result")
    returned = last.value if isinstance(last, cst.Return) else None
    load = f"{loaded} = {call.file.code(returned)}" if returned is not None else call.file.code(line).strip()
    whole = call.file.code(call.receiver)
    lines = [
        f"{places} = {{\n"
        f"    {name}: {value}.device\n"
        f"    for {name}, {value} in {whole}.state_dict().items()\n"
        f"    if isinstance({value}, {torch}.Tensor) and not {value}.is_meta\n"
        "}",
        load,
        f"for {name}, {value} in {whole}.state_dict(keep_vars=True).items():\n"
        f"    if {name} in {places}:\n"
        f"        {value}.data = {value}.data.to({places}[{name}])",
        *([f"return {loaded}"] if returned is not None else ()),
    ]
    module = replace_statement(call.file, line, lines)
    yield from rewrite(call.file, module, f"Leave the weights of `{whole}` on their devices")


def _returns(call: CallSite) -> bool:
    return any(True for _ in call.file.within(call.statement or call.node, cst.Return))


def _devices(site: Site) -> list[str]:
    """Return the expressions for the right device that are names: what a module's own weights say may be another."""
    named = site.device_names()
    return [each for each in site.device_expressions() if each in named]
