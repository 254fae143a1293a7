"""A tensor is moved to the host by `.cpu()` and then used with tensors that are not."""

import re

import libcst as cst

from devfix.sdk import (
    FACTORIES,
    Changes,
    Confidence,
    Context,
    File,
    OperandRule,
    Safety,
    Site,
    SourceLocation,
    add_keyword,
    creates_on_default_device,
    is_move,
    match,
    move_to,
    receiver,
    remove_move,
    with_safety,
)

# How a comment says that a tensor is brought to the host on purpose.
SAID = re.compile(r"#.*\b(on|to|in)( the)? (host|cpu)\b", re.IGNORECASE)
GATHERING = ("$ALL.append($X)", "$ALL.extend($X)", "$ALL.add($X)", "$ALL.insert($_, $X)")


class LeftOnHostByCpuCall(OperandRule):
    """Removes the move; if a loop collects what it moves to the host, moves what it meets there too.

    What it meets is created on the host if nothing but the default device has put it on a GPU.
    """

    confidence, reports_intentional = Confidence.NEARBY, True

    def explain(self, ctx: Context) -> str:
        """Report an operand that a running function moved to the host, beside one that it did not.

        Report what only the default device put on a GPU instead: to call `.cpu()` is to choose.
        """
        place, peer = _brought_at(ctx), ctx.view_peer()
        if place is None and _is_made_by_default(ctx) and _brought_at(peer) is not None:
            return f"{ctx.name} was created on the default device, while {peer.name} was brought to the host."
        if place is None or _is_made_by_default(peer):
            return ""
        return (
            f"{ctx.name} was brought to the host in {place.shown}, though it meets a tensor on"
            f" {ctx.peer.device} afterwards."
        )

    def propose(self, ctx: Context) -> Changes:
        """Skip calls that are not methods of the tensor, and moves of which a comment says that they are meant."""
        if ctx.operand.device != "cpu":
            yield from _make_on_host(ctx)
            return
        site = ctx.site_at(ctx.moved_to("cpu"))
        call = next(filter(is_move, site.file.expressions_at(site.place)), None) if site is not None else None
        moved = receiver(call)
        if site is None or call is None or moved is None:
            return
        if _is_gathered(site.file, call):  # the loop keeps its results off the GPU on purpose
            yield from _gather_alike(ctx.failing_site(), site.file, call)
        elif not _is_said(site.file, call):
            title = f"Leave `{site.file.code(moved)}` where it is"
            yield from site.replace({call: remove_move(call)}, title, Safety.LIKELY)


def _brought_at(ctx: Context) -> SourceLocation | None:
    """Return where a running function moved an operand to the host; None if none did."""
    place = ctx.moved_to("cpu") if ctx.operand.device == "cpu" and ctx.operand.owner is None else None
    return place if place is not None and ctx.frame_of(place) is not None else None


def _is_made_by_default(ctx: Context) -> bool:
    """Return whether an operand is on a GPU because that is the default device, and for no other reason."""
    if ctx.operand.device == "cpu" or ctx.operand.transfers or ctx.operand.owner is not None:
        return False
    calls = [(site.file, site.call()) for site in ctx.creation_sites()]
    return any(call is not None and creates_on_default_device(file, call) for file, call in calls)


def _make_on_host(ctx: Context) -> Changes:
    """Yield the change that creates on the host what only the default device put on a GPU."""
    for made in ctx.creation_sites():
        named, call = list(made.add_device()), made.call(*FACTORIES)
        yield from with_safety(named, Safety.LIKELY)
        if call is not None and not named:
            title = f"Create `{made.file.code(call)}` on the host, as what it meets"
            yield from made.replace({call: add_keyword(call, "device", '"cpu"')}, title, Safety.LIKELY)


def _is_said(file: File, call: cst.Call) -> bool:
    """Return whether a comment in the statement of a call, or directly above it, says that the host is meant."""
    lines = file.module.code.splitlines()
    first, last = file.line_of(file.statement_of(call) or call), file.line_of(call)
    while first > 1 and lines[first - 2].lstrip().startswith("#"):
        first -= 1
    return any(SAID.search(each) for each in lines[first - 1 : last])


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
