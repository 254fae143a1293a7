"""A tensor is moved to another GPU than the one on which it is used."""

from collections.abc import Sequence

import libcst as cst

from devfix.sdk import (
    Changes,
    Confidence,
    Context,
    DeviceSource,
    DeviceSourceRule,
    Safety,
    SourceLocation,
    is_loop_variable,
    literal_device,
    with_safety,
)


class SentElsewhere(DeviceSourceRule):
    """Sends it to its peer's device, by a name for that device at the same place."""

    confidence, only_on, only_between_gpus = Confidence.REMOTE, "cuda:", True

    def matches(self, ctx: Context, place: SourceLocation) -> bool:
        """Require that it was moved, not created there."""
        return bool(ctx.operand.transfers)

    def rename(self, ctx: Context, found: Sequence[DeviceSource]) -> Changes:
        """Rename the device in the move itself, which must not contain a literal device."""
        last = found[-1:]
        if last[0].named is not None and not literal_device(last[0].file, last[0].named) and not _varies(last[0]):
            yield from with_safety(ctx.rename_device(last), Safety.LIKELY)


def _varies(found: DeviceSource) -> bool:
    """Return whether the device is a loop variable, so that each iteration sends to another one: `part.to(device)`."""
    names = found.file.within(found.named) if found.named is not None else ()
    return any(isinstance(each, cst.Name) and is_loop_variable(found.file, found.call, each.value) for each in names)
