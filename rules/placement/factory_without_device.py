"""A tensor is created without a device, and used with tensors that have one."""

from collections.abc import Iterator

from devfix.sdk import FACTORIES, Change, Confidence, Context, CreationRule, Site, has_device_name


class FactoryWithoutDevice(CreationRule):
    """Passes a device to the factory, or moves the result of one that takes none."""

    # A fix where a tensor is created covers all its uses.
    supersedes = (
        "placement/follows-a-stray",
        "placement/half-moved-expression",
        "placement/host-constant",
        "placement/input-not-moved",
    )
    kinds = ("factory", "constant")
    # A factory in a function that still runs is strong evidence; one far away may create an input.
    confidence, confidence_far = Confidence.NEARBY, Confidence.REMOTE
    blames_held = True
    message = "{name} was created by `{op}` on {device} in {made_at}, while it meets a tensor on {peer}."

    def explain(self, ctx: Context) -> str:
        """Leave what a module holds to rules about modules, unless its constructor had the device in scope."""
        reason, place = super().explain(ctx), ctx.created_at
        if not reason or not ctx.is_held or place is None:
            return reason
        is_given = place.function.endswith("__init__") and has_device_name(ctx.failure, place, ctx.peer.device)
        return f"{reason} The constructor that made it has a name for that device." if is_given else ""

    def rate(self, ctx: Context) -> Confidence:
        """Return the best confidence if the constructor had the device in scope."""
        return Confidence.DIRECT if ctx.is_held else super().rate(ctx)

    def fix(self, ctx: Context, site: Site) -> Iterator[Change]:
        """Name the device; for what a module holds, only if the constructor has a parameter for it."""
        if not ctx.is_held or site.device_parameter(ctx.target_device):
            yield from site.add_device()
        if not ctx.is_held and site.call(*FACTORIES) is None:
            yield from site.move_result()
