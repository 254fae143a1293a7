"""An object has a field for a device, and is constructed without it, on the host."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice

import libcst as cst

from devfix.sdk import (
    CallSite,
    Changes,
    Context,
    DeviceSource,
    DeviceSourceRule,
    Safety,
    SourceLocation,
    argument,
    binding_at,
    calls_of_factories,
    last_name,
    parameter_nodes,
)

FIELD = re.compile(r"_?(device|dev)")
MOST = 100  # calls of a class that are looked at


class FieldLeftAtDefault(DeviceSourceRule):
    """Passes the device where the object is constructed: a configuration, an environment, a part of a larger object."""

    only_on = "cpu"
    supersedes = ("multi-gpu/offloaded-device",)  # what was constructed with its device says where it is

    def matches(self, ctx: Context, place: SourceLocation) -> bool:
        """Require a class of the repository whose field has a default, and a call of it that leaves the field out."""
        return next(_constructions(ctx), None) is not None

    def rename(self, ctx: Context, found: Sequence[DeviceSource]) -> Changes:
        """Pass it in each call where something on the right device is in scope."""
        for site, name in _constructions(ctx):
            for device in site.device_expressions():
                yield from site.add_keyword(name, device, f"Pass `{device}` to `{site.name}`", Safety.LIKELY)


def _constructions(ctx: Context) -> Iterator[tuple[CallSite, str]]:
    """Yield the calls that leave out the field from which the operand's device was read, and the field's name."""
    found = ctx.device_sources()
    named = found[0].named if found else None
    if not isinstance(named, cst.Attribute) or not FIELD.fullmatch(named.attr.value):
        return
    name, place = named.attr.value, found[0].site.place
    owner = binding_at(ctx.failure, place, found[0].file.code(named.value))
    known = ctx.repository.classes(owner.type) if owner is not None and owner.kind in ("object", "module") else []
    if len(known) != 1:
        return
    constructor, position = ctx.repository.method(known[0], "__init__"), _position(known[0].node, name)
    if position is None and constructor is not None and isinstance(constructor.node, cst.FunctionDef):
        name = name.lstrip("_")
        position = _position_of_default(constructor.node, name)
    if position is None:
        return
    direct = ((file, call, position) for file, call in ctx.repository.callers(known[0]))
    looked_up = ((file, call, None) for file, call in calls_of_factories(ctx.repository, known[0]))
    for file, call, at in islice(chain(direct, looked_up), MOST):
        site = ctx.call_of(file, call)
        is_open = any(each.star == "*" for each in call.args)
        if site is not None and not is_open and argument(call, name, at) is None:
            yield site, name


def _position_of_default(constructor: cst.FunctionDef, name: str) -> int | None:
    """Return which argument a parameter of a constructor is; None if it has no default, or there is none."""
    given = parameter_nodes(constructor)[1:]
    found = [number for number, each in enumerate(given) if each.name.value == name and each.default is not None]
    return found[0] if found else None


def _position(holder: cst.FunctionDef | cst.ClassDef, name: str) -> int | None:
    """Return which argument of a data class a field is; None if it has no default, or the class is none."""
    if not any(_decorator_name(each) == "dataclass" for each in holder.decorators):
        return None
    statements = holder.body.body if isinstance(holder.body, cst.IndentedBlock) else ()
    lines = [each for line in statements if isinstance(line, cst.SimpleStatementLine) for each in line.body]
    fields = [each for each in lines if isinstance(each, cst.AnnAssign) and isinstance(each.target, cst.Name)]
    names = [each.target.value for each in fields if isinstance(each.target, cst.Name)]
    if name not in names or fields[names.index(name)].value is None:
        return None
    return names.index(name)


def _decorator_name(decorator: cst.Decorator) -> str:
    node = decorator.decorator
    return last_name(node.func if isinstance(node, cst.Call) else node)
