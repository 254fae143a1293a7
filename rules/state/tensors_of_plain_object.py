"""An object that is not a module keeps its tensors on the device on which its constructor created them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import libcst as cst

from devfix.sdk import (
    CallSite,
    Changes,
    Confidence,
    Context,
    Definition,
    EvidenceRule,
    File,
    Safety,
    ScopeVariable,
    SourceLocation,
    StoredAttribute,
    add_keyword,
    assigned_targets,
    classes_called,
    creates_on_default_device,
    is_drawn,
    is_in_constructor,
    is_indexed_beside,
    is_move,
    move_to,
    receiver,
    remove_move,
    rewrite,
)

FEW = 2  # attributes that one method may as well move where it reads them
MOST = 6  # attributes moved by one change; an object with more needs its own method
MOVERS = ("to", "cuda", "_apply")
CONTAINING = (cst.Element, cst.List, cst.Tuple, cst.ListComp, cst.DictElement, cst.Dict, cst.DictComp)
ITEMS = ("__getitem__", "__iter__", "__next__")  # of a data set or a loader


@dataclass(frozen=True)
class Used:
    """The tensors of an object on the wrong device that its methods read: how many do, and whether one fills them.

    `is_listed`: the attribute is a list of tensors, which has no `to`.
    """

    names: list[str]
    methods: int
    is_filled: bool
    is_listed: bool


class TensorsOfPlainObject(EvidenceRule[StoredAttribute]):
    """Creates the object's tensors on the device, by a parameter of its constructor, or moves them behind the call.

    That is done once, for all methods; where only one method reads them, other rules come first.
    """

    confidence = Confidence.NEARBY
    message = (
        "{name} belongs to an object that is not a module, so that no `.to()` reaches it: it stayed on {device}, where"
        " the constructor made it, and meets a tensor on {peer}."
    )

    def search(self, ctx: Context) -> StoredAttribute | None:
        """Return the attribute of a plain object that its constructor created.

        One of which rows are written by an index on the host is kept there, as the index is.
        """
        is_kept = ctx.operand.owner is not None or is_indexed_beside(ctx.failure, ctx.operand)
        for each in ctx.stored_attributes() if not is_kept else ():
            if each.module is None and _in_constructors(each.places):
                return each
        return None

    def rate(self, ctx: Context) -> Confidence:
        """Return a lower confidence if one method alone reads the tensors, which may be moved there as well."""
        sources = ctx.device_sources()
        if sources and sources[0].parameter:
            return self.confidence
        found = self.search(ctx)
        inside = ctx.sources.file(_constructor_of(found)) if found is not None else None
        used = _find_used(ctx, found, inside) if found is not None and inside is not None else None
        is_small = used is not None and used.methods == 1 and len(used.names) <= FEW and not used.is_filled
        return Confidence.INDIRECT if is_small else self.confidence

    def fix(self, ctx: Context, found: StoredAttribute) -> Changes:
        """Create them on the device first; else insert the moves after the statement that assigns the object."""
        sources = ctx.device_sources()
        if sources and sources[0].parameter:  # which an earlier change has added for another object
            yield from ctx.rename_device(sources)
            return
        inside = ctx.sources.file(_constructor_of(found))
        site = ctx.call_at(_constructing(found))
        if inside is None or site is None or _is_under_way(ctx, site) or _is_moved_in_use(ctx, found):
            return
        used, target = _find_used(ctx, found, inside), _target(site)
        if used is None:
            return
        names = used.names
        devices = [each for each in site.device_expressions() if not target or not each.startswith(f"{target}.")]
        for created in _created_there(ctx, inside, found, site, devices):
            yield replace(created, joint=len(names) > 1)
        made = ctx.repository.class_of(site.file, site.node)  # `SCHEDULES[name](10)` may make an object without them
        is_moved = target and isinstance(made, Definition) and used.methods > 1 and not used.is_listed
        for device in devices if is_moved else ():
            lines = [f"{target}.{name} = {target}.{name}.to({device})" for name in names]
            title = f"Move {', '.join(f'`{name}`' for name in names)} of `{target}` to `{device}`"
            changes = site.insert_after(lines, title, Safety.LIKELY)
            yield from (replace(each, joint=len(names) > 1) for each in changes)


def _created_there(ctx: Context, file: File, found: StoredAttribute, site: CallSite, devices: list[str]) -> Changes:
    """Yield changes that create the constructor's tensors on the device, which it is given, or is to be given."""
    made = ctx.site_at(_constructor_of(found))
    constructor = made.function if made is not None else None
    if made is None or constructor is None:
        return
    own = [*file.own_nodes(constructor, cst.Call)]
    factories = [each for each in own if creates_on_default_device(file, each)]
    roots = _made_elsewhere(ctx, file, found)
    drawn = [each for each in own if _is_kept_as_it_is(file, each) and (is_drawn(file, each) or each in roots)]
    owner = made.place.function.partition(".__init__")[0]
    if given := made.device_parameter(ctx.target_device):
        edits: dict[cst.CSTNode, cst.CSTNode] = {each: add_keyword(each, "device", given) for each in factories}
        edits |= {each: move_to(each, given) for each in drawn}
        yield from rewrite(file, edits, f"Create the tensors of {owner} on its `{given}`")
        return
    created = f"the tensors of {owner}"
    yield from site.pass_device(Definition(file, constructor), factories, created, Safety.LIKELY, drawn, devices)


