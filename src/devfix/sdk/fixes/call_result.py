"""Move a tensor where it is created: at the call that returns it, or where it is assigned or added."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import dropwhile, islice

import libcst as cst

from devfix.model import Diagnosis, is_in_place
from devfix.sdk.changes import Change, change
from devfix.sdk.fixes.device_expressions import device_expressions
from devfix.sdk.fixes.moved_once import move_before_branches
from devfix.sdk.trace.flows import SAME_EVERYWHERE, is_on_device
from devfix.sdk.trace.operands import FOLLOWER, blamed_operand, names_in, peer_operand
from devfix.sdk.trace.sites import FixSite
from devfix.source import File, Sources, last_name, normalize
from devfix.source.edits.device_arguments import device_text
from devfix.source.edits.expressions import is_move, moves_of
from devfix.source.queries.bound_names import is_bound
from devfix.source.queries.reading import assignments, is_read, method_call_on
from devfix.source.queries.repository import Definition, Repository

LONG = 72  # of a commit message's first line; a longer call is abbreviated to its function's name
RIGHT = ("other", "mat2", "vec", "tensor", "tensor2")  # how operators name the right side of `a * b` and of `a @ b`
KEY = re.compile(r"""\[(["'])([^\W\d]\w*)\1\]""")


def move_assigned(diagnosis: Diagnosis, site: FixSite, source: Sources) -> Iterator[Change]:
    """Yield changes that move the value of a name or attribute that its function assigns once, above the site.

    Loop variables are skipped.

    >>> [each.title for each in move_assigned(diagnosis, fix_sites(diagnosis)[-1], source)][0]
    'Move `torch.arange(x.shape[1])` to `x.device`'
    """
    file = source.file(site.place)
    root = file.root_at(site.place) if file is not None else None
    if file is None or root is None:
        return
    function = file.function_of(root) or file.module
    for text in site.expressions:
        given = assignments(file, text, function) if occurrences(file, root, text) else []
        value = given[0].value if len(given) == 1 else None
        if value is None or file.loops_around(value) or file.line_of(value) >= file.line_of(root):
            continue
        for anchor in device_expressions(diagnosis, site, file):
            if is_bound(file, value, anchor) and not anchor.startswith(f"{text}."):
                found = move_at(file, value, anchor)
                if found:
                    yield found


def move_added(diagnosis: Diagnosis, site: FixSite, source: Sources) -> Iterator[Change]:
    """Yield changes that move the result without a name which the failing statement adds to a tensor, or writes there.

    Statements below it in the same block, which add what is on the same device to tensors of the same object that are
    beside the first one, would fail next; a change for each device moves what they add too. So would other branches
    that combine the same two: the first change moves the variable of which the result is computed before all of them.
    """
    file, operand, peer = source.file(site.place), blamed_operand(diagnosis), peer_operand(diagnosis)
    root = file.root_at(site.place) if file else None
    if file is None or root is None or peer is None or site.kind != "use" or site.frame is None:
        return
    statement = file.statement_of(root)
    kept = [each.expression for each in names_in(peer, site.frame)]
    target, value = _target_and_value(file, statement) if statement is not None else ("", None)
    if value is None or target not in kept or not _runs_at(file, value, root) or FOLLOWER.fullmatch(operand.argument):
        return
    if is_move(value) or file.code(value) in [each.expression for each in names_in(operand, site.frame)]:
        return
    below = _added_below(file, statement, site, target, (operand.device, peer.device))
    own = [f"{target}.device"] if isinstance(_assignment_target(file, value), cst.Subscript) else []
    wrong = [each.expression for each in site.scope if (each.kind, each.device) == ("tensor", operand.device)]
    inside = [name for name in wrong if any(is_on_device(file, node) for node in file.find(value, name))]
    for anchor in dict.fromkeys([*own, *device_expressions(diagnosis, site, file)]):
        before = move_before_branches(file, value, inside[0], anchor, kept) if len(inside) == 1 else None
        if before is not None:
            yield before
        every = move_at(file, value, anchor, below) if below else None
        if every is not None:
            yield replace(every, title=f"{every.title}, and what is added below it")
        alone = move_at(file, value, anchor)
        if alone is not None:
            yield alone


def occurrences(file: File, root: cst.CSTNode, text: str) -> list[cst.BaseExpression]:
    """Return where an expression is read in a node, or else in the rest of its statement's line, outermost first.

    Of `f(g(x), x)` it is the last `x` that was passed to a failing `f`: had `g` failed, the node would be its call.
    """
    statement = file.statement_of(root)
    scopes = [root, statement] if isinstance(statement, cst.SimpleStatementLine) else [root]
    for scope in scopes:
        found = [node for node in file.find(scope, text) if is_read(file, node)]
        if found:
            return sorted(found, key=lambda node: len([*file.ancestors(node)]))
    return _by_key(file, scopes[-1], text) or _by_attribute(file, scopes[-1], text)


def _by_attribute(file: File, scope: cst.CSTNode, text: str) -> list[cst.BaseExpression]:
    """Return where elements of a dictionary are read as its attributes: `batch.mask` for `batch["mask"]`."""
    written = KEY.sub(r".\2", text)
    return [node for node in file.find(scope, written) if is_read(file, node)] if written != text else []


def _by_key(file: File, scope: cst.CSTNode, text: str) -> list[cst.BaseExpression]:
    """Return where an element is read by a variable key."""
    nodes = (node for node in file.within(scope) if isinstance(node, cst.Subscript))
    return [node for node in nodes if is_keyed(file, node, text) and is_read(file, node)]


def is_keyed(file: File, node: cst.CSTNode, text: str) -> bool:
    """Return whether a node takes an element by a variable key, or from the end: `weights[i + 1]` for `weights[3]`."""
    return (
        text.endswith("]")
        and isinstance(node, cst.Subscript)
        and normalize(file.code(node.value)) == normalize(text.rpartition("[")[0])
        and len(node.slice) == 1
        and isinstance(index := node.slice[0].slice, cst.Index)
        and any(isinstance(each, cst.Name | cst.Minus) for each in file.within(index.value))
    )


def move_at(
    file: File, node: cst.BaseExpression, anchor: str, others: Sequence[cst.BaseExpression] = ()
) -> Change | None:
    """Return a change that moves an expression and some others; for `nn.Parameter(…)` its argument.

    What is moved already stays as it is: `x.to(y.device)` never becomes `x.to(z.device).to(y.device)`.
    """
    if isinstance(node, cst.Call) and last_name(node.func) == "Parameter" and node.args:
        node = node.args[0].value  # a moved Parameter would no longer be a leaf that an optimizer can take
    text = " ".join(file.code(node).split())
    if len(text) > LONG and isinstance(node, cst.Call):
        text = f"{' '.join(file.code(node.func).split())}(…)"
    if _is_moved(file, node):
        return None
    nodes = [node, *(each for each in others if not _is_moved(file, each))]
    return change(file, file.replace(moves_of(file, nodes, anchor)), f"Move `{text}` to `{anchor}`")


def _is_moved(file: File, node: cst.BaseExpression) -> bool:
    """Return whether an expression is the receiver of a move to a device."""
    call = method_call_on(file, node)
    return is_move(call) and bool(device_text(call))


def called_operand(diagnosis: Diagnosis, site: FixSite, file: File, root: cst.CSTNode, source: Sources) -> list[str]:
    """Return the call whose result is the blamed operand: a side of a failing `a * b`, or the only call in `f(…)`.

    In `cat([a, f(b)])` it is the element. Where there is none, it is a property, which computes its result too, an
    attribute by another name than the one in scope (`Router.load` for `self.load`), or what `__getitem__` returns. Of
    an index it is the attribute that is indexed. A name stands for an operand without one if what it holds now looks
    like it: another thread may have bound the name since.
    """
    if site.kind != "use" or site.place.column is None:
        return []
    operand = blamed_operand(diagnosis)
    found: list[cst.BaseExpression] = []
    sides = _sides(root, diagnosis.failure.op)
    if sides:
        # A method's argument has a name of its own: `min` of `clamp_min`.
        is_right = operand.argument in RIGHT or (isinstance(root, cst.Call) and operand.argument != "self")
        found = [side for name, side in sides.items() if name == ("other" if is_right else operand.argument)]
    elif isinstance(root, cst.Subscript) and operand.argument == "self" and isinstance(root.value, cst.Attribute):
        return [file.code(root.value)]  # a class's constant, which has no name in the scope: `Binarize.levels[index]`
    elif isinstance(root, cst.Call) and not isinstance(root.func, cst.Call):
        given = _elements(root, operand.argument) or [each.value for each in root.args if not each.star]
        receiver = [root.func.value] if isinstance(root.func, cst.Attribute) else []
        found = [each for each in (*receiver, *given) if is_on_device(file, each)]
    calls = [each for each in found if isinstance(each, cst.Call) and last_name(each.func) not in SAME_EVERYWHERE]
    called: list[cst.BaseExpression] = [each for each in calls if not is_written_on(file, each)]
    others = (each for each in found if isinstance(each, cst.Attribute | cst.Subscript))
    called = called or [  # a side is the operand, by whatever name
        each for each in others if sides or (isinstance(each, cst.Attribute) and _is_property(file, each, source))
    ]
    if not any(each.frame == site.frame for each in operand.names):
        looks = ("tensor", operand.device, operand.shape)
        alike = {each.expression for each in site.scope if (each.kind, each.device, each.shape) == looks}
        called += [each for each in found if file.code(each) in alike]
    return [file.code(called[0])] if len(called) == 1 else []


def _sides(root: cst.CSTNode, op: str) -> dict[str, cst.BaseExpression]:
    """Return the sides of an operator by the names of its arguments; of `a.gt(t[b])` the element alone.

    A name, or what a call returns, is known otherwise.
    """
    if isinstance(root, cst.BinaryOperation):
        return {"self": root.left, "other": root.right}
    if isinstance(root, cst.Comparison) and len(root.comparisons) == 1:
        return {"self": root.left, "other": root.comparisons[0].comparator}
    if not isinstance(root, cst.Call) or not isinstance(root.func, cst.Attribute) or any(e.star for e in root.args):
        return {}
    receiver, given = root.func.value, [each.value for each in root.args]
    sides = given if isinstance(receiver, cst.Name) and receiver.value == "torch" else [receiver, *given]
    if op.rpartition("::")[2] != last_name(root.func) or len(sides) != 2 or any(each.keyword for each in root.args):
        return {}
    return {"other": sides[1]} if isinstance(sides[1], cst.Subscript) else {}


def _elements(call: cst.Call, argument: str) -> list[cst.BaseExpression]:
    """Return the element of a written list that is an argument: `rows.pop()` of `cat([x, rows.pop()])`; else none."""
    number, listed = re.fullmatch(r"\w+\[(\d+)\]", argument), call.args[0].value if call.args else None
    if number is None or not isinstance(listed, cst.List | cst.Tuple):
        return []
    if any(isinstance(each, cst.StarredElement) for each in listed.elements):
        return []
    return [each.value for each in listed.elements[int(number[1]) :][:1]]


def _is_property(file: File, node: cst.Attribute, source: Sources) -> bool:
    """Return whether an attribute is a property of a class of the repository, which computes it."""
    repository = Repository(source)
    holder = repository.class_of(file, node.value)
    return isinstance(holder, Definition) and node.attr.value in repository.properties(holder)


def is_written_on(file: File, call: cst.BaseExpression) -> bool:
    """Return whether the next call writes into the same tensor, not into a copy: `total.mul_(0.9)` before `.add_`."""
    method = file.parent(call)
    if not isinstance(call, cst.Call) or not isinstance(method, cst.Attribute) or method.value is not call:
        return False
    return is_in_place(last_name(call.func)) and is_in_place(method.attr.value)


def _runs_at(file: File, value: cst.BaseExpression, root: cst.CSTNode) -> bool:
    """Return whether an assignment runs at a node: the statement, its part, or the element that it writes."""
    return any(root is each for each in (file.statement_of(value), file.parent(value), _assignment_target(file, value)))


def _assignment_target(file: File, value: cst.BaseExpression) -> cst.BaseExpression | None:
    assigned = file.parent(value)
    return assigned.targets[0].target if isinstance(assigned, cst.Assign) else None


def _target_and_value(file: File, statement: cst.CSTNode) -> tuple[str, cst.BaseExpression | None]:
    """Return the target of `total += value`, of another operator so, or of `table[i] = value`, and the value.

    Returns ("", None) if it is none of these.
    """
    line = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    if isinstance(line, cst.AugAssign):
        return file.code(line.target), line.value
    if isinstance(line, cst.Assign) and len(line.targets) == 1:
        target = line.targets[0].target
        if isinstance(target, cst.Subscript):
            return file.code(target.value), line.value
        if isinstance(line.value, cst.BinaryOperation) and file.code(line.value.left) == file.code(target):
            return file.code(target), line.value.right
    return "", None


def _added_below(
    file: File, statement: cst.CSTNode | None, site: FixSite, target: str, devices: tuple[str, str]
) -> list[cst.BaseExpression]:
    """Return what statements below one in its block add to tensors beside its target, where it is elsewhere."""
    wrong, right = devices
    block = file.parent(statement) if statement is not None else None
    body = block.body if isinstance(block, cst.IndentedBlock | cst.Module) else ()
    tensors = {each.expression: each.device for each in site.scope if each.kind == "tensor"}
    found = []
    for each in islice(dropwhile(lambda above: above is not statement, body), 1, None):
        other, value = _target_and_value(file, each)
        if value is None or tensors.get(other) != right or other.rpartition(".")[0] != target.rpartition(".")[0]:
            continue
        read = (node for name, device in tensors.items() if device == wrong for node in file.find(value, name))
        if not is_move(value) and any(is_on_device(file, node) for node in read):
            found.append(value)
    return found
