"""A checkpoint is loaded onto the device that it was saved from, which does not exist."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import CallRule, CallSite, Changes, Context, Safety, argument, calls, last_name, reads_of

LOADERS = ("torch.load", "torch.jit.load", "torch.hub.load_state_dict_from_url")
HOST = '"cpu"'


class LoadWithoutMapLocation(CallRule):
    """Adds `map_location`: the host for a module's state, else the device that is in use."""

    failure_kind, device = "deserialize", "cpu"
    message = "A checkpoint is loaded onto the device it was saved from, unless the call says where to."

    def fix(self, ctx: Context, site: CallSite) -> Changes:
        """Name the device; a module's state may stay on the host, since modules copy it to their device."""
        if site.argument("map_location", 1) is not None:
            return
        named, is_state = site.device_names(), _is_state(site)
        passed = [text for text in named if text.endswith("map_location")]
        texts = [*passed, *_habits(site), HOST, *named] if is_state else [*passed, *named, HOST]
        for number, text in enumerate(dict.fromkeys(texts)):
            is_sure = site.qualified_name in LOADERS and (is_state or not number)
            yield from site.add_keyword(
                "map_location", text, f"Load onto `{text}`", Safety.SAFE if is_sure else Safety.UNSURE
            )


def _habits(site: CallSite) -> Iterator[str]:
    """Yield the literal devices onto which the file loads in other calls."""
    for other in calls(site.file, *LOADERS):
        given = argument(other, "map_location", 1)
        if other is not site.node and given is not None and isinstance(given.value, cst.SimpleString):
            yield site.file.code(given.value)


def _is_state(site: CallSite) -> bool:
    """Return whether the loaded object is only used in `load_state_dict`."""
    reads = list(reads_of(site.file, site.node))
    around = ([each for each in site.file.ancestors(node) if isinstance(each, cst.Call)] for node in reads)
    return bool(reads) and all(any(last_name(each.func) == "load_state_dict" for each in outer) for outer in around)