def _in_constructors(places: Sequence[SourceLocation]) -> list[SourceLocation]:
    """Return where constructors created a tensor, or called the function that did: `betas = cosine_betas(10)`."""
    return [each for each in places if each.owned and is_in_constructor(each.function)]


def _constructor_of(found: StoredAttribute) -> SourceLocation:
    """Return the place in the constructor that created the stored tensor."""
    return _in_constructors(found.places)[0]


def _constructing(found: StoredAttribute) -> SourceLocation | None:
    """Return where the object of the constructor was made."""
    around = found.places[found.places.index(_constructor_of(found)) :]
    return next((each for each in around if not is_in_constructor(each.function)), None)


def _made_elsewhere(ctx: Context, file: File, found: StoredAttribute) -> list[cst.CSTNode | None]:
    """Return the constructor's calls of functions in which tensors of the object were created."""
    tensors = (each for each in ctx.failure.frames[found.frame].scope if _is_own(each, found))
    made = (event.places for each in tensors for event in each.history[:1] if each.kind == "tensor")
    places = (_in_constructors(each)[:1] for each in made if each and not is_in_constructor(each[0].function))
    return [file.root_at(each) for there in places for each in there if each.path == file.path]


def _is_kept_as_it_is(file: File, call: cst.Call) -> bool:
    """Return whether the result of a call is assigned as it is, or in a list: `[torch.rand(3)]`."""
    outer = file.parent(call)
    while isinstance(outer, CONTAINING):
        outer = file.parent(outer)
    return isinstance(outer, cst.Assign)


def _find_used(ctx: Context, found: StoredAttribute, file: File) -> Used | None:
    """Return the object's tensors on the wrong device that its methods read.

    Returns None if the class keeps one of them on the host, or is a collection, whose items are moved.
    """
    node = file.root_at(_constructor_of(found))
    holder = file.class_of(node) if node is not None else None
    scope = {each.expression: each for each in ctx.failure.frames[found.frame].scope}
    name = f"{found.whole}.{found.attribute}"
    stored = scope.get(name) or scope.get(f"{name}[0]")
    if stored is None or holder is None:
        return None
    is_listed = name not in scope
    classes = [(file, holder), *_find_heirs(ctx, found, holder)]
    own = {each.name.value for one, node in classes for each in one.within(node, cst.FunctionDef)}
    if not own.isdisjoint((*MOVERS, *ITEMS)):
        return None
    is_whole = prod(stored.shape) == prod(ctx.operand.shape)  # a program draws some rows of a store
    tensors = [each for each in scope.values() if each.kind == "tensor" and each.device == stored.device]
    tensors = [each for each in tensors if each is stored or _is_own(each, found)]
    parts = (each.expression.partition("[")[0].rpartition(".") for each in tensors)
    names, functions, is_filled = [], set[cst.FunctionDef](), False
    for name in dict.fromkeys(name for whole, _, name in parts if whole == found.whole and name.isidentifier()):
        reads = [(one, each) for one, node in classes for each in one.find(node, f"self.{name}")]
        around = (one.function_of(each) for one, each in reads)
        methods = {each for each in around if each is not None and each.name.value != "__init__"}
        if any(_stays_on_host(*read) for read in reads) or (not is_whole and _is_store(reads)):
            return None
        names += [name] if methods else []
        functions |= methods
        is_filled |= any(_is_filled(*read) for read in reads)
    return Used(names, len(functions), is_filled, is_listed) if 0 < len(names) <= MOST else None


