"""Move tensors at a site: pass a device to the factory, or move the tensor before it is used."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import libcst as cst

from devfix.model import Diagnosis, Event, Failure, Operand, Safety, SourceLocation
from devfix.sdk.changes import Change, change
from devfix.sdk.fixes.call_result import called_operand, is_written_on, move_at, occurrences
from devfix.sdk.fixes.container import gathering_call, move_returned_values
from devfix.sdk.fixes.device_expressions import device_expressions
from devfix.sdk.fixes.factories import FACTORIES
from devfix.sdk.fixes.moved_once import assign_locally, keep_before_branches, move_at_entry
from devfix.sdk.trace.branches import hoisting_point, met_names
from devfix.sdk.trace.flows import is_for_host, is_on_device
from devfix.sdk.trace.history import frame_of
from devfix.sdk.trace.operands import blamed_operand, peer_operand
from devfix.sdk.trace.sites import FixSite, fix_sites
from devfix.source import File, Sources
from devfix.source.edits.device_arguments import conditional_of_alike
from devfix.source.edits.expressions import move_unless_none
from devfix.source.edits.statements import insert_before
from devfix.source.queries.bound_names import is_bound, is_local
from devfix.source.queries.optional import is_none_otherwise, may_be_no_tensor
from devfix.source.queries.reading import is_given, is_read, parameters
from devfix.source.queries.repository import Repository
from devfix.source.queries.writes import is_alone, is_written_below

ITERATORS = ("zip", "enumerate", "map", "filter", "reversed", "sorted", "iter", "range", "list", "tuple", "dict")
SHARING = frozenset({"as_tensor", "asarray", "frombuffer"})  # the memory of what they are given
BRANCHES = (cst.If, cst.For, cst.While, cst.Try, cst.Match)


def move_argument(diagnosis: Diagnosis, site: FixSite, source: Sources) -> Iterator[Change]:
    """Yield changes that move the named tensor where an argument or the failing expression uses it.

    A name that is used again below is moved once, by a statement before this one (outside of the loops in which it does
    not change), and an attribute into a local variable. A name that is not used again is moved in place, and so is the
    result of a call that the failing operator combines, if the tensor has no name: after what it was computed from.
    """
    file = source.file(site.place)
    root = file.root_at(site.place) if file else None
    if file is None or root is None:
        return
    yield from move_at_entry(diagnosis, site, source)
    written, beside = is_written_to(diagnosis.failure, blamed_operand(diagnosis)), _elements_beside(diagnosis, site)
    named = [text for text in site.expressions if occurrences(file, root, text)]
    # What meets the result of a call is surely where that is wanted; what an object declares need not be.
    peer = peer_operand(diagnosis)
    own = (
        {f"{held.expression}.device" for held in peer.names if held.frame == site.frame} if peer is not None else set()
    )
    met = met_names(diagnosis, site)
    own_names = {held.expression for held in blamed_operand(diagnosis).names if held.frame == site.frame}
    unnamed = [] if own_names & set(named) else called_operand(diagnosis, site, file, root, source)
    updated = _updated_target(root)
    if updated is not None and file.code(updated) in site.expressions:
        anchors = device_expressions(diagnosis, site, file)
        yield from filter(None, (_updated_there(file, updated, each) for each in anchors))
    for text in dict.fromkeys([*named, *unnamed]):
        nodes = occurrences(file, root, text)
        if not nodes or (written and _is_parameter(file, nodes[0], text)):
            continue
        anchors, near = device_expressions(diagnosis, site, file), sorted(() if text in named else own)
        is_own = (each for each in anchors if not each.startswith(f"{text}."))
        unless_none = (_unless_none(file, nodes[0], text, each) for each in is_own if not written)
        if may_be_no_tensor(file, nodes[0], text):
            yield from filter(None, unless_none)
            continue
        # A plain `device` reads better than the part of a module that happens to be met: `net.bias.device`.
        is_named = bool(anchors and near) and anchors[0].isidentifier() and near[0].count(".") > 1
        for anchor in dict.fromkeys([*anchors, *near] if is_named else [*near, *anchors]):
            if anchor.startswith((f"{text}.", f"next({text}.")):
                continue
            rebound = None if is_written_below(file, nodes[0], text) else _rebound(file, nodes[0], text, anchor, met)
            rebound = rebound or assign_locally(file, nodes[0], text, anchor, met=met)
            rebound = rebound or keep_before_branches(diagnosis, site, file, nodes[0], text, anchor)
            inline = None if written else move_at(file, nodes[0], anchor, _other_reads(file, nodes[0], text))
            again = _used_below(file, root, nodes[0], text) or _can_hoist(file, nodes[0], text, anchor, met)
            both = None if written else _move_similar(diagnosis, site, file, nodes[0], text, anchor)
            changes = [rebound, inline, both] if again else [inline, both, rebound]
            if beside:  # an operator refuses a list as long as one element of it is elsewhere
                changes.sort(key=lambda each: each is not both)
            yield from (each for each in changes if each)
        yield from filter(None, unless_none)


def is_written_to(failure: Failure, operand: Operand) -> bool:
    """Return whether the failing operator writes into the operand, so that it would write into a copy instead.

    >>> is_written_to(failure, failure.operands[0])
    False
    """
    return failure.writes_to(operand)


def _is_parameter(file: File, node: cst.BaseExpression, text: str) -> bool:
    function = file.function_of(node)
    return function is not None and text in parameters(function)


def _move_similar(
    diagnosis: Diagnosis, site: FixSite, file: File, node: cst.BaseExpression, text: str, anchor: str
) -> Change | None:
    """Return a change that moves similar tensors of one statement too: `(x - self.mean.to(…)) / self.deviation.to(…)`.

    Similar tensors are on the same device, and are held by the same object, created by the same import, or elements of
    the same list of arguments: the indices of `values[rows, columns]`.
    """
    statement, operand = file.statement_of(node), blamed_operand(diagnosis)
    wrong, whole, creator = operand.device, text.rpartition(".")[0], _creator(operand.history)
    if not isinstance(statement, cst.SimpleStatementLine):
        return None
    names = [
        each.expression
        for each in site.scope
        if each.kind == "tensor" and each.device == wrong and each.shape and each.expression.rpartition(".")[0] == whole
        # Local names are similar if one import created both; those of a function each have their own reason.
        if whole or (creator == _creator(each.history) and _is_import(diagnosis.failure, operand))
    ]
    names += _elements_beside(diagnosis, site)
    others = [found for name in dict.fromkeys(names) if name != text for found in occurrences(file, statement, name)]
    if not others:
        return None
    every = [*_other_reads(file, node, text), *others]
    found = move_at(file, node, anchor, every)
    return found and replace(found, title=f"{found.title}, and similar tensors beside it", safety=Safety.LIKELY)


def _elements_beside(diagnosis: Diagnosis, site: FixSite) -> list[str]:
    """Return the names of the other elements of the blamed operand's list that are on the same device."""
    operand = blamed_operand(diagnosis)
    argument, bracket, _ = operand.argument.partition("[")
    return [
        held.expression
        for each in diagnosis.failure.operands
        if bracket and each.argument.startswith(f"{argument}[") and each.argument != operand.argument
        if each.device == operand.device and each.shape
        for held in each.names
        if held.frame == site.frame and held.relation == "same"
    ]


