"""Packing a padded batch needs its lengths on the host, and they were moved with the batch."""

from collections.abc import Iterator

from devfix.sdk import Change, Context, Failure, FailureRule, move_to


class LengthsOnDevice(FailureRule):
    """Copies the lengths to the host where they are passed to the packing function."""

    failure_kind, device, needs_location = "lengths-device", "cpu", False
    message = "The lengths of a padded batch are read on the host when it is packed, and these are on a GPU."

    def find_operand(self, failure: Failure) -> int:
        """Return the argument of that name."""
        return next((index for index, each in enumerate(failure.operands) if each.argument == "lengths"), 0)

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Copy the argument; if a function around the packing was called, copy its argument."""
        site = ctx.failing_call("pack_padded_sequence")
        given = site.argument("lengths", 1) if site is not None else None
        if site is None or given is None:
            return ctx.copy_to_host()
        title = f"Copy `{site.file.code(given.value)}` to the host for packing"
        return site.replace({given.value: move_to(given.value, '"cpu"')}, title)
