"""A tensor is made without a device beside tensors that have one."""

from collections.abc import Iterator

from devfix.sdk import FACTORIES, Change, Confidence, Context, CreationRule, Site, has_device_name


class FactoryWithoutDevice(CreationRule):
    """Gives the factory a device; moves the result of one that takes none."""

    # The place where a tensor is made serves all its uses.
    supersedes = (
        "placement/follows-a-stray",
        "placement/half-moved-expression",
        "placement/host-constant",
        "placement/input-not-moved",
    )
    kinds = ("factory", "constant")
    # A factory in a function that still runs is as plain as evidence gets; one far away may be an input.
    confidence, confidence_far = Confidence.NEARBY, Confidence.REMOTE
    blames_held = True
    message = "{name} was made by `{op}` on {device} in {made_at}, while it meets a tensor on {peer}."

    def explain(self, ctx: Context) -> str:
        """Leave what a module holds to the module, unless its constructor was given the device."""
        reason, place = super().explain(ctx), ctx.created_at
        if not reason or not ctx.is_held or place is None:
            return reason
        is_given = place.function.endswith("__init__") and has_device_name(ctx.failure, place, ctx.peer.device)
        return f"{reason} The constructor that made it has a name for that device." if is_given else ""

    def rate(self, ctx: Context) -> Confidence:
        """What a constructor was given outright is the best evidence."""
        return Confidence.DIRECT if ctx.is_held else super().rate(ctx)

    def fix(self, ctx: Context, site: Site) -> Iterator[Change]:
        """Name the device, for what a module holds only where the constructor has a parameter for it."""
        if not ctx.is_held or site.device_parameter(ctx.target_device):
            yield from site.add_device()
        if not ctx.is_held and site.call(*FACTORIES) is None:
            yield from site.move_result()