def _creator(history: Sequence[Event]) -> tuple[str, str] | None:
    places = history[0].places if history else ()
    return (places[0].path, places[0].function) if places else None


def _is_import(failure: Failure, operand: Operand) -> bool:
    """Return whether the operand was created while a file was imported, which has ended."""
    place = operand.creation.places[0] if operand.creation and operand.creation.places else None
    return place is not None and place.function == "<module>" and frame_of(failure, place) is None


def _other_reads(file: File, node: cst.BaseExpression, text: str) -> list[cst.BaseExpression]:
    """Return the other reads of an expression in a node's statement that no statement before it can rebind."""
    statement = file.statement_of(node)
    if text.isidentifier() or not isinstance(statement, cst.SimpleStatementLine):
        return []
    return [each for each in occurrences(file, statement, text) if each is not node and is_on_device(file, each)]


def _rebound(file: File, node: cst.BaseExpression, text: str, anchor: str, met: Collection[str] = ()) -> Change | None:
    function, statement = file.function_of(node), hoisting_point(file, node, text, anchor, met)
    if statement is None or function is not file.function_of(statement):
        return None
    if not text.isidentifier() or file.is_bound_within(node, text) or not is_bound(file, statement, anchor):
        return None
    if may_be_no_tensor(file, statement, text):  # a test in the statement itself: `x if mask is None else x * mask`
        return None
    # Binding a module's name in a function would create a new, unbound variable.
    if function is not None and not is_local(function, text):
        return None
    move = f"{text}.cpu()" if anchor == '"cpu"' else f"{text}.to({anchor})"
    module = insert_before(file, statement, [f"{text} = {move}"])
    return change(file, module, f"Move `{text}` to `{anchor}` before it is used")


