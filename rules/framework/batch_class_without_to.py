"""A batch is an object of a class that the framework cannot move, since it has no `to`."""

import libcst as cst

from devfix.sdk import Changes, Context, EvidenceRule, File, ScopeVariable, add_method, classes_called, is_of, rewrite

# Each of them calls `to` on the batches of a loader, if they have that method.
MOVERS = ("lightning.LightningModule", "pytorch_lightning.LightningModule", "accelerate.Accelerator")


class BatchClassWithoutTo(EvidenceRule[tuple[ScopeVariable, list[str]]]):
    """Adds a `to` method that moves the tensors of the objects."""

    needs_object = MOVERS

    def search(self, ctx: Context) -> tuple[ScopeVariable, list[str]] | None:
        """Return the object that holds the operand in the deepest frame, and its tensors on the host."""
        for held in sorted(ctx.operand.names, key=lambda each: -each.frame) if ctx.operand.device == "cpu" else ():
            whole, scope = held.expression.partition("[")[0].rpartition(".")[0], ctx.failure.frames[held.frame].scope
            objects = (each for each in scope if each.expression == whole and each.kind in ("object", "instance"))
            batch = next(objects, None)
            if batch is None or "." in whole or is_of(batch, *MOVERS):
                continue
            # A method of a LightningModule receives batches that the trainer has moved.
            is_hook = any(each.expression == "self" for each in ctx.objects(*MOVERS[:2], frame=held.frame))
            if is_hook or ctx.is_loop_item:
                tensors = [each for each in scope if each.kind == "tensor" and each.device == ctx.operand.device]
                names = [each.expression.rpartition(".") for each in tensors]
                if fields := [name for owner, _, name in names if owner == whole and name.isidentifier()]:
                    return batch, fields
        return None

    def describe(self, ctx: Context, found: tuple[ScopeVariable, list[str]]) -> str:
        """Report a tensor of an object that a loader yielded, in a program whose framework moves its batches."""
        batch, (field, *_) = found
        return (
            f"`{batch.expression}` is a {batch.type}, which has no `to` by which the framework could move it:"
            f" `{batch.expression}.{field}` is on {ctx.operand.device} while it meets a tensor on {ctx.peer.device}."
        )

    def fix(self, ctx: Context, found: tuple[ScopeVariable, list[str]]) -> Changes:
        """Add the method."""
        batch, fields = found
        for file in ctx.files():
            for node in classes_called(file, batch.type):
                title = f"Give `{batch.type}` a `to`, by which batches are moved"
                yield from rewrite(file, _with_to(file, node, fields), title)


def _with_to(file: File, node: cst.ClassDef, fields: list[str]) -> cst.Module | None:
    """Return the module with the method at the end of a class; None if it has one, or is on one line."""
    if any(isinstance(each, cst.FunctionDef) and each.name.value == "to" for each in node.body.body):
        return None
    moves = [f"    self.{each} = self.{each}.to(device)" for each in fields]
    return add_method(file, node, ["def to(self, device):", *moves, "    return self"])
