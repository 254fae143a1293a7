"""A tensor from NumPy is on the host, and is used with a tensor that is not."""

from collections.abc import Iterator

from devfix.sdk import Change, Confidence, Context, CreationRule, Site


class NumpyRoundTrip(CreationRule):
    """Moves a tensor where it comes back from NumPy, in a function that has the right device in scope."""

    kinds = ("numpy",)
    confidence = Confidence.NEARBY
    message = (
        "{name} was created from a NumPy array in {made_at}, which is on the host, while it meets a tensor on {peer}."
    )

    def matches(self, ctx: Context) -> bool:
        """Leave arrays from elsewhere to the rules about inputs."""
        return ctx.is_in_reach

    def fix(self, ctx: Context, site: Site) -> Iterator[Change]:
        """Name the device if the call takes one, and move the result."""
        yield from site.add_device()
        yield from site.move_result()
