"""A literal device, "cuda:0" or `.cuda(0)`, is not the device of the data."""

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from devfix.sdk import (
    Changes,
    Context,
    DeviceSource,
    DeviceSourceRule,
    Failure,
    File,
    Finding,
    Operand,
    code,
    device_choices,
    expression,
    find_followed,
    imported_name,
    literal_device,
    named_device,
    parameters,
    rewrite,
)

CUDA_OR_NONE = ("cuda", "")


class HardCodedCuda(DeviceSourceRule):
    """Names the device of the data in place of the literal one; lets a choice between CUDA and the CPU know more."""

    only_on = "cuda"

    def diagnose(self, ctx: Context) -> Finding | None:
        """Return the finding for a literal device, else for a choice that leaves another accelerator out."""
        return super().diagnose(ctx) or next(_report_alone(ctx), None) or next(_report_choices(ctx), None)

    def propose(self, ctx: Context) -> Changes:
        """Yield changes of the choice where one was blamed, else of the literal device."""
        if ctx.accelerator in CUDA_OR_NONE:
            yield from super().propose(ctx)
            followed = _follow(ctx)
            if followed is not ctx and (found := followed.device_sources()):
                yield from self.rename(followed, found)
            return
        for file, node in _choices(ctx):
            literal = code(node.body.args[0].value) if isinstance(node.body, cst.Call) else code(node.body)
            for choice in device_choices(file, ctx.sources, ctx.other_accelerators, literal):
                torch = imported_name(file, "torch.device") if isinstance(node.body, cst.Call) else ""
                text = f"{torch}({choice.text})" if torch else choice.text
                changed = File(file.path, file.replace({node: expression(text)}).bytes)
                yield from rewrite(file, choice.add_import(changed), "Let the choice of the device know other GPUs")

    def rename(self, ctx: Context, found: Sequence[DeviceSource]) -> Changes:
        """Leave devices that a caller could pass on, and "cuda" without an index between two GPUs, to other rules."""
        spelt = "" if found[0].parameter else _spell(found[0])
        if spelt.startswith("cuda:") or (spelt == "cuda" and ctx.target_device == "cpu"):
            yield from ctx.rename_device(found, f"The device {spelt} is written into the code.")


def _spell(found: DeviceSource) -> str:
    direct = named_device(found.file, found.call)
    return direct if direct or found.named is None else literal_device(found.file, found.named)


def _report_alone(ctx: Context) -> Iterator[Finding]:
    """Yield a finding for what a function put on a GPU that had only tensors of the host, as its callers have.

    It is the operand, or the tensor that the operand was created like.
    """
    for index, operand in enumerate(ctx.failure.operands):
        each = _follow(ctx.view(index))
        site = each.site_at(next((place for place in each.placement_locations() if place.owned), None))
        if not operand.device.startswith("cuda") or operand.owner is not None or site is None or site.function is None:
            continue
        given = [var for var in site.scope if var.kind == "tensor" and var.expression in parameters(site.function)]
        if given and all(var.device == "cpu" for var in given) and _is_alone(ctx.failure, operand, each.operand):
            said = f"{each.name} was put on {operand.device} in {site.place.shown}, where all else is on the host."
            yield each.report(said)


def _follow(ctx: Context) -> Context:
    """Return the context with the tensor in view that the operand was created like; itself if there is none."""
    places = ctx.operand.creation_places if not ctx.operand.transfers else ()
    followed = find_followed(ctx.failure, places, ctx.sources)
    return ctx if followed is None else ctx.follow(followed)


def _is_alone(failure: Failure, *operands: Operand) -> bool:
    """Return whether nothing that the running functions of the program know is on a GPU, but some operands."""
    known = {(name.frame, name.expression) for each in operands for name in (*each.names, *each.sources)}
    return all(
        each.may_be_on("cpu") or (number, each.expression) in known
        for number, frame in enumerate(failure.frames)
        for each in frame.scope
        if frame.place.owned and each.kind in ("tensor", "module", "device", "object")
    )


def _report_choices(ctx: Context) -> Iterator[Finding]:
    """Yield a finding for each operand that is on the CPU since the choice of its device knows CUDA alone."""
    for each in ctx.suspects() if ctx.accelerator not in CUDA_OR_NONE else ():
        for file, node in _choices(each) if each.operand.device == "cpu" else ():
            said = f"`{code(node)}` in {file.path} chooses the CPU on a machine with {ctx.accelerator}"
            yield each.report(f"{each.name} is on the CPU: {said}.")


def _choices(ctx: Context) -> Iterator[tuple[File, cst.IfExp]]:
    """Yield the choices between CUDA and the CPU that decided where the operand in view was put."""
    placing = list(_placing_code(ctx))
    for file in ctx.sources.containing("cuda.is_available"):
        for node in file.within(file.module, cst.IfExp):
            if _knows_cuda_alone(file, node):
                words = [re.escape(name) for name in _names(file, node)] or [re.escape(code(node))]
                pattern = re.compile(rf"(?<!\w)({'|'.join(words)})(?!\w)")
                if any(pattern.search(text) for text in placing):
                    yield file, node


def _knows_cuda_alone(file: File, node: cst.IfExp) -> bool:
    asks = isinstance(node.test, cst.Call) and file.qualified_name(node.test.func) == "torch.cuda.is_available"
    return asks and literal_device(file, node.body).startswith("cuda") and literal_device(file, node.orelse) == "cpu"


def _names(file: File, node: cst.IfExp) -> Iterator[str]:
    """Yield the last names of what a choice is assigned to."""
    for each in file.ancestors(node):
        if isinstance(each, cst.Assign):
            yield from (code(target.target).rpartition(".")[2] for target in each.targets)
        elif isinstance(each, cst.BaseStatement):
            return


def _placing_code(ctx: Context) -> Iterator[str]:
    """Yield the statements that created the operand or moved it, and those of their callers."""
    events = [*filter(None, [ctx.creation]), *ctx.operand.transfers]
    for place in (place for event in events for place in event.places if place.owned):
        site = ctx.site_at(place)
        if site is not None and site.statement is not None:
            yield code(site.statement)
