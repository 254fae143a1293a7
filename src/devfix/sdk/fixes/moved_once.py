"""Move once what is read more than once: attributes and constants into a local variable, parameters where read."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import partial

import libcst as cst

from devfix.model import Diagnosis
from devfix.sdk.changes import Change, change
from devfix.sdk.fixes.device_expressions import device_expressions
from devfix.sdk.trace.branches import before_branches, hoisting_point, met_names, written_targets
from devfix.sdk.trace.flows import Flow, flow_of, is_tied_to_its_place
from devfix.sdk.trace.operands import blamed_operand, target_device
from devfix.sdk.trace.sites import FixSite
from devfix.source import File, Sources, normalize
from devfix.source.edits.expressions import moves_of
from devfix.source.edits.statements import insert_before
from devfix.source.file import Statement
from devfix.source.queries.bound_names import is_bound, is_bound_between, is_local, root_name
from devfix.source.queries.optional import is_told_apart, may_be_left_none, may_be_no_tensor
from devfix.source.queries.reading import assignments, is_given, parameters
from devfix.source.queries.repository import Repository
from devfix.source.queries.writes import is_written, is_written_below

ATTRIBUTE = re.compile(r"\w+(\.\w+)+")
MOST = 3  # parameters that are moved together
BRANCHES = (cst.If, cst.Else, cst.Try, cst.ExceptHandler, cst.Finally, cst.MatchCase, cst.FunctionDef)


def assign_locally(
    file: File, node: cst.BaseExpression, text: str, anchor: str, moved: str = "", met: Collection[str] = ()
) -> Change | None:
    """Return a change that moves an attribute, or a constant, into a local variable before a statement and its loops.

    `moved` is the expression of what is moved, where that is not `text.to(anchor)`. `met` are expressions that it
    meets: other branches may combine it with them too.
    Returns None if only one statement reads the attribute and no loop does, if the function assigns the attribute, if
    it may be None there, or if the local name is taken.

    >>> lines = b"def f(self, x):\\n    y = x @ self.table\\n    return self.table @ y\\n"
    >>> file = File("m.py", lines)
    >>> found = assign_locally(file, file.find(file.module, "self.table")[0], "self.table", "x.device")
    >>> print(found.edits[0].after.decode())
    def f(self, x):
        table = self.table.to(x.device)
        y = x @ table
        return table @ y
    <BLANKLINE>
    """
    function, statement = file.function_of(node), hoisting_point(file, node, text, anchor, met)
    if function is None or statement is None:
        return None
    is_constant = text.isupper() and text.isidentifier() and not is_local(function, text)
    if not is_constant and not ATTRIBUTE.fullmatch(text):
        return None
    roots = [each.partition(".")[0].removeprefix("next(") for each in (text, anchor)]
    if any(file.is_bound_within(node, each) for each in roots):  # no statement in front of it can read the name
        return None
    if may_be_left_none(file, statement, text):
        return None
    name, block = text.lower() if is_constant else text.rpartition(".")[2], file.parent(statement)
    if _is_name_taken(file, function, name) or _is_written(file, function, text) or block is None:
        return None
    first = file.line_of(statement)
    reads = [each for each in file.find(function, text) if file.line_of(each) >= first]
    if not all(file.function_of(each) is function and _is_in(file, each, block) for each in reads):
        return None
    hoisted = statement is not file.statement_of(node)
    if not hoisted and len({id(file.statement_of(each)) for each in reads}) < 2:
        return None
    renamed = File(file.path, file.replace({each: cst.Name(name) for each in reads}).bytes)
    line = next(each for each in renamed.within(renamed.module) if _is_line(renamed, each, first, statement))
    module = insert_before(renamed, line, [f"{name} = {moved or f'{text}.to({anchor})'}"])
    return change(file, module, f"Move `{text}` to `{anchor}` once, before it is used")


def _is_in(file: File, node: cst.CSTNode, block: cst.CSTNode) -> bool:
    return any(around is block for around in file.ancestors(node))


def _is_name_taken(file: File, function: cst.FunctionDef, name: str) -> bool:
    """Return whether a name is already used in a function, other than as an attribute or keyword."""
    for each in file.within(function):
        if isinstance(each, cst.Name) and each.value == name:
            parent = file.parent(each)
            named = isinstance(parent, cst.Attribute) and parent.attr is each
            if not named and not (isinstance(parent, cst.Arg) and parent.keyword is each):
                return True
    return False


def _is_written(file: File, function: cst.FunctionDef, text: str) -> bool:
    """Return whether a function assigns an attribute or a part of it."""
    targets = [each for each in file.find(function, text) if is_given(file, each)]
    return bool(targets or assignments(file, text, function))


def _is_line(file: File, node: cst.CSTNode, line: int, like: cst.CSTNode) -> bool:
    return type(node) is type(like) and file.statement_of(node) is node and file.line_of(node) == line


def keep_before_branches(
    diagnosis: Diagnosis, site: FixSite, file: File, node: cst.CSTNode, text: str, anchor: str
) -> Change | None:
    """Return a change that keeps an attribute on a device from before the branches that update it; None without such.

    Nothing changes for a name that the statement at a node does not assign: a local variable will do.
    """
    statement = file.statement_of(node)
    targets = [file.code(each) for each in written_targets(statement)] if statement is not None else []
    if normalize(text) not in map(normalize, targets) or text.isidentifier():
        return None
    head = before_branches(file, node, text, anchor, met_names(diagnosis, site))
    module = insert_before(file, head, [f"{text} = {text}.to({anchor})"]) if head is not None else None
    return change(file, module, f"Keep `{text}` on `{anchor}`, in each branch that updates it")


def move_before_branches(
    file: File, node: cst.CSTNode, text: str, anchor: str, others: Collection[str]
) -> Change | None:
    """Return a change that moves a local variable before the branches that combine it with the same; None without."""
    function = file.function_of(node)
    if (
        function is None
        or not text.isidentifier()
        or not is_local(function, text)
        or is_written_below(file, node, text)
    ):
        return None
    head = before_branches(file, node, text, anchor, others)
    module = insert_before(file, head, [f"{text} = {text}.to({anchor})"]) if head is not None else None
    return change(file, module, f"Move `{text}` to `{anchor}`, before the branches that use it")


def move_at_entry(diagnosis: Diagnosis, site: FixSite, source: Sources) -> Iterator[Change]:
    """Yield changes that move the parameters of which the operand was computed, where the function first reads them.

    Yields nothing where what is computed of them meets other tensors once, since a move at the use is as good then, and
    where a copy would not do: the function writes into them, keeps them, reads them as numbers, or may be given None.
    """
    file = source.file(site.place)
    root = file.root_at(site.place) if file is not None else None
    function = file.function_of(root) if file is not None and root is not None else None
    failing = file.statement_of(root) if file is not None and root is not None else None
    if file is None or function is None or failing is None or site.frame is None:
        return
    given = _origins(diagnosis, site, file, function, failing)
    if not 0 < len(given) <= MOST:
        return
    flow = flow_of(file, function, given, _beside(diagnosis, site))
    below = [each for each in flow.meetings if file.line_of(each) >= file.line_of(failing)]
    block = _block_of(file, failing)
    first = _first_read(file, block, flow, failing)
    if len(below) < 2 or failing not in below or first is None or first is failing:
        return
    if any(may_be_no_tensor(file, first, each) or is_told_apart(file, first, each) for each in given):
        return
    if is_tied_to_its_place(file, function, flow) or _is_written_by_callee(file, flow, source):
        return
    known = device_expressions(diagnosis, site, file, limit=12)
    named = " and ".join(f"`{each}`" for each in given)
    for anchor in filter(partial(_is_the_same_at, file, (first, failing), flow), known):
        lines = [f"{each} = {each}.to({anchor})" for each in given]
        before = change(file, insert_before(file, first, lines), f"Move {named} to `{anchor}` before the first use")
        yield from filter(None, (_move_where_cast(file, flow, given, anchor, named), before))


def _move_where_cast(file: File, flow: Flow, given: list[str], anchor: str, named: str) -> Change | None:
    """Return a change that moves parameters where each is cast, if nothing else reads them: `x = x.to(dtype)`."""
    reads = [node for node in flow.reads if file.code(node) in given]
    edits = moves_of(file, reads, anchor)
    if len(reads) != len(given) or any(node in edits for node in reads):
        return None
    return change(file, file.replace(edits), f"Move {named} to `{anchor}`")


def _origins(
    diagnosis: Diagnosis, site: FixSite, file: File, function: cst.FunctionDef, failing: Statement
) -> list[str]:
    """Return the parameters from which the operand was computed: those whose flow has a name of it where it failed."""
    operand = blamed_operand(diagnosis)
    beside = _beside(diagnosis, site)
    tensors = {each.expression for each in site.scope if each.kind == "tensor" and each.device == operand.device}
    given = [each for each in parameters(function) if each in tensors and not assignments(file, each, function)]
    names = [each for each in site.expressions if file.find(failing, each)] or list(tensors)
    found = []
    for each in given:
        reads = flow_of(file, function, [each], beside).reads
        if any(_is_in(file, node, failing) and file.code(node) in names for node in reads):
            found.append(each)
    return found


def _beside(diagnosis: Diagnosis, site: FixSite) -> list[str]:
    """Return the expressions of the tensors and modules in scope that are where the operand is wanted."""
    wanted = target_device(diagnosis)
    return [each.expression for each in site.scope if each.kind in ("tensor", "module") and each.device == wanted]


def _block_of(file: File, statement: Statement) -> cst.IndentedBlock:
    """Return the innermost branch around a statement, or the body of its function."""
    around: cst.CSTNode = statement
    for each in file.ancestors(statement):
        if isinstance(each, BRANCHES):
            break
        around = each
    assert isinstance(around, cst.IndentedBlock)
    return around


def _first_read(file: File, block: cst.IndentedBlock, flow: Flow, failing: Statement) -> Statement | None:
    """Return the first statement of a block that reads a flow, after those that may end the function before one fails.

    Returns None if the flow is read elsewhere too, apart from what those return.
    """
    around = next(number for number, each in enumerate(block.body) if _is_in(file, failing, each) or each is failing)
    ends = [number for number, each in enumerate(block.body[:around]) if any(file.within(each, cst.Return))]
    left = {id(node) for number in ends for node in file.within(block.body[number])}
    reads = [node for node in flow.reads if id(node) not in left]
    rest = block.body[max(ends, default=-1) + 1 :]
    first = next((each for each in rest if any(_is_in(file, node, each) for node in reads)), None)
    is_all = first is not None and all(any(_is_in(file, node, each) for each in rest) for node in reads)
    return first if is_all and isinstance(first, Statement) else None


def _is_the_same_at(file: File, lines: tuple[Statement, Statement], flow: Flow, anchor: str) -> bool:
    """Return whether a device expression has, at the first of two statements, the value that it has at the second."""
    name, held, (place, failing) = root_name(anchor), anchor.removesuffix(".device"), lines
    function = file.function_of(place)
    if function is None or anchor.startswith('"') or name in flow.names or not is_bound(file, place, anchor):
        return False
    if is_bound_between(file, place, failing, name) or ("." in held and _is_written(file, function, held)):
        return False
    is_unsure = may_be_no_tensor(file, place, name) or is_told_apart(file, place, name)
    return not is_unsure and not may_be_left_none(file, place, held)


def _is_written_by_callee(file: File, flow: Flow, source: Sources) -> bool:
    """Return whether a function of the repository, to which one of the tensors is passed, writes into it."""
    repository = Repository(source)
    for node in flow.reads:
        given = file.parent(node)
        call = file.parent(given) if isinstance(given, cst.Arg) else None
        found = repository.callee(file, call) if isinstance(call, cst.Call) else None
        names = parameters(found.node) if found is not None and isinstance(found.node, cst.FunctionDef) else []
        names = names[1:] if names[:1] in (["self"], ["cls"]) else names
        if found is None or not isinstance(call, cst.Call) or not isinstance(given, cst.Arg):
            continue
        index = list(call.args).index(given)
        name = given.keyword.value if given.keyword is not None else "".join(names[index : index + 1])
        if name and is_written(found.file, found.node, name):
            return True
    return False
