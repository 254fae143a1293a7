"""Memory is pinned for tensors that are already on a GPU."""

from collections.abc import Iterator

from devfix.sdk import Change, Context, FailureRule, Finding, remove_keyword


class PinnedDeviceTensor(FailureRule):
    """Removes the pinning, of the tensor or in the loader."""

    failure_kind, needs_location = "pin-memory", False
    message = "Only the host's memory can be pinned, and the tensor is on {device}."

    def diagnose(self, ctx: Context) -> Finding | None:
        """Report the pinning: the tensors are on the intended device."""
        operands = ctx.failure.operands
        return super().diagnose(ctx) if operands and operands[0].device != "cpu" else None

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Remove the method call, else the option of the loaders."""
        site = ctx.failing_call("pin_memory")
        if site is not None and site.receiver is not None:
            yield from site.change_to(site.receiver, f"Do not pin `{site.file.code(site.receiver)}`")
            return
        for each in ctx.calls():
            if each.name.endswith("Loader") and each.argument("pin_memory"):
                title = f"Let `{each.file.code(each.node.func)}` pin nothing"
                yield from each.change_to(remove_keyword(each.node, "pin_memory"), title)
