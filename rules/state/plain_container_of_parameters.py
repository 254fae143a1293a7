"""Parameters are kept in a Python list or dictionary, whose contents a module does not register."""

from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from devfix.sdk import (
    Changes,
    Context,
    EvidenceRule,
    File,
    ModuleOwner,
    Safety,
    assigned_targets,
    assigned_values,
    classes_holding,
    is_parameter,
    loads_strictly,
    match,
    parameter_container,
    rewrite,
    takes_modules,
)

REASON = "The module still does not train the parameters in it: `nn.ParameterDict` or `nn.ParameterList` would."


class PlainContainerOfParameters(EvidenceRule[ModuleOwner]):
    """Registers the parameters by the container, where the constructor assigns it.

    If the repository loads a state dict strictly, parameters that were not in it must not be added.
    """

    supersedes = ("placement/input-not-moved",)  # what is moved at its use is not trained

    def search(self, ctx: Context) -> ModuleOwner | None:
        """Return the module that was moved, and has a parameter in a container of its own."""
        for owner in ctx.operand.holders if not ctx.is_held else ():
            scope = {each.expression: each for each in ctx.failure.frames[owner.frame].scope}
            module, held = scope.get(owner.expression), scope.get(f"{owner.expression}.{owner.attribute}")
            is_listed = "[" in owner.attribute and held is not None and held.type.endswith("Parameter")
            if is_listed and module is not None and module.may_be_on(ctx.peer.device):
                return owner
        return None

    def describe(self, ctx: Context, found: ModuleOwner) -> str:
        """Report a parameter in a container of a module that was moved with everything it registers."""
        return (
            f"`{found.expression}.{_name(found)}` is a plain container: {found.type} neither moves nor trains the"
            f" parameters in it, so they stayed on {ctx.operand.device}."
        )

    def fix(self, ctx: Context, found: ModuleOwner) -> Changes:
        """Make the container one that registers, if all that is put into it are parameters; else move at the use."""
        name = f"self.{_name(found)}"
        for file, holder in classes_holding(ctx.failure, ctx.sources, _name(found), found.type):
            values = assigned_values(file, name, holder)
            made = {value: call for value in values if (call := parameter_container(file, value)) is not None}
            is_known = len(made) == len(values) and all(is_parameter(file, each) for each in _put(file, holder, name))
            if is_known and takes_modules(file, holder, name) and not loads_strictly(ctx.sources):
                yield from rewrite(file, made, f"Register the parameters in `{name}`", Safety.LIKELY)
        for site in ctx.sites("use", "argument"):
            yield from (replace(each, safety=Safety.LIKELY, reason=REASON) for each in site.move_argument())


def _name(owner: ModuleOwner) -> str:
    """Return the name of the container's attribute, without the index of the parameter in it."""
    return owner.attribute.partition("[")[0]


def _put(file: File, holder: cst.ClassDef, name: str) -> Iterator[cst.BaseExpression]:
    """Yield what a class puts into a container that it has made: `self.weights[key] = value`, or by its methods."""
    for node in file.within(holder, cst.Assign):
        targets = [each for each in assigned_targets(node) if isinstance(each, cst.Subscript)]
        yield from (node.value for each in targets if file.code(each.value) == name)
    filling = tuple(f"{name}.{method}" for method in ("append", "insert", "extend", "update"))
    for call in file.within(holder, cst.Call):
        yield from (each.value for each in call.args if match(call.func, *filling) is not None)
