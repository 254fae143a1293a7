"""The number of a GPU is tested for truth, so that GPU 0 counts as none."""

import re
from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    File,
    Finding,
    Sources,
    assignments,
    change,
    describe,
    expression,
    files_of,
    last_name,
    misplaced_operands,
)

NUMBER = re.compile(r"(^|[._])(gpu|cuda|device|dev|rank)(_?(id|index|idx|number|no))?$")


def diagnose(failure: Failure) -> Finding | None:
    """Report what was left where it is; whether a test for truth is why can only be read."""
    for index, operand, peer in misplaced_operands(failure):
        reason = f"{describe(operand)} was left on {operand.device}, and meets a tensor on {peer.device}."
        return Finding(index, reason, strength=2)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Test for None."""
    for file in files_of(diagnosis.failure, source):
        for node in file.within(file.module):
            test = node.test if isinstance(node, cst.If | cst.IfExp) else None
            negated = isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not)
            tested = test.expression if isinstance(test, cst.UnaryOperation) and negated else test
            text = file.code(tested) if isinstance(tested, cst.Name | cst.Attribute) else ""
            # A number is used as one in a branch: `.cuda(gpu)`; a switch such as `use_gpu` is not.
            if test is None or not NUMBER.search(text) or len(file.find(node, text)) < 2 or _is_switch(file, text):
                continue
            better = f"{text} is None" if negated else f"{text} is not None"
            module = file.replaced({test: expression(better)})
            reason = f"`{text}` is the number of a GPU, and that of the first is 0, which is false."
            made = change(file, module, f"Test `{better}`", "likely", reason)
            if made:
                yield made


def _is_switch(file: File, name: str) -> bool:
    """Whether a name is given what is true or false: `cuda = torch.cuda.is_available()`."""
    switches = (cst.Comparison, cst.BooleanOperation, cst.UnaryOperation)
    values = [each.value for each in assignments(file, name)]
    return any(
        isinstance(value, switches)
        or (isinstance(value, cst.Name) and value.value in ("True", "False"))
        or (isinstance(value, cst.Call) and last_name(value.func).startswith(("is_", "has_")))
        for value in values
    )
