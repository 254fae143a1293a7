"""A tensor on a GPU is passed to NumPy, or to a library that uses it."""

from collections.abc import Iterator

from devfix.sdk import Change, Context, FailureRule, Finding, move_to


class NumpyOnDevice(FailureRule):
    """Copies it to the host before `.numpy()`, or where it is passed on."""

    failure_kind, device, needs_location = "numpy-on-device", "cpu", False
    message = "{name} is on {device}, and NumPy only reads the host's memory."

    def diagnose(self, ctx: Context) -> Finding | None:
        """Report the tensor that NumPy reads; the code that requested it is never wrong about that."""
        return super().diagnose(ctx) if ctx.failure.operands else None

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Copy the object of the method, else the argument of the library."""
        site = ctx.failing_call("numpy", "__array__")
        if site is None or site.receiver is None:
            return ctx.copy_to_host()
        title = f"Copy `{site.file.code(site.receiver)}` to the host for NumPy"
        return site.replace({site.receiver: move_to(site.receiver, '"cpu"')}, title)
