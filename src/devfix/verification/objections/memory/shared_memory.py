"""Objections to copies of memory that a tensor shares with an array of NumPy, or with another buffer of the host.

`tensor.numpy()` and `torch.from_numpy(array)` share it: what is written to one is read in the other. A copy on another
device is not written to.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.model import Failure
from devfix.verification.checks.computation import writes_to_array
from devfix.verification.evidence import Objection
from devfix.verification.objections.assignments import assigned_pairs
from devfix.verification.objections.code import Code, Function, as_function, called_name, functions
from devfix.verification.objections.host.results import receivers
from devfix.verification.objections.introduced import Introduced

_SHARING = frozenset({"from_numpy", "as_tensor", "asarray", "frombuffer"})
_VIEWS = frozenset({"view", "reshape", "squeeze", "unsqueeze", "detach", "t", "permute", "transpose"})
_MOVES = ("to", "cuda")
# Functions of NumPy that write into their first argument, others that do, and those that write into one of several.
_OF_NUMPY = frozenset({"copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis", "at"})
_FILLS = frozenset({"shuffle", "readinto"})
_FILLS_ANY = frozenset({"pack_into", "recv_into", "memmove"})
_METHODS = frozenset({"fill", "sort", "partition", "put", "itemset", "byteswap", "resize"})  # of an array, in place
Loop = ast.For | ast.While


def of_written_arrays(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield writes into what is now an array of a copy, and which nobody reads: the tensor does not get them."""
    if what.kind != "call" or what.name not in ("cpu", "to") or what.node is None:
        return
    around = _around(what, code)
    node = _node_in(around, what.node) if around is not None else None
    array = _array_of(node, around) if around is not None and node is not None else None
    if around is None or array is None:
        return
    target = next(
        (each.targets[0] for each in ast.walk(around) if isinstance(each, ast.Assign) and each.value is array), None
    )
    if target is None:
        written = next((each for each in ast.walk(around) if _find_written(each) is array), None)
        if written is not None:
            yield _objection_to(what.path, written, ast.unparse(array))
    elif isinstance(target, ast.Attribute):
        yield from _of_attribute(what, target, array, code)
    else:
        yield from _of_name(what.path, ast.unparse(target), around)


def _of_name(path: str, name: str, around: Function) -> Iterator[Objection]:
    """Yield the write into an array that a function has by a name, and that it does nothing else with."""
    writes = [each for each in ast.walk(around) if _is(_find_written(each), name)]
    inside = {id(inner) for each in writes for inner in ast.walk(each)}
    reads = (each for each in ast.walk(around) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load))
    if writes and not any(each.id == name and id(each) not in inside for each in reads):
        yield _objection_to(path, writes[0], name)


def _of_attribute(what: Introduced, target: ast.Attribute, array: ast.expr, code: Code) -> Iterator[Objection]:
    """Yield the write into a kept array whose tensor is kept, too, and the write into that tensor."""
    source: ast.AST = array
    while isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute):
        source = source.func.value
    if not isinstance(source, ast.Attribute) or ast.unparse(source.value) != ast.unparse(target.value):
        return
    family = code.family(what.owner) if what.owner else frozenset[str]()
    for path, tree in code.trees(f".{target.attr}"):
        for owner, _, node in functions(tree):
            written = _find_written(node)
            is_own = owner in family or not _is(getattr(written, "value", None), "self")
            if isinstance(written, ast.Attribute) and written.attr == target.attr and is_own:
                yield _objection_to(path, node, ast.unparse(written))
                return
    for path, tree in code.trees(f".{source.attr}"):
        for owner, _, node in functions(tree):
            if owner == what.owner and _is(_find_written(node) or _written_tensor(node), ast.unparse(source)):
                problem = f"{path}:{getattr(node, 'lineno', 0)} writes to `{ast.unparse(source)}`"
                yield Objection("strong", f"{problem}, whose memory `{ast.unparse(target)}` has no more")
                return


def _objection_to(path: str, node: ast.AST, array: str) -> Objection:
    problem = f"{path}:{getattr(node, 'lineno', 0)} writes to `{array}`, which is a copy on the host"
    return Objection("strong", f"{problem}: what is written never reaches the tensor on the GPU")


