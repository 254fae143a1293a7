"""A forked worker process puts tensors on a GPU."""

from collections.abc import Iterator

from devfix.sdk import Change, Context, FailureRule, device_argument, is_move, remove_keyword, remove_move


class CudaInWorker(FailureRule):
    """Leaves the tensor on the host in the worker: the loop that takes the batches moves them."""

    failure_kind, device = "fork", "cpu"
    message = "{failed_at} runs in a forked process, where CUDA cannot be used."

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Remove the move or the keyword."""
        if site := ctx.failing_call():
            given = device_argument(site.node)
            keyword = given.keyword.value if given is not None and given.keyword is not None else ""
            new = remove_move(site.node) if is_move(site.node) else remove_keyword(site.node, keyword)
            yield from site.change_to(new, f"Leave `{site.file.code(new)}` on the host in the worker")
