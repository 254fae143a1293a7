"""A wrapper takes a device, and its caller does not pass one on."""

from collections.abc import Iterator
from dataclasses import dataclass

from devfix.sdk import Change, Context, OperandRule


@dataclass(frozen=True)
class Options:
    """Which functions are wrappers, by their last name, and what their device parameter is called."""

    wrappers: tuple[str, ...] = ("scratch", "make_scratch")
    keyword: str = "device"


class WrapperDeviceNotPassed(OperandRule):
    """Passes the device at the call of the wrapper."""

    options: Options
    message = "{name} was made by a wrapper in {made_at} without a device, and meets a tensor on {peer}."
    reports_intentional = True

    def matches(self, ctx: Context) -> bool:
        """Ask for a tensor that was made inside of a wrapper."""
        place = ctx.created_at
        return place is not None and place.function.rpartition(".")[2] in self.options.wrappers

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Leave a call alone that names a device already; then it is not the wrapper's caller that forgot."""
        for site in ctx.sites("returned"):
            call = ctx.call_at(site.place, *self.options.wrappers)
            if call is not None and call.argument(self.options.keyword) is None:
                for device in call.device_expressions():
                    yield from call.add_keyword(self.options.keyword, device, f"Pass `{device}` to `{call.name}`")
