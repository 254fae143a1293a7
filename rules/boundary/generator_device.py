"""A random generator is on another device than the numbers that it draws."""

import re
from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    CallSite,
    Changes,
    Context,
    FailureRule,
    File,
    Safety,
    add_keyword,
    argument,
    assigned_values,
    binding_at,
    call_method,
    device_text,
    expression,
    is_bound,
    is_for_host,
    is_local,
    last_name,
    match,
    move_to,
    receiver,
    remove_keyword,
    replace_device,
    rewrite,
    with_import,
)

SAMPLERS = re.compile(r"torch[/\\\\]utils[/\\\\]data[/\\\\]")
DEFAULTS = re.compile(r"torch[/\\\\]utils[/\\\\]_device\.py$")  # puts the default device into a call
DRAWING = ("DataLoader", "RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler", "random_split")
SHUFFLED = ("DataLoader", "RandomSampler", "random_split")  # they draw by a generator of the host without another
FILLING = ("bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal_", "random_", "uniform_")
DRAWN_FOR = ("torch.multinomial", "torch.bernoulli", "torch.poisson")  # a tensor, on whose device they return another


class GeneratorDevice(FailureRule):
    """Draws from the generator's own stream and moves the result, or creates the generator where numbers are drawn."""

    # The generator is blamed, since the numbers are drawn where the code requests them.
    failure_kind, device = "generator-device", "{wanted}"
    pattern = re.compile(r"Expected a '?(?P<wanted>\w+)'? .*found '?(?P<found>\w+)'?")
    message = "The generator is one of {found}, and the numbers are to be drawn on {wanted}."

    def propose(self, ctx: Context) -> Changes:
        """Change the call that draws or, if a sampler of torch draws, the loader that uses it."""
        site = ctx.failing_call()
        given = site.argument("generator") if site is not None else None
        if site is None or given is None:
            yield from _change_loaders(ctx) if ctx.target_device == "cpu" else _give_generators(ctx)
        elif ctx.target_device == "cpu" and isinstance(given.value, cst.Name | cst.Attribute):
            own = f"{site.file.code(given.value)}.device"
            drawn = replace_device(site.node, own)
            for each in (drawn, call_method(drawn, "cpu")):
                yield from site.change_to(each, f"Draw on the generator's device, `{own}`")
        else:
            yield from list(_make_again(ctx, site, given.value)) or _move_drawn(site, given.value)


def _make_again(ctx: Context, site: CallSite, generator: cst.BaseExpression) -> Changes:
    """Yield changes by which what makes a generator once, on a device, makes it again for another device."""
    file, text = site.file, site.file.code(generator)
    for made in _constructions(site, generator):
        device = device_text(made) or next((file.code(each.value) for each in made.args), "")
        guard = next((each for each in file.ancestors(made) if isinstance(each, cst.If)), None)
        if guard is None or match(guard.test, f"{text} is None") is None or not _has_index(ctx, file, guard, device):
            continue
        again = expression(f"{text} is None or {text}.device != {device}")
        yield from site.replace({guard.test: again}, f"Make `{text}` again for another device")


def _has_index(ctx: Context, file: File, guard: cst.If, device: str) -> bool:
    """Return whether a device is a `torch.device` with an index: a generator's is equal to no other."""
    around = file.function_of(guard)
    for place in (frame.place for frame in reversed(ctx.failure.frames)):
        if around is not None and (place.path, place.function.rpartition(".")[2]) == (file.path, around.name.value):
            found = binding_at(ctx.failure, place, device)
            return found is not None and found.kind == "device" and ":" in found.device
    return False


def _move_drawn(site: CallSite, generator: cst.BaseExpression) -> Changes:
    """Yield changes that draw on the generator's device and move the numbers, then changes of the generator's device.

    Each device has its own stream: a seed gives the same numbers only on the same device.
    """
    device = device_text(site.node)
    if device:
        twins = _twins(site, generator)
        if twins:
            edits = {each: _drawn_and_moved(site, each, generator) for each in (site.node, *twins)}
            every = f"in all {len(edits)} calls that draw by `{site.file.code(generator)}`"
            yield from site.replace(edits, f"Draw on the generator's device and move, {every}")
        moved = _drawn_and_moved(site, site.node, generator)
        yield from site.change_to(moved, f"Draw on the generator's device and move to `{device}`")
    yield from _move_filled(site, generator)
    for made in _constructions(site, generator):
        for text in [device] if device else site.device_expressions():
            if not is_bound(site.file, made, text):  # such as an argument of the method that draws
                continue
            yield from site.replace(
                {made: replace_device(made, text)}, f"Make the generator on `{text}`", Safety.LIKELY
            )
    yield from _move_weights(site, generator)