def _unless_none(file: File, node: cst.BaseExpression, text: str, anchor: str) -> Change | None:
    """Return a change that moves an argument of a call unless it is None, as it is in other calls."""
    given = file.parent(node)
    if not isinstance(given, cst.Arg) or given.star or not is_none_otherwise(file, node, text):
        return None
    module, title = file.replace({node: move_unless_none(node, anchor)}), f"Move `{text}` to `{anchor}`"
    return change(file, module, f"{title}, unless it is None", safety=Safety.LIKELY)


def _updated_target(root: cst.CSTNode) -> cst.BaseExpression | None:
    """Return what a statement updates: `total` of `total += value` and of `total[i] += value`."""
    line = root.body[0] if isinstance(root, cst.SimpleStatementLine) else root
    target: cst.BaseExpression | None = line.target if isinstance(line, cst.AugAssign) else None
    return target.value if isinstance(target, cst.Subscript) else target


def _updated_there(file: File, target: cst.BaseExpression, anchor: str) -> Change | None:
    """Return a change that moves a variable before a statement updates it; in a loop, that copies it once."""
    text = file.code(target)
    is_own = not anchor.startswith(f"{text}.") and is_alone(file, target, text, FACTORIES - SHARING)
    return _rebound(file, target, text, anchor) if is_own else None


def _can_hoist(file: File, node: cst.BaseExpression, text: str, anchor: str, met: Collection[str]) -> bool:
    """Return whether the move can be hoisted: out of a loop that would copy each time, or for all branches."""
    return hoisting_point(file, node, text, anchor, met) is not file.statement_of(node)


def _used_below(file: File, failed: cst.CSTNode, node: cst.BaseExpression, text: str) -> bool:
    """Return whether a name is read again in its function, in a later statement or the same one.

    The arguments of an expression that failed were evaluated before it, so those reads do not count. Nor do reads as
    numbers, which need the tensor where it is.
    """
    scope, line = file.function_of(node) or file.module, file.line_of(node)
    reads = [each for each in file.find(scope, text) if each is not node and file.line_of(each) >= line]
    if isinstance(failed, cst.BaseExpression):
        reads = [each for each in reads if not any(around is failed for around in file.ancestors(each))]
    return any(is_read(file, each) and not is_for_host(file, each) for each in reads)


