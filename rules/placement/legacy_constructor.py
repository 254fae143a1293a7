"""A legacy constructor (`torch.Tensor(…)`, `torch.FloatTensor(…)`) creates a tensor on the host."""

import re
from collections.abc import Iterator

from devfix.sdk import Change, Confidence, Context, CreationRule, Event, Site, last_name

LEGACY = re.compile(r"(^|[.:])(\w*Tensor|new|lift_fresh)$")
CALLED = re.compile(r"Tensor$|^new$")


class LegacyConstructor(CreationRule):
    """Moves the result: `torch.tensor(…, device=)` infers the dtype again, which may change it."""

    confidence_far = Confidence.REMOTE
    message = (
        "{name} was created by `{op}` in {made_at}, a legacy constructor without `device=`: it is on {device} while it"
        " meets a tensor on {peer}."
    )

    def is_creation(self, event: Event) -> bool:
        """Recognize the operators that these constructors run."""
        return LEGACY.search(event.op) is not None

    def fix(self, ctx: Context, site: Site) -> Iterator[Change]:
        """Move the result of the constructor itself."""
        call = site.call()
        return site.move_result() if call is not None and CALLED.search(last_name(call.func)) else iter(())
