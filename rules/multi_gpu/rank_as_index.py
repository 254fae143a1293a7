"""The global rank is used as the index of a GPU on this machine."""

import re
from collections.abc import Iterator

import libcst as cst

from devfix.sdk import Changes, Context, FailureRule, File, expression, imported_name, is_bound, last_name

RANK = re.compile(r"(^|[._])(global_?)?rank$|(^|\.)get_rank\(\)$")
LOCAL = ("local_rank", "self.local_rank", "args.local_rank")
PLACING = ("set_device", "device", "to", "cuda", "Generator", "get_device_name", "get_device_properties")
KEYWORDS = ("device", "device_ids", "output_device", "map_location", "device_id")


class RankAsIndex(FailureRule):
    """Uses the local rank if the function has it in scope, else the rank modulo this machine's GPUs."""

    failure_kind = "invalid-ordinal"
    message = "{failed_at} asks for a GPU by a number that this machine does not have."

    def propose(self, ctx: Context) -> Changes:
        """Replace the rank wherever the function names a GPU by it."""
        site = ctx.failing_site()
        if site is None:
            return
        file, count = site.file, imported_name(site.file, "torch.cuda.device_count")
        known = [each for each in LOCAL if each in file.text and is_bound(file, site.node, each)]
        for text in dict.fromkeys(file.code(each) for each in _ranks(file, site.node)):
            every = [each for each in _ranks(file, site.function or file.module) if file.code(each) == text]
            for better in (*known[:1], *([f"{text} % {count}()"] if count else [])):
                yield from site.replace(dict.fromkeys(every, expression(better)), f"Number the GPU by `{better}`")


def _ranks(file: File, root: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """Yield the ranks by which GPUs are named below a node: `cuda(rank)`, `f"cuda:{rank}"`, `device_ids=[rank]`."""
    for node in file.within(root):
        found = list(_indices(node))
        if isinstance(node, cst.FormattedStringExpression):
            around = file.parent(node)
            found = [node.expression] if around is not None and "cuda:" in file.code(around) else []
        yield from (each for each in found if RANK.search(file.code(each)) and "local" not in file.code(each))


def _indices(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """Yield the arguments of a call that are GPU indices, or lists of such indices."""
    if not isinstance(node, cst.Call):
        return
    for each in node.args:
        if last_name(node.func) in PLACING or (each.keyword is not None and each.keyword.value in KEYWORDS):
            yield from (
                [item.value for item in each.value.elements] if isinstance(each.value, cst.List) else [each.value]
            )
