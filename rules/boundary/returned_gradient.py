"""An autograd function returns a gradient that is on another device than its input."""

import re
from collections.abc import Iterator

import libcst as cst

from devfix.sdk import Changes, Context, FailureRule, File, definition, first_is_safe, move_to, parameters, rewrite


class ReturnedGradient(FailureRule):
    """Creates it where the incoming gradient is, else moves it where it is returned."""

    # `backward` has returned by the time at which PyTorch sees what is wrong.
    failure_kind, device = "device-mismatch", "{wanted}"
    pattern = re.compile(r"Function (?P<function>\w+)Backward returned .* expected device (?P<wanted>[\w:]+) but got")
    message = "`{function}.backward` returned a gradient that is not on {wanted}."

    def propose(self, ctx: Context) -> Changes:
        """Look for the class in the files of the gradient's history."""
        name = f"{self.groups(ctx)['function']}.backward"
        for site in ctx.sites("creation", "returned") if ctx.failure.operands else ():
            if site.place.function == name:
                yield from site.add_device() if site.kind == "creation" else site.move_result()
        for file in ctx.files():
            method = definition(file, name)
            if isinstance(method, cst.FunctionDef):
                yield from first_is_safe(_move_returned(file, method, each) for each in _find_gradients(file, method))


def _find_gradients(file: File, method: cst.FunctionDef) -> Iterator[cst.BaseExpression]:
    """Yield what a method returns as gradients, which are None for arguments that have none."""
    for node in file.own_nodes(method, cst.Return):
        every = [each.value for each in node.value.elements] if isinstance(node.value, cst.Tuple) else [node.value]
        yield from (each for each in every if each is not None and file.code(each) != "None")


def _move_returned(file: File, method: cst.FunctionDef, gradient: cst.BaseExpression) -> Changes:
    for incoming in parameters(method)[1:2]:
        title = f"Move `{file.code(gradient)}` to `{incoming}.device`"
        yield from rewrite(file, {gradient: move_to(gradient, f"{incoming}.device")}, title)
