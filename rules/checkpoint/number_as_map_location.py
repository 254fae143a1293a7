"""`map_location` is given a number, which torch takes for a function."""

import re

from devfix.sdk import CallRule, CallSite, Changes, Context, Safety, expression, gpu_of_number


class NumberAsMapLocation(CallRule):
    """Names the GPU of that number, or the device in use if there is a name for it."""

    failure_kind, pattern = "deserialize", re.compile("object is not callable")  # torch tried to call what it was given
    message = "{failed_at} gives `map_location` a number, which names no device there."

    def fix(self, ctx: Context, site: CallSite) -> Changes:
        """Replace the number; where the program runs without a GPU too, so does what replaces it."""
        given = site.argument("map_location", 1)
        if given is None:
            return
        asks = any("is_available" in file.text for file in ctx.files())
        numbered = gpu_of_number(site.file, site.node, site.file.code(given.value), asks=asks)
        for text in [*site.device_names(), numbered]:
            yield from site.replace({given.value: expression(text)}, f"Load onto `{text}`", Safety.LIKELY)
