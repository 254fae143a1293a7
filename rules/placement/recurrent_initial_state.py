"""The initial state of a recurrent layer is created on the host, and its input is not there."""

import libcst as cst

from devfix.sdk import FACTORIES, Changes, Context, CreationRule, Site, add_keyword, is_bound, move_to


class RecurrentInitialState(CreationRule):
    """Creates every state of the call on its input's device; moves those that are drawn at random."""

    failure_kind, kinds = "recurrent-state", ("factory", "constant", "random")
    message = "{name}, a state that begins in {made_at}, is on {device} while the layer and its input are on {peer}."

    def matches(self, ctx: Context) -> bool:
        """Skip the input of the layer, which is not wrong."""
        return ctx.operand.argument not in ("input", "args[0]")

    def fix(self, ctx: Context, site: Site) -> Changes:
        """Treat all states of the call that this file creates alike."""
        states = [each for index in range(len(ctx.failure.operands)) if self._is_state(each := ctx.view(index))]
        calls = [call for each in states if (call := _call(site, each)) is not None]
        for device in site.device_expressions():
            bound = [(call, is_drawn) for call, is_drawn in calls if is_bound(site.file, call, device)]
            edits: dict[cst.CSTNode, cst.CSTNode] = {
                call: move_to(call, device) if is_drawn else add_keyword(call, "device", device)
                for call, is_drawn in bound
            }
            yield from site.replace(edits, f"Begin with a state on `{device}`")

    def _is_state(self, ctx: Context) -> bool:
        return not ctx.is_intentional and bool(self.explain(ctx))


def _call(site: Site, ctx: Context) -> tuple[cst.Call, bool] | None:
    """Return the call in a site's file that created a state, and whether it draws random numbers."""
    place, is_drawn = ctx.created_at, ctx.creation is not None and ctx.creation.kind == "random"
    if place is None or place.path != site.place.path:
        return None
    call = site.file.call_at(place, () if is_drawn else tuple(FACTORIES))
    return (call, is_drawn) if call is not None else None
