"""A model is wrapped in DataParallel and was never moved, so its parameters are on the host when it is called."""

import re
from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Changes,
    Context,
    File,
    Finding,
    Rule,
    argument,
    assigned_values,
    calls,
    imported_name,
    move_to,
    rewrite,
)

# The message of DataParallel: the first of its GPUs, and where it found a parameter.
ASKED = re.compile(
    r"parameters and buffers on device (cuda:\d+) \(device_ids\[0\]\) but found one of them on device: cpu"
)
WRAPPERS = ("torch.nn.DataParallel", "torch.nn.parallel.DataParallel")


class ParallelOnHost(Rule):
    """Moves the model where it is created or wrapped: to a device in scope, else to the first GPU."""

    def diagnose(self, ctx: Context) -> Finding | None:
        """Report a parameter on the host that DataParallel expected on its first GPU."""
        asked = ASKED.search(ctx.failure.message) if ctx.failure.kind == "data-parallel" else None
        for index, operand in enumerate(ctx.failure.operands if asked is not None else ()):
            if asked is not None and operand.device == "cpu" and operand.owner is not None and not operand.transfers:
                reason = (
                    f"`{operand.owner.root}` is on the host: DataParallel copies it from {asked[1]} to the other GPUs,"
                    " and moves inputs alone."
                )
                return ctx.view(index).report(reason, device=asked[1])
        return None

    def propose(self, ctx: Context) -> Changes:
        """Search all files for the wrapping call, and for the wrapped model above it."""
        for file in ctx.files():
            for call in calls(file, *WRAPPERS):
                for node in (*_find_construction(file, call), call):
                    where = "wrapped" if node is call else "created"
                    for device in _devices(ctx, file, node):
                        title = f"Move the model to `{device}` where it is {where}"
                        yield from rewrite(file, {node: move_to(node, device)}, title)


def _find_construction(file: File, wrapping: cst.Call) -> Iterator[cst.Call]:
    """Yield the call that creates the wrapped model, if a variable of the same function holds it."""
    module, wrapped = argument(wrapping, "module", 0), file.code(wrapping)
    if module is not None and isinstance(module.value, cst.Name):
        given = assigned_values(file, module.value.value, file.function_of(wrapping))
        values = [each for each in given if not file.find(each, wrapped)]
        if len(values) == 1 and isinstance(values[0], cst.Call):
            yield values[0]


def _devices(ctx: Context, file: File, call: cst.Call) -> list[str]:
    """Return the names of the device that do not belong to the model; else the GPU that DataParallel expected."""
    site, owner, torch = ctx.call_of(file, call), ctx.operand.owner, imported_name(file, "torch")
    own = f"{owner.root.partition('.')[0]}." if owner is not None else ""
    found = [each for each in site.device_expressions() if not each.startswith(own)] if site is not None else []
    first = f'"{ctx.target_device}" if {torch}.cuda.is_available() else "cpu"'
    return found or ([first] if torch else [])
