"""A table is computed once and cached, and stays on the device of its first use."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    FACTORIES,
    Changes,
    Context,
    Definition,
    File,
    GuardedCache,
    KeyedCache,
    OperandRule,
    Site,
    SourceLocation,
    StoredAttribute,
    add_keyword,
    argument,
    assignments,
    binding_at,
    code,
    expression,
    guarded_cache,
    is_written_to,
    join_tests,
    keyed_caches,
    last_name,
    match,
    move_to,
    parameters,
    rewrite,
)


class StaleCache(OperandRule):
    """Computes it again if the guard of the cache meets another device, and on the device of the argument.

    A dictionary keeps one for each key: the device becomes a part of it. Where keys are weakly referenced, and so can
    be no tuples, the test for a key asks for the device too. What is kept to be added to is created on the device, and
    is never computed again.
    """

    supersedes = ("state/tensor-not-buffer",)  # what is computed again for each input is not state of the module
    reports_intentional = True

    def suspects(self, ctx: Context) -> Iterator[Context]:
        """Add what is kept on a GPU by a module that has since gone, as a whole, where the other operand is."""
        yield from ctx.suspects()
        for each in map(ctx.view, range(len(ctx.failure.operands))):
            kept = (stored.module for stored in each.stored_attributes())
            if any(it is not None and it.device == each.peer.device != each.operand.device for it in kept):
                yield each

    def explain(self, ctx: Context) -> str:
        """Report an attribute that a method other than the constructor computed, on another device than it is used."""
        name, place = _find_cached(ctx)
        for _, kept in _find_keyed(ctx):
            return f"{ctx.name} is kept in `{kept.holder}` for each `{kept.key}`, which does not tell devices apart."
        if place is None or ctx.is_held:
            return ""
        return (
            f"`{name}` was computed once, on {ctx.operand.device}, in {place.shown}, and is kept: it is"
            f" used on {ctx.peer.device} now."
        )

    def propose(self, ctx: Context) -> Changes:
        """Add a comparison of devices to the guard, unless the device is a string, which equals no device."""
        for site, kept in _find_keyed(ctx):
            yield from _tell_apart(ctx, site, kept)
        name, place = _find_cached(ctx)
        function, cache = ctx.definition_at(place), f"self.{name.rpartition('.')[2]}" if "." in name else name
        if place is None or function is None or not isinstance(function.node, cst.FunctionDef):
            return
        file = function.file
        for each in assignments(file, cache, function.node):
            guarded = guarded_cache(file, function.node, each, cache)
            if guarded is None:
                continue
            given = _find_given(guarded)
            for device in [given] if given else _find_devices(ctx, place, function.node):
                edits = {} if given else _create_on(file, each, device)
                if guarded.is_total:
                    yield from rewrite(file, edits, f"Create `{cache}` on `{device}`")
                elif not _is_string(ctx, place, device):
                    operator, compared = (cst.And(), "==") if guarded.returns else (cst.Or(), "!=")
                    edits[guarded.test] = join_tests(guarded.test, operator, f"{cache}.device {compared} {device}")
                    yield from rewrite(file, edits, f"Compute `{cache}` again for another device")


def _find_keyed(ctx: Context) -> Iterator[tuple[Site, KeyedCache]]:
    """Yield the dictionaries in which a function keeps the operand, or what it was computed from, and from where."""
    if is_written_to(ctx.failure, ctx.operand):
        return
    running = [number for number, frame in enumerate(ctx.failure.frames) if frame.place.owned]
    places = [place for event in reversed(ctx.operand.history) for place in event.places if place.owned]
    sites = (*map(ctx.site_of, reversed(running)), *map(ctx.site_at, dict.fromkeys(places)))
    for site in filter(None, sites):
        names = {each.expression.rpartition("[")[0] for each in ctx.names_in(site.frame)}
        for kept in keyed_caches(site.file, site.function) if site.function is not None else ():
            around = (site.node, *site.file.ancestors(site.node))
            if kept.holder in names or any(each in around for each in _find_making(kept)):
                yield site, kept


def _find_making(kept: KeyedCache) -> list[cst.CSTNode]:
    """Return the expression that is kept, and what computes it: the branch that fills the cache, or an assignment."""
    block = next((each for each in kept.file.ancestors(kept.value) if isinstance(each, cst.IndentedBlock)), None)
    if block is not None and isinstance(kept.file.parent(block), cst.If | cst.ExceptHandler):
        return [kept.value, block]
    named = isinstance(kept.value, cst.Name)
    return [kept.value, *(assignments(kept.file, code(kept.value), kept.function) if named else ())]


def _tell_apart(ctx: Context, site: Site, kept: KeyedCache) -> Changes:
    """Yield changes that make the device of an argument a part of the key, and create there what is kept."""
    file, given = kept.file, assignments(kept.file, kept.key, kept.function)
    reads = [node for node in file.find(kept.function, kept.key) if not isinstance(file.parent(node), cst.AssignTarget)]
    is_key_alone = len(given) == 1 and len(reads) == len(kept.keys)
    keys = [given[0].value] if is_key_alone else kept.keys if len(given) < 2 else []
    factories = (call for node in _find_making(kept) for call in _find_factories(file, node))
    arguments = [argument(call, "device") for call in factories]
    named = [code(each.value) for each in arguments if each is not None] or _find_move(ctx, site, kept.value)
    own = [each for each in named or site.device_expressions() if each.endswith("device")]
    own = [each for each in dict.fromkeys(own) if each.partition(".")[0] in parameters(kept.function)]
    may_edit = bool(named) or not ctx.is_intentional
    for device in own or ([] if named else _find_beside(ctx, site.place, kept.function)):
        edits: dict[cst.CSTNode, cst.CSTNode] = {}
        if kept.is_weak and may_edit and not _is_string(ctx, site.place, device):
            edits.update(_ask_for_device(kept, device))
        for node in keys if may_edit and not kept.is_weak else ():
            if node is not None and "device" not in file.code(node):
                edits[node] = _with_device(node, device)
        if edits:  # else the function asks in a way that cannot be extended
            edits |= {} if named else {kept.value: _put_on(file, kept.value, device)}
            each = "each device" if not kept.is_weak else "the device of the last call"
            yield from rewrite(file, edits, f"Keep one value in `{kept.holder}` for {each}")


def _find_move(ctx: Context, site: Site, value: cst.BaseExpression) -> list[str]:
    """Return the device to which the kept value is moved at last: of `Filter(size).to(x)` it is `x.device`."""
    moved = match(value, "$V.to($WHERE)") or match(value, "$V.to($WHERE, $$$)")
    where = code(moved["WHERE"]) if moved is not None else ""
    bound = binding_at(ctx.failure, site.place, where) if where else None
    return [f"{where}.device" if bound is not None and bound.kind == "tensor" else where] if where else []


def _ask_for_device(kept: KeyedCache, device: str) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """Yield the tests whether a dictionary has a key, with a comparison of what it has for it with a device."""
    for node in kept.file.within(kept.function, cst.Comparison):
        found = match(node, f"{kept.key} not in {kept.holder}")
        if found is not None and isinstance(kept.file.parent(node), cst.If):
            yield node, join_tests(node, cst.Or(), f"{kept.holder}[{kept.key}].device != {device}")


def _find_factories(file: File, node: cst.CSTNode) -> list[cst.Call]:
    """Return the calls of factories in an expression."""
    calls = file.within(node, cst.Call)
    return [each for each in calls if last_name(each.func) in FACTORIES and isinstance(each.func, cst.Attribute)]


def _put_on(file: File, value: cst.BaseExpression, device: str) -> cst.BaseExpression:
    """Return a factory with a device, and another expression moved there."""
    is_factory = value in _find_factories(file, value)
    return (
        add_keyword(value, "device", device) if isinstance(value, cst.Call) and is_factory else move_to(value, device)
    )


def _with_device(key: cst.BaseExpression, device: str) -> cst.Tuple:
    """Return a key with a device beside it."""
    plain = key.with_changes(lpar=[], rpar=[]) if isinstance(key, cst.Call | cst.Name | cst.Attribute) else key
    parts = key.elements if isinstance(key, cst.Tuple) else [cst.Element(plain)]
    return cst.Tuple([*(cst.Element(each.value) for each in parts), cst.Element(expression(device))])


def _find_cached(ctx: Context) -> tuple[str, SourceLocation | None]:
    """Return the attribute or global that stores the operand (or its source), and where a function computed it."""
    for each in ctx.stored_attributes():
        first = [place for place in each.places[:1] if place.owned]
        own = [place for place in each.places if first and _is_method_of(each, place)]
        places = [place for place in own if _is_assigned(ctx, place, f"self.{each.attribute}")]
        for place in (*places, *first):  # a helper may have computed what its caller keeps
            owner, _, name = place.function.rpartition(".")
            if owner and name != "__init__":
                return f"{each.whole}.{each.attribute}", place
    for place in ctx.operand.history[0].places[:1] if ctx.operand.history else ():
        function = ctx.definition_at(place) if place.owned else None
        for name in _find_globals(function) if function is not None else ():
            if _is_assigned(ctx, place, name):
                return name, place
    return "", None


def _find_globals(function: Definition) -> list[str]:
    """Return the names that a function declares to be global."""
    return [code(each.name) for node in function.file.within(function.node, cst.Global) for each in node.names]


def _is_method_of(stored: StoredAttribute, place: SourceLocation) -> bool:
    """Return whether a location is in a method of the module that stores an attribute; of another object, in any."""
    if stored.module is None:
        return True
    lineage = {stored.module.type, *(each.rpartition(".")[2] for each in stored.module.classes)}
    return place.function.rpartition(".")[0].rpartition(".")[2] in lineage


def _is_assigned(ctx: Context, place: SourceLocation, name: str) -> bool:
    """Return whether a function assigns an attribute or a global at a location, or calls there what computed it."""
    function = ctx.definition_at(place)
    found = assignments(function.file, name, function.node) if function is not None else []
    return any(function is not None and function.file.line_of(each) <= place.line for each in found)


def _find_devices(ctx: Context, place: SourceLocation, function: cst.FunctionDef) -> list[str]:
    """Return the devices of the function's arguments, if what it keeps was created without one; else its module's.

    On the host it may have been created for arguments that were there too.
    """
    site, module = ctx.site_at(place), binding_at(ctx.failure, place, "self")
    if site is None or ctx.is_intentional:
        return []
    texts = [each for each in site.device_expressions() if each.endswith("device")]
    given = [each for each in texts if each.partition(".")[0] in parameters(function) and not each.startswith("self.")]
    is_module = module is not None and module.kind == "module"
    given = given or _find_beside(ctx, place, function)
    return given or [each for each in texts if is_module and each.removeprefix("next(").startswith("self.")]


def _find_beside(ctx: Context, place: SourceLocation, function: cst.FunctionDef) -> list[str]:
    """Return the devices of arguments that were tensors beside the operand, when it was created."""
    bound = [(name, binding_at(ctx.failure, place, name)) for name in parameters(function)]
    device = ctx.operand.device
    return [f"{name}.device" for name, it in bound if it is not None and it.kind == "tensor" and it.device == device]


def _create_on(file: File, assigned: cst.Assign | cst.AnnAssign, device: str) -> dict[cst.CSTNode, cst.CSTNode]:
    """Return edits by which the assigned value is created on a device, or moved there."""
    value = assigned.value
    if value is None:
        return {}
    factories = _find_factories(file, value)
    return {each: add_keyword(each, "device", device) for each in factories} or {value: move_to(value, device)}


def _is_string(ctx: Context, place: SourceLocation, given: str) -> bool:
    binding = binding_at(ctx.failure, place, given)
    return given[0] in "\"'" or (binding is not None and binding.kind == "string")


def _find_given(kept: GuardedCache) -> str:
    """Return the device that is passed to what computes a value, by its keyword or as `x.device`; else ""."""
    calls = kept.file.within(kept.body, cst.Call)
    named = [code(given.value) for call in calls if (given := argument(call, "device")) is not None]
    assigned = [each.value for each in assignments(kept.file, kept.name, kept.body) if isinstance(each.value, cst.Call)]
    plain = [code(each.value) for call in assigned for each in call.args if each.keyword is None]
    return next((each for each in (*named, *plain) if each in named or each.endswith(".device")), "")
