"""A library creates a tensor on its argument's device, and the argument was never moved."""

from collections.abc import Iterator
from dataclasses import replace

from devfix.sdk import Change, Confidence, Context, OperandRule, on_device


class LibraryFollowsArgument(OperandRule):
    """Moves the arguments of the call that are on the device of the library's tensor."""

    confidence, blames_intentional = Confidence.REMOTE, True

    def concerns(self, ctx: Context) -> bool:
        """Require that a call of the program failed in code that is not owned."""
        return ctx.failure.at is not None and bool(ctx.failure.frames) and not ctx.failure.frames[-1].place.owned

    def explain(self, ctx: Context) -> str:
        """Report a tensor that a library created during the failing call, and that the program has no name for."""
        failure, places = ctx.failure, ctx.creation.places if ctx.creation is not None else ()
        owned = next((place for place in places if place.owned), None)
        is_library = bool(places) and not places[0].owned and owned == failure.at
        if not is_library or ctx.operand.names or ctx.operand.owner is not None or failure.at is None:
            return ""
        scope = next(frame.scope for frame in failure.frames if frame.place == failure.at)
        if not on_device(scope, ctx.operand.device, "tensor"):
            return ""
        return (
            f"`{failure.at.function}` hands a tensor on {ctx.operand.device} to a library, which makes others there,"
            f" while they meet one on {ctx.peer.device}."
        )

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Treat each of the arguments as the operand."""
        site = ctx.failing_call()
        for binding in on_device(site.scope, ctx.operand.device, "tensor") if site is not None else ():
            followed = ctx.follow(binding)
            if site is not None and site.is_given(binding.expression) and not followed.is_intentional:
                reason = (
                    f"The library follows `{binding.expression}`, which is on {binding.device} and was never moved."
                )
                for each in followed.sites("use"):
                    yield from (replace(made, reason=reason) for made in each.move_argument())
