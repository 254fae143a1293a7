"""Autocast is given a device instead of a device type."""

import re

import libcst as cst

from devfix.sdk import CallRule, CallSite, Changes, Context, expression, imported_name, scope_of

INDEX = re.compile(r":\d+(?=[\"'])")


class AutocastDeviceType(CallRule):
    """Passes the device type."""

    failure_kind = "autocast-device"
    message = 'Autocast needs a device type, such as "cuda", and was given a device.'

    def fix(self, ctx: Context, site: CallSite) -> Changes:
        """Remove the index from a string; read `.type` of a device."""
        given = site.argument("device_type", 0)
        if given is None:
            return
        text = site.file.code(given.value)
        kinds = {each.kind for each in scope_of(ctx.failure, site.file, given.value) if each.expression == text}
        if "string" in kinds and not isinstance(given.value, cst.SimpleString):
            better = f"{imported_name(site.file, 'torch.device')}({text}).type" if text.endswith("device") else ""
        elif isinstance(given.value, cst.SimpleString):
            better = INDEX.sub("", text)
        else:
            better = f"{text}.type" if "device" in kinds or text.endswith("device") else ""
        if better:
            yield from site.replace({given.value: expression(better)}, f"Give autocast `{better}`")
