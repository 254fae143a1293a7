"""A legacy constructor (`torch.Tensor(…)`, `torch.FloatTensor(…)`) makes a tensor on the host."""

import re
from collections.abc import Iterator

from devfix.sdk import Change, Confidence, Context, CreationRule, Event, Site, last_name

LEGACY = re.compile(r"(^|[.:])(\w*Tensor|new|lift_fresh)$")
CALLED = re.compile(r"Tensor$|^new$")


class LegacyConstructor(CreationRule):
    """Moves what it made: `torch.tensor(…, device=)` reads the dtype anew, and may make doubles of floats."""

    confidence_far = Confidence.REMOTE
    message = (
        "{name} was made by `{op}` in {made_at}: a legacy constructor takes no `device=`, so it is on {device} while it"
        " meets a tensor on {peer}."
    )

    def is_creation(self, event: Event) -> bool:
        """Recognise the operators that these constructors run."""
        return LEGACY.search(event.op) is not None

    def fix(self, ctx: Context, site: Site) -> Iterator[Change]:
        """Move the result of the constructor itself."""
        call = site.call()
        return site.move_result() if call is not None and CALLED.search(last_name(call.func)) else iter(())
