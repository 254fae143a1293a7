"""Give an object a device to keep, on which its methods create tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from devfix.sdk.changes import Change
from devfix.sdk.fixes.parameters import add_device_parameter
from devfix.source.edits.expressions import add_keyword
from devfix.source.queries.reading import parameters
from devfix.source.queries.repository import Definition, Repository

PLAIN = ("object", "abc.ABC", "typing.Generic", "typing.Protocol")


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
    is_plain = all(isinstance(each, Definition) or each in PLAIN for each in bases)
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
