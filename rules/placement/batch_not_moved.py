"""Tensors that belong together are passed, one by one, to code on another device without being moved."""

from devfix.sdk import Changes, Confidence, Context, OperandRule, first_is_safe, on_device


class BatchNotMoved(OperandRule):
    """Moves what one statement unpacks, or one container or object holds, by one edit, as early as possible."""

    confidence = Confidence.INDIRECT
    supersedes = ("placement/input-not-moved",)  # one edit for all, before one for each
    message = "{name} is on {device}, as what came with it, and was never moved, while it meets a tensor on {peer}."

    def matches(self, ctx: Context) -> bool:
        """Require other tensors in scope on the operand's device."""
        scopes = [ctx.failure.frames[number].scope for number in {held.frame for held in ctx.operand.names}]
        beside = {each.expression for scope in scopes for each in on_device(scope, ctx.operand.device, "tensor")}
        return not ctx.is_held and len(beside) > 1

    def propose(self, ctx: Context) -> Changes:
        """Start with the outermost frame."""
        return first_is_safe(site.move_batch() for site in ctx.uses())
