"""Random numbers are drawn on the host beside tensors on another device."""

from collections.abc import Iterator

from devfix.sdk import Change, Confidence, Context, CreationRule, Site


class RandomFactory(CreationRule):
    """Moves the random numbers: `device=` would draw others, since each device has its own random stream."""

    kinds = ("random",)
    confidence, confidence_far = Confidence.NEARBY, Confidence.REMOTE
    message = "{name} was drawn by `{op}` on {device} in {made_at}, while it meets a tensor on {peer}."

    def fix(self, ctx: Context, site: Site) -> Iterator[Change]:
        """Move the result."""
        return site.move_result()