def _drawn_and_moved(site: CallSite, call: cst.Call, generator: cst.BaseExpression) -> cst.Call:
    """Return a call that draws on a device, as one that draws where its generator is and moves the numbers there.

    Callers may give generators of several devices, or none.
    """
    device, own = device_text(call), site.file.code(generator)
    given = site.function.params if site.function is not None else cst.Parameters()
    for each in (*given.posonly_params, *given.params, *given.kwonly_params):
        if each.name.value == own:
            may_be_none = each.default is not None and site.file.code(each.default) == "None"
            there = f"{own}.device if {own} is not None else {device}" if may_be_none else f"{own}.device"
            return call_method(replace_device(call, there), "to", device)
    return call_method(remove_keyword(call, "device"), "to", device)


def _twins(site: CallSite, generator: cst.BaseExpression) -> list[cst.Call]:
    """Return the other calls of torch that draw by the same generator on a device that is not the generator's own.

    An attribute is the same generator in all methods of a class that assigns it once, a name in its function.
    """
    file, text = site.file, site.file.code(generator)
    is_kept = text.startswith("self.")
    scope: cst.CSTNode | None = file.class_of(site.node) if is_kept else site.function
    if scope is None or not (is_kept or isinstance(generator, cst.Name)) or len(assigned_values(file, text, scope)) > 1:
        return []
    calls = [each for each in file.within(scope, cst.Call) if each is not site.node and _draws_by(file, each, text)]
    calls = [each for each in calls if is_kept or file.function_of(each) is scope]
    inside = [each for each in calls if any(around in (site.node, *calls) for around in file.ancestors(each))]
    return [each for each in calls if each not in inside and _is_elsewhere(device_text(each), text)]


def _draws_by(file: File, call: cst.Call, generator: str) -> bool:
    """Return whether a function of torch draws by a generator."""
    given = argument(call, "generator")
    named = given is not None and file.code(given.value) == generator
    return named and file.qualified_name(call.func).startswith("torch.")


def _is_elsewhere(device: str, generator: str) -> bool:
    """Return whether an expression of a device is neither the host nor where a generator is."""
    return device not in ("", '"cpu"', "'cpu'", f"{generator}.device")


def _move_weights(site: CallSite, generator: cst.BaseExpression) -> Changes:
    """Yield the change that draws for a tensor where somebody's generator is, and moves what was drawn back."""
    given = site.argument("input", 0) if site.qualified_name in DRAWN_FOR else None
    if given is None or not isinstance(generator, cst.Name | cst.Attribute):
        return
    own = f"{site.file.code(generator)}.device"
    is_named = isinstance(given.value, cst.Name | cst.Attribute)
    drawn = site.node.with_deep_changes(given, value=move_to(given.value, own))
    if is_for_host(site.file, site.node):  # `torch.multinomial(weights, 4, generator=g).tolist()`
        yield from site.change_to(drawn, f"Draw on the generator's device, `{own}`")
        return
    for text in [f"{site.file.code(given.value)}.device"] if is_named else site.device_expressions():
        yield from site.change_to(
            move_to(drawn, text), f"Draw on the generator's device, `{own}`, and move to `{text}`"
        )


def _move_filled(site: CallSite, generator: cst.BaseExpression) -> Changes:
    """Yield the change that makes what is filled as soon as it is made where the generator is, and moves it."""
    made = site.receiver if site.name in FILLING else site.node
    if not isinstance(made, cst.Call) or not isinstance(generator, cst.Name | cst.Attribute):
        return
    device, own = _device_made_on(site.file, made), f"{site.file.code(generator)}.device"
    if device and device != own:
        filled = cst.ensure_type(site.node.deep_replace(made, replace_device(made, own)), cst.Call)
        title = f"Draw on the generator's device, `{own}`, and move to `{device}`"
        yield from site.change_to(call_method(filled, "to", device), title)


def _device_made_on(file: File, call: cst.Call) -> str:
    """Return the device on which a call makes a tensor to fill: the one named, else that of the tensor it is like."""
    name, holder = last_name(call.func), receiver(call)
    if name.endswith("_like") and file.qualified_name(call.func).startswith("torch."):
        given = argument(call, "input", 0)
        like = given.value if given is not None else None
    elif name.startswith("new_"):
        like = holder
    else:
        return device_text(call) if name in ("empty", "zeros", "ones", "full") else ""
    is_named = isinstance(like, cst.Name | cst.Attribute)
    return device_text(call) or (f"{file.code(like)}.device" if like is not None and is_named else "")


def _is_drawn_by_sampler(ctx: Context) -> bool:
    """Return whether a sampler of torch, or what splits a data set, draws the numbers."""
    paths = [each.place.path for each in ctx.failure.frames if not DEFAULTS.search(each.place.path)]
    return bool(paths) and SAMPLERS.search(paths[-1]) is not None


