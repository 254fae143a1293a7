"""A tensor is sent by a name that says another GPU than the one where it is used."""

from collections.abc import Iterator, Sequence

import libcst as cst

from devfix.sdk import (
    Change,
    Confidence,
    Context,
    DeviceSource,
    DeviceSourceRule,
    SourceLocation,
    is_loop_variable,
    literal_device,
    with_safety,
)


class SentElsewhere(DeviceSourceRule):
    """Sends it to where its peer is, by a name for that device at the same place."""

    confidence, only_on, only_between_gpus = Confidence.REMOTE, "cuda:", True

    def matches(self, ctx: Context, place: SourceLocation) -> bool:
        """Ask that it was moved, not made there."""
        return bool(ctx.operand.transfers)

    def rename(self, ctx: Context, found: Sequence[DeviceSource]) -> Iterator[Change]:
        """Rename it at the move itself, which must not spell a device out."""
        last = found[-1:]
        if last[0].named is not None and not literal_device(last[0].file, last[0].named) and not _varies(last[0]):
            yield from with_safety(ctx.rename_device(last), "likely")


def _varies(found: DeviceSource) -> bool:
    """Whether a loop hands the device out, so that each turn sends to another one: `part.to(device)`."""
    names = found.file.within(found.named) if found.named is not None else ()
    return any(isinstance(each, cst.Name) and is_loop_variable(found.file, found.call, each.value) for each in names)
