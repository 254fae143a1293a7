"""Data in host memory is indexed by a tensor on a GPU."""

import re
from collections.abc import Iterator

import libcst as cst

from devfix.sdk import Changes, Confidence, Context, OperandRule, Safety, Site, call_method

INDEXING = re.compile(r"::_?index(_put(_impl)?_?)?$")
INDEX = re.compile(r"(index|indices)(\[\d+\])?")


class IndexOnDevice(OperandRule):
    """Copies the index to the host, where the data may be on purpose: what others would move is tried before."""

    confidence, reports_intentional = Confidence.GUESS, True
    message = "{name} is on {device}, and selects from data on {peer}, which may stay there."

    def suspects(self, ctx: Context) -> Iterator[Context]:
        """Look at every index, whatever else may be wrong."""
        return (ctx.view(number) for number, _ in enumerate(ctx.failure.operands))

    def matches(self, ctx: Context) -> bool:
        """Return whether the operand is an index on a GPU of data on the host."""
        others = [each for each in ctx.failure.operands if INDEX.fullmatch(each.argument) is None]
        return (
            INDEXING.search(ctx.failure.op) is not None
            and INDEX.fullmatch(ctx.operand.argument) is not None
            and ctx.operand.device != "cpu"
            and bool(others)
            and others[0].device == "cpu"
        )

    def propose(self, ctx: Context) -> Changes:
        """Copy it where the failing statement selects by it, and nowhere else: its other uses may be on the GPU."""
        for site in ctx.sites("use"):
            names = {each.expression for each in ctx.names_in(site.frame)}
            every = [*_find_indices(site)]
            for each in [index for index in every if site.file.code(index) in names] or every[:1]:
                title = f"Copy `{site.file.code(each)}` to the host, where it selects"
                yield from site.replace({each: call_method(each, "cpu")}, title, Safety.UNSURE)


def _find_indices(site: Site) -> Iterator[cst.BaseExpression]:
    """Yield the indices of the failing expression: `best` of `rows[best]`."""
    for node in site.file.within(site.node, cst.Subscript):
        for element in node.slice:
            if isinstance(element.slice, cst.Index) and not isinstance(element.slice.value, cst.Integer):
                yield element.slice.value
