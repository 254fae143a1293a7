"""A tensor is moved to the host by `.cpu()` and then used with tensors that are not."""

import libcst as cst

from devfix.sdk import (
    Changes,
    Confidence,
    Context,
    File,
    OperandRule,
    Safety,
    Site,
    is_move,
    match,
    move_to,
    receiver,
    remove_move,
)

GATHERING = ("$ALL.append($X)", "$ALL.extend($X)", "$ALL.add($X)", "$ALL.insert($_, $X)")


class LeftOnHostByCpuCall(OperandRule):
    """Removes the move; if a loop collects what it moves to the host, moves what it meets there too."""

    confidence, reports_intentional = Confidence.NEARBY, True

    def explain(self, ctx: Context) -> str:
        """Report an operand that a running function moved to the host, beside one that it did not."""
        place = ctx.moved_to("cpu") if ctx.operand.device == "cpu" and ctx.operand.owner is None else None
        if place is None or ctx.frame_of(place) is None:
            return ""
        return (
            f"{ctx.name} was brought to the host in {place.shown}, though it meets a tensor on"
            f" {ctx.peer.device} afterwards."
        )

    def propose(self, ctx: Context) -> Changes:
        """Skip calls that are not methods of the tensor."""
        site = ctx.site_at(ctx.moved_to("cpu"))
        call = next(filter(is_move, site.file.expressions_at(site.place)), None) if site is not None else None
        moved = receiver(call)
        if site is None or call is None or moved is None:
            return
        if _is_gathered(site.file, call):  # the loop keeps its results off the GPU on purpose
            yield from _gather_alike(ctx.failing_site(), site.file, call)
        else:
            title = f"Leave `{site.file.code(moved)}` where it is"
            yield from site.replace({call: remove_move(call)}, title, Safety.LIKELY)


def _is_gathered(file: File, call: cst.Call) -> bool:
    """Return whether a loop adds the result of a call to a list or another container."""
    given = file.parent(call)
    is_added = isinstance(given, cst.Arg) and match(file.parent(given), *GATHERING) is not None
    return is_added and bool(file.loops_around(call))


def _gather_alike(failing: Site | None, file: File, call: cst.Call) -> Changes:
    """Yield changes that move what the same loop collects in the lists that meet this one to the host."""
    if failing is None or failing.file is not file or failing.statement is None:
        return
    edits: dict[cst.CSTNode, cst.CSTNode] = {}
    for node in file.within(file.loops_around(call)[0], cst.Call):
        found = match(node, *GATHERING)
        if found and not is_move(found["X"]) and file.find(failing.statement, file.code(found["ALL"])):
            edits[found["X"]] = move_to(found["X"], '"cpu"')
    names = ", ".join(f"`{file.code(each)}`" for each in edits)
    yield from failing.replace(edits, f"Bring {names} to the host, as the loop does beside it", Safety.LIKELY)
