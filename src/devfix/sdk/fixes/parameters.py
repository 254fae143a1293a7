"""Add a parameter to a function, and pass it wherever the function is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import libcst as cst

from devfix.model import Safety
from devfix.sdk.changes import Change, join_changes, rewrite
from devfix.source import File
from devfix.source.edits.expressions import add_keyword, argument, expression, move_to
from devfix.source.queries.reading import parameters
from devfix.source.queries.repository import Definition, Repository

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
        function.file: {node.params: _with_parameter(node.params, name, default), **(inside or {})}
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
    would draw other numbers there; `inside` replaces other nodes of its file. Yields nothing if the function knows a
    `device` already, takes `**` arguments, which may have one, or if the call is not known to be one of its own.

    >>> forward = ctx.repository.definition("main.Model.forward")
    >>> file, ran = next(ctx.repository.callers(forward))
    >>> factories = [ctx.call_at(ctx.created_at).node]
    >>> made = next(add_device_parameter(ctx.repository, forward, ran, '"cuda"', factories, "Take a device"))
    >>> print("\\n".join(made.edits[0].after.decode().splitlines()[9:11]))
        def forward(self, x, device=None):
            positions = torch.arange(x.shape[1], device=device)
    """
    node = function.node
    if not isinstance(node, cst.FunctionDef) or not (factories or inside) or node.params.star_kwarg is not None:
        return
    known = parameters(node)
    if any("device" in each for each in known) or function.file.find(node, "device"):
        return
    if not any(call is ran for _, call in repository.callers(function)):
        return
    edits: dict[cst.CSTNode, cst.CSTNode] = {each: add_keyword(each, "device", "device") for each in factories}
    edits |= {each: move_to(each, "device") for each in moved}
    passed = partial(_passed_by, ran, device)
    yield from add_parameter(repository, function, "device", passed, "None", title, safety, edits | dict(inside or {}))


def _passed_by(ran: cst.Call, device: str, _: File, call: cst.Call) -> str:
    return device if call is ran else ""


def _with_parameter(given: cst.Parameters, name: str, default: str) -> cst.Parameters:
    """Return a signature with one more parameter, by keyword only where no other is possible."""
    value = expression(default) if default else None
    equal = (
        cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")) if default else cst.MaybeSentinel.DEFAULT
    )
    new = cst.Param(cst.Name(name), default=value, equal=equal)
    is_after_defaults = not default and any(each.default is not None for each in (*given.posonly_params, *given.params))
    if given.kwonly_params or isinstance(given.star_arg, cst.Param) or is_after_defaults:
        return given.with_changes(kwonly_params=[*given.kwonly_params, new])
    return given.with_changes(params=[*given.params, new])
