"""A kernel for GPUs is chosen because there is a GPU, and its inputs are on the host."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import Changes, Context, FailureRule, File, Safety, Site, assigned_values, expression, on_device

AVAILABLE = "torch.cuda.is_available"
# A question whether there is a GPU, in the test of the branch that runs, and a tensor on the host that is used there.
Found = tuple[Site, cst.BaseExpression, str]


class AvailabilityForPlacement(FailureRule):
    """Asks where the input is instead."""

    failure_kind = "device-check"
    message = "{failed_at} needs its inputs on a GPU; the branch was taken because there is one."

    def explain(self, ctx: Context) -> str:
        """Require inputs on the host, and another branch for what is not on a GPU."""
        is_on_host = bool(ctx.failure.operands) and all(each.device == "cpu" for each in ctx.failure.operands)
        return super().explain(ctx) if is_on_host and next(_find_questions(ctx), None) is not None else ""

    def propose(self, ctx: Context) -> Changes:
        """Start with the innermost branch."""
        for site, question, tensor in _find_questions(ctx):
            asked = expression(f"{tensor}.is_cuda")
            yield from site.replace({question: asked}, f"Ask whether `{tensor}` is on a GPU", Safety.LIKELY)


def _find_questions(ctx: Context) -> Iterator[Found]:
    """Yield the questions whether there is a GPU that chose the branches in which the failing calls are."""
    for number in reversed(range(len(ctx.failure.frames))):
        site = ctx.site_of(number) if ctx.failure.frames[number].place.owned else None
        call = site.call() if site is not None else None
        if site is not None and call is not None and (tensor := _first_tensor(site, call)):
            yield from ((site, question, tensor) for question in _questions(site))


def _questions(site: Site) -> Iterator[cst.BaseExpression]:
    """Yield what asks for a GPU in the tests that hold at a site and have another branch, innermost first."""
    file, child = site.file, site.node
    for around in file.ancestors(site.node):
        if isinstance(around, cst.If | cst.IfExp) and child is around.body and around.orelse is not None:
            for node in (*file.within(around.test, cst.Call), *file.within(around.test, cst.Name)):
                if _asks(file, node) and not isinstance(file.parent(node), cst.UnaryOperation):
                    yield node
        if isinstance(around, cst.FunctionDef):
            return
        child = around


def _asks(file: File, node: cst.BaseExpression) -> bool:
    """Return whether an expression is whether there is a GPU: the call, or a constant of the file that holds it."""
    if isinstance(node, cst.Name):
        given = assigned_values(file, node.value)
        node = given[0] if len(given) == 1 else node
    return isinstance(node, cst.Call) and file.qualified_name(node.func) == AVAILABLE


def _first_tensor(site: Site, call: cst.Call) -> str:
    """Return the first argument of a call that is a tensor on the host, by its name; "" if none is."""
    known = {each.expression for each in on_device(site.scope, "cpu", "tensor")}
    return next((text for each in call.args if (text := site.file.code(each.value)) in known), "")
