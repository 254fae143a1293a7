"""`map_location` is given a number, which torch takes for a function."""

import re
from collections.abc import Iterator

import libcst as cst

from devfix.sdk import CallRule, CallSite, Changes, Context, Safety, expression, imported_name


class NumberAsMapLocation(CallRule):
    """Names the GPU of that number, or the device in use if there is a name for it."""

    failure_kind, pattern = "deserialize", re.compile("object is not callable")  # torch tried to call what it was given
    message = "{failed_at} gives `map_location` a number, which names no device there."

    def fix(self, ctx: Context, site: CallSite) -> Changes:
        """Replace the number; where the program runs without a GPU too, so does what replaces it."""
        given = site.argument("map_location", 1)
        if given is None:
            return
        for text in [*site.device_names(), *_gpu(ctx, site, given.value)]:
            yield from site.replace({given.value: expression(text)}, f"Load onto `{text}`", Safety.LIKELY)


def _gpu(ctx: Context, site: CallSite, number: cst.BaseExpression) -> Iterator[str]:
    """Yield the GPU of a number; the host if there is none, where the program asks whether there is one."""
    text = site.file.code(number)
    named = f'"cuda:{text}"' if isinstance(number, cst.Integer) else f'f"cuda:{{{text}}}"'
    available = imported_name(site.file, "torch.cuda.is_available")
    asks = any("is_available" in file.text for file in ctx.files())
    yield f'{named} if {available}() else "cpu"' if asks and available else named
