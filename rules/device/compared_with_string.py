"""A device is compared with a string that it never equals, so that a branch is never taken, or always."""

import re
from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    CodeWarning,
    Diagnosis,
    Failure,
    File,
    Finding,
    Sources,
    argument,
    change,
    code,
    describe,
    expression,
    files_of,
    imported_name,
    last_name,
    misplaced_operands,
    scope_of,
    warning,
)

PLAIN = re.compile(r"[\"'](cuda|cpu|mps|xpu|meta)[\"']")
INDEXED = re.compile(r"[\"'](cuda|mps|xpu):\d+[\"']")
# A device behind a dot: what a bare name holds, only its own function knows.
DOUBTFUL = tuple(f".device {operator} {quote}" for operator in ("==", "!=") for quote in ("'", '"'))
NAMED = re.compile(r"(^|[._])(device|dev)$")


def diagnose(failure: Failure) -> Finding | None:
    """Report what was left where it is; whether a comparison is why can only be read."""
    for index, operand, peer in misplaced_operands(failure):
        reason = f"{describe(operand)} was left on {operand.device}, and meets a tensor on {peer.device}."
        return Finding(index, reason, strength=1)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Compare the type of the device, or a device with a device."""
    for file in files_of(diagnosis.failure, source):
        for node in file.within(file.module):
            if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
                continue
            better = _better(diagnosis.failure, file, node)
            if better is not None:
                reason = f"`{file.code(node)}` compares a device with what it never equals."
                module = file.replaced({node: better})
                made = change(file, module, f"Compare by `{code(better)}`", reason=reason)
                if made:
                    yield made


def _better(failure: Failure, file: File, node: cst.Comparison) -> cst.BaseExpression | None:
    target = node.comparisons[0]
    if not isinstance(target.operator, cst.Equal | cst.NotEqual):
        return None
    device, literal = node.left, file.code(target.comparator)
    wrapped = target.comparator
    if isinstance(wrapped, cst.Call) and last_name(wrapped.func) == "device" and len(wrapped.args) == 1:
        literal = file.code(wrapped.args[0].value)
        if not PLAIN.fullmatch(literal):
            return None
        target = target.with_changes(comparator=wrapped.args[0].value)
    if isinstance(device, cst.Call) and last_name(device.func) == "str" and (given := argument(device, "", 0)):
        device = given.value
        if not PLAIN.fullmatch(literal):
            return None  # `str(x.device) == "cuda:0"` is true where it should be
    text = file.code(device)
    seen = {each.kind: each.device for each in scope_of(failure, file, node) if each.expression == text}
    if "string" in seen:
        # A string: "cuda:0" is no "cuda".
        if not PLAIN.fullmatch(literal) or ":" not in seen["string"]:
            return None
        quote = literal[-1]  # the file's own
        return node.with_changes(left=expression(f"{text}.partition({quote}:{quote})[0]"), comparisons=[target])
    if "device" not in seen and not NAMED.search(text):
        return None
    if PLAIN.fullmatch(literal):
        return node.with_changes(left=expression(f"{text}.type"), comparisons=[target])
    made = imported_name(file, "torch.device")
    if INDEXED.fullmatch(literal) and made:
        return node.with_changes(comparisons=[target.with_changes(comparator=expression(f"{made}({literal})"))])
    return None


def doubts(file: File) -> Iterator[CodeWarning]:
    """CodeWarning comparisons of `….device` with a string, which are true of devices that are strings alone."""
    for node in file.within(file.module):
        if not isinstance(node, cst.Comparison) or not isinstance(node.left, cst.Attribute):
            continue
        text, target = file.code(node), node.comparisons[0]
        literal = file.code(target.comparator)
        if last_name(node.left) != "device" or len(node.comparisons) != 1:
            continue
        always = {cst.Equal: "never", cst.NotEqual: "always"}.get(type(target.operator))
        if always and PLAIN.fullmatch(literal):
            better = code(node.with_changes(left=expression(f"{file.code(node.left)}.type")))
            reason = f"`{text}` is {always} true, since a device equals no string; `{better}` may be meant."
            yield warning(file, node.left, reason)
        elif always and INDEXED.fullmatch(literal):
            yield warning(file, node.left, f"`{text}` is {always} true, since a device equals no string.")
