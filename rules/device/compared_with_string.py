"""A device is compared with a string that it never equals, so that a branch is never taken, or always."""

import re
from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Blame,
    Change,
    Diagnosis,
    Failure,
    File,
    Sources,
    argument,
    change,
    code,
    describe,
    expression,
    files_of,
    imported_name,
    last_name,
    scope_of,
    strangers,
)

PLAIN = re.compile(r"[\"'](cuda|cpu|mps|xpu|meta)[\"']")
INDEXED = re.compile(r"[\"'](cuda|mps|xpu):\d+[\"']")
NAMED = re.compile(r"(^|[._])(device|dev)$")


def diagnose(failure: Failure) -> Blame | None:
    """Blame what was left where it is; whether a comparison is why can only be read."""
    for index, operand, peer in strangers(failure):
        because = f"{describe(operand)} was left on {operand.device}, and meets a tensor on {peer.device}."
        return Blame(index, because, strength=1)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Compare the type of the device, or a device with a device."""
    for file in files_of(diagnosis.failure, source):
        for node in file.within(file.module):
            if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
                continue
            better = _better(diagnosis.failure, file, node)
            if better is not None:
                because = f"`{file.code(node)}` compares a device with what it never equals."
                module = file.replaced({node: better})
                made = change(file, module, f"Compare by `{code(better)}`", because=because)
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
