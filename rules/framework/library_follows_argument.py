"""A library creates a tensor on its argument's device, and the argument was never moved."""

from dataclasses import replace

import libcst as cst

from devfix.sdk import FACTORIES, Changes, Confidence, Context, OperandRule, Safety, last_name, on_device

LEGACY = ("Tensor", "FloatTensor", "LongTensor", "from_numpy", "load")


class LibraryFollowsArgument(OperandRule):
    """Moves the arguments of the call that are on the device of the library's tensor."""

    confidence, reports_intentional = Confidence.REMOTE, True

    def explain(self, ctx: Context) -> str:
        """Report a tensor that a library created during the failing call, and that the program has no name for."""
        failure, places = ctx.failure, ctx.operand.creation_places
        owned = next((place for place in places if place.owned), None)
        is_library = bool(places) and owned == failure.at and (not places[0].owned or _is_of_torch(ctx))
        if not is_library or ctx.operand.names or ctx.operand.owner is not None or failure.at is None:
            return ""
        scope = next(frame.scope for frame in failure.frames if frame.place == failure.at)
        if not on_device(scope, ctx.operand.device, "tensor"):
            return ""
        return (
            f"`{failure.at.function}` hands a tensor on {ctx.operand.device} to a library, which makes others there,"
            f" while they meet one on {ctx.peer.device}."
        )

    def propose(self, ctx: Context) -> Changes:
        """Treat each of the arguments as the operand."""
        site = ctx.failing_call()
        for binding in on_device(site.scope, ctx.operand.device, "tensor") if site is not None else ():
            followed = ctx.follow(binding)
            if site is not None and site.is_given(binding.expression):
                moved = "was put there" if followed.is_intentional else "was never moved"
                reason = f"The library follows `{binding.expression}`, which is on {binding.device} and {moved}."
                for each in followed.sites("use"):
                    for made in each.move_argument():
                        safety = Safety.UNSURE if followed.is_intentional else made.safety
                        yield replace(made, reason=reason, safety=safety)


def _is_of_torch(ctx: Context) -> bool:
    """Return whether a function of PyTorch created the operand inside: `scalar_tensor` in `cosine_similarity(a, b)`."""
    site = ctx.failing_call()
    calls = [*site.file.within(site.node, cst.Call)] if site is not None else []
    name = ctx.creation.op.rpartition("::")[2] if ctx.creation is not None else ""
    return bool(calls) and not any(last_name(each.func) in (name, *FACTORIES, *LEGACY) for each in calls)
