"""A model is spread over several GPUs, and something stays behind where the activation goes on to the next."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import Change, Context, OperandRule, Site, device_in, is_spread, move_to, names_in


class LeftOnAnotherGpu(OperandRule):
    """Sends it after the activation where they meet, and never the activation back."""

    blames_intentional = True
    message = "{name} is on {device}, and the model goes on with a tensor on {peer}."

    def concerns(self, ctx: Context) -> bool:
        """Ask for a module in sight that lies on several GPUs."""
        on_host = any(each.shape and not each.device.startswith("cuda:") for each in ctx.failure.operands)
        return not on_host and is_spread(ctx.failure)

    def matches(self, ctx: Context) -> bool:
        """Ask that no module holds the operand, or one whose own parts lie on several GPUs: a row may be copied."""
        owner = ctx.operand.owner
        return owner is None or device_in(ctx.failure, owner.frame, owner.expression) == "mixed"

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Move each in turn to where the other is; what the statement computes anew flows on, and comes last."""
        site = ctx.failing_site()
        if site is None or site.frame is None:
            return
        kept = _assigned(site)
        every = [each for each in ctx.placement_targets() if self.matches(each)]
        every.sort(key=lambda each: not kept.isdisjoint(_names(each, site.frame)))
        for each in every:
            goal = _names(each.view_peer(), site.frame)
            for name in _names(each, site.frame) if goal else ():
                for node in site.occurrences(name)[:1]:
                    moved = move_to(node, f"{goal[0]}.device")
                    yield from site.replace({node: moved}, f"Send `{name}` after `{goal[0]}`")


def _names(ctx: Context, frame: int | None) -> list[str]:
    return [each.expression for each in names_in(ctx.operand, frame)] if frame is not None else []


def _assigned(site: Site) -> set[str]:
    """What the failing statement assigns."""
    nodes = site.file.within(site.statement or site.node)
    return {site.file.code(each.target) for each in nodes if isinstance(each, cst.AssignTarget | cst.AugAssign)}
