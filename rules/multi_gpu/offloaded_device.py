"""An object declares the device on which it is stored, and the call runs on another one."""

from collections.abc import Sequence

import libcst as cst

from devfix.sdk import Changes, Context, DeviceSource, DeviceSourceRule, SourceLocation, assigned_values


class OffloadedDevice(DeviceSourceRule):
    """Names the device on which the call runs: the one in scope, else that of the data."""

    only_on = "cpu"

    def matches(self, ctx: Context, place: SourceLocation) -> bool:
        """Ask for a device that an object declares: what names none is on the default device for no such reason."""
        found = (each.device_sources() for each in ctx.placement_targets())
        return any(_find_declared(sources[0]) for sources in found if sources)

    def rename(self, ctx: Context, found: Sequence[DeviceSource]) -> Changes:
        """Rename what uses the `.device` of the object itself."""
        declared = _find_declared(found[0])
        if declared and ctx.peer.device != "cpu":
            reason = f"`{declared}` is where the object rests, and the call runs elsewhere."
            yield from ctx.rename_device(found, reason)


def _find_declared(found: DeviceSource) -> str:
    """Return the `.device` of an object that the call uses, directly or by a local name; else ""."""
    named, scope = found.named, found.file.function_of(found.call)
    if isinstance(named, cst.Name):
        values = assigned_values(found.file, named.value, scope) if scope is not None else []
        named = values[0] if len(values) == 1 else None
    is_device = isinstance(named, cst.Attribute) and named.attr.value.lstrip("_") == "device"
    text = found.file.code(named) if is_device and named is not None else ""
    return text if text.startswith("self.") else ""