def _is_own(variable: ScopeVariable, found: StoredAttribute) -> bool:
    """Return whether a tensor was created under the constructor that created the stored one: it was not given."""
    constructor = _constructor_of(found).function
    made = [place.function for event in variable.history[:1] for place in event.places]
    return not made or constructor in made or any(each.endswith(".__init__") for each in made)


def _find_heirs(ctx: Context, found: StoredAttribute, holder: cst.ClassDef) -> list[tuple[File, cst.ClassDef]]:
    """Return the classes of the object that derive from the one whose constructor created its tensors."""
    objects = (each for each in ctx.failure.frames[found.frame].scope if each.expression == found.whole)
    names = dict.fromkeys(name.rpartition(".")[2] for each in objects for name in (each.type, *each.classes))
    heirs = (
        pair for name in names for file in ctx.files() for pair in ((file, each) for each in classes_called(file, name))
    )
    return [(file, each) for file, each in heirs if each.name.value != holder.name.value]


def _is_moved_in_use(ctx: Context, found: StoredAttribute) -> bool:
    """Return whether the function that uses the object moves something else that it gives: it is kept on the host."""
    site = ctx.site_of(found.frame)
    if site is None:
        return False
    file, around = site.file, site.function or site.file.module
    given: set[str] = set()
    for each in file.within(around):
        value = each.value if isinstance(each, cst.Assign) else each.iter if isinstance(each, cst.For) else None
        if isinstance(each, cst.Assign | cst.For) and value is not None and file.find(value, found.whole):
            given |= {part.value for target in assigned_targets(each) for part in file.within(target, cst.Name)}
    moved = (receiver(each) for each in file.within(around, cst.Call) if is_move(each))
    return any(each is not None and file.code(each) in given for each in moved)


def _stays_on_host(file: File, attribute: cst.CSTNode) -> bool:
    """Return whether the class moves what it reads of an attribute, or writes what it moved: `rows[0] = x.cpu()`."""
    outer = file.parent(attribute)
    while isinstance(outer, cst.Subscript | cst.Attribute | cst.Call) and not is_move(outer):
        outer = file.parent(outer)
    if isinstance(outer, cst.AssignTarget):
        assignment = file.parent(outer)
        outer = assignment.value if isinstance(assignment, cst.Assign) else None
    return isinstance(outer, cst.Call) and is_move(outer) and file.code(remove_move(outer)) != file.code(outer)


def _is_store(reads: list[tuple[File, cst.BaseExpression]]) -> bool:
    """Return whether a method fills an attribute and reads none of it back, as one that caches what was computed."""
    filling = {file.function_of(each) for file, each in reads if _is_filled(file, each)}
    return not filling <= {file.function_of(each) for file, each in reads if not _is_filled(file, each)}


def _is_filled(file: File, attribute: cst.CSTNode) -> bool:
    """Return whether a method stores rows in an attribute, as what a program draws batches from: `rows[i] = row`."""
    element, function = file.parent(attribute), file.function_of(attribute)
    while element is not None and isinstance(around := file.parent(element), cst.Subscript):
        element = around  # `self.rows[layer][at] = row`
    is_target = isinstance(element, cst.Subscript) and isinstance(file.parent(element), cst.AssignTarget)
    return is_target and function is not None and function.name.value != "__init__"


def _target(site: CallSite) -> str:
    """Return the only name or attribute to which the constructed object is assigned; "" if there is none."""
    given, number = site.file.parent(site.node), -1
    values = site.file.parent(given) if isinstance(given, cst.Element) else None
    if isinstance(values, cst.Tuple):  # `schedule, model = Schedule(), Net()`
        given, number = site.file.parent(values), [each.value for each in values.elements].index(site.node)
    targets = assigned_targets(given) if isinstance(given, cst.Assign) else []
    if number >= 0 and len(targets) == 1 and isinstance(targets[0], cst.Tuple | cst.List):
        targets = [each.value for each in targets[0].elements[number : number + 1]]
    is_one = len(targets) == 1 and isinstance(targets[0], cst.Name | cst.Attribute)
    return site.file.code(targets[0]) if is_one else ""


def _is_under_way(ctx: Context, site: CallSite) -> bool:
    """Return whether a call is still running, so that the object that it constructs does not exist yet."""
    frame = ctx.frame_of(site.place)
    return frame is not None and ctx.failure.frames[frame].place == site.place
