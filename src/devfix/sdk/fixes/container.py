"""Move the tensors that a dictionary or list holds, where it is passed as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from devfix.model import Diagnosis
from devfix.sdk.changes import Change, change
from devfix.sdk.fixes.device_expressions import device_expressions
from devfix.sdk.trace.history import frame_of
from devfix.sdk.trace.operands import blamed_operand, target_device
from devfix.sdk.trace.sites import FixSite
from devfix.source import File, Sources, last_name
from devfix.source.edits.expressions import move_to
from devfix.source.edits.statements import insert_before
from devfix.source.matches import match
from devfix.source.queries.loops import outside_loops
from devfix.source.queries.naming import imported_name
from devfix.source.queries.reading import assignments, parameters

GATHERERS = ("cat", "stack", "concat", "hstack", "vstack")
KEPT = re.compile(r"self(\.\w+)+(\[[\w:-]+\])?")


def move_container(diagnosis: Diagnosis, site: FixSite, source: Sources) -> Iterator[Change]:
    """Yield changes that move all values of a dictionary, before the call that takes `**batch` or `batch`.

    The values of a list of dictionaries are moved there too.

    >>> list(move_container(diagnosis, fix_sites(diagnosis)[-1], source))
    []
    """
    file = source.file(site.place)
    root = file.root_at(site.place) if file else None
    if file is None or root is None:
        return
    if site.kind == "argument" and not site.expressions:
        yield from _move_unnamed(diagnosis, site, file, root)
    for name in dict.fromkeys(text.partition("[")[0] for text in site.expressions if '["' in text):
        if not name.isidentifier() or not any(
            file.code(each.value) == name for each in file.within(root) if isinstance(each, cst.Arg)
        ):
            continue
        function = file.function_of(root)
        if function is not None and name in parameters(function):  # the caller knows what else it holds
            continue
        is_mixed = any(each.expression == name and each.kind == "container" for each in site.scope)
        for anchor in device_expressions(diagnosis, site, file):
            statement = outside_loops(file, root, name, anchor)
            if statement is None:
                continue
            for line in _listed_lines(site, file, name, anchor) or _lines(file, name, anchor, is_mixed):
                found = change(file, insert_before(file, statement, [line]), f"Move `{name}` to `{anchor}`")
                if found:
                    yield found


def _move_unnamed(diagnosis: Diagnosis, site: FixSite, file: File, root: cst.CSTNode) -> Iterator[Change]:
    """Yield changes that move the dictionary without a name that a call takes: `net(**tokenizer(texts))`."""
    given = [each.value for each in root.args if each.star == "**"] if isinstance(root, cst.Call) else []
    if not isinstance(root, cst.Call) or len(given) != 1 or not isinstance(given[0], cst.Call):
        return
    passed = {each.keyword.value for each in root.args if each.keyword is not None}
    below = [held for held in blamed_operand(diagnosis).names if site.frame is not None and held.frame > site.frame]
    first = min((held.frame for held in below), default=0)
    if not any(held.frame == first and held.expression not in passed for held in below):
        return
    made = file.code(given[0])
    for anchor in device_expressions(diagnosis, site, file):
        for moved in (f"{made}.to({anchor})", f"{{key: value.to({anchor}) for key, value in {made}.items()}}"):
            module = file.replace({given[0]: cst.parse_expression(moved)})
            found = change(file, module, f"Move what `{made}` holds to `{anchor}`")
            if found:
                yield found


def move_returned_values(diagnosis: Diagnosis, site: FixSite, file: File, call: cst.BaseExpression) -> Iterator[Change]:
    """Yield changes that move the values of the dictionary that a call returns, where a running function names it.

    >>> list(move_returned_values(diagnosis, fix_sites(diagnosis)[0], source.file(failure.at), expression("f()")))
    []
    """
    bound = file.parent(call)
    target = bound.targets[0].target if isinstance(bound, cst.Assign) and len(bound.targets) == 1 else None
    frame = frame_of(diagnosis.failure, site.place)
    if not isinstance(target, cst.Name) or frame is None:
        return
    name = target.value
    operand = blamed_operand(diagnosis)
    named = (each.expression for each in (*operand.names, *operand.sources) if each.frame == frame)
    if not any(re.match(rf"{re.escape(name)}\[[\"']", text) for text in named):
        return
    scope = diagnosis.failure.frames[frame].scope
    is_mixed = any(each.expression == name and each.kind == "container" for each in scope)
    for anchor in device_expressions(diagnosis, site, file):
        if not anchor.startswith(f"{name}["):
            text = f"{{key: {_moved_value(file, anchor, is_mixed)} for key, value in {file.code(call)}.items()}}"
            module = file.replace({call: cst.parse_expression(text)})
            found = change(file, module, f"Move the values of `{name}` to `{anchor}`")
            if found:
                yield found


def _listed_lines(site: FixSite, file: File, name: str, anchor: str) -> list[str]:
    """Return the move of what a list of dictionaries holds, such as a detector's targets; nothing for another value."""
    listed = re.compile(rf"{re.escape(name)}\[\d+\]")
    if not all(listed.match(text) for text in site.expressions if text.startswith(f"{name}[")):
        return []
    kinds = {each.kind for each in site.scope if listed.fullmatch(each.expression)}
    moved = _moved_value(file, anchor, "container" in kinds)
    return [f"{name} = [{{key: {moved} for key, value in each.items()}} for each in {name}]"]


