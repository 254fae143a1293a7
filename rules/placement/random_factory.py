"""Random numbers are drawn on the host beside tensors on another device."""

from collections.abc import Iterator

from devfix.sdk import Change, Confidence, Context, CreationRule, Site


class RandomFactory(CreationRule):
    """Moves what was drawn: `device=` would draw other numbers, for each device has a random stream of its own."""

    kinds = ("random",)
    confidence, confidence_far = Confidence.NEARBY, Confidence.REMOTE
    message = "{name} was drawn by `{op}` on {device} in {made_at}, while it meets a tensor on {peer}."

    def fix(self, ctx: Context, site: Site) -> Iterator[Change]:
        """Move the result."""
        return site.move_result()
