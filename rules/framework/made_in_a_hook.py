"""A method that a framework calls creates a tensor on the host, although the framework provides a device."""

from devfix.sdk import Changes, Context, CreationRule, Site

HOSTS = (
    "lightning.LightningModule",
    "pytorch_lightning.LightningModule",
    "lightning.Callback",
    "pytorch_lightning.Callback",
    "transformers.Trainer",
    "diffusers.DiffusionPipeline",
)


class MadeInAHook(CreationRule):
    """Passes the framework's device to the factory; moves random numbers, so that the seed gives the same ones."""

    kinds = ("factory", "constant", "random")

    message = (
        "{name} was created on {device} in {made_at}, in a method which the framework calls with tensors on {peer}."
    )

    def matches(self, ctx: Context) -> bool:
        """Require a running method of an object of a framework's class that has the device."""
        frame = _frame(ctx)
        return ctx.operand.device == "cpu" and frame is not None and bool(_devices(ctx, frame))

    def fix(self, ctx: Context, site: Site) -> Changes:
        """Select the changes that name the device as the framework does."""
        frame = _frame(ctx)
        names = _devices(ctx, frame) if frame is not None else []
        is_random = ctx.creation is not None and ctx.creation.kind == "random"
        found = [] if is_random else list(site.add_device())
        yield from (each for each in found or site.move_result() if any(f"`{name}`" in each.title for name in names))


def _frame(ctx: Context) -> int | None:
    """Return the frame of the method that created the operand, where `self` is of a framework's class."""
    frame = ctx.frame_of(ctx.created_at) if ctx.created_at is not None else None
    hosts = ctx.objects(*HOSTS, frame=frame) if frame is not None else []
    return frame if any(each.expression == "self" for each in hosts) else None


def _devices(ctx: Context, frame: int) -> list[str]:
    """Return the framework's names of the device in a frame: `self.device`, `self.args.device`, `model.device`."""
    scope = ctx.failure.frames[frame].scope
    return [each.expression for each in scope if each.type == "Property" and each.device == ctx.peer.device]
