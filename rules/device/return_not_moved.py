"""A function moves what it returns, except in one branch."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Changes,
    Confidence,
    Context,
    Definition,
    File,
    OperandRule,
    Safety,
    assigned_values,
    definition,
    is_bound,
    is_move,
    match,
    move_to,
    on_device,
    parameters,
    rewrite,
)


class ReturnNotMoved(OperandRule):
    """Moves the result of that branch to the device to which the others go."""

    confidence, reports_intentional = Confidence.REMOTE, True

    def explain(self, ctx: Context) -> str:
        """Report a result of a function that moves its other results."""
        for function, device, _ in _find_unmoved(ctx) if ctx.operand.owner is None else ():
            return (
                f"{ctx.name} is on {ctx.operand.device}: `{function.name}` in {function.file.path} may return it"
                f" without a move to `{device}`, where its other results go."
            )
        return ""

    def propose(self, ctx: Context) -> Changes:
        """Look at each function that was called for the operand."""
        for function, device, values in _find_unmoved(ctx):
            moved = {each: move_to(each, device) for each in values}
            title = f"Move what `{function.name}` returns to `{device}` in each branch"
            yield from rewrite(function.file, moved, title, Safety.LIKELY)


def _find_unmoved(ctx: Context) -> Iterator[tuple[Definition, str, list[cst.BaseExpression]]]:
    """Yield the functions that may have returned the operand, the device to which they move, and what they do not."""
    for function in _find_called(ctx):
        file, node = function.file, function.node
        returned = [each.value for each in file.own_nodes(node, cst.Return) if each.value is not None]
        for device in dict.fromkeys(device for each in returned for device in _targets(file, each)):
            plain = [each for each in returned if not _names_device(file, function, each, device)]
            reachable = (each for each in plain if is_bound(file, each, device))
            if unmoved := [each for each in reachable if not _is_requested(function, each, device)]:
                yield function, device, unmoved


def _find_called(ctx: Context) -> Iterator[Definition]:
    """Yield the functions of the repository that are called where the operand gets its name, and objects' methods."""
    for number in reversed(range(len(ctx.failure.frames))):
        site = ctx.site_of(number)
        if site is None:  # code that is not to be edited: what its objects declare is known
            for name in _declaring(ctx, number):
                yield from _methods(ctx, number, name)
            continue
        names, around = [each.expression for each in ctx.names_in(number)], site.function or site.file.module
        values = [value for name in names[:2] for value in assigned_values(site.file, name, around)]
        for node in (node for value in values for node in site.file.within(value)):
            found = ctx.repository.resolve(site.file, node.func) if isinstance(node, cst.Call) else None
            if found is not None and isinstance(found.node, cst.FunctionDef):
                yield found
            elif isinstance(node, cst.Name | cst.Attribute):
                yield from _methods(ctx, number, site.file.code(node))


def _declaring(ctx: Context, frame: int) -> list[str]:
    """Return the objects in scope that say by an attribute that they are on the right device."""
    found = on_device(ctx.failure.frames[frame].scope, ctx.target_device, "device", "string")
    return list(dict.fromkeys(each.expression.rpartition(".")[0] for each in found if "." in each.expression))


def _methods(ctx: Context, frame: int, name: str) -> Iterator[Definition]:
    """Yield the methods of an object in scope."""
    held = [each for each in ctx.failure.frames[frame].scope if each.expression == name]
    program = ctx.sources.file(ctx.failure.frames[0].place)  # whose classes are those of `__main__`
    for full in held[0].classes if held else ():
        holder = ctx.repository.definition(full)
        own = definition(program, full.removeprefix("__main__.")) if program is not None and holder is None else None
        holder = Definition(program, own) if program is not None and isinstance(own, cst.ClassDef) else holder
        for node in holder.node.body.body if holder is not None else ():
            if holder is not None and isinstance(node, cst.FunctionDef):
                yield Definition(holder.file, node)


def _targets(file: File, value: cst.BaseExpression) -> Iterator[str]:
    """Yield the names of the devices to which an expression moves something."""
    for each in file.within(value, cst.Call):
        given = each.args if is_move(each) else ()
        if len(given) == 1 and isinstance(given[0].value, cst.Name | cst.Attribute):
            yield file.code(given[0].value)


def _names_device(file: File, function: Definition, value: cst.BaseExpression, device: str) -> bool:
    """Return whether what is returned, or its last assignment, has to do with the device; or is no single tensor."""
    if not isinstance(value, cst.Name | cst.Subscript | cst.Attribute | cst.Call | cst.BinaryOperation):
        return True
    if match(value, "None", "True", "False", "NotImplemented", "self"):
        return True
    given = assigned_values(file, value.value, function.node) if isinstance(value, cst.Name) else []
    return any(file.find(each, device) for each in (value, *given))


def _is_requested(function: Definition, value: cst.BaseExpression, device: str) -> bool:
    """Return whether a branch depends on the device, or on a parameter itself: the caller asks for it."""
    file, node = function.file, function.node
    names = {*parameters(node), device} if isinstance(node, cst.FunctionDef) else {device}
    tests = [each.test for each in file.ancestors(value) if isinstance(each, cst.If) and file.function_of(each) is node]
    return any(_tests(file, test, name) for test in tests for name in names)


def _tests(file: File, test: cst.BaseExpression, name: str) -> bool:
    """Return whether a test is about a name itself, not about what a call or an index gives of it: `len(parts)`."""
    inside = {*file.within(test)}
    reads = file.find(test, name)
    whole = [each for each in reads if name != "self" or not isinstance(file.parent(each), cst.Attribute)]
    around = ([each for each in file.ancestors(node) if each in inside] for node in whole)
    return any(not any(isinstance(each, cst.Arg | cst.Subscript) for each in nodes) for nodes in around)
