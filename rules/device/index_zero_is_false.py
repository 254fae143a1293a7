"""The index of a GPU is tested for truth, so that GPU 0 counts as none."""

import re

import libcst as cst

from devfix.sdk import (
    Changes,
    Confidence,
    Context,
    File,
    Safety,
    SourceRule,
    assigned_values,
    expression,
    last_name,
    rewrite,
)

NUMBER = re.compile(r"(^|[._])(gpu|cuda|device|dev|rank)(_?(id|index|idx|number|no))?$")
SWITCHES = (cst.Comparison, cst.BooleanOperation, cst.UnaryOperation)


class IndexZeroIsFalse(SourceRule):
    """Tests for None."""

    confidence = Confidence.NEARBY
    message = "{name} was left on {device}, and meets a tensor on {peer}."

    def find(self, ctx: Context, file: File) -> Changes:
        """Yield the tests of names that the branch uses as a GPU index (`.cuda(gpu)`), which flags are not."""
        for node in file.within(file.module):
            test = node.test if isinstance(node, cst.If | cst.IfExp) else None
            negated = isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not)
            tested = test.expression if isinstance(test, cst.UnaryOperation) and negated else test
            text = file.code(tested) if isinstance(tested, cst.Name | cst.Attribute) else ""
            if test is None or not NUMBER.search(text) or len(file.find(node, text)) < 2 or _is_switch(file, text):
                continue
            better = f"{text} is None" if negated else f"{text} is not None"
            reason = f"`{text}` is the number of a GPU, and that of the first is 0, which is false."
            yield from rewrite(file, {test: expression(better)}, f"Test `{better}`", Safety.LIKELY, reason)


def _is_switch(file: File, name: str) -> bool:
    """Return whether a name is assigned a truth value: `cuda = torch.cuda.is_available()`."""
    return any(
        isinstance(value, SWITCHES)
        or (isinstance(value, cst.Name) and value.value in ("True", "False"))
        or (isinstance(value, cst.Call) and last_name(value.func).startswith(("is_", "has_")))
        for value in assigned_values(file, name)
    )
