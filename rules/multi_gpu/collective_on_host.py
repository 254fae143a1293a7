"""An NCCL collective is given a tensor on the host."""

from devfix.sdk import Changes, Context, Finding, Rule


class CollectiveOnHost(Rule):
    """Creates it on the GPU, or moves it before the collective under its own name, since that may write into it."""

    def diagnose(self, ctx: Context) -> Finding | None:
        """Report an operand on the host; it belongs on the process's own GPU, as the failing code names it."""
        seen = [each.device for frame in reversed(ctx.failure.owned_frames) for each in frame.scope]
        gpus = [device for device in seen if device.startswith("cuda")]
        on_host = [index for index, each in enumerate(ctx.failure.operands) if each.device == "cpu"]
        if ctx.failure.kind != "collective" or not gpus or not on_host:
            return None
        found = ctx.view(on_host[0])
        return found.report(f"{found.name} is on the host, and NCCL only sends tensors on GPUs.", device=gpus[0])

    def propose(self, ctx: Context) -> Changes:
        """Name the device at the factory, else insert the move before the failing statement."""
        for site in ctx.sites("creation", "use"):
            if site.kind == "creation":
                yield from site.add_device()
                continue
            for name in [each.expression for each in ctx.names_in(site.frame) if each.relation == "same"]:
                for device in site.device_expressions():
                    title = f"Move `{name}` to `{device}` before it is sent"
                    yield from site.insert_before([f"{name} = {name}.to({device})"], title)
