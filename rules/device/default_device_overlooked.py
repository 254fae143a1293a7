"""A class takes the CPU for its device, by name or from a legacy constructor, where the program has another default."""

import libcst as cst

from devfix.sdk import (
    Changes,
    Confidence,
    Context,
    Definition,
    File,
    OperandRule,
    Safety,
    assigned_targets,
    code,
    expression,
    match,
    rewrite,
)

LEGACY = ("Tensor", "FloatTensor", "DoubleTensor", "HalfTensor", "LongTensor", "IntTensor", "BoolTensor")
CPU = ('torch.device("cpu")', *(f"$_.{name}().device" for name in LEGACY))
# Where the CPU is taken, and the expression of the attribute that keeps it.
Found = tuple[File, cst.CSTNode, str]


class DefaultDeviceOverlooked(OperandRule):
    """Asks PyTorch for the default device."""

    confidence = Confidence.REMOTE

    def explain(self, ctx: Context) -> str:
        """Report a tensor on the CPU whose device is what an object took for its own when it was created."""
        for file, node, attribute in _find_cpu(ctx) if ctx.operand.device == "cpu" else ():
            place = f"{file.path}:{file.line_of(node)}"
            return f"`{attribute}` is the CPU whatever the default device is, by `{code(node)}` ({place})."
        return ""

    def propose(self, ctx: Context) -> Changes:
        """Put the default device in place of the CPU; a run decides whether the program has another one."""
        for file, node, _ in _find_cpu(ctx):
            torch = code(node).partition(".")[0]
            asked = expression(f"{torch}.get_default_device()")
            yield from rewrite(file, {node: asked}, "Begin with the default device", Safety.LIKELY)


def _find_cpu(ctx: Context) -> list[Found]:
    """Return where the classes of objects that chose the operand's device, or are in scope, take the CPU for theirs."""
    found: list[Found] = []
    for definition in _classes(ctx):
        node = definition.node
        for each in definition.file.within(node) if isinstance(node, cst.ClassDef) else ():
            if isinstance(each, cst.Assign | cst.AnnAssign) and each.value is not None:
                target = assigned_targets(each)[0]
                named = [part for part in definition.file.within(each.value) if match(part, *CPU)]
                if named and code(target).startswith("self."):
                    found.append((definition.file, named[0], code(target)))
    return found


def _classes(ctx: Context) -> list[Definition]:
    """Return classes with their bases: of the method that named the operand's device, then of objects in scope."""
    first: list[Definition] = []
    for source in ctx.device_sources():
        holder = source.file.class_of(source.call)
        if holder is not None and source.named is not None and code(source.named).startswith("self."):
            first.append(Definition(source.file, holder))
    for frame in reversed(ctx.failure.frames):
        for variable in frame.scope:
            if variable.kind in ("module", "object", "instance") and variable.type:
                classes = ctx.repository.classes(variable.type)
                first += classes if len(classes) == 1 else []
    every = [each for one in first for each in ctx.repository.mro(one) if isinstance(each, Definition)]
    return list({(each.file.path, each.name): each for each in every}.values())
