"""A model in DataParallel returns a tensor that it created on the host, which cannot be gathered from the GPUs."""

import re

from devfix.sdk import Changes, Context, FailureRule, Safety, with_safety


class GatheredOnHost(FailureRule):
    """Creates it on the device of its replica, or moves it there."""

    failure_kind, device = "data-parallel", "cuda:0"
    pattern = re.compile("Gather function not implemented for CPU tensors")
    message = "{name} is on {device}: DataParallel gathers results of its replicas from GPUs alone."

    def propose(self, ctx: Context) -> Changes:
        """Look at the place where the result was created, else at those where it was computed."""
        for site in ctx.creation_sites():
            yield from list(site.add_device()) or site.move_result()
        for site in ctx.sites("returned", "derived"):
            yield from with_safety(site.move_result(), Safety.LIKELY)