def _array_of(moved: ast.AST, around: Function) -> ast.expr | None:
    """Return the array that is made of a copy on the host: `x.cpu().numpy()` of `x.cpu()`, `np.asarray(x.cpu())`."""
    for each in ast.walk(around):
        if not isinstance(each, ast.Call) or not any(inner is moved for inner in ast.walk(each)):
            continue
        func = each.func
        if isinstance(func, ast.Attribute) and func.attr == "numpy" and _is_view(func.value, moved):
            return each
        if called_name(each) == "asarray" and each.args and _is_view(each.args[0], moved):
            return each
    return None


def _is_view(value: ast.expr, moved: ast.AST) -> bool:
    """Return whether an expression is a node, or a view of it: `x.cpu().view(-1)`, `x.cpu()[0]`."""
    return any(each is moved for each in receivers(value))


def _find_written(node: ast.AST) -> ast.expr | None:
    """Return the array or buffer that a statement or a call writes into; None where there is none."""
    if isinstance(node, ast.AugAssign):
        return _whole(node.target)
    if isinstance(node, ast.Assign):
        return next((_whole(each) for each in node.targets if isinstance(each, ast.Subscript)), None)
    return _written_by_call(node) if isinstance(node, ast.Call) else None


def _written_by_call(call: ast.Call) -> ast.expr | None:
    called = called_name(call)
    is_numpy = ast.unparse(call.func).partition(".")[0] in ("np", "numpy")
    found = [each.value for each in call.keywords if each.arg == "out"]
    if called in _FILLS or (called in _OF_NUMPY and is_numpy):
        found += call.args[:1]
    elif called in _FILLS_ANY:
        found += [each for each in call.args if isinstance(each, ast.Name | ast.Attribute)]
    elif called in _METHODS and isinstance(call.func, ast.Attribute):
        found.append(call.func.value)
    return _whole(found[0]) if found else None


def _written_tensor(node: ast.AST) -> ast.expr | None:
    """Return the tensor that a method changes in place: `x` of `x.add_(1)`."""
    func = node.func if isinstance(node, ast.Call) else None
    is_in_place = isinstance(func, ast.Attribute) and func.attr.endswith("_") and not func.attr.endswith("__")
    return _whole(func.value) if is_in_place and isinstance(func, ast.Attribute) else None


def _whole(value: ast.expr) -> ast.expr:
    while isinstance(value, ast.Subscript):
        value = value.value
    return value


def _is(value: ast.expr | None, text: str) -> bool:
    return value is not None and ast.unparse(value) == text


