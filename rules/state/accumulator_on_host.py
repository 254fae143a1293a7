"""A value that is accumulated over steps starts on the host, and the new values are not there."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import Change, Confidence, Context, OperandRule


class AccumulatorOnHost(OperandRule):
    """Moves it to the device of the new values, once, in the method that updates it."""

    confidence = Confidence.INDIRECT
    message = "{name} is kept from call to call and began on {device}, while what comes to it is on {peer}."

    def matches(self, ctx: Context) -> bool:
        """Require an attribute of an object that is not a module."""
        is_kept = any(held.expression.startswith("self.") and held.relation == "same" for held in ctx.operand.names)
        return is_kept and ctx.operand.owner is None

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Insert the move before the failing statement."""
        held = {each.expression for each in ctx.operand.names}
        for site in ctx.sites("use"):
            nodes = list(site.file.within(site.function)) if site.function is not None else []
            targets = [each.target for each in nodes if isinstance(each, cst.AssignTarget | cst.AugAssign)]
            written = {site.file.code(each) for each in targets} & held
            for name in (each for each in site.expressions if each in written):
                for device in site.device_expressions():
                    if not device.startswith(f"{name}."):
                        yield from site.insert_before([f"{name} = {name}.to({device})"], f"Keep `{name}` on `{device}`")
