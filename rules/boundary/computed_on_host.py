"""A function copies its input to the host, computes there, and returns the results where they are."""

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from devfix.sdk import (
    Changes,
    Confidence,
    Context,
    Event,
    EvidenceRule,
    File,
    Safety,
    Site,
    assigned_values,
    call_method,
    code,
    definition,
    enclosing,
    find_followed,
    insert_before,
    is_move,
    is_no_tensor,
    last_name,
    match,
    move_to,
    parameters,
    preserves_data,
    rewrite,
)

STEPS = 4  # that a trace keeps at least of a tensor's history after its last move: older ones may be missing
TO_HOST = ("cpu", "numpy", "item", "tolist")  # what ends in one of these is returned on the host on purpose


@dataclass(frozen=True)
class Computed:
    """The place where a function copied an input to the host, the name of that parameter, and all it computed there.

    `others` are local names of the function that are no tensors.
    """

    site: Site
    function: cst.FunctionDef
    given: str
    others: frozenset[str]


class ComputedOnHost(EvidenceRule[Computed]):
    """Moves all that the function returns to where its input was."""

    confidence, reports_intentional = Confidence.NEARBY, True
    supersedes = ("placement/left-on-host-by-cpu-call", "placement/input-not-moved")

    def suspects(self, ctx: Context) -> Iterator[Context]:
        """Look at every operand on the host, though it was put there on purpose."""
        on_host = [number for number, each in enumerate(ctx.failure.operands) if each.device == "cpu"]
        return map(ctx.view, on_host if len(on_host) < len(ctx.failure.operands) else ())

    def search(self, ctx: Context) -> Computed | None:
        """Return the last copy to the host by a function that computed the operand from it, and has returned."""
        steps = _find_steps(ctx)
        moves = [at for at, each in enumerate(steps) if each.kind == "move" and each.device == "cpu"]
        place = steps[moves[-1]].owned_place if moves else None
        site, function = ctx.site_at(place), ctx.definition_at(place)
        if site is None or place is None or function is None or ctx.frame_of(place) is not None:
            return None
        later = [each.owned_place for each in steps[moves[-1] + 1 :] if not preserves_data(each)]
        here = (place.path, enclosing(place.function))
        there = [each for each in later if each is not None and (each.path, enclosing(each.function)) == here]
        is_cut = len(steps) - moves[-1] > STEPS
        if not (there or is_cut) or not isinstance(function.node, cst.FunctionDef):
            return None
        given = _find_given(site, function.node)
        scope = ctx.scope_at(there[-1]) if there else ()
        others = frozenset(each.expression for each in scope if each.kind != "tensor")
        return Computed(site, function.node, given, others) if given else None

    def describe(self, ctx: Context, found: Computed) -> str:
        """Report what the function computed from a copy on the host."""
        name = found.function.name.value
        return (
            f"{ctx.name} was computed by `{name}` on the host, to which {found.site.place.shown} copies"
            f" `{found.given}`; it meets a tensor on {ctx.peer.device}."
        )

    def fix(self, ctx: Context, found: Computed) -> Changes:
        """Read the device of the input first where the function binds another tensor to its name."""
        file, function, given = found.site.file, found.function, found.given
        nodes = [
            each for value in _find_returned(file, function) for each in _parts_of(value) if _is_wanted(each, found)
        ]
        is_kept = not any(file.find(each, given) for each in file.within(function, cst.AssignTarget))
        name = "" if is_kept else found.site.free_name("device", f"{given}_device")
        device = f"{given}.device" if is_kept else name
        edits: dict[cst.CSTNode, cst.CSTNode] = {each: _move(each, device, given) for each in nodes}
        title = f"Return from `{function.name.value}` to the device of `{given}`"
        if is_kept or not edits:
            yield from rewrite(file, edits, title, Safety.LIKELY)
            return
        changed = File(file.path, file.replace(edits).bytes)
        again = definition(changed, found.site.place.function)
        first = _find_first_statement(again) if isinstance(again, cst.FunctionDef) else None
        if first is not None:
            yield from rewrite(file, insert_before(changed, first, [f"{name} = {given}.device"]), title, Safety.LIKELY)


def _find_steps(ctx: Context) -> list[Event]:
    """Return the history of the operand, after that of the tensor whose device the factory of the operand was given."""
    own = list(ctx.operand.history)
    followed = find_followed(ctx.failure, ctx.operand.creation_places, ctx.sources)
    return [*followed.history, *own] if followed is not None and not ctx.operand.transfers else own


def _find_given(site: Site, function: cst.FunctionDef) -> str:
    """Return the parameter that is copied to the host at a site: of the copied expression, else of the statement."""
    file = site.file
    known = [each for each in parameters(function) if each != "self"]
    calls = [each for each in file.expressions_at(site.place) if is_move(each)]
    seen = {each.expression for each in site.scope if each.kind != "tensor"}
    for node in (*calls[:1], site.statement):
        names = [each.value for each in file.within(node, cst.Name)] if node is not None else []
        for name in names:
            if name in known and name not in seen:
                return name
    return ""


def _find_returned(file: File, function: cst.FunctionDef) -> list[cst.BaseExpression]:
    """Return what a function returns, without the functions in it."""
    found = [each for each in file.within(function, cst.Return) if file.function_of(each) is function]
    return [each.value for each in found if each.value is not None]


def _parts_of(value: cst.BaseExpression) -> list[cst.BaseExpression]:
    return [each.value for each in value.elements] if isinstance(value, cst.Tuple) else [value]


def _is_wanted(node: cst.BaseExpression, found: Computed) -> bool:
    """Return whether a returned expression may be a tensor on the host that nobody asked to have there."""
    if is_no_tensor(node) or code(node) in found.others:
        return False
    if isinstance(node, cst.Name):
        tensors = {each.expression for each in found.site.scope if each.kind == "tensor"}
        values = assigned_values(found.site.file, node.value, found.function)
        is_other = all(map(is_no_tensor, values)) if values else node.value in parameters(found.function)
        if (is_other and node.value not in tensors) or (values and all(map(_is_for_host, values))):
            return False
    return not _is_for_host(node)


def _is_for_host(node: cst.CSTNode) -> bool:
    """Return whether an expression ends in a copy to the host, which is to be there then."""
    return isinstance(node, cst.Call) and last_name(node.func) in TO_HOST


def _move(node: cst.BaseExpression, device: str, given: str) -> cst.BaseExpression:
    """Return an expression moved to a device; what is also cast to the dtype of the input follows the input in both."""
    cast = match(node, f"$X.to({given}.dtype)", f"$X.to(dtype={given}.dtype)", f"$X.type_as({given})")
    follows = cast is not None and device == f"{given}.device"
    return call_method(cast["X"], "to", given) if follows and cast is not None else move_to(node, device)


def _find_first_statement(function: cst.FunctionDef) -> cst.BaseStatement | None:
    """Return the first statement of a function after its docstring."""
    body = [each for each in function.body.body if isinstance(each, cst.BaseStatement)]
    return body[1] if function.get_docstring() is not None and len(body) > 1 else next(iter(body), None)
