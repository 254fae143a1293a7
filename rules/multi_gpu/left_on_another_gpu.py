"""A model is spread over several GPUs, and a tensor is not moved with the activation to the next one."""

import libcst as cst

from devfix.sdk import Changes, Context, OperandRule, Site, device_in, is_spread, move_to


class LeftOnAnotherGpu(OperandRule):
    """Moves it to the activation's GPU where they meet, never the activation back."""

    reports_intentional = True
    message = "{name} is on {device}, and the model goes on with a tensor on {peer}."

    def concerns(self, ctx: Context) -> bool:
        """Require a module in scope that is on several GPUs."""
        on_host = any(each.shape and not each.device.startswith("cuda:") for each in ctx.failure.operands)
        return not on_host and is_spread(ctx.failure)

    def matches(self, ctx: Context) -> bool:
        """Require that no module holds the operand, or one whose own parts are on several GPUs: a row may be copied."""
        owner = ctx.operand.owner
        return owner is None or device_in(ctx.failure, owner.frame, owner.expression) == "mixed"

    def propose(self, ctx: Context) -> Changes:
        """Move each to its peer's device in turn; what the statement itself assigns comes last."""
        site = ctx.failing_site()
        if site is None:
            return
        kept = _find_assigned(site)
        every = [each for each in ctx.placement_targets() if self.matches(each)]
        every.sort(key=lambda each: not kept.isdisjoint(_names(each, site.frame)))
        for each in every:
            goal = _names(each.view_peer(), site.frame)
            named = [name for name in _names(each, site.frame) if site.occurrences(name)]
            for name in named if goal else ():
                node = site.occurrences(name)[0]
                moved = move_to(node, f"{goal[0]}.device")
                yield from site.replace({node: moved}, f"Send `{name}` after `{goal[0]}`")
            is_blamed = each.operand is ctx.operand  # else it may be the activation
            unnamed = each.failing_site() if goal and not named and is_blamed else None  # a call: `skips.pop()`
            yield from unnamed.move_argument() if unnamed is not None else ()


def _names(ctx: Context, frame: int | None) -> list[str]:
    return [each.expression for each in ctx.names_in(frame)]


def _find_assigned(site: Site) -> set[str]:
    """Return what the failing statement assigns."""
    nodes = site.file.within(site.statement or site.node)
    return {site.file.code(each.target) for each in nodes if isinstance(each, cst.AssignTarget | cst.AugAssign)}
