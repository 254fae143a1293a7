"""NumPy, or a library on top of it, is handed a tensor that lies on a GPU."""

from collections.abc import Iterator

from devfix.sdk import Change, Context, FailureRule, Finding, move_to


class NumpyOnDevice(FailureRule):
    """Copies it to the host in front of `.numpy()`, or where it is handed over."""

    failure_kind, device, needs_location = "numpy-on-device", "cpu", False
    message = "{name} is on {device}, and NumPy reads the host's memory alone."

    def diagnose(self, ctx: Context) -> Finding | None:
        """Report the tensor that NumPy wanted; the code that asked for it is never wrong about that."""
        return super().diagnose(ctx) if ctx.failure.operands else None

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Copy what the method is called on; else what is handed to the library."""
        site = ctx.failing_call("numpy", "__array__")
        if site is None or site.receiver is None:
            return ctx.copy_to_host()
        title = f"Copy `{site.file.code(site.receiver)}` to the host for NumPy"
        return site.replace({site.receiver: move_to(site.receiver, '"cpu"')}, title)
