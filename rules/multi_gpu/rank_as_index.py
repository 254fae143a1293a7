"""The rank among all processes is taken for the number of a GPU on this machine."""

import re
from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    File,
    Finding,
    Sources,
    change,
    expression,
    imported_name,
    is_bound,
    last_name,
)

RANK = re.compile(r"(^|[._])(global_?)?rank$|(^|\.)get_rank\(\)$")
LOCAL = ("local_rank", "self.local_rank", "args.local_rank")
PLACING = ("set_device", "device", "to", "cuda", "Generator", "get_device_name", "get_device_properties")
KEYWORDS = ("device", "device_ids", "output_device", "map_location", "device_id")


def diagnose(failure: Failure) -> Finding | None:
    """Report the number."""
    if failure.kind != "invalid-ordinal" or failure.at is None:
        return None
    reason = f"{failure.at.path}:{failure.at.line} asks for a GPU by a number that this machine does not have."
    return Finding(0, reason, strength=1)


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Take the local rank where the function knows it; else the rank within this machine's GPUs."""
    place = diagnosis.failure.at
    file = source.file(place) if place is not None else None
    root = file.root_at(place) if file is not None and place is not None else None
    if file is None or root is None:
        return
    scope = file.function_of(root) or file.module
    ranks = list(_ranks(file, root))
    for text in dict.fromkeys(file.code(each) for each in ranks):
        count = imported_name(file, "torch.cuda.device_count")
        known = [each for each in LOCAL if each in file.module.code and is_bound(file, root, each)]
        for better in (*known[:1], *([f"{text} % {count}()"] if count else [])):
            nodes = {node: expression(better) for node in _ranks(file, scope) if file.code(node) == text}
            made = change(file, file.replaced(nodes), f"Number the GPU by `{better}`")
            if made:
                yield made


def _ranks(file: File, root: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """Yield the ranks by which GPUs are named below a node: `cuda(rank)`, `f"cuda:{rank}"`, `device_ids=[rank]`."""
    for node in file.within(root):
        if not isinstance(node, cst.Call):
            if isinstance(node, cst.FormattedStringExpression) and RANK.search(file.code(node.expression)):
                around = file.parent(node)
                if around is not None and "cuda:" in file.code(around):
                    yield node.expression
            continue
        placing = last_name(node.func) in PLACING
        for each in node.args:
            if placing or (each.keyword is not None and each.keyword.value in KEYWORDS):
                values = (
                    [item.value for item in each.value.elements] if isinstance(each.value, cst.List) else [each.value]
                )
                yield from (
                    value for value in values if RANK.search(file.code(value)) and "local" not in file.code(value)
                )