def _moved_value(file: File, anchor: str, is_mixed: bool) -> str:
    """Return the move of a value of a dictionary, which may be no tensor if the dictionary `is_mixed`."""
    tensor = imported_name(file, "torch.Tensor")
    asked = f"isinstance(value, {tensor})" if tensor else 'hasattr(value, "to")'
    return f"value.to({anchor})" + (f" if {asked} else value" if is_mixed else "")


def _lines(file: File, name: str, anchor: str, is_mixed: bool) -> list[str]:
    """Return the move as a comprehension, and as the method that batches of tokenizers have; the likelier one first."""
    each = f"{name} = {{key: {_moved_value(file, anchor, is_mixed)} for key, value in {name}.items()}}"
    whole = f"{name} = {name}.to({anchor})"
    plain = any(isinstance(made.value, cst.Dict | cst.DictComp) for made in assignments(file, name))
    return [each, whole] if plain else [whole, each]


def move_list(diagnosis: Diagnosis, site: FixSite, source: Sources) -> Iterator[Change]:
    """Yield changes that move all elements of a list to the device of the first, for calls such as `torch.cat(parts)`.

    If the first is one of those that are wrong, they are moved to another device in scope. So is what a comprehension
    computes for such a call: `torch.stack([p.grad.norm() for p in params])`.

    >>> list(move_list(diagnosis, fix_sites(diagnosis)[-1], source))
    []
    """
    file = source.file(site.place)
    root = file.root_at(site.place) if file else None
    if file is None or not isinstance(root, cst.Call) or not root.args:
        return
    whole = root.args[0].value
    is_sum = isinstance(root.func, cst.Name) and root.func.value == "sum"
    if isinstance(whole, cst.ListComp | cst.GeneratorExp) and (is_sum or last_name(root.func) in GATHERERS):
        yield from _move_each(diagnosis, site, file, whole)
    name = file.code(whole)
    is_listed = name.isidentifier() and any(text.startswith(f"{name}[") for text in site.expressions)
    # The scope does not show elements of nested lists; that they occur in the failure shows that they are tensors.
    is_kept = last_name(root.func) in GATHERERS and KEPT.fullmatch(name) is not None
    if is_listed or is_kept:
        is_part = ":" in name  # of a list, whose first element may be any
        first, wanted = f"{name}[0].device", target_device(diagnosis)
        is_right = all(each.device == wanted for each in site.scope if each.expression == f"{name}[0]")
        is_right = is_right and not is_part and len(_what_is_appended(file, root, name)) < 2
        others = device_expressions(diagnosis, site, file) if not is_right else []
        items = f"{name.rpartition('[')[0] if is_part else name}["
        for anchor in [*(each for each in others if not each.startswith(items)), *([] if is_part else [first])]:
            moved = cst.parse_expression(f"[each.to({anchor}) for each in {name}]")
            where = "where its first element is" if anchor == first else f"`{anchor}`"
            found = change(file, file.replace({whole: moved}), f"Move what `{name}` holds to {where}")
            if found:
                yield found


def _what_is_appended(file: File, node: cst.CSTNode, name: str) -> set[str]:
    """Return what the function around a node appends to a list: where there are several, any of them may be first."""
    calls = (match(each, "$LIST.append($X)") for each in file.within(file.function_of(node) or file.module, cst.Call))
    return {file.code(each["X"]) for each in calls if each is not None and file.code(each["LIST"]) == name}


def gathering_call(diagnosis: Diagnosis, file: File, call: cst.BaseExpression) -> cst.Call | None:
    """Return the call that gathers what a comprehension makes by a call, to move it once; None if that call failed.

    >>> gathering_call(diagnosis, source.file(failure.at), expression("f(x)"))
    """
    made = file.parent(call)
    given = file.parent(made) if isinstance(made, cst.ListComp | cst.GeneratorExp) and made.elt is call else None
    around = file.parent(given) if isinstance(given, cst.Arg) else None
    if not isinstance(around, cst.Call) or last_name(around.func) not in GATHERERS:
        return None
    at = diagnosis.failure.at
    failed = file.root_at(at) if at is not None and at.path == file.path else None
    return None if failed is around else around


def _move_each(
    diagnosis: Diagnosis, site: FixSite, file: File, whole: cst.ListComp | cst.GeneratorExp
) -> Iterator[Change]:
    """Yield changes that move what a comprehension computes, to a device in scope or that of what it goes over."""
    own = {each.value for each in file.within(whole.for_in.target, cst.Name)}
    known = device_expressions(diagnosis, site, file)
    anchors = [each for each in known if not own & {each.partition(".")[0], each.partition("[")[0]}]
    over = whole.for_in.iter
    listed = (
        [each.value for each in over.args] if isinstance(over, cst.Call) and last_name(over.func) == "zip" else [over]
    )
    held = {each.expression for each in site.scope if each.kind == "tensor"}
    first = [
        f"{file.code(each)}[0].device"
        for each in listed
        if isinstance(each, cst.Name | cst.Attribute) and (each is over or f"{file.code(each)}[0]" in held)
    ]
    text = file.code(whole.elt)
    for anchor in dict.fromkeys((*anchors, *first)):
        module = file.replace({whole.elt: move_to(whole.elt, anchor)})
        found = change(file, module, f"Move each `{text}` to `{anchor}`")
        if found:
            yield found