def of_shared_memory(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield reads of an array below, whose memory a tensor had, and into a copy of which the program writes now."""
    func = what.node.func if isinstance(what.node, ast.Call) else None
    moved = func.value if isinstance(func, ast.Attribute) else None
    if what.kind != "call" or what.name not in _MOVES or moved is None or not writes_to_array(failure):
        return
    around = _around(what, code)
    array = _shared_array(moved, around, code) if around is not None else None
    for each in ast.walk(around) if array is not None and around is not None else ():
        is_read = isinstance(each, ast.Name | ast.Attribute) and isinstance(each.ctx, ast.Load)
        if is_read and isinstance(each, ast.expr) and each.lineno > moved.lineno and ast.unparse(each) == array:
            problem = f"{what.path}:{each.lineno} reads `{array}`"
            yield Objection("strong", f"{problem}, which what is written to a copy on a GPU never reaches")
            return


def _shared_array(moved: ast.expr, function: Function, code: Code) -> str | None:
    """Return the array whose memory a tensor has: `rows` of `torch.from_numpy(rows)`, also by a name; None without.

    Of an object's attribute it is the one that the object has: `env.state` of `env.seen`, by the class's code.
    """
    given = [moved]
    if isinstance(moved, ast.Name):
        given = [value for each in ast.walk(function) for value in _assigned_to(moved.id, each)]
    for each in given:
        if isinstance(each, ast.Attribute):
            assigned = (value for _, tree in code.trees(f"self.{each.attr}") for value in _kept_as(each.attr, tree))
            own = next(filter(None, map(_array_shared_by, assigned)), "")
            if own.startswith("self."):
                return f"{ast.unparse(each.value)}.{own.removeprefix('self.')}"
        elif array := _array_shared_by(each):
            return array
    return None


def _assigned_to(name: str, node: ast.AST) -> Iterator[ast.expr]:
    """Yield what an assignment gives a name or an attribute, also as one of several."""
    return (value for target, value in assigned_pairs(node) if ast.unparse(target) == name)


def _kept_as(attribute: str, tree: ast.Module) -> Iterator[ast.expr]:
    return (value for _, _, each in functions(tree) for value in _assigned_to(f"self.{attribute}", each))


def _array_shared_by(value: ast.expr) -> str:
    """Return the array whose memory a call shares, as a view of its result does; "" where there is none."""
    while True:
        func = value.func if isinstance(value, ast.Call) else None
        if isinstance(value, ast.Subscript):
            value = value.value
        elif isinstance(func, ast.Attribute) and func.attr in _VIEWS:
            value = func.value
        else:
            break
    is_sharing = isinstance(value, ast.Call) and value.args and called_name(value) in _SHARING
    return ast.unparse(value.args[0]) if is_sharing and isinstance(value, ast.Call) else ""


def of_renewed_memory(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield the write to a buffer in a loop, which reads what was moved before it from that buffer's memory."""
    func = what.node.func if isinstance(what.node, ast.Call) else None
    moved = func.value if isinstance(func, ast.Attribute) else None
    around = _around(what, code)
    if what.kind != "call" or what.name not in _MOVES or moved is None or around is None:
        return
    array, here = _shared_array(moved, around, code), _node_in(around, what.node)
    kept = _names_of(here, around)
    for loop in (each for each in ast.walk(around) if isinstance(each, Loop)):
        inside = [node for statement in loop.body for node in ast.walk(statement)]
        is_read = any(isinstance(each, ast.Name) and each.id in kept for each in inside)
        if array is None or not is_read or any(each is here for each in inside):
            continue
        if (node := _renewing(array, inside, code)) is not None:
            problem = f"{what.path}:{node.lineno} renews the memory of `{array}`"
            yield Objection("strong", f"{problem}, which `{sorted(kept)[0]}` was copied from once, before the loop")
            return


def _around(what: Introduced, code: Code) -> Function | None:
    """Return the function in which something is introduced, or the top level of its file as one."""
    tree = code.tree(what.path)
    return what.function or (as_function(tree) if tree is not None else None)


def _node_in(around: Function, node: ast.AST | None) -> ast.AST | None:
    """Return the node of a tree at the place of one of another tree of the same file."""
    place = node and ast.unparse(node), getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    same = (each for each in ast.walk(around) if isinstance(each, ast.Call) and each.lineno == place[1])
    return next((each for each in same if (ast.unparse(each), each.lineno, each.col_offset) == place), None)


def _names_of(node: ast.AST | None, around: Function) -> set[str]:
    assigned = (each for each in ast.walk(around) if isinstance(each, ast.Assign) and each.value is node)
    return {target.id for each in assigned for target in each.targets if isinstance(target, ast.Name)}


def _renewing(array: str, inside: list[ast.AST], code: Code) -> ast.expr | ast.stmt | None:
    """Return what writes to an array: a statement, or the call of a method of its owner: `env.step(action)`."""
    owner, _, name = array.rpartition(".")
    for each in inside:
        if isinstance(each, ast.expr | ast.stmt) and _is(_find_written(each), array):
            return each
        func = each.func if isinstance(each, ast.Call) and owner else None
        if isinstance(func, ast.Attribute) and ast.unparse(func.value) == owner and _renews(func.attr, name, code):
            return func
    return None


def _renews(method: str, name: str, code: Code) -> bool:
    """Return whether a class that has a method, in which some method writes into an attribute of its objects."""
    for _, tree in code.trees(f"def {method}"):
        nodes = list(functions(tree))
        owners = {owner for owner, _, node in nodes if isinstance(node, Function) and node.name == method and owner}
        if any(owner in owners and _is(_find_written(node), f"self.{name}") for owner, _, node in nodes):
            return True
    return False
