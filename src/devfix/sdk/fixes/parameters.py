"""Add a parameter to a function, and pass it wherever the function is called; of a constructor, keep it too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import libcst as cst

from devfix.model import Safety
from devfix.sdk.changes import Change, join_changes, rewrite
from devfix.source import File
from devfix.source.edits.expressions import add_keyword, argument, move_to
from devfix.source.edits.signatures import with_parameter
from devfix.source.queries.reading import parameters
from devfix.source.queries.repository import Definition, Repository
from devfix.source.queries.style import PLAIN_BASES

Passed = str | Callable[[File, cst.Call], str]


def add_parameter(
    repository: Repository,
    function: Definition,
    name: str,
    passed: Passed = "",
    default: str = "",
    title: str = "",
    safety: Safety = Safety.LIKELY,
    inside: Mapping[cst.CSTNode, cst.CSTNode] | None = None,
) -> Iterator[Change]:
    """Yield one change that adds a parameter to a function, and passes it at every call in the repository.

    `passed` is the expression that callers pass, or gives it for a call; "" leaves the call to the `default`. `inside`
    replaces calls in the function's own file, such as those that use the parameter. Yields nothing if the function has
    the parameter, or a call without a default would get no argument.

    >>> forward = ctx.repository.definition("main.Model.forward")
    >>> made = next(add_parameter(ctx.repository, forward, "device", '"cuda"', default="None"))
    >>> print(made.title); print(made.edits[0].after.decode().splitlines()[9])
    Add the parameter `device` to `Model.forward`
        def forward(self, x, device=None):
    >>> print(made.edits[0].after.decode().splitlines()[-1])
    print(model(torch.ones(2, 8).to("cuda"), device="cuda").shape)
    """
    node = function.node
    if not isinstance(node, cst.FunctionDef) or name in parameters(node):
        return
    edits: dict[File, dict[cst.CSTNode, cst.CSTNode]] = {
        function.file: {node.params: with_parameter(node, name, default), **(inside or {})}
    }
    for file, call in repository.callers(function):
        value = passed if isinstance(passed, str) else passed(file, call)
        is_open = any(each.star == "**" for each in call.args)  # which may pass it already
        if not value and not default:
            return
        if value and not is_open and argument(call, name) is None:
            edits.setdefault(file, {})[call] = add_keyword(call, name, value)
    words = title or f"Add the parameter `{name}` to `{function.name}`"
    changes = [next(rewrite(file, nodes, words, safety), None) for file, nodes in edits.items()]
    whole = join_changes(words, *changes)
    if whole is not None:
        yield whole


def add_device_parameter(
    repository: Repository,
    function: Definition,
    ran: cst.Call,
    device: str,
    factories: Sequence[cst.Call],
    title: str,
    safety: Safety = Safety.SAFE,
    moved: Sequence[cst.Call] = (),
    inside: Mapping[cst.CSTNode, cst.CSTNode] | None = None,
) -> Iterator[Change]:
    """Yield a change by which a function creates tensors on a device that the call `ran` passes; other calls pass none.

    `factories` are the calls in the function that create them, and `moved` those whose results are moved, since they
    would draw other numbers there; `inside` replaces other nodes of its file. A function that passes its `**` arguments
    on to them is only called with one more. Yields nothing if the function knows a `device` already, does something
    else with `**` arguments, which may have one, or if the call is not known to be one of its own.

    >>> forward = ctx.repository.definition("main.Model.forward")
    >>> file, ran = next(ctx.repository.callers(forward))
    >>> factories = [ctx.call_at(ctx.created_at).node]
    >>> made = next(add_device_parameter(ctx.repository, forward, ran, '"cuda"', factories, "Take a device"))
    >>> print("\\n".join(made.edits[0].after.decode().splitlines()[9:11]))
        def forward(self, x, device=None):
            positions = torch.arange(x.shape[1], device=device)
    """
    node = function.node
    if not isinstance(node, cst.FunctionDef) or not (factories or moved or inside):
        return
    known = parameters(node)
    if any("device" in each for each in known) or function.file.find(node, "device"):
        return
    calling = next((file for file, call in repository.callers(function) if call is ran), None)
    if calling is None:
        return
    if node.params.star_kwarg is not None:
        if not moved and not inside and _are_passed_on(node.params.star_kwarg.name.value, factories):
            words = f"Call `{function.name}` with `device={device}`, which it passes on"
            yield from rewrite(calling, {ran: add_keyword(ran, "device", device)}, words, safety)
        return
    edits: dict[cst.CSTNode, cst.CSTNode] = {each: add_keyword(each, "device", "device") for each in factories}
    edits |= {each: move_to(each, "device") for each in moved}
    passed = partial(_passed_by, ran, device)
    yield from add_parameter(repository, function, "device", passed, "None", title, safety, edits | dict(inside or {}))


def _are_passed_on(name: str, factories: Sequence[cst.Call]) -> bool:
    """Return whether all of some calls get the `**` arguments of a name, and no device of their own."""
    given = ([each for each in call.args if each.star == "**"] for call in factories)
    passed = all(any(isinstance(each.value, cst.Name) and each.value.value == name for each in args) for args in given)
    return passed and not any(argument(call, "device") for call in factories)


def keep_device(
    repository: Repository, method: Definition, ran: cst.Call, device: str, factories: Sequence[cst.Call], title: str
) -> Iterator[Change]:
    """Yield a change that gives an object a `device` where `ran` constructs it, on which a method creates tensors.

    Other calls pass none. Yields nothing for a module, whose parameters tell the device, or if the class or one
    that derives from it knows a device already, or constructs its objects without this constructor.

    >>> forward = ctx.repository.definition("main.Model.forward")
    >>> file, ran = next(ctx.repository.callers(forward))
    >>> list(keep_device(ctx.repository, forward, ran, '"cuda"', [], "Keep it"))
    []
    """
    holder = method.holder
    constructor = repository.method(holder, "__init__") if holder is not None else None
    if holder is None or constructor is None or not _may_keep(repository, holder, constructor, method):
        return
    body = constructor.node.body
    assert isinstance(body, cst.IndentedBlock)
    kept = body.with_changes(body=[*body.body, cst.parse_statement("self.device = device")])
    inside: Mapping[cst.CSTNode, cst.CSTNode] = {body: kept} | {
        each: add_keyword(each, "device", "self.device") for each in factories
    }
    yield from add_device_parameter(repository, constructor, ran, device, [], title, inside=inside)


def _may_keep(repository: Repository, holder: Definition, constructor: Definition, method: Definition) -> bool:
    """Return whether objects of a plain class may get one more attribute, in a constructor that all of them run."""
    bases, below = repository.mro(holder), repository.subclasses(holder)
    family = [*(each for each in bases if isinstance(each, Definition)), *below]
    is_plain = all(isinstance(each, Definition) or each.rpartition(".")[2] in PLAIN_BASES for each in bases)
    is_own = constructor.holder is not None and constructor.holder.is_same(holder)
    node, body = method.node, constructor.node.body
    if not (is_plain and is_own and isinstance(node, cst.FunctionDef) and isinstance(body, cst.IndentedBlock)):
        return False
    if node is constructor.node or parameters(node)[:1] != ["self"]:
        return False
    if not all(_runs(repository, each, constructor) for each in below):
        return False
    return not any(
        each.node.decorators or any(each.file.find(each.node, name) for name in ("self.device", "device", "__slots__"))
        for each in family
    )


def _runs(repository: Repository, holder: Definition, constructor: Definition) -> bool:
    """Return whether a class's constructor is one, or calls that of its base class."""
    own = repository.method(holder, "__init__")
    return own is None or own.is_same(constructor) or bool(own.file.find(own.node, "super().__init__"))


def _passed_by(ran: cst.Call, device: str, _: File, call: cst.Call) -> str:
    return device if call is ran else ""
