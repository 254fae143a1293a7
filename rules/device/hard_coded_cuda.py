"""A literal device, "cuda:0" or `.cuda(0)`, is not the device of the data."""

from collections.abc import Iterator, Sequence

from devfix.sdk import (
    Change,
    Context,
    DeviceSource,
    DeviceSourceRule,
    literal_device,
    named_device,
)


class HardCodedCuda(DeviceSourceRule):
    """Names the device of the data in place of the literal one."""

    only_on = "cuda"

    def rename(self, ctx: Context, found: Sequence[DeviceSource]) -> Iterator[Change]:
        """Leave devices that a caller could pass on, and "cuda" without an index between two GPUs, to other rules."""
        spelt = "" if found[0].parameter else _spell(found[0])
        if spelt.startswith("cuda:") or (spelt == "cuda" and ctx.target_device == "cpu"):
            yield from ctx.rename_device(found, f"The device {spelt} is written into the code.")


def _spell(found: DeviceSource) -> str:
    direct = named_device(found.file, found.call)
    return direct if direct or found.named is None else literal_device(found.file, found.named)
