"""A batch is an object of a class that the framework cannot move, for it has no `to`."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    File,
    Finding,
    Operand,
    ScopeVariable,
    Sources,
    blamed_operand,
    change,
    classes_called,
    files_of,
    is_intentional,
    is_of,
    loop_event,
    misplaced_operands,
    objects_of,
)

# Each of them calls `to` on what a loader hands out, where that has one.
MOVERS = ("lightning.LightningModule", "pytorch_lightning.LightningModule", "accelerate.Accelerator")


def diagnose(failure: Failure) -> Finding | None:
    """Report a tensor of an object that a loader handed out, in a program whose framework moves its batches."""
    if not objects_of(failure, *MOVERS):
        return None
    for index, operand, peer in misplaced_operands(failure):
        found = _batch(failure, operand)
        if found is None or operand.device != "cpu" or is_intentional(failure, operand):
            continue
        batch, fields = found
        reason = (
            f"`{batch.expression}` is a {batch.type}, which has no `to` by which the framework could move it:"
            f" `{batch.expression}.{fields[0]}` is on {operand.device} while it meets a tensor on {peer.device}."
        )
        return Finding(index, reason, strength=1)
    return None


def _batch(failure: Failure, operand: Operand) -> tuple[ScopeVariable, list[str]] | None:
    """The object that holds the operand in the deepest frame, and its tensors that lie where the operand does."""
    for held in sorted(operand.names, key=lambda each: -each.frame):
        whole, dot, _ = held.expression.partition("[")[0].rpartition(".")
        frame = failure.frames[held.frame]
        batch = next((each for each in frame.scope if each.expression == whole), None)
        if not dot or "." in whole or batch is None or batch.kind not in ("object", "instance"):
            continue
        if is_of(batch, *MOVERS) or not (_is_hook(failure, held.frame) or loop_event(failure, operand) is not None):
            continue
        tensors = [each for each in frame.scope if each.kind == "tensor" and each.device == operand.device]
        fields = [each.expression.removeprefix(f"{whole}.") for each in tensors if _is_field(each.expression, whole)]
        if fields:
            return batch, fields
    return None


def _is_field(text: str, whole: str) -> bool:
    return text.startswith(f"{whole}.") and text.removeprefix(f"{whole}.").isidentifier()


def _is_hook(failure: Failure, frame: int) -> bool:
    """Whether a frame runs a method of a LightningModule, which gets batches that the trainer has moved."""
    return any(each.expression == "self" for each in objects_of(failure, *MOVERS[:2], frame=frame))


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Give the class a `to` that moves what its objects hold."""
    found = _batch(diagnosis.failure, blamed_operand(diagnosis))
    if found is None:
        return
    batch, fields = found
    for file in files_of(diagnosis.failure, source):
        for node in classes_called(file, batch.type):
            made = change(file, _with_to(file, node, fields), f"Give `{batch.type}` a `to`, by which batches are moved")
            if made:
                yield made


def _with_to(file: File, node: cst.ClassDef, fields: list[str]) -> cst.Module | None:
    """The module with the method at the end of a class; None where it has one, or is written on one line."""
    body = node.body
    if not isinstance(body, cst.IndentedBlock):
        return None
    if any(isinstance(each, cst.FunctionDef) and each.name.value == "to" for each in body.body):
        return None
    lines = ["def to(self, device):", *(f"    self.{each} = self.{each}.to(device)" for each in fields)]
    method = cst.parse_statement("\n".join([*lines, "    return self"]))
    assert isinstance(method, cst.FunctionDef)
    method = method.with_changes(leading_lines=[cst.EmptyLine(indent=False)])
    return file.replaced({body: body.with_changes(body=[*body.body, method])})