def move_result(diagnosis: Diagnosis, site: FixSite, source: Sources) -> Iterator[Change]:
    """Yield changes that append `.to(device)` to the call at a site, one for each device expression.

    If the call is a view of a name that is read again below, the name is moved first, for all its views.
    """
    file = source.file(site.place)
    if file is None:
        return
    calls = [node for node in file.expressions_at(site.place) if isinstance(node, cst.Call | cst.Subscript)]
    if (
        not calls
        or (site.place.column is None and len(calls) > 1)
        or _is_optional_branch(diagnosis, site, file, source)
    ):
        return
    if isinstance(file.parent(calls[0]), cst.Expr):  # `noise.normal_()` is a statement: its result is not used
        return
    made = calls[0]
    if is_written_on(file, made) or (isinstance(made, cst.Call) and file.code(made.func) in ITERATORS):
        return
    if site.kind == "returned" and _is_unmovable(file, calls[0], source):
        return
    if site.kind != "creation" and (found := list(move_returned_values(diagnosis, site, file, made))):
        yield from found
        return
    running = frame_of(diagnosis.failure, site.place) if site.kind == "derived" else None
    for each in fix_sites(diagnosis) if running is not None else ():
        if each.frame == running:
            yield from move_at_entry(diagnosis, each, source)
    both = conditional_of_alike(file, calls[0]) or gathering_call(diagnosis, file, calls[0])
    for anchor in device_expressions(diagnosis, site, file):
        before = _move_receiver(file, calls[0], anchor) if site.kind == "derived" else None
        whole = move_at(file, both, anchor) if both is not None else None
        yield from (each for each in (before, whole, move_at(file, calls[0], anchor)) if each)


def _is_unmovable(file: File, call: cst.BaseExpression, source: Sources) -> bool:
    """Return whether a call constructs an object of a plain class of the repository that has no `to`."""
    repository = Repository(source)
    found = repository.class_of(file, call) if isinstance(call, cst.Call) else None
    if found is None or isinstance(found, str):
        return False
    classes = [each for each in repository.mro(found) if not isinstance(each, str)]
    is_plain = len(classes) == len(repository.mro(found)) and not any(each.node.decorators for each in classes)
    return is_plain and not any(repository.method(found, name) for name in ("to", "__getattr__"))


def _move_receiver(file: File, call: cst.BaseExpression, anchor: str) -> Change | None:
    """Return a change that moves the name of which a call is a view, if a later statement reads that name as well."""
    func = call.func if isinstance(call, cst.Call) else None
    receiver = func.value if isinstance(func, cst.Attribute) and isinstance(func.value, cst.Name) else None
    if receiver is None or anchor.startswith(f"{receiver.value}.") or may_be_no_tensor(file, receiver, receiver.value):
        return None
    statement = file.statement_of(receiver)
    if statement is None or (
        isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[-1], cst.Return)
    ):
        return None  # the statements below do not run after it
    scope, line = file.function_of(receiver) or file.module, file.line_of(statement)
    later = [each for each in file.find(scope, receiver.value) if file.line_of(each) >= line]
    below = [each for each in later if is_read(file, each) and file.statement_of(each) is not statement]
    # After another assignment in between it is another tensor.
    if not below or any(is_given(file, each) for each in later) or is_written_below(file, receiver, receiver.value):
        return None
    return _rebound(file, receiver, receiver.value, anchor)


def _is_optional_branch(diagnosis: Diagnosis, site: FixSite, file: File, source: Sources) -> bool:
    """Return whether a derivation is in a branch that need not run, while the use of its result can be moved itself."""
    running = frame_of(diagnosis.failure, site.place) if site.kind == "derived" else None
    if running is None or _branches(file, site.place) <= _branches(file, diagnosis.failure.frames[running].place):
        return False
    uses = [each for each in fix_sites(diagnosis) if each.frame == running]
    return any(True for each in uses for _ in move_argument(diagnosis, each, source))


def _branches(file: File, place: SourceLocation) -> set[cst.CSTNode]:
    return {each for each in file.ancestors(file.root_at(place) or file.module) if isinstance(each, BRANCHES)}
