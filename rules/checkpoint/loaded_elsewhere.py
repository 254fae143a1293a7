"""A loaded tensor is where `map_location` says, or where it was saved, and its peer is elsewhere."""

from collections.abc import Iterator

from devfix.sdk import Change, Context, OperandRule


class LoadedElsewhere(OperandRule):
    """Loads it onto the device of its peer."""

    blames_intentional = True
    message = "{name} was loaded onto {device} in {made_at}, and meets a tensor on {peer}."

    def matches(self, ctx: Context) -> bool:
        """Require that owned code loaded the operand, and that it was never moved since."""
        is_loaded = ctx.creation is not None and ctx.creation.kind == "load" and ctx.created_at is not None
        return is_loaded and not ctx.operand.transfers and ctx.operand.owner is None

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Change the device of the call, or add one."""
        site = ctx.call_at(ctx.created_at)
        if site is not None and site.name in ("load", "load_file"):
            keyword = "device" if site.name == "load_file" else "map_location"
            for device in site.device_expressions():
                yield from site.set_argument(site.argument(keyword, 1), keyword, device, f"Load onto `{device}`")