def _change_loaders(ctx: Context) -> Changes:
    """Yield changes that create generators of loaders and samplers on the host, where torch's samplers draw indices."""
    if not _is_drawn_by_sampler(ctx):
        return
    for site in ctx.calls():
        given = site.argument("generator") if site.name in DRAWING else None
        if given is None:
            continue
        for made in _constructions(site, given.value):
            if made.args:
                new = made.with_changes(args=[])
                yield from site.replace({made: new}, f"Make the generator of `{site.name}` on the host")
        if isinstance(given.value, cst.Name | cst.Attribute):
            # It may draw on the GPU elsewhere, so the loader gets a separate generator with the same seed.
            own = expression(f"torch.Generator().manual_seed({site.file.code(given.value)}.initial_seed())")
            title = f"Give `{site.name}` a generator of the host"
            yield from site.replace({given: given.with_changes(value=own)}, title, Safety.LIKELY)


def _give_generators(ctx: Context) -> Changes:
    """Yield changes that give loaders and samplers a generator of the default device, where torch then draws indices.

    Without one, a sampler makes a generator of the host, whatever the default device is. What splits a data set draws
    by the generator of the host that is its default, and by that of the default device if it is given None.
    """
    if not _is_drawn_by_sampler(ctx):
        return
    for site in _without_generator(ctx):
        if site.name == "random_split":
            yield from site.add_keyword("generator", "None", "Split by the generator of the default device")
            continue
        for device, test in _default_devices(ctx, site):
            # Without a GPU it stays without one: another generator draws another order.
            made = f"torch.Generator(device={device}) if {test} else None"
            module = site.file.replace({site.node: add_keyword(site.node, "generator", made)})
            title = f"Give `{site.name}` a generator on `{device}`"
            yield from rewrite(site.file, with_import(module, "torch"), title)


def _without_generator(ctx: Context) -> Iterator[CallSite]:
    """Yield the calls that make what draws indices without a generator, those of the failure's files first."""
    files = [*ctx.files(), *ctx.sources.containing(*SHUFFLED)]
    for file in {each.path: each for each in files}.values():
        for node in file.within(file.module, cst.Call):
            given = [each for each in node.args if each.star or (each.keyword and each.keyword.value == "generator")]
            site = ctx.call_of(file, node) if last_name(node.func) in SHUFFLED and not given else None
            if site is not None and (site.name != "DataLoader" or _is_shuffled(site)):
                yield site


def _is_shuffled(loader: CallSite) -> bool:
    """Return whether a loader may draw an order itself."""
    shuffle = loader.argument("shuffle", 2)
    return shuffle is not None and loader.file.code(shuffle.value) not in ("False", "None", "0")


def _default_devices(ctx: Context, site: CallSite) -> list[tuple[str, str]]:
    """Return expressions of the default device at a call, each with the test that it is not the host, best first.

    That is what the program makes the default, where it is a variable there, else another variable of that device, else
    what torch says of that moment, else a variable that the function does not know.
    """
    file, function = site.file, site.function
    given = [each.args[0].value for each in file.within(file.module, cst.Call) if _sets_default(file, each)]
    texts = [file.code(each) for each in given if isinstance(each, cst.Name | cst.Attribute)]
    scopes = [site.scope, *(frame.scope for frame in ctx.failure.frames if function is not None)]  # `self.device` of it
    kinds = {each.expression: each.kind for scope in reversed(scopes) for each in scope}
    own: list[tuple[str, str]] = []
    other: list[tuple[str, str]] = []
    for text in dict.fromkeys((*texts, *site.device_expressions())):
        if kinds.get(text) in ("device", "string") and is_bound(file, site.node, text):
            is_own = function is None or is_local(function, text.partition(".")[0])
            test = f"{text}.type" if kinds[text] == "device" else text
            (own if is_own else other).append((text, f'{test} != "cpu"'))
    asked = "torch.get_default_device()"
    is_asked = not own and ctx.sources.containing("torch.set_default_device")
    return [*own[:1], *[(asked, f'{asked}.type != "cpu"')] * bool(is_asked)] or other[:1]


def _sets_default(file: File, call: cst.Call) -> bool:
    """Return whether a call names a default device, for all that follows or in a `with`."""
    is_block = isinstance(file.parent(call), cst.WithItem) and file.qualified_name(call.func) == "torch.device"
    return bool(call.args) and (is_block or file.qualified_name(call.func) == "torch.set_default_device")


def _constructions(site: CallSite, generator: cst.BaseExpression) -> Iterator[cst.Call]:
    """Yield the call of `torch.Generator` that created the generator: in place, or where its name is assigned."""
    file, text = site.file, site.file.code(generator)
    scope = file.class_of(site.node) if text.startswith("self.") else site.function
    for value in (generator, *assigned_values(file, text, scope or file.module)):
        yield from (call for call in file.within(value, cst.Call) if last_name(call.func) == "Generator")
